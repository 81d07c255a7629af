//! Molecules whose last step is closed by a batch: their roots close with it (F-14).
//!
//! Most closes leave other steps open. That is seen from the columns, without reading the steps; only when nothing says that a step
//! is open are the documents asked, because a damaged column must not close anything.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    ALL_STEPS_COMPLETE, Edit, Family, Member, Neighbours as _, Parts, Standing, close_completed,
};

use super::batch::Batch;
use super::edges::Link;
use super::failure::Failed;
use crate::store::Guard;

impl Batch<'_> {
    /// Closes the molecules that the batch completes, and gives their versions.
    pub(super) fn close_completed(&mut self) -> Result<Vec<(BeadId, u64)>, Failed> {
        let closed = self.take_closed();
        let roots = close_completed(self, &closed)?;
        let version = |id: BeadId| Ok((self.existing(&id)?.version, id));
        let versions = roots.into_iter().map(version);
        versions
            .map(|it| it.map(|(version, id)| (id, version)))
            .collect()
    }

    /// Whether the columns say that a stored part of an issue is not closed.
    fn has_unfinished_part(&self, id: &BeadId) -> Result<bool, Failed> {
        let mut statement = self.connection().prepare_cached(
            "SELECT e.issue_id FROM edges e JOIN facts i ON i.id = e.issue_id \
             WHERE e.target = ?1 AND e.kind = 'parent-child' AND i.status <> 'closed'",
        )?;
        let mut rows = statement.query([id.as_str()])?;
        while let Some(row) = rows.next()? {
            let part = BeadId::parse(&row.get::<_, String>(0)?);
            if part.is_ok_and(|part| !self.has_taken(&part)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Family for Batch<'_> {
    type Error = Failed;

    fn member(&self, id: &BeadId) -> Result<Option<Member>, Failed> {
        let record = self.load(id)?;
        Ok(record.map(|record| Member::of(&record.issue, record.claim.is_some())))
    }

    fn parts(&self, id: &BeadId) -> Result<Parts, Failed> {
        if self.has_unfinished_part(id)? {
            return Ok(Parts::Unfinished);
        }
        let parts = self.dependents(id, Link::Child)?;
        for part in &parts {
            if self.standing(part)? != Some(Standing::Closed) {
                return Ok(Parts::Unfinished);
            }
        }
        Ok(Parts::Closed(parts))
    }

    fn complete(&mut self, root: &BeadId) -> Result<(), Failed> {
        let edits = [Edit::Close(ALL_STEPS_COMPLETE.to_owned())];
        self.update(root, &edits, &Guard::default())?;
        Ok(())
    }
}
