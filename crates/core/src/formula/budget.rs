//! A bound on what a formula can become, so that a few lines cannot fill a disk.

use super::model::{Step, parts};
use super::place::{Findings, Place};

/// The most steps of a molecule.
pub const MAX_STEPS: usize = 10_000;

/// The most bytes of text of a molecule.
pub const MAX_TEXT: usize = 32 * 1024 * 1024;

/// The most needs of a molecule's steps, all together.
pub(super) const MAX_NEEDS: usize = 100_000;

/// What is left.
#[derive(Debug)]
pub(super) struct Budget {
    steps: usize,
    text: usize,
    needs: usize,
    is_exhausted: bool,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            steps: MAX_STEPS,
            text: MAX_TEXT,
            needs: MAX_NEEDS,
            is_exhausted: false,
        }
    }

    /// Takes what a copy of some steps needs; says so, once, when there is not enough.
    pub(super) fn take(&mut self, steps: &[Step], place: Place, findings: &mut Findings) -> bool {
        self.spend(parts(steps).count(), text_size(steps), place, findings)
    }

    /// The bytes of text that are left.
    pub(super) fn text_left(&self) -> usize {
        self.text
    }

    /// A step was replaced by others.
    pub(super) fn give_back_step(&mut self) {
        self.steps += 1;
    }

    /// Takes what some needs cost.
    pub(super) fn take_needs(&mut self, n: usize, place: Place, findings: &mut Findings) -> bool {
        if let (Some(needs), false) = (self.needs.checked_sub(n), self.is_exhausted) {
            self.needs = needs;
            return true;
        }
        if !std::mem::replace(&mut self.is_exhausted, true) {
            let message =
                format!("the steps of the formula need each other more than {MAX_NEEDS} times");
            let help = "put a step between many that come before and many that come after";
            findings.refuse(place, message, help);
        }
        false
    }

    /// Takes some bytes of text.
    pub(super) fn take_text(
        &mut self,
        bytes: usize,
        place: Place,
        findings: &mut Findings,
    ) -> bool {
        self.spend(0, bytes, place, findings)
    }

    fn spend(
        &mut self,
        n_steps: usize,
        n_bytes: usize,
        place: Place,
        findings: &mut Findings,
    ) -> bool {
        match (
            self.steps.checked_sub(n_steps),
            self.text.checked_sub(n_bytes),
        ) {
            (Some(steps), Some(text)) if !self.is_exhausted => {
                (self.steps, self.text) = (steps, text);
                true
            }
            (steps, _) => {
                if !std::mem::replace(&mut self.is_exhausted, true) {
                    let message = if steps.is_none() {
                        format!("the formula makes more than {MAX_STEPS} steps")
                    } else {
                        format!("the formula makes more than {} MiB of text", MAX_TEXT >> 20)
                    };
                    let help = "look for a loop or an expansion that makes more than it should";
                    findings.refuse(place, message, help);
                }
                false
            }
        }
    }
}

/// The bytes of all texts of some steps.
pub(super) fn text_size(steps: &[Step]) -> usize {
    parts(steps).map(size).sum()
}

/// The bytes of a step's texts, nearly.
fn size(step: &Step) -> usize {
    let text = |text: &Option<super::place::Placed<String>>| {
        text.as_ref().map_or(0, |text| text.value.len())
    };
    let labels: usize = (step.labels.iter().chain(&step.needs))
        .map(|label| label.value.len())
        .sum();
    let values: usize = step.expand_vars.iter().map(|(_, value)| value.len()).sum();
    let gate = step.gate.as_ref();
    let gate = gate.map_or(0, |gate| text(&gate.await_id) + text(&gate.repo));
    let metadata = (step.metadata.as_ref()).map_or(0, |metadata| {
        serde_json::to_string(&metadata.value).map_or(0, |text| text.len())
    });
    let own = [&step.description, &step.notes, &step.assignee, &step.kind];
    let own: usize = own.into_iter().map(text).sum();
    step.id.value.len() + step.title.value.len() + own + labels + values + gate + metadata
}
