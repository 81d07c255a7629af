//! A plan as it was read: its text, its path, and what the repository around it says.

use std::io;

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::compile::{
    AgentCatalog, AgentCheck, FormulaSprints, KnownIds, MergeDetection, Settings,
};
use beads_ralph_core::diag::Diagnostic;
use beads_ralph_core::plan::{Plan, invalid_utf8, parse};
use beads_ralph_core::text::{LineIndex, Position, Span};
use beads_ralph_runtime::config::{self, Config};
use beads_ralph_runtime::{agent_files, os::clock, os::env, os::files, repo, store};
use camino::{Utf8Path, Utf8PathBuf};

use crate::args::{MergeArg, RuleArgs};
use crate::failure::Failure;

/// A plan's text and where it came from.
#[derive(Debug)]
pub(crate) struct PlanSource {
    path: Utf8PathBuf,
    shown: String,
    text: String,
    index: LineIndex,
    not_utf8: Option<Diagnostic>,
}

impl PlanSource {
    /// Reads a plan from a file, or from standard input for `-`. Bytes that are no UTF-8 are shown as
    /// replacement characters, so that the rest can be checked all the same.
    pub(crate) fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let is_stdin = path == "-";
        let bytes = if is_stdin {
            files::read_limited(io::stdin().lock(), path)?
        } else {
            files::read(path)?
        };
        let shown = if is_stdin {
            "<stdin>".to_owned()
        } else {
            repo::shown(path)
        };
        let (text, not_utf8) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                (
                    String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    Some(invalid_utf8(offset)),
                )
            }
        };
        Ok(Self {
            path: path.to_owned(),
            shown,
            index: LineIndex::new(&text),
            text,
            not_utf8,
        })
    }

    /// A plan that is not in a file.
    pub(crate) fn from_text(shown: &str, text: &str) -> Self {
        Self {
            path: Utf8PathBuf::from(shown),
            shown: shown.to_owned(),
            index: LineIndex::new(text),
            text: text.to_owned(),
            not_utf8: None,
        }
    }

    /// Parses the plan.
    pub(crate) fn parse(&self) -> Plan {
        let mut plan = parse(&self.text);
        plan.problems.splice(0..0, self.not_utf8.clone());
        plan
    }

    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text is what the file holds, byte for byte.
    pub(crate) fn is_exact(&self) -> bool {
        self.not_utf8.is_none()
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.path == "-"
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        self.index.position(&self.text, offset)
    }

    pub(crate) fn line(&self, offset: usize) -> usize {
        self.index.line(offset)
    }

    pub(crate) fn line_span(&self, line: usize) -> Span {
        self.index.line_span(&self.text, line)
    }
}

/// What the world says about a plan: the repository that it lies in.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// What the plan's name is relative to.
    root: Option<Utf8PathBuf>,
    plan_file: String,
    config: Config,
    agents: AgentCatalog,
}

impl Surroundings {
    /// Looks around a plan: at the repository that holds it, or the one that we are in. Where there is none, the
    /// place of the bead store is as good, so that a plan has one name from wherever it is applied (Z-10).
    pub(crate) fn of(source: &PlanSource) -> Result<Self, Failure> {
        let here = env::current_dir();
        let root = repo::root_of(source.path())
            .or_else(|| here.as_deref().and_then(repo::root_of))
            .or_else(|| store::root_of(source.path()))
            .or_else(|| here.as_deref().and_then(store::root_of));
        let plan_file = if source.is_stdin() {
            source.shown().to_owned()
        } else {
            repo::plan_file(source.path(), root.as_deref())
        };
        let place = root.or(here);
        Self::at(place.as_deref(), plan_file)
    }

    /// The root of the repository, if there is one.
    pub(crate) fn root(&self) -> Option<&Utf8Path> {
        self.root.as_deref()
    }

    /// The surroundings of a repository's root, for a plan with a given name.
    pub(crate) fn at(root: Option<&Utf8Path>, plan_file: String) -> Result<Self, Failure> {
        let config = config::load(root)?;
        let files = root.and_then(agent_files::agent_files);
        let agents = AgentCatalog {
            has_directory: files.is_some(),
            files: files.unwrap_or_default(),
            role_models: config.role_models.clone(),
            default_model: config.default_model.clone(),
        };
        Ok(Self {
            root: root.map(Utf8Path::to_owned),
            plan_file,
            config,
            agents,
        })
    }

    /// Whether there is a plan under a name that beads have for it.
    pub(crate) fn has_plan(&self, plan_file: &str) -> bool {
        match &self.root {
            Some(root) => root.join(plan_file).exists(),
            None => Utf8Path::new(plan_file).exists(),
        }
    }

    pub(crate) fn plan_file(&self) -> &str {
        &self.plan_file
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn rig(&self) -> &str {
        &self.config.rig
    }

    /// The settings of a compilation of a plan's text.
    pub(crate) fn settings<'s>(
        &'s self,
        source: &'s PlanSource,
        rules: &RuleArgs,
        skip_completed: bool,
    ) -> Settings<'s> {
        Settings {
            plan_file: &self.plan_file,
            text: Some(source.text()),
            rig: &self.config.rig,
            now: Timestamp::from_instant(clock::now()),
            agents: &self.agents,
            agent_check: match (rules.strict_agents, rules.no_agent_check) {
                (true, _) => AgentCheck::Strict,
                (false, true) => AgentCheck::Off,
                (false, false) => AgentCheck::Auto,
            },
            merge_detection: rules.merge_detection.into(),
            skip_completed,
            has_default_check: !self.config.default_checks.is_empty(),
            require_machine_check: self.config.require_machine_check,
            known_ids: KnownIds::new(),
            formula_sprints: FormulaSprints::Ordinary,
        }
    }
}

impl From<MergeArg> for MergeDetection {
    fn from(arg: MergeArg) -> Self {
        match arg {
            MergeArg::Both => Self::Both,
            MergeArg::Title => Self::Title,
            MergeArg::Structure => Self::Structure,
        }
    }
}
