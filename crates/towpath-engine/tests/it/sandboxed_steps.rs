//! Steps that run in a sandbox, as an embedder meets them: confined without being asked for more, and
//! refused where nothing would confine them.

use crate::support::{Fake, Workspace};
use towpath_core::Secrets;
use towpath_engine::{
    Confinement, EngineError, Error, FoundProgram, Limits, Options, PlanRequirement,
    RequirementChecker, Store, Unmet, create,
};
use towpath_recipe::{Program, Request, RunOptions, SearchPath, resolve};

const PEEK: &str = "name: peek
context: {word: hello}
steps:
  - id: confined
    sandbox: true
    command: |
      echo {{word}} > written; pwd; echo $HOME
      cat ../outside 2> /dev/null || echo nothing outside
      echo kept > $HOME/file && cat $HOME/file
  - id: plain
    command: cat ../outside written
";

fn program(workspace: &Workspace) -> Program {
    let resolved = resolve(&Request {
        reference: "recipe.yaml".to_owned(),
        working_dir: workspace.path("work"),
        search: SearchPath::default(),
        inputs: towpath_core::Map::new(),
        run_options: RunOptions { to_run: true, ..RunOptions::default() },
    });
    resolved.program.expect("it is sound")
}

#[test]
fn a_step_is_confined_and_the_others_are_not() {
    let workspace = Workspace::new(PEEK);
    workspace.write("outside", "outside\n");
    let result = workspace.runner().set("word", "a  word; exit 3").run("recipe.yaml");
    let result = result.expect("a result");
    let output = |step| result.step(step).and_then(|step| step.output.as_deref()).unwrap_or("");
    let work = workspace.path("work").canonicalize().expect("a directory");
    assert_eq!(output("confined"), format!("{}\n/tmp\nnothing outside\nkept", work.display()));
    assert_eq!(output("plain"), "outside\na  word; exit 3");
}

/// An adapter would run the command wherever it likes.
#[test]
fn no_adapter_is_asked_to_run_it() {
    let workspace = Workspace::new(PEEK);
    workspace.write("outside", "outside\n");
    let adapter = Fake::agent(|_| Ok(String::new())).bash(|_| Some(Ok("adapted".to_owned())));
    let commands = adapter.commands.clone();
    let result = workspace.runner().adapter(adapter).run("recipe.yaml").expect("a result");
    let asked: Vec<String> =
        commands.lock().expect("commands").iter().map(|call| call.command.clone()).collect();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(result.step("confined").is_some_and(|step| step.output.as_deref() != Some("adapted")));
}

/// Finds one program in a directory that nothing else shows to a sandbox.
#[derive(Debug)]
struct One(std::path::PathBuf);

impl RequirementChecker for One {
    fn find(&self, _: &PlanRequirement, _: Option<&FoundProgram>) -> Result<FoundProgram, Unmet> {
        let readable = vec![self.0.clone()];
        let program = self.0.join("own-tool");
        Ok(FoundProgram { program, version: None, directory_first: true, readable })
    }
}

#[test]
fn required_programs_can_be_used_inside() {
    use std::os::unix::fs::PermissionsExt as _;
    let workspace = Workspace::new(
        "name: r\nsteps:\n  - {id: a, command: own-tool, requires: [own-tool], sandbox: true}\n",
    );
    std::fs::create_dir(workspace.path("tools")).expect("a directory");
    workspace.write("tools/own-tool", "#!/bin/sh\necho used\n");
    let program = workspace.path("tools/own-tool");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let result = workspace.runner().requirements(One(workspace.path("tools"))).run("recipe.yaml");
    let result = result.expect("a result");
    assert_eq!(result.step("a").and_then(|step| step.output.as_deref()), Some("used"));
}

#[test]
fn a_guard_that_makes_no_sandbox_refuses_the_run() {
    let workspace = Workspace::new(PEEK);
    let refused = workspace.runner().warden("/bin/false").run("recipe.yaml");
    let Err(Error::Engine(EngineError::NoSandbox { steps, reason })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(steps, ["step confined of peek"]);
    assert!(reason.starts_with("no sandbox can be made on this machine: "), "{reason}");
    assert!(!workspace.path("state").exists(), "nothing was recorded");
}

#[test]
fn nothing_is_recorded_that_nobody_would_confine() {
    let workspace = Workspace::new(PEEK);
    let mut store = Store::open(&workspace.path("state")).expect("a store");
    for sandbox in [None, Some(Confinement::None)] {
        let refused = create(
            &mut store,
            program(&workspace),
            Options { sandbox, ..Options::default() },
            &workspace.path("work"),
            Limits::default(),
            &Secrets::default(),
        );
        let Err(error @ EngineError::NoSandbox { .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(
            error.to_string(),
            "step confined of peek must run in a sandbox: nobody has looked for one"
        );
    }
}
