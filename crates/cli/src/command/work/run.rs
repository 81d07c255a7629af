//! `run`: the loop over many beads, from ready to verified branches (contracts §7).
//!
//! Data: `{run, outcome, reason: text|null, adopted, beads: […], spent, journal}`. With `--events` every entry of the journal is a line of JSON, and
//! nothing else is printed on standard output. With `--dry-run`: `{dry_run: true, settings, findings, first: […]}`.

mod preflight;
mod screen;
mod selecting;
pub(crate) mod settings;
mod story;
mod summary;

use std::sync::Arc;

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::bead::{BeadId, BeadShape, RalphBead};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::{Integration, IntegrationMode, Outcome, Settings, Trouble};
use beads_ralph_core::issue::{Entry, Query, Standing};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::agent::Finding;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::config::{self, Config};
use beads_ralph_runtime::forge::{self, Gh, GitHub};
use beads_ralph_runtime::git::{self, Git};
use beads_ralph_runtime::os::process::{Interrupts, Units};
use beads_ralph_runtime::ports::Forge;
use beads_ralph_runtime::run::{Begun, Ended, Start, StartError};
use beads_ralph_runtime::store::{MemoryStore, Store as _, StoreError, Write};
use beads_ralph_runtime::{removed_sprints, repo, run, store};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use self::preflight::Preflight;
use self::screen::Screen;
use crate::args::{Global, PermissionsArg};
use crate::command::inspect::blocked::people_parts;
use crate::command::plan::apply::{AppliedForRun, apply_for_run};
use crate::command::work;
use crate::failure::Failure;
use crate::ui::{Ui, lines};

#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// A plan to check and to apply first; without it the beads that are in the store
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<Utf8PathBuf>,
    /// Write the bead ids into the plan after applying it
    #[arg(long, requires = "plan")]
    pub(crate) annotate: bool,
    /// A value for the formulas of the plan's sprints (repeatable)
    #[arg(long, value_name = "NAME=VALUE", requires = "plan")]
    pub(crate) var: Vec<String>,
    /// Only what can be started now, and nothing that becomes ready by it
    #[arg(long, conflicts_with = "watch")]
    pub(crate) once: bool,
    /// Go on when nothing is left to do, and wait for more
    #[arg(long)]
    pub(crate) watch: bool,
    /// Only beads of this team; may be given several times
    #[arg(long, value_name = "TEAM")]
    pub(crate) team: Vec<String>,
    /// Only this bead; may be given several times
    #[arg(long, value_name = "BEAD")]
    pub(crate) bead: Vec<String>,
    /// Only these sprints, such as 1.2a; may be given several times
    #[arg(long, value_name = "SPRINT")]
    pub(crate) sprint: Vec<String>,
    /// How many beads may be worked on at once, instead of what beads-ralph.yaml says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_parallel: Option<u16>,
    /// What becomes of verified work, instead of what beads-ralph.yaml says
    #[arg(long, value_name = "MODE", value_parser = integration_mode())]
    pub(crate) integration: Option<IntegrationMode>,
    /// What agents may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Look at everything, say what would be begun first and why, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Say of each bead why it is begun when it is
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print every event and decision as a line of JSON
    #[arg(long)]
    pub(crate) events: bool,
}

fn integration_mode() -> impl TypedValueParser<Value = IntegrationMode> {
    let value = |mode: IntegrationMode| {
        PossibleValue::new(mode.as_str()).help(match mode {
            IntegrationMode::None => "It stays on its branch",
            IntegrationMode::Merge => "It is merged into ralph/PLAN",
            IntegrationMode::Pr => "It is pushed and proposed as a pull request",
        })
    };
    PossibleValuesParser::new(IntegrationMode::ALL.map(value)).map(|word| {
        let mode = IntegrationMode::ALL
            .into_iter()
            .find(|it| it.as_str() == word);
        mode.expect("only these words are possible")
    })
}

/// The version that journals name.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn run(args: &RunArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let applied = match &args.plan {
        Some(plan) => Some(apply_for_run(plan, args, global, ui)?),
        None => None,
    };
    let mut beads = global.open()?;
    let root = main_root(&beads.directory)?;
    if let (true, Some(applied)) = (args.dry_run, &applied) {
        beads.store = Box::new(imagined(&beads, applied)?);
    }
    at(root, beads, applied, args, ui)
}

/// The store as it would be with a plan that was not applied.
fn imagined(beads: &Beads, applied: &AppliedForRun) -> Result<MemoryStore, Failure> {
    let mut store = MemoryStore::new();
    let mut there = beads.store.find(&Query::default())?;
    let ids: Vec<BeadId> = applied.beads.iter().map(|bead| bead.id.clone()).collect();
    // What is done is there too, and is not begun again.
    let done = beads.store.get(&ids)?.into_iter();
    there.extend(done.filter(|record| record.issue.standing() == Standing::Closed));
    let is_new = |bead: &&RalphBead| !there.iter().any(|record| *record.issue.id() == bead.id);
    let new: Vec<&RalphBead> = applied.beads.iter().filter(is_new).collect();
    let mut batch: Vec<Write> = Vec::with_capacity(there.len() + new.len());
    for bead in new {
        let entry = Entry::from_document(bead.to_document(BeadShape::Both)).map_err(|errors| {
            StoreError::Invalid {
                id: bead.id.to_string(),
                errors,
            }
        })?;
        batch.push(Write::Insert(Box::new(entry)));
    }
    let there = there.into_iter().map(|record| Entry::new(record.issue));
    batch.splice(0..0, there.map(|entry| Write::Insert(Box::new(entry))));
    store.write(&batch, beads.by.stamp())?;
    let (plan, sprints) = (&applied.plan_file, &applied.sprints);
    removed_sprints::remember(&mut store, plan, sprints, beads.by.stamp())?;
    Ok(store)
}

/// Runs the beads of a store in a repository.
pub(crate) fn at(
    root: Utf8PathBuf,
    beads: Beads,
    plan: Option<AppliedForRun>,
    args: &RunArgs,
    ui: &Ui,
) -> Result<(), Failure> {
    if let Some(obstacle) = beads.store.obstacle() {
        return Err(obstacle.into());
    }
    let config = config::load(Some(&root))?;
    let plan = plan.map(|plan| plan.plan_file);
    let selection = selecting::selection(args, plan, &beads)?;
    let place = Place::new(root, config)?;
    let git = place.git()?;
    let (forge, mode) = place.integration(args.integration, &git)?;
    let settings = settings::of(args, &place.config, mode, &selection, &beads)?;
    let permissions = args
        .permissions
        .map(Permissions::from)
        .or(place.config.permissions);
    let preflight = Preflight {
        place: &place,
        git: &git,
        settings: &settings,
        permissions,
    };
    let findings = preflight.look(&beads, &selection)?;
    if args.dry_run {
        return summary::dry_run(&settings, &findings, &beads, &selection, &place, ui);
    }
    refuse(&findings, ui)?;
    let late: Option<GitHub<'_>>;
    let mut start = Start {
        beads: &beads.directory,
        root: &place.root,
        config: &place.config,
        units: &place.units,
        repository: &git,
        forge: forge.as_ref().map(|forge| forge as &dyn Forge),
        permissions: permissions.unwrap_or(Permissions::Bypass),
        selection,
        settings,
        actor: beads.by.actor().to_owned(),
        version: VERSION,
    };
    let begun = start.begin()?;
    // A resumed run hands over as it was asked to at its start, whatever is asked for now.
    if begun.settings().integration == Integration::Pr && start.forge.is_none() {
        late = Some(place.forge()?);
        start.forge = late.as_ref().map(|forge| forge as &dyn Forge);
    }
    say_begun(&begun, &start.settings, ui);
    let interrupts = Interrupts::listen()?;
    let (store, directory) = (beads.store, beads.directory.clone());
    let heard = interrupts.clone();
    let mut ended = start.conduct(begun, store, |activity| {
        Box::new(Screen::new(ui, args, activity, interrupts))
    })?;
    if ended.outcome == Outcome::Idle && is_for_people(&directory, ui)? {
        ended.outcome = Outcome::NeedsPerson;
    }
    finish(&ended, args.events, heard.count(), ui)
}

/// Whether what is left waits for parts of molecules that only people do (Z-27).
fn is_for_people(directory: &Utf8Path, ui: &Ui) -> Result<bool, Failure> {
    let parts = people_parts(&*store::find(directory)?.open()?)?;
    let ids: Vec<&str> = parts.iter().map(|part| part.issue.id().as_str()).collect();
    if !ids.is_empty() {
        ui.say(&format!(
            "these are for a person; close them when they are done: {}\n",
            excerpt(&ids.join(", "))
        ));
    }
    Ok(!ids.is_empty())
}

/// Where a run takes place.
pub(crate) struct Place {
    pub(crate) root: Utf8PathBuf,
    pub(crate) config: Config,
    pub(crate) units: Arc<Units>,
}

impl Place {
    pub(crate) fn new(root: Utf8PathBuf, config: Config) -> Result<Self, Failure> {
        let units = Arc::new(Units::own()?);
        Ok(Self {
            root,
            config,
            units,
        })
    }

    /// The repository's git.
    pub(crate) fn git(&self) -> Result<Git, Failure> {
        let settings = git::Settings {
            copy: self.config.worktrees.copy.clone(),
            network_limit: self.config.run.network_timeout,
            withhold: self.config.agents.withhold_env.clone(),
            ..git::Settings::default()
        };
        Git::open(Arc::clone(&self.units), &self.root, settings).map_err(|trouble| {
            Failure::new(ErrorCode::ValidationConstraint, trouble.message)
                .action("run it inside a git repository with at least one commit")
        })
    }

    /// What becomes of verified work: what is asked for, else pull requests where they can be made, else merging.
    pub(crate) fn integration(
        &self,
        asked: Option<IntegrationMode>,
        git: &Git,
    ) -> Result<(Option<GitHub<'_>>, IntegrationMode), Failure> {
        use IntegrationMode as Mode;
        let asked = asked.or(self.config.integration.mode);
        if matches!(asked, Some(Mode::None | Mode::Merge)) {
            return Ok((None, asked.unwrap_or(Mode::Merge)));
        }
        if asked.is_none() && git.remote_url().is_none() {
            return Ok((None, Mode::Merge));
        }
        match (self.forge(), asked) {
            (Ok(github), _) => Ok((Some(github), Mode::Pr)),
            (Err(_), None) => Ok((None, Mode::Merge)),
            (Err(not_ready), Some(_)) => Err(not_ready),
        }
    }

    /// Where pull requests are made, if they can be.
    fn forge(&self) -> Result<GitHub<'_>, Failure> {
        let gh = Gh::at(&self.root, &self.units, self.config.run.network_timeout)?;
        forge::ready(gh, "origin").map_err(|not_ready| refusal(&not_ready.findings))
    }
}

/// What git could not do, as a failure.
pub(crate) fn trouble(trouble: Trouble) -> Failure {
    Failure::new(ErrorCode::ValidationConstraint, trouble.message)
        .action("see `git status` and `git worktree list`")
}

/// The root of the main worktree: what `.beads` lies in.
pub(crate) fn main_root(beads: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let root = beads.parent().unwrap_or(beads);
    repo::root_of(root)
        .map(|root| work::main_root(&root))
        .ok_or_else(|| {
            let message = format!("{} is not in a git repository", repo::shown(root));
            Failure::new(ErrorCode::ValidationConstraint, message)
                .action("`git init` it and commit something; work is done in worktrees")
        })
}

fn refuse(findings: &[Finding], ui: &Ui) -> Result<(), Failure> {
    for finding in findings.iter().filter(|finding| !finding.is_error) {
        ui.say(&format!("warning: {}\n", visible(&finding.message)));
    }
    let errors = findings.iter().filter(|finding| finding.is_error);
    for error in errors.clone() {
        let (message, help) = (visible(&error.message), visible(&error.action));
        ui.complain(&format!("error: {message}\n  help: {help}\n"));
    }
    if errors.count() > 0 {
        return Err(refusal(findings).told());
    }
    Ok(())
}

/// Everything that is in the way, at once (Z-16).
fn refusal(findings: &[Finding]) -> Failure {
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.is_error).collect();
    let messages: Vec<&str> = errors
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let action = errors.first().map(|finding| finding.action.clone());
    Failure::new(ErrorCode::ValidationConstraint, messages.join("; "))
        .details(lines(&messages).trim_end())
        .action(action.unwrap_or_default())
        .exit_with(3)
}

fn say_begun(begun: &Begun, asked: &Settings, ui: &Ui) {
    let (run, settings) = (begun.run.id(), begun.settings());
    let where_to = match &settings.integration {
        Integration::None => "work stays on its branches".to_owned(),
        Integration::Merge { target } => format!("work is merged into {target}"),
        Integration::Pr => "work is pushed and proposed as pull requests".to_owned(),
    };
    if begun.is_adopted {
        ui.say(&format!(
            "the process of {run} is gone; resuming it with its original settings: {where_to}\n"
        ));
        if settings.selection != asked.selection || settings.max_parallel != asked.max_parallel {
            ui.say("it is finished as it was begun; what you ask for now needs another `beads-ralph run` after it\n");
        }
        if begun.n_ended > 0 {
            ui.say(&format!(
                "ended {} of its processes that were left\n",
                begun.n_ended
            ));
        }
    } else {
        ui.say(&format!(
            "{run}: up to {} at once; {where_to}; {}\n",
            settings.max_parallel,
            settings::caps(&settings.caps)
        ));
    }
}

fn finish(ended: &Ended, prints_events: bool, n_interrupts: usize, ui: &Ui) -> Result<(), Failure> {
    summary::show(ended, prints_events, ui)?;
    match &ended.outcome {
        Outcome::Done => Ok(()),
        Outcome::Idle => {
            ui.say("nothing more can be begun: what is left waits for beads, gates, people or times that are not this run's\n");
            Ok(())
        }
        Outcome::Stopped if n_interrupts > 1 => Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "killed by a second interrupt",
        )
        .told()
        .exit_with(130)),
        Outcome::Stopped => {
            ui.say("stopped; `beads-ralph run` goes on\n");
            Ok(())
        }
        Outcome::NeedsPerson => {
            let failure = Failure::new(
                ErrorCode::ValidationConstraint,
                "the run ended with work that needs your attention",
            );
            Err(failure
                .with_results(summary::json(ended))
                .action("see `beads-ralph blocked`")
                .told()
                .exit_with(1))
        }
        Outcome::Fatal(reason) => {
            let message = format!("the run was stopped: {reason}");
            let failure = Failure::new(ErrorCode::ValidationConstraint, message);
            Err(failure
                .with_results(summary::json(ended))
                .action("see `beads-ralph blocked` for the reasons, fix them, `beads-ralph retry` those beads, then `beads-ralph run` again")
                .exit_with(3))
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::File(error) => error.into(),
            StartError::Journal { run, .. } | StartError::Replay { run, .. } => {
                Self::new(ErrorCode::ValidationConstraint, message)
                    .action(format!("`beads-ralph recover --discard {run}` gives its beads back; branches and worktrees stay"))
                    .exit_with(3)
            }
            StartError::Survivors(_) => Self::new(ErrorCode::ValidationConstraint, message).action("end them, then try again"),
            StartError::Trouble(_) => Self::new(ErrorCode::ValidationConstraint, message).action("try again"),
            StartError::Conduct(run::ConductError::Journal(error)) => Self::new(error.code(), message)
                .action("free space, or fix what is in the way; then `beads-ralph run` resumes it")
                .exit_with(3),
            StartError::Conduct(run::ConductError::Store(error)) => Self::from(error).details(message).exit_with(3),
        }
    }
}
