//! Plans that are applied to a small store.

mod differences;
mod identity;
mod laws;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    ApplyContext, ApplyScope, Difference, KnownBeads, Reconciliation, RejectedBead, Verdict,
    known_ids, reconcile,
};
use crate::bead::{BeadId, BeadShape, Timestamp};
use crate::compile::{AgentCatalog, AgentCheck, CompileSettings, MergeDetection, Refusal, build};
use crate::diag::Diagnostic;
use crate::issue::{Claim, Edit, Entry, Fence, Holder, Issue, Record, apply};
use crate::plan::{Filter, parse};

/// A store that keeps records and nothing else.
#[derive(Debug, Clone, Default, PartialEq)]
struct Store(BTreeMap<BeadId, Record>);

impl Store {
    /// A store that a plan was applied to.
    fn of(text: &str) -> Self {
        let mut store = Self::default();
        store.apply(&store.compare(text));
        store
    }

    fn insert(&mut self, entry: Entry) {
        let record = Record {
            issue: entry.issue,
            version: 1,
            fence: Fence::default(),
            is_blocked: false,
            claim: None,
            n_comments: 0,
        };
        self.0.insert(record.issue.id().clone(), record);
    }

    fn record(&mut self, id: &str) -> &mut Record {
        self.0.get_mut(&BeadId::parse(id).unwrap()).unwrap()
    }

    fn document(&mut self, id: &str) -> Value {
        Value::Object(self.record(id).issue.document().clone())
    }

    /// Changes the document of a record behind the plan's back.
    fn alter(&mut self, id: &str, change: impl FnOnce(&mut Value)) {
        let record = self.record(id);
        let mut document = Value::Object(record.issue.document().clone());
        change(&mut document);
        record.issue = Issue::without_comments(document).unwrap();
        record.version += 1;
    }

    fn edit(&mut self, id: &str, edits: &[Edit]) {
        let record = self.record(id);
        let change = apply(&record.issue, edits, &now()).unwrap();
        if let Some(change) = change {
            record.issue = change.issue;
            record.version += 1;
        }
    }

    fn known(&self, text: &str, plan_file: &str) -> KnownBeads {
        let records: Vec<Record> = self.0.values().cloned().collect();
        known_ids(&parse(text), plan_file, &records, |file| file == "other.md")
    }

    /// What applying a plan would change; the findings when it cannot be compiled.
    fn try_compare(
        &self,
        text: &str,
        filter: &str,
        plan_file: &str,
    ) -> Result<Result<Reconciliation, Vec<RejectedBead>>, Vec<Diagnostic>> {
        let agents = AgentCatalog::default();
        let settings = CompileSettings {
            plan_file,
            text: Some(text),
            rig: "beads-ralph",
            now: now(),
            agents: &agents,
            agent_check: AgentCheck::Off,
            merge_detection: MergeDetection::Both,
            skip_completed: false,
            has_default_check: false,
            require_machine_check: false,
            known_ids: self.known(text, plan_file).ids,
            formula_sprints: crate::compile::FormulaSprints::Ordinary,
        };
        let plan = parse(text);
        let filter = Filter::parse(filter).unwrap();
        let compiled = build(&plan, &filter, &settings).map_err(|refusal| match refusal {
            Refusal::Findings(findings) => findings,
            Refusal::Filter(fault) => panic!("{fault:?}"),
        })?;
        let context = ApplyContext {
            plan: &plan,
            settings: &settings,
            scope: if filter == Filter::default() {
                ApplyScope::Whole
            } else {
                ApplyScope::Filtered
            },
            shape: BeadShape::Both,
            actor: "tester",
            parts: &std::collections::BTreeMap::new(),
        };
        let records: Vec<Record> = self.0.values().cloned().collect();
        Ok(reconcile(&compiled.beads, &records, &context))
    }

    fn compare(&self, text: &str) -> Reconciliation {
        self.try_compare(text, "", "plan.md").unwrap().unwrap()
    }

    /// Makes every change that may be made.
    fn apply(&mut self, found: &Reconciliation) {
        for difference in &found.differences {
            match difference {
                Difference::New { entry, .. } => self.insert((**entry).clone()),
                Difference::Changed(changed) if changed.verdict == Verdict::Safe => {
                    assert_eq!(self.0[&changed.id].version, changed.version);
                    self.edit(changed.id.as_str(), &changed.edits);
                }
                Difference::Changed(_) | Difference::Removed(_) | Difference::Conflict { .. } => {}
            }
        }
    }
}

fn now() -> Timestamp {
    Timestamp::parse("2026-11-15T08:00:00Z").unwrap()
}

fn claim() -> Claim {
    Claim {
        fence: Fence(1),
        holder: Holder {
            run: "r1".to_owned(),
            host: "here".to_owned(),
            process: None,
        },
        claimed_at: now().instant(),
        lease_until: now().instant(),
    }
}

/// A record of no plan.
fn foreign(id: &str) -> Entry {
    Entry::from_document(json!({"id": id, "title": "by hand"})).unwrap()
}
