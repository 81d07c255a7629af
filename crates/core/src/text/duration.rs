//! Durations as people write them: `90s`, `45m`, `1h30m` (Go's style, contracts §7.1).

use std::time::Duration;

/// Reads a duration of one or more `<whole number><unit>`, with the units `h`, `m`, `s` and `ms`, each
/// at most once and largest first. Zero is not a duration.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    let mut units = [("h", 3_600_000_u64), ("m", 60_000), ("s", 1_000), ("ms", 1)].iter();
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        let (unit, tail) = rest.split_at(letters);
        let (_, milliseconds) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(Duration::from_millis(number.checked_mul(*milliseconds)?))?;
        rest = tail;
    }
    (!total.is_zero()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_the_style_of_go() {
        for (text, milliseconds) in [
            ("45m", Some(2_700_000)),
            ("1h30m", Some(5_400_000)),
            ("90s", Some(90_000)),
            ("500ms", Some(500)),
            ("1m500ms", Some(60_500)),
            ("0s", None),
            ("", None),
            ("5", None),
            ("m5", None),
            ("30m1h", None),
            ("1m1m", None),
            ("1.5h", None),
            ("-5m", None),
            ("45 m", None),
            ("99999999999999999999h", None),
            ("９m", None),
        ] {
            assert_eq!(
                parse_duration(text),
                milliseconds.map(Duration::from_millis),
                "{text}"
            );
        }
    }
}
