//! Plans that are edited and beads that are worked on, in any order: applying settles what it may, once.
//!
//! The program's own steps are done here in one process against the store of the program, so that many histories
//! can be tried.

use std::collections::BTreeMap;

use beads_ralph_core::apply::{
    ApplyContext, ApplyScope, Difference, Reconciliation, Verdict, annotated_ids, known_ids,
    reconcile,
};
use beads_ralph_core::bead::{BeadId, BeadShape, Timestamp};
use beads_ralph_core::compile::{
    AgentCatalog, AgentCheck, CompileSettings, KnownIds, MergeDetection, Refusal, build,
};
use beads_ralph_core::issue::{Edit, Holder, Label, Query, Record, StatusFilter};
use beads_ralph_core::plan::{Filter, parse};
use beads_ralph_runtime::store::{
    Guard, MemoryStore, NewClaim, SqliteStore, Stamp, Store, StoreError, Write,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::sprint;

const FILE: &str = "plan.md";
const NUMBERS: [&str; 9] = [
    "1.1", "1.2", "1.2a", "1.2b", "1.3", "2a.1", "2b.1", "3.1", "3.2",
];

/// One thing that somebody does.
#[derive(Debug, Clone)]
enum Step {
    Title(Index, &'static str),
    Labels(Index, &'static str),
    Agent(Index, &'static str),
    Add(Index),
    Remove(Index),
    Renumber(Index, Index, bool),
    Claim(Index),
    Close(Index),
    Release(Index),
    Label(Index),
    Note(Index),
}

fn step() -> impl Strategy<Value = Step> {
    let at = any::<Index>;
    prop_oneof![
        (at(), select(vec!["One", "Two", "Merge It"]))
            .prop_map(|(at, title)| Step::Title(at, title)),
        (at(), select(vec!["", "red", "red, blue", "by-hand"]))
            .prop_map(|(at, labels)| Step::Labels(at, labels)),
        (at(), select(vec!["sonnet", "opus"])).prop_map(|(at, model)| Step::Agent(at, model)),
        at().prop_map(Step::Add),
        at().prop_map(Step::Remove),
        (at(), at(), any::<bool>()).prop_map(|(at, to, is_annotated)| Step::Renumber(
            at,
            to,
            is_annotated
        )),
        at().prop_map(Step::Claim),
        at().prop_map(Step::Close),
        at().prop_map(Step::Release),
        at().prop_map(Step::Label),
        at().prop_map(Step::Note),
    ]
}

#[derive(Debug, Clone)]
struct Section {
    title: &'static str,
    labels: &'static str,
    model: &'static str,
    annotation: Option<BeadId>,
}

/// A plan, a store, and a clock that moves with every step.
struct World {
    sections: BTreeMap<&'static str, Section>,
    store: Box<dyn Store>,
    second: i64,
}

impl World {
    fn new(store: Box<dyn Store>) -> Self {
        let section = Section {
            title: "One",
            labels: "",
            model: "sonnet",
            annotation: None,
        };
        let sections = NUMBERS[..4].iter().map(|number| (*number, section.clone()));
        Self {
            sections: sections.collect(),
            store,
            second: 0,
        }
    }

    fn stamp(&mut self) -> Stamp<'static> {
        self.second += 1;
        let at = jiff::Timestamp::from_second(1_790_000_000 + self.second).unwrap();
        Stamp {
            actor: "tester",
            at,
        }
    }

    fn text(&self) -> String {
        let texts = self.sections.iter().map(|(number, section)| {
            let labels = format!("**Labels**: {}\n", section.labels);
            let more = if section.labels.is_empty() {
                ""
            } else {
                &labels
            };
            let text = sprint(number, section.title, more)
                .replace("(sonnet)", &format!("({})", section.model));
            match &section.annotation {
                Some(id) => text.replacen("\n\n", &format!("\n<!-- beads-ralph: {id} -->\n\n"), 1),
                None => text,
            }
        });
        texts.collect()
    }

    fn n_events(&self) -> usize {
        self.store.events(None, 0, usize::MAX).unwrap().len()
    }

    fn records(&self, plan_file: Option<&str>) -> Vec<Record> {
        let metadata = plan_file.map(|file| ("plan_file".to_owned(), file.to_owned()));
        let query = Query {
            status: StatusFilter::Any,
            metadata: metadata.into_iter().collect(),
            includes_hidden: true,
            ..Query::default()
        };
        self.store.find(&query).unwrap()
    }

    /// What applying the plan would do; nothing when the plan has errors.
    fn compare(&mut self) -> Option<Reconciliation> {
        let text = self.text();
        let plan = parse(&text);
        let mut records = self.records(Some(FILE));
        let add = |records: &mut Vec<Record>, ids: Vec<BeadId>| {
            let is_missing = |id: &BeadId| !records.iter().any(|record| record.issue.id() == id);
            let missing: Vec<BeadId> = ids.into_iter().filter(is_missing).collect();
            records.extend(self.store.get(&missing).unwrap());
        };
        add(&mut records, annotated_ids(&plan).into_iter().collect());
        let agents = AgentCatalog::default();
        let settings = CompileSettings {
            plan_file: FILE,
            text: Some(&text),
            rig: "beads-ralph",
            now: Timestamp::parse("2026-11-15T08:00:00Z").unwrap(),
            agents: &agents,
            agent_check: AgentCheck::Off,
            merge_detection: MergeDetection::Both,
            skip_completed: false,
            has_default_check: false,
            require_machine_check: false,
            known_ids: KnownIds::new(),
            formula_sprints: beads_ralph_core::compile::FormulaSprints::Ordinary,
        };
        let known_ids = known_ids(&plan, FILE, &records, |_| true).ids;
        let settings = CompileSettings {
            known_ids,
            ..settings
        };
        let compiled = match build(&plan, &Filter::default(), &settings) {
            Ok(compiled) => compiled,
            Err(Refusal::Findings(_)) => return None,
            Err(Refusal::Filter(fault)) => panic!("{fault}"),
        };
        add(
            &mut records,
            compiled.beads.iter().map(|bead| bead.id.clone()).collect(),
        );
        let context = ApplyContext {
            plan: &plan,
            settings: &settings,
            scope: ApplyScope::Whole,
            shape: BeadShape::Both,
            actor: "tester",
            parts: &std::collections::BTreeMap::new(),
        };
        Some(reconcile(&compiled.beads, &records, &context).unwrap())
    }

    /// Applies the plan as far as it may be applied.
    fn apply(&mut self) -> Result<Option<()>, StoreError> {
        let Some(found) = self.compare() else {
            return Ok(None);
        };
        let batch: Vec<Write> = (found.differences.into_iter())
            .filter_map(|difference| match difference {
                Difference::New { entry, .. } => Some(Write::Insert(entry)),
                Difference::Changed(changed) if changed.verdict == Verdict::Safe => {
                    Some(Write::Update {
                        id: changed.id,
                        edits: changed.edits,
                        guard: Guard {
                            version: Some(changed.version),
                            ..Guard::default()
                        },
                    })
                }
                Difference::Changed(_) | Difference::Removed(_) | Difference::Conflict { .. } => {
                    None
                }
            })
            .collect();
        let by = self.stamp();
        self.store.write(&batch, by)?;
        Ok(Some(()))
    }

    fn edit(&mut self, at: Index, edit: Edit) {
        let records = self.records(None);
        if !records.is_empty() {
            let id = at.get(&records).issue.id().clone();
            let by = self.stamp();
            let write = Write::Update {
                id,
                edits: vec![edit],
                guard: Guard::default(),
            };
            // Whoever holds a bead is not disturbed; that is the store's business and not ours.
            drop(self.store.write(&[write], by));
        }
    }

    fn section(&mut self, at: Index) -> Option<&mut Section> {
        let numbers: Vec<&'static str> = self.sections.keys().copied().collect();
        (!numbers.is_empty()).then(|| self.sections.get_mut(*at.get(&numbers)).unwrap())
    }

    fn renumber(&mut self, at: Index, to: Index, is_annotated: bool) {
        let numbers: Vec<&'static str> = self.sections.keys().copied().collect();
        let to = *to.get(&NUMBERS);
        if numbers.is_empty() || self.sections.contains_key(to) {
            return;
        }
        let from = *at.get(&numbers);
        let mut section = self.sections.remove(from).unwrap();
        if is_annotated {
            let records = self.records(Some(FILE));
            let of_sprint = |record: &&Record| record.issue.metadata().unwrap()["sprint"] == from;
            section.annotation = records
                .iter()
                .find(of_sprint)
                .map(|record| record.issue.id().clone());
        }
        self.sections.insert(to, section);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Title(at, title) => self
                .section(at)
                .into_iter()
                .for_each(|section| section.title = title),
            Step::Labels(at, labels) => self
                .section(at)
                .into_iter()
                .for_each(|section| section.labels = labels),
            Step::Agent(at, model) => self
                .section(at)
                .into_iter()
                .for_each(|section| section.model = model),
            Step::Add(at) => {
                let section = Section {
                    title: "Two",
                    labels: "",
                    model: "opus",
                    annotation: None,
                };
                self.sections.entry(*at.get(&NUMBERS)).or_insert(section);
            }
            Step::Remove(at) => {
                let numbers: Vec<&'static str> = self.sections.keys().copied().collect();
                if numbers.len() > 1 {
                    self.sections.remove(*at.get(&numbers));
                }
            }
            Step::Renumber(at, to, is_annotated) => self.renumber(at, to, is_annotated),
            Step::Claim(at) => self.claim(at),
            Step::Release(at) => self.release(at),
            Step::Close(at) => self.edit(at, Edit::Close("done".to_owned())),
            Step::Label(at) => self.edit(at, Edit::AddLabel(Label::parse("by-hand").unwrap())),
            Step::Note(at) => self.edit(at, Edit::AppendNotes("seen".to_owned())),
        }
    }

    fn claim(&mut self, at: Index) {
        let records = self.records(None);
        if records.is_empty() {
            return;
        }
        let holder = Holder {
            run: "r".to_owned(),
            host: "h".to_owned(),
            process: None,
        };
        let by = self.stamp();
        let claim = NewClaim {
            holder: &holder,
            lease_until: by.at,
            is_forced: true,
            instead_of: None,
        };
        drop(self.store.claim(at.get(&records).issue.id(), &claim, by));
    }

    fn release(&mut self, at: Index) {
        let mut held = self.records(None);
        held.retain(|record| record.claim.is_some());
        if !held.is_empty() {
            let record = at.get(&held);
            let by = self.stamp();
            self.store
                .release(record.issue.id(), record.fence, by)
                .unwrap();
        }
    }

    /// Applies, and holds the outcome to the law.
    fn settle(&mut self) -> Result<(), TestCaseError> {
        let before = self.n_events();
        match self.apply() {
            Ok(None) => return Ok(()),
            Ok(Some(())) => {}
            // A bead that may not be changed keeps old edges, which can contradict the new plan.
            Err(StoreError::Cycle(_)) => {
                prop_assert_eq!(self.n_events(), before, "a refusal changes nothing");
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        let after = self.n_events();
        self.apply().unwrap();
        prop_assert_eq!(self.n_events(), after, "twice is once");
        let left = self.compare().unwrap();
        for difference in &left.differences {
            let is_settled = match difference {
                Difference::New { .. } => false,
                Difference::Changed(changed) => changed.verdict != Verdict::Safe,
                Difference::Removed(_) | Difference::Conflict { .. } => true,
            };
            prop_assert!(is_settled, "{:#?}", difference);
        }
        Ok(())
    }
}

fn history() -> impl Strategy<Value = Vec<Vec<Step>>> {
    prop::collection::vec(prop::collection::vec(step(), 1..6), 1..5)
}

fn live(store: Box<dyn Store>, history: &[Vec<Step>]) -> Result<(), TestCaseError> {
    let mut world = World::new(store);
    world.settle()?;
    for steps in history {
        for step in steps {
            world.step(step);
        }
        world.settle()?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn z_10_applying_settles_any_history_once(history in history()) {
        live(Box::new(MemoryStore::default()), &history)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn z_10_applying_settles_any_history_once_in_a_file(history in history()) {
        let directory = beads_ralph_testkit::scratch();
        let path = camino::Utf8PathBuf::from_path_buf(directory.path().join("s.db")).unwrap();
        let (store, _) = SqliteStore::open_or_create(&path).unwrap();
        live(Box::new(store), &history)?;
        prop_assert!(beads_ralph_runtime::store::check(&path, beads_ralph_runtime::store::Options::default()).unwrap().is_healthy());
    }
}
