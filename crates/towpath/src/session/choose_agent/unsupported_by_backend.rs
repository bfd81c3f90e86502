//! Requests that a backend's program cannot fulfil: refused before anything runs, with the backends
//! that can. What a program can do is in its row.

use crate::exit::{CommandError, ErrorKind, Exit};
use towpath_agent::{BACKENDS, BackendRow, Capabilities};
use towpath_recipe::MachineOptions;

pub fn refuse(row: &BackendRow, run_options: &MachineOptions) -> Result<(), CommandError> {
    if run_options.system.is_some() && !row.can.system_prompt {
        let can = those_that(|can| can.system_prompt);
        let why = format!("{} does not support --system-prompt; {can} do", row.id);
        return Err(CommandError::new(Exit::Setup, ErrorKind::BackendCannot, why));
    }
    // The scripted agent remembers nothing, and takes both.
    if run_options.system.is_some() && run_options.session.is_some() && row.make.is_some() {
        let why = format!(
            "--system-prompt with --session: a session of {} keeps its first instructions; leave one \
             of the two out, or use --context",
            row.id
        );
        return Err(CommandError::new(Exit::Setup, ErrorKind::BackendCannot, why));
    }
    match &run_options.session {
        Some(id) if !row.can.takes_session(id) => Err(CommandError::bad_input(format!(
            "--session: `{id}` is not a session id of {}: its ids are UUIDs",
            row.id
        ))),
        _ => Ok(()),
    }
}

/// A session that is found only in its own directory cannot continue in a new one.
pub fn refuse_moving(row: &BackendRow, run_options: &MachineOptions) -> Result<(), CommandError> {
    if run_options.session.is_none() || row.can.resume_elsewhere {
        return Ok(());
    }
    let can = those_that(|can| can.resume_elsewhere);
    let why = format!(
        "{} finds a session only in the directory where it began, and a new worktree is another one: \
         leave out --session or --worktree; {can} can do both",
        row.id
    );
    Err(CommandError::new(Exit::Setup, ErrorKind::BackendCannot, why))
}

/// The programs that can do something, as a list in words.
fn those_that(can: impl Fn(&Capabilities) -> bool) -> String {
    let rows = BACKENDS.iter().filter(|row| row.make.is_some() && can(&row.can));
    let names: Vec<&str> = rows.map(|row| row.id).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use towpath_agent::backend_row;

    fn row(id: &str) -> &'static BackendRow {
        backend_row(id).expect("a backend")
    }

    #[test]
    fn a_system_prompt_is_for_those_that_take_one() {
        let run_options = MachineOptions { system: Some("Be brief.".into()), ..Default::default() };
        for id in ["claude-code", "codex", "scripted"] {
            assert!(refuse(row(id), &run_options).is_ok(), "{id}");
        }
        for id in ["gemini", "opencode", "github-copilot", "cursor"] {
            let stop = refuse(row(id), &run_options).expect_err(id);
            assert_eq!(stop.exit, Exit::Setup);
            let why = format!("{id} does not support --system-prompt; claude-code and codex do");
            assert_eq!(stop.message, why);
        }
        let both = MachineOptions { session: Some("s".into()), ..run_options };
        for id in ["claude-code", "codex"] {
            assert_eq!(refuse(row(id), &both).expect_err(id).exit, Exit::Setup);
        }
        assert!(refuse(row("scripted"), &both).is_ok());
    }

    #[test]
    fn a_session_is_one_that_the_program_can_have() {
        let wish = |id: &str| MachineOptions { session: Some(id.into()), ..Default::default() };
        let uuid = "0F8fad5b-d9cb-469f-a165-70867728950e";
        for id in ["claude-code", "codex", "github-copilot"] {
            assert!(refuse(row(id), &wish(uuid)).is_ok(), "{id}");
            let stop = refuse(row(id), &wish("my review")).expect_err(id);
            assert_eq!(stop.exit, Exit::BadInput);
        }
        assert!(refuse(row("opencode"), &wish("ses_1")).is_ok());
        assert!(refuse_moving(row("claude-code"), &wish(uuid)).is_ok());
        assert!(refuse_moving(row("gemini"), &wish(uuid)).is_err());
        assert!(refuse_moving(row("gemini"), &MachineOptions::default()).is_ok());
    }
}
