//! The hooks that correct calls: what went wrong inside of them, and the hosts that do not use their
//! answers. A hook that fails lets the call run, so it is seen only here.

use super::finding::Finding;
use crate::corrections::hooks_directory::HooksDirectory;
use crate::corrections::{hook_errors, hosts_ignoring_rewrites};
use crate::environment::Environment;
use crate::terminal::format::{clean, count};
use towpath_shell::bash::quote;

pub fn check(env: &Environment) -> Vec<Finding> {
    let directory = HooksDirectory::of(&env.directories.state);
    let remove = |name: &str| format!("rm {}", quote(&directory.file(name).display().to_string()));
    let mut findings = Vec::new();
    for state in hosts_ignoring_rewrites::all(&directory)
        .into_iter()
        .filter(hosts_ignoring_rewrites::HostState::drops_rewrites)
    {
        let text = format!(
            "version {} ran the original of {} although it was given a corrected one: its calls are \
             now denied with the corrected command; update it, or remove what is known of it",
            clean(&state.version),
            count(state.dropped as usize, "call"),
        );
        findings.push(Finding::attention(state.host.name(), text, remove("hosts.json")));
    }
    let errors = hook_errors::recent(&directory);
    if let Some(last) = errors.last() {
        let text = format!("{}, the last one: {}", count(errors.len(), "failure"), clean(last));
        findings.push(Finding::attention("hook", text, remove("errors.log")));
    }
    findings
}
