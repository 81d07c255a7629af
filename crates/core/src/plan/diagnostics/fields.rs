//! Findings about the fields of a sprint: missing, misspelt or repeated ones.

use crate::bead::{branch_name, worktree_path};
use crate::diag::{Diagnostic, ErrorCode, WarningCode};
use crate::plan::field::{FieldValue, RequiredField};
use crate::plan::{Field, Sprint};
use crate::text::{Span, Spanned, excerpt, name_from_title};

/// A sprint that lacks what every bead needs (P-22).
/// Points at the heading, names every missing section, and at each place where one was probably meant.
pub(crate) fn missing_sections(sprint: &Sprint, missing: &[RequiredField]) -> Diagnostic {
    let names: Vec<String> = missing
        .iter()
        .map(|field| format!("`{}`", field.field().name()))
        .collect();
    let message = format!(
        "sprint {} (line {}) has no {}",
        excerpt(sprint.id.value.as_str()),
        sprint.line,
        names.join(", ")
    );
    let mut finding = Diagnostic::new(ErrorCode::ParseMissingSection, sprint.heading.span, message);
    for misspelt in sprint
        .body()
        .misspelt
        .iter()
        .filter(|misspelt| is_among(misspelt.value, missing))
    {
        let name = misspelt.value.name();
        finding = finding
            .also(misspelt.span, format!("did you mean `{name}`?"))
            .certain_fix(misspelt.span, name);
    }
    for empty in sprint
        .body()
        .fields
        .iter()
        .filter(|field| is_among(field.value, missing))
    {
        let expected = if matches!(empty.value.value(), FieldValue::List(_)) {
            "expected `- ` items on the lines below"
        } else {
            "the value is empty"
        };
        finding = finding.also(empty.span, expected);
    }
    if missing == RequiredField::ALL {
        // One fixed text for headings without a body, of which a plan may have very many.
        return finding
            .help("give it the fields of a sprint; `beads-ralph plan new` writes an example");
    }
    finding.help(help(sprint, missing))
}

fn is_among(field: Field, missing: &[RequiredField]) -> bool {
    missing.iter().any(|required| required.field() == field)
}

fn help(sprint: &Sprint, missing: &[RequiredField]) -> String {
    let is_misspelt = |field: &RequiredField| {
        sprint
            .body()
            .misspelt
            .iter()
            .any(|misspelt| misspelt.value == field.field())
    };
    if missing.iter().all(is_misspelt) {
        return "correct the name".to_owned();
    }
    let mut lines = String::from("add below the heading:");
    for field in missing {
        lines.push('\n');
        lines.push_str(&example(sprint, *field));
    }
    lines
}

/// What the section could look like, with names derived for this sprint (B-27).
fn example(sprint: &Sprint, field: RequiredField) -> String {
    let branch = branch_name(
        "feature",
        &sprint.id.value,
        &name_from_title(&sprint.title.value),
    )
    .ok();
    let value = match (field, &branch) {
        (RequiredField::Worktree, Some(branch)) => {
            format!(" `{}`", excerpt(&worktree_path("my-repo", branch)))
        }
        (RequiredField::Branch, Some(branch)) => format!(" `{}`", excerpt(branch.as_str())),
        (RequiredField::Worktree | RequiredField::Branch, None) => String::new(),
        (RequiredField::SourceBranch, _) => " `main`".to_owned(),
        (RequiredField::DevAgents, _) => "\n- `claude` (sonnet)".to_owned(),
        (RequiredField::QaAgents, _) => "\n- `claude` (haiku) - what to check".to_owned(),
        (RequiredField::Tasks, _) => "\n- what to do".to_owned(),
    };
    format!("**{}**:{value}", field.field().name())
}

/// A gate that nothing decides about (G-1).
/// Points at the heading.
pub(crate) fn gate_without_verifiers(sprint: &Sprint) -> Diagnostic {
    let message = format!(
        "sprint {} is a gate and has no `Verifiers`, so it could never be green",
        excerpt(sprint.id.value.as_str())
    );
    Diagnostic::new(ErrorCode::ParseMissingSection, sprint.heading.span, message)
        .help("add, with your own command:\n**Verifiers**:\n- tests: `cargo test`")
}

/// A field name that is almost a known one, and is therefore ignored (P-14).
/// Points at the name.
pub(crate) fn misspelt_field(misspelt: &Spanned<Field>) -> Diagnostic {
    let name = misspelt.value.name();
    Diagnostic::new(
        WarningCode::MisspeltField,
        misspelt.span,
        format!("this field is ignored: did you mean `{name}`?"),
    )
    .label("unknown field")
    .help(format!("write `**{name}**:`"))
    .possible_fix(misspelt.span, name)
}

/// A field that is given twice in one section (P-15).
/// Points at the second one.
pub(crate) fn repeated_field(field: Field, second: Span, first: Span) -> Diagnostic {
    let message = format!("`{}` is given twice in this sprint", field.name());
    Diagnostic::new(ErrorCode::ParseMarkdown, second, message)
        .label("this one is ignored")
        .also(first, "first given here")
        .help("keep one of the two")
}

/// Text on the line of a list's name, which belongs to no item (P-13).
/// Points at the text.
pub(crate) fn text_beside_list(span: Span) -> Diagnostic {
    Diagnostic::new(
        WarningCode::IgnoredText,
        span,
        "this text is not part of the list, and is ignored",
    )
    .label("ignored")
    .help("put it on a separate line, after `- `")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_22_missing_and_empty_sections() {
        check(
            "### Sprint 1.1: A\n",
            &["1:1 PARSE.MISSING_SECTION «### Sprint 1.1: A»"],
        );
        check(
            &complete_plan("").replace("- do it\n", "\n- \n"),
            &["1:1 PARSE.MISSING_SECTION «### Sprint 1.1: Complete»"],
        );
        let message = &findings("### Sprint 1.1: A\n")[0].message;
        assert!(
            message.starts_with("sprint 1.1 (line 1) has no `Worktree`, `Branch`"),
            "{message}"
        );
    }

    #[test]
    fn p_22_a_misspelt_section_is_shown_and_fixed() {
        let plan = complete_plan("").replace("**Dev Agents**", "**Dev Agent**");
        check(
            &plan,
            &["1:1 PARSE.MISSING_SECTION «### Sprint 1.1: Complete»"],
        );
        check_fix(&plan, &complete_plan(""));
    }

    const GATE: &str = "### Sprint 1.1: Green\n\n**Worktree**: `../w`\n\n**Branch**: `gate/green`\n\n**Source Branch**: `main`\n\n**Type**: gate\n";

    #[test]
    fn g_1_a_gate_needs_verifiers_and_nobody_who_works() {
        check(GATE, &["1:1 PARSE.MISSING_SECTION «### Sprint 1.1: Green»"]);
        check(&format!("{GATE}\n**Verifiers**:\n- tests: `true`\n"), &[]);
    }

    #[test]
    fn p_14_a_misspelt_field_is_ignored_with_a_warning() {
        let plan = complete_plan("") + "\n**Verifier**:\n- `make`\n";
        let line = plan.lines().count() - 1;
        check(&plan, &[&format!("{line}:3 misspelt-field «Verifier»")]);
        check_fix(&plan, &plan);
    }

    #[test]
    fn p_15_a_repeated_field() {
        let plan = complete_plan("") + "\n**Branch**: `b`\n";
        let line = plan.lines().count();
        check(&plan, &[&format!("{line}:3 PARSE.MARKDOWN «Branch»")]);
    }

    #[test]
    fn p_13_text_beside_a_list_is_reported() {
        let plan = complete_plan("").replace("**Tasks**:", "**Tasks**: do this first");
        check(&plan, &["13:12 ignored-text «do this first»"]);
        check(
            &complete_plan("").replace("**Tasks**:", "**Tasks**: (in order)"),
            &[],
        );
    }
}
