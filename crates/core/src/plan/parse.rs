//! From text to a plan and its diagnostics.

use std::collections::HashMap;

use super::annotate::annotated_id;
use super::body::BodyBuilder;
use super::diagnostics;
use super::field::RequiredField;
use super::heading::{self, Heading};
use super::line::{Line, LineKind, Lines, Open};
use super::model::{Annotation, Plan, Sprint};
use crate::diag::{Diagnostic, ErrorCode};
use crate::number::SprintId;
use crate::text::{Span, Spanned, is_direction_mark};

/// Parses a plan. Never fails: what was not understood is in the diagnostics.
pub fn parse(text: &str) -> Plan {
    let mut parser = Parser {
        text,
        plan: Plan::default(),
        section: None,
        has_candidates: false,
    };
    parser.plan.problems = suspicious_characters(text);
    let mut lines = Lines::new(text);
    for (line, kind) in lines.by_ref() {
        parser.line(line, &kind);
    }
    parser.finish(lines.open())
}

/// The finding for bytes that are not UTF-8 (P-8): `offset` is the first wrong byte. It points into the
/// text in which wrong bytes were replaced by U+FFFD, which is the same up to that byte.
pub fn invalid_utf8(offset: usize) -> Diagnostic {
    let span = Span::new(offset, offset + '\u{fffd}'.len_utf8());
    let message = format!("the plan is not UTF-8: byte {offset} is not part of a character");
    Diagnostic::new(ErrorCode::ParseMarkdown, span, message)
        .label("wrong from here")
        .help("save the file as UTF-8")
}

struct Parser<'t> {
    text: &'t str,
    plan: Plan,
    section: Option<Section<'t>>,
    has_candidates: bool,
}
struct Section<'t> {
    id: Spanned<SprintId>,
    title: Span,
    heading: Line,
    annotations: Vec<Annotation>,
    end: usize,
    body: BodyBuilder<'t>,
}

impl Parser<'_> {
    fn line(&mut self, line: Line, kind: &LineKind) {
        match kind {
            LineKind::Heading(level) => {
                if *level <= 3 {
                    self.close_section(line.full.start());
                }
                if *level == 3 {
                    self.heading(line);
                }
            }
            LineKind::Text(_) => self.notice_near_miss(line),
            LineKind::Annotation => self.annotation(line),
            _ => {}
        }
        if let Some(section) = &mut self.section {
            section.end = line.full.end();
            let is_own_heading = section.heading.number == line.number;
            if !is_own_heading {
                section.body.line(line, kind);
            }
        }
    }

    fn heading(&mut self, line: Line) {
        let finding = match heading::classify(self.text, line.span) {
            Heading::Sprint { id, id_span, title } => {
                self.has_candidates = true;
                self.section = Some(Section {
                    id: Spanned::new(id, id_span),
                    title,
                    heading: line,
                    annotations: Vec::new(),
                    end: line.full.end(),
                    body: BodyBuilder::new(self.text),
                });
                return;
            }
            Heading::Other => return self.notice_near_miss(line),
            Heading::NoNumber => diagnostics::not_a_sprint(line.span),
            Heading::BadNumber { token } => {
                self.has_candidates = true;
                diagnostics::bad_number(self.text, token)
            }
            Heading::Malformed { id, rest } => {
                self.has_candidates = true;
                diagnostics::malformed_heading(self.text, line.span, id.as_ref(), rest)
            }
        };
        self.plan.problems.push(finding);
    }

    fn notice_near_miss(&mut self, line: Line) {
        if heading::looks_like_a_sprint(line.span.slice(self.text)) {
            self.plan
                .problems
                .push(diagnostics::near_miss_heading(self.text, line.span));
        }
    }

    fn annotation(&mut self, line: Line) {
        if let Some(section) = &mut self.section {
            let is_in_place = line.number == section.heading.number + 1;
            section.annotations.push(Annotation {
                line: line.span,
                id: annotated_id(line.span.slice(self.text)),
                is_in_place,
            });
        }
    }

    fn close_section(&mut self, end: usize) {
        let Some(section) = self.section.take() else {
            return;
        };
        let (body, problems) = section.body.finish();
        let title = section.title.slice(self.text).to_owned();
        self.plan.sprints.push(Sprint {
            id: section.id,
            title: Spanned::new(title, section.title),
            heading: Spanned::new(
                section.heading.span.slice(self.text).to_owned(),
                section.heading.span,
            ),
            line: section.heading.number,
            section: Span::new(section.heading.full.start(), end),
            is_duplicate: false,
            annotations: section.annotations,
            fields: (!body.is_empty()).then(|| Box::new(body)),
            problems,
        });
    }

    fn finish(mut self, open: Option<Open>) -> Plan {
        self.close_section(self.text.len());
        match open {
            Some(Open::Fence(line)) => self
                .plan
                .problems
                .push(diagnostics::open_fence(self.text, line)),
            Some(Open::Comment(line)) => self.plan.problems.push(diagnostics::open_comment(line)),
            None => {}
        }
        self.mark_duplicates();
        if !self.has_candidates {
            self.plan.problems.push(diagnostics::no_sprints(self.text));
        }
        for sprint in &mut self.plan.sprints {
            report_misspelt(sprint);
        }
        self.plan
    }

    fn mark_duplicates(&mut self) {
        let mut first: HashMap<SprintId, usize> = HashMap::with_capacity(self.plan.sprints.len());
        let mut findings = Vec::new();
        for at in 0..self.plan.sprints.len() {
            let id = self.plan.sprints[at].id.value.clone();
            match first.get(&id) {
                Some(earlier) => {
                    findings.push(diagnostics::duplicate_sprint(
                        &self.plan.sprints[*earlier],
                        &self.plan.sprints[at],
                    ));
                    self.plan.sprints[at].is_duplicate = true;
                }
                None => {
                    first.insert(id, at);
                }
            }
        }
        self.plan.problems.extend(findings);
    }
}

/// A misspelt optional field is a warning; a required one becomes part of the error that it is missing.
fn report_misspelt(sprint: &mut Sprint) {
    let body = sprint.body();
    let is_part_of_an_error = |field| RequiredField::of(field).is_some() && !body.has(field);
    let optional = body
        .misspelt
        .iter()
        .filter(|misspelt| !is_part_of_an_error(misspelt.value));
    let findings: Vec<Diagnostic> = optional.map(diagnostics::misspelt_field).collect();
    sprint.problems.extend(findings);
}

/// Reports the first NUL, the first lone carriage return, and the first direction mark of each line.
pub(super) fn suspicious_characters(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(at) = text.find('\0') {
        found.push(diagnostics::nul_character(Span::new(at, at + 1)));
    }
    if let Some(at) = lone_carriage_return(text) {
        found.push(diagnostics::lone_carriage_return(Span::new(at, at + 1)));
    }
    found.extend(direction_marks(text).map(|(span, mark)| {
        let (rest, cleaned) = without_marks(text, span.start());
        diagnostics::direction_mark(span, mark, rest, cleaned)
    }));
    found
}

fn lone_carriage_return(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    // Several carriage returns before one line feed are the work of a bad conversion, not lone.
    text.match_indices('\r')
        .map(|(at, _)| at)
        .find(|at| !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r')))
}

/// The first mark of each line that has one.
fn direction_marks(text: &str) -> impl Iterator<Item = (Span, char)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        let at = from + find_direction_mark(rest)?;
        let mark = text[at..].chars().next()?;
        from = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        Some((Span::new(at, at + mark.len_utf8()), mark))
    })
}

/// From the first mark of a line to its last, and what stays of that without marks.
fn without_marks(text: &str, first: usize) -> (Span, String) {
    let line = text[first..].lines().next().unwrap_or_default();
    let marked = match line.rfind(is_direction_mark) {
        Some(last) => &line[..last + line[last..].chars().next().map_or(0, char::len_utf8)],
        None => "",
    };
    let cleaned = marked.replace(is_direction_mark, "");
    (Span::new(first, first + marked.len()), cleaned)
}

// Bytes first: every mark starts with 0xE2 or 0xD8, which are rare in most plans, so that ordinary text
// is passed over at the speed of a byte search.
fn find_direction_mark(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from
            + bytes[from..]
                .iter()
                .position(|byte| matches!(byte, 0xE2 | 0xD8))?;
        let is_mark = text[at..].starts_with(is_direction_mark);
        if is_mark {
            return Some(at);
        }
        from = at + 1;
    }
}
