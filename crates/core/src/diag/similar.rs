//! "Did you mean": the known word nearest to an unknown one.

/// The candidate that a misspelt word most likely stands for, ignoring case; nothing when none is near.
pub fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // A long word is no slip of the pen, and measuring it would cost its square.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::osa_distance(&word, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= allowance(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

// A third of the letters may be wrong, but never more than three and at least one.
fn allowance(candidate: &str) -> usize {
    (candidate.chars().count() / 3).clamp(1, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_word() {
        let fields = [
            "Dev Agents",
            "QA Agents",
            "Tasks",
            "Branch",
            "Source Branch",
        ];
        assert_eq!(did_you_mean("Dev Agent", fields), Some("Dev Agents"));
        assert_eq!(did_you_mean("qa agents", fields), Some("QA Agents"));
        assert_eq!(
            did_you_mean("sonet", ["haiku", "sonnet", "opus"]),
            Some("sonnet")
        );
        assert_eq!(did_you_mean("Status", fields), None);
        assert_eq!(did_you_mean(&"x".repeat(1000), fields), None);
    }
}
