//! Wisps: short-lived issues, which are over a day after they came (F-10).
//!
//! Nothing is deleted because it is over: it is no longer offered as work, and `mol wisp gc` removes it.

use jiff::{SignedDuration, Timestamp};

use super::model::Issue;

/// For how long a wisp counts.
pub const WISP_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// Whether an issue is short-lived.
pub fn is_wisp(issue: &Issue) -> bool {
    issue.flag("ephemeral")
}

/// When a wisp is over; nothing for what is none, and for one that does not say when it came.
pub fn expiry(issue: &Issue) -> Option<Timestamp> {
    let created = issue.time("created_at").filter(|_| is_wisp(issue))?;
    // One from the end of time never is.
    created.checked_add(WISP_LIFETIME).ok()
}

/// Whether an issue is a wisp that is over.
pub fn is_expired(issue: &Issue, now: Timestamp) -> bool {
    expiry(issue).is_some_and(|until| until <= now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f_10_a_wisp_is_over_a_day_after_it_came() {
        let issue = |more| {
            let mut document = json!({"id": "a", "title": "t"});
            document
                .as_object_mut()
                .unwrap()
                .extend(serde_json::from_value::<serde_json::Map<_, _>>(more).unwrap());
            Issue::without_comments(document).unwrap()
        };
        let came = "2026-01-01T00:00:00Z";
        let wisp = issue(json!({"ephemeral": true, "created_at": came}));
        let at = |hours| came.parse::<Timestamp>().unwrap() + SignedDuration::from_mins(hours);
        assert!(!is_expired(&wisp, at(24 * 60 - 1)));
        assert!(is_expired(&wisp, at(24 * 60)));
        for never in [
            json!({"created_at": came}),
            json!({"ephemeral": false, "created_at": came}),
            json!({"ephemeral": true}),
            json!({"ephemeral": true, "created_at": "9999-12-30T12:00:00Z"}),
        ] {
            assert!(!is_expired(&issue(never.clone()), at(9_000_000)), "{never}");
        }
    }
}
