//! A plan with everything that its compilation depends on: the repository around it and what the user asked for.

use beads_ralph_core::bead::{BeadShape, RalphBead, Rules, Timestamp, validate};
use beads_ralph_core::compile::{
    AgentCatalog, AgentCheck, CompileSettings, Compiled, FormulaSprints, KnownIds, MergeDetection,
    Refusal, build,
};
use beads_ralph_core::formula::{BadValue, Values};
use beads_ralph_core::plan::{Filter, Plan};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::{InvalidBead, PlanError, PlanReadError, PlanSource};
use crate::config::{self, Config, ConfigError};
use crate::formulas::Formulas;
use crate::os::{clock, env};
use crate::{agent_files, repo, store};

/// What the user asked for, beside the plan.
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// Only these sprints, such as `1.2a,1.3`.
    pub sprint_filter: Option<String>,
    /// Whether sprints whose status says `COMPLETED` are left out.
    pub skip_completed: bool,
    /// Values for the formulas of sprints, each `NAME=VALUE`.
    pub variables: Vec<String>,
    pub agent_check: AgentCheck,
    pub merge_detection: MergeDetection,
}

/// The repository that a plan is in.
#[derive(Debug)]
pub struct PlanContext {
    /// What the plan's name is relative to.
    root: Option<Utf8PathBuf>,
    plan_file: String,
    config: Config,
    agents: AgentCatalog,
}

impl PlanContext {
    /// The repository that holds a plan, or the one that we are in. Without one, the directory of the bead store serves, so that a
    /// plan has one name from wherever it is applied (Z-10).
    pub fn of(source: &PlanSource) -> Result<Self, ConfigError> {
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

    /// The repository with a root, for a plan with a given name.
    pub fn at(root: Option<&Utf8Path>, plan_file: String) -> Result<Self, ConfigError> {
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

    pub fn root(&self) -> Option<&Utf8Path> {
        self.root.as_deref()
    }

    /// The name of the plan in its beads.
    pub fn plan_file(&self) -> &str {
        &self.plan_file
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whether there is a plan under a name that beads have for it.
    pub fn has_plan(&self, plan_file: &str) -> bool {
        match &self.root {
            Some(root) => root.join(plan_file).exists(),
            None => Utf8Path::new(plan_file).exists(),
        }
    }
}

/// A plan that was read, and what its compilation depends on.
#[derive(Debug)]
pub struct PlanInput {
    pub source: PlanSource,
    pub plan: Plan,
    pub filter: Filter,
    pub context: PlanContext,
    options: PlanOptions,
}

impl PlanInput {
    /// Reads a plan from a file, or from standard input for `-`.
    pub fn read(path: &Utf8Path, options: PlanOptions) -> Result<Self, PlanReadError> {
        let source = PlanSource::read(path)?;
        let context = PlanContext::of(&source)?;
        Self::new(source, context, options)
    }

    pub fn new(
        source: PlanSource,
        context: PlanContext,
        options: PlanOptions,
    ) -> Result<Self, PlanReadError> {
        Ok(Self {
            filter: Filter::parse(options.sprint_filter.as_deref().unwrap_or_default())?,
            plan: source.parse(),
            source,
            context,
            options,
        })
    }

    /// The settings of a compilation in which sprints with a formula are ordinary beads and no sprint has a bead yet.
    pub fn settings(&self) -> CompileSettings<'_> {
        let config = &self.context.config;
        CompileSettings {
            plan_file: &self.context.plan_file,
            text: Some(self.source.text()),
            rig: &config.rig,
            now: Timestamp::from_instant(clock::now()),
            agents: &self.context.agents,
            agent_check: self.options.agent_check,
            merge_detection: self.options.merge_detection,
            skip_completed: self.options.skip_completed,
            has_default_check: !config.default_checks.is_empty(),
            require_machine_check: config.require_machine_check,
            known_ids: KnownIds::new(),
            formula_sprints: FormulaSprints::Ordinary,
        }
    }

    /// Compiles the selected sprints without a store.
    pub fn compile(&self) -> Result<Compiled, PlanError> {
        self.compile_with(&self.settings())
    }

    /// Compiles the selected sprints, whose formulas are poured afterwards.
    pub(super) fn compile_for_store(&self, known_ids: KnownIds) -> Result<Compiled, PlanError> {
        self.compile_with(&self.settings_for_store(known_ids))
    }

    pub(super) fn settings_for_store(&self, known_ids: KnownIds) -> CompileSettings<'_> {
        CompileSettings {
            known_ids,
            formula_sprints: FormulaSprints::Poured,
            ..self.settings()
        }
    }

    fn compile_with(&self, settings: &CompileSettings<'_>) -> Result<Compiled, PlanError> {
        build(&self.plan, &self.filter, settings).map_err(|refusal| match refusal {
            Refusal::Findings(findings) => PlanError::Findings(findings),
            Refusal::Filter(fault) => PlanError::Filter(fault),
        })
    }

    /// Whether the plan can be compiled, which has to be known before the store says anything (E-11).
    pub fn validate(&self) -> Result<(), PlanError> {
        self.compile_for_store(KnownIds::new()).map(drop)
    }

    /// The documents of all beads, each read back by the validator before anything is written (E-10).
    pub fn documents(
        &self,
        beads: &[RalphBead],
        shape: BeadShape,
    ) -> Result<Vec<Value>, PlanError> {
        let rules = Rules {
            rig: self.context.config.rig.clone(),
        };
        let documents: Vec<Value> = beads.iter().map(|bead| bead.to_document(shape)).collect();
        let invalid: Vec<InvalidBead> = beads
            .iter()
            .zip(&documents)
            .filter_map(|(bead, document)| {
                Some(InvalidBead {
                    id: bead.id.clone(),
                    errors: validate(document, &rules).err()?,
                })
            })
            .collect();
        if invalid.is_empty() {
            Ok(documents)
        } else {
            Err(PlanError::Invalid(invalid))
        }
    }

    /// The formulas that sprints can name, with those beside a store.
    pub(super) fn formulas(&self, store: Option<&Utf8Path>) -> Formulas {
        Formulas::of(store, self.context.root())
    }

    pub(super) fn values(&self) -> Result<Values, BadValue> {
        Values::parse(self.options.variables.iter().map(String::as_str))
    }
}
