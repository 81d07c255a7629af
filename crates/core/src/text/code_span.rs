//! Inline code: `` `text` `` and, for text that holds backticks itself, ``` ``te`xt`` ```.

use std::collections::BTreeMap;

use super::Span;

/// A code span inside a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeSpan {
    /// The span with its backticks.
    pub whole: Span,
    /// What stands between the backticks.
    pub content: Span,
}

/// The first code span of a text: a run of backticks, and the next run of the same length.
pub fn first_code_span(text: &str) -> Option<CodeSpan> {
    code_spans(text).next()
}

/// The text without the backticks of its code spans (P-18); a backtick without a partner stays.
pub fn without_code_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut done = 0;
    for span in code_spans(text) {
        plain.push_str(&text[done..span.whole.start()]);
        plain.push_str(span.content.slice(text));
        done = span.whole.end();
    }
    plain.push_str(&text[done..]);
    plain
}

fn code_spans(text: &str) -> impl Iterator<Item = CodeSpan> {
    let runs = backtick_runs(text);
    // Where each length of run occurs last, once a run without a partner was met: the next one is known
    // at once, and a hostile line of unpaired runs is not searched again from each of them.
    let mut last: Option<BTreeMap<usize, usize>> = None;
    let mut next = 0;
    std::iter::from_fn(move || {
        while let Some(open) = runs.get(next).copied() {
            next += 1;
            if last.as_ref().is_some_and(|last| last[&open.len()] < next) {
                continue;
            }
            match (next..runs.len()).find(|at| runs[*at].len() == open.len()) {
                None => last = Some(last_of_each_length(&runs)),
                Some(close) => {
                    next = close + 1;
                    let content = Span::new(open.end(), runs[close].start());
                    return Some(CodeSpan {
                        whole: open.cover(runs[close]),
                        content: trimmed(text, content),
                    });
                }
            }
        }
        None
    })
}

fn last_of_each_length(runs: &[Span]) -> BTreeMap<usize, usize> {
    runs.iter()
        .enumerate()
        .map(|(at, run)| (run.len(), at))
        .collect()
}

fn backtick_runs(text: &str) -> Vec<Span> {
    let mut runs = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('`') {
        let start = from + at;
        let length = text[start..]
            .bytes()
            .take_while(|byte| *byte == b'`')
            .count();
        runs.push(Span::new(start, start + length));
        from = start + length;
    }
    runs
}

// As in CommonMark, one space on either side belongs to the marks, so that ``` `` `a` `` ``` can be written.
fn trimmed(text: &str, content: Span) -> Span {
    let inner = content.slice(text);
    let padded =
        inner.starts_with(' ') && inner.ends_with(' ') && inner.trim() != "" && inner.len() > 1;
    if padded {
        Span::new(content.start() + 1, content.end() - 1)
    } else {
        content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_18_backticks_of_code_are_removed() {
        for (marked, plain) in [
            ("Create `a.py` and `b`", "Create a.py and b"),
            ("no code", "no code"),
            ("a ` alone", "a ` alone"),
            ("``x`y``", "x`y"),
            ("`` `q` ``", "`q`"),
            ("` `", " "),
            ("``` a `` b `c` d ``e`` f ``` g", "a `` b `c` d ``e`` f g"),
            ("``` a `` b `c` d ``e", "``` a b `c` de"),
            ("``` a `` b `c` `` ````d", "``` a b `c` ````d"),
            ("é `ü` é", "é ü é"),
        ] {
            assert_eq!(without_code_marks(marked), plain);
        }
    }

    #[test]
    fn the_first_span_is_found() {
        let span = first_code_span("x `y z` `w`").unwrap();
        assert_eq!(
            (span.whole, span.content),
            (Span::new(2, 7), Span::new(3, 6))
        );
        assert_eq!(first_code_span("``a`"), None);
    }
}
