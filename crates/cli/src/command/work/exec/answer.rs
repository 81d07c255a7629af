//! The answer when the work on a bead has ended, for people and programs.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod::DodBead;
use beads_ralph_core::text::visible;
use beads_ralph_runtime::exec::{Ending, Report};
use beads_ralph_runtime::repo;
use serde_json::json;

use super::Done;
use crate::command::work;
use crate::command::work::verify::red;
use crate::failure::Failure;
use crate::ui::format::{count, dollars, duration};
use crate::ui::{Ui, counted};

/// The answer at the end.
pub(super) fn answer(done: &Done, is_scratch: bool, ui: &Ui) -> Result<(), Failure> {
    let Done { bead, report, logs } = done;
    let data = json!({
        "bead": bead.id,
        "status": word(&report.ending),
        "iterations": report.iterations,
        "results": report.records,
        "evidence": report.evidence,
        "logs": logs.path(),
        "receipt": report.receipt,
        "duration_ms": u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
    });
    if !report.records.is_empty() {
        work::show(&report.records, ui)?;
    }
    let failure = match &report.ending {
        Ending::Completed if ui.is_json() => return ui.data(&data),
        Ending::Completed => {
            ui.say(&completed(bead, report, is_scratch));
            return Ok(());
        }
        Ending::Red => red(bead, &report.records),
        Ending::Failed(reason) => given_up(bead, report, reason),
        Ending::Interrupted => Failure::new(
            ErrorCode::ValidationConstraint,
            format!(
                "{} was interrupted; nothing that runs was left behind",
                bead.id
            ),
        )
        .action(format!("run `beads-ralph exec {}` to go on", bead.id)),
    };
    Err(failure.with_results(data))
}

/// How the work ended, in one word.
pub(crate) fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::Red => "red",
        Ending::Failed(_) => "failed",
        Ending::Interrupted => "interrupted",
    }
}

fn completed(bead: &DodBead, report: &Report, is_scratch: bool) -> String {
    let iterations = counted(report.iterations as usize, "iteration", "iterations");
    let evidence = match report.evidence.as_deref().map(repo::shown) {
        _ if is_scratch => "it was a copy, which is thrown away with its evidence\n".to_owned(),
        Some(path) => format!("evidence in {path}\n"),
        None => String::new(),
    };
    format!(
        "{} is completed: {iterations}, {}{}\n{evidence}",
        bead.id,
        duration(report.duration),
        cost(report),
    )
}

fn cost(report: &Report) -> String {
    let receipt = &report.receipt;
    if receipt.agent_calls == 0 {
        return String::new();
    }
    let tokens = format!("{} tokens", count(receipt.tokens.total()));
    let usd = dollars(receipt.usd);
    match receipt.calls_of_unknown_cost {
        0 => format!(", {tokens}, {usd}"),
        n if n == receipt.agent_calls && receipt.tokens.total() == 0 => ", cost unknown".to_owned(),
        n if n == receipt.agent_calls => format!(", {tokens}, cost unknown"),
        _ => format!(", {tokens}, at least {usd}"),
    }
}

fn given_up(bead: &DodBead, report: &Report, reason: &str) -> Failure {
    let iterations = counted(report.iterations as usize, "iteration", "iterations");
    let last = report
        .last_failure
        .as_deref()
        .filter(|last| *last != reason);
    let last = last.map_or(String::new(), |last| format!("; last: {}", visible(last)));
    let (reason, cost) = (visible(reason), cost(report));
    let message = format!(
        "{} failed after {iterations}{cost}: {reason}{last}",
        bead.id
    );
    Failure::new(ErrorCode::ValidationConstraint, message).action(format!(
        "see `beads-ralph logs {0}` for what agent and checks wrote, then run `beads-ralph exec --force {0}`",
        bead.id
    ))
}
