//! A title that is too long for what is done with titles.

use crate::diag::{Diagnostic, ErrorCode};
use crate::issue::check_title;
use crate::plan::Sprint;

/// Points at the heading.
pub(crate) fn long_title(sprint: &Sprint) -> Option<Diagnostic> {
    let long = check_title(&sprint.title.value).err()?;
    let message = format!("sprint {}: {long}", sprint.id.value);
    let finding = Diagnostic::new(
        ErrorCode::ValidationConstraint,
        sprint.heading.span,
        message,
    );
    Some(
        finding
            .label("the title of the sprint")
            .help("keep the heading short, and put the rest below it"),
    )
}
