//! Reading advice and the rules under `compose`.

use super::super::document::Node;
use super::super::fields::Object;
use super::super::model::{Advice, AdviceStep, Branch, Expand, GateRule};
use super::Reader;
use super::table::Table;

impl Reader<'_> {
    pub(super) fn expand_rule(&mut self, node: &Node) -> Option<Expand> {
        self.expansion(node, Object::Expand, "target")
    }

    pub(super) fn map_rule(&mut self, node: &Node) -> Option<Expand> {
        self.expansion(node, Object::Map, "select")
    }

    fn expansion(&mut self, node: &Node, object: Object, chosen_by: &str) -> Option<Expand> {
        let table = self.table(node, object)?;
        let target = self.required_text(table, chosen_by);
        let with = self.required_text(table, "with");
        let vars = self.pairs(table, "vars");
        Some(Expand {
            target: target?,
            with: with?,
            vars,
        })
    }

    pub(super) fn branch(&mut self, node: &Node) -> Option<Branch> {
        let table = self.table(node, Object::Branch)?;
        let (from, join) = (
            self.required_text(table, "from"),
            self.required_text(table, "join"),
        );
        let steps = self.texts(table, "steps");
        if steps.is_empty() {
            self.refuse(table.span, "a branch needs `steps`", "");
            return None;
        }
        Some(Branch {
            from: from?,
            steps,
            join: join?,
        })
    }

    pub(super) fn gate_rule(&mut self, node: &Node) -> Option<GateRule> {
        let table = self.table(node, Object::GateRule)?;
        let before = self.required_text(table, "before");
        let condition = self.required_text(table, "condition");
        Some(GateRule {
            before: before?,
            condition: condition?,
        })
    }

    pub(super) fn advice(&mut self, table: Table<'_>) -> Vec<Advice> {
        self.each(table, "advice", Self::one_advice)
    }

    fn one_advice(&mut self, node: &Node) -> Option<Advice> {
        let table = self.table(node, Object::Advice)?;
        let target = self.required_text(table, "target");
        let mut before: Vec<AdviceStep> = Vec::new();
        let mut after: Vec<AdviceStep> = Vec::new();
        before.extend(table.get("before").and_then(|node| self.advice_step(node)));
        after.extend(table.get("after").and_then(|node| self.advice_step(node)));
        let around = table.get("around");
        if let Some(around) = around.and_then(|node| self.table(node, Object::Around)) {
            before.extend(self.each(around, "before", Self::advice_step));
            after.extend(self.each(around, "after", Self::advice_step));
        }
        Some(Advice {
            target: target?,
            before,
            after,
        })
    }

    fn advice_step(&mut self, node: &Node) -> Option<AdviceStep> {
        let table = self.table(node, Object::AdviceStep)?;
        let id = self.required_text(table, "id");
        let step = AdviceStep {
            title: self
                .text(table, "title")
                .filter(|title| !title.value.is_empty()),
            description: self.text(table, "description"),
            kind: self
                .text(table, "type")
                .filter(|kind| !kind.value.is_empty()),
            id: id?,
        };
        Some(step)
    }
}
