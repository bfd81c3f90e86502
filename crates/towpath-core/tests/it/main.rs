//! The case files that this crate must agree with.

mod extract_json;
