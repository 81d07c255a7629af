//! Sprints whose Definition of Done no machine checks (Z-31).

use crate::diag::{Diagnostic, WarningCode};
use crate::plan::Sprint;

/// How many sprints the message names.
const NAMED: usize = 5;

/// Points at the first of them; one warning for the whole plan, because plans without verifiers are legal.
pub(crate) fn no_machine_check(unchecked: &[&Sprint]) -> Option<Diagnostic> {
    let first = unchecked.iter().min_by_key(|sprint| sprint.line)?;
    let names: Vec<&str> = unchecked
        .iter()
        .take(NAMED)
        .map(|sprint| sprint.id.value.as_str())
        .collect();
    let more = if unchecked.len() > NAMED { ", …" } else { "" };
    let message = match unchecked {
        [only] => format!(
            "sprint {} has no machine check: QA agents alone will judge it",
            only.id.value
        ),
        several => format!(
            "{} sprints have no machine check: QA agents alone will judge them ({}{more})",
            several.len(),
            names.join(", ")
        ),
    };
    let finding = Diagnostic::new(WarningCode::NoMachineCheck, first.heading.span, message)
        .help("add, with your own command:\n**Verifiers**:\n- tests: `cargo test`");
    Some(finding)
}
