//! The rules of Landlock for a policy. They are made by the server and put in force by each command for
//! itself, so that a command can signal only what came of it. Landlock hides nothing: what it leaves
//! open depends on the kernel and is listed.

use super::mount_plan::SYSTEM;
use super::policy::Policy;
use crate::os;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The newest that this was written for; an older kernel enforces the part that it knows.
const KNOWN: ABI = ABI::V9;

const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// For a command that may also write in its own `scratch` directory.
pub(super) fn rules(policy: &Policy, scratch: &Path) -> Result<OwnedFd, String> {
    let rules = build(policy, scratch).map_err(|error| error.to_string())?;
    rules.ok_or_else(|| "this kernel has no Landlock, or it is turned off".to_owned())
}

fn build(policy: &Policy, scratch: &Path) -> Result<Option<OwnedFd>, RulesetError> {
    let (all, read) = (AccessFs::from_all(KNOWN), AccessFs::from_read(KNOWN));
    let mut rules = Ruleset::default().handle_access(all)?.scope(Scope::from_all(KNOWN))?;
    if !policy.network {
        rules = rules.handle_access(AccessNet::from_all(KNOWN))?;
    }
    let seen: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let used = seen | AccessFs::WriteFile | AccessFs::IoctlDev;
    // A device that a command makes for itself would be one without any rule.
    let written = all & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let writable = policy.writable.iter().map(PathBuf::as_path).chain([scratch]);
    let rules = rules
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(&policy.readable, read))?
        .add_rules(path_beneath_rules(["/proc"], seen))?
        .add_rules(path_beneath_rules(["/dev"], AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(DEVICES, used))?
        .add_rules(path_beneath_rules(writable, written))?;
    Ok(rules.into())
}

/// What each version of the kernel's interface added, and is open before.
const SINCE: [(u32, &str); 4] = [
    (3, "truncating files"),
    (5, "control of devices"),
    (6, "signals to other processes"),
    (9, "messages to other programs"),
];

pub(super) fn not_enforced(policy: &Policy) -> Vec<&'static str> {
    not_enforced_since(os::landlock_version(), policy)
}

fn not_enforced_since(version: u32, policy: &Policy) -> Vec<&'static str> {
    let always = ["the size of temporary files", "the view of other processes"];
    let mut open = Vec::from(always);
    open.push("modes, owners and times of files");
    if !policy.network {
        open.push(if version >= 4 { "network traffic other than TCP" } else { "the network" });
    }
    open.extend(SINCE.iter().filter(|(since, _)| version < *since).map(|(_, what)| *what));
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_kernel_leaves_more_open() {
        let policy = Policy::default();
        let counts: Vec<usize> =
            (1..=9).map(|version| not_enforced_since(version, &policy).len()).collect();
        assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
        assert!(not_enforced_since(3, &policy).contains(&"the network"));
        let networked = Policy { network: true, ..Policy::default() };
        assert!(!not_enforced_since(3, &networked).iter().any(|open| open.contains("network")));
    }
}
