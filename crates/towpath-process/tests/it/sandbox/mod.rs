//! Sandboxes, each promise under each mechanism. A machine that lacks a mechanism fails its tests: a
//! promise that was not checked is not reported as kept.

mod command_output_and_end;
mod commands_of_session_are_separate;
pub mod escape_attempts_run_inside;
mod find_confinement;
mod hostile_program;
mod hostile_server;
mod isolation;
mod no_survivors;
mod resource_limits_end_command;
mod terminal;
mod warden_jobs_in_sandbox;

use crate::Test;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, EndStatus, Limits, Policy, SandboxCommand, SandboxSession,
    SandboxedEnd,
};

/// The mechanism under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bubblewrap,
    Namespaces,
    Landlock,
    None,
}

impl Kind {
    pub fn confinement(self) -> Confinement {
        match self {
            Kind::Bubblewrap => Confinement::Bubblewrap { program: bubblewrap() },
            Kind::Namespaces => Confinement::Namespaces,
            Kind::Landlock => Confinement::Landlock,
            Kind::None => Confinement::None,
        }
    }
}

fn bubblewrap() -> PathBuf {
    let found = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].map(PathBuf::from);
    found.into_iter().find(|file| file.exists()).expect("bubblewrap is installed")
}

macro_rules! under_each {
    ($($module:ident :: $name:ident : $($kind:ident)*),* $(,)?) => {
        &[$($((
            concat!("sandbox::", stringify!($kind), "::", stringify!($module), "::", stringify!($name)),
            (|| $module::$name(Kind::$kind)) as fn(),
        )),*),*]
    };
}

pub const TESTS: &[Test] = under_each![
    command_output_and_end::codes_and_signals: Bubblewrap Namespaces Landlock None,
    command_output_and_end::what_cannot_be_executed: Bubblewrap Namespaces Landlock None,
    command_output_and_end::what_the_sandbox_refuses: Bubblewrap Namespaces Landlock None,
    command_output_and_end::output_of_both_streams: Bubblewrap Namespaces Landlock None,
    command_output_and_end::arguments_and_environment_arrive: Bubblewrap Namespaces Landlock None,
    find_confinement::the_strongest_is_found: Bubblewrap Namespaces,
    find_confinement::what_is_open_is_listed: Bubblewrap Namespaces Landlock None,
    hostile_program::nothing_is_inherited: Bubblewrap Namespaces Landlock None,
    hostile_program::the_server_cannot_be_reached: Bubblewrap Namespaces Landlock,
    hostile_program::all_processes_are_killed_but_the_server: Bubblewrap Namespaces,
    hostile_program::root_has_no_power_over_the_machine: Bubblewrap Namespaces Landlock,
    hostile_server::what_is_no_server_is_refused: None,
    hostile_server::an_answer_that_cannot_be_true_is_refused: None,
    isolation::homes_cannot_be_read_or_written: Bubblewrap Namespaces Landlock,
    isolation::readable_is_not_writable: Bubblewrap Namespaces Landlock,
    isolation::writable_is_writable: Bubblewrap Namespaces Landlock,
    isolation::a_deeper_path_keeps_its_own_rule: Bubblewrap Namespaces,
    isolation::the_system_cannot_be_written: Bubblewrap Namespaces Landlock,
    isolation::only_data_of_packages_is_seen_in_var: Bubblewrap Namespaces Landlock,
    isolation::tcp_is_refused: Bubblewrap Namespaces Landlock,
    isolation::udp_is_refused: Bubblewrap Namespaces,
    isolation::abstract_sockets_are_refused: Bubblewrap Namespaces Landlock,
    isolation::the_network_can_be_allowed: Bubblewrap Namespaces Landlock,
    isolation::an_own_loopback_works: Bubblewrap Namespaces,
    isolation::other_processes_are_not_seen: Bubblewrap Namespaces,
    isolation::other_processes_cannot_be_signaled: Bubblewrap Namespaces Landlock,
    isolation::temporary_files_are_private: Bubblewrap Namespaces,
    warden_jobs_in_sandbox::ends_and_output_are_exact: Bubblewrap Namespaces Landlock None,
    warden_jobs_in_sandbox::what_cannot_run_is_reported_in_the_log: Bubblewrap Namespaces Landlock,
    warden_jobs_in_sandbox::a_job_reaches_only_what_its_policy_names: Bubblewrap Namespaces Landlock,
    warden_jobs_in_sandbox::a_job_has_a_home_of_its_own: Bubblewrap Namespaces Landlock,
    warden_jobs_in_sandbox::what_a_job_leaves_ends_with_it: Bubblewrap Namespaces Landlock None,
    warden_jobs_in_sandbox::a_request_to_end_reaches_the_job: Bubblewrap Namespaces Landlock None,
    warden_jobs_in_sandbox::a_killed_job_leaves_nothing: Bubblewrap Namespaces Landlock None,
    warden_jobs_in_sandbox::memory_of_a_job_is_limited: Bubblewrap Namespaces Landlock None,
    resource_limits_end_command::time: Bubblewrap Namespaces Landlock None,
    resource_limits_end_command::output: Bubblewrap Namespaces Landlock None,
    resource_limits_end_command::memory: Bubblewrap Namespaces Landlock None,
    resource_limits_end_command::shared_memory: Bubblewrap Namespaces Landlock None,
    resource_limits_end_command::processes_exactly: Bubblewrap Namespaces,
    resource_limits_end_command::processes_watched: Landlock None,
    resource_limits_end_command::a_fork_bomb_ends: Bubblewrap Namespaces Landlock None,
    resource_limits_end_command::scratch: Bubblewrap Namespaces,
    resource_limits_end_command::one_file: Bubblewrap Namespaces Landlock None,
    no_survivors::nothing_outlives_its_command: Bubblewrap Namespaces Landlock None,
    no_survivors::a_background_child_is_not_waited_for: Bubblewrap Namespaces Landlock None,
    no_survivors::a_dropped_session_leaves_nothing: Bubblewrap Namespaces Landlock None,
    no_survivors::a_killed_owner_leaves_nothing: Bubblewrap Namespaces Landlock None,
    no_survivors::a_killed_owner_whose_socket_leaked_leaves_nothing: Bubblewrap Namespaces Landlock None,
    no_survivors::the_owners_thread_may_end: Bubblewrap Namespaces Landlock None,
    commands_of_session_are_separate::each_command_is_fresh: Bubblewrap Namespaces Landlock None,
    commands_of_session_are_separate::shared_memory_of_the_last_command_is_gone: Bubblewrap Namespaces,
    commands_of_session_are_separate::binds_below_temporary_files_stay: Bubblewrap Namespaces Landlock,
    commands_of_session_are_separate::a_bind_that_was_moved_is_never_used: Bubblewrap Namespaces,
    commands_of_session_are_separate::what_a_killed_server_has_left_is_removed_later: Landlock None,
    commands_of_session_are_separate::a_directory_can_be_given: Bubblewrap Namespaces Landlock None,
    commands_of_session_are_separate::many_commands_leak_nothing: Bubblewrap Namespaces Landlock None,
    terminal::a_terminal_is_a_terminal: Bubblewrap Namespaces Landlock None,
    terminal::without_one_there_is_none: Bubblewrap Namespaces Landlock None,
];

pub fn own_program() -> PathBuf {
    std::env::current_exe().expect("own path")
}

/// Small enough to be reached soon.
pub fn policy() -> Policy {
    let limits = Limits {
        scratch_bytes: 16 << 20,
        memory_bytes: 256 << 20,
        processes: 64,
        file_bytes: 64 << 20,
    };
    Policy { drop_user: true, limits, ..Policy::default() }
}

pub fn open(kind: Kind) -> SandboxSession {
    open_with(kind, &policy())
}

#[track_caller]
pub fn open_with(kind: Kind, policy: &Policy) -> SandboxSession {
    SandboxSession::open(&kind.confinement(), policy, &own_program()).expect("a sandbox")
}

/// This bash text.
pub fn bash(script: &str) -> SandboxCommand {
    program("/bin/bash", &["-c", script])
}

pub fn program(program: impl AsRef<Path>, arguments: &[&str]) -> SandboxCommand {
    SandboxCommand {
        program: program.as_ref().to_owned(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        directory: CommandDirectory::Fresh,
        terminal: false,
        time_limit: Duration::from_secs(40),
        output_limit: 1 << 20,
    }
}

#[track_caller]
pub fn run(session: &mut SandboxSession, command: &SandboxCommand) -> SandboxedEnd {
    session.run(command, &mut |_, _| {}).expect("a sandbox that answers")
}

/// A copy of this program that every user can start.
static COPY: Mutex<Option<tempfile::TempDir>> = Mutex::new(None);

fn copied_program() -> PathBuf {
    let mut copy = COPY.lock().expect("no other thread");
    let directory = copy.get_or_insert_with(|| {
        let directory = outside();
        std::fs::copy(own_program(), directory.path().join("it")).expect("a copy");
        directory
    });
    directory.path().join("it")
}

pub fn remove_copied_program() {
    *COPY.lock().expect("no other thread") = None;
}

/// One role of this program, inside of a sandbox in which it can be read.
pub fn role(name: &str, arguments: &[&str]) -> SandboxCommand {
    program(copied_program(), &[&[escape_attempts_run_inside::ARGUMENT, name], arguments].concat())
}

pub fn with_own_program(policy: Policy) -> Policy {
    Policy { readable: [policy.readable, vec![copied_program()]].concat(), ..policy }
}

/// As the user that runs the tests, and as nobody. Only the first shows what the sandbox itself keeps
/// from a command; the second is how tools are tried.
pub fn policies() -> [Policy; 2] {
    [Policy { drop_user: false, ..policy() }, policy()]
}

/// A directory of the machine outside of what a sandbox shows, open to every user.
pub fn outside() -> tempfile::TempDir {
    // The way to the build directory may be closed to others, as root's home is.
    let directory = tempfile::tempdir_in("/var/tmp").expect("a directory");
    open_to_all(directory.path(), 0o777);
    directory
}

pub fn open_to_all(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

pub fn texts(end: SandboxedEnd) -> (EndStatus, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (end.status, text(end.stdout), text(end.stderr))
}
