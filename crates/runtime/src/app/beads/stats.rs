//! How many beads there are of what kind, and how the work on them went.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use beads_ralph_core::history::records::{Figures, Tally};
use beads_ralph_core::issue::{Condition, Grouping, Moment, Order, Query};
use beads_ralph_core::vocabulary::field;
use jiff::Timestamp;
use serde::Serialize;

use super::Beads;
use crate::store::StoreError;

/// The counts, as programs read them.
#[derive(Debug, Default, Serialize)]
pub struct Stats {
    pub total: usize,
    pub ready: usize,
    pub blocked: usize,
    pub held: usize,
    pub by_status: BTreeMap<String, usize>,
    pub by_type: BTreeMap<String, usize>,
    pub oldest_open: Option<Oldest>,
    pub metrics: Figures,
}

#[derive(Debug, Serialize)]
pub struct Oldest {
    pub id: String,
    pub title: String,
    pub created_at: String,
}

/// The beads that an agent worked on.
pub fn worked_on() -> Query {
    let lists = vec!["dev_agent_executions", "qa_agent_executions"];
    Query {
        conditions: vec![Condition::HasSome(lists)],
        ..Beads::everything()
    }
}

impl Beads {
    pub fn stats(&self) -> Result<Stats, StoreError> {
        let all = Self::everything();
        let ready = Query {
            ready_at: Some(self.by.now),
            ..Query::default()
        };
        let blocked = Query {
            is_blocked: Some(true),
            ..all.clone()
        };
        let held = Query {
            is_held: true,
            ..all.clone()
        };
        let mut tally = Tally::default();
        self.each(&worked_on(), |record| {
            tally.take(&record.issue);
            Ok::<_, StoreError>(ControlFlow::Continue(()))
        })?;
        let by_status = self.store.count_by(&all, Grouping::Status)?;
        Ok(Stats {
            total: by_status.values().sum(),
            ready: self.store.count(&ready)?,
            blocked: self.store.count(&blocked)?,
            held: self.store.count(&held)?,
            by_status,
            by_type: self.store.count_by(&all, Grouping::Type)?,
            oldest_open: self.oldest_open()?,
            metrics: tally.figures(),
        })
    }

    /// What came first of what is not done; one that does not say when it came is left out.
    fn oldest_open(&self) -> Result<Option<Oldest>, StoreError> {
        let mut found = self.store.find(&Query {
            conditions: vec![Condition::After(Moment::Created, Timestamp::MIN)],
            includes_hidden: true,
            order: Order::Oldest,
            limit: Some(1),
            ..Query::default()
        })?;
        Ok(found.pop().map(|record| {
            let issue = &record.issue;
            Oldest {
                id: issue.id().to_string(),
                title: issue.title().to_owned(),
                created_at: issue.text(field::CREATED_AT).unwrap_or_default().to_owned(),
            }
        }))
    }
}
