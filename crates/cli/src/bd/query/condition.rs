//! Whether a bead is as an expression says.
//!
//! The real `bd` asks its database where it can and decides by itself where it must, which is for `OR` and for most of `NOT`. The
//! two know different operators for some fields; both are here, so that the same expressions are refused with the same
//! words.

use beads_ralph_core::issue::{Issue, metadata_text};
use beads_ralph_core::vocabulary::Status;
use jiff::Timestamp;
use jiff::tz::Offset;

use super::parse::{Comparison, Node};
use super::words::Operator;
use crate::bd::{input, times};

/// An expression that can be asked of beads.
pub(super) struct Condition(Test);

type Test = Box<dyn Fn(&Issue) -> bool>;

/// How the real `bd` answers an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Its database does.
    Asked,
    /// It looks at each bead.
    Looked,
}

impl Condition {
    /// Reads an expression. The error is a sentence of the real `bd`.
    pub(super) fn new(node: &Node, now: Timestamp) -> Result<Self, String> {
        let mode = if can_be_asked(node) {
            Mode::Asked
        } else {
            Mode::Looked
        };
        let reader = Reader { mode, now };
        Ok(Self(reader.node(node)?))
    }

    /// Whether a bead is so.
    pub(super) fn holds(&self, issue: &Issue) -> bool {
        (self.0)(issue)
    }
}

pub(super) fn can_be_asked(node: &Node) -> bool {
    match node {
        Node::Comparison(_) => true,
        Node::And(left, right) => can_be_asked(left) && can_be_asked(right),
        Node::Or(..) => are_labels(node),
        Node::Not(inner) => match &**inner {
            Node::Comparison(comparison) => {
                matches!(comparison.field.as_str(), "status" | "type")
                    && comparison.operator == Operator::Is
            }
            _ => false,
        },
    }
}

/// Whether an expression only asks for one of several labels.
fn are_labels(node: &Node) -> bool {
    match node {
        Node::Comparison(comparison) => {
            matches!(comparison.field.as_str(), "label" | "labels")
                && comparison.operator == Operator::Is
        }
        Node::Or(left, right) => are_labels(left) && are_labels(right),
        Node::And(..) | Node::Not(_) => false,
    }
}

struct Reader {
    mode: Mode,
    now: Timestamp,
}

impl Reader {
    fn node(&self, node: &Node) -> Result<Test, String> {
        Ok(match node {
            Node::Comparison(comparison) => self.comparison(comparison)?,
            Node::And(left, right) => {
                let (left, right) = (self.node(left)?, self.node(right)?);
                Box::new(move |issue| left(issue) && right(issue))
            }
            Node::Or(left, right) => {
                let (left, right) = (self.node(left)?, self.node(right)?);
                Box::new(move |issue| left(issue) || right(issue))
            }
            Node::Not(inner) => {
                let inner = self.node(inner)?;
                Box::new(move |issue| !inner(issue))
            }
        })
    }

    fn comparison(&self, comparison: &Comparison) -> Result<Test, String> {
        let field = comparison.field.as_str();
        match field {
            "status" => self.status(comparison),
            "priority" => self.priority(comparison),
            "type" => self.word(comparison, "type", |issue| issue.issue_type().to_owned()),
            "assignee" => self.assignee(comparison),
            "owner" if self.mode == Mode::Asked => {
                Err("owner filtering requires predicate mode".to_owned())
            }
            "owner" => {
                let is_equal = self.is_equal(comparison, "owner", "= operator", false)?;
                let owner = comparison.value.clone();
                Ok(Box::new(move |issue| {
                    (issue.text("owner").unwrap_or_default() == owner) == is_equal
                }))
            }
            "label" | "labels" => self.label(comparison),
            "title" => self.part(comparison, "title", " (use title contains pattern)"),
            "description" | "desc" => {
                self.part(comparison, "description", " (use desc contains pattern)")
            }
            "notes" => self.part(comparison, "notes", ""),
            "created" | "created_at" => self.time(comparison, "created", "created_at"),
            "updated" | "updated_at" => self.time(comparison, "updated", "updated_at"),
            "closed" | "closed_at" => self.time(comparison, "closed", "closed_at"),
            "started" | "started_at" => self.time(comparison, "started", "started_at"),
            "id" => self.id(comparison),
            "spec" | "spec_id" => self.spec(comparison),
            "pinned" => self.flag(comparison, "pinned", "pinned"),
            "ephemeral" => self.flag(comparison, "ephemeral", "ephemeral"),
            "template" => self.flag(comparison, "template", "is_template"),
            "parent" if self.mode == Mode::Asked => self.parent(comparison),
            "mol_type" if self.mode == Mode::Asked => self.molecule(comparison),
            "has_metadata_key" => {
                self.only_is(comparison, "has_metadata_key only supports = operator")?;
                let key = comparison.value.clone();
                input::metadata_key(&key)?;
                Ok(Box::new(move |issue| {
                    issue.metadata().is_some_and(|map| map.contains_key(&key))
                }))
            }
            field => match field.strip_prefix("metadata.") {
                Some(key) => self.metadata(comparison, key),
                None => Err(format!("unknown field: {field}")),
            },
        }
    }

    #[expect(clippy::unused_self, reason = "it reads as the others do")]
    fn only_is(&self, comparison: &Comparison, why: &str) -> Result<(), String> {
        if comparison.operator == Operator::Is {
            return Ok(());
        }
        Err(why.to_owned())
    }

    /// Whether the two sides must be equal or must differ; other operators are refused in the words of the mode.
    fn is_equal(
        &self,
        comparison: &Comparison,
        field: &str,
        asked: &str,
        takes_not: bool,
    ) -> Result<bool, String> {
        match (comparison.operator, self.mode) {
            (Operator::Is, _) => Ok(true),
            (Operator::IsNot, Mode::Looked) => Ok(false),
            (Operator::IsNot, Mode::Asked) if takes_not => Ok(false),
            (_, Mode::Asked) => Err(format!("{field} only supports {asked}")),
            (operator, Mode::Looked) => Err(format!(
                "{field} does not support {} operator",
                operator.sign()
            )),
        }
    }

    fn status(&self, comparison: &Comparison) -> Result<Test, String> {
        let is_equal = self.is_equal(comparison, "status", "= and != operators", true)?;
        let status = comparison.value.to_lowercase();
        if self.mode == Mode::Asked && Status::known(&status).is_none() {
            return Err(format!("invalid status: {}", comparison.value));
        }
        Ok(Box::new(move |issue| {
            (issue.status() == status) == is_equal
        }))
    }

    fn word(
        &self,
        comparison: &Comparison,
        field: &str,
        get: fn(&Issue) -> String,
    ) -> Result<Test, String> {
        let is_equal = self.is_equal(comparison, field, "= and != operators", true)?;
        let value = comparison.value.to_lowercase();
        Ok(Box::new(move |issue| (get(issue) == value) == is_equal))
    }

    fn priority(&self, comparison: &Comparison) -> Result<Test, String> {
        let (operator, value) = (comparison.operator, &comparison.value);
        let number: Option<i64> = value.parse().ok();
        let Some(wanted) = number else {
            return Err(match self.mode {
                Mode::Asked => format!("invalid priority value: {value}"),
                Mode::Looked => format!("invalid priority: {value}"),
            });
        };
        if self.mode == Mode::Asked {
            if !(0..=4).contains(&wanted) {
                return Err("priority must be between 0 and 4".to_owned());
            }
            let is_none = matches!(
                (operator, wanted),
                (Operator::Less, 0) | (Operator::More, 4)
            );
            if is_none {
                let sign = operator.sign();
                return Err(format!("priority {sign} {wanted} matches nothing"));
            }
            if operator == Operator::IsNot {
                return Err("priority != requires predicate filtering".to_owned());
            }
        }
        Ok(Box::new(move |issue| {
            let priority = issue.priority();
            match operator {
                Operator::Is => priority == wanted,
                Operator::IsNot => priority != wanted,
                Operator::Less => priority < wanted,
                Operator::AtMost => priority <= wanted,
                Operator::More => priority > wanted,
                Operator::AtLeast => priority >= wanted,
            }
        }))
    }

    /// Somebody, or nobody.
    fn assignee(&self, comparison: &Comparison) -> Result<Test, String> {
        let is_equal = self.is_equal(comparison, "assignee", "= operator", false)?;
        let value = named(&comparison.value);
        Ok(Box::new(move |issue| {
            (issue.assignee().unwrap_or_default() == value) == is_equal
        }))
    }

    fn label(&self, comparison: &Comparison) -> Result<Test, String> {
        let is_equal = self.is_equal(comparison, "label", "= operator", false)?;
        let value = named(&comparison.value);
        let mode = self.mode;
        Ok(Box::new(move |issue| {
            let mut labels = issue.labels();
            let is_so = if value.is_empty() {
                labels.next().is_none()
            } else {
                labels.any(|label| match mode {
                    Mode::Asked => label == value,
                    Mode::Looked => label.to_lowercase() == value.to_lowercase(),
                })
            };
            is_so == is_equal
        }))
    }

    /// A text that must stand in a field.
    fn part(
        &self,
        comparison: &Comparison,
        field: &'static str,
        hint: &str,
    ) -> Result<Test, String> {
        let asked = format!("= operator{hint}");
        let is_equal = self.is_equal(comparison, field, &asked, false)?;
        // Only a description can be asked for by its absence.
        let is_none = field == "description" && named(&comparison.value).is_empty();
        let value = comparison.value.to_lowercase();
        Ok(Box::new(move |issue| {
            let text = issue.text(field).unwrap_or_default();
            let is_so = if is_none {
                text.is_empty()
            } else {
                text.to_lowercase().contains(&value)
            };
            is_so == is_equal
        }))
    }

    fn time(
        &self,
        comparison: &Comparison,
        name: &str,
        field: &'static str,
    ) -> Result<Test, String> {
        let (operator, mode) = (comparison.operator, self.mode);
        let at = self
            .moment(comparison)
            .map_err(|why| format!("invalid {name} time: {why}"))?;
        let is_day = matches!(operator, Operator::Is | Operator::IsNot);
        let takes_day = matches!(name, "created" | "updated") && operator == Operator::Is;
        if is_day && mode == Mode::Asked && !takes_day {
            let sign = operator.sign();
            return Err(format!("{name} does not support {sign} operator"));
        }
        Ok(Box::new(move |issue| {
            let Some(time) = issue.time(field) else {
                return false;
            };
            let day = |time: Timestamp| Offset::UTC.to_datetime(time).date();
            match operator {
                Operator::Is => day(time) == day(at),
                Operator::IsNot => day(time) != day(at),
                Operator::Less => time < at,
                Operator::AtMost if mode == Mode::Asked => day(time) <= day(at),
                Operator::AtMost => time <= at,
                Operator::More => time > at,
                Operator::AtLeast if mode == Mode::Asked => time > at,
                Operator::AtLeast => time >= at,
            }
        }))
    }

    /// A moment; a time span is one that long ago.
    fn moment(&self, comparison: &Comparison) -> Result<Timestamp, String> {
        let text = &comparison.value;
        if comparison.is_span {
            let ago = format!("-{}", text.trim_start_matches(['+', '-']).to_lowercase());
            let at = times::parse(&ago, self.now);
            return at.ok_or_else(|| format!("not a compact duration: {text:?}"));
        }
        times::parse(text, self.now).ok_or_else(|| {
            format!("cannot parse time expression: {text:?} (examples: +6h, tomorrow, 2025-01-15)")
        })
    }

    fn id(&self, comparison: &Comparison) -> Result<Test, String> {
        self.prefixed(comparison, "id", |issue| issue.id().to_string())
    }

    fn spec(&self, comparison: &Comparison) -> Result<Test, String> {
        let mut comparison = comparison.clone();
        // The database finds a specification by its beginning in any case.
        if self.mode == Mode::Asked && !comparison.value.ends_with('*') {
            comparison.value.push('*');
        }
        self.prefixed(&comparison, "spec", |issue| {
            issue.text("spec_id").unwrap_or_default().to_owned()
        })
    }

    fn prefixed(
        &self,
        comparison: &Comparison,
        field: &str,
        get: fn(&Issue) -> String,
    ) -> Result<Test, String> {
        let start = comparison.value.strip_suffix('*').map(str::to_owned);
        let is_known = matches!(comparison.operator, Operator::Is | Operator::IsNot);
        if start.is_some() && self.mode == Mode::Looked && !is_known {
            return Err(format!(
                "{field} with wildcard only supports = and != operators"
            ));
        }
        let is_equal = self.is_equal(comparison, field, "= operator", false)?;
        let value = comparison.value.clone();
        Ok(Box::new(move |issue| {
            let own = get(issue);
            let is_so = match &start {
                Some(start) => own.starts_with(start),
                None => own == value,
            };
            is_so == is_equal
        }))
    }

    fn flag(
        &self,
        comparison: &Comparison,
        field: &str,
        key: &'static str,
    ) -> Result<Test, String> {
        if self.mode == Mode::Asked {
            self.only_is(comparison, &format!("{field} only supports = operator"))?;
        }
        let wanted = match comparison.value.to_lowercase().as_str() {
            "true" | "yes" | "1" => true,
            "false" | "no" | "0" => false,
            _ => {
                let of = match self.mode {
                    Mode::Asked => format!(" for {field}"),
                    Mode::Looked => String::new(),
                };
                return Err(format!("invalid boolean value{of}: {}", comparison.value));
            }
        };
        let is_equal = self.is_equal(comparison, "boolean field", "= operator", false)?;
        Ok(Box::new(move |issue| {
            (issue.flag(key) == wanted) == is_equal
        }))
    }

    fn parent(&self, comparison: &Comparison) -> Result<Test, String> {
        self.only_is(comparison, "parent only supports = operator")?;
        let parent = comparison.value.clone();
        Ok(Box::new(move |issue| {
            let mut parents = issue.parents().peekable();
            if parents.peek().is_some() {
                return parents.any(|own| own.as_str() == parent);
            }
            // An id tells of what a bead is a part where no edge does.
            let rest = issue.id().as_str().strip_prefix(parent.as_str());
            rest.is_some_and(|rest| rest.starts_with('.'))
        }))
    }

    fn molecule(&self, comparison: &Comparison) -> Result<Test, String> {
        self.only_is(comparison, "mol_type only supports = operator")?;
        let kind = comparison.value.to_lowercase();
        if !matches!(kind.as_str(), "" | "swarm" | "patrol" | "work") {
            return Err(format!("invalid mol_type: {}", comparison.value));
        }
        Ok(Box::new(move |issue| issue.text("mol_type") == Some(&kind)))
    }

    fn metadata(&self, comparison: &Comparison, key: &str) -> Result<Test, String> {
        self.only_is(comparison, "metadata fields only support = operator")?;
        input::metadata_key(key)?;
        let (key, wanted) = (key.to_owned(), comparison.value.clone());
        Ok(Box::new(move |issue| {
            let value = issue.metadata().and_then(|map| map.get(&key));
            value.is_some_and(|value| metadata_text(value) == wanted)
        }))
    }
}

/// A name, or nothing where nobody is meant.
pub(super) fn named(value: &str) -> String {
    match value.to_lowercase().as_str() {
        "none" | "null" => String::new(),
        _ => value.to_owned(),
    }
}
