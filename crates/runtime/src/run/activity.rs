//! What is going on in a run while nothing is decided: who works on what, and the last thing that was heard.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use beads_ralph_core::agent::SpentSoFar;
use beads_ralph_core::bead::BeadId;
use beads_ralph_core::text::without_colour;

use super::main_checkout::MainCheckout;
use crate::agent::Observer;
use crate::os::process::{Cancel, Mark, Units};
use crate::progress::{Listener, News};

/// What is going on: for each bead the agent or check and the last thing it said, and what people should know besides.
#[derive(Debug, Clone, Default)]
pub struct Activity {
    doing: Arc<Mutex<BTreeMap<BeadId, Doing>>>,
    notices: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Doing {
    pub who: String,
    pub line: String,
}

impl Activity {
    pub fn of(&self, bead: &BeadId) -> Option<Doing> {
        self.doing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(bead)
            .cloned()
    }

    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn notice(&self, text: String) {
        self.notices
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
    }

    pub(super) fn begins(&self, bead: &BeadId, who: &str) {
        let doing = Doing {
            who: who.to_owned(),
            line: String::new(),
        };
        self.doing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(bead.clone(), doing);
    }

    pub(super) fn says(&self, bead: &BeadId, line: &str) {
        if let Some(doing) = self
            .doing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_mut(bead)
        {
            doing.line = without_colour(line).into_owned();
        }
    }

    pub(super) fn ends(&self, bead: &BeadId) {
        self.doing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(bead);
    }
}

/// Takes what is heard to whoever looks.
pub(super) struct Watching<'a> {
    pub(super) bead: &'a BeadId,
    pub(super) activity: &'a Activity,
}

impl Listener for Watching<'_> {
    fn hear(&mut self, news: &News<'_>) {
        match news {
            News::CheckBegins { name, .. } => self.activity.says(self.bead, name),
            News::Running {
                line: Some(line), ..
            } => self.activity.says(self.bead, line),
            _ => {}
        }
    }
}

/// Looks after an agent: takes what is heard to whoever looks, and stops it when it meddles with the user's checkout (Z-17).
pub(super) struct Guarding<'a> {
    pub(super) bead: &'a BeadId,
    pub(super) name: &'a str,
    pub(super) activity: &'a Activity,
    pub(super) main: &'a MainCheckout,
    pub(super) units: &'a Units,
    pub(super) mark: &'a Mark,
    pub(super) cancel: &'a Cancel,
    /// How often the checkout had changed when it was last looked at.
    pub(super) n_known: u64,
    /// What it was stopped for.
    pub(super) stray: Option<String>,
}

impl Observer for Guarding<'_> {
    fn seen(&mut self, activity: Option<&str>, _: Option<&str>, _: &SpentSoFar) {
        if let Some(activity) = activity {
            self.activity.says(self.bead, activity);
        }
    }

    fn silent(&mut self, silence: Duration, deadline: Duration) {
        let (silence, deadline) = (silence.as_secs(), deadline.as_secs());
        self.activity.notice(format!(
            "{}: no output from {} for {silence} s; it is stopped after {deadline} s without output; see beads-ralph logs {} -f",
            self.bead, self.name, self.bead
        ));
    }

    fn tick(&mut self, _: Duration) {
        let (n_changes, is_finder) = self.main.look(self.units);
        if n_changes == self.n_known {
            return;
        }
        self.n_known = n_changes;
        if let Some(what) = self.main.trace(self.mark) {
            self.stray = Some(what);
            self.cancel.cancel();
        } else if is_finder {
            let text = "the main checkout changed while agents ran; no agent was seen changing it";
            self.activity.notice(text.to_owned());
        }
    }
}
