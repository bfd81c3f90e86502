//! Agent backends: how each agent program is started, and how its output is read.
//!
//! Everything here is pure. A backend turns a [`Call`] into an [`Invocation`] and folds the lines
//! the program printed into a [`Reply`]; who starts the process, and where its output comes from
//! (a living child or a recorded file), is the executor's business. Nothing here starts a process,
//! reads the environment, looks at the disk or at a clock.
//!
//! A new backend is one folder in `backends/`: a type with [`Backend`]'s functions, a [`Reader`], and its
//! row, which is then named in `backends/mod.rs`.

mod activity_line;
mod backend;
mod backend_row;
mod backends;
mod call;
mod call_progress;
mod capabilities;
mod environment_filter;
mod find_program;
mod http_fault;
mod invocation;
mod json_access;
mod program_exit;
mod reply;
mod strip_colours;
mod tool_details;

pub use backend::{Backend, Reader};
pub use backend_row::{BackendRow, Make};
pub use backends::*;
pub use call::Call;
pub use call_progress::CallProgress;
pub use capabilities::{AsRoot, Capabilities, SessionIds, UsageOf, WithoutModel};
pub use find_program::{NotFound, ProgramSearch, find_program};
pub use invocation::{InputFile, Invocation};
pub use program_exit::{End, Exit};
pub use reply::{CallFault, Reply};
