//! The case files that this crate must agree with.

mod json_extract;
