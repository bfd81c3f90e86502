//! What agent programs print, read from recorded calls and from random damage to them.

mod claude_code_reader;
mod codex_reader;
mod copilot_reader;
mod cursor_reader_on_documented_lines;
mod damaged_recordings;
mod gemini_reader;
mod opencode_reader;
mod random_output_and_scripts;
mod scripted_backend;
