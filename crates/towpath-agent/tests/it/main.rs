//! What agent programs print, read from recorded calls and from random damage to them.

mod claude_code_reader;
mod codex_reader;
mod copilot_reader;
mod cursor_reader;
mod damaged_recordings;
mod gemini_reader;
mod opencode_reader;
mod reader_properties;
mod scripted_backend;
