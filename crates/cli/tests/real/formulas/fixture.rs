//! The files of constructs: formulas, what is poured of them, and which differences are meant.
//!
//! `files` has the text of each formula by the name of its file. Each of `pours` names a formula and its values; `differs` lists
//! what the two programs make differently: the step (`(root)` for the root), the field, the value on either side and the reason. A
//! step that only one of them makes differs in the field `there`. `refused_by_real` and `refused_by_ours` are parts of what is said
//! when there is no pour; where only one refuses, `why` says the reason.

use std::collections::BTreeMap;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fixture {
    pub(super) files: BTreeMap<String, String>,
    pub(super) pours: Vec<Pour>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pour {
    pub(super) formula: String,
    #[serde(default)]
    pub(super) vars: Vec<String>,
    #[serde(default)]
    pub(super) wisp: bool,
    #[serde(default)]
    pub(super) differs: Vec<Difference>,
    pub(super) refused_by_real: Option<String>,
    pub(super) refused_by_ours: Option<String>,
    #[serde(default)]
    pub(super) why: String,
}

/// A field of a step that is not the same on both sides.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Difference {
    pub(super) step: String,
    pub(super) field: String,
    #[serde(default)]
    pub(super) real: Value,
    #[serde(default)]
    pub(super) ours: Value,
    #[serde(default)]
    pub(super) why: String,
}

pub(super) fn folder() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/formulas/constructs")
}

impl Fixture {
    #[track_caller]
    pub(super) fn read(name: &str) -> Self {
        let path = folder().join(format!("{name}.yaml"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    }
}

impl Difference {
    /// Whether it is the same, whatever the reason.
    pub(super) fn is(&self, other: &Self) -> bool {
        (&self.step, &self.field, &self.real, &self.ours)
            == (&other.step, &other.field, &other.real, &other.ours)
    }
}

/// As it would stand in a file.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "      - step: {:?}", self.step)?;
        writeln!(f, "        field: {}", self.field)?;
        writeln!(f, "        real: {}", self.real)?;
        writeln!(f, "        ours: {}", self.ours)?;
        write!(f, "        why: {}", self.why)
    }
}
