//! Texts of others made safe for a page, and moments.

use beads_ralph_core::text::visible;
use jiff::Timestamp;

const MAX: usize = 4000;

/// A text of others, which neither steers a terminal nor a browser.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        if at == MAX {
            safe.push('…');
            break;
        }
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c => safe.push_str(&visible(c.encode_utf8(&mut [0; 4]))),
        }
    }
    safe
}

/// The beginning of a text, for places that are narrow.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return escaped(text);
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", escaped(start.trim_end()))
}

pub(super) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    let text = text.split('.').next().unwrap_or_default();
    format!("{} UTC", text.trim_end_matches('Z').replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_steers_no_browser() {
        assert_eq!(
            escaped("<script>alert('x')</script>&\"\u{1b}[31m"),
            format!(
                "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;{}[31m",
                visible("\u{1b}")
            )
        );
        assert_eq!(escaped(&"x".repeat(5000)).chars().count(), MAX + 1);
        assert_eq!(short("a long title", 7), "a long…");
    }
}
