//! Agent backends: how each agent program is started, and how its output is read.
//!
//! Everything here is pure. A backend turns a [`Call`] into an [`Invocation`] and folds the lines
//! the program printed into a [`Reply`]; who starts the process, and where its output comes from
//! (a living child or a recorded file), is the engine's matter. Nothing here starts a process,
//! reads the environment, looks at the disk or asks the time.
//!
//! A new backend is one file: a type with [`Backend`]'s functions, a [`Reader`], and its row,
//! which is then named in [`BACKENDS`].

mod backend;
mod call;
mod capabilities;
mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod doing;
mod environment;
mod gemini;
mod http;
mod json;
mod opencode;
mod plain;
mod program;
mod scripted;
mod table;

pub use backend::{Backend, Reader};
pub use call::{Call, CallFault, End, Exit, InputFile, Invocation, Reply, Sign};
pub use capabilities::{AsRoot, Capabilities, SessionIds, UsageOf, WithoutModel};
pub use claude_code::ClaudeCode;
pub use codex::Codex;
pub use copilot::Copilot;
pub use cursor::Cursor;
pub use gemini::Gemini;
pub use opencode::OpenCode;
pub use program::{NotFound, Places, find_program};
pub use scripted::{Script, ScriptError, ScriptLine, Scripted};
pub use table::{BACKENDS, BackendRow, Make, backend_row};
