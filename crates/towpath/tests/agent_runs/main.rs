//! Runs with the real agent programs, answered by a scripted model server on loopback.

mod agent_programs;
mod claude_code;
mod real;

#[path = "../support/mod.rs"]
mod support;
