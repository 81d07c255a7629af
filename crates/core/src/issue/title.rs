//! How long a title may be.

use thiserror::Error;

/// The most bytes of a title, as the real `bd` has it. Titles become subjects of commits, titles of pull requests and arguments of programs,
/// none of which take a text of any length. What a store holds already is read whatever its length.
pub const MAX_TITLE: usize = 500;

/// A title that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the title has {n_bytes} bytes, and at most {MAX_TITLE} are allowed")]
pub struct LongTitle {
    /// How many bytes it has.
    pub n_bytes: usize,
}

/// Refuses a title that is too long for what is done with titles.
pub fn check_title(title: &str) -> Result<(), LongTitle> {
    match title.len() {
        0..=MAX_TITLE => Ok(()),
        n_bytes => Err(LongTitle { n_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_has_at_most_500_bytes() {
        assert_eq!(check_title(&"x".repeat(500)), Ok(()));
        let long = check_title(&"ü".repeat(251)).unwrap_err();
        assert_eq!(
            long.to_string(),
            "the title has 502 bytes, and at most 500 are allowed"
        );
    }
}
