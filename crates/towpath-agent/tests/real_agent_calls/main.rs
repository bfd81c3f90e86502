//! Single calls of the real agent programs, answered by a scripted model server on loopback.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod real_program_support;
