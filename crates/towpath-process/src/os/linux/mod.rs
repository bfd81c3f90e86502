//! Linux: `/proc` for the table of processes, pidfds for signals that cannot hit a stranger,
//! `PR_SET_CHILD_SUBREAPER` and `PR_SET_PDEATHSIG` for parentage, signalfd for the warden's loop.

mod become_warden;
mod end_with_parent;
mod launch_child;
mod open_file_limit;
mod output_pipe;
mod own_executable;
mod process_table_and_signals;
mod time_since_boot;

pub(crate) use become_warden::{
    Signals, adopt_orphans, become_warden, exit_now, fork, move_warden_files, thread_count,
    wake_file, watch_peer,
};
pub use end_with_parent::end_with_parent;
pub(crate) use launch_child::{Launch, LaunchFailure, launch};
pub(crate) use open_file_limit::{file_limit, raise_file_limit};
pub(crate) use output_pipe::{PIPE_SIZE, output_pipe, widen};
pub use own_executable::own_executable;
pub(crate) use process_table_and_signals::{
    Process, ProcessKey, all_processes, children_of, command_of, environment_of, lock_holders,
    name_of, own_pid, process, signal, signal_child, signal_group,
};
pub use time_since_boot::since_boot;
