//! `simulate`: plays a run many times with the real engine and without agents.
//!
//! Data: `{beads, workers, rounds, seed, learned_from, makespan_minutes, critical_path_minutes, utilisation, cost_usd, attempts, closed, endings,
//! first_in_first_out: {makespan_minutes, utilisation}, critical_path: [{bead, sprint, title, minutes, share}], recorded}`; each figure is
//! `{p50, p90, p99}`. With `--from-run`, `recorded` is `{run, launches, is_identical}`, else null.

pub(crate) mod model;
mod work;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::{Head, Task};
use beads_ralph_core::history::{Chronicle, chronicle};
use beads_ralph_core::simulate::{
    Percentiles, Play, Source, Study, StudyFigures, StudyResult, launches,
};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::os::files;
use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;

use self::model::ModelArgs;
use crate::args::{Global, RuleArgs};
use crate::command::work::run::VERSION;
use crate::failure::Failure;
use crate::ui::format::{dollars, elapsed, percent};
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, counted, page};
use work::Work;

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// The plan; `-` is standard input; default: the open beads of the store
    pub(crate) plan: Option<Utf8PathBuf>,
    /// Only these sprints of the plan, such as 1.2a,1.3; their dependencies count as done
    #[arg(long, value_name = "IDS", requires = "plan")]
    pub(crate) sprint_filter: Option<String>,
    /// The seed of the random numbers; the same seed gives the same answer
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many beads run at once; default: the setting in beads-ralph.yaml
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) workers: Option<u16>,
    /// How many times to simulate the run
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) rounds: u32,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Take durations and answers from this run: its id, the beginning of it, `latest`, or its directory
    #[arg(long, value_name = "RUN", conflicts_with_all = ["plan", "no_history"])]
    pub(crate) from_run: Option<String>,
    /// Write the first round as a page of HTML: the graph, the timeline, the cost
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

pub(crate) fn run(args: &SimulateArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let work = work::read(args, global, ui)?;
    if work.tasks.is_empty() {
        return Err(Failure::new(
            ErrorCode::DependencyUnresolved,
            "nothing to simulate: no bead is left to work on",
        )
        .action("name a plan, or apply one first"));
    }
    let study = Study {
        settings: work.settings.clone(),
        tasks: work.tasks.clone(),
        model: &work.model,
        recorded: work.run.as_ref().map(|run| &run.recorded),
        seed: args.seed,
        n_rounds: args.rounds,
        began: work.began,
    };
    if let Some(path) = &args.html {
        let html = page::html(&first_round(args, &work), &page::Evidence::default());
        files::write_atomic(path, html.as_bytes())?;
    }
    let answer = Answer {
        again: again(&work),
        result: study.run(),
        args,
        work: &work,
    };
    if ui.is_json() {
        return ui.data(&answer.data());
    }
    ui.out(&answer.text(Page::of(ui)))
}

fn first_round(args: &SimulateArgs, work: &Work) -> Chronicle {
    let round = Play {
        settings: work.settings.clone(),
        tasks: work.tasks.clone(),
        model: &work.model,
        source: work
            .run
            .as_ref()
            .map_or(Source::Drawn, |run| Source::WhatIf(&run.recorded)),
        seed: args.seed,
        began: work.began,
    }
    .run();
    let head = Head::new(work.settings.clone(), VERSION, "", work.began);
    chronicle(&head, &round.entries).expect("what was decided just now is decided again")
}

/// A recorded run that was played again, with everything as it was.
struct Again {
    run: String,
    n_launches: usize,
    /// Where the first launch is that differs, from 0.
    first_difference: Option<usize>,
}

fn again(work: &Work) -> Option<Again> {
    let run = work.run.as_ref()?;
    let settings = run.journal.head.settings.clone();
    let round = Play {
        seed: settings.seed,
        tasks: run.recorded.tasks(),
        settings,
        model: &work.model,
        source: Source::Again(&run.recorded),
        began: run.recorded.began(),
    }
    .run();
    let (recorded, now) = (launches(&run.journal.entries), round.launches());
    let n_same = (recorded.iter().zip(&now))
        .take_while(|(one, other)| (&one.bead, &one.action) == (&other.bead, &other.action))
        .count();
    let is_same = n_same == recorded.len() && n_same == now.len();
    Some(Again {
        run: run.journal.head.settings.run.clone(),
        n_launches: recorded.len(),
        first_difference: (!is_same).then_some(n_same),
    })
}

struct Answer<'a> {
    result: StudyResult,
    again: Option<Again>,
    args: &'a SimulateArgs,
    work: &'a Work,
}

const MS_PER_MINUTE: f64 = 60_000.0;

fn minutes(ms: Percentiles) -> Percentiles {
    Percentiles {
        p50: rounded_minutes(ms.p50),
        p90: rounded_minutes(ms.p90),
        p99: rounded_minutes(ms.p99),
    }
}

fn rounded_minutes(ms: f64) -> f64 {
    (ms / MS_PER_MINUTE * 1000.0).round() / 1000.0
}

/// A simulated time: its tenths of a second would look exact, and are not.
fn time(ms: f64) -> String {
    elapsed(Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default())
}

impl Answer<'_> {
    fn data(&self) -> Data<'_> {
        let StudyResult {
            figures,
            first_in_first_out,
            ..
        } = &self.result;
        Data {
            beads: self.work.tasks.len(),
            workers: self.work.settings.max_parallel,
            rounds: self.args.rounds,
            seed: self.args.seed,
            learned_from: self.work.n_learned,
            makespan_minutes: minutes(figures.makespan_ms),
            critical_path_minutes: minutes(figures.critical_ms),
            utilisation: figures.utilisation,
            cost_usd: figures.cost_usd,
            attempts: figures.attempts,
            closed: figures.closed,
            endings: &figures.endings,
            first_in_first_out: FirstInFirstOut {
                makespan_minutes: minutes(first_in_first_out.makespan_ms),
                utilisation: first_in_first_out.utilisation,
            },
            critical_path: self.links().iter().map(Link::data).collect(),
            recorded: self.again.as_ref().map(|again| Recorded {
                run: &again.run,
                launches: again.n_launches,
                is_identical: again.first_difference.is_none(),
            }),
        }
    }

    /// The longest chain of the round in the middle, with how often each bead is on one.
    fn links(&self) -> Vec<Link<'_>> {
        let tasks: BTreeMap<&BeadId, &Task> = (self.work.tasks.iter())
            .map(|task| (&task.id, task))
            .collect();
        let shares: BTreeMap<&BeadId, f64> = (self.result.criticality.iter())
            .map(|(bead, share)| (bead, *share))
            .collect();
        let links = self.result.critical_path.iter().filter_map(|link| {
            #[expect(clippy::cast_precision_loss, reason = "it is a time for people")]
            let took_ms = link.took_ms as f64;
            Some(Link {
                task: tasks.get(&link.bead)?,
                took_ms,
                share: shares.get(&link.bead).copied().unwrap_or(0.0),
            })
        });
        links.collect()
    }

    fn text(&self, page: Page) -> String {
        let figures = &self.result.figures;
        let mut text = format!(
            "{}, {}, {} with seed {}; {}\n\n",
            counted(self.work.tasks.len(), "bead", "beads"),
            counted(self.work.settings.max_parallel, "worker", "workers"),
            counted(
                usize::try_from(self.args.rounds).unwrap_or(usize::MAX),
                "round",
                "rounds"
            ),
            self.args.seed,
            self.source(),
        );
        text.push_str(&table(figures).draw(page));
        text.push('\n');
        _ = writeln!(text, "{}", self.compared());
        _ = writeln!(text, "{}", ended(figures));
        if let Some(again) = &self.again {
            _ = writeln!(text, "{}", again.said());
        }
        text.push_str("\nlongest chain, in the median round:\n");
        let mut table = Table::new(&["SPRINT", "BEAD", "TITLE…", "TOOK", "ON THE CHAIN"]);
        for link in self.links() {
            table.row(link.row());
        }
        text.push_str(&table.draw(page));
        text
    }

    fn source(&self) -> String {
        match (&self.work.run, self.work.n_learned) {
            (Some(run), _) => {
                let run = excerpt(&run.journal.head.settings.run);
                format!("times and outcomes of run {run}")
            }
            (None, 0) => "times and rates are given or estimated".to_owned(),
            (None, n) => {
                let runs = counted(n, "run of an agent", "runs of agents");
                let cost = if self.work.is_unpriced {
                    "; none of them reported its cost, so that is estimated"
                } else {
                    ""
                };
                format!("times and rates learned from {runs}{cost}")
            }
        }
    }

    fn compared(&self) -> String {
        let (own, other) = (
            self.result.figures.makespan_ms,
            self.result.first_in_first_out.makespan_ms,
        );
        let longer = if own.p50 > 0.0 {
            (other.p50 / own.p50 - 1.0) * 100.0
        } else {
            0.0
        };
        format!(
            "first in, first out would take {} / {} / {} ({longer:+.1}% in the median)",
            time(other.p50),
            time(other.p90),
            time(other.p99)
        )
    }
}

fn table(figures: &StudyFigures) -> Table {
    let mut table = Table::new(&["", "P50", "P90", "P99"]);
    let mut row = |name: &str, of: Percentiles, shown: &dyn Fn(f64) -> String| {
        let cells = [of.p50, of.p90, of.p99].map(shown);
        table.row([name.to_owned()].into_iter().chain(cells).collect());
    };
    row("time", figures.makespan_ms, &time);
    row("longest chain", figures.critical_ms, &time);
    row("workers in use", figures.utilisation, &percent);
    row("cost", figures.cost_usd, &dollars);
    row("attempts", figures.attempts, &|n| format!("{n:.0}"));
    row("beads closed", figures.closed, &|n| format!("{n:.0}"));
    table
}

fn ended(figures: &StudyFigures) -> String {
    let words = |ending: &str| match ending {
        "done" => "closed everything",
        "needs_person" => "left something for you",
        "fatal" => "stopped before the end",
        "stopped" => "were stopped",
        "stuck" => "got stuck",
        _ => "took too long",
    };
    let all: Vec<String> = (figures.endings.iter())
        .map(|(ending, n)| format!("{n} {}", words(ending)))
        .collect();
    format!("rounds: {}", all.join(", "))
}

impl Again {
    fn said(&self) -> String {
        let launches = counted(self.n_launches, "launch", "launches");
        match self.first_difference {
            None => format!("repeated the recorded run: {launches}, all identical"),
            Some(n) => format!(
                "repeated the recorded run: {launches}, different from number {} on",
                n + 1
            ),
        }
    }
}

#[derive(Serialize)]
struct Data<'a> {
    beads: usize,
    workers: usize,
    rounds: u32,
    seed: u64,
    learned_from: usize,
    makespan_minutes: Percentiles,
    critical_path_minutes: Percentiles,
    utilisation: Percentiles,
    cost_usd: Percentiles,
    attempts: Percentiles,
    closed: Percentiles,
    endings: &'a BTreeMap<&'static str, u32>,
    first_in_first_out: FirstInFirstOut,
    critical_path: Vec<LinkData<'a>>,
    recorded: Option<Recorded<'a>>,
}

#[derive(Serialize)]
struct FirstInFirstOut {
    makespan_minutes: Percentiles,
    utilisation: Percentiles,
}

#[derive(Serialize)]
struct LinkData<'a> {
    bead: &'a BeadId,
    sprint: &'a str,
    title: &'a str,
    minutes: f64,
    share: f64,
}

#[derive(Serialize)]
struct Recorded<'a> {
    run: &'a str,
    launches: usize,
    is_identical: bool,
}

struct Link<'t> {
    task: &'t Task,
    took_ms: f64,
    share: f64,
}

impl<'t> Link<'t> {
    fn data(&self) -> LinkData<'t> {
        LinkData {
            bead: &self.task.id,
            sprint: &self.task.sprint,
            title: &self.task.title,
            minutes: rounded_minutes(self.took_ms),
            share: self.share,
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.task.sprint.clone(),
            self.task.id.to_string(),
            self.task.title.clone(),
            time(self.took_ms),
            percent(self.share),
        ]
    }
}
