//! Which sprints of a plan are meant (P-26).

use std::collections::HashSet;

use thiserror::Error;

use super::model::{Plan, Sprint};
use crate::diag::ErrorCode;
use crate::number::SprintId;
use crate::text::{excerpt, list_first};

/// A parsed `sprint_filter`: all sprints, or those that are named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter(Option<Vec<SprintId>>);

/// What is wrong with a filter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FilterFault {
    /// Items that are not sprint numbers.
    #[error("the filter has invalid sprint numbers: {}", list_first(.0, MAX_NAMED, |item| excerpt(item)))]
    NotNumbers(Vec<String>),
    /// Numbers that the plan does not have.
    #[error("the plan does not have these sprints of the filter: {}", list_first(.0, MAX_NAMED, |item| excerpt(item)))]
    Absent(Vec<String>),
}

/// How many of the filter's items a message names.
const MAX_NAMED: usize = 10;

impl FilterFault {
    /// The code of contracts §4.2.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotNumbers(_) => ErrorCode::ParseInvalidPattern,
            Self::Absent(_) => ErrorCode::DependencyUnresolved,
        }
    }
}

impl Filter {
    /// Reads a comma list. Empty items are dropped, and a list of nothing means all sprints.
    pub fn parse(text: &str) -> Result<Self, FilterFault> {
        let items: Vec<&str> = text
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .collect();
        if items.is_empty() {
            return Ok(Self(None));
        }
        let bad: Vec<String> = items
            .iter()
            .filter(|item| SprintId::parse(item).is_none())
            .map(|item| excerpt(item))
            .collect();
        if !bad.is_empty() {
            return Err(FilterFault::NotNumbers(bad));
        }
        Ok(Self::of(items.into_iter().filter_map(SprintId::parse)))
    }

    /// Exactly these sprints.
    pub fn of(ids: impl IntoIterator<Item = SprintId>) -> Self {
        let mut ids: Vec<SprintId> = ids.into_iter().collect();
        ids.sort();
        ids.dedup();
        Self(Some(ids))
    }

    /// Whether all sprints are meant, whichever there are.
    pub fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Whether a sprint is meant.
    pub fn selects(&self, id: &SprintId) -> bool {
        self.0
            .as_ref()
            .is_none_or(|ids| ids.binary_search(id).is_ok())
    }

    /// The selected sprints of a plan in document order.
    pub fn select<'p>(&self, plan: &'p Plan) -> Result<Vec<&'p Sprint>, FilterFault> {
        let selected: Vec<&Sprint> = plan
            .unique()
            .filter(|sprint| self.selects(&sprint.id.value))
            .collect();
        let Some(wanted) = self
            .0
            .as_ref()
            .filter(|wanted| wanted.len() != selected.len())
        else {
            return Ok(selected);
        };
        let found: HashSet<&SprintId> = selected.iter().map(|sprint| &sprint.id.value).collect();
        let is_absent = |id: &&SprintId| !found.contains(*id);
        Err(FilterFault::Absent(
            wanted
                .iter()
                .filter(is_absent)
                .map(SprintId::to_string)
                .collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_26_filters() {
        assert_eq!(Filter::parse(" , ,"), Ok(Filter(None)));
        assert!(
            Filter::parse("1.2a, 1.3 ,")
                .is_ok_and(|filter| filter.selects(&SprintId::parse("1.3").unwrap()))
        );
        let fault = Filter::parse("1.2.3,1.1,x").unwrap_err();
        assert_eq!(fault.code(), ErrorCode::ParseInvalidPattern);
        assert_eq!(
            fault,
            FilterFault::NotNumbers(vec!["1.2.3".to_owned(), "x".to_owned()])
        );
        assert!(Filter::parse("1.2A").is_err(), "filters mind case");
    }

    #[test]
    fn t_38_a_filter_for_an_absent_sprint() {
        let plan = super::super::parse("### Sprint 1.1: A\n");
        let fault = Filter::parse("9.9,1.1").unwrap().select(&plan).unwrap_err();
        assert_eq!(fault.code(), ErrorCode::DependencyUnresolved);
        assert_eq!(fault, FilterFault::Absent(vec!["9.9".to_owned()]));
    }
}
