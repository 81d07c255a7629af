//! The worked examples of contracts §1.6, the regression facts of §1.5, and annotation (§5).

mod annotation;
mod bodies;
mod properties;
