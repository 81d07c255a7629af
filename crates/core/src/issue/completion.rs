//! When a molecule is complete (F-14): closing its last step closes its root.
//!
//! A root is a bead of the type `molecule`, wherever it stands, so that a molecule that is attached to another one, or is part of
//! an epic, closes too. So does a step of a molecule that is an epic: it is nothing but its parts. At the very top of a family a root may also be one of the other two kinds that `bd` closes: an epic
//! or a template that is short-lived, and an epic made from a template. Every other parent is closed by whoever works on it.
//!
//! Everything below a root counts, children of steps and gates too, and all of it must be closed; `pinned` is not. A root
//! that somebody holds is left to its holder, and one that is pinned or closed is left as it is. What counts is that a step is closed:
//! deleting the last one that is open, or taking it elsewhere, closes nothing.

use std::collections::{HashSet, VecDeque};

use super::dependency::Effect;
use super::model::Issue;
use super::readiness::Standing;
use crate::bead::BeadId;
use crate::vocabulary::{IssueType, label, metadata};

/// The reason of a root that closed because its steps are.
pub const ALL_STEPS_COMPLETE: &str = "all steps complete";

/// Whether an issue is a step of a molecule that was poured.
pub fn is_step(issue: &Issue) -> bool {
    let metadata = issue.metadata();
    metadata.is_some_and(|metadata| metadata.contains_key(metadata::STAGE))
}

/// Whether an issue is nothing but its parts and closes with them: a molecule, or a step of one that is an epic.
pub fn is_made_of_parts(issue: &Issue) -> bool {
    issue.issue_type() == IssueType::Molecule
        || (issue.issue_type() == IssueType::Epic && is_step(issue))
}

/// What a family can be asked, and told.
pub trait Family {
    /// Why it could not be asked or told.
    type Error;

    /// What an issue is to the rule; nothing when there is no such issue.
    fn member(&self, id: &BeadId) -> Result<Option<Member>, Self::Error>;

    /// The direct parts of an issue.
    fn parts(&self, id: &BeadId) -> Result<Parts, Self::Error>;

    /// Closes a root whose steps are closed.
    fn complete(&mut self, root: &BeadId) -> Result<(), Self::Error>;
}

/// The direct parts of an issue, as far as it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// One of them at least is not closed.
    Unfinished,
    /// All of them are closed: these.
    Closed(Vec<BeadId>),
}

/// What an issue is to the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    parents: Vec<BeadId>,
    is_root: bool,
    is_root_at_top: bool,
    can_close: bool,
}

impl Member {
    /// An issue, and whether somebody holds it.
    pub fn of(issue: &Issue, is_held: bool) -> Self {
        let is_epic = issue.issue_type() == IssueType::Epic;
        let is_root = is_made_of_parts(issue);
        let (is_template, is_wisp) = (issue.has_label(label::TEMPLATE), issue.flag("ephemeral"));
        Self {
            parents: (issue.dependencies().iter())
                .filter(|edge| edge.effect() == Effect::Parent)
                .map(|edge| edge.target().clone())
                .collect(),
            is_root,
            is_root_at_top: is_root
                || (is_epic && (is_template || is_wisp))
                || (is_template && is_wisp),
            can_close: issue.standing() == Standing::Pending && !is_held,
        }
    }

    fn closes_by_itself(&self) -> bool {
        let is_root = if self.parents.is_empty() {
            self.is_root_at_top
        } else {
            self.is_root
        };
        is_root && self.can_close
    }
}

/// Closes every root that is complete now that some issues are closed, the innermost first, and says which. Asking again closes
/// nothing more.
pub fn close_completed<F: Family>(
    family: &mut F,
    closed: &[BeadId],
) -> Result<Vec<BeadId>, F::Error> {
    let mut done = Vec::new();
    // What was looked at in vain; a root that closes may complete what it is a part of.
    let mut seen: HashSet<BeadId> = HashSet::new();
    for id in closed {
        let mut above: VecDeque<BeadId> = parents_of(family, id)?.into();
        while let Some(id) = above.pop_front() {
            if !seen.insert(id.clone()) {
                continue;
            }
            let Some(member) = family.member(&id)? else {
                continue;
            };
            if member.closes_by_itself() && is_complete(family, &id)? {
                family.complete(&id)?;
                seen.clear();
                done.push(id);
            }
            above.extend(member.parents);
        }
    }
    Ok(done)
}

fn parents_of<F: Family>(family: &F, id: &BeadId) -> Result<Vec<BeadId>, F::Error> {
    let member = family.member(id)?;
    Ok(member.map(|member| member.parents).unwrap_or_default())
}

/// Whether there is something below a root, and all of it is closed.
fn is_complete<F: Family>(family: &F, root: &BeadId) -> Result<bool, F::Error> {
    let mut seen = HashSet::from([root.clone()]);
    let mut left = vec![root.clone()];
    while let Some(id) = left.pop() {
        match family.parts(&id)? {
            Parts::Unfinished => return Ok(false),
            Parts::Closed(parts) => {
                let new = parts.into_iter().filter(|part| seen.insert(part.clone()));
                left.extend(new);
            }
        }
    }
    Ok(seen.len() > 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use serde_json::{Value, json};

    use super::*;
    use crate::issue::Edit;

    #[derive(Default)]
    struct World(BTreeMap<String, (Issue, bool)>);

    impl World {
        /// Issues as `id`, `type`, `status`, `parent`, and what else they have.
        fn new(issues: &[(&str, &str, &str, &str, Value)]) -> Self {
            let mut world = Self::default();
            for (id, kind, status, parent, more) in issues {
                let mut document =
                    json!({"id": id, "title": id, "issue_type": kind, "status": status});
                if !parent.is_empty() {
                    document["dependencies"] =
                        json!([{"depends_on_id": parent, "type": "parent-child"}]);
                }
                if *status == "closed" {
                    document["closed_at"] = json!("2026-01-01T00:00:00Z");
                }
                let is_held = more.get("held").is_some();
                let fields = document.as_object_mut().unwrap();
                fields.extend(more.as_object().cloned().unwrap_or_default());
                let issue = Issue::without_comments(document).unwrap();
                world.0.insert((*id).to_owned(), (issue, is_held));
            }
            world
        }

        fn closed_by(mut self, id: &str) -> Vec<String> {
            let done = close_completed(&mut self, &[BeadId::parse(id).unwrap()]).unwrap();
            assert_eq!(
                close_completed(&mut self, &[BeadId::parse(id).unwrap()]),
                Ok(Vec::new()),
                "asking again closes nothing"
            );
            done.iter().map(BeadId::to_string).collect()
        }
    }

    impl Family for World {
        type Error = Infallible;

        fn member(&self, id: &BeadId) -> Result<Option<Member>, Infallible> {
            let found = self.0.get(id.as_str());
            Ok(found.map(|(issue, is_held)| Member::of(issue, *is_held)))
        }

        fn parts(&self, id: &BeadId) -> Result<Parts, Infallible> {
            let is_part = |issue: &&Issue| issue.parents().any(|parent| parent == id);
            let parts = self.0.values().map(|(issue, _)| issue).filter(is_part);
            let parts: Vec<&Issue> = parts.collect();
            if parts.iter().any(|part| part.status() != "closed") {
                return Ok(Parts::Unfinished);
            }
            let ids = parts.iter().map(|part| part.id().clone());
            Ok(Parts::Closed(ids.collect()))
        }

        fn complete(&mut self, root: &BeadId) -> Result<(), Infallible> {
            let (issue, _) = self.0.get_mut(root.as_str()).unwrap();
            let edit = Edit::Close(ALL_STEPS_COMPLETE.to_owned());
            let now = crate::bead::Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
            let change = crate::issue::apply(issue, &[edit], &now).unwrap();
            *issue = change.unwrap().issue;
            Ok(())
        }
    }

    fn none() -> Value {
        json!({})
    }

    #[test]
    fn f_14_the_last_step_closes_the_root() {
        let world = |second: &str| {
            World::new(&[
                ("m", "molecule", "open", "", none()),
                ("m-a", "task", "closed", "m", none()),
                ("m-b", "task", second, "m", none()),
            ])
        };
        assert_eq!(world("closed").closed_by("m-a"), ["m"]);
        for status in ["open", "in_progress", "blocked", "pinned", "deferred"] {
            assert!(world(status).closed_by("m-a").is_empty(), "{status}");
        }
    }

    #[test]
    fn f_14_children_of_steps_and_gates_count() {
        let world = |inner: &str, gate: &str| {
            World::new(&[
                ("m", "molecule", "open", "", none()),
                ("m-a", "epic", "closed", "m", none()),
                ("m-b", "task", inner, "m-a", none()),
                ("m-gate-a", "gate", gate, "m", none()),
            ])
        };
        assert_eq!(world("closed", "closed").closed_by("m-b"), ["m"]);
        assert!(world("open", "closed").closed_by("m-a").is_empty());
        assert!(world("closed", "open").closed_by("m-b").is_empty());
    }

    #[test]
    fn f_14_only_a_root_closes_by_itself() {
        for (kind, more, is_root) in [
            ("molecule", none(), true),
            ("molecule", json!({"ephemeral": true}), true),
            ("epic", none(), false),
            ("task", none(), false),
            ("task", json!({"ephemeral": true}), false),
            ("task", json!({"labels": ["template"]}), false),
            ("epic", json!({"ephemeral": true}), true),
            ("epic", json!({"labels": ["template"]}), true),
            (
                "task",
                json!({"labels": ["template"], "ephemeral": true}),
                true,
            ),
        ] {
            let world = World::new(&[
                ("m", kind, "open", "", more.clone()),
                ("m-a", "task", "closed", "m", none()),
            ]);
            assert_eq!(!world.closed_by("m-a").is_empty(), is_root, "{kind} {more}");
        }
    }

    #[test]
    fn f_14_a_parent_step_does_not_close_by_itself_and_keeps_the_root_open() {
        let world = World::new(&[
            ("m", "molecule", "open", "", json!({"ephemeral": true})),
            ("m-a", "epic", "open", "m", json!({"ephemeral": true})),
            ("m-b", "task", "closed", "m-a", json!({"ephemeral": true})),
        ]);
        assert!(world.closed_by("m-b").is_empty());
    }

    #[test]
    fn f_14_a_step_that_is_only_its_parts_closes_with_them() {
        let world = |kind: &str| {
            World::new(&[
                ("m", "molecule", "open", "", none()),
                (
                    "m-a",
                    kind,
                    "open",
                    "m",
                    json!({"metadata": {"stage": "a"}}),
                ),
                ("m-b", "task", "closed", "m-a", none()),
            ])
        };
        assert_eq!(world("epic").closed_by("m-b"), ["m-a", "m"]);
        assert!(
            world("feature").closed_by("m-b").is_empty(),
            "somebody does that one"
        );
    }

    #[test]
    fn f_14_a_molecule_within_another_closes_and_may_complete_it() {
        let world = |other: &str| {
            World::new(&[
                ("top", "molecule", "open", "", none()),
                ("top-a", "task", other, "top", none()),
                ("sub", "molecule", "open", "top", none()),
                ("sub-a", "task", "closed", "sub", none()),
            ])
        };
        assert_eq!(world("closed").closed_by("sub-a"), ["sub", "top"]);
        assert_eq!(world("open").closed_by("sub-a"), ["sub"]);
        let in_epic = World::new(&[
            ("e", "epic", "open", "", none()),
            ("m", "molecule", "open", "e", none()),
            ("m-a", "task", "closed", "m", none()),
        ]);
        assert_eq!(in_epic.closed_by("m-a"), ["m"]);
    }

    #[test]
    fn f_14_what_is_held_pinned_or_without_steps_stays() {
        for (status, more) in [
            ("in_progress", json!({"held": true})),
            ("pinned", none()),
            ("closed", none()),
        ] {
            let world = World::new(&[
                ("m", "molecule", status, "", more),
                ("m-a", "task", "closed", "m", none()),
            ]);
            assert!(world.closed_by("m-a").is_empty(), "{status}");
        }
        let alone = World::new(&[("m", "molecule", "open", "", none())]);
        assert!(alone.closed_by("m").is_empty());
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let world = World::new(&[
            ("m", "molecule", "open", "n", none()),
            ("n", "molecule", "closed", "m", none()),
        ]);
        let closed = world.closed_by("n");
        assert!(closed.is_empty(), "what is a part of itself is open itself");
    }
}
