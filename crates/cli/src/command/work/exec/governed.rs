//! Whether a bead may be begun: a red gate holds features back (G-3).

use beads_ralph_core::gate::Applicant;
use beads_ralph_core::text::visible;

use super::Exec;
use crate::args::Global;
use crate::command::gate;
use crate::command::work::Target;
use crate::failure::Failure;

/// Where a bead in a file notes, in its `ralph_meta`, that it was begun in spite of red gates.
pub(super) const OVERRULED: &str = "gates_overruled";

impl Exec<'_> {
    /// Asks whether the bead may be begun. The answer is what `--force` overrules, in words; what is only looked at or checked needs no permission.
    pub(super) fn permit(
        &self,
        target: &Target,
        global: &Global,
    ) -> Result<Option<String>, Failure> {
        let bead = target.bead();
        let begins = !self.args.verify_only && !self.args.dry_run;
        if !begins || self.leaves(bead) {
            return Ok(None);
        }
        let applicant = match target {
            Target::File(file) => Applicant::of_bead(file.bead()),
            Target::Stored(stored) => Applicant::of_issue(&stored.record.issue),
        };
        if !applicant.is_feature {
            return Ok(None);
        }
        let gates = gate::gates(global)?;
        match gates.permission(&applicant) {
            Ok(()) => Ok(None),
            Err(denied) if self.args.force => {
                let reason = denied.to_string();
                let warning = visible(&reason);
                self.ui.say(&format!(
                    "warning: {warning}; begun all the same, and the bead says so\n"
                ));
                Ok(Some(reason))
            }
            Err(denied) => Err(gate::refused(&denied, &bead.id)),
        }
    }
}
