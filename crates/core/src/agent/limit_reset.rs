//! When a limit is over, from the sentences in which programs say so.
//!
//! Only what is unambiguous counts: a time of day without its zone is not, because it is local to somebody else's machine.

use std::sync::LazyLock;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use regex::{Captures, Regex};

/// `resets 3:50pm (UTC)`, `resets Sep 5, 8pm (UTC)`.
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\breset[s]?(?: at| on)? (?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:, (?P<year>\d{4}))?,? (?:at )?)?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>am|pm)?\.? ?\((?:UTC|GMT)\)",
    )
});

/// `try again in 2 days 3 hours 4 minutes`.
static SPAN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:try again|reset[s]?|retry) in (?:(?P<days>\d{1,3}) ?d(?:ays?)?,? ?)?(?:(?P<hours>\d{1,3}) ?h(?:ours?)?,? ?)?(?:(?P<minutes>\d{1,4}) ?m(?:in(?:ute)?s?)?,? ?)?(?:(?P<seconds>\d{1,6}) ?s(?:ec(?:ond)?s?)?)?\b",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is one of ours")
}

/// The moment that a text names as the end of a limit, seen from now.
pub(super) fn reset_in(text: &str, now: Timestamp) -> Option<Timestamp> {
    let by_clock = CLOCK.captures(text).and_then(|found| clock(&found, now));
    by_clock.or_else(|| SPAN.captures(text).and_then(|found| span(&found, now)))
}

fn clock(found: &Captures<'_>, now: Timestamp) -> Option<Timestamp> {
    let number = |name: &str| found.name(name)?.as_str().parse::<i8>().ok();
    let time = time_of_day(
        number("hour")?,
        number("minute").unwrap_or(0),
        found.name("half").map(|half| half.as_str()),
    )?;
    let today = now.to_zoned(TimeZone::UTC).date();
    let at = |date: Date| {
        date.to_datetime(time)
            .to_zoned(TimeZone::UTC)
            .ok()
            .map(|zoned| zoned.timestamp())
    };
    let Some(month) = found.name("month") else {
        let later = at(today).filter(|at| *at > now);
        return later.or_else(|| at(today.tomorrow().ok()?));
    };
    let (month, day) = (month_of(month.as_str())?, number("day")?);
    if let Some(year) = found.name("year") {
        return at(Date::new(year.as_str().parse().ok()?, month, day).ok()?);
    }
    // A date without its year is the next such date; yesterday's is a limit that just ended, not one of a year.
    let this_year = at(Date::new(today.year(), month, day).ok()?)?;
    if this_year >= now.checked_sub(SignedDuration::from_hours(24)).ok()? {
        return Some(this_year);
    }
    at(Date::new(today.year() + 1, month, day).ok()?)
}

fn time_of_day(hour: i8, minute: i8, half: Option<&str>) -> Option<Time> {
    let hour = match half.map(str::to_ascii_lowercase).as_deref() {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("am") => hour % 12,
        Some(_) => hour % 12 + 12,
        None => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

fn month_of(word: &str) -> Option<i8> {
    let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let at = months
        .iter()
        .position(|month| word.eq_ignore_ascii_case(month))?;
    i8::try_from(at + 1).ok()
}

fn span(found: &Captures<'_>, now: Timestamp) -> Option<Timestamp> {
    let number = |name: &str| {
        found
            .name(name)
            .and_then(|found| found.as_str().parse::<i64>().ok())
    };
    let parts = [
        ("days", 86_400),
        ("hours", 3600),
        ("minutes", 60),
        ("seconds", 1),
    ];
    let seconds: i64 = parts
        .iter()
        .filter_map(|(name, length)| Some(number(name)? * length))
        .sum();
    if seconds == 0 {
        return None;
    }
    now.checked_add(SignedDuration::from_secs(seconds)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_time_is_read_only_where_it_is_unambiguous() {
        let now: Timestamp = "2026-09-04T15:00:00Z".parse().unwrap();
        for (text, expected) in [
            (
                "You've hit your limit · resets Sep 5, 8pm (UTC)",
                Some("2026-09-05T20:00:00Z"),
            ),
            (
                "You've hit your 5-hour limit · resets 3:50pm (UTC)",
                Some("2026-09-04T15:50:00Z"),
            ),
            ("resets 2:59pm (UTC)", Some("2026-09-05T14:59:00Z")),
            ("resets 12am (UTC)", Some("2026-09-05T00:00:00Z")),
            ("resets 12pm (UTC)", Some("2026-09-05T12:00:00Z")),
            ("resets at 23:15 (UTC)", Some("2026-09-04T23:15:00Z")),
            ("resets Jan 2, 9am (UTC)", Some("2027-01-02T09:00:00Z")),
            ("resets Sep 4, 9am (UTC)", Some("2026-09-04T09:00:00Z")),
            (
                "resets Sep 5, 2026, 8:30pm (GMT)",
                Some("2026-09-05T20:30:00Z"),
            ),
            (
                "Try again in 3 hours 42 minutes.",
                Some("2026-09-04T18:42:00Z"),
            ),
            ("try again in 1 day", Some("2026-09-05T15:00:00Z")),
            ("Please try again in 90s", Some("2026-09-04T15:01:30Z")),
            ("resets 3:45pm", None),
            ("resets 3:45pm (Europe/Berlin)", None),
            ("try again at 4:51 PM.", None),
            ("resets 25pm (UTC)", None),
            ("resets Feb 30, 8pm (UTC)", None),
            ("try again in 0 minutes", None),
            ("try again in a while", None),
            ("resets in 9999999999 days", None),
            ("", None),
        ] {
            let expected = expected.map(|time| time.parse::<Timestamp>().unwrap());
            assert_eq!(reset_in(text, now), expected, "{text}");
        }
    }
}
