//! `clean`: worktrees and branches of `run` and `implement`, and runs, that are not needed any more. It says what, and asks.
//!
//! Only what is ours and has nothing to lose is removed: worktrees of closed beads without uncommitted files, branches whose commits
//! are elsewhere, runs that are over. Data: `{removed: [{kind, name}], left: [{kind, name, why}], dry_run}`.

mod works;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::text::visible;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::config;
use beads_ralph_runtime::git::Git;
use beads_ralph_runtime::ports::{Place, Repository as _};
use beads_ralph_runtime::run::RunDirectory;
use camino::Utf8PathBuf;
use clap::Args;
use serde_json::{Value, json};

use super::run as running;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::{Ui, counted};
use works::{Work, Works};

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Only worktrees of closed beads that have nothing to lose; without a choice worktrees and runs
    #[arg(long)]
    pub(crate) worktrees: bool,
    /// Also branches of closed beads whose commits are in the source branch, or in the branch that work is merged into
    #[arg(long)]
    pub(crate) branches: bool,
    /// Only runs that are over, but for the newest five
    #[arg(long)]
    pub(crate) runs: bool,
    /// Remove without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// How many runs that are over stay.
const N_KEPT: usize = 5;

/// Something that can be removed.
enum Thing {
    Worktree(Place),
    Branch(String, CommitId),
    Run(RunDirectory),
}

impl Thing {
    fn kind(&self) -> &'static str {
        match self {
            Self::Worktree(_) => "worktree",
            Self::Branch(..) => "branch",
            Self::Run(_) => "run",
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Worktree(place) => place.worktree.as_str(),
            Self::Branch(name, _) => name,
            Self::Run(run) => run.id(),
        }
    }

    /// Why it could not be removed now, as far as that can be seen beforehand. `others` goes before it.
    fn obstacle(&self, git: &Git, others: &[&Self]) -> Option<String> {
        match self {
            Self::Worktree(place) => match git.state(place) {
                Ok(state) => state.dirt,
                Err(trouble) => Some(trouble.message),
            },
            Self::Branch(name, _) => {
                let goes = |path: &Utf8PathBuf| {
                    let mut others = others.iter();
                    others.any(|it| matches!(it, Self::Worktree(place) if place.worktree == *path))
                };
                let worktrees = git.worktrees().unwrap_or_default();
                let mut holders = worktrees
                    .into_iter()
                    .filter(|it| it.branch.as_ref() == Some(name));
                let holder = holders.find(|it| !goes(&it.path))?;
                Some(format!("it is checked out at {}", holder.path))
            }
            Self::Run(_) => None,
        }
    }

    fn remove(&self, git: &Git) -> Result<(), String> {
        match self {
            Self::Worktree(place) => git.remove(place).map_err(|trouble| trouble.message),
            Self::Branch(name, commit) => git
                .delete_branch(name, commit)
                .map(drop)
                .map_err(|trouble| trouble.message),
            Self::Run(run) => run.remove().map_err(|error| error.to_string()),
        }
    }
}

pub(crate) fn run(args: &CleanArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let root = running::main_root(&beads.directory)?;
    let config = config::load(Some(&root))?;
    let site = running::Place::new(root, config)?;
    let git = site.git()?;
    let things = things(args, &beads, &site, &git)?;
    if things.is_empty() {
        return answer(&[], &[], args.dry_run, ui);
    }
    if !args.dry_run && !args.yes {
        ui.say(&listed(&things));
        match ui.confirms("remove all of this?") {
            Some(true) => {}
            Some(false) => return answer(&[], &[], true, ui),
            None => {
                let failure = Failure::new(
                    ErrorCode::ValidationConstraint,
                    "nothing was removed: nobody is there to be asked",
                );
                return Err(failure
                    .details(listed(&things))
                    .action("pass --yes, or --dry-run to see what it would be"));
            }
        }
    }
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    for thing in &things {
        let result = if args.dry_run {
            thing.obstacle(&git, &removed).map_or(Ok(()), Err)
        } else {
            thing.remove(&git)
        };
        match result {
            Ok(()) => removed.push(thing),
            Err(why) => left.push((thing, why)),
        }
    }
    answer(&removed, &left, args.dry_run, ui)
}

/// What can be removed. Without a choice between them: worktrees and runs; and branches where they are asked for.
fn things(
    args: &CleanArgs,
    beads: &Beads,
    site: &running::Place,
    git: &Git,
) -> Result<Vec<Thing>, Failure> {
    let is_all = !args.worktrees && !args.runs;
    let Works { finished, in_use } = Works::of(beads, site)?;
    let mut things = Vec::new();
    if args.worktrees || is_all {
        let there = git.worktrees().map_err(running::trouble)?;
        let there = there.iter().filter(|it| !it.is_main);
        let there: BTreeSet<&Utf8PathBuf> = there.map(|it| &it.path).collect();
        let places = finished.iter().map(|work| &work.place);
        let places = places.filter(|place| !in_use.contains(&place.worktree));
        let places = places.filter(|place| there.contains(&place.worktree));
        things.extend(places.cloned().map(Thing::Worktree));
    }
    if args.branches {
        for work in &finished {
            things.extend(branch(work, git)?);
        }
    }
    if args.runs || is_all {
        let mut over: Vec<RunDirectory> = RunDirectory::all(&beads.directory);
        over.retain(RunDirectory::is_over);
        over.truncate(over.len().saturating_sub(N_KEPT));
        things.extend(over.into_iter().map(Thing::Run));
    }
    let mut seen = BTreeSet::new();
    things.retain(|thing| seen.insert((thing.kind(), thing.name().to_owned())));
    Ok(things)
}

/// The branch of finished work, if its commits are elsewhere too.
fn branch(work: &Work, git: &Git) -> Result<Option<Thing>, Failure> {
    let name = &work.place.branch;
    // A branch that work goes into is nobody's own.
    if work.homes.contains(name) {
        return Ok(None);
    }
    let Some(head) = git.branch(name).map_err(running::trouble)? else {
        return Ok(None);
    };
    for home in &work.homes {
        if let Some(home) = git.branch(home).map_err(running::trouble)?
            && git.is_in(&head, &home).map_err(running::trouble)?
        {
            return Ok(Some(Thing::Branch(name.clone(), head)));
        }
    }
    Ok(None)
}

fn listed(things: &[Thing]) -> String {
    let mut text = String::new();
    for thing in things {
        _ = writeln!(text, "{} {}", thing.kind(), visible(thing.name()));
    }
    text
}

fn answer(
    removed: &[&Thing],
    left: &[(&Thing, String)],
    is_dry_run: bool,
    ui: &Ui,
) -> Result<(), Failure> {
    let named = |thing: &Thing| json!({"kind": thing.kind(), "name": thing.name()});
    if ui.is_json() {
        let removed: Vec<Value> = removed.iter().map(|thing| named(thing)).collect();
        let left: Vec<Value> = (left.iter())
            .map(|(thing, why)| json!({"kind": thing.kind(), "name": thing.name(), "why": why}))
            .collect();
        return ui.data(&json!({"removed": removed, "left": left, "dry_run": is_dry_run}));
    }
    let verb = if is_dry_run {
        "would remove"
    } else {
        "removed"
    };
    let mut text = String::new();
    for thing in removed {
        _ = writeln!(text, "{verb} {} {}", thing.kind(), visible(thing.name()));
    }
    for (thing, why) in left {
        _ = writeln!(
            text,
            "left {} {}: {}",
            thing.kind(),
            visible(thing.name()),
            visible(why)
        );
    }
    _ = writeln!(
        text,
        "{verb} {}, {} left",
        counted(removed.len(), "thing", "things"),
        left.len()
    );
    ui.out(&text)
}
