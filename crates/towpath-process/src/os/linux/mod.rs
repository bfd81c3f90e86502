//! Linux: `/proc` for the table of processes, pidfds for signals that cannot hit a stranger,
//! `PR_SET_CHILD_SUBREAPER` and `PR_SET_PDEATHSIG` for parentage, signalfd for the warden's loop.

mod become_warden;
mod end_with_parent;
mod inherit_files;
mod landlock_version;
mod launch_child;
mod mounts;
mod new_namespaces;
mod open_file_limit;
mod output_pipe;
mod own_executable;
mod own_user_namespace;
mod process_table;
mod system_v_objects;
mod time_since_boot;

pub(crate) use become_warden::{
    Signals, adopt_orphans, become_warden, end_by_signal, exit_now, fork, move_warden_files,
    thread_count, wake_file, watch_peer,
};
pub use end_with_parent::end_with_parent;
pub(crate) use inherit_files::{Group, inherit_files};
pub(crate) use landlock_version::landlock_version;
pub(crate) use launch_child::{Launch, LaunchFailure, ResourceLimit, Restrictions, User, launch};
pub(crate) use mounts::{
    MountRights, bind, detach, make_read_only, mount_memory, mount_processes, mount_terminals,
};
pub(crate) use new_namespaces::{new_namespaces, start_loopback};
pub(crate) use open_file_limit::{file_limit, raise_file_limit};
pub(crate) use output_pipe::{PIPE_SIZE, output_pipe, widen};
pub use own_executable::own_executable;
pub(crate) use own_user_namespace::{counts_by_namespace, leave_session_keys, own_user_namespace};
pub(crate) use process_table::{
    Process, ProcessKey, all_processes, children_of, command_of, environment_of, lock_holders,
    name_of, own_pid, process, signal, signal_child, signal_group,
};
pub(crate) use system_v_objects::remove_system_v_objects;
pub use time_since_boot::since_boot;
