//! Times in documents (X-2, B-21).

use jiff::civil;
use jiff::tz::Offset;

use crate::text::excerpt;

use super::error::{FieldErrorKind, Invalid};
use super::names::text_type;

/// A moment, kept as it was written so that rewriting a bead leaves its times alone.
///
/// Equality is of the text; compare [`Timestamp::instant`] for the moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Timestamp(Box<str>);

text_type!(
    Timestamp,
    about "A date with a time; without an offset it is UTC.",
    "pattern": Self::PATTERN
);

impl Timestamp {
    const PATTERN: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?$";

    /// Reads a date with a time: naive (taken as UTC), `Z` or with an offset, with or without
    /// seconds and a fraction, with `T` or a space.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match read(text) {
            Some(_) => Ok(Self(text.into())),
            None => Err(Invalid {
                message: format!(
                    "Input should be a valid datetime with date and time, got '{}'",
                    excerpt(text)
                )
                .into(),
                kind: FieldErrorKind::DatetimeParsing,
            }),
        }
    }

    /// Writes a moment as RFC 3339 in UTC with `Z`, to the second.
    pub fn from_instant(instant: jiff::Timestamp) -> Self {
        let utc = Offset::UTC.to_datetime(instant);
        Self(utc.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
    }

    /// The moment itself.
    pub fn instant(&self) -> jiff::Timestamp {
        // The text was read once already, so the epoch stands for nothing that can happen.
        read(&self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

// jiff's own parser also takes dates without time, week dates and zone names, which B-21 refuses;
// hence the shape is read here, and jiff only judges the numbers.
fn read(text: &str) -> Option<jiff::Timestamp> {
    let mut rest = text.as_bytes();
    let year = i16::try_from(digits(&mut rest, 4)?).ok()?;
    punct(&mut rest, b"-")?;
    let month = two(&mut rest)?;
    punct(&mut rest, b"-")?;
    let day = two(&mut rest)?;
    punct(&mut rest, b"Tt ")?;
    let hour = two(&mut rest)?;
    punct(&mut rest, b":")?;
    let minute = two(&mut rest)?;
    let (second, nanosecond) = seconds(&mut rest)?;
    let offset = offset(rest)?;
    let civil = civil::DateTime::new(year, month, day, hour, minute, second, nanosecond).ok()?;
    offset.to_timestamp(civil).ok()
}

fn seconds(rest: &mut &[u8]) -> Option<(i8, i32)> {
    if punct(rest, b":").is_none() {
        return Some((0, 0));
    }
    let second = two(rest)?;
    if punct(rest, b".").is_none() {
        return Some((second, 0));
    }
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 {
        return None;
    }
    let fraction = rest[..length]
        .iter()
        .chain(std::iter::repeat(&b'0'))
        .take(9);
    let nanosecond = fraction.fold(0, |sum, byte| sum * 10 + i32::from(byte - b'0'));
    *rest = &rest[length..];
    Some((second, nanosecond))
}

fn offset(mut rest: &[u8]) -> Option<Offset> {
    let sign = match rest {
        [] | [b'Z' | b'z'] => return Some(Offset::UTC),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    rest = &rest[1..];
    let hours = digits(&mut rest, 2)?;
    let _colon = punct(&mut rest, b":");
    let minutes = digits(&mut rest, 2)?;
    if !rest.is_empty() || hours > 23 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 60 + minutes) * 60).ok()
}

fn punct(rest: &mut &[u8], allowed: &[u8]) -> Option<()> {
    let (first, tail) = rest.split_first()?;
    allowed.contains(first).then(|| *rest = tail)
}

fn two(rest: &mut &[u8]) -> Option<i8> {
    digits(rest, 2).and_then(|number| i8::try_from(number).ok())
}

fn digits(rest: &mut &[u8], length: usize) -> Option<i32> {
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    head.iter().try_fold(0, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + i32::from(byte - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_2_readers_accept_the_usual_spellings() {
        for (text, moment) in [
            ("2026-02-07T10:00:00Z", "2026-02-07T10:00:00Z"),
            ("2026-02-07T10:00:00", "2026-02-07T10:00:00Z"),
            ("2026-02-07 10:00:00", "2026-02-07T10:00:00Z"),
            ("2026-02-07T10:00Z", "2026-02-07T10:00:00Z"),
            (
                "2026-02-07T10:00:00.123456+02:00",
                "2026-02-07T08:00:00.123456Z",
            ),
            (
                "2026-02-07T10:00:00.1234567891234z",
                "2026-02-07T10:00:00.123456789Z",
            ),
            ("2026-02-07T10:00:00-0330", "2026-02-07T13:30:00Z"),
        ] {
            let read = Timestamp::parse(text).unwrap();
            assert_eq!(read.as_str(), text);
            assert_eq!(read.instant(), moment.parse().unwrap(), "{text}");
        }
    }

    #[test]
    fn b_21_dates_without_time_and_garbage_are_refused() {
        for text in [
            "",
            "2026-02-07",
            "10:00:00",
            "yesterday",
            "1770458400",
            "2026-02-30T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-02-07T24:00:00Z",
            "2026-02-07T10:00:60Z",
            "2026-02-07T10:00:00Z ",
            "2026-02-07T10:00:00Z\n",
            "2026-02-07T10:00:00+25:00",
            "2026-02-07T10:00:00.Z",
            "2026-2-7T10:00:00Z",
            "2026-02-07T10",
            "2026-02-07T10:00:00Ä",
            "2026-02-07T10:00:00Z[UTC]",
            "9999-12-31T23:59:59-23:00",
        ] {
            let refused = Timestamp::parse(text).unwrap_err();
            assert_eq!(refused.kind, FieldErrorKind::DatetimeParsing, "{text:?}");
        }
    }

    #[test]
    fn x_2_writers_use_utc_and_whole_seconds() {
        let moment: jiff::Timestamp = "2026-02-07T10:00:00.987+02:00".parse().unwrap();
        let written = Timestamp::from_instant(moment);
        assert_eq!(written.as_str(), "2026-02-07T08:00:00Z");
        assert_eq!(Timestamp::parse(written.as_str()), Ok(written));
    }
}
