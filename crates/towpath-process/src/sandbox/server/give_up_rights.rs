//! What the server gives up before the first command. In namespaces of its own it becomes the
//! unprivileged user itself, and none of its commands can look into it; elsewhere it keeps its rights, so
//! that no command can signal it, and each command gives them up when it starts.

use super::super::confinement::Confinement;
use super::super::policy::Policy;
use super::super::unprivileged_user::user_can_be_dropped;
use super::command_usage::threads_of_user;
use crate::os::{self, User};
use rustix::process::{
    DumpableBehavior, Gid, Signal, Uid, WaitOptions, geteuid, getuid, set_dumpable_behavior,
    set_parent_process_death_signal, waitpid,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use std::fs;

/// Nobody: owns no file.
const UNPRIVILEGED: User = User(65534);

/// What root keeps in a sandbox in which it stays root: rights over the files that it can see.
const OF_FILES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

/// What is left for the commands to give up, and how they are counted.
#[derive(Debug)]
pub(super) struct Rights {
    /// What each command becomes when it starts.
    pub user_of_commands: Option<User>,
    /// What each command keeps of root's capabilities, where it stays root.
    pub capabilities_of_commands: Option<u64>,
    pub counted: Counted,
}

/// How the kernel counts the threads of a command when it is asked for one more.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counted {
    /// With these of ours, and no others.
    Apart { ours: u64 },
    /// With all that its user has on the machine; so many when the sandbox was opened.
    WithUser { others: u64 },
}

pub(super) fn give_up_rights(confinement: &Confinement, policy: &Policy) -> Result<Rights, String> {
    let is_root = geteuid().is_root();
    let drops_user = is_root && policy.drop_user;
    if *confinement != Confinement::None {
        // When the machine's memory is exhausted, these processes are the first to end.
        let _ = fs::write("/proc/self/oom_score_adj", "1000");
        os::leave_session_keys();
    }
    match confinement.has_namespaces() {
        true => give_up_all(confinement, is_root, drops_user),
        false => leave_to_commands(confinement, policy, is_root),
    }
}

/// Where commands share the machine's processes with this one.
fn leave_to_commands(
    confinement: &Confinement,
    policy: &Policy,
    is_root: bool,
) -> Result<Rights, String> {
    os::adopt_orphans(true).map_err(|error| format!("cannot adopt processes: {error}"))?;
    let is_confined = *confinement != Confinement::None;
    if is_confined {
        protect_this_process()?;
    }
    let (user_of_commands, capabilities_of_commands) = match policy.drop_user {
        _ if !is_root => (None, None),
        true if user_can_be_dropped(confinement, policy) => (Some(UNPRIVILEGED), None),
        true => (None, Some(CapabilitySet::empty().bits())),
        false => (None, is_confined.then_some(OF_FILES.bits())),
    };
    let counted = count_with_user(user_of_commands);
    Ok(Rights { user_of_commands, capabilities_of_commands, counted })
}

/// In namespaces whose first process this is.
fn give_up_all(
    confinement: &Confinement,
    is_root: bool,
    drops_user: bool,
) -> Result<Rights, String> {
    set_no_new_privs(true).map_err(|errno| format!("cannot refuse new rights: {errno}"))?;
    let has_own_count = match (is_root, drops_user) {
        (true, true) => {
            become_user(UNPRIVILEGED)?;
            enter_own_user_namespace()?
        }
        (true, false) => false,
        // Every mechanism has made a user namespace for it.
        (false, _) => true,
    };
    let waits_outside = !is_root && *confinement == Confinement::Namespaces;
    let kept = if is_root && !drops_user { OF_FILES } else { CapabilitySet::empty() };
    keep_capabilities(kept)?;
    protect_this_process()?;
    // After the user has changed: a change forgets it.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| format!("cannot end with the parent: {errno}"))?;
    let counted = match has_own_count && os::counts_by_namespace() {
        true => Counted::Apart { ours: 1 + u64::from(waits_outside) },
        false => count_with_user(None),
    };
    Ok(Rights { user_of_commands: None, capabilities_of_commands: None, counted })
}

fn count_with_user(user: Option<User>) -> Counted {
    let user = user.map_or_else(|| getuid().as_raw(), |user| user.0);
    Counted::WithUser { others: threads_of_user(user) }
}

/// Without this a command of the same user could read and change this process.
fn protect_this_process() -> Result<(), String> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|errno| format!("cannot protect the sandbox's own process: {errno}"))
}

/// Whether there is one. Half of one would be a user without a number, so another process tries first.
fn enter_own_user_namespace() -> Result<bool, String> {
    let trial = os::fork().map_err(|errno| format!("no process to try with: {errno}"))?;
    let Some(trial) = trial else {
        os::exit_now(u8::from(os::own_user_namespace().is_err()));
    };
    let ended = waitpid(Some(trial), WaitOptions::empty());
    let works = matches!(ended, Ok(Some((_, status))) if status.exit_status() == Some(0));
    if works {
        os::own_user_namespace().map_err(|error| format!("no user namespace: {error}"))?;
    }
    Ok(works)
}

fn become_user(User(id): User) -> Result<(), String> {
    let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
    set_thread_groups(&[])
        .and_then(|()| set_thread_res_gid(gid, gid, gid))
        .and_then(|()| set_thread_res_uid(uid, uid, uid))
        .map_err(|errno| format!("cannot become an unprivileged user: {errno}"))
}

fn keep_capabilities(kept: CapabilitySet) -> Result<(), String> {
    let none = CapabilitySet::empty();
    let kept = CapabilitySets { effective: kept, permitted: kept, inheritable: none };
    clear_ambient_capability_set()
        .and_then(|()| set_capabilities(None, kept))
        .map_err(|errno| format!("cannot give up capabilities: {errno}"))
}
