//! Where in its plan a bead comes from, as the plan stands now (Z-45).
//!
//! Beads remember the place that they were compiled from. Whoever edits a plan moves its lines, so the sprint is looked up by its
//! number where the plan can be read, and its digest says whether its text is still what was applied.

use std::collections::HashMap;

use beads_ralph_core::bead::SourceMap;
use beads_ralph_core::issue::Issue;
use beads_ralph_core::number::SprintId;
use beads_ralph_core::plan::Plan;
use beads_ralph_core::text::visible;
use beads_ralph_runtime::app::plan::PlanSource;
use beads_ralph_runtime::run::RunDirectory;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

/// The place of a sprint, and how it compares with what was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) place: SourceMap,
    pub(crate) state: State,
}

/// How the plan of today compares with what a bead was compiled from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The sprint says what it said.
    Same,
    /// The sprint says something else.
    Changed,
    /// The plan has no such sprint.
    Removed,
    /// The plan cannot be read from here.
    Unknown,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Unknown => "unknown",
        }
    }
}

impl Origin {
    /// For people: the place as editors read it, and what is to be known about it.
    pub(crate) fn words(&self) -> String {
        let place = &self.place;
        match self.state {
            State::Same => place.to_string(),
            State::Changed => format!("{place} (changed since it was applied)"),
            State::Removed => format!("{} (no longer there)", visible(&place.file)),
            State::Unknown => format!("{place} (when it was applied)"),
        }
    }

    pub(crate) fn to_json(&self) -> OriginJson<'_> {
        let SourceMap {
            file,
            line,
            column,
            digest,
        } = &self.place;
        OriginJson {
            file,
            line: *line,
            column: *column,
            digest,
            state: self.state.as_str(),
        }
    }
}

/// The same for programs.
#[derive(Debug, Serialize)]
pub(crate) struct OriginJson<'o> {
    file: &'o str,
    line: u32,
    column: u32,
    digest: &'o str,
    state: &'static str,
}

/// Finds places, and reads every plan once.
#[derive(Debug)]
pub(crate) struct Origins {
    root: Utf8PathBuf,
    plans: HashMap<String, Option<(PlanSource, Plan)>>,
}

impl Origins {
    /// For beads of the store in a directory; plans have their names from where that lies.
    pub(crate) fn of(store: &Utf8Path) -> Self {
        Self {
            root: store.parent().unwrap_or(store).to_owned(),
            plans: HashMap::new(),
        }
    }

    /// For the beads of a run, whose directory lies two levels below its store.
    pub(crate) fn of_run(run: &RunDirectory) -> Self {
        let runs = run.path().parent();
        Self::of(runs.and_then(Utf8Path::parent).unwrap_or(run.path()))
    }

    /// Where a bead comes from, if it knows that.
    pub(crate) fn find(&mut self, issue: &Issue) -> Option<Origin> {
        let metadata = issue.metadata()?;
        let sprint = metadata.get("sprint")?.as_str()?;
        Some(self.locate(&SourceMap::of(metadata)?, sprint))
    }

    /// Where a sprint stands now that stood somewhere when it was compiled.
    pub(crate) fn locate(&mut self, was: &SourceMap, sprint: &str) -> Origin {
        let at = |place: SourceMap, state| Origin { place, state };
        let root = &self.root;
        let plan = self.plans.entry(was.file.clone()).or_insert_with(|| {
            let path = root.join(&was.file);
            // What is no file, such as standard input, cannot be looked at again.
            let source = path.is_file().then(|| PlanSource::read(&path).ok())??;
            let plan = source.parse();
            Some((source, plan))
        });
        let Some((source, plan)) = plan else {
            return at(was.clone(), State::Unknown);
        };
        let found = SprintId::parse(sprint).and_then(|id| plan.sprint(&id));
        let Some(found) = found else {
            return at(was.clone(), State::Removed);
        };
        let digest = found.digest(source.text());
        let state = if digest == was.digest {
            State::Same
        } else {
            State::Changed
        };
        let now = SourceMap {
            line: u32::try_from(found.line).unwrap_or(u32::MAX),
            digest,
            ..was.clone()
        };
        at(now, state)
    }
}
