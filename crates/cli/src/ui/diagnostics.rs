//! Findings as people and programs read them: in the manner of rustc, one line each, or JSON (Z-20).

use std::borrow::Cow;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Patch, Renderer, Snippet};
use beads_ralph_core::diag::{Diagnostic, ErrorCode, Severity, first_error};
use beads_ralph_core::text::Span;
use beads_ralph_runtime::app::plan::PlanSource;
use serde::Serialize;

use super::lines;
use crate::failure::Failure;

/// How many bytes of a plan one finding shows at the most. Beyond that (a line of many megabytes, two
/// places far apart) the place is named and not shown.
const MAX_SHOWN: usize = 16 * 1024;

/// How many findings are drawn with their lines; a plan with more is better read one line each.
const MAX_DRAWN: usize = 200;

/// How many lines of an error's `details` are kept; `diagnostics` has them all.
const MAX_DETAILS: usize = 1000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) color: bool,
    pub(crate) unicode: bool,
    pub(crate) width: usize,
}

/// Draws findings with the lines of the plan that they are about.
pub(crate) fn render(source: &PlanSource, findings: &[Diagnostic], style: Style) -> String {
    let renderer = if style.color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let decor = if style.unicode {
        DecorStyle::Unicode
    } else {
        DecorStyle::Ascii
    };
    let renderer = renderer.decor_style(decor).term_width(style.width);
    let mut text = String::new();
    for finding in findings.iter().take(MAX_DRAWN) {
        text.push_str(&renderer.render(&groups(source, finding)));
        text.push_str("\n\n");
    }
    if findings.len() > MAX_DRAWN {
        let more = findings.len() - MAX_DRAWN;
        text.push_str(&lines([format!(
            "… and {more} more: see them all with --format short"
        )]));
    }
    text
}

/// Findings with one line each: `file:line:column: error[CODE]: message (label)`.
pub(crate) fn render_short(source: &PlanSource, findings: &[Diagnostic]) -> String {
    lines(findings.iter().map(|finding| {
        let at = source.position(finding.primary.span.start());
        let (severity, code) = (finding.severity().as_str(), finding.code.as_str());
        let label = match &*finding.primary.text {
            "" => String::new(),
            label => format!(" ({label})"),
        };
        format!(
            "{}:{}:{}: {severity}[{code}]: {}{label}",
            source.shown(),
            at.line,
            at.column,
            finding.message
        )
    }))
}

/// A finding as programs read it (Z-20): 1-based, columns in characters.
#[derive(Debug, Serialize)]
pub(crate) struct JsonDiagnostic {
    code: &'static str,
    severity: &'static str,
    message: Cow<'static, str>,
    file: String,
    #[serde(flatten)]
    place: JsonPlace,
    help: Option<Cow<'static, str>>,
    fix: Option<JsonFix>,
    label: Cow<'static, str>,
}

#[derive(Debug, Serialize)]
struct JsonPlace {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Debug, Serialize)]
struct JsonFix {
    #[serde(flatten)]
    place: JsonPlace,
    replacement: String,
    certain: bool,
}

pub(crate) fn diagnostics_json(
    source: &PlanSource,
    findings: &[Diagnostic],
) -> Vec<JsonDiagnostic> {
    let file = source.shown();
    let to_json = |finding: &Diagnostic| JsonDiagnostic {
        code: finding.code.as_str(),
        severity: finding.severity().as_str(),
        message: finding.message.clone(),
        label: finding.primary.text.clone(),
        file: file.to_owned(),
        place: place(source, finding.primary.span),
        help: finding.help.clone(),
        fix: finding.fix.as_ref().map(|fix| JsonFix {
            place: place(source, fix.edit.span),
            replacement: fix.edit.replacement.clone(),
            certain: fix.certain,
        }),
    };
    findings.iter().map(to_json).collect()
}

fn place(source: &PlanSource, span: Span) -> JsonPlace {
    let (start, end) = (source.position(span.start()), source.position(span.end()));
    JsonPlace {
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
    }
}

pub(crate) fn counts(findings: &[Diagnostic]) -> (usize, usize) {
    let errors = findings
        .iter()
        .filter(|finding| finding.severity() == Severity::Error)
        .count();
    (errors, findings.len() - errors)
}

/// The failure that the errors among some findings amount to; nothing when there is none.
pub(crate) fn failure_of(source: &PlanSource, findings: &[Diagnostic]) -> Option<Failure> {
    failure_of_all(&[(source, findings)])
}

/// The same for findings in several files.
pub(crate) fn failure_of_all(files: &[(&PlanSource, &[Diagnostic])]) -> Option<Failure> {
    let (source, first, code) = files.iter().find_map(|(source, findings)| {
        let (first, code) = first_error(findings)?;
        Some((source, first, code))
    })?;
    let n_errors: usize = files.iter().map(|(_, findings)| counts(findings).0).sum();
    let message = match n_errors {
        1 => format!("{}: {}", source.shown(), first.message),
        n => format!(
            "{}: {n} errors, the first: {}",
            source.shown(),
            first.message
        ),
    };
    let details: Vec<String> = (files.iter())
        .flat_map(|(source, findings)| error_lines(source, findings))
        .take(MAX_DETAILS)
        .collect();
    let failure = Failure::new(code, message).details(details.join("\n"));
    let failure = match (&first.help, code) {
        (
            Some(help),
            ErrorCode::ParseMarkdown
            | ErrorCode::ParseMissingSection
            | ErrorCode::FormulaNotFound
            | ErrorCode::FormulaMissingVar
            | ErrorCode::FormulaInvalidVar
            | ErrorCode::FormulaPourFailed,
        ) => failure.action(help.clone()),
        _ => failure,
    };
    Some(failure)
}

/// Each error as a line of `details`.
fn error_lines<'f>(
    source: &'f PlanSource,
    findings: &'f [Diagnostic],
) -> impl Iterator<Item = String> + 'f {
    let errors = findings
        .iter()
        .filter(|finding| finding.severity() == Severity::Error);
    errors.map(|finding| {
        format!(
            "{}:{}: {}",
            source.shown(),
            source.position(finding.primary.span.start()).line,
            finding.message
        )
    })
}

fn groups<'f>(source: &'f PlanSource, finding: &'f Diagnostic) -> Vec<Group<'f>> {
    let level = match finding.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level
        .primary_title(&*finding.message)
        .id(finding.code.as_str());
    let group = if let Some(window) = Window::around(source, finding) {
        title.element(window.snippet(finding))
    } else {
        let at = source.position(finding.primary.span.start());
        title.element(
            Origin::path(source.shown())
                .line(at.line)
                .char_column(at.column),
        )
    };
    let fix = finding
        .fix
        .as_ref()
        .and_then(|fix| Some((fix, Window::of(source, [fix.edit.span].into_iter())?)));
    match (&finding.help, fix) {
        (help, Some((fix, window))) => {
            let help = help.as_deref().unwrap_or("write instead");
            let patch = Patch::new(window.local(fix.edit.span), fix.edit.replacement.as_str());
            let snippet = Snippet::source(window.text)
                .line_start(window.first_line)
                .patch(patch);
            vec![group, Level::HELP.secondary_title(help).element(snippet)]
        }
        (Some(help), None) => vec![group.element(Level::HELP.message(&**help))],
        (None, None) => vec![group],
    }
}

/// The lines of a plan that a finding is about.
struct Window<'s> {
    text: &'s str,
    start: usize,
    first_line: usize,
    path: &'s str,
}

impl<'s> Window<'s> {
    /// The lines of all places of a finding; of the primary alone when the others are too far away.
    fn around(source: &'s PlanSource, finding: &Diagnostic) -> Option<Self> {
        let secondary = finding.secondary.iter().map(|label| label.span);
        Self::of(source, secondary.chain([finding.primary.span]))
            .or_else(|| Self::of(source, [finding.primary.span].into_iter()))
    }

    fn of(source: &'s PlanSource, spans: impl Iterator<Item = Span>) -> Option<Self> {
        let all = spans.reduce(Span::cover)?;
        let (first, last) = (source.line(all.start()), source.line(all.end()));
        let start = source.line_span(first).start();
        let end = source.line_span(last).end();
        // A byte order mark is not content.
        let start = if start == 0 && source.text().starts_with('\u{feff}') {
            3
        } else {
            start
        };
        if end.saturating_sub(start) > MAX_SHOWN {
            return None;
        }
        let text = source.text().get(start..end)?;
        Some(Self {
            text,
            start,
            first_line: first,
            path: source.shown(),
        })
    }

    fn local(&self, span: Span) -> std::ops::Range<usize> {
        let clamp = |at: usize| at.saturating_sub(self.start).min(self.text.len());
        clamp(span.start())..clamp(span.end())
    }

    fn contains(&self, span: Span) -> bool {
        span.start() >= self.start && span.end() <= self.start + self.text.len()
    }

    fn snippet(&self, finding: &'s Diagnostic) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
        let primary = AnnotationKind::Primary.span(self.local(finding.primary.span));
        let primary = if finding.primary.text.is_empty() {
            primary
        } else {
            primary.label(&*finding.primary.text)
        };
        let secondary = finding
            .secondary
            .iter()
            .filter(|label| self.contains(label.span));
        let secondary = secondary.map(|label| {
            AnnotationKind::Context
                .span(self.local(label.span))
                .label(&*label.text)
        });
        Snippet::source(self.text)
            .line_start(self.first_line)
            .path(self.path)
            .annotation(primary)
            .annotations(secondary)
    }
}
