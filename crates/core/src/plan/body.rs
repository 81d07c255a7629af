//! A section's body, line by line: which field is open, and what its lines add to it (P-11…P-18).

use super::agent::parse_agent;
use super::diagnostics;
use super::field::{Field, FieldLine, FieldValue, ListField, SingleField};
use super::line::{Line, LineKind};
use super::list::Item;
use super::model::{Body, Estimate, SprintKind};
use super::verifier::parse_verifier;
use crate::bead::{BeadId, BranchName, Invalid};
use crate::diag::Diagnostic;
use crate::text::{Span, Spanned, first_code_span, parse_duration, without_code_marks};

/// Collects the fields of one section.
#[derive(Debug)]
pub(super) struct BodyBuilder<'t> {
    text: &'t str,
    body: Body,
    problems: Vec<Diagnostic>,
    list: List,
    is_after_blank: bool,
    is_in_item_code: bool,
}

/// The list that is open, if any.
#[derive(Debug)]
enum List {
    None,
    /// The list of a recognised list field, with the item that is still open.
    Of {
        field: ListField,
        beside: Span,
        open: Option<Item>,
    },
    /// The list below `**Status**`, which is only searched for a word.
    Status,
}

impl<'t> BodyBuilder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            body: Body::default(),
            problems: Vec::new(),
            list: List::None,
            is_after_blank: false,
            is_in_item_code: false,
        }
    }
    pub(super) fn line(&mut self, line: Line, kind: &LineKind) {
        match kind {
            LineKind::Blank => {
                self.is_after_blank = true;
                return;
            }
            LineKind::Field(field) => self.field(field),
            LineKind::Rule | LineKind::Heading(_) => self.close_list(),
            LineKind::Bullet(bullet) if bullet.indent <= 1 => self.start_item(Item::new(*bullet)),
            LineKind::Bullet(bullet) => match self.open_item() {
                Some(item) => item.nest(bullet.content),
                None => self.start_item(Item::new(*bullet)),
            },
            LineKind::Text(indent) => self.text_line(line.span, *indent),
            LineKind::FenceOpen(indent) => self.open_code(line.span, *indent),
            LineKind::Fenced => self.code_line(line.span),
            LineKind::Comment | LineKind::Annotation => {}
        }
        self.is_after_blank = false;
    }
    pub(super) fn finish(mut self) -> (Body, Vec<Diagnostic>) {
        self.close_list();
        (self.body, self.problems)
    }

    fn open_item(&mut self) -> Option<&mut Item> {
        match &mut self.list {
            List::Of { open, .. } => open.as_mut(),
            List::None | List::Status => None,
        }
    }

    fn start_item(&mut self, item: Item) {
        self.close_item();
        match &mut self.list {
            List::Of { open, .. } => *open = Some(item),
            List::Status => self.look_for_completed(item.first),
            List::None => {}
        }
    }

    /// An indented line continues the item; an unindented one only directly after it (P-16).
    fn text_line(&mut self, span: Span, indent: usize) {
        if indent < 2 && self.is_after_blank {
            self.close_item();
        } else if let Some(item) = self.open_item() {
            item.extend(span);
        }
    }

    fn open_code(&mut self, span: Span, indent: usize) {
        self.is_in_item_code = false;
        if indent < 2 {
            self.close_item();
        } else if let Some(item) = self.open_item() {
            item.open_code(indent, span);
            self.is_in_item_code = true;
        }
    }

    fn code_line(&mut self, span: Span) {
        if self.is_in_item_code
            && let Some(item) = self.open_item()
        {
            item.extend_code(span);
        }
    }

    fn close_list(&mut self) {
        self.close_item();
        self.report_text_beside_list();
        self.list = List::None;
    }

    /// Text on the line of a list's name is not an item. A check that stands there would not run, so that is an
    /// error; a list that is empty otherwise is reported as missing; elsewhere it is a warning.
    fn report_text_beside_list(&mut self) {
        let List::Of { field, beside, .. } = self.list else {
            return;
        };
        let text = beside.slice(self.text);
        let is_note = text.starts_with('(') && text.ends_with(')');
        if text.is_empty() || is_note {
            return;
        }
        let body = &self.body;
        let is_empty = match field {
            ListField::DevAgents => body.dev_agents.is_empty(),
            ListField::QaAgents => body.qa_agents.is_empty(),
            ListField::Tasks => body.tasks.is_empty(),
            ListField::AcceptanceCriteria => false,
            ListField::Verifiers => {
                self.problems
                    .push(diagnostics::verifier_beside_list(beside));
                return;
            }
        };
        if !is_empty {
            self.problems.push(diagnostics::text_beside_list(beside));
        }
    }

    fn close_item(&mut self) {
        let List::Of { field, open, .. } = &mut self.list else {
            return;
        };
        let field = *field;
        let Some(item) = open.take() else { return };
        let text = self.text;
        match field {
            ListField::DevAgents => {
                self.body
                    .dev_agents
                    .extend(parse_agent(text, &item, &mut self.problems));
            }
            ListField::QaAgents => {
                self.body
                    .qa_agents
                    .extend(parse_agent(text, &item, &mut self.problems));
            }
            ListField::Tasks => self.body.tasks.extend(item.folded(text)),
            ListField::AcceptanceCriteria => self.body.acceptance.extend(item.folded(text)),
            ListField::Verifiers => {
                self.body
                    .verifiers
                    .extend(parse_verifier(text, &item, &mut self.problems));
            }
        }
    }

    fn field(&mut self, line: &FieldLine) {
        self.close_list();
        let name = line.name.slice(self.text);
        let Some(field) = Field::from_name(name) else {
            self.body
                .misspelt
                .extend(Field::nearest(name).map(|field| Spanned::new(field, line.name)));
            return;
        };
        match self.body.fields.iter().find(|seen| seen.value == field) {
            None => self.body.fields.push(Spanned::new(field, line.name)),
            // A plan may report its status as often as it likes: the field is none of ours (P-14).
            Some(_) if field == Field::Status => {}
            Some(first) => {
                let finding = diagnostics::repeated_field(field, line.name, first.span);
                self.problems.push(finding);
                return;
            }
        }
        match field.value() {
            FieldValue::List(list) => {
                self.list = List::Of {
                    field: list,
                    beside: line.value,
                    open: None,
                };
            }
            FieldValue::Single(single) => self.single(single, line.value),
            FieldValue::Labels => self.body.labels = labels(self.text, line.value),
            FieldValue::Status => {
                self.list = List::Status;
                self.look_for_completed(line.value);
            }
        }
    }

    fn look_for_completed(&mut self, span: Span) {
        let mut words = span.slice(self.text).split(|c: char| !c.is_alphanumeric());
        self.body.is_completed |= words.any(|word| word == "COMPLETED");
    }

    fn single(&mut self, field: SingleField, line: Span) {
        let value = single_value(self.text, line);
        if value.is_empty() {
            return;
        }
        let text = value.slice(self.text);
        let spanned = || Some(Spanned::new(text.to_owned(), value));
        match field {
            SingleField::Worktree => self.body.worktree = spanned(),
            SingleField::SourceBranch => self.body.source_branch = spanned(),
            SingleField::Team => self.body.team = spanned(),
            SingleField::Formula => self.body.formula = spanned(),
            SingleField::Branch => match git_safe_branch(text) {
                Ok(branch) => self.body.branch = Some(Spanned::new(branch, value)),
                Err(reason) => {
                    self.problems
                        .push(diagnostics::bad_branch(value, text, reason.to_string()));
                }
            },
            SingleField::BeadId => match BeadId::parse_plan_override(text) {
                Ok(id) => self.body.bead_id = Some(Spanned::new(id, value)),
                Err(_) => self.problems.push(diagnostics::bad_bead_id(value, text)),
            },
            SingleField::Type => match text {
                "merge" => self.body.kind = Some(Spanned::new(SprintKind::Merge, value)),
                "work" => self.body.kind = Some(Spanned::new(SprintKind::Work, value)),
                "gate" => self.body.kind = Some(Spanned::new(SprintKind::Gate, value)),
                _ => self.problems.push(diagnostics::unknown_type(value, text)),
            },
            SingleField::Estimate => {
                match parse_duration(text).and_then(|d| u64::try_from(d.as_millis()).ok()) {
                    Some(milliseconds) => {
                        self.body.estimate = Some(Spanned::new(Estimate(milliseconds), value));
                    }
                    None => self.problems.push(diagnostics::bad_estimate(value, text)),
                }
            }
        }
    }
}

fn git_safe_branch(text: &str) -> Result<BranchName, Invalid> {
    let branch = BranchName::parse(text)?;
    branch.check_git_safe()?;
    Ok(branch)
}

/// The value of a single-valued field (P-12): the first code span, or the text without a note in
/// parentheses at its end.
fn single_value(text: &str, line: Span) -> Span {
    let slice = line.slice(text);
    if let Some(code) = first_code_span(slice) {
        return super::list::trimmed(
            text,
            Span::new(
                line.start() + code.content.start(),
                line.start() + code.content.end(),
            ),
        );
    }
    if slice.trim_matches('`').trim().is_empty() {
        return Span::at(line.start());
    }
    let note = slice.ends_with(')').then(|| slice.rfind('(')).flatten();
    let value = slice[..note.unwrap_or(slice.len())].trim_end();
    Span::new(line.start(), line.start() + value.len())
}

fn labels(text: &str, line: Span) -> Vec<Spanned<String>> {
    let mut labels = Vec::new();
    let mut start = line.start();
    for part in line.slice(text).split(',') {
        let span = super::list::trimmed(text, Span::new(start, start + part.len()));
        let label = without_code_marks(span.slice(text)).trim().to_owned();
        if !label.is_empty() {
            labels.push(Spanned::new(label, span));
        }
        start += part.len() + 1;
    }
    labels
}
