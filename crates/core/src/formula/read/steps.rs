//! Reading steps.

use serde_json::Value;

use super::super::condition::Condition;
use super::super::fields::Object;
use super::super::model::StepId;
use super::super::model::{Children, Gate, Step, WaitsFor};
use super::super::place::{Placed, suggestion};
use super::super::repeat::{Loop, Times, evaluate_range, range_names};
use super::Reader;
use super::table::Table;
use crate::diag::WarningCode;
use crate::issue::Document;
use crate::text::{excerpt, parse_duration};
use crate::tree::Node;

/// What can be waited for.
pub(in crate::formula) const GATES: [&str; 6] =
    ["human", "timer", "mail", "bead", "gh:run", "gh:pr"];

/// Whether the names of steps are names, or are made when an expansion is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ids {
    Plain,
    Template,
}

impl Reader<'_> {
    pub(super) fn steps(&mut self, table: Table<'_>, name: &str, ids: Ids) -> Vec<Step> {
        self.each(table, name, |reader, node| reader.step(node, ids))
    }

    fn step(&mut self, node: &Node, ids: Ids) -> Option<Step> {
        let table = self.table(node, Object::Step)?;
        let id = self.step_id(table, ids);
        let expand = self.filled_text(table, "expand");
        let (title, name) = self.title(table, id.as_ref(), expand.is_some());
        let (depends_on, needs) = (self.texts(table, "depends_on"), self.texts(table, "needs"));
        let waits_for = self.waits_for(table, needs.first().or(depends_on.first()));
        let conditions = self.condition(table);
        let step = Step {
            name,
            description: self.text(table, "description"),
            notes: self.text(table, "notes"),
            kind: (self.text(table, "type")).filter(|kind| !kind.value.trim().is_empty()),
            priority: self
                .number(table, "priority", 0, 4)
                .and_then(|priority| u8::try_from(priority).ok()),
            labels: self.texts(table, "labels"),
            metadata: self.metadata(table),
            waits_for,
            assignee: self.filled_text(table, "assignee"),
            expand,
            expand_vars: self.pairs(table, "expand_vars"),
            conditions: conditions.into_iter().collect(),
            children: self.steps(table, "children", ids),
            gate: table.get("gate").and_then(|node| self.gate(node)),
            repeat: table.get("loop").and_then(|node| self.repeat(node, ids)),
            ..Step::new(id?, title?)
        };
        let mut step = step;
        for need in depends_on.iter().chain(&needs) {
            step.need(&need.value, need.place);
        }
        self.check_replaced(&step);
        Some(step)
    }

    fn step_id(&mut self, table: Table<'_>, ids: Ids) -> Option<Placed<String>> {
        let id = self.required_text(table, "id")?;
        if ids == Ids::Plain
            && let Err(wrong) = StepId::parse(&id.value)
        {
            self.refuse(id.place.span, wrong.to_string(), "");
            return None;
        }
        Some(id)
    }

    /// The title, and the name beside one (Z-43). A step that is replaced needs neither.
    fn title(
        &mut self,
        table: Table<'_>,
        id: Option<&Placed<String>>,
        is_replaced: bool,
    ) -> (Option<Placed<String>>, Option<Placed<String>>) {
        let (title, name) = (table.get("title"), self.text(table, "name"));
        match (title, name) {
            (Some(_), name) => (self.required_text(table, "title"), name),
            (None, Some(name)) => (Some(name), None),
            (None, None) if is_replaced => (id.map(|id| id.with(String::new())), None),
            (None, None) => (self.required_text(table, "title"), None),
        }
    }

    fn metadata(&mut self, table: Table<'_>) -> Option<Placed<Document>> {
        let node = table.get("metadata")?;
        if let Value::Object(map) = node.to_value() {
            Some(Placed::new(map, self.place(node.span)))
        } else {
            let message = format!("`metadata` is a table, not {}", node.kind());
            self.refuse(node.span, message, "");
            None
        }
    }

    fn condition(&mut self, table: Table<'_>) -> Option<Placed<Condition>> {
        let text = self.text(table, "condition")?;
        if text.value.trim().is_empty() {
            return None;
        }
        let condition = Condition::parse(&text.value);
        if condition.is_none() {
            let message = format!("`{}` is not a condition", excerpt(&text.value));
            let help = "write `{{v}}`, `!{{v}}`, `{{v}} == text` or `{{v}} != text`";
            self.refuse(text.place.span, message, help);
        }
        condition.map(|condition| text.with(condition))
    }

    fn waits_for(
        &mut self,
        table: Table<'_>,
        first_need: Option<&Placed<String>>,
    ) -> Option<WaitsFor> {
        let written = self.text(table, "waits_for")?;
        let spawner = || first_need.map(|need| need.value.clone());
        let (children, is_named, spawner) = match written.value.as_str() {
            "" => return None,
            "all-children" => (Children::All, false, spawner()),
            "any-children" => (Children::Any, false, spawner()),
            text => {
                let inner = text.strip_prefix("children-of(");
                let step = inner.and_then(|rest| rest.strip_suffix(')'));
                let Some(step) = step.filter(|step| !step.is_empty()) else {
                    let message = format!("`waits_for` cannot be `{}`", excerpt(text));
                    let help = "it is `all-children`, `any-children` or `children-of(step)`";
                    self.refuse(written.place.span, message, help);
                    return None;
                };
                (Children::All, true, Some(step.to_owned()))
            }
        };
        let Some(spawner) = spawner else {
            let message = "nothing says whose children are waited for".to_owned();
            let help = "name the step with `children-of(step)` or in `needs`";
            self.object_to(written.place.span, message, help);
            return None;
        };
        Some(WaitsFor {
            place: written.place,
            is_named,
            children,
            spawner,
        })
    }

    fn gate(&mut self, node: &Node) -> Option<Gate> {
        let table = self.table(node, Object::Gate)?;
        let kind = self.required_text(table, "type")?;
        if !GATES.contains(&kind.value.as_str()) {
            let help = suggestion(&kind.value, &GATES, || {
                format!("it is one of {}", GATES.join(", "))
            });
            let message = format!("`type` of a gate cannot be `{}`", excerpt(&kind.value));
            self.object_to(kind.place.span, message, &help);
        }
        if kind.value != "human" {
            let message = format!(
                "nothing here looks at a gate of type {}: close it yourself to open it",
                excerpt(&kind.value)
            );
            let place = kind.place;
            (self.findings).warn(WarningCode::FormulaField, place, message, "");
        }
        let (await_id, id) = (self.text(table, "await_id"), self.text(table, "id"));
        let timeout = self.filled_text(table, "timeout");
        let duration = timeout
            .as_ref()
            .and_then(|text| parse_duration(&text.value));
        if let Some(text) = timeout.filter(|_| duration.is_none()) {
            let message = format!("`{}` is not a duration", excerpt(&text.value));
            self.refuse(
                text.place.span,
                message,
                "write it as `90s`, `45m` or `1h30m`",
            );
        }
        Some(Gate {
            kind,
            await_id: await_id.or(id).filter(|id| !id.value.is_empty()),
            timeout: duration,
            repo: self.filled_text(table, "repo"),
        })
    }

    fn repeat(&mut self, node: &Node, ids: Ids) -> Option<Loop> {
        let table = self.table(node, Object::Loop)?;
        let body = self.steps(table, "body", ids);
        let times = self.times(table);
        if self.list(table, "body").is_none_or(<[Node]>::is_empty) {
            self.refuse(table.span, "a loop needs a `body` with steps", "");
            return None;
        }
        let times = times?;
        Some(Loop {
            times,
            variable: self.text(table, "var").map(|text| text.value),
            body,
            place: self.place(table.span),
        })
    }

    /// One of `count`, `range` and `until`.
    fn times(&mut self, table: Table<'_>) -> Option<Times> {
        let most = u64::from(u32::MAX);
        let count = self.number(table, "count", 1, most);
        let max = self.number(table, "max", 1, most);
        let (range, until) = (self.text(table, "range"), self.text(table, "until"));
        let given = [table.get("count"), table.get("range"), table.get("until")];
        if given.into_iter().flatten().count() != 1 {
            let message = "a loop has one of `count`, `range` and `until`";
            self.refuse(table.span, message, "");
            return None;
        }
        if let Some(range) = range {
            let is_fixed = range_names(&range.value).is_empty();
            let wrong = is_fixed.then(|| evaluate_range(&range.value, |_| None).err());
            if let Some(wrong) = wrong.flatten() {
                let message = format!("`{}` is not a range: {wrong}", excerpt(&range.value));
                self.refuse(range.place.span, message, "write it as `1..5`");
                return None;
            }
            return Some(Times::Range(range));
        }
        if let Some(until) = until {
            let Some(max) = max else {
                let message = "a loop with `until` needs `max`";
                self.refuse(until.place.span, message, "");
                return None;
            };
            let message = "nothing here looks at `until`: the body is made once";
            self.findings
                .warn(WarningCode::FormulaField, until.place, message, "");
            return Some(Times::Until { until, max });
        }
        Some(Times::Count(count?))
    }

    /// What a step says that other steps replace goes nowhere, and a gate would hold back nothing.
    fn check_replaced(&mut self, step: &Step) {
        let by = match (&step.repeat, &step.expand) {
            (Some(_), Some(_)) => {
                let message = "a step has a `loop` or an `expand`, not both";
                self.refuse(step.id.place.span, message, "");
                return;
            }
            (Some(_), None) => "its loop",
            (None, Some(_)) => "its expansion",
            (None, None) => return,
        };
        if step.gate.is_some() || !step.children.is_empty() {
            let message =
                format!("the step is replaced by {by} and cannot have a gate or children");
            self.refuse(step.id.place.span, message, "put them on the steps inside");
        }
        let unused = step.unused_when_replaced();
        if !unused.is_empty() {
            let message = format!(
                "the step is replaced by {by}: its {} {} ignored",
                unused.join(", "),
                if unused.len() == 1 { "is" } else { "are" }
            );
            self.findings
                .warn(WarningCode::FormulaField, step.id.place, message, "");
        }
    }
}
