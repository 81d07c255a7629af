//! From YAML to a report.

use super::MAX_REPORT_BYTES;
use super::{
    Block, Classification, CommentAction, CommentFix, Commit, Discovered, DiscoveredType,
    DocsEdits, Escalation, Evidence, Report, ReportStatus, TestCounts,
};
use crate::implement::worker::Agent;
use crate::text::{LineIndex, Position, excerpt};
use crate::tree::{Node, Tree, parse_yaml};

/// Something that a report should not have, or should have: the report is used all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub place: Position,
    /// What.
    pub message: String,
}

/// Why a report cannot be used (I-20).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It is larger than any report.
    #[error("the report is larger than {} KiB", MAX_REPORT_BYTES / 1024)]
    TooLarge,
    /// It is not YAML, or too much of it.
    #[error("{0}")]
    NotYaml(String),
    /// It is YAML and no mapping.
    #[error("the report is {0}, not a mapping")]
    NotAMapping(&'static str),
    /// A field that the worker's reports must have.
    #[error("`{field}` {wrong} (line {}, column {})", place.line, place.column)]
    Field {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        wrong: String,
        /// Where, or where the mapping begins.
        place: Position,
    },
}

/// How many faults are listed one by one.
const MAX_FAULTS: usize = 20;

/// A report that can be used, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The report.
    pub report: Report,
    /// Its faults, in the order of reading.
    pub faults: Vec<Fault>,
}

/// Reads the report of a worker.
pub fn read(text: &str, agent: &Agent) -> Result<Read, Malformed> {
    if text.len() > MAX_REPORT_BYTES {
        return Err(Malformed::TooLarge);
    }
    let root = parse_yaml(text).map_err(Malformed::NotYaml)?;
    if root.as_table().is_none() {
        return Err(Malformed::NotAMapping(found(&root)));
    }
    let mut reader = Reader {
        text,
        lines: LineIndex::new(text),
        root: &root,
        faults: Vec::new(),
    };
    let status = reader.status()?;
    let note = reader.optional_prose("root_cause_note");
    reader.check_note(agent, status, note.as_deref())?;
    let comment_fix = reader.comment_fix(agent)?;
    let mut report = Report {
        status,
        evidence: reader.evidence(),
        escalations: reader.list("escalations", Reader::escalation),
        discovered: reader.list("discovered_work", Reader::discovered),
        commits: reader.commits(),
        root_cause_note: note,
        reproduction_steps: reader.optional_prose("reproduction_steps"),
        docs_edits: (*agent == Agent::DocsEditsTeam).then(|| reader.docs_edits()),
        comment_fix,
    };
    reader.check_whole(agent, &mut report);
    let (report, left_out) = report.bounded();
    let place = reader.place(&root);
    let mut faults = reader.faults;
    if faults.len() > MAX_FAULTS {
        let n = faults.len() - MAX_FAULTS;
        faults.truncate(MAX_FAULTS);
        faults.push(Fault {
            place,
            message: format!("{n} more faults"),
        });
    }
    faults.extend(left_out.into_iter().map(|message| Fault { place, message }));
    Ok(Read { report, faults })
}

struct Reader<'n> {
    text: &'n str,
    lines: LineIndex,
    root: &'n Node,
    faults: Vec<Fault>,
}

impl<'n> Reader<'n> {
    fn place(&self, node: &Node) -> Position {
        self.lines.position(self.text, node.span.start())
    }

    fn fault(&mut self, node: &Node, message: impl Into<String>) {
        let (place, message) = (self.place(node), message.into());
        self.faults.push(Fault { place, message });
    }

    fn malformed<T>(
        &self,
        field: &'static str,
        at: Option<&Node>,
        wrong: String,
    ) -> Result<T, Malformed> {
        let place = self.place(at.unwrap_or(self.root));
        Err(Malformed::Field {
            field,
            wrong,
            place,
        })
    }

    /// One of some words, which must be there.
    fn required_word<T: Copy>(
        &self,
        field: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<T, Malformed> {
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let Some(node) = self.root.get(field) else {
            return self.malformed(field, None, "is missing".to_owned());
        };
        let word = node.as_text();
        if let Some((_, value)) = words.iter().find(|(own, _)| Some(*own) == word) {
            Ok(*value)
        } else {
            let found = match word {
                Some(word) => format!("`{}`", excerpt(word)),
                None => found(node).to_owned(),
            };
            let wrong = format!("is {found}, and not one of {}", all.join(", "));
            self.malformed(field, Some(node), wrong)
        }
    }

    fn status(&self) -> Result<ReportStatus, Malformed> {
        self.required_word(
            "status",
            &ReportStatus::ALL.map(|status| (status.as_str(), status)),
        )
    }

    /// A diagnoser that is done has found a cause; one that is not keeps its own word (W-6).
    fn check_note(
        &mut self,
        agent: &Agent,
        status: ReportStatus,
        note: Option<&str>,
    ) -> Result<(), Malformed> {
        let is_blank = note.is_none_or(|note| note.trim().is_empty());
        if *agent != Agent::BugDiagnoser || !is_blank {
            return Ok(());
        }
        let node = self.root.get("root_cause_note");
        match status {
            ReportStatus::Complete => {
                let wrong = if node.is_some() {
                    "is blank"
                } else {
                    "is missing"
                };
                self.malformed("root_cause_note", node, wrong.to_owned())
            }
            ReportStatus::NeedsHuman | ReportStatus::Failed => {
                self.fault(self.root, "there is no `root_cause_note`");
                Ok(())
            }
        }
    }

    fn comment_fix(&self, agent: &Agent) -> Result<Option<CommentFix>, Malformed> {
        if *agent != Agent::PrCommentFixerTeam {
            return Ok(None);
        }
        let classification = self.required_word(
            "classification",
            &Classification::ALL.map(|it| (it.as_str(), it)),
        )?;
        let action =
            self.required_word("action", &CommentAction::ALL.map(|it| (it.as_str(), it)))?;
        let fits = match classification {
            Classification::Fix => action != CommentAction::NoAction,
            Classification::Skip | Classification::Escalate => action == CommentAction::NoAction,
        };
        if fits {
            Ok(Some(CommentFix {
                classification,
                action,
            }))
        } else {
            let wrong = "does not go with `classification`".to_owned();
            self.malformed("action", self.root.get("action"), wrong)
        }
    }

    /// A word of the mapping; anything else is a fault.
    fn optional_text(&mut self, key: &str) -> Option<String> {
        let node = self.root.get(key)?;
        self.text_of(node, key)
    }

    /// A text of the mapping that people read, which may be written as a list.
    fn optional_prose(&mut self, key: &str) -> Option<String> {
        let node = self.root.get(key)?;
        self.prose_of(node, key)
    }

    /// A text that people read. Agents often write several things to say as a list, so that is one too, an item to a line (Z-46).
    fn prose_of(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.tree {
            Tree::List(items) => {
                let lines = items.iter().filter_map(line_of);
                let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
                Some(lines.join("\n"))
            }
            _ => self.text_of(node, what),
        }
    }

    fn text_of(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.tree {
            Tree::Text(text) => Some(text.clone()),
            Tree::Null => None,
            _ => {
                let message = format!("`{what}` is {}, not a text", found(node));
                self.fault(node, message);
                None
            }
        }
    }

    fn evidence(&mut self) -> Evidence {
        let Some(node) = self.root.get("evidence") else {
            self.fault(self.root, "`evidence` is missing");
            return Evidence::default();
        };
        if node.as_table().is_none() {
            let message = format!("`evidence` is {}, not a mapping", found(node));
            self.fault(node, message);
            return Evidence::default();
        }
        let mut block = |name: &'static str| {
            let node = node.get(name).filter(|node| !node.is_null())?;
            self.block(node, name)
        };
        Evidence {
            tests: block("tests"),
            build: block("build"),
            lint: block("lint"),
            typecheck: block("typecheck"),
        }
    }

    fn block(&mut self, node: &Node, name: &'static str) -> Option<Block> {
        if node.as_table().is_none() {
            let message = format!("`evidence.{name}` is {}, not a mapping", found(node));
            self.fault(node, message);
            return None;
        }
        let mut keys = vec!["command", "exit_code", "skipped"];
        if name == "tests" {
            keys.extend(["passing", "failing"]);
        }
        let missing: Vec<&'static str> = keys
            .into_iter()
            .filter(|key| node.get(key).is_none())
            .collect();
        for key in &missing {
            self.fault(node, format!("`evidence.{name}.{key}` is missing"));
        }
        let count = |key: &str| node.get(key).and_then(Node::number);
        let is_skipped = node.get("skipped").and_then(Node::as_bool) == Some(true);
        let block = Block {
            command: (node.get("command"))
                .and_then(|command| self.text_of(command, "command"))
                .unwrap_or_default(),
            exit_code: node.get("exit_code").and_then(Node::number),
            is_skipped,
            counts: TestCounts {
                passing: count("passing"),
                failing: count("failing"),
            },
            missing,
        };
        if is_skipped && block.exit_code.is_some() {
            let message = format!("`evidence.{name}` was skipped and has an exit code");
            self.fault(node, message);
        }
        Some(block)
    }

    /// The items of a list; a missing list is empty, and a fault.
    fn list<T>(&mut self, key: &str, read: impl Fn(&mut Self, &'n Node) -> Option<T>) -> Vec<T> {
        let Some(node) = self.root.get(key) else {
            self.fault(self.root, format!("`{key}` is missing"));
            return Vec::new();
        };
        match &node.tree {
            Tree::List(items) => items.iter().filter_map(|item| read(self, item)).collect(),
            Tree::Null => Vec::new(),
            _ => {
                let message = format!("`{key}` is {}, not a list", found(node));
                self.fault(node, message);
                Vec::new()
            }
        }
    }

    fn escalation(&mut self, node: &'n Node) -> Option<Escalation> {
        if let Some(text) = node.as_text() {
            self.fault(
                node,
                "an escalation is a mapping with `reason` and `detail`",
            );
            return Some(Escalation {
                reason: text.to_owned(),
                detail: String::new(),
            });
        }
        let mut text = |key: &str| {
            let text = node.get(key).and_then(|value| self.prose_of(value, key));
            if text.is_none() {
                self.fault(node, format!("an escalation has no `{key}`"));
            }
            text.unwrap_or_default()
        };
        let (reason, detail) = (text("reason"), text("detail"));
        let says_something = !(reason.is_empty() && detail.is_empty());
        says_something.then_some(Escalation { reason, detail })
    }

    fn discovered(&mut self, node: &'n Node) -> Option<Discovered> {
        let title = node
            .get("title")
            .and_then(|title| self.text_of(title, "title"));
        let Some(title) = title.filter(|title| !title.trim().is_empty()) else {
            self.fault(node, "discovered work has no `title`, and is left out");
            return None;
        };
        let word = node.get("type").and_then(|kind| self.text_of(kind, "type"));
        let kind = DiscoveredType::ALL
            .into_iter()
            .find(|kind| Some(kind.as_str()) == word.as_deref());
        if kind.is_none() {
            self.fault(
                node,
                "discovered work is a bug, a task or a chore; it counts as a task",
            );
        }
        let priority = node.get("priority").and_then(Node::number::<u8>);
        let priority = priority.filter(|number| *number <= 4);
        if priority.is_none() {
            self.fault(
                node,
                "the priority of discovered work is 0 to 4; it counts as 2",
            );
        }
        let known = ["title", "type", "priority", "detail"];
        for (key, value) in node.as_table().unwrap_or_default() {
            if !known.contains(&key.value.as_str()) {
                let message = format!("`{}` of discovered work is ignored", excerpt(&key.value));
                self.fault(value, message);
            }
        }
        Some(Discovered {
            title,
            kind: kind.unwrap_or(DiscoveredType::Task),
            priority: priority.unwrap_or(2),
            detail: (node.get("detail"))
                .and_then(|detail| self.prose_of(detail, "detail"))
                .unwrap_or_default(),
        })
    }

    fn commits(&mut self) -> Vec<Commit> {
        self.list("commits", |reader, node| {
            let text = reader.text_of(node, "commits")?;
            let commit = commit(&text);
            if commit.is_none() {
                let message = format!(
                    "`{}` is not a commit of 40 hexadecimal digits",
                    excerpt(&text)
                );
                reader.fault(node, message);
            }
            commit
        })
    }

    fn docs_edits(&mut self) -> DocsEdits {
        let sha = self.optional_text("commit_sha").unwrap_or_default();
        if !sha.is_empty() && commit(&sha).is_none() {
            let node = self.root.get("commit_sha").unwrap_or(self.root);
            self.fault(
                node,
                "`commit_sha` is not a commit of 40 hexadecimal digits",
            );
        }
        DocsEdits {
            files_changed: self.list("files_changed", |reader, node| {
                reader.text_of(node, "files_changed")
            }),
            commit: commit(&sha),
            summary: self.optional_prose("summary").unwrap_or_default(),
            skipped: self.list("skipped_items", |reader, node| {
                let mut text = |key: &str| {
                    let text = node.get(key).and_then(|value| reader.text_of(value, key));
                    text.unwrap_or_default()
                };
                Some((text("path"), text("reason")))
            }),
        }
    }

    /// Faults that only the whole report shows.
    fn check_whole(&mut self, agent: &Agent, report: &mut Report) {
        let root = self.root;
        if report.status == ReportStatus::NeedsHuman && report.escalations.is_empty() {
            self.fault(root, "`needs_human` without an escalation");
            report.escalations.push(Escalation {
                reason: "worker gave no reason".to_owned(),
                detail: String::new(),
            });
        }
        if let Some(node) = self.root.get("gate_status") {
            self.fault(node, "`gate_status` is ignored: the gate is derived");
        }
        if *agent == Agent::BugDiagnoser && !report.commits.is_empty() {
            self.fault(root, "a diagnoser commits nothing");
        }
        let tests = report.evidence.tests.as_ref();
        let is_uncounted = |block: &Block| {
            !block.is_skipped && (block.counts.passing.is_none() || block.counts.failing.is_none())
        };
        let has_word = |one: &Escalation| one.reason == "tests-runner-unparseable";
        if tests.is_some_and(is_uncounted) && !report.escalations.iter().any(has_word) {
            self.fault(
                root,
                "tests without counts go with the escalation `tests-runner-unparseable`",
            );
        }
    }
}

/// What stands where something else was expected, in the words of YAML.
fn found(node: &Node) -> &'static str {
    match node.tree {
        Tree::Table(_) => "a mapping",
        _ => node.kind(),
    }
}

/// An item of a list that stands for a text. `- Run: it` is a mapping to YAML and a sentence to its author.
fn line_of(node: &Node) -> Option<String> {
    match &node.tree {
        Tree::Null => None,
        Tree::Bool(value) => Some(value.to_string()),
        Tree::Number(number) => Some(number.clone()),
        Tree::Text(text) => Some(text.trim_end().replace('\n', "\n  ")),
        Tree::List(items) => {
            let items: Vec<String> = items.iter().filter_map(line_of).collect();
            Some(items.join("; "))
        }
        Tree::Table(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| match line_of(value) {
                Some(value) => format!("{}: {value}", key.value),
                None => key.value.clone(),
            });
            Some(entries.collect::<Vec<String>>().join("; "))
        }
    }
}

fn commit(text: &str) -> Option<Commit> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_commit = text.len() == 40 && text.bytes().all(is_hex);
    is_commit.then(|| Commit(text.to_owned()))
}
