//! Refuses, before the run starts, agents that do not work unattended as root outside a sandbox.

use crate::environment::Environment;
use rustix::process::getuid;
use std::path::PathBuf;
use towpath_agent::{AsRoot, BackendRow};
use towpath_recipe::Work;

/// Why calls of this program that work without asking would fail, with the advice.
pub fn obstacle(env: &Environment, row: &BackendRow) -> Option<String> {
    let rule = row.can.as_root?;
    if !getuid().is_root() || is_set(env, &rule) {
        return None;
    }
    let (title, variable) = (row.title, rule.variable);
    Some(format!(
        "{title} does not work unattended as root: run as another user, or set {variable}=1 if \
         this machine is a sandbox"
    ))
}

/// Whether a step's call would work without asking. A mode that is only a word does not keep it from that.
pub fn is_unattended(work: &Work, row: &BackendRow, rule: &AsRoot) -> bool {
    match work {
        Work::Agent(agent) => agent
            .mode
            .as_ref()
            .is_none_or(|mode| mode.name == rule.mode || !row.can.has_mode(&mode.name)),
        Work::Recipe { recovery, .. } => *recovery,
        Work::Bash { .. } => false,
    }
}

/// In the environment it must be exactly 1. The program reads its own settings, too: what they
/// mention is for the program to judge.
fn is_set(env: &Environment, rule: &AsRoot) -> bool {
    let own = env.get(rule.directory.0).map(PathBuf::from);
    let usual = || env.home.as_ref().map(|home| home.join(rule.directory.1));
    let user = own.or_else(usual).map(|directory| directory.join("settings.json"));
    let files = user.into_iter().chain([PathBuf::from(rule.managed)]);
    let mentions = |file: PathBuf| {
        std::fs::read_to_string(file).is_ok_and(|text| text.contains(rule.variable))
    };
    env.get(rule.variable).is_some_and(|value| value == "1") || files.into_iter().any(mentions)
}
