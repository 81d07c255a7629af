//! A label that no store takes (Z-21).

use crate::diag::{Diagnostic, ErrorCode};
use crate::issue::Label;
use crate::plan::Sprint;

/// Points at every such label.
pub(crate) fn wrong_labels(sprint: &Sprint) -> impl Iterator<Item = Diagnostic> {
    sprint.body().labels.iter().filter_map(|label| {
        let wrong = Label::parse(&label.value).err()?;
        let message = format!("sprint {}: {wrong}", sprint.id.value);
        Some(Diagnostic::new(
            ErrorCode::ValidationInvalidPattern,
            label.span,
            message,
        ))
    })
}
