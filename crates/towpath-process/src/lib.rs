//! Children that never escape. A *warden* process, one per run, is the parent of every job and the
//! subreaper of everything they leave behind; the engine talks to it over one socket, and when the
//! engine's end closes, also by `kill -9`, the warden ends everything and exits. Beside it: the
//! lock that engine and warden own together, the marker by which leftovers of a crash are found,
//! and the reader that follows a job's output files. This crate knows nothing of recipes, prints
//! nothing and reads neither environment nor home directory.

mod child_spec;
mod crashed_run;
mod error;
mod event;
mod follow;
mod leftover;
mod marker;
mod orphans;
mod os;
mod output;
mod process_search;
mod run_lock;
mod start;
mod warden;
mod warden_process;
mod wire;

pub use child_spec::{ChildSpec, Sandbox};
pub use crashed_run::{end_marked, marked, marked_runs};
pub use error::{ProcessError, StartError, StartErrorKind};
pub use event::{Event, ExitStatus, Lost, Stream};
pub use follow::Follow;
pub use leftover::Leftover;
pub use marker::{JOB_VARIABLE, MARKER_VARIABLE, Marker};
pub use orphans::Subreaper;
pub use os::{end_with_parent, own_executable, since_boot};
pub use run_lock::{Acquire, Holder, RunLock};
pub use warden::{Awaited, EventWaker, Warden, WardenEvents};
pub use warden_process::{run_warden_from_fd, warden_main};
