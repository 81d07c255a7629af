//! What a run would be like: the engine itself under a virtual clock, with a model in the place of the world.
//!
//! For every effect a duration and an answer are drawn, or taken from the journal of a run that was. Draws belong to a bead, an
//! attempt and a kind of action, never to the order in which things happen, so that two orders of the same work meet the same luck.
//! Nothing here says what a real run will do: a model is no better than the numbers that it is given.

mod answer;
mod learn;
mod model;
mod play;
mod random;
mod recorded;
mod round;
mod study;

pub use learn::Lessons;
pub use model::{AgentModel, Model, Rates, Spread};
pub use play::{Ending, Play, Source};
pub use random::Random;
pub use recorded::{Key, Recorded};
pub use round::{Link, Round, launches};
pub use study::{Figures, Percentiles, Study, StudyResult};

#[cfg(test)]
mod tests;
