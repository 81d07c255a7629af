//! `bd create -f plan.md`: one bead for each `## ` heading of a Markdown file, all or none.
//!
//! Below a heading stand the description and sections such as `### Priority`, `### Type`, `### Labels` and `### Dependencies`.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType};
use beads_ralph_runtime::store::{StoreError, Write};
use camino::Utf8Path;

use super::graph;
use crate::bd::document_json::NewBead;
use crate::bd::{Arguments, Call, Opened, Refusal, dep, ids, input, issue_json, quoted, text};

/// One bead as the file has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Template {
    title: String,
    description: String,
    design: String,
    acceptance: String,
    priority: Option<i64>,
    kind: Option<String>,
    assignee: String,
    labels: Vec<String>,
    dependencies: Vec<String>,
    /// What is wrong with it and not worth an error.
    warnings: Vec<String>,
}

pub(super) fn create(call: &Call<'_>, path: &str) -> Result<(), Refusal> {
    check(call.arguments)?;
    let mut opened = call.open()?;
    let templates =
        read(path).map_err(|why| Refusal::plain(format!("parsing markdown file: {why}")))?;
    for warning in templates.iter().flat_map(|template| &template.warnings) {
        call.output.stderr(warning);
    }
    let made = carry_out(&mut opened, call.arguments, &templates)?;
    if call.output.is_json() {
        let made: Vec<_> = made.iter().map(issue_json::with_edges).collect();
        return call.output.value(made);
    }
    let mut page = format!("✓ Created {} issues from {path}:\n", made.len());
    for record in &made {
        let issue = &record.issue;
        let (id, title) = (issue.id(), text::title_of(issue));
        let (priority, kind) = (issue.priority(), issue.issue_type());
        push!(page, "  {id}: {title} [P{priority}, {kind}]\n");
    }
    call.output.text(&page)
}

/// Flags that are about one bead do not go with a file.
fn check(arguments: &Arguments) -> Result<(), Refusal> {
    if arguments.filled("graph").is_some() {
        return Err(Refusal::plain("cannot specify both --file and --graph"));
    }
    if !arguments.words.is_empty() {
        return Err(Refusal::plain("cannot specify both title and --file flag"));
    }
    if arguments.is_on("dry-run") {
        return Err(Refusal::plain(
            "--dry-run is not supported with --file flag",
        ));
    }
    let more = ["due", "defer", "silent", "estimate", "force"];
    let mut single = graph::SINGLE.iter().chain(&more);
    match single.find(|flag| arguments.has(flag)) {
        Some(flag) => Err(Refusal::plain(format!(
            "--{flag} is not valid with --file (markdown templates supply per-issue fields)"
        ))),
        None => Ok(()),
    }
}

fn read(path: &str) -> Result<Vec<Template>, String> {
    if path.contains("..") {
        return Err("invalid file path: directory traversal not allowed".to_owned());
    }
    let extension = Utf8Path::new(path).extension().map(str::to_lowercase);
    if !matches!(extension.as_deref(), Some("md" | "markdown")) {
        return Err("invalid file type: only .md and .markdown files are supported".to_owned());
    }
    let bytes = input::read_file(path)
        .map_err(|why| format!("cannot access file: {}", why.replacen("open ", "stat ", 1)))?;
    let text = String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<Template>, String> {
    let mut templates: Vec<Template> = Vec::new();
    let mut section: Option<(String, Vec<&str>)> = None;
    for line in text.lines() {
        if let Some(title) = heading(line, "##") {
            finish(&mut templates, section.take());
            templates.push(Template {
                title: title.to_owned(),
                ..Template::default()
            });
        } else if let Some(name) = heading(line, "###") {
            finish(&mut templates, section.take());
            section = Some((name.to_owned(), Vec::new()));
        } else if let Some((_, lines)) = &mut section {
            lines.push(line);
        } else if let Some(template) = templates.last_mut().filter(|_| !line.is_empty()) {
            if !template.description.is_empty() {
                template.description.push('\n');
            }
            template.description.push_str(line);
        }
    }
    finish(&mut templates, section);
    if templates.is_empty() {
        return Err("no issues found in markdown file (expected ## Issue Title format)".to_owned());
    }
    Ok(templates)
}

/// The words of a heading of exactly this level.
fn heading<'l>(line: &'l str, level: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(level)?;
    let words = rest.trim();
    (rest.starts_with(char::is_whitespace) && !words.is_empty()).then_some(words)
}

/// Puts a section into the bead that it belongs to. Unknown sections are left out.
fn finish(templates: &mut [Template], section: Option<(String, Vec<&str>)>) {
    let (Some(template), Some((name, lines))) = (templates.last_mut(), section) else {
        return;
    };
    let text = lines.join("\n").trim().to_owned();
    if text.is_empty() {
        return;
    }
    let list = || {
        let parts = text.split([',', ' ', '\n']).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    match name.to_lowercase().as_str() {
        "priority" => template.priority = input::priority(&text).ok().or(template.priority),
        "type" => {
            let kind = input::known_type(&text);
            if IssueType::known(&kind).is_some_and(IssueType::is_built_in) {
                template.kind = Some(kind);
            } else {
                template.warnings.push(format!(
                    "Warning: invalid issue type '{text}' in '{}', using default 'task'\n",
                    template.title
                ));
                template.kind = None;
            }
        }
        "description" => template.description = text,
        "design" => template.design = text,
        "acceptance criteria" | "acceptance" => template.acceptance = text,
        "assignee" => template.assignee = text,
        "labels" => template.labels = list(),
        "dependencies" | "deps" => template.dependencies = list(),
        _ => {}
    }
}

fn carry_out(
    opened: &mut Opened,
    arguments: &Arguments,
    templates: &[Template],
) -> Result<Vec<Record>, Refusal> {
    let failed = |why: &str| Refusal::plain(format!("creating issues from markdown: {why}"));
    let mut batch = Vec::new();
    let mut made = Vec::new();
    for (index, template) in templates.iter().enumerate() {
        if let Some(why) = input::wrong_title(&template.title) {
            return Err(failed(&format!(
                "create batch item {index}: validation failed: validation failed for issue : {why}"
            )));
        }
        let id = insert(opened, arguments, template, index, &mut batch)
            .map_err(|why| why.refusal(&failed))?;
        made.push(id);
    }
    opened.write(&batch).map_err(|error| match error {
        StoreError::Cycle(circle) => failed(&super::cycle(&circle)),
        error => failed(&error.to_string()),
    })?;
    Ok(opened.store.get(&made)?)
}

/// Why a bead of the file cannot be created.
enum Wrong {
    /// Found before anything is tried.
    Before(String),
    Other(String),
}

impl Wrong {
    fn refusal(self, failed: &dyn Fn(&str) -> Refusal) -> Refusal {
        match self {
            Self::Before(why) => Refusal::plain(why),
            Self::Other(why) => failed(&why),
        }
    }
}

/// Adds the bead to the batch, and gives its id.
fn insert(
    opened: &Opened,
    arguments: &Arguments,
    template: &Template,
    index: usize,
    batch: &mut Vec<Write>,
) -> Result<BeadId, Wrong> {
    let other = |why: String| Wrong::Other(why);
    let prefix = opened.prefix().map_err(|error| other(error.to_string()))?;
    // Two beads of one file may have the same words.
    let words = format!("{index}|{}", template.description);
    let id = ids::new_id(opened, &prefix, &template.title, &words)
        .map_err(|why| other(why.message().to_owned()))?;
    let edges = edges(opened, template, &id)?;
    let edges: Vec<_> = edges.iter().map(|edge| edge.to_value(&id)).collect();
    let kind = template.kind.as_deref();
    let document = NewBead::new(opened, id.as_str(), &template.title)
        .with("description", template.description.as_str())
        .with("design", template.design.as_str())
        .with("acceptance_criteria", template.acceptance.as_str())
        .with("assignee", template.assignee.as_str())
        .set("priority", template.priority.unwrap_or(2))
        .set("issue_type", kind.unwrap_or(IssueType::Task.as_str()))
        .with("ephemeral", arguments.is_on("ephemeral"))
        .with("labels", input::labels(template.labels.clone()))
        .with("dependencies", edges);
    let insertion = document.insertion();
    batch.push(insertion.map_err(|why| other(format!("item {index}: validation failed: {why}")))?);
    Ok(id)
}

fn edges(opened: &Opened, template: &Template, id: &BeadId) -> Result<Vec<Dependency>, Wrong> {
    let mut edges = Vec::new();
    let mut targets = HashSet::new();
    for given in &template.dependencies {
        let (kind, target) = match given.split_once(':') {
            Some((kind, target)) => (kind.trim(), target.trim()),
            None => (EdgeType::Blocks.as_str(), given.as_str()),
        };
        if kind.is_empty() || kind.len() > dep::MAX_TYPE {
            return Err(Wrong::Before(format!(
                "invalid dependency type {} for issue {}",
                quoted(kind),
                quoted(&template.title)
            )));
        }
        let found = opened.exact(target);
        let found = found.map_err(|error| Wrong::Other(error.to_string()))?;
        let Some(found) = found else {
            return Err(Wrong::Other(format!(
                "validation failed: create: dependencies could not be created: {id} -> {target} (target not found): not found"
            )));
        };
        if targets.insert(found.issue.id().clone()) {
            edges.push(dep::edge(opened, found.issue.id(), kind).map_err(Wrong::Other)?);
        }
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_bead_for_each_heading() {
        let text = "# Plan\nnothing\n\n## First\nline one\n\nline two\n### Priority\nP1\n### Labels\na, b c\n### Unknown\nx\n## Second\n### Type\nsaga\n";
        let templates = parse(text).unwrap();
        let [first, second] = templates.as_slice() else {
            panic!("{templates:?}");
        };
        assert_eq!(first.title, "First");
        assert_eq!(first.description, "line one\nline two");
        assert_eq!(first.priority, Some(1));
        assert_eq!(first.labels, ["a", "b", "c"]);
        assert_eq!((second.kind.as_deref(), second.warnings.len()), (None, 1));
        assert!(parse("no heading\n#### Deep\n##\n").is_err());
    }
}
