//! Which members of a group or level merge which others (contracts §2.1, "covered" and "terminals").
//!
//! Coverage depends on the set of letters alone, so members with equal sets form one class and the
//! pairwise work is done on classes: a group of 100,000 members has few of them. Single letters give
//! at most 26 classes, and merged sets are limited to [`MAX_MERGES`], which bounds the work.

use super::limit::MAX_MERGES;
use crate::number::Letters;

/// The classes of one group or level, largest letter set first.
pub(super) struct Cover {
    pub(super) classes: Vec<Class>,
}

/// The members that carry one set of letters.
pub(super) struct Class {
    pub(super) letters: Letters,
    /// Positions in the group or level, ascending.
    pub(super) members: Vec<usize>,
    /// The terminals among the classes that this one covers.
    pub(super) parts: Vec<usize>,
    /// Whether another class covers this one.
    pub(super) covered: bool,
}

/// More than [`MAX_MERGES`] distinct merged sets, with their number.
pub(super) struct TooManyMerges(pub(super) usize);

impl Cover {
    /// Sorts members, given by their letters, into classes and relates the classes.
    pub(super) fn of(letters: impl Iterator<Item = Letters>) -> Result<Self, TooManyMerges> {
        let mut members: Vec<(Letters, usize)> = letters
            .enumerate()
            .map(|(at, letters)| (letters, at))
            .collect();
        // With the largest sets first, whatever covers a class stands before it.
        members.sort_by_key(|(letters, at)| (std::cmp::Reverse(letters.len()), *letters, *at));
        let mut classes: Vec<Class> = Vec::new();
        for (letters, at) in members {
            match classes.last_mut() {
                Some(class) if class.letters == letters => class.members.push(at),
                _ => classes.push(Class {
                    letters,
                    members: vec![at],
                    parts: Vec::new(),
                    covered: false,
                }),
            }
        }
        let n_merges = classes
            .iter()
            .filter(|class| class.letters.len() > 1)
            .count();
        if n_merges > MAX_MERGES {
            return Err(TooManyMerges(n_merges));
        }
        relate(&mut classes);
        Ok(Self { classes })
    }

    /// The members that no other member covers, ascending.
    pub(super) fn terminals(&self) -> Vec<usize> {
        self.members_of((0..self.classes.len()).filter(|class| !self.classes[*class].covered))
    }

    /// The members that a class merges directly, ascending (D-1).
    pub(super) fn parts(&self, class: &Class) -> Vec<usize> {
        self.members_of(class.parts.iter().copied())
    }

    fn members_of(&self, classes: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut members: Vec<usize> = classes
            .flat_map(|class| self.classes[class].members.iter().copied())
            .collect();
        members.sort_unstable();
        members
    }
}

fn relate(classes: &mut [Class]) {
    for whole in 0..classes.len() {
        let mut parts: Vec<usize> = Vec::new();
        for part in whole + 1..classes.len() {
            let letters = classes[part].letters;
            if !letters.is_covered_by(classes[whole].letters) {
                continue;
            }
            classes[part].covered = true;
            // Larger sets came first, so a part that is merged by another part meets it here.
            if !parts
                .iter()
                .any(|larger| letters.is_covered_by(classes[*larger].letters))
            {
                parts.push(part);
            }
        }
        classes[whole].parts = parts;
    }
}
