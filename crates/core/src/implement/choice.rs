//! Which beads the driver takes and in which order (I-40, I-43), which formula each is worked by (I-4, I-7, I-14), and the values for it (I-8).

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::formula::Values;
use crate::issue::{Issue, Record, Standing};
use crate::text::excerpt;
use crate::vocabulary::{IssueType, Status, field, label};

crate::text::word_enum! {
    /// How a bead is worked: one of the formulas of §9.14.
    #[derive(PartialOrd, Ord)]
    pub enum Mode {
        /// A feature, tests first.
        ImplementFeature = "implement-feature",
        /// A bug, its cause first.
        FixBug = "fix-bug",
        /// Documents only.
        DocsOnly = "docs-only",
    }
}

impl Mode {
    /// The folder of its worktrees and the beginning of its branches (§9.14).
    pub fn folder(self) -> &'static str {
        match self {
            Self::ImplementFeature => "feat",
            Self::FixBug => "fix",
            Self::DocsOnly => "docs",
        }
    }
}

/// What a bead says about the formula that it is to be worked by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// This one, by a label or by the bead's type.
    Formula(String),
    /// A person decides, for this reason.
    Human(String),
}

/// The names of a bead's `formula-<name>` labels, each once, in order.
fn formula_labels(source: &Issue) -> BTreeSet<&str> {
    let labels = source.labels();
    labels
        .filter_map(|label| label.strip_prefix(label::FORMULA_PREFIX))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Chooses the formula of a bead (I-7).
pub fn choose_formula(source: &Issue) -> Choice {
    let labels = formula_labels(source);
    let mut names = labels.iter();
    match (names.next(), names.next()) {
        (Some(name), None) => Choice::Formula((*name).to_owned()),
        (Some(_), Some(_)) => Choice::Human(collision(&labels)),
        (None, _) => by_type(source),
    }
}

fn collision(labels: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = labels.iter().copied().collect();
    format!(
        "implement-bead: multiple formula-* labels detected ({}) — §4.2 collision; manual resolution required.",
        names.join(", ")
    )
}

fn by_type(source: &Issue) -> Choice {
    let formula = |mode: Mode| Choice::Formula(mode.as_str().to_owned());
    let kind = source.text(field::ISSUE_TYPE).unwrap_or_default();
    match IssueType::known(kind) {
        Some(IssueType::Bug) => formula(Mode::FixBug),
        Some(IssueType::Feature | IssueType::Task | IssueType::Chore) => {
            formula(Mode::ImplementFeature)
        }
        None if kind.is_empty() => formula(Mode::ImplementFeature),
        Some(IssueType::Epic | IssueType::Milestone) => Choice::Human(format!(
            "implement-bead: a bead of type {kind} needs decomposition before it can be implemented."
        )),
        _ => Choice::Human(format!(
            "implement-bead: no formula is known for a bead of type {}; add a label formula-<name>.",
            excerpt(kind)
        )),
    }
}

/// The mode of the work on a bead (I-14): its one `formula-<name>` label, or else the title of its molecule. An error says what a
/// person must decide.
pub fn mode_of(source: &Issue, molecule: &Issue) -> Result<Mode, String> {
    let labels = formula_labels(source);
    if labels.len() > 1 {
        return Err(collision(&labels));
    }
    let name = labels.first().copied().unwrap_or_else(|| molecule.title());
    Mode::parse(name).ok_or_else(|| {
        format!(
            "implement-bead: unknown formula `{}`; the dispatcher knows implement-feature, fix-bug and docs-only.",
            excerpt(name)
        )
    })
}

/// Which of a bead's molecules is continued (I-2, I-4).
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution<'r> {
    /// There is none: one is poured.
    Pour,
    /// This one; others were left aside, with the reason.
    Use {
        /// Its root.
        root: &'r Record,
        /// Why it and not another one.
        reason: Option<String>,
    },
    /// A person decides, for this reason.
    Human(String),
}

/// Chooses among the open molecules of a bead.
pub fn molecule_to_use(molecules: &[Record]) -> Resolution<'_> {
    let is_open = |record: &&Record| record.issue.standing() != Standing::Closed;
    let open: Vec<&Record> = molecules.iter().filter(is_open).collect();
    match open.as_slice() {
        [] => return Resolution::Pour,
        [root] => return Resolution::Use { root, reason: None },
        _ => {}
    }
    let is_known = |record: &&&Record| Mode::parse(record.issue.title()).is_some();
    let known: Vec<&&Record> = open.iter().filter(is_known).collect();
    match known.as_slice() {
        [one] => Resolution::Use {
            root: one,
            reason: Some(format!(
                "{} supersedes {} other molecules of the bead",
                one.issue.title(),
                open.len() - 1
            )),
        },
        _ => Resolution::Human(several(&open)),
    }
}

fn several(open: &[&Record]) -> String {
    let lines = open.iter().map(|record| {
        let issue = &record.issue;
        format!(
            "{} {} {} {}",
            issue.id(),
            excerpt(issue.title()),
            issue.status(),
            issue.text(field::UPDATED_AT).unwrap_or_default()
        )
    });
    let lines: Vec<String> = lines.collect();
    format!(
        "implement-bead: several molecules are open for this bead; close or burn all but one:\n{}",
        lines.join("\n")
    )
}

/// The most bytes of a title that steps get: it stands in their own titles, among other words.
const MAX_POURED_TITLE: usize = 300;

/// The values that a bead offers to its formula (I-8).
pub fn pour_values(source: &Issue) -> Values {
    let mut values = Values::default();
    let title = poured_title(source.title());
    for name in ["feature", "bug", "topic", "title"] {
        values.set(name, &title);
    }
    values.set("bead-id", source.id().as_str());
    values.set("title-slug", &title_slug(source));
    values
}

fn poured_title(title: &str) -> Cow<'_, str> {
    if title.len() <= MAX_POURED_TITLE {
        return title.into();
    }
    let beginning = &title[..title.floor_char_boundary(MAX_POURED_TITLE)];
    format!("{}…", beginning.trim_end()).into()
}

/// A title as a part of a name: lower case, words joined by `-`, at most 30 characters; the id where nothing is left (I-8).
pub fn title_slug(source: &Issue) -> String {
    let of_title = slug(source.title());
    if of_title.is_empty() {
        return slug(source.id().as_str());
    }
    of_title
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_lowercase().chars() {
        match c {
            ' ' | '-' if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ => {}
        }
    }
    let short: String = slug.chars().take(30).collect();
    short.trim_end_matches('-').to_owned()
}

/// A bead that the driver may take.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'r> {
    /// The bead.
    pub source: &'r Record,
    /// Whether it has a molecule that is not closed.
    pub has_molecule: bool,
}

impl Candidate<'_> {
    /// Whether it is in the queue: labelled, not waiting for a person, and either ready or begun before.
    fn is_queued(&self) -> bool {
        let issue = &self.source.issue;
        let is_begun = issue.status() == Status::InProgress && self.has_molecule;
        let is_ready = issue.status() == Status::Open && !self.source.is_blocked;
        issue.has_label(label::IMPLEMENTATION_READY)
            && !issue.has_label(label::HUMAN)
            && (is_ready || is_begun)
    }
}

/// The queue: the most urgent first, then by id.
pub fn queue<'r>(candidates: &[Candidate<'r>]) -> Vec<&'r Record> {
    let queued = candidates.iter().filter(|candidate| candidate.is_queued());
    let mut queue: Vec<&Record> = queued.map(|candidate| candidate.source).collect();
    queue.sort_by_key(|record| (record.issue.priority(), record.issue.id().clone()));
    queue
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn issue(more: &Value) -> Issue {
        let mut document = json!({"id": "proj-1", "title": "Login fails"});
        document
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Issue::without_comments(document).unwrap()
    }

    fn formula(name: &str) -> Choice {
        Choice::Formula(name.to_owned())
    }

    #[test]
    fn i_7_one_label_decides_or_else_the_type() {
        for (more, expected) in [
            (json!({"issue_type": "bug"}), formula("fix-bug")),
            (
                json!({"issue_type": "feature"}),
                formula("implement-feature"),
            ),
            (json!({"issue_type": "task"}), formula("implement-feature")),
            (json!({"issue_type": "chore"}), formula("implement-feature")),
            (json!({"issue_type": null}), formula("implement-feature")),
            (json!({}), formula("implement-feature")),
            (
                json!({"issue_type": "epic", "labels": ["formula-docs-only"]}),
                formula("docs-only"),
            ),
            (
                json!({"issue_type": "bug", "labels": ["formula-x", "formula-x", "y"]}),
                formula("x"),
            ),
        ] {
            assert_eq!(choose_formula(&issue(&more)), expected, "{more}");
        }
        for kind in ["epic", "milestone", "decision"] {
            assert!(
                matches!(
                    choose_formula(&issue(&json!({"issue_type": kind}))),
                    Choice::Human(_)
                ),
                "{kind}"
            );
        }
    }

    #[test]
    fn i_7_two_labels_are_a_collision_in_the_words_of_the_contract() {
        let two = issue(&json!({"labels": ["formula-fix-bug", "formula-docs-only"]}));
        let note = "implement-bead: multiple formula-* labels detected (docs-only, fix-bug) — §4.2 collision; manual resolution required.";
        assert_eq!(choose_formula(&two), Choice::Human(note.to_owned()));
        assert_eq!(mode_of(&two, &two), Err(note.to_owned()));
    }

    #[test]
    fn i_14_the_mode_is_the_label_or_the_title_of_the_molecule() {
        let molecule = |title: &str| issue(&json!({"title": title}));
        assert_eq!(
            mode_of(&issue(&json!({})), &molecule("fix-bug")),
            Ok(Mode::FixBug)
        );
        let labelled = issue(&json!({"labels": ["formula-docs-only"]}));
        assert_eq!(mode_of(&labelled, &molecule("fix-bug")), Ok(Mode::DocsOnly));
        assert!(mode_of(&issue(&json!({})), &molecule("brainstorm")).is_err());
    }

    #[test]
    fn i_8_the_title_goes_under_every_name_that_a_formula_may_have() {
        let values = pour_values(&issue(
            &json!({"title": "Add: Rate  limiting, for the API (v2) please now"}),
        ));
        assert_eq!(values.get("bug"), values.get("feature"));
        assert_eq!(values.get("bead-id"), Some("proj-1"));
        assert_eq!(
            values.get("title-slug"),
            Some("add-rate-limiting-for-the-api")
        );
        let long = "ü".repeat(250);
        let long = pour_values(&issue(&json!({"title": long})));
        assert_eq!(
            long.get("bug"),
            Some(format!("{}…", "ü".repeat(150)).as_str())
        );
        let odd = pour_values(&issue(&json!({"title": "日本"})));
        assert_eq!(odd.get("title-slug"), Some("proj-1"));
    }
}

#[cfg(test)]
mod queue_tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::issue::Fence;

    fn record(id: &str, more: &Value, is_blocked: bool) -> Record {
        let mut document = json!({"id": id, "title": id, "labels": [label::IMPLEMENTATION_READY]});
        document
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Record {
            issue: Issue::without_comments(document).unwrap(),
            version: 1,
            fence: Fence::default(),
            claim: None,
            is_blocked,
            n_comments: 0,
        }
    }

    #[test]
    fn i_43_what_was_begun_is_gone_on_with_and_people_are_waited_for() {
        let records = [
            record("b", &json!({"priority": 1}), false),
            record("a", &json!({"priority": 1}), false),
            record("urgent", &json!({"priority": 0}), false),
            record("begun", &json!({"status": "in_progress"}), false),
            record("held", &json!({"status": "in_progress"}), false),
            record(
                "human",
                &json!({"labels": [label::IMPLEMENTATION_READY, label::HUMAN]}),
                false,
            ),
            record("plain", &json!({"labels": []}), false),
            record("waiting", &json!({}), true),
        ];
        let candidates: Vec<Candidate<'_>> = records
            .iter()
            .map(|source| Candidate {
                source,
                has_molecule: source.issue.id().as_str() == "begun",
            })
            .collect();
        let ids: Vec<&str> = queue(&candidates)
            .iter()
            .map(|record| record.issue.id().as_str())
            .collect();
        assert_eq!(ids, ["urgent", "a", "b", "begun"]);
    }
}
