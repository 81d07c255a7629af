//! Makes what two sides print comparable: ids that were made up, times, and paths; nothing else.
//!
//! The n-th new id of a side becomes `<id-n>`; ids that the cases themselves name stay. Those of a molecule are numbered as
//! `id_mapping` has them, because ours also names them elsewhere. A time becomes its distance from now,
//! rounded to five minutes; one that is far away, or on the hour as days are, stays, because it does not come from the clock.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use regex::{Captures, Regex};

static UUID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap()
});
/// The mark of one state of an issue.
static REVISION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(\"revision\": \")(-?[0-9]+)\"").unwrap());
static ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(tt-(?:wisp-|mol-)?[a-z0-9]{1,8}|bd-[a-z]+-[0-9]{3}(?:-[a-z-]+)?)((?:\.[0-9]+)*)\b",
    )
    .unwrap()
});
/// Which step of a formula became which issue.
static MAPPING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""id_mapping": \{[^}]*\}"#).unwrap());
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"\b([0-9]{4}-[0-9]{2}-[0-9]{2})(?:([T ])([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}| UTC)?)?";
    Regex::new(pattern).unwrap()
});

/// How long it is until a time that is yet to come: two calls may fall into two seconds.
static REST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bexpires in [0-9hms.]+").unwrap());

/// The file that is written before it gets its name.
static TEMPORARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"/\.~([^ /]+)\.[0-9]+\b").unwrap());

/// The ids that a text names.
pub(crate) fn ids(text: &str) -> impl Iterator<Item = String> {
    ID.captures_iter(text).map(|found| found[1].to_owned())
}

/// What one side has printed until now.
#[derive(Debug, Clone)]
pub(crate) struct Normaliser {
    /// Paths of this side, with what stands for them; longer ones first.
    pub(crate) paths: Vec<(Utf8PathBuf, &'static str)>,
    /// Ids that the cases name.
    pub(crate) named: BTreeSet<String>,
    /// Ids that were made up, in the order in which they were seen.
    pub(crate) made_up: Vec<String>,
}

impl Normaliser {
    /// The text with names for what differs between any two stores.
    pub(crate) fn normal(&mut self, text: &str, now: Timestamp) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.paths {
            text = text.replace(path.as_str(), name);
        }
        let text = TEMPORARY.replace_all(&text, "/.~$1.<n>");
        let text = UUID.replace_all(&text, |found: &Captures<'_>| self.number(&found[0]));
        let text = REVISION.replace_all(&text, |found: &Captures<'_>| {
            format!("{}{}\"", &found[1], self.number(&found[2]))
        });
        if let Some(mapping) = MAPPING.find(&text) {
            for id in ids(mapping.as_str())
                .filter(|id| !self.named.contains(id))
                .collect::<Vec<_>>()
            {
                self.number(&id);
            }
        }
        let text = ID.replace_all(&text, |found: &Captures<'_>| {
            if self.named.contains(&found[1]) {
                found[0].to_owned()
            } else {
                format!("{}{}", self.number(&found[1]), &found[2])
            }
        });
        let text = REST.replace_all(&text, "expires in <rest>");
        let text = TIME.replace_all(&text, |found: &Captures<'_>| time(found, now));
        text.into_owned()
    }

    fn number(&mut self, id: &str) -> String {
        let known = self.made_up.iter().position(|known| known == id);
        let index = known.unwrap_or_else(|| {
            self.made_up.push(id.to_owned());
            self.made_up.len() - 1
        });
        format!("<id-{}>", index + 1)
    }
}

/// A time as its distance from now, in the form in which it was written.
fn time(found: &Captures<'_>, now: Timestamp) -> String {
    let part = |index: usize| found.get(index).map_or("", |part| part.as_str());
    let written = found[0].to_owned();
    if part(3).is_empty() {
        let today = now.to_zoned(TimeZone::UTC).date().to_string();
        return if part(1) == today {
            "<today>".to_owned()
        } else {
            written
        };
    }
    let seconds = if part(4).is_empty() { ":00" } else { part(4) };
    let Ok(time) = format!("{}T{}{seconds}", part(1), part(3)).parse::<DateTime>() else {
        return written;
    };
    let Ok(time) = time.to_zoned(TimeZone::UTC) else {
        return written;
    };
    let away = now.duration_until(time.timestamp()).as_secs();
    let is_now = away.abs() < 150;
    if !is_now && (away.abs() > 100 * 86_400 || part(3).ends_with(":00") && seconds == ":00") {
        return written;
    }
    let minutes = (away + if away < 0 { -150 } else { 150 }) / 300 * 5;
    // Whether a fraction of a second is printed means nothing for the time.
    let seconds = if part(4).is_empty() { "" } else { "s" };
    let form = format!("{}{seconds}{}", part(2), part(6));
    if is_now {
        format!("<now {form}>")
    } else {
        format!("<now {minutes:+}m {form}>")
    }
}

#[cfg(test)]
fn normaliser() -> Normaliser {
    Normaliser {
        paths: vec![("/x/work".into(), "<work>"), ("/x".into(), "<root>")],
        named: BTreeSet::from(["tt-a1".to_owned()]),
        made_up: Vec::new(),
    }
}

#[test]
fn ids_times_and_paths_are_named_and_nothing_else() {
    let now = "2026-05-04T10:20:30Z".parse().unwrap();
    let mut normaliser = normaliser();
    let mut normal = |text: &str| normaliser.normal(text, now);
    assert_eq!(
        normal("tt-zz9.1 tt-a1.2 tt-q tt-zz9"),
        "<id-1>.1 tt-a1.2 <id-2> <id-1>"
    );
    assert_eq!(normal("/x/work/a /x/b"), "<work>/a <root>/b");
    assert_eq!(
        normal("open m/.~a.jsonl.123: no"),
        "open m/.~a.jsonl.<n>: no"
    );
    assert_eq!(normal("\"revision\": \"-12\""), "\"revision\": \"<id-3>\"");
    assert_eq!(normal("2026-05-04T10:20:29Z"), "<now TsZ>");
    assert_eq!(normal("2026-05-04T10:20:29.5Z"), "<now TsZ>");
    assert_eq!(normal("2026-05-04T10:25:29Z"), "<now +5m TsZ>");
    assert_eq!(normal("expires in 1h59m44s"), "expires in <rest>");
    assert_eq!(
        normal("2026-05-04 2026-05-03 10:20"),
        "<today> <now -1440m  >"
    );
    assert_eq!(
        normal("2020-01-02T03:04:05Z 2026-05-05T00:00:00Z"),
        "2020-01-02T03:04:05Z 2026-05-05T00:00:00Z"
    );
    assert_eq!(
        normal("P2 open 7 words, no-thing"),
        "P2 open 7 words, no-thing"
    );
}
