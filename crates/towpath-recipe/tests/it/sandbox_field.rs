//! `sandbox`: which commands run in one, and where it is refused.

use crate::problems_as_lines::problems;
use crate::temporary_project::Project;
use towpath_recipe::Tags;

fn sandboxed(project: &Project) -> Vec<String> {
    let resolved = project.named("r.yaml");
    let program = resolved.program.clone();
    program.unwrap_or_else(|| panic!("{}", project.report(&resolved))).sandboxed_steps()
}

#[test]
fn what_cannot_run_in_a_sandbox_is_refused() {
    let file = r"name: x
sandbox: {network: false}
steps:
  - {id: a, prompt: x, sandbox: true}
  - {id: b, recipe: y, sandbox: true}
  - {id: c, command: x, sandbox: strict}
  - {id: d, command: x, sandbox: [net]}
  - {id: e, prompt: x, sandbox: false}
  - {id: f, command: x, sandbox: 'yes'}
";
    let expected = r"error[wrong-type] r.yaml:2:10 `{` `sandbox` must be true or false, this is a map | what a command can reach in a sandbox is fixed
error[sandbox-without-command] r.yaml:4:24 `sandbox` a step of type `agent` cannot run in a sandbox | an agent needs the network
error[sandbox-without-command] r.yaml:5:24 `sandbox` a step of type `recipe` cannot run in a sandbox | the steps of the called recipe have their own
error[wrong-type] r.yaml:6:34 `strict` `sandbox` must be true or false, not `strict`
error[wrong-type] r.yaml:7:34 `[` `sandbox` must be true or false, this is a list | what a command can reach in a sandbox is fixed
warning[unused-field] r.yaml:8:24 `sandbox` a step of type `agent` does not use `sandbox` | this has no effect
error[wrong-type] r.yaml:9:34 `'yes'` `sandbox` must be true or false, not `'yes'` | write `true`, without quotes
";
    assert_eq!(problems(file), expected);
}

#[test]
fn a_machines_command_can_run_in_one_and_nothing_else_of_it() {
    let machine = |sandbox: &str, step: &str| {
        format!(
            "id: m\nlabel: M\ndescription: m\ninitialStep: a\nguardrails: {{}}\n{sandbox}steps:\n  a:\n    {step}\n    outcomes: [success, failure, other]\n    onOutcome:\n      success: {{action: exit, reason: done}}\n      failure: {{action: exit, reason: failed}}\n      other: {{action: exit, reason: other}}\n"
        )
    };
    assert_eq!(
        problems(&machine("sandbox: 1\n", "prompt: x\n    sandbox: true")),
        "error[wrong-type] r.yaml:6:10 `1` `sandbox` must be true or false, not `1`\n\
         error[unused-field] r.yaml:10:5 `sandbox` Step 'a': 'sandbox' is for steps with a 'command' | an agent needs the network\n"
    );
    for (all, step, expected) in [
        ("", "command: x\n    sandbox: true", &["step a of m"][..]),
        ("sandbox: true\n", "command: x", &["step a of m"]),
        ("sandbox: true\n", "command: x\n    sandbox: false", &[]),
        ("sandbox: true\n", "prompt: x", &[]),
    ] {
        let project = Project::new(&[("r.yaml", &machine(all, step))]);
        assert_eq!(sandboxed(&project), expected, "{all}{step}");
    }
}

#[test]
fn a_recipe_states_it_for_all_its_commands_and_a_step_for_itself() {
    let files = [
        (
            "r.yaml",
            "name: r\nextends: base\nsandbox: true\nsteps:\n\
             \x20 - {id: own, command: x}\n\
             \x20 - {id: open, command: x, sandbox: false}\n\
             \x20 - {id: ask, prompt: x}\n\
             \x20 - {id: docs, when_tags: [docs], command: x}\n\
             \x20 - {id: call, recipe: called}\n",
        ),
        ("base.yaml", "name: base\nsandbox: false\nsteps:\n  - {id: first, command: x}\n"),
        (
            "called.yaml",
            "name: called\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x, sandbox: true}\n",
        ),
    ];
    let mut project = Project::new(&files);
    assert_eq!(sandboxed(&project), ["step first of r", "step own of r", "step b of called"]);
    project.run_options.tags = Tags { include: vec!["docs".to_owned()], exclude: Vec::new() };
    assert!(sandboxed(&project).contains(&"step docs of r".to_owned()));
}
