//! Faults that are planted to see whether the laws notice them.

/// A fault of a store, a port or the conductor; never one of the product itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    /// The store takes changes under any fence.
    FenceIgnored,
    /// The store gives beads and their worktrees to whoever asks, held or not.
    ClaimNotCompared,
    /// Holders count as dead while they live.
    LivingTakenForDead,
    /// Beads are begun before what they wait for is closed.
    DependenciesIgnored,
    /// Worktrees lack the work of what the bead waited for.
    BaseWithoutDependencies,
    /// Pull requests are made without looking for one.
    PullWithoutLooking,
    /// Commits are merged without looking whether they are there.
    MergeWithoutLooking,
    /// What was written into a bead is written again after a crash.
    WriteWithoutLooking,
    /// Checks that failed are told to have passed.
    RedToldAsGreen,
    /// The head of the branch is handed over, whatever was verified.
    HeadHandedOver,
    /// The number of attempts is not kept.
    AttemptsForgotten,
    /// Effects begin before the journal has them.
    JournalAfterEffects,
    /// Nothing is set aside for agents that run.
    BudgetIgnored,
    /// Nobody wakes the run for what it put off.
    DeferredForgotten,
}

impl Plant {
    /// Every fault.
    pub const ALL: [Self; 14] = [
        Self::FenceIgnored,
        Self::ClaimNotCompared,
        Self::LivingTakenForDead,
        Self::DependenciesIgnored,
        Self::BaseWithoutDependencies,
        Self::PullWithoutLooking,
        Self::MergeWithoutLooking,
        Self::WriteWithoutLooking,
        Self::RedToldAsGreen,
        Self::HeadHandedOver,
        Self::AttemptsForgotten,
        Self::JournalAfterEffects,
        Self::BudgetIgnored,
        Self::DeferredForgotten,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::FenceIgnored => "fence-ignored",
            Self::ClaimNotCompared => "claim-not-compared",
            Self::LivingTakenForDead => "living-taken-for-dead",
            Self::DependenciesIgnored => "dependencies-ignored",
            Self::BaseWithoutDependencies => "base-without-dependencies",
            Self::PullWithoutLooking => "pull-without-looking",
            Self::MergeWithoutLooking => "merge-without-looking",
            Self::WriteWithoutLooking => "write-without-looking",
            Self::RedToldAsGreen => "red-told-as-green",
            Self::HeadHandedOver => "head-handed-over",
            Self::AttemptsForgotten => "attempts-forgotten",
            Self::JournalAfterEffects => "journal-after-effects",
            Self::BudgetIgnored => "budget-ignored",
            Self::DeferredForgotten => "deferred-forgotten",
        }
    }

    /// What is wrong then, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::FenceIgnored => "the store takes changes under any fence",
            Self::ClaimNotCompared => {
                "the store gives beads and their worktrees to whoever asks, held or not"
            }
            Self::LivingTakenForDead => "holders count as dead while they live",
            Self::DependenciesIgnored => "beads begin before what they wait for is closed",
            Self::BaseWithoutDependencies => "worktrees lack the work of what the bead waited for",
            Self::PullWithoutLooking => "pull requests are made without looking for one",
            Self::MergeWithoutLooking => {
                "commits are merged without looking whether they are there"
            }
            Self::WriteWithoutLooking => {
                "what was written into a bead is written again after a crash"
            }
            Self::RedToldAsGreen => "checks that failed are told to have passed",
            Self::HeadHandedOver => "the head of the branch is handed over, whatever was verified",
            Self::AttemptsForgotten => "the number of attempts is not kept",
            Self::JournalAfterEffects => "effects begin before the journal has them",
            Self::BudgetIgnored => "nothing is set aside for agents that run",
            Self::DeferredForgotten => "nobody wakes the run for what it put off",
        }
    }
}
