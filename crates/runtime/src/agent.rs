//! Running agents: finding their programs, asking before a run whether all is there, and running them as units.
//!
//! What is known about an agent program is data ([`core::agent`](beads_ralph_core::agent), [`adapters`](crate::adapters)). [`resolve`] turns what a bead says into that data, [`run`] makes a unit of it, and
//! [`probe`] asks the program that is installed what it can do.

mod probe;
mod run;

use beads_ralph_core::agent::{Adapter, Agent, AgentFiles, Capability, Permissions, Placeholder};
use beads_ralph_core::bead::{AgentSpec, ModelLevel, ModelSources, ResolvedModel, resolve_model};
use beads_ralph_core::text::excerpt;
use camino::{Utf8Path, Utf8PathBuf};

pub use self::probe::{Login, Probed, Support, probe};
pub use self::run::{
    AgentError, DRAIN, Job, Observer, Quiet, new_session_id, run, session_id_from,
};
use crate::agent_files::{self, Definition};
use crate::config::Config;
use crate::os::env;
use crate::repo::shown;

/// How an adapter names this very program.
const OWN_PROGRAM: &str = "{self}";

/// A problem to fix before a run, or a warning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub is_error: bool,
    pub message: String,
    pub action: String,
}

impl Finding {
    pub(crate) fn error(message: String, action: impl Into<String>) -> Self {
        Self {
            is_error: true,
            message,
            action: action.into(),
        }
    }

    fn warning(message: String, action: impl Into<String>) -> Self {
        Self {
            is_error: false,
            ..Self::error(message, action)
        }
    }
}

#[derive(Debug)]
pub struct Resolved<'c> {
    pub adapter: &'c Adapter,
    pub program: Utf8PathBuf,
    /// Who it is; nobody in particular for the built-in agent.
    pub agent: Option<Agent>,
    /// The tier of its model, and who decided on it.
    pub model: ResolvedModel,
    pub warnings: Vec<Finding>,
}

/// What an agent comes to in a repository, or everything that is in the way.
pub fn resolve<'c>(
    config: &'c Config,
    root: &Utf8Path,
    spec: &AgentSpec,
) -> Result<Resolved<'c>, Vec<Finding>> {
    let mut findings = Vec::new();
    let definition = agent_files::definition(root, &spec.agent);
    if definition.is_none() && !spec.agent.is_built_in() {
        let path = excerpt(spec.agent.as_str());
        findings.push(Finding::error(
            format!("Agent path '{path}' does not exist in .claude/agents/"),
            "add the file, or name another agent in the plan",
        ));
    }
    let model = model(config, spec, definition.as_ref(), &mut findings);
    let adapter = match adapter_for(config, root, spec) {
        Ok(adapter) => adapter,
        Err(finding) => {
            findings.push(finding);
            return Err(findings);
        }
    };
    if let Some(definition) = &definition {
        known_by_name(adapter, root, definition, &mut findings);
    }
    fitting(config, adapter, &model, &mut findings);
    let executable = spec.executable.as_deref().unwrap_or(&adapter.executable);
    let program = program(root, executable);
    if program.is_none() {
        findings.push(missing(adapter, root, executable));
    }
    match program {
        Some(program) if findings.iter().all(|finding| !finding.is_error) => Ok(Resolved {
            adapter,
            program,
            agent: definition.map(|definition| Agent {
                name: definition.called().to_owned(),
                instructions: definition.instructions,
            }),
            model,
            warnings: findings,
        }),
        _ => Err(findings),
    }
}

/// Everything that is in the way of running some agents, and what is worth knowing about them; each once, errors first. The
/// mode is the one that holds for this run, wherever it was chosen.
pub fn ready<'s>(
    config: &Config,
    root: &Utf8Path,
    permissions: Option<Permissions>,
    specs: impl IntoIterator<Item = &'s AgentSpec>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if permissions.is_none() {
        let modes = Permissions::ALL.map(Permissions::as_str).join("|");
        findings.push(Finding::error(
            "no permission mode is set for agents".to_owned(),
            format!("choose with `beads-ralph init --permissions {modes}`"),
        ));
    }
    for spec in specs {
        match resolve(config, root, spec) {
            Ok(resolved) => findings.extend(resolved.warnings),
            Err(found) => findings.extend(found),
        }
        if let (Some(mode), Ok(adapter)) = (permissions, adapter_for(config, root, spec))
            && !adapter.permissions.contains_key(&mode)
        {
            findings.push(without_mode(adapter, mode));
        }
    }
    findings.sort_by(|one, other| {
        (!one.is_error, &one.message).cmp(&(!other.is_error, &other.message))
    });
    findings.dedup();
    findings
}

/// Whether the program of an agent can be told what it may do.
pub fn takes_modes(config: &Config, root: &Utf8Path, spec: &AgentSpec) -> bool {
    adapter_for(config, root, spec).is_ok_and(|adapter| {
        let mut modes = adapter.permissions.values();
        modes.any(|arguments| !arguments.is_empty())
    })
}

/// Where a program is: a path is one from the repository's root, a name is looked for on the PATH.
pub fn program(root: &Utf8Path, executable: &str) -> Option<Utf8PathBuf> {
    if executable == OWN_PROGRAM {
        return Utf8PathBuf::from_path_buf(env::own_program().ok()?).ok();
    }
    if !executable.contains('/') {
        return env::find_program(executable);
    }
    let path = root.join(executable);
    env::is_executable(path.as_std_path()).then_some(path)
}

/// The account that an agent uses: that of its adapter. An agent without an adapter gets a separate account, so that nothing else waits for it.
pub fn account(config: &Config, root: &Utf8Path, spec: &AgentSpec) -> String {
    match adapter_for(config, root, spec) {
        Ok(adapter) => adapter.name.clone(),
        Err(_) => spec.adapter.clone().unwrap_or_default(),
    }
}

pub fn is_installed(root: &Utf8Path, adapter: &Adapter) -> bool {
    program(root, &adapter.executable).is_some()
}

/// The adapter that an agent is run with: the one that is named, else the one for its program, else the default (Z-30).
fn adapter_for<'c>(
    config: &'c Config,
    root: &Utf8Path,
    spec: &AgentSpec,
) -> Result<&'c Adapter, Finding> {
    let agents = &config.agents;
    if let Some(name) = &spec.adapter {
        return agents.get(name).ok_or_else(|| {
            let (hint, name) = (agents.meant(name), excerpt(name));
            Finding::error(
                format!("unknown agent program `{name}`{hint}"),
                format!("name another one, or describe it in beads-ralph.yaml under agents.adapters.{name}"),
            )
        });
    }
    let executable = spec.executable.as_deref().map(Utf8Path::new);
    let by_program = executable.and_then(|program| agents.get(program.file_stem()?));
    Ok(by_program.unwrap_or_else(|| agents.default(|adapter| is_installed(root, adapter))))
}

fn model(
    config: &Config,
    spec: &AgentSpec,
    definition: Option<&Definition>,
    findings: &mut Vec<Finding>,
) -> ResolvedModel {
    let sources = ModelSources {
        explicit: spec.model,
        front_matter: definition.and_then(|definition| definition.recommended_model.as_deref()),
        default_model: config.default_model.as_deref(),
        ..ModelSources::default()
    };
    let resolved = resolve_model(&sources.with_role_models(spec.role, &config.role_models));
    for skipped in &resolved.skipped {
        let place = match skipped.level {
            ModelLevel::FrontMatter => {
                format!("recommended_model in {}", excerpt(spec.agent.as_str()))
            }
            ModelLevel::RoleModel => {
                format!("agents.role_models.{} in beads-ralph.yaml", spec.role)
            }
            ModelLevel::DefaultModel => "agents.default_model in beads-ralph.yaml".to_owned(),
            ModelLevel::Explicit | ModelLevel::BuiltIn => "the bead".to_owned(),
        };
        let value = excerpt(&skipped.value);
        findings.push(Finding::warning(
            format!("{place} says '{value}', which is not a model; it is ignored"),
            "write haiku, sonnet or opus",
        ));
    }
    resolved
}

/// A program that finds agents by their names must be able to find this one.
fn known_by_name(
    adapter: &Adapter,
    root: &Utf8Path,
    definition: &Definition,
    findings: &mut Vec<Finding>,
) {
    if adapter.agents != AgentFiles::ByName {
        return;
    }
    let path = excerpt(&definition.path);
    for (key, value) in [
        ("name", &definition.name),
        ("description", &definition.description),
    ] {
        if value.is_none() {
            findings.push(Finding::error(
                format!(
                    "{path} has no `{key}` in its front matter, so {} cannot find it",
                    adapter.name
                ),
                format!("add `{key}: …` between two lines of `---` at its top"),
            ));
        }
    }
    let twins = agent_files::called(root, definition.called());
    let twins: Vec<String> = twins
        .into_iter()
        .filter(|twin| *twin != definition.path)
        .collect();
    if !twins.is_empty() {
        let twins = excerpt(&twins.join(", "));
        findings.push(Finding::error(
            format!(
                "{path} and {twins} have the same agent name, so {} could use either",
                adapter.name
            ),
            "give each a different `name`",
        ));
    }
}

fn fitting(config: &Config, adapter: &Adapter, model: &ResolvedModel, findings: &mut Vec<Finding>) {
    let name = &adapter.name;
    let tier = model.model;
    if adapter.takes(Placeholder::Model) && !adapter.models.contains_key(&tier) {
        findings.push(Finding::warning(
            format!("{name} has no model for {tier}, so it uses its default"),
            format!("name one in beads-ralph.yaml: agents.adapters.{name}.models.{tier}"),
        ));
    }
    if adapter.verified.is_none() {
        findings.push(Finding::warning(
            format!("the adapter for {name} was written from its documentation and never tested"),
            "check what it does, and report problems",
        ));
    }
    let has_cap = config.budgets.attempt.usd.is_some() && !adapter.can(Capability::Budget);
    if has_cap && !adapter.reports_cost() && adapter.price.of(Some(tier)).is_none() {
        findings.push(Finding::warning(
            format!("{name} does not report its cost, so limits in USD do not apply to it"),
            format!("give its price in beads-ralph.yaml: agents.adapters.{name}.price"),
        ));
    }
}

fn missing(adapter: &Adapter, root: &Utf8Path, executable: &str) -> Finding {
    let name = &adapter.name;
    let place = if executable.contains('/') {
        format!("no program at {}", shown(Utf8Path::new(executable)))
    } else {
        format!("program `{}` not found in PATH", excerpt(executable))
    };
    if executable.contains('/') && root.join(executable).is_file() {
        let path = shown(Utf8Path::new(executable));
        return Finding::error(
            format!("{name} cannot be started: {path} is not executable"),
            format!("chmod +x {path}"),
        );
    }
    Finding::error(
        format!("{name} is not installed: {place}"),
        format!(
            "install it, or say where it is in beads-ralph.yaml: agents.adapters.{name}.executable"
        ),
    )
}

fn without_mode(adapter: &Adapter, mode: Permissions) -> Finding {
    let modes: Vec<&str> = adapter
        .permissions
        .keys()
        .map(|mode| mode.as_str())
        .collect();
    Finding::error(
        format!(
            "{} does not support `permissions: {}`",
            adapter.name,
            mode.as_str()
        ),
        format!("choose another agent, or one of: {}", modes.join(", ")),
    )
}
