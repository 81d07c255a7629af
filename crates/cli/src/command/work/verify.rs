//! `verify`: the checks of one bead, run once. The bead is left as it is.
//!
//! Data: `{bead, passed: true, results: […], evidence}`; a failure has `error.results`.

use std::collections::BTreeMap;

use beads_ralph_core::check::{CheckRecord, is_green, summary};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod::DodBead;
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::check::{Again, Base, Checks, Ground};
use beads_ralph_runtime::os::process::{Cancel, Mark, Units};
use beads_ralph_runtime::work_dir::Tree;
use beads_ralph_runtime::{config, os::clock, repo};
use clap::Args;
use serde_json::json;

use crate::args::{BeadChoice, Global};
use crate::command::work::{self, Target};
use crate::failure::Failure;
use crate::ui::live::Live;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) choice: BeadChoice,
}

pub(crate) fn run(args: &VerifyArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let ralph = work::project()?;
    let config = config::load(Some(&work::main_root(ralph.root())))?;
    let target = Target::find(&args.choice, &ralph, &config.default_checks, global)?;
    let bead = target.bead();
    let root = target.workplace(ralph.root())?;
    ralph.prepare()?;
    let evidence = ralph.evidence(&bead.id);
    let logs = evidence.begin(clock::now())?;
    let (units, cancel) = (Units::own()?, Cancel::on_signals()?);
    let main = work::main_root(ralph.root());
    let commit = target.base_commit();
    let base = commit.as_deref();
    let base = base.map(|base| Base::new(&main, base, &config.worktrees));
    let head = Tree::at(&root, &main, &units).head();
    let checks = Checks {
        units: &units,
        cancel: &cancel,
        root: &root,
        home: &main,
        shell: &config.shell,
        withhold: &config.agents.withhold_env,
        env: &BTreeMap::new(),
        ground: Ground::of(root != *ralph.root()),
        mark: &Mark::unique(),
        logs: logs.path(),
        again: Again {
            retries: config.flaky_retries,
            base: base.as_ref(),
        },
    };
    let records = {
        let mut live = Live::new(ui);
        checks.run(&bead.dod.verifiers, &|| None, &mut live)
    };
    let record = json!({"bead_id": bead.id, "passed": is_green(&records), "commit": head, "results": records});
    let kept = evidence.record("verify", clock::now(), &record)?;
    work::show(&records, ui)?;
    if !is_green(&records) {
        return Err(red(bead, &records).with_results(work::results(bead, &records)));
    }
    if ui.is_json() {
        return ui
            .data(&json!({"bead": bead.id, "passed": true, "results": records, "evidence": kept}));
    }
    let checks = counted(records.len(), "check", "checks");
    ui.say(&format!(
        "{checks} passed; evidence in {}\n",
        repo::shown(&kept)
    ));
    Ok(())
}

/// That the Definition of Done is not met.
pub(crate) fn red(bead: &DodBead, records: &[CheckRecord]) -> Failure {
    let n_skipped = records.iter().filter(|record| record.skipped).count();
    let n_passed = records.iter().filter(|record| record.passed).count();
    let n_failed = records.len() - n_passed - n_skipped;
    let skipped = match n_skipped {
        0 => String::new(),
        n_skipped => format!(", {n_skipped} not run"),
    };
    let message = format!(
        "{n_failed} of {} did not pass{skipped}: {}",
        counted(records.len(), "check", "checks"),
        visible(&summary(records))
    );
    Failure::new(ErrorCode::ValidationConstraint, message).action(format!(
        "see `beads-ralph logs {}` for what the checks wrote",
        excerpt(&bead.id)
    ))
}
