//! The letters of a suffix as a set (N-3).

/// A set of the letters a to z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letters(u32);

impl Letters {
    /// The set of a suffix's letters; what is no lower-case letter is passed over.
    pub fn of(suffix: &str) -> Self {
        Self(
            suffix
                .bytes()
                .filter(u8::is_ascii_lowercase)
                .fold(0, |set, letter| set | 1 << (letter - b'a')),
        )
    }

    /// Whether there is no letter: a sequential phase or sprint.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many letters there are; several mean that tracks are merged.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether `other` merges this one: this is a non-empty strict subset of it (contracts §2.1).
    pub fn is_covered_by(self, other: Self) -> bool {
        !self.is_empty() && self != other && self.0 & other.0 == self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n_3_a_merged_suffix_covers_its_parts() {
        let set = Letters::of;
        assert!(set("a").is_covered_by(set("ab")));
        assert!(set("ab").is_covered_by(set("abc")));
        assert!(
            !set("").is_covered_by(set("a")),
            "an unsuffixed sprint is never covered"
        );
        assert!(!set("ab").is_covered_by(set("ba")));
        assert!(!set("c").is_covered_by(set("ab")));
    }
}
