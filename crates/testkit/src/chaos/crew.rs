//! Agents and checks that work, fail, meet limits, lie and meddle, as the weather is.

use beads_ralph_core::agent::Status;
use beads_ralph_core::bead::{AgentSpec, BeadId, Model, QaStatus, RalphBead};
use beads_ralph_core::engine::{AgentReport, CommitId, Spent, Trouble, Verdict};
use beads_ralph_runtime::ports::{Checked, Claimed, Executor, Job, Place};
use jiff::ToSpan as _;
use serde_json::Map;

use super::laws;
use super::places;
use super::world::{Port, Reach, World};

/// The crew as a process reaches it.
#[derive(Debug)]
pub(super) struct ShakyCrew(pub(super) Port);

/// The file that is a bead's work.
pub(super) fn file_of(bead: &BeadId) -> String {
    format!("{bead}.txt")
}

/// Whether files hold good work of a bead. No check and no agent decides that, only the files.
pub(super) fn is_good(files: &super::git::Tree, bead: &BeadId) -> bool {
    let work = files.get(&file_of(bead));
    work.is_some_and(|work| work.starts_with("good"))
}

fn write(world: &mut World, place: &Place, path: &str, text: String) {
    if let Some(worktree) = world.git.worktrees.get_mut(&place.worktree) {
        worktree.files.insert(path.to_owned(), text);
    }
}

/// Changes files as a dev agent does, and commits all, some or none of it.
fn work(world: &mut World, bead: &BeadId, place: &Place) {
    let thing = world.next_thing();
    let rates = world.rates;
    let is_bad = world.random.is_hit(rates.bad_work);
    // The same bad work again is noticed by the engine.
    let text = match (is_bad, world.random.is_hit(0.2)) {
        (true, true) => "bad".to_owned(),
        (true, false) => format!("bad {thing}"),
        (false, _) => format!("good {thing}"),
    };
    if !world.random.is_hit(0.03) {
        write(world, place, &file_of(bead), text);
    }
    if world.random.is_hit(0.5) {
        drop(world.git.commit_files(place));
    }
    if world.random.is_hit(rates.clash) {
        let shared = format!("shared-{}.txt", world.random.below(2));
        write(world, place, &shared, format!("{bead} {thing}"));
    }
    if world.random.is_hit(0.5) {
        drop(world.git.commit_files(place));
    }
}

/// What an agent that was cut off has left.
pub(super) fn leave_half(world: &mut World, bead: &BeadId, place: &Place) {
    let thing = world.next_thing();
    write(world, place, &file_of(bead), format!("half {thing}"));
    if world.random.is_hit(0.3) {
        drop(world.git.commit_files(place));
    }
}

/// How an agent's run ends, before anything is said about its work.
fn ending(world: &mut World, me: usize, job: Job<'_>) -> Status {
    let rates = world.rates;
    if world.cancelled.remove(&(me, job.effect)) {
        return Status::Killed;
    }
    if world.random.is_hit(rates.limit) {
        return Status::Limit;
    }
    if world.random.is_hit(rates.agent) {
        let statuses = [
            Status::Failed,
            Status::Failed,
            Status::Timeout,
            Status::Crashed,
            Status::NoResult,
            Status::Denied,
        ];
        if world.random.is_hit(0.02) {
            return Status::Auth;
        }
        return world
            .random
            .pick(&statuses)
            .copied()
            .unwrap_or(Status::Failed);
    }
    Status::Ok
}

fn report(world: &mut World, job: Job<'_>, spec: &AgentSpec, status: Status) -> AgentReport {
    let thing = world.next_thing();
    let wanted = 100_000 + world.random.below(4_000_000);
    let micros = job
        .launch
        .grant
        .micros
        .map_or(wanted, |most| wanted.min(most));
    let has_reset = status == Status::Limit && world.random.is_hit(0.6);
    let wait = i64::try_from(1 + world.random.below(120)).unwrap_or(1);
    world.counts.agents += 1;
    AgentReport {
        agent: spec.agent.to_string(),
        model: Model::Sonnet,
        model_id: None,
        session: format!("session-{thing}"),
        started_at: world.now,
        ended_at: world.now,
        status,
        reason: format!("run #{thing}#"),
        spent: Spent {
            micros,
            tokens: micros / 10,
            turns: 1,
            time_ms: 1000,
            n_unpriced: 0,
        },
        resets_at: has_reset.then(|| world.now + wait.minutes()),
        evidence: None,
    }
}

impl Executor for ShakyCrew {
    fn account(&self, spec: &AgentSpec) -> String {
        spec.adapter.clone().unwrap_or_else(|| "claude".to_owned())
    }

    fn set_up(&self, _: &RalphBead, _: &Place) -> Result<bool, Trouble> {
        self.0.outside("set up", Reach::Acts, |_| Ok(true))
    }

    fn develop(&self, job: Job<'_>, agent: usize, _: Option<&str>) -> Result<AgentReport, Trouble> {
        self.0.outside("develop", Reach::Acts, |world| {
            laws::developing(world, job);
            let status = ending(world, self.0.me, job);
            match status {
                Status::Ok => work(world, &job.bead.id, job.place),
                _ if world.random.is_hit(0.5) => leave_half(world, &job.bead.id, job.place),
                _ => {}
            }
            Ok(report(
                world,
                job,
                &job.bead.metadata.dev_agents[agent],
                status,
            ))
        })
    }

    fn resolve(&self, job: Job<'_>, _: &str, files: &[String]) -> Result<AgentReport, Trouble> {
        self.0.outside("resolve", Reach::Acts, |world| {
            let status = ending(world, self.0.me, job);
            let thing = world.next_thing();
            let own = file_of(&job.bead.id);
            if status == Status::Ok && world.random.is_hit(0.1) {
                world.git.give_up_merge(job.place);
            } else if status == Status::Ok && !world.random.is_hit(0.15) {
                for file in files {
                    // Who solves a conflict in somebody's work keeps that work.
                    let owner = file.trim_end_matches(".txt");
                    let is_work = file.starts_with("bd-") && *file != own;
                    let text = if is_work {
                        format!("good {thing} of {owner}")
                    } else {
                        format!("both {thing}")
                    };
                    let text = if *file == own {
                        format!("good {thing}")
                    } else {
                        text
                    };
                    write(world, job.place, file, text);
                }
                if world.random.is_hit(0.5) {
                    drop(world.git.commit_files(job.place));
                }
            }
            Ok(report(world, job, &job.bead.metadata.dev_agents[0], status))
        })
    }

    fn lead(
        &self,
        job: Job<'_>,
        only_pull: bool,
        _: Option<&str>,
    ) -> Result<(AgentReport, Claimed), Trouble> {
        self.0.outside("lead", Reach::Acts, |world| {
            let branch = job.place.branch.clone();
            let status = ending(world, self.0.me, job);
            if !only_pull {
                laws::developing(world, job);
                if status == Status::Ok {
                    work(world, &job.bead.id, job.place);
                }
            }
            // It may make the pull request itself, or forget it, or not look whether there is one: the forge refuses a second one.
            if status == Status::Ok
                && world.random.is_hit(0.7)
                && let Ok(head) = world.git.commit_files(job.place)
            {
                world.git.remote.insert(branch.clone(), head);
                world.follow();
                if !world.pulls.iter().any(|pull| pull.branch == branch) {
                    drop(places::create(world, &branch));
                }
            }
            let claimed = Claimed {
                is_success: status == Status::Ok && !world.random.is_hit(0.05),
                is_fatal: false,
                error: None,
                qa_results: Vec::new(),
            };
            let spec = &job.bead.metadata.scrum_master_agent;
            Ok((report(world, job, spec, status), claimed))
        })
    }

    fn judge(
        &self,
        job: Job<'_>,
        agent: usize,
        _: &[String],
    ) -> Result<(AgentReport, Option<Verdict>), Trouble> {
        self.0.outside("judge", Reach::Acts, |world| {
            let ended = ending(world, self.0.me, job);
            let report = report(world, job, &job.bead.metadata.qa_agents[agent].spec, ended);
            if ended != Status::Ok {
                return Ok((report, None));
            }
            let status = verdict(world, job);
            if let Ok(state) = world.git.state(job.place)
                && state.dirt.is_none()
            {
                let key = (job.bead.id.clone(), state.head);
                let said = world.truth.verdicts.entry(key).or_default();
                said.insert(agent, status);
            }
            meddle(world, job.place);
            let verdict = Verdict {
                status,
                message: format!("{} says {status}", report.reason),
                details: Map::new(),
            };
            Ok((report, Some(verdict)))
        })
    }

    fn verify(
        &self,
        bead: &RalphBead,
        place: &Place,
        _: u32,
        _: &CommitId,
        _: Option<&CommitId>,
    ) -> Result<Checked, Trouble> {
        self.0.outside("verify", Reach::Acts, |world| {
            let is_cut_off = world.cut_off.remove(&bead.id);
            let files = world.git.worktrees.get(&place.worktree);
            let is_good = files.is_some_and(|worktree| is_good(&worktree.files, &bead.id));
            if let Ok(state) = world.git.state(place)
                && state.dirt.is_none()
                && is_good
            {
                world.truth.green.insert((bead.id.clone(), state.head));
            }
            meddle(world, place);
            let is_green = is_good && !is_cut_off;
            Ok(Checked {
                is_green,
                summary: if is_green { "" } else { "it is not good" }.to_owned(),
                is_cut_off,
            })
        })
    }

    fn cancel(&self, bead: &BeadId) {
        // What runs is known to the director, who ends it.
        self.0
            .lock()
            .say(|| format!("p{} ends what runs for {bead}", self.0.me));
    }

    fn notify(&self, _: &str) -> Result<(), Trouble> {
        self.0.outside("notify", Reach::Acts, |_| Ok(()))
    }
}

/// What a QA agent says: mostly what is so.
fn verdict(world: &mut World, job: Job<'_>) -> QaStatus {
    let files = world.git.worktrees.get(&job.place.worktree);
    let is_good = files.is_some_and(|worktree| is_good(&worktree.files, &job.bead.id));
    let lies = world.rates.lies;
    if world.random.is_hit(lies * 0.1) {
        return QaStatus::Stop;
    }
    let is_wrong = world.random.is_hit(lies);
    if is_good == is_wrong {
        QaStatus::Fail
    } else {
        QaStatus::Pass
    }
}

/// Somebody who should only look changes something.
fn meddle(world: &mut World, place: &Place) {
    let rate = world.rates.touches;
    if !world.random.is_hit(rate) {
        return;
    }
    let thing = world.next_thing();
    write(world, place, "touched.txt", format!("touched {thing}"));
    if world.random.is_hit(0.5) {
        drop(world.git.commit_files(place));
    }
}
