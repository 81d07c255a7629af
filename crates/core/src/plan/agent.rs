//! Agent items: `` `name` (model, adapter) - text `` (P-19…P-21, Z-30).

use super::diagnostics;
use super::list::{Item, trimmed};
use crate::bead::{AgentPath, Model};
use crate::diag::Diagnostic;
use crate::text::{Span, Spanned, first_code_span, without_code_marks};

/// An agent that a plan names.
#[derive(Debug, Clone)]
pub struct AgentItem {
    /// The agent's name.
    pub name: Spanned<String>,
    /// The agent's file (B-15).
    pub path: AgentPath,
    /// The model, if the plan names one.
    pub model: Option<Spanned<Model>>,
    /// The adapter that runs the agent, if the plan names one (Z-30).
    pub adapter: Option<Spanned<String>>,
    /// What the item says after the dash.
    pub text: Option<String>,
    /// The item's first line.
    pub span: Span,
}

/// Reads an agent item. Everything that does not fit is reported, and then the item is left out.
pub(super) fn parse_agent(
    text: &str,
    item: &Item,
    problems: &mut Vec<Diagnostic>,
) -> Option<AgentItem> {
    let place = item.place(text);
    let n_problems = problems.len();
    let mut cursor = Cursor {
        text,
        at: place.start(),
        end: place.end(),
    };
    let Some(name) = cursor.name() else {
        problems.push(diagnostics::malformed_agent(place, "the name is missing"));
        return None;
    };
    let path = AgentPath::for_name(&name.value)
        .ok()
        .filter(|_| is_agent_name(&name.value));
    if path.is_none() {
        problems.push(diagnostics::bad_agent_name(&name));
    }
    cursor.skip_spaces();
    let (model, adapter) = match cursor.parenthesis() {
        Some(inner) => model_and_adapter(text, inner, &name, problems),
        None => (None, None),
    };
    let said = cursor.dashed_text();
    cursor.skip_spaces();
    if said.is_none() && cursor.at < cursor.end {
        let stray = Span::new(cursor.at, cursor.end);
        problems.push(diagnostics::malformed_agent(
            stray,
            "this is neither `(model)` nor ` - text`",
        ));
    }
    if problems.len() > n_problems {
        return None;
    }
    Some(AgentItem {
        name,
        path: path?,
        model,
        adapter,
        text: whole_text(text, item, said),
        span: place,
    })
}

/// The text after the dash, with what continues it and what is nested below it.
fn whole_text(text: &str, item: &Item, said: Option<&str>) -> Option<String> {
    let mut words = said.unwrap_or_default().to_owned();
    for line in &item.continuation {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(line.slice(text).trim());
    }
    let mut words = without_code_marks(&words);
    words.push_str(&item.nested(text));
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

type ModelAndAdapter = (Option<Spanned<Model>>, Option<Spanned<String>>);

fn model_and_adapter(
    text: &str,
    inner: Span,
    name: &Spanned<String>,
    problems: &mut Vec<Diagnostic>,
) -> ModelAndAdapter {
    let comma = inner.slice(text).find(',').map(|at| inner.start() + at);
    let model_span = trimmed(text, Span::new(inner.start(), comma.unwrap_or(inner.end())));
    let model = Model::parse(&model_span.slice(text).to_lowercase()).ok();
    if model.is_none() {
        problems.push(diagnostics::unknown_model(
            name,
            model_span,
            model_span.slice(text),
        ));
    }
    let adapter = comma.map(|comma| {
        let span = trimmed(text, Span::new(comma + 1, inner.end()));
        let adapter = span.slice(text);
        if !is_agent_name(adapter) || adapter.contains('/') {
            problems.push(diagnostics::malformed_agent(
                span,
                "this is not the name of an adapter",
            ));
        }
        Spanned::new(adapter.to_owned(), span)
    });
    (model.map(|model| Spanned::new(model, model_span)), adapter)
}

/// `^[A-Za-z0-9][A-Za-z0-9._/-]*$` (P-19).
fn is_agent_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-'))
}

struct Cursor<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        Span::new(self.at, self.end).slice(self.text)
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn name(&mut self) -> Option<Spanned<String>> {
        let rest = self.rest();
        let span = if rest.starts_with('`') {
            let code = first_code_span(rest).filter(|code| code.whole.start() == 0)?;
            let content = Span::new(self.at + code.content.start(), self.at + code.content.end());
            self.at += code.whole.end();
            content
        } else {
            let length = rest
                .find(|end: char| end.is_whitespace() || end == '(')
                .unwrap_or(rest.len());
            self.at += length;
            Span::new(self.at - length, self.at)
        };
        (!span.is_empty()).then(|| Spanned::new(span.slice(self.text).to_owned(), span))
    }

    fn parenthesis(&mut self) -> Option<Span> {
        let inner = self.rest().strip_prefix('(')?;
        let length = inner.find(')')?;
        let span = Span::new(self.at + 1, self.at + 1 + length);
        self.at = span.end() + 1;
        Some(span)
    }

    /// The text after ` - `, ` – ` or ` — `.
    fn dashed_text(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let dashed = rest.trim_start();
        let said = ["-", "–", "—"]
            .iter()
            .find_map(|dash| dashed.strip_prefix(dash))?;
        let is_separated = said.is_empty() || said.starts_with(char::is_whitespace);
        is_separated.then(|| {
            self.at = self.end;
            said.trim()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::line::Bullet;

    type Read = (String, Option<&'static str>, Option<String>, Option<String>);

    fn read(line: &str) -> Result<Read, Vec<Diagnostic>> {
        let item = Item::new(Bullet {
            indent: 0,
            content: Span::new(0, line.len()),
        });
        let mut problems = Vec::new();
        let agent = parse_agent(line, &item, &mut problems).ok_or(problems)?;
        Ok((
            agent.name.value,
            agent.model.map(|model| model.value.as_str()),
            agent.adapter.map(|a| a.value),
            agent.text,
        ))
    }

    fn ok(
        line: &str,
        name: &str,
        model: Option<&'static str>,
        adapter: Option<&str>,
        text: Option<&str>,
    ) {
        let expected = (
            name.to_owned(),
            model,
            adapter.map(str::to_owned),
            text.map(str::to_owned),
        );
        assert_eq!(read(line), Ok(expected), "{line}");
    }

    #[test]
    fn p_19_the_grammar_of_agent_items() {
        let shared = Some("Run tests (shared - once)");
        ok(
            "`qa-go` (haiku) - Run tests (shared - once)",
            "qa-go",
            Some("haiku"),
            None,
            shared,
        );
        ok(
            "go-backend-dev (sonnet)",
            "go-backend-dev",
            Some("sonnet"),
            None,
            None,
        );
        ok("`dev`", "dev", None, None, None);
        ok("dev - text", "dev", None, None, Some("text"));
        ok("dev(opus) — a `b`", "dev", Some("opus"), None, Some("a b"));
        ok(
            "team/dev.2 (Sonnet) – x - y",
            "team/dev.2",
            Some("sonnet"),
            None,
            Some("x - y"),
        );
    }

    #[test]
    fn z_30_an_item_may_name_its_adapter() {
        ok(
            "`dev` (opus, codex) - x",
            "dev",
            Some("opus"),
            Some("codex"),
            Some("x"),
        );
    }

    #[test]
    fn p_19_p_20_what_does_not_fit_is_reported_with_its_code() {
        for (line, code) in [
            ("`dev` (gpt-4)", "VALIDATION.INVALID_PATTERN"),
            ("`dev` (codex)", "VALIDATION.INVALID_PATTERN"),
            ("`dev` ()", "VALIDATION.INVALID_PATTERN"),
            ("`dev` (opus) text", "PARSE.MARKDOWN"),
            ("`dev` (opus", "PARSE.MARKDOWN"),
            ("dev agent", "PARSE.MARKDOWN"),
            ("-dev", "PARSE.MARKDOWN"),
            ("`dev", "PARSE.MARKDOWN"),
            ("`` ` ``", "PARSE.MARKDOWN"),
            ("(opus)", "PARSE.MARKDOWN"),
            ("`dev` (opus, a b)", "PARSE.MARKDOWN"),
            ("`../dev`", "PARSE.MARKDOWN"),
            ("`a/../dev`", "PARSE.MARKDOWN"),
            ("`a//dev`", "PARSE.MARKDOWN"),
        ] {
            let problems = read(line).unwrap_err();
            assert_eq!(
                problems.iter().map(|d| d.code.as_str()).collect::<Vec<_>>(),
                [code],
                "{line}"
            );
        }
    }
}
