//! Large plans in the style of those that people write.
//!
//! The plans use what the numbering offers (sequences, parallel sprints, merges of sprints and of
//! phases) and every field that a sprint may need. They are free of errors on purpose: what a broken
//! plan says is the business of the tests of each finding.

use std::fmt::{self, Write as _};

const AREAS: &[&str] = &[
    "account service",
    "billing engine",
    "event log",
    "search index",
    "session cache",
    "upload gateway",
    "audit trail",
    "report builder",
    "job scheduler",
    "permission model",
    "import pipeline",
];

const VERBS: &[&str] = &[
    "Design",
    "Implement",
    "Extend",
    "Harden",
    "Document",
    "Measure",
    "Simplify",
];

const MODULES: &[&str] = &[
    "model", "storage", "routes", "parser", "limits", "metrics", "retry", "schema", "audit",
];

const AGENTS: &[&str] = &[
    "rust-backend-dev",
    "python-backend-dev",
    "web-dev",
    "tech-writer",
];

const MODELS: &[&str] = &["haiku", "sonnet", "opus"];

const ESTIMATES: &[&str] = &["45m", "1h30m", "2h", "3h15m"];

/// A plan of exactly `n_sprints` complete sprints, which compiles without errors or warnings as long as
/// agent files are not checked.
///
/// A phase has about ten to twenty sprints: sequences, parallel groups of two or three, and a merge
/// after each group. Every fifth phase runs as two tracks that a third phase merges. The text depends
/// on the number alone, and a smaller plan is the beginning of a larger one.
pub fn generated_plan(n_sprints: usize) -> String {
    let mut plan = Writer::default();
    plan.preamble();
    let mut phase = String::new();
    for (n, sprint) in outline(n_sprints).iter().enumerate() {
        if sprint.phase != phase {
            phase.clone_from(&sprint.phase);
            plan.phase(&phase, n);
        }
        plan.sprint(sprint, n);
    }
    plan.text
}

/// The number and the title of a sprint.
struct Sprint {
    phase: String,
    part: String,
    title: String,
}

fn outline(n_sprints: usize) -> Vec<Sprint> {
    let mut sprints = Vec::with_capacity(n_sprints + 20);
    let mut phase = 0;
    while sprints.len() < n_sprints {
        phase += 1;
        if phase % 5 == 3 {
            add_phase(&format!("{phase}a"), 6, &mut sprints);
            add_phase(&format!("{phase}b"), 7, &mut sprints);
            add_phase(&format!("{phase}ab"), 3, &mut sprints);
        } else {
            add_phase(&phase.to_string(), 8 + phase % 4, &mut sprints);
        }
    }
    sprints.truncate(n_sprints);
    sprints
}

// Steps of a phase in turn: a sprint, a parallel group, its merge, a sprint. Every third group is
// merged inside its own number, as `2abc`.
fn add_phase(phase: &str, n_steps: usize, sprints: &mut Vec<Sprint>) {
    for step in 1..=n_steps {
        let n = sprints.len();
        let (area, verb) = (pick(AREAS, n), pick(VERBS, n));
        let mut add = |part: String, title: String| {
            sprints.push(Sprint {
                phase: phase.to_owned(),
                part,
                title,
            });
        };
        match step % 4 {
            2 => {
                let letters = if n.is_multiple_of(2) { "ab" } else { "abc" };
                for (at, letter) in letters.chars().enumerate() {
                    let module = pick(MODULES, n + at);
                    add(
                        format!("{step}{letter}"),
                        format!("{verb} the {module} of the {area} (Parallel)"),
                    );
                }
                if n.is_multiple_of(3) {
                    add(
                        format!("{step}{letters}"),
                        format!("Merge the parts of the {area}"),
                    );
                }
            }
            3 => add(step.to_string(), format!("Integration of the {area}")),
            _ => add(step.to_string(), format!("{verb} the {area}")),
        }
    }
}

fn pick<'w>(words: &[&'w str], n: usize) -> &'w str {
    words[n % words.len()]
}

#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn line(&mut self, line: fmt::Arguments<'_>) {
        self.text
            .write_fmt(line)
            .expect("writing to a string cannot fail");
        self.text.push('\n');
    }

    fn preamble(&mut self) {
        self.line(format_args!(
            "# Implementation Plan\n\n\
             This plan was generated. It is read from top to bottom; sprints with the same number and\n\
             different letters run side by side.\n\n\
             | Term | Meaning |\n|---|---|\n\
             | phase | a group of sprints with one goal |\n\
             | sprint | one unit of work on a branch of its own |\n"
        ));
    }

    fn phase(&mut self, phase: &str, n: usize) {
        let (area, next) = (pick(AREAS, n), pick(AREAS, n + 3));
        self.line(format_args!(
            "## Phase {phase}: The {area}\n\n\
             The {area} is the base of what follows. At the end of this phase it can be used from the\n\
             {next}, *without* the flag that hides it today; see [the notes](docs/phase-{phase}.md).\n"
        ));
    }

    fn sprint(&mut self, sprint: &Sprint, n: usize) {
        let Sprint { phase, part, title } = sprint;
        let branch = format!("feature/{phase}-{part}-{}", pick(MODULES, n));
        self.line(format_args!(
            "### Sprint {phase}.{part}: {title}\n\n\
             **Worktree**: `../project-worktrees/{branch}`\n\
             **Branch**: `{branch}`\n\
             **Source Branch**: `develop` (after the sprints before it are merged)\n\
             **Estimate**: {}\n",
            pick(ESTIMATES, n),
        ));
        self.line(format_args!(
            "The work starts from what the earlier sprints left behind. Keep the public interface of the\n\
             {} as it is, and say in the pull request what was measured.\n",
            pick(AREAS, n),
        ));
        self.agents(n);
        self.tasks(n);
        self.checks(n);
        self.line(format_args!("---\n"));
    }

    fn agents(&mut self, n: usize) {
        self.line(format_args!(
            "**Dev Agents**:\n- `{}` ({})",
            pick(AGENTS, n),
            pick(MODELS, n + 1)
        ));
        if n % 3 == 1 {
            self.line(format_args!(
                "- `{}` ({}) - Review the `{}` module before it is handed over",
                pick(AGENTS, n + 1),
                pick(MODELS, n),
                pick(MODULES, n)
            ));
        }
        self.line(format_args!(
            "\n**QA Agents**:\n\
             - `qa-tests` (haiku) - Run the unit and integration tests, all must pass (shared - once)\n\
             - `qa-review` (sonnet) - Check the change against the acceptance criteria of the {}\n",
            pick(AREAS, n)
        ));
    }

    fn tasks(&mut self, n: usize) {
        self.line(format_args!("**Tasks**:"));
        for task in 0..4 + n % 3 {
            let (module, other) = (pick(MODULES, n + task), pick(MODULES, n + 2 * task + 1));
            let (verb, area) = (pick(VERBS, n + task), pick(AREAS, n + task));
            let mark = if task == 0 { "[x] " } else { "" };
            self.line(format_args!(
                "- {mark}{verb} `src/{module}.rs` so that the {area} no longer depends on `{other}`"
            ));
            if (n + task).is_multiple_of(3) {
                self.line(format_args!(
                    "  - keep the order of the records that `{module}::read` returns\n\
                     \x20 - add tests for empty, huge and malformed input"
                ));
            }
            if (n + task) % 8 == 5 {
                self.line(format_args!(
                    "  which is what the first version did, at the cost of a copy of each record"
                ));
            }
        }
        self.line(format_args!(""));
        if n % 6 == 2 {
            self.line(format_args!(
                "```rust\n\
                 // ### Sprint 0.0: not a heading, because it stands in a fence\n\
                 pub fn read(input: &str) -> Result<Vec<Record>, Fault> {{\n    \
                     input.lines().map(Record::parse).collect()\n\
                 }}\n\
                 ```\n"
            ));
        }
    }

    fn checks(&mut self, n: usize) {
        let (module, area) = (pick(MODULES, n), pick(AREAS, n));
        self.line(format_args!(
            "**Acceptance Criteria**:\n\
             - The {area} answers within 50 ms for 10,000 records\n\
             - No warning is left in `src/{module}.rs`\n\
             - The notes of the release name every changed default\n"
        ));
        self.line(format_args!(
            "**Verifiers**:\n\
             - unit tests: `cargo test --package {module}`\n\
             \x20 - timeout: 5m\n\
             \x20 - stdout contains: `test result: ok`\n\
             - lints: `cargo clippy --all-targets -- -D warnings`\n\
             \x20 - on failure: continue\n"
        ));
    }
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::bead::{IssueType, Timestamp};
    use beads_ralph_core::compile::{
        AgentCatalog, AgentCheck, CompileSettings, Compiled, KnownIds, MergeDetection, compile,
        plan_graph,
    };
    use beads_ralph_core::plan::{Filter, parse};

    use super::*;

    fn compiled(text: &str) -> Compiled {
        let agents = AgentCatalog::default();
        let settings = CompileSettings {
            plan_file: "plan.md",
            text: None,
            rig: "beads-ralph",
            now: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
            agents: &agents,
            agent_check: AgentCheck::Off,
            merge_detection: MergeDetection::Both,
            skip_completed: false,
            has_default_check: false,
            require_machine_check: true,
            known_ids: KnownIds::new(),
            formula_sprints: beads_ralph_core::compile::FormulaSprints::Ordinary,
        };
        let plan = parse(text);
        assert_eq!(plan.problems, []);
        let graph = plan_graph(&plan, &settings.known_ids).unwrap();
        assert_eq!(graph.findings, []);
        compile(&plan, &graph, &Filter::default(), &settings).unwrap()
    }

    #[test]
    fn plans_of_any_size_compile_without_a_finding() {
        for n_sprints in (1..=40).chain([500]) {
            let compiled = compiled(&generated_plan(n_sprints));
            assert_eq!(compiled.findings, []);
            assert_eq!(compiled.beads.len(), n_sprints);
        }
    }

    #[test]
    fn plans_have_merges_parallel_groups_and_full_bodies() {
        let compiled = compiled(&generated_plan(500));
        let n_merges = compiled
            .beads
            .iter()
            .filter(|bead| bead.issue_type == IssueType::Merge)
            .count();
        assert!((40..160).contains(&n_merges), "{n_merges}");
        let sprints = |part: &str| {
            let has = |id: &str| id.contains(part);
            compiled
                .beads
                .iter()
                .filter(|bead| has(bead.metadata.sprint.as_str()))
                .count()
        };
        assert!(sprints("c") > 10 && sprints("ab.") > 10 && sprints("abc") > 0);
        for bead in &compiled.beads {
            let metadata = &bead.metadata;
            assert_eq!(metadata.qa_agents.len(), 2);
            assert!((4..=6).contains(&metadata.dev_prompts.len()));
            assert_eq!(metadata.dod.as_ref().unwrap().verifiers.len(), 2);
            assert_eq!(metadata.acceptance_criteria.as_ref().unwrap().len(), 3);
        }
    }

    #[test]
    fn a_smaller_plan_is_the_beginning_of_a_larger_one() {
        assert!(generated_plan(60).starts_with(&generated_plan(25)));
        assert!(!generated_plan(0).contains("### Sprint"));
    }
}
