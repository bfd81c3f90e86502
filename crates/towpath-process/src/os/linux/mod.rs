//! Linux: `/proc` for the table of processes, pidfds for signals that cannot hit a stranger,
//! `PR_SET_CHILD_SUBREAPER` and `PR_SET_PDEATHSIG` for parentage, signalfd for the warden's loop.

mod launch;
mod leash;
mod own;
mod pipes;
mod processes;

pub(crate) use launch::{Launch, LaunchFailure, launch};
pub use leash::end_with_parent;
pub(crate) use own::{
    Signals, adopt_orphans, become_warden, exit_now, file_limit, fork, place_warden_files,
    raise_file_limit, thread_count, watch_peer,
};
pub use own::{own_program, since_boot};
pub(crate) use pipes::{PIPE_SIZE, output_pipe, widen};
pub(crate) use processes::{
    Process, ProcessKey, all_processes, children_of, command_of, environment_of, lock_holders,
    name_of, own_pid, process, signal, signal_child, signal_group,
};
