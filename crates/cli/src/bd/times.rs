//! Moments as people type them: `+6h`, `-2d`, `2025-01-15`, RFC 3339, `tomorrow`, `next monday`, `in 3 days`.
//!
//! Times without a zone are UTC. The real `bd` understands more sentences; what is not understood is refused.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::Offset;
use jiff::{Span, Timestamp, ToSpan as _};

pub(super) fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    shifted(text, now)
        .or_else(|| dated(text))
        .or_else(|| text.parse::<Timestamp>().ok())
        .or_else(|| spoken(&text.trim().to_lowercase(), now))
}

/// `+6h`, `2d`, `-1w`, `3m`, `1y`.
fn shifted(text: &str, now: Timestamp) -> Option<Timestamp> {
    let unit = text.chars().next_back()?;
    let amount = &text[..text.len() - unit.len_utf8()];
    let digits = amount.strip_prefix(['+', '-']).unwrap_or(amount);
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let n: i64 = amount.strip_prefix('+').unwrap_or(amount).parse().ok()?;
    let span = match unit {
        'h' => Span::new().try_hours(n),
        'd' => Span::new().try_days(n),
        'w' => Span::new().try_weeks(n),
        'm' => Span::new().try_months(n),
        'y' => Span::new().try_years(n),
        _ => return None,
    };
    later(now, span.ok()?)
}

fn later(now: Timestamp, span: Span) -> Option<Timestamp> {
    let utc = Offset::UTC.to_datetime(now);
    let then = utc.checked_add(span).ok()?;
    Offset::UTC.to_timestamp(then).ok()
}

/// A date, or a date with a time but without a zone.
fn dated(text: &str) -> Option<Timestamp> {
    let is_digit_or = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | ' ');
    if !text.chars().all(is_digit_or) {
        return None;
    }
    let moment = match text.len() {
        10 => text
            .parse::<Date>()
            .ok()?
            .to_datetime(jiff::civil::Time::midnight()),
        19 => text.parse::<DateTime>().ok()?,
        _ => return None,
    };
    Offset::UTC.to_timestamp(moment).ok()
}

fn spoken(text: &str, now: Timestamp) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["now" | "today"] => Some(now),
        ["tomorrow"] => later(now, 1.day()),
        ["yesterday"] => later(now, (-1).days()),
        ["in", amount, unit] => {
            let n: i64 = match *amount {
                "a" | "an" | "one" => 1,
                digits => digits.parse().ok()?,
            };
            let span = match unit.trim_end_matches('s') {
                "minute" | "min" => Span::new().try_minutes(n),
                "hour" => Span::new().try_hours(n),
                "day" => Span::new().try_days(n),
                "week" => Span::new().try_weeks(n),
                "month" => Span::new().try_months(n),
                "year" => Span::new().try_years(n),
                _ => return None,
            };
            later(now, span.ok()?)
        }
        ["next" | "this" | "on", day] | [day] => {
            let wanted = weekday(day)?;
            let today = Offset::UTC.to_datetime(now).weekday();
            let days = match today.until(wanted) {
                0 => 7,
                days => days,
            };
            later(now, i64::from(days).days())
        }
        _ => None,
    }
}

fn weekday(word: &str) -> Option<Weekday> {
    let day = match word {
        "monday" | "mon" => Weekday::Monday,
        "tuesday" | "tue" => Weekday::Tuesday,
        "wednesday" | "wed" => Weekday::Wednesday,
        "thursday" | "thu" => Weekday::Thursday,
        "friday" | "fri" => Weekday::Friday,
        "saturday" | "sat" => Weekday::Saturday,
        "sunday" | "sun" => Weekday::Sunday,
        _ => return None,
    };
    Some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_people_type_them() {
        let now: Timestamp = "2026-03-04T05:06:07Z".parse().unwrap();
        for (text, then) in [
            ("+6h", "2026-03-04T11:06:07Z"),
            ("2d", "2026-03-06T05:06:07Z"),
            ("-1w", "2026-02-25T05:06:07Z"),
            ("1m", "2026-04-04T05:06:07Z"),
            ("2025-01-15", "2025-01-15T00:00:00Z"),
            ("2025-01-15T10:00:00", "2025-01-15T10:00:00Z"),
            ("2025-01-15T10:00:00+02:00", "2025-01-15T08:00:00Z"),
            ("tomorrow", "2026-03-05T05:06:07Z"),
            ("in 2 weeks", "2026-03-18T05:06:07Z"),
            ("next monday", "2026-03-09T05:06:07Z"),
        ] {
            assert_eq!(parse(text, now), Some(then.parse().unwrap()), "{text}");
        }
        for text in ["", "h", "soon", "12", "2025-13-01"] {
            assert_eq!(parse(text, now), None, "{text}");
        }
    }
}
