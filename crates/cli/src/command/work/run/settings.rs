//! How a run decides: the configuration, changed by the command line.

use std::collections::BTreeSet;
use std::time::Duration;

use beads_ralph_core::engine::{Backoff, Cap, Caps, Integration, IntegrationMode, Order, Settings};
use beads_ralph_core::issue::{Query, Record};
use beads_ralph_core::text::slug;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::config::{self, Allowance, Config};
use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::run::Selection;
use camino::Utf8Path;

use super::RunArgs;
use crate::failure::Failure;
use crate::ui::format::money;

/// The settings of a new run; its id is not known yet.
pub(crate) fn of(
    args: &RunArgs,
    config: &Config,
    mode: IntegrationMode,
    selection: &Selection,
    beads: &Beads,
) -> Result<Settings, Failure> {
    let target = match mode {
        IntegrationMode::Merge => target(config, selection, beads)?,
        IntegrationMode::None | IntegrationMode::Pr => String::new(),
    };
    let plain = configured(config, mode.into(|| target));
    Ok(Settings {
        selection: selection.clone(),
        seed: clock::wall().as_nanosecond().unsigned_abs().to_le_bytes()[..8]
            .try_into()
            .map_or(0, u64::from_le_bytes),
        max_parallel: args.max_parallel.map_or(plain.max_parallel, usize::from),
        watches: args.watch,
        is_once: args.once,
        ..plain
    })
}

/// What the configuration alone says about how a run decides.
pub(in crate::command) fn configured(config: &Config, integration: Integration) -> Settings {
    let run = &config.run;
    Settings {
        run: String::new(),
        selection: Selection::default(),
        seed: 0,
        max_parallel: run.max_parallel_sessions,
        poll_ms: milliseconds(run.poll_interval),
        max_tries: run.network_retries,
        max_limit_tries: run.limit_retries,
        backoff: backoff(run.network_backoff),
        limit_backoff: backoff(run.rate_limit_backoff),
        max_pull_tries: run.pr_creation_retries,
        integration,
        leader: config.scrum_master,
        order: Order::Urgency,
        caps: Caps {
            attempt: cap(&config.budgets.attempt),
            bead: cap(&config.budgets.bead),
            team: cap(&config.budgets.team),
            run: cap(&config.budgets.run),
        },
        cleans_up: config.worktrees.cleanup_on_complete,
        watches: false,
        is_once: false,
    }
}

/// The branch that work is merged into: `ralph/<plan>` (Z-11). Beads of several plans share one.
fn target(config: &Config, selection: &Selection, beads: &Beads) -> Result<String, Failure> {
    if let Some(target) = &config.integration.target {
        return Ok(target.clone());
    }
    let plans = match &selection.plan {
        Some(plan) => BTreeSet::from([plan.clone()]),
        None => plans_of(beads)?,
    };
    let mut plans = plans.iter();
    Ok(match (plans.next(), plans.next()) {
        (Some(plan), None) => target_of(plan),
        _ => target_of(""),
    })
}

/// The branch that the beads of a plan are merged into, unless the user names another.
pub(crate) fn target_of(plan: &str) -> String {
    let name = slug(Utf8Path::new(plan).file_stem().unwrap_or_default());
    format!("ralph/{}", if name.is_empty() { "work" } else { &name })
}

fn plans_of(beads: &Beads) -> Result<BTreeSet<String>, Failure> {
    let records = beads.store.find(&Query::default())?;
    let plan = |record: &Record| {
        Some(
            record
                .issue
                .metadata()?
                .get("plan_file")?
                .as_str()?
                .to_owned(),
        )
    };
    Ok(records.iter().filter_map(plan).collect())
}

fn backoff(backoff: config::Backoff) -> Backoff {
    match backoff {
        config::Backoff::Exponential => Backoff::Exponential,
        config::Backoff::Linear => Backoff::Linear,
        config::Backoff::Constant => Backoff::Constant,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is positive, and nobody may spend so much"
)]
fn cap(allowance: &Allowance) -> Cap {
    Cap {
        micros: allowance.usd.map(|usd| (usd * 1e6) as u64),
        tokens: allowance.tokens,
        turns: allowance.turns,
        time_ms: allowance
            .minutes
            .map(|minutes| minutes.saturating_mul(60_000)),
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What may be spent, in words (Z-13: caps are printed at the start).
pub(super) fn caps(caps: &Caps) -> String {
    let levels = [
        ("an attempt", &caps.attempt),
        ("a bead", &caps.bead),
        ("a team", &caps.team),
        ("the run", &caps.run),
    ];
    let said: Vec<String> = levels
        .iter()
        .filter_map(|(name, cap)| Some(format!("{} {name}", one(cap)?)))
        .collect();
    if said.is_empty() {
        return "no caps on what is spent".to_owned();
    }
    format!("caps: {}", said.join(", "))
}

fn one(cap: &Cap) -> Option<String> {
    let parts = [
        cap.micros.map(money),
        cap.tokens.map(|tokens| format!("{tokens} tokens")),
        cap.turns.map(|turns| format!("{turns} turns")),
        cap.time_ms.map(|time| format!("{} minutes", time / 60_000)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}
