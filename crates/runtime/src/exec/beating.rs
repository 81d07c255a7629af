//! Signs of life while something runs.

use super::keeper::Keeper;
use crate::os::process::Cancel;
use crate::progress::{Listener, News};

/// Says that the bead is still worked on, as often as whoever keeps it needs to hear it, and stops the work when it is ours no
/// longer.
pub(super) struct Beating<'a> {
    pub(super) keeper: &'a mut dyn Keeper,
    pub(super) cancel: &'a Cancel,
    pub(super) listener: &'a mut dyn Listener,
}

impl Listener for Beating<'_> {
    fn hear(&mut self, news: &News<'_>) {
        if matches!(news, News::Running { .. } | News::Waiting { .. })
            && let Err(lost) = self.keeper.beat()
        {
            self.listener.hear(&News::Warning(&lost.to_string()));
            self.cancel.cancel();
        }
        self.listener.hear(news);
    }
}
