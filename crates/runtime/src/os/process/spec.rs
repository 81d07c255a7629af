//! What to run, and within which bounds.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::Utf8PathBuf;

use crate::os::clock;

#[derive(Debug, Clone)]
pub struct Spec {
    pub mark: Mark,
    /// The program and its arguments. A program without a `/` is looked for in the `PATH`.
    pub argv: Vec<String>,
    pub cwd: Utf8PathBuf,
    /// What its environment has that ours has not, and the other way round.
    pub env: Environment,
    pub stdin: Stdin,
    pub limits: Limits,
    /// The directory for `stdout` and `stderr` as they came; it exists. A file is made when there is something to keep.
    pub output: Option<Utf8PathBuf>,
}

/// By what the processes of a unit are known: the value of `BEADS_RALPH_UNIT` in their environment. No two units have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(pub String);

impl Mark {
    /// The variable that carries a mark. For a unit inside a unit it carries that of the outer one too, in front.
    pub const VARIABLE: &str = "BEADS_RALPH_UNIT";

    /// What stands between the marks of a unit inside a unit.
    const SEPARATOR: u8 = b' ';

    /// A mark that no other unit of this machine has.
    pub fn unique() -> Self {
        static N_MARKS: AtomicU64 = AtomicU64::new(0);
        let number = N_MARKS.fetch_add(1, Ordering::Relaxed);
        let now = clock::wall().as_nanosecond();
        Self(format!("{}-{now}-{number}", std::process::id()))
    }

    /// A mark of its own that can be found by this one, too.
    #[must_use]
    pub fn below(&self) -> Self {
        let own = Self::unique();
        Self(format!("{} {}", self.0, own.0))
    }

    /// The same, found by another one, too.
    pub(super) fn under(&self, above: Option<&Self>) -> Self {
        match above {
            Some(above) if !above.is_in(OsStr::new(&self.0)) => {
                Self(format!("{} {}", above.0, self.0))
            }
            _ => self.clone(),
        }
    }

    /// The variable's value for a unit, by the value that we have ourselves.
    pub(super) fn inside(&self, outer: Option<&OsString>) -> OsString {
        let mut value = outer.cloned().unwrap_or_default().into_vec();
        if !value.is_empty() {
            value.push(Self::SEPARATOR);
        }
        value.extend_from_slice(self.0.as_bytes());
        OsString::from_vec(value)
    }

    pub(super) fn is_in(&self, value: &OsStr) -> bool {
        let (value, mark) = (value.as_bytes(), self.0.as_bytes());
        let is_edge = |byte: Option<&u8>| byte.is_none_or(|&byte| byte == Self::SEPARATOR);
        !mark.is_empty()
            && (value.windows(mark.len()).enumerate()).any(|(start, window)| {
                let before = start.checked_sub(1).and_then(|index| value.get(index));
                window == mark && is_edge(before) && is_edge(value.get(start + mark.len()))
            })
    }
}

/// The environment of a unit: the inherited one, less some names, plus some values (Z-23). [`Environment::TRAPS`] are always
/// kept from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Names that are kept from it; one that ends in `*` stands for all that begin so.
    pub without: Vec<String>,
    /// What is added last.
    pub with: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end at once.
    Closed,
    /// A file, then the end. A program that never reads it blocks nobody.
    File(Utf8PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub wall: Option<Duration>,
    /// After this time without output.
    pub idle: Option<Duration>,
    /// How long it may take to end after it was asked to; then it is killed.
    pub grace: Duration,
}

impl Limits {
    /// What V-5 gives a unit to end by itself.
    pub const GRACE: Duration = Duration::from_secs(5);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: None,
            idle: None,
            grace: Self::GRACE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_under_another_is_found_by_both() {
        let [one, above] = ["one", "above"].map(|mark| Mark(mark.to_owned()));
        let both = one.under(Some(&above));
        assert_eq!(both.0, "above one");
        assert_eq!(both.under(Some(&above)), both, "once is enough");
        assert_eq!(one.under(None), one);
        assert!(one.is_in(OsStr::new(&both.0)) && above.is_in(OsStr::new(&both.0)));
    }

    #[test]
    fn z_19_a_mark_is_found_whole_or_not_at_all() {
        let is_in = |mark: &str, value: &str| Mark(mark.to_owned()).is_in(OsStr::new(value));
        assert!(is_in("a", "a") && is_in("a", "a b") && is_in("b", "a b") && is_in("b", "a b c"));
        assert!(
            is_in("a b", "a b") && is_in("a b", "x a b y"),
            "a mark may be several words"
        );
        assert!(!is_in("a", "ab") && !is_in("a", "ba") && !is_in("a", "") && !is_in("a", "b"));
        assert!(!is_in("", "a") && !is_in("", ""));
    }
}
