//! Making a candidate plainer: advice, taken back when a test fails after it.

use beads_ralph_core::agent::Part;
use beads_ralph_core::check::is_green;
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::simplify_prompt;

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::calling::Errand;
use super::super::checking::Examination;
use super::super::ending::{ImplementError, Stop};
use super::super::hold::Held;
use super::super::session::later_session_id;
use crate::check::Ground;

const SIMPLIFIER: &str = "simplifier";

impl Dispatcher<'_> {
    /// Lets somebody simplify, and runs the tests again; whether one failed, so that it was taken back.
    pub(super) fn simplify(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        base: &CommitId,
        tests: &str,
        cycle: u32,
    ) -> Result<bool, Stop> {
        let before = self.snapshot(assignment)?;
        let report = assignment.report(&assignment.agent, Some(cycle))?;
        let report = self.site.beads.join(report);
        let source = &assignment.source.issue;
        let worktree = assignment.place.as_str();
        let errand = Errand {
            name: SIMPLIFIER,
            adapter: None,
            model: None,
            prompt: simplify_prompt(source, worktree, &base.0),
            part: Part::Worker,
            attempt: cycle,
            schema: None,
            report: None,
            session: later_session_id(
                source.id().as_str(),
                assignment.stage.as_str(),
                &format!("{}:simplify:{cycle}", held.fence.0),
            ),
            directory: report.with_file_name(format!("{SIMPLIFIER}-iter{cycle}.run")),
            limit: self.site.config.implement.worker_timeout,
            mark: self.site.mark.below(),
        };
        match self.outcome(assignment, held, &errand) {
            Ok(_) => {}
            // It is advice: without anybody to give it, the work stays as it is.
            Err(Stop::Error(error)) if matches!(*error, ImplementError::NotReady { .. }) => {
                return Ok(false);
            }
            Err(stop) => return Err(stop),
        }
        let after = self.snapshot(assignment)?;
        if after == before {
            self.decide("R-8", "there was nothing to simplify");
            return Ok(false);
        }
        let is_whole = after.1.is_none() && self.tests_hold(assignment, tests, &errand, held)?;
        if is_whole {
            self.decide("R-8", "it was simplified, and its tests hold");
            return Ok(false);
        }
        self.undo(assignment, before.0.as_ref(), cycle)?;
        Ok(true)
    }

    fn tests_hold(
        &mut self,
        assignment: &Assignment,
        tests: &str,
        errand: &Errand<'_>,
        held: &mut Held,
    ) -> Result<bool, Stop> {
        let examination = Examination {
            commands: &[tests],
            worktree: &assignment.place,
            ground: Ground::AsItIs,
            logs: &errand.directory.join("tests"),
            base: None,
        };
        let records = self.examined(held, examination)?;
        Ok(is_green(&records))
    }
}
