//! The clock.

use std::time::Instant;

use jiff::Timestamp;

use crate::os::env::{self, Variable};

/// The time that goes into what is written: `SOURCE_DATE_EPOCH` when it is set to a number, else now.
pub fn now() -> Timestamp {
    let fixed = env::get(Variable::SourceDateEpoch).and_then(|seconds| seconds.parse().ok());
    fixed
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .unwrap_or_else(wall)
}

/// A time to count from, which nobody can set: deadlines hold however the clock on the wall jumps.
pub fn monotonic() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that asks the clock"
    )]
    let now = Instant::now();
    now
}

/// The clock on the wall, whatever anybody wants to be written: deadlines are about real days.
pub fn wall() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that asks the clock"
    )]
    let now = Timestamp::now();
    now
}
