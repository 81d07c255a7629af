//! The fields of a section: their names and the lines that carry them (P-11…P-14).

use crate::diag::did_you_mean;
use crate::text::Span;

macro_rules! fields {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// A field that a sprint's section may have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field { $($(#[$doc])* $variant),* }

        impl Field {
            /// Every field.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name as it is written between the asterisks.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

fields! {
    /// Where the work happens.
    Worktree = "Worktree",
    /// The branch of the work.
    Branch = "Branch",
    /// The branch that the work starts from.
    SourceBranch = "Source Branch",
    /// Who does the work.
    DevAgents = "Dev Agents",
    /// Who judges it.
    QaAgents = "QA Agents",
    /// What is to be done.
    Tasks = "Tasks",
    /// When it counts as done.
    AcceptanceCriteria = "Acceptance Criteria",
    /// The commands that must pass.
    Verifiers = "Verifiers",
    /// The team.
    Team = "Team",
    /// More labels.
    Labels = "Labels",
    /// The formula to pour.
    Formula = "Formula",
    /// The bead id.
    BeadId = "Bead ID",
    /// Merge or work.
    Type = "Type",
    /// How long it will take.
    Estimate = "Estimate",
    /// Read only for the word `COMPLETED`.
    Status = "Status",
}

/// Names that plans use and that mean nothing here (P-14): never taken for a misspelling.
const KNOWN_IGNORED: &[&str] = &[
    "Session ID",
    "Agent-Teams Review",
    "Goal",
    "PR",
    "Outcome",
    "Notes",
    "Note",
    "Tests",
    "Agents",
    "Tags",
    "Stage",
    "Date",
];

impl Field {
    /// The field with a name, ignoring case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|field| field.name().eq_ignore_ascii_case(name))
    }

    /// The field that an unknown name probably stands for.
    pub(super) fn nearest(name: &str) -> Option<Self> {
        if KNOWN_IGNORED
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
        {
            return None;
        }
        did_you_mean(name, Self::ALL.iter().map(|field| field.name())).and_then(Self::from_name)
    }

    /// How the field's value is written.
    pub(super) fn value(self) -> FieldValue {
        match self {
            Self::DevAgents => FieldValue::List(ListField::DevAgents),
            Self::QaAgents => FieldValue::List(ListField::QaAgents),
            Self::Tasks => FieldValue::List(ListField::Tasks),
            Self::AcceptanceCriteria => FieldValue::List(ListField::AcceptanceCriteria),
            Self::Verifiers => FieldValue::List(ListField::Verifiers),
            Self::Worktree => FieldValue::Single(SingleField::Worktree),
            Self::Branch => FieldValue::Single(SingleField::Branch),
            Self::SourceBranch => FieldValue::Single(SingleField::SourceBranch),
            Self::Team => FieldValue::Single(SingleField::Team),
            Self::Formula => FieldValue::Single(SingleField::Formula),
            Self::BeadId => FieldValue::Single(SingleField::BeadId),
            Self::Type => FieldValue::Single(SingleField::Type),
            Self::Estimate => FieldValue::Single(SingleField::Estimate),
            Self::Labels => FieldValue::Labels,
            Self::Status => FieldValue::Status,
        }
    }
}

/// How a field's value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldValue {
    /// On the field's line (P-12).
    Single(SingleField),
    /// On the field's line, between commas.
    Labels,
    /// As bullets below the field's line (P-13).
    List(ListField),
    /// Anywhere below, and only one word of it counts (P-14).
    Status,
}

/// A field with one value (P-12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SingleField {
    Worktree,
    Branch,
    SourceBranch,
    Team,
    Formula,
    BeadId,
    Type,
    Estimate,
}

/// A field with a list of items (P-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListField {
    DevAgents,
    QaAgents,
    Tasks,
    AcceptanceCriteria,
    Verifiers,
}

/// A field that every selected sprint needs (P-22).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredField {
    Worktree,
    Branch,
    SourceBranch,
    DevAgents,
    QaAgents,
    Tasks,
}

impl RequiredField {
    /// All of them, in the order of the contract.
    pub(super) const ALL: [Self; 6] = [
        Self::Worktree,
        Self::Branch,
        Self::SourceBranch,
        Self::DevAgents,
        Self::QaAgents,
        Self::Tasks,
    ];
    pub(super) fn field(self) -> Field {
        match self {
            Self::Worktree => Field::Worktree,
            Self::Branch => Field::Branch,
            Self::SourceBranch => Field::SourceBranch,
            Self::DevAgents => Field::DevAgents,
            Self::QaAgents => Field::QaAgents,
            Self::Tasks => Field::Tasks,
        }
    }

    /// Whether it says who works and on what; a gate needs nobody.
    pub(super) fn is_for_agents(self) -> bool {
        matches!(self, Self::DevAgents | Self::QaAgents | Self::Tasks)
    }

    /// The required field that a field is, if it is one.
    pub(super) fn of(field: Field) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|required| required.field() == field)
    }
}

/// A line `**Name**: value` or `**Name:** value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldLine {
    /// The name between the asterisks.
    pub(super) name: Span,
    /// The rest of the line, trimmed.
    pub(super) value: Span,
}

/// Reads a field line; `start` is where the line stands in the plan.
pub(super) fn field_line(line: &str, start: usize) -> Option<FieldLine> {
    let inner = line.strip_prefix("**")?;
    let end = inner.find("**")?;
    let (name, rest) = (&inner[..end], &inner[end + 2..]);
    let (name, rest) = match name.strip_suffix(':') {
        Some(name) => (name, rest),
        None => (name, rest.strip_prefix(':')?),
    };
    if name.trim().is_empty() || name.contains('*') {
        return None;
    }
    let value = rest.trim();
    let value_start = start + line.len() - rest.trim_start().len();
    Some(FieldLine {
        name: Span::new(start + 2, start + 2 + name.len()),
        value: Span::new(value_start, value_start + value.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_11_both_spellings_of_a_field_line() {
        for line in ["**Branch**: `a` ", "**Branch:** `a` "] {
            let field = field_line(line, 0).unwrap();
            assert_eq!(
                (field.name.slice(line), field.value.slice(line)),
                ("Branch", "`a`")
            );
        }
        for line in [
            "- **Haiku**: x",
            " **Branch**: x",
            "**Branch** x",
            "****: x",
            "**a*b**: x",
            "**Branch*: x",
        ] {
            assert!(field_line(line, 0).is_none(), "{line}");
        }
    }

    #[test]
    fn p_11_names_ignore_case_and_p_14_others_are_ignored() {
        assert_eq!(Field::from_name("source branch"), Some(Field::SourceBranch));
        assert_eq!(Field::from_name("Goal"), None);
        assert_eq!(Field::nearest("Dev Agent"), Some(Field::DevAgents));
        assert_eq!(
            Field::nearest("Aceptance Criteria"),
            Some(Field::AcceptanceCriteria)
        );
        for ignored in [
            "Goal",
            "PR",
            "Session ID",
            "Agent-Teams Review",
            "Outcome",
            "Deliverables",
        ] {
            assert_eq!(Field::nearest(ignored), None, "{ignored}");
        }
    }
}
