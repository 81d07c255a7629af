//! Running programs: the one module that starts processes.
//!
//! A *unit* is one program with everything that it starts. It has its own process group and session, its input is a file
//! or nothing, its output is drained at once and kept within bounds, and it ends: of itself, at a deadline, or when
//! somebody cancels it. Between the program and us stands a *shim*, this same binary, which adopts whatever the program leaves
//! behind and kills it, also when we are gone (Z-19).
//!
//! A unit is driven by `poll(2)` in the thread that runs it; there is no other thread. Where the shim is lost, which
//! only `kill -9` and the like can do, what it watched over is found by its [`Mark`]: see [`sweep`].
//!
//! Limits: adopting needs Linux. On other Unixes what a program leaves behind is killed as far as it stayed in the
//! program's process group, and is not found by its mark. What a program asks somebody else to start, such as a service
//! manager or a container daemon, is not its own.

mod cancel;
mod capture;
mod channel;
mod drive;
mod environment;
mod marked;
mod program;
mod shim;
mod shim_handle;
mod unit;
mod units;
mod wire;

pub use self::cancel::Interrupts;
pub use self::program::replace_by;
pub use self::unit::{Captured, Ended, Ending, Stopped, UnitError};
pub use self::unit::{Environment, Limits, Mark, Spec, Stdin};
pub use self::unit::{Flow, Silent, Stream, Watch};
pub use cancel::Cancel;
pub use marked::{Swept, end, find, sweep};
pub use shim::shim;
pub use units::Units;
