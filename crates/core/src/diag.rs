//! What the user's text did wrong, as data: a code, a place, a sentence, and where possible a fix.
//!
//! Diagnostics are collected and never thrown; how they look on a terminal or in JSON is the
//! business of the command line.

mod code;
mod diagnostic;
mod similar;

pub use code::{Code, ErrorCode, WarningCode};
pub use diagnostic::{
    Diagnostic, Edit, Fix, Label, Severity, apply_fixes, first_error, has_errors, sort_by_place,
};
pub use similar::did_you_mean;
