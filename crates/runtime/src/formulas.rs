//! Where formulas are found (F-1): the project, the checkout, the user, and those that come with the program.
//!
//! A directory that comes earlier hides formulas of the same name in later ones. Files are read when they are asked for; a broken
//! one that nobody asks for is in nobody's way.

use beads_ralph_core::formula::{Format, FormulaFile, FormulaName, FormulaSource, UnsafeName};
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::os::env::{self, Variable};
use crate::os::files::{self, FileError};
use crate::repo;

/// The directory of formulas within a `.beads` directory.
pub const DIRECTORY: &str = "formulas";

const MAX_BYTES: usize = 4 * 1024 * 1024;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("formulas/", $name)))),*]
    };
}

/// The formulas that come with the program: the names of their files, and their texts.
pub const BUILT_IN: &[(&str, &str)] = built_in![
    "docs-only.formula.toml",
    "fix-bug.formula.toml",
    "implement-feature.formula.toml",
    "sprint-work-pattern.formula.json",
];

/// Writes the formulas that come with the program into a `.beads` directory, for people to change, and names those that it wrote.
/// A file that is there may be somebody's own, also in the other language, and is left alone.
pub fn write_built_in(beads: &Utf8Path) -> Result<Vec<Utf8PathBuf>, FileError> {
    let directory = beads.join(DIRECTORY);
    files::create_directory(&directory)?;
    let there = names_in(&directory)?;
    let is_there = |name: &str| {
        let formulas = there.iter().filter_map(|file| Format::of_file(file));
        formulas.into_iter().any(|(formula, _)| formula == name)
    };
    let mut written = Vec::new();
    for (file, text) in BUILT_IN {
        if Format::of_file(file).is_some_and(|(name, _)| is_there(name)) {
            continue;
        }
        let path = directory.join(file);
        match files::create_new(&path, text.as_bytes()) {
            Ok(()) => written.push(path),
            Err(FileError::Exists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Whose formulas a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Project,
    /// The checkout, whose store is elsewhere.
    Checkout,
    User,
    BuiltIn,
}

impl Owner {
    /// The word for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Checkout => "checkout",
            Self::User => "user",
            Self::BuiltIn => "built-in",
        }
    }
}

/// A formula's file, unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    pub owner: Owner,
    pub path: String,
}

#[derive(Debug, Clone)]
pub struct Formulas {
    directories: Vec<(Owner, Utf8PathBuf)>,
}

impl Formulas {
    /// The formulas of a project whose `.beads` directory is known, seen from a checkout's root.
    pub fn of(beads: Option<&Utf8Path>, checkout: Option<&Utf8Path>) -> Self {
        let home = env::get(Variable::Home).map(Utf8PathBuf::from);
        let places = [
            (Owner::Project, beads.map(Utf8Path::to_owned)),
            (Owner::Checkout, checkout.map(|root| root.join(".beads"))),
            (Owner::User, home.map(|home| home.join(".beads"))),
        ];
        let mut directories: Vec<(Owner, Utf8PathBuf)> = Vec::new();
        for (owner, place) in places {
            let Some(directory) = place.map(|place| place.join(DIRECTORY)) else {
                continue;
            };
            if !directories.iter().any(|(_, known)| *known == directory) {
                directories.push((owner, directory));
            }
        }
        Self { directories }
    }

    /// The directories in the order of the search.
    pub fn directories(&self) -> impl Iterator<Item = &Utf8Path> {
        self.directories
            .iter()
            .map(|(_, directory)| directory.as_path())
    }

    /// Every formula that can be asked for, by name; those that another one hides are left out. A directory that cannot be read
    /// hides nothing of the others, and is named beside them.
    pub fn list(&self) -> (Vec<Found>, Vec<FileError>) {
        let mut found: Vec<Found> = Vec::new();
        let mut troubles = Vec::new();
        for (owner, directory) in &self.directories {
            let names = match names_in(directory) {
                Ok(names) => names,
                Err(error) => {
                    troubles.push(error);
                    continue;
                }
            };
            for file in names {
                let path = repo::shown(&directory.join(&file));
                add(&mut found, *owner, &file, &path);
            }
        }
        for (file, _) in BUILT_IN {
            add(&mut found, Owner::BuiltIn, file, &built_in_path(file));
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        (found, troubles)
    }

    /// The same formulas with one file before all, which may be anywhere; those in its directory are found first, so that what it
    /// extends can lie beside it.
    pub fn beside(self, path: &Utf8Path) -> Result<Beside, BadFile> {
        let (name, format) = path
            .file_name()
            .and_then(Format::of_file)
            .ok_or_else(|| BadFile::Name(path.to_owned()))?;
        let name = FormulaName::parse(name)?;
        let bytes = files::read(path)?;
        let sheet = to_sheet(path, format, bytes).map_err(BadFile::Text)?;
        let parent = path.parent().filter(|parent| *parent != "");
        let directory = parent.unwrap_or(Utf8Path::new(".")).to_owned();
        let siblings = Self {
            directories: vec![(Owner::Checkout, directory)],
        };
        Ok(Beside {
            name,
            sheet,
            siblings,
            others: self,
        })
    }

    fn read(&self, name: &FormulaName) -> Result<Option<FormulaFile>, String> {
        let sheet = self.read_file(name)?;
        Ok(sheet.or_else(|| built_in(name)))
    }

    fn read_file(&self, name: &FormulaName) -> Result<Option<FormulaFile>, String> {
        for (_, directory) in &self.directories {
            let mut sheet: Option<FormulaFile> = None;
            for format in Format::ALL {
                let path = directory.join(format!("{}{}", name.as_str(), format.ending()));
                let bytes = match files::read(&path) {
                    Ok(bytes) => bytes,
                    Err(FileError::NotFound { .. }) => continue,
                    Err(error) => return Err(error.to_string()),
                };
                match &mut sheet {
                    None => sheet = Some(to_sheet(&path, format, bytes)?),
                    Some(first) => {
                        let shown = repo::shown(&path);
                        first.remark = Some(format!("{shown} is there too, and is not read"));
                    }
                }
            }
            if sheet.is_some() {
                return Ok(sheet);
            }
        }
        Ok(None)
    }
}

/// A file that somebody named, and the formulas that it may be made of.
#[derive(Debug, Clone)]
pub struct Beside {
    name: FormulaName,
    sheet: FormulaFile,
    siblings: Formulas,
    others: Formulas,
}

impl Beside {
    /// The name of the formula in the file.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }
}

impl FormulaSource for Beside {
    fn fetch(&self, name: &FormulaName) -> Result<Option<FormulaFile>, String> {
        if *name == self.name {
            return Ok(Some(self.sheet.clone()));
        }
        match self.siblings.read_file(name)? {
            Some(sheet) => Ok(Some(sheet)),
            None => self.others.read(name),
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.siblings.names();
        names.extend(self.others.names());
        names
    }
}

/// Why a file that somebody named is not looked at.
#[derive(Debug, Error)]
pub enum BadFile {
    /// It is not called as formulas are.
    #[error("{} is not the name of a formula's file", repo::shown(.0))]
    Name(Utf8PathBuf),
    /// Its name cannot be that of a formula.
    #[error(transparent)]
    Unsafe(#[from] UnsafeName),
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not a text, or too large.
    #[error("{0}")]
    Text(String),
}

impl FormulaSource for Formulas {
    fn fetch(&self, name: &FormulaName) -> Result<Option<FormulaFile>, String> {
        self.read(name)
    }

    fn names(&self) -> Vec<String> {
        let (found, _) = self.list();
        let names = found.into_iter().map(|found| found.name);
        names
            .filter(|name| FormulaName::parse(name).is_ok())
            .collect()
    }
}

/// The names of the files in a directory, which need not be there.
fn names_in(directory: &Utf8Path) -> Result<Vec<String>, FileError> {
    match files::names(directory) {
        Err(FileError::NotFound { .. }) => Ok(Vec::new()),
        names => names,
    }
}

/// Adds a file if it is a formula's and its name is not taken. That a name is not safe is for those to say who ask for it.
fn add(found: &mut Vec<Found>, owner: Owner, file: &str, path: &str) {
    let Some((name, _)) = Format::of_file(file) else {
        return;
    };
    match found.iter_mut().find(|other| other.name == name) {
        // Of two files in one directory the JSON is read.
        Some(other) if other.owner == owner && path.ends_with(Format::Json.ending()) => {
            path.clone_into(&mut other.path);
        }
        Some(_) => {}
        None => found.push(Found {
            name: name.to_owned(),
            owner,
            path: path.to_owned(),
        }),
    }
}

fn built_in_path(file: &str) -> String {
    format!("<built-in>/{file}")
}

fn built_in(name: &FormulaName) -> Option<FormulaFile> {
    Format::ALL.into_iter().find_map(|format| {
        let wanted = format!("{}{}", name.as_str(), format.ending());
        let (file, text) = BUILT_IN.iter().find(|(file, _)| *file == wanted)?;
        Some(FormulaFile {
            path: built_in_path(file),
            format,
            text: (*text).to_owned(),
            remark: None,
        })
    })
}

fn to_sheet(path: &Utf8Path, format: Format, bytes: Vec<u8>) -> Result<FormulaFile, String> {
    let shown = repo::shown(path);
    if bytes.len() > MAX_BYTES {
        let limit = MAX_BYTES >> 20;
        return Err(format!("{shown} is larger than {limit} MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
        format!("{shown} is not UTF-8 in line {line}; save it as UTF-8")
    })?;
    let text = text
        .strip_prefix('\u{feff}')
        .map_or(text.clone(), str::to_owned);
    Ok(FormulaFile {
        path: shown,
        format,
        text,
        remark: None,
    })
}
