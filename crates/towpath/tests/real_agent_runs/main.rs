//! Runs with the real agent programs, answered by a scripted model server on loopback.

mod claude_code;
mod claude_code_skill;
mod correction_hooks;
mod machines_on_agent_programs;
mod set_up_real_program;

#[path = "../support/mod.rs"]
mod support;
