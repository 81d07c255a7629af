//! `metrics`: the figures of runs in the text format of Prometheus, from their journals, so that no process has to count.
//!
//! Data: `{"metrics": TEXT}`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::history::records::{Figures, figures_of_run};
use beads_ralph_core::history::{Chronicle, RunKind};
use beads_ralph_runtime::run::RunDirectory;
use beads_ralph_runtime::store;
use clap::Args;

use super::report::told;
use crate::args::here;
use crate::failure::Failure;
use crate::journal;
use crate::ui::{Ui, format};

pub(crate) fn run(args: &MetricsArgs, ui: &Ui) -> Result<(), Failure> {
    let mut metrics = Metrics::default();
    if args.all {
        let beads = store::find(&here()?)?.directory;
        for run in RunDirectory::all(&beads) {
            // A journal that cannot be told, of another version or damaged, keeps the others from nobody.
            match told(&run) {
                Ok(chronicle) => metrics.count(&chronicle),
                Err(failure) => ui.say(&format!("left out {}: {}\n", run.id(), failure.message())),
            }
        }
    } else {
        metrics.count(&told(&journal::find(&args.run)?)?);
    }
    if ui.is_json() {
        return ui.data_under("metrics", &metrics.text());
    }
    ui.out(&metrics.text())
}

/// Metrics by name; each with its labels and values, in order.
#[derive(Debug, Default)]
struct Metrics(BTreeMap<&'static str, BTreeMap<String, f64>>);

/// Every metric: its name, its type, and what it is.
const KNOWN: [(&str, &str, &str); 18] = [
    (
        "beads_ralph_active_seconds",
        "gauge",
        "Seconds in which at least one agent ran.",
    ),
    (
        "beads_ralph_agent_cost_usd_total",
        "counter",
        "Money that agents reported, in US dollars.",
    ),
    (
        "beads_ralph_agent_runs_total",
        "counter",
        "Runs of agents, by what they were for and how they ended.",
    ),
    (
        "beads_ralph_agent_seconds_total",
        "counter",
        "Seconds that agents ran.",
    ),
    (
        "beads_ralph_agent_tokens_total",
        "counter",
        "Tokens of agents.",
    ),
    (
        "beads_ralph_attempts_total",
        "counter",
        "Attempts on beads.",
    ),
    (
        "beads_ralph_bead_seconds_mean",
        "gauge",
        "Seconds that agents worked on a bead that was closed, on average; what ran at once counts once.",
    ),
    (
        "beads_ralph_bead_seconds_total",
        "counter",
        "Seconds from the claim to the end of beads that were closed.",
    ),
    ("beads_ralph_beads", "gauge", "Beads by where they stand."),
    (
        "beads_ralph_beads_per_hour",
        "gauge",
        "Beads that were closed for each hour in which an agent ran.",
    ),
    (
        "beads_ralph_checks_total",
        "counter",
        "Times that the checks of a bead were run.",
    ),
    (
        "beads_ralph_concurrency_mean",
        "gauge",
        "Agents at once, on average over the time in which any ran.",
    ),
    (
        "beads_ralph_qa_failure_ratio",
        "gauge",
        "The share of runs of a QA agent that did not pass.",
    ),
    (
        "beads_ralph_retry_ratio",
        "gauge",
        "The share of beads that took more than one attempt.",
    ),
    (
        "beads_ralph_run_began_seconds",
        "gauge",
        "When the run began, in seconds since 1970.",
    ),
    (
        "beads_ralph_run_info",
        "gauge",
        "The run, its version and how it ended.",
    ),
    (
        "beads_ralph_run_seconds",
        "gauge",
        "Seconds from the beginning to the last entry of the journal.",
    ),
    (
        "beads_ralph_success_ratio",
        "gauge",
        "The share of closed beads among those that were closed or blocked.",
    ),
];

impl Metrics {
    fn add(&mut self, name: &'static str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}=\"{}\"", label(value)))
            .collect();
        let series = self.0.entry(name).or_default();
        *series.entry(labels.join(",")).or_default() += value;
    }

    fn count(&mut self, chronicle: &Chronicle) {
        let run = chronicle.run.as_str();
        let outcome = match &chronicle.outcome {
            Some(outcome) => outcome.as_str(),
            None if chronicle.is_left => "left",
            None => "running",
        };
        let version = chronicle.version.as_str();
        let info = [("run", run), ("version", version), ("outcome", outcome)];
        self.add("beads_ralph_run_info", &info, 1.0);
        let began = chronicle.began.as_duration().as_secs_f64();
        self.add("beads_ralph_run_began_seconds", &[("run", run)], began);
        let took = chronicle.last.duration_since(chronicle.began).as_secs_f64();
        self.add("beads_ralph_run_seconds", &[("run", run)], took);
        for story in &chronicle.stories {
            let state = format::state_word(&story.state);
            self.add("beads_ralph_beads", &[("run", run), ("state", state)], 1.0);
            let n_attempts = number(story.attempts.len() as u64);
            self.add("beads_ralph_attempts_total", &[("run", run)], n_attempts);
            if state == "closed" {
                let seconds = number(story.took_ms()) / 1000.0;
                self.add("beads_ralph_bead_seconds_total", &[("run", run)], seconds);
            }
            for it in story.runs() {
                self.count_run(run, it);
            }
        }
        self.count_figures(run, figures_of_run(chronicle));
    }

    /// The rates of contracts §7.9; what cannot be told yet has no series.
    fn count_figures(&mut self, run: &str, figures: Figures) {
        if figures.worked_on == 0 {
            return;
        }
        let active = Some(figures.active_seconds);
        for (name, value) in [
            ("beads_ralph_active_seconds", active),
            (
                "beads_ralph_bead_seconds_mean",
                figures.mean_seconds_per_bead,
            ),
            ("beads_ralph_beads_per_hour", figures.beads_per_hour),
            ("beads_ralph_concurrency_mean", figures.mean_concurrency),
            ("beads_ralph_retry_ratio", figures.retry_rate),
            ("beads_ralph_success_ratio", figures.success_rate),
        ] {
            if let Some(value) = value {
                self.add(name, &[("run", run)], value);
            }
        }
        for (agent, share) in figures.qa_failure_rate {
            let labels = [("run", run), ("agent", agent.as_str())];
            self.add("beads_ralph_qa_failure_ratio", &labels, share);
        }
    }

    fn count_run(&mut self, run: &str, it: &beads_ralph_core::history::Run) {
        if it.kind == RunKind::Verify {
            let labels = [("run", run), ("result", it.status.as_str())];
            self.add("beads_ralph_checks_total", &labels, 1.0);
        }
        if !it.kind.is_agent() {
            return;
        }
        let who = [
            ("run", run),
            ("agent", it.agent.as_str()),
            ("model", it.model.as_deref().unwrap_or_default()),
            ("kind", it.kind.as_str()),
        ];
        let mut ended = who.to_vec();
        ended.push(("status", &it.status));
        self.add("beads_ralph_agent_runs_total", &ended, 1.0);
        let seconds = it.ended.duration_since(it.began).as_secs_f64();
        self.add("beads_ralph_agent_seconds_total", &who, seconds);
        self.add(
            "beads_ralph_agent_tokens_total",
            &who,
            number(it.spent.tokens),
        );
        let dollars = number(it.spent.micros) / 1_000_000.0;
        self.add("beads_ralph_agent_cost_usd_total", &who, dollars);
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, kind, help) in KNOWN {
            let Some(series) = self.0.get(name) else {
                continue;
            };
            _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in series {
                // Sums of money have digits that nobody paid.
                let value = (value * 1e6).round() / 1e6;
                _ = writeln!(text, "{name}{{{labels}}} {value}");
            }
        }
        text
    }
}

/// A count as the format writes it; real counts are small enough to be exact.
#[expect(
    clippy::cast_precision_loss,
    reason = "figures are for people and their charts"
)]
fn number(count: u64) -> f64 {
    count as f64
}

/// The value of a label, as the format wants it.
fn label(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

#[cfg(test)]
mod tests;

#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest", conflicts_with = "all")]
    pub(crate) run: String,
    /// All runs that have a journal
    #[arg(long)]
    pub(crate) all: bool,
}
