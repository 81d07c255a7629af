//! The molecule of a bead that has none: its formula is chosen and poured, with the label that links both, in one step (I-3, I-7…I-9, Z-36).

use beads_ralph_core::formula::{Compilation, Finding, Given, Molecule, Strictness, compile};
use beads_ralph_core::implement::{Choice, Policy, choose_formula, link_label, pour_values};
use beads_ralph_core::issue::Record;

use super::Dispatcher;
use super::ending::{Ending, Stop};
use super::native::REQUIRED;
use crate::pour::{Order, PourError, pour};
use crate::store::StoreError;

impl Dispatcher<'_> {
    /// Pours, unless somebody else changed the source meanwhile: then whoever calls looks again.
    pub(super) fn pour(&mut self, source: &Record) -> Result<(), Stop> {
        let name = match choose_formula(&source.issue) {
            Choice::Formula(name) => name,
            Choice::Human(note) => return Err(Stop::human("I-7", note)),
        };
        self.decide(
            "I-7",
            format!("there is no molecule; the formula is {name}"),
        );
        let molecule = self.compiled(source, &name)?;
        let stages: Vec<&str> = molecule.steps.iter().map(|step| step.id.as_str()).collect();
        self.decide("I-8", format!("it makes {}", stages.join(", ")));
        if self.is_dry {
            self.warn_of_labels(source);
            return Err(Stop::Ended(Ending::DryRun));
        }
        let labels = [link_label(source.issue.id())];
        let order = Order {
            molecule: &molecule,
            attached: &[],
            assignee: None,
            labels: &labels,
            is_wisp: false,
            for_bead: Some(source),
        };
        match pour(self.store, &order, self.site.stamp()) {
            Ok(poured) => {
                let root = poured.first().map(|main| main.root.to_string());
                let root = root.unwrap_or_default();
                self.decide("I-3", format!("poured {root}, labelled {}", labels[0]));
                Ok(())
            }
            Err(PourError::Store(StoreError::Guard { .. })) => {
                self.decide("Z-36", "somebody changed the bead meanwhile; looking again");
                Ok(())
            }
            Err(PourError::Store(error)) => Err(error.into()),
            Err(error @ PourError::Invalid(_)) => Err(refused(&name, &error.to_string())),
        }
    }

    /// What a person would be asked about before anything is done.
    fn warn_of_labels(&mut self, source: &Record) {
        if let Err(conflict) = Policy::of(&source.issue) {
            self.decide("§9.13", format!("a person would be asked: {conflict}"));
        }
        let missing: Vec<&str> = (REQUIRED.into_iter())
            .filter(|label| !source.issue.has_label(label))
            .collect();
        if !missing.is_empty() {
            let text = format!("a person would be asked: it lacks {}", missing.join(", "));
            self.decide("§9.13", text);
        }
    }

    fn compiled(&self, source: &Record, name: &str) -> Result<Molecule, Stop> {
        let values = pour_values(&source.issue);
        let given = Given::Offered(&values);
        let compilation = compile(self.site.formulas, name, given, Strictness::Strict)
            .map_err(|absent| refused(name, &absent.to_string()))?;
        let errors = errors(&compilation);
        match compilation.molecule {
            Some(molecule) => Ok(molecule),
            None => Err(refused(name, &errors)),
        }
    }
}

/// A formula that cannot be poured is for a person, and nothing was written (I-9).
fn refused(name: &str, why: &str) -> Stop {
    Stop::human(
        "I-9",
        format!("implement-bead: the formula {name} cannot be poured: {why}"),
    )
}

fn errors(compilation: &Compilation) -> String {
    let findings = compilation.findings.iter().filter(|it| it.is_error());
    let messages: Vec<String> = findings.map(message).collect();
    messages.join("; ")
}

fn message(finding: &Finding) -> String {
    finding.diagnostic.message.to_string()
}
