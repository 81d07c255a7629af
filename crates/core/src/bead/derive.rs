//! The fields that a plan does not spell out (contracts §3.5, §3.8 and B-20).

use std::collections::BTreeMap;

use crate::number::SprintId;
use crate::text::{name_from_title, slug};

use super::{AgentPath, AgentSpec, BranchName, Invalid, Model, Role};

/// The labels of a sprint's bead (B-10): its phase, its sprint, then the plan's own, each once.
pub fn labels(sprint: &SprintId, plan_labels: &[String]) -> Vec<String> {
    let mut labels = vec![
        format!("phase-{:02}", sprint.phase_number()),
        format!("sprint-{}", sprint.dashed()),
    ];
    for label in plan_labels {
        if !labels.contains(label) {
            labels.push(label.clone());
        }
    }
    labels
}

/// A bead's description (B-12): the first line of each prompt as a sentence.
pub fn description(prompts: &[String]) -> String {
    let mut text = String::new();
    let first_lines = prompts
        .iter()
        .filter_map(|prompt| prompt.trim().lines().next());
    for line in first_lines
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
    {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
        if !line.ends_with(['.', '!', '?', ':']) {
            text.push('.');
        }
    }
    text
}

/// The team of a sprint (B-13): the plan's, or else the default.
pub fn team_name(plan_team: Option<&str>, sprint: &SprintId, title: &str) -> String {
    match plan_team {
        Some(team) if !team.trim().is_empty() => team.to_owned(),
        _ => format!("sprint-{}-{}", sprint.dashed(), name_from_title(title)),
    }
}

/// The team of a generation 1 bead, which has none (B-4).
pub fn default_team_name(sprint: &SprintId) -> String {
    format!("sprint-{}", sprint.dashed())
}

/// What a QA agent is asked when nobody said (B-4, P-21).
pub fn default_qa_prompt(sprint: &SprintId, title: &str) -> String {
    format!("Validate sprint {sprint}: {title}")
}

/// The scrum-master of a sprint (B-14).
pub fn scrum_master(sprint: &SprintId, title: &str, default_model: Model) -> AgentSpec {
    let agent = AgentPath::scrum_master();
    AgentSpec {
        model: Some(default_model),
        context: Some(format!("Sprint {sprint} - {title}")),
        ..AgentSpec::new(Role::Polecat, agent)
    }
}

/// The spec of an agent that a plan names (B-15); `context` is what the plan says about it, or the title.
pub fn plan_agent(
    agent: AgentPath,
    model: Model,
    adapter: Option<&str>,
    context: &str,
) -> AgentSpec {
    AgentSpec {
        model: Some(model),
        context: Some(context.to_owned()),
        adapter: adapter.map(str::to_owned),
        ..AgentSpec::new(Role::Polecat, agent)
    }
}

/// The branch of a sprint by convention (B-27): `<prefix>/<id>-<slug>`.
pub fn branch_name(prefix: &str, sprint: &SprintId, name: &str) -> Result<BranchName, Invalid> {
    let slug = match slug(name) {
        empty if empty.is_empty() => "sprint".to_owned(),
        slug => slug,
    };
    let branch = BranchName::parse(&format!("{prefix}/{}-{slug}", sprint.dashed()))?;
    branch.check_git_safe()?;
    Ok(branch)
}

/// The worktree of a branch by convention (B-27): a sibling of the repository.
pub fn worktree_path(repo_name: &str, branch: &BranchName) -> String {
    format!("../{repo_name}-worktrees/{branch}")
}

/// Everything that may decide on an agent's model (B-20).
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelSources<'a> {
    /// The spec's own model.
    pub explicit: Option<Model>,
    /// `recommended_model` of the agent's file.
    pub front_matter: Option<&'a str>,
    /// The configured model of the agent's role.
    pub role_model: Option<&'a str>,
    /// The configured default.
    pub default_model: Option<&'a str>,
}

impl<'a> ModelSources<'a> {
    /// Takes the role's model out of the configured map.
    #[must_use]
    pub fn with_role_models(
        mut self,
        role: Role,
        role_models: &'a BTreeMap<String, String>,
    ) -> Self {
        self.role_model = role_models.get(role.as_str()).map(String::as_str);
        self
    }
}

/// Which of the sources decided, or was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelLevel {
    /// The spec itself.
    Explicit,
    /// The agent's file.
    FrontMatter,
    /// The configuration for the role.
    RoleModel,
    /// The configured default.
    DefaultModel,
    /// Nobody said anything usable.
    BuiltIn,
}

/// An unknown model, for a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedModel {
    /// Where it stood.
    pub level: ModelLevel,
    /// What it said.
    pub value: String,
}

/// The model that an agent runs with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedModel {
    /// The tier.
    pub model: Model,
    /// Who decided.
    pub level: ModelLevel,
    /// What was passed over on the way.
    pub skipped: Vec<SkippedModel>,
}

/// Resolves an agent's model (B-20); a value outside the enumeration is passed over.
pub fn resolve_model(sources: &ModelSources<'_>) -> ResolvedModel {
    let mut skipped = Vec::new();
    if let Some(model) = sources.explicit {
        return ResolvedModel {
            model,
            level: ModelLevel::Explicit,
            skipped,
        };
    }
    let levels = [
        (ModelLevel::FrontMatter, sources.front_matter),
        (ModelLevel::RoleModel, sources.role_model),
        (ModelLevel::DefaultModel, sources.default_model),
    ];
    for (level, value) in levels {
        let Some(value) = value else { continue };
        if let Ok(model) = Model::parse(value) {
            return ResolvedModel {
                model,
                level,
                skipped,
            };
        }
        skipped.push(SkippedModel {
            level,
            value: value.to_owned(),
        });
    }
    ResolvedModel {
        model: Model::Sonnet,
        level: ModelLevel::BuiltIn,
        skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprint(text: &str) -> SprintId {
        SprintId::parse(text).unwrap()
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn b_10_labels_name_phase_and_sprint() {
        for (id, extra, expected) in [
            ("3a.2b", &[][..], &["phase-03", "sprint-3a-2b"][..]),
            ("12.1", &[], &["phase-12", "sprint-12-1"]),
            ("100.1", &[], &["phase-100", "sprint-100-1"]),
            (
                "1.3",
                &["merge", "phase-01", "merge"],
                &["phase-01", "sprint-1-3", "merge"],
            ),
        ] {
            assert_eq!(labels(&sprint(id), &strings(extra)), strings(expected));
        }
    }

    #[test]
    fn b_12_the_description_is_the_first_lines_as_sentences() {
        let three = strings(&[
            "Create scripts/bead_schema.py with pydantic models",
            "Create scripts/validate-bead-schema.py CLI tool",
            "Create comprehensive test suite",
        ]);
        assert_eq!(
            description(&three),
            "Create scripts/bead_schema.py with pydantic models. \
             Create scripts/validate-bead-schema.py CLI tool. Create comprehensive test suite."
        );
        let odd = strings(&[
            "Done.",
            "Really? ",
            "Steps:\n- one\n- two",
            "",
            "Go!",
            "\n x",
        ]);
        assert_eq!(description(&odd), "Done. Really? Steps: Go! x.");
        assert_eq!(description(&[]), "");
    }

    #[test]
    fn b_13_a_sprint_has_its_own_team_unless_the_plan_names_one() {
        let id = sprint("1.2a");
        assert_eq!(
            team_name(None, &id, "Example Work Bead"),
            "sprint-1-2a-example-work-bead"
        );
        assert_eq!(team_name(Some("ui"), &id, "X"), "ui");
        assert_eq!(team_name(Some(" "), &id, "X"), "sprint-1-2a-x");
        assert_eq!(default_team_name(&id), "sprint-1-2a");
    }

    #[test]
    fn b_14_the_scrum_master_is_derived() {
        let spec = scrum_master(&sprint("1.2"), "Auth", Model::Opus);
        assert_eq!(
            serde_json::to_value(&spec).unwrap(),
            serde_json::json!({
                "role": "polecat",
                "agent": ".claude/agents/beads-ralph-scrum-master.md",
                "model": "opus",
                "context": "Sprint 1.2 - Auth",
            })
        );
    }

    #[test]
    fn b_15_plan_agents_become_specs() {
        let path = AgentPath::for_name("dev").unwrap();
        let spec = plan_agent(path, Model::Haiku, Some("codex"), "Title");
        assert_eq!(spec.agent.as_str(), ".claude/agents/dev.md");
        assert_eq!(
            (spec.model, spec.adapter.as_deref()),
            (Some(Model::Haiku), Some("codex"))
        );
        assert_eq!(spec.context.as_deref(), Some("Title"));
        assert!(AgentPath::for_name("../dev").is_err());
    }

    #[test]
    fn b_27_branches_and_worktrees_by_convention() {
        for (id, name, branch) in [
            ("1.1", "Project Setup", "feature/1-1-project-setup"),
            ("3a.2b", "API Validation", "feature/3a-2b-api-validation"),
            ("1.1", "🚀", "feature/1-1-sprint"),
        ] {
            let derived = branch_name("feature", &sprint(id), name).unwrap();
            assert_eq!(derived.as_str(), branch);
            assert_eq!(
                worktree_path("my-app", &derived),
                format!("../my-app-worktrees/{branch}")
            );
        }
        assert!(branch_name("", &sprint("1.1"), "x").is_err());
        assert!(branch_name("a b", &sprint("1.1"), "x").is_err());
    }

    #[test]
    fn b_20_the_first_usable_model_wins() {
        let roles = BTreeMap::from([("polecat".to_owned(), "haiku".to_owned())]);
        let all = ModelSources {
            explicit: Some(Model::Opus),
            front_matter: Some("sonnet"),
            default_model: Some("opus"),
            ..ModelSources::default()
        }
        .with_role_models(Role::Polecat, &roles);
        let model = |sources: ModelSources<'_>| resolve_model(&sources).model;
        assert_eq!(model(all), Model::Opus);
        let file = ModelSources {
            explicit: None,
            ..all
        };
        assert_eq!(model(file), Model::Sonnet);
        let config = ModelSources {
            front_matter: None,
            ..file
        };
        assert_eq!(model(config), Model::Haiku);
        let default = config.with_role_models(Role::Mayor, &roles);
        assert_eq!(model(default), Model::Opus);
        assert_eq!(model(ModelSources::default()), Model::Sonnet);
    }

    #[test]
    fn b_20_bad_values_are_passed_over_and_named() {
        let resolved = resolve_model(&ModelSources {
            front_matter: Some("gpt"),
            role_model: Some("Opus"),
            default_model: Some("haiku"),
            ..ModelSources::default()
        });
        assert_eq!(
            (resolved.model, resolved.level),
            (Model::Haiku, ModelLevel::DefaultModel)
        );
        let skipped: Vec<_> = resolved
            .skipped
            .iter()
            .map(|skip| skip.value.as_str())
            .collect();
        assert_eq!(skipped, ["gpt", "Opus"]);
    }
}
