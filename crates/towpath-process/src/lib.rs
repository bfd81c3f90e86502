//! Children that never escape. A *warden* process, one per run, is the parent of every job and the
//! subreaper of everything they leave behind; the engine talks to it over one socket, and when the
//! engine's end closes, also by `kill -9`, the warden ends everything and exits. Beside it: the
//! lock that engine and warden own together, the marker by which leftovers of a crash are found,
//! and the reader that follows a job's output files. This crate knows nothing of recipes, prints
//! nothing and reads neither environment nor home directory.

mod child_spec;
mod end_orphans;
mod error;
mod follow;
mod leftover;
mod marked_runs;
mod os;
mod output;
mod process_marker;
mod process_search;
mod run_lock;
pub mod sandbox;
mod start_child;
mod terminal_text;
mod warden_event;
mod warden_handle;
mod warden_process;
mod warden_protocol;

pub use child_spec::{ChildSpec, Sandbox};
pub use end_orphans::Subreaper;
pub use error::{ProcessError, StartError, StartErrorKind};
pub use follow::Follow;
pub use leftover::Leftover;
pub use marked_runs::{end_marked, marked, marked_runs};
pub use os::{end_with_parent, own_executable, since_boot};
pub use process_marker::{JOB_VARIABLE, MARKER_VARIABLE, Marker};
pub use run_lock::{Acquire, Holder, RunLock};
pub use terminal_text::TerminalText;
pub use warden_event::{Event, ExitStatus, Lost, Stream};
pub use warden_handle::{Awaited, EventWaker, Warden, WardenEvents};
pub use warden_process::{run_warden_from_fd, warden_main};
