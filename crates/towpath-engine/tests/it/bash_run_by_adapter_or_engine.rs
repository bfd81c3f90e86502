//! Bash commands below an adapter: those that it runs, and those that it leaves to the engine.

use crate::support::{Fake, Workspace};
use std::process::Command;
use std::sync::Arc;
use towpath_engine::{AdapterError, BashCall, FailureKind, RunOutcome, StepStatus};

/// Runs a call as a remote machine would: with nothing but its text.
fn run(call: &BashCall) -> Result<String, AdapterError> {
    let mut bash = Command::new("bash");
    bash.args(["-c", &call.command]).current_dir(&call.working_dir);
    bash.envs(call.environment.iter().map(|(n, v)| (n, v)));
    let output = bash.output()?;
    match output.status.code() {
        Some(0) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        code => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(AdapterError::exit(code.unwrap_or(1), stderr))
        }
    }
}

#[test]
fn an_adapter_may_run_commands_and_leave_others() {
    let workspace = Workspace::new(
        r#"
name: mixed
hooks:
  post_step: echo "$STEP_ID {{step_status}}" >> hooks.log
context:
  value: "it's $HOME; {{x}} `id`"
steps:
  - id: elsewhere
    command: "printf %s {{value}}"
  - id: here
    command: "echo here"
"#,
    );
    let fake = Fake::agent(|_| Ok(String::new()))
        .bash(|call| (call.hook || call.step == "elsewhere").then(|| run(call)));
    let commands = Arc::clone(&fake.commands);
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    assert!(result.success, "{:?}", result.outcome);
    let output = |step: &str| result.step(step).unwrap().output.clone().unwrap_or_default();
    assert_eq!(output("elsewhere"), "it's $HOME; {{x}} `id`");
    assert_eq!(output("here"), "here");
    assert_eq!(workspace.read("work/hooks.log"), "elsewhere completed\nhere completed\n");
    assert_eq!(commands.lock().unwrap().len(), 4, "it is asked about each command and hook");
}

#[test]
fn a_command_that_an_adapter_reports_as_failed_has_its_code_and_message() {
    let workspace =
        Workspace::new("name: r\nsteps:\n  - {id: a, command: 'echo out; echo bad >&2; exit 7'}\n");
    let fake = Fake::agent(|_| Ok(String::new())).bash(|call| Some(run(call)));
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    let RunOutcome::Failed { failure, .. } = &result.outcome else { panic!("{result:?}") };
    assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Command, "exit 7"));
    assert_eq!(failure.detail, "bad");
}

#[test]
fn the_engines_own_bash_obeys_timeouts_below_an_adapter() {
    let workspace =
        Workspace::new("name: r\nsteps:\n  - {id: a, command: 'sleep 60', timeout: 1}\n");
    let fake = Fake::agent(|_| Ok(String::new()));
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    let StepStatus::Failed(failure) = &result.step("a").unwrap().status else { panic!() };
    assert_eq!(failure.kind, FailureKind::Timeout);
}
