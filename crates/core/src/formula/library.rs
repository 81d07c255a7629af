//! The formulas that one formula is made of, each read once.

use std::collections::HashMap;
use std::rc::Rc;

use super::model::Formula;
use super::name::FormulaName;
use super::place::{FileId, Findings, Place, Placed, Sheet};
use super::read::{Strictness, read};
use crate::diag::{ErrorCode, WarningCode, did_you_mean};
use crate::text::{Span, excerpt};

/// Where formulas are found. Whoever implements it reads files; nothing here does.
pub trait Shelf {
    /// The file of a formula; none when there is no such file. The error says why it cannot be read.
    fn fetch(&self, name: &FormulaName) -> Result<Option<Sheet>, String>;

    /// The names that there are, for those who misspell one.
    fn names(&self) -> Vec<String>;
}

/// A formula that cannot be put together, as was said before.
pub(super) struct Broken;

/// What was read so far.
pub(super) struct Library<'s> {
    shelf: &'s dyn Shelf,
    pub(super) strictness: Strictness,
    files: Vec<Sheet>,
    formulas: HashMap<String, Option<Rc<Formula>>>,
    /// Formulas with what they extend; none for those that cannot be put together.
    wholes: HashMap<String, Option<Rc<Formula>>>,
    pub(super) findings: Findings,
}

/// Why a formula is not there at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// There is no such file.
    #[error("there is no formula `{}`", excerpt(.name))]
    NotFound {
        /// The name.
        name: String,
        /// One that is nearly the same.
        near: Option<String>,
    },
    /// It cannot be a name.
    #[error(transparent)]
    Name(#[from] super::name::UnsafeName),
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

impl Absent {
    /// The code of contracts §4.2.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::Name(_) => ErrorCode::FormulaNotFound,
            Self::Unreadable(_) => ErrorCode::FormulaPourFailed,
        }
    }
}

impl<'s> Library<'s> {
    pub(super) fn new(shelf: &'s dyn Shelf, strictness: Strictness) -> Self {
        Self {
            shelf,
            strictness,
            files: Vec::new(),
            formulas: HashMap::new(),
            wholes: HashMap::new(),
            findings: Findings::default(),
        }
    }

    /// The formula that was asked for. None when it was found and cannot be used.
    pub(super) fn open(&mut self, name: &str) -> Result<Option<Rc<Formula>>, Absent> {
        let safe = FormulaName::parse(name)?;
        match self.shelf.fetch(&safe) {
            Ok(Some(sheet)) => Ok(self.add(name, sheet)),
            Ok(None) => Err(Absent::NotFound {
                name: name.to_owned(),
                near: self.near(name),
            }),
            Err(wrong) => Err(Absent::Unreadable(wrong)),
        }
    }

    /// A formula that another one names; what is wrong is said at that place.
    pub(super) fn load(&mut self, name: &Placed<String>) -> Option<Rc<Formula>> {
        if let Some(formula) = self.formulas.get(&name.value) {
            return formula.clone();
        }
        match self.open(&name.value) {
            Ok(formula) => formula,
            Err(absent) => {
                let help = match &absent {
                    Absent::NotFound {
                        near: Some(near), ..
                    } => format!("did you mean `{near}`?"),
                    _ => String::new(),
                };
                let message = absent.to_string();
                (self.findings).error(absent.code(), name.place, message, &help);
                None
            }
        }
    }

    /// A formula that another one names, with everything that it extends.
    pub(super) fn load_whole(&mut self, name: &Placed<String>) -> Option<Rc<Formula>> {
        let own = self.load(name)?;
        super::inherit::inherit(&own, self)
    }

    /// What was put together before: an error when it cannot be.
    pub(super) fn whole(&self, name: &str) -> Option<Result<Rc<Formula>, Broken>> {
        let whole = self.wholes.get(name)?;
        Some(whole.clone().ok_or(Broken))
    }

    /// Keeps what was put together.
    pub(super) fn keep_whole(&mut self, name: &str, whole: Option<Rc<Formula>>) {
        self.wholes.insert(name.to_owned(), whole);
    }

    fn near(&self, name: &str) -> Option<String> {
        let names = self.shelf.names();
        did_you_mean(name, names.iter().map(String::as_str)).map(str::to_owned)
    }

    fn add(&mut self, name: &str, sheet: Sheet) -> Option<Rc<Formula>> {
        let file = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        if let Some(remark) = &sheet.remark {
            let place = Place {
                file,
                span: Span::at(0),
            };
            (self.findings).warn(WarningCode::FormulaShadowed, place, remark.clone(), "");
        }
        let formula = read(&sheet, file, name, self.strictness, &mut self.findings).map(Rc::new);
        self.files.push(sheet);
        self.formulas.insert(name.to_owned(), formula.clone());
        formula
    }

    /// The text of a file.
    pub(super) fn text(&self, file: FileId) -> &str {
        self.files.get(file.index()).map_or("", |sheet| &sheet.text)
    }

    pub(super) fn close(self) -> (Vec<Sheet>, Findings) {
        (self.files, self.findings)
    }
}
