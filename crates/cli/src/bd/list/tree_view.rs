//! A list as a tree: parts below what they are parts of.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;

use super::super::call::Opened;
use super::super::failure::Refusal;
use super::super::filter::natural;
use super::super::{issue_json, text};

/// The most levels that are drawn.
const MAX_DEPTH: usize = 100;

/// Some beads as a tree, with their count.
pub(super) fn of(records: &[Record], is_cut: bool, is_ready: bool) -> String {
    if records.is_empty() {
        return "No issues found.\n".to_owned();
    }
    let mut lines = Tree::new(records).lines();
    lines.push(String::new());
    lines.push(text::rule());
    lines.push(footer(records, is_cut, is_ready));
    lines.push(String::new());
    crate::ui::lines(lines) + text::legend()
}

/// A bead with everything below it.
pub(super) fn below(opened: &Opened, parent: &str) -> Result<String, Refusal> {
    let root = BeadId::parse(parent).ok();
    let root = root.map(|id| opened.record(&id)).transpose()?.flatten();
    let Some(root) = root else {
        return Err(Refusal::plain(format!(
            "error checking parent issue: not found: issue {parent}"
        )));
    };
    let mut seen: HashSet<BeadId> = HashSet::from([root.issue.id().clone()]);
    let mut records = vec![root];
    let mut next = 0;
    while next < records.len() {
        let id = records[next].issue.id().clone();
        next += 1;
        for (child, kind) in opened.store.dependents(&id)? {
            if kind == "parent-child" && seen.insert(child.clone()) {
                records.extend(opened.record(&child)?);
            }
        }
    }
    if records.len() == 1 {
        return Ok(format!("Issue '{parent}' has no children\n"));
    }
    Ok(of(&records, false, false))
}

fn footer(records: &[Record], is_cut: bool, is_ready: bool) -> String {
    let count = |status: &str| {
        let with = records
            .iter()
            .filter(|record| record.issue.status() == status);
        with.count()
    };
    let (total, open, busy) = (records.len(), count("open"), count("in_progress"));
    match (is_ready, is_cut) {
        (true, true) => format!(
            "Showing {total} ready issues (open only — --ready excludes in_progress); more match (truncated by --limit). Use --limit 0 for all."
        ),
        (true, false) => format!(
            "Ready: {total} issues with no active blockers (open only — --ready excludes in_progress)"
        ),
        (false, true) => format!(
            "Showing {total} issues ({open} open, {busy} in progress); more match (truncated by --limit). Use --limit 0 for all."
        ),
        (false, false) => format!("Total: {total} issues ({open} open, {busy} in progress)"),
    }
}

struct Tree<'r> {
    roots: Vec<&'r Record>,
    children: HashMap<&'r str, Vec<&'r Record>>,
}

impl<'r> Tree<'r> {
    fn new(records: &'r [Record]) -> Self {
        let by_id: HashMap<&str, &Record> = (records.iter())
            .map(|record| (record.issue.id().as_str(), record))
            .collect();
        let mut tree = Self {
            roots: Vec::new(),
            children: HashMap::new(),
        };
        for record in records {
            let id = record.issue.id().as_str();
            let by_edge = issue_json::parent(&record.issue).map(BeadId::as_str);
            let by_name = id.rsplit_once('.').map(|(parent, _)| parent);
            let mut parents = [by_edge, by_name].into_iter().flatten();
            let parent = parents.find_map(|parent| by_id.get_key_value(parent));
            match parent {
                Some((parent, _)) => tree.children.entry(parent).or_default().push(record),
                None => tree.roots.push(record),
            }
        }
        tree.roots.sort_by(|a, b| compare(a, b));
        for children in tree.children.values_mut() {
            children.sort_by(|a, b| compare(a, b));
        }
        tree
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for root in &self.roots {
            lines.push(text::one_line(&root.issue));
            self.below(root, "", 0, &mut lines);
        }
        lines
    }

    fn below(&self, record: &Record, before: &str, depth: usize, lines: &mut Vec<String>) {
        let children = self.children.get(record.issue.id().as_str());
        let Some(children) = children.filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        for (index, child) in children.iter().enumerate() {
            let (joint, gap) = if index + 1 == children.len() {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            lines.push(format!("{before}{joint}{}", text::one_line(&child.issue)));
            self.below(child, &format!("{before}{gap}"), depth + 1, lines);
        }
    }
}

fn compare(a: &Record, b: &Record) -> Ordering {
    let (a, b) = (&a.issue, &b.issue);
    (a.priority().cmp(&b.priority())).then_with(|| natural(a.id().as_str(), b.id().as_str()))
}
