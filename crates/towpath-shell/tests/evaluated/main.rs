//! What bash evaluates a second time, and what another shell evaluates after it.

#[allow(dead_code)]
#[path = "../common/mod.rs"]
mod common;
mod manual;
mod nested;
