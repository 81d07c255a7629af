//! Statuses as the flags of lists name them.

use beads_ralph_core::vocabulary::Status;

use super::{Opened, Refusal, input, list};

/// Statuses with commas between them, each of which there is.
pub(super) fn named(opened: &Opened, text: &str) -> Result<Vec<String>, Refusal> {
    let parts: Vec<String> = text.split(',').map(|part| part.trim().to_owned()).collect();
    for part in &parts {
        if !input::is_status(opened, part)? {
            let custom = opened.custom_statuses()?;
            return Err(list::invalid_status(part, parts.len() > 1, &custom));
        }
    }
    Ok(parts)
}

/// The statuses of beads that are over, or laid aside.
pub(super) fn finished(opened: &Opened) -> Result<Vec<String>, Refusal> {
    let mut statuses = vec![Status::Closed.into(), Status::Pinned.into()];
    let custom = opened.custom_statuses()?.into_iter();
    let over = custom.filter(|(_, category)| matches!(category.as_str(), "done" | "frozen"));
    statuses.extend(over.map(|(name, _)| name));
    Ok(statuses)
}
