//! Two texts side by side, cut so that the place where they differ can be seen.

use super::excerpt::{MAX_EXCERPT_CHARS, visible};

/// How much of what two texts have in common is shown before they part.
const CONTEXT: usize = 20;

/// Both texts as [`excerpt`](super::excerpt) would show them, but cut around the first place where they differ: two long texts never
/// look the same unless they are.
pub fn contrast(one: &str, other: &str) -> (String, String) {
    let n_common = one
        .chars()
        .zip(other.chars())
        .take_while(|(one, other)| one == other)
        .count();
    let longest = one.chars().count().max(other.chars().count());
    let start = if longest <= MAX_EXCERPT_CHARS {
        0
    } else {
        n_common.saturating_sub(CONTEXT)
    };
    (window(one, start), window(other, start))
}

/// What fits of a text from a character on, with `…` for what does not.
fn window(text: &str, start: usize) -> String {
    let shown: String = text.chars().skip(start).take(MAX_EXCERPT_CHARS).collect();
    let before = if start > 0 { "…" } else { "" };
    let has_more = text.chars().nth(start + MAX_EXCERPT_CHARS).is_some();
    let after = if has_more { "…" } else { "" };
    format!("{before}{}{after}", visible(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_shown_whole() {
        assert_eq!(
            contrast("same a", "same b\n"),
            ("same a".to_owned(), "same b\\n".to_owned())
        );
    }

    #[test]
    fn long_texts_are_cut_around_their_difference() {
        let common = "x".repeat(100);
        let (one, other) = contrast(&format!("{common}this"), &format!("{common}other things"));
        assert_eq!(one, format!("…{}this", "x".repeat(20)));
        assert_eq!(other, format!("…{}other things", "x".repeat(20)));
        let (one, other) = contrast(&common, &format!("{common}é"));
        assert_ne!(one, other, "an end that was added is seen");
        let (one, other) = contrast(&format!("a{common}"), &format!("b{common}"));
        assert!(one.starts_with('a') && other.starts_with('b') && one.ends_with('…'));
    }
}
