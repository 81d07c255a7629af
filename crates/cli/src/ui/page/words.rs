//! Texts of others made safe for a page, and numbers and times for people.

use beads_ralph_core::engine::Spent;
use beads_ralph_core::text::visible;
use jiff::{SignedDuration, Timestamp};

/// How much of one text a page shows.
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

pub(crate) fn lasting(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        ..0 => "0 s".to_owned(),
        0..60 => format!("{}.{} s", seconds, duration.subsec_millis() / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

pub(crate) fn money(spent: &Spent) -> String {
    let dollars = spent.micros / 1_000_000;
    // Less than ten dollars are told to the hundredth of a cent, which one run of a small model may cost.
    let known = if dollars < 10 {
        format!("${dollars}.{:04}", spent.micros % 1_000_000 / 100)
    } else {
        format!(
            "${}.{:02}",
            grouped(dollars),
            spent.micros % 1_000_000 / 10_000
        )
    };
    match (spent.micros, spent.n_unpriced) {
        (0, 0) => "$0.00".to_owned(),
        (0, _) => "unknown".to_owned(),
        (_, 0) => known,
        _ => format!("{known} and more"),
    }
}

/// A number with thin spaces between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
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

    #[test]
    fn numbers_and_times_are_said_for_people() {
        assert_eq!(grouped(1_234_567).replace('\u{202f}', " "), "1 234 567");
        assert_eq!(lasting(SignedDuration::from_millis(1500)), "1.5 s");
        assert_eq!(lasting(SignedDuration::from_secs(3723)), "1 h 2 min");
        let spent = |micros, n_unpriced| Spent {
            micros,
            n_unpriced,
            ..Spent::default()
        };
        assert_eq!(money(&spent(1_230_000, 0)), "$1.2300");
        assert_eq!(money(&spent(12_345_678, 0)), "$12.34");
        assert_eq!(money(&spent(0, 2)), "unknown");
        assert_eq!(money(&spent(1_000_000, 1)), "$1.0000 and more");
    }
}
