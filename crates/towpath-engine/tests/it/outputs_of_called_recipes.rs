//! The outputs of a called recipe reach everything that reads it, however large they are.

use crate::support::{Fake, Workspace};
use std::sync::Arc;

const INNER: &str =
    "name: in\nsteps:\n  - id: s\n    command: head -c 70000 /dev/zero | tr '\\0' x\n";
const MIDDLE: &str = "name: mid\nsteps:\n  - {id: c0, recipe: in.yaml}\n";
/// With its name and the quotes around it.
const IN_JSON: usize = 70_000 + r#"{"s":""}"#.len();

/// The last output of a recipe whose steps follow the call `c` of one that prints 70,000 bytes.
fn last_output(steps: &str) -> String {
    let call = "name: out\nsteps:\n  - {id: c, recipe: in.yaml}\n";
    let workspace = Workspace::new(&format!("{call}{steps}"));
    workspace.write("work/in.yaml", INNER);
    workspace.write("work/mid.yaml", MIDDLE);
    let result = workspace.runner().run("recipe.yaml").expect("a result");
    assert!(result.success, "{steps}: {:?}", result.outcome);
    result.step("r").and_then(|step| step.output.clone()).unwrap_or_default()
}

#[test]
fn an_output_over_64_kib_is_in_the_result_of_its_recipe() {
    let count = |text: &str| format!("  - id: r\n    command: printf %s {text} | wc -c\n");
    let two_levels = format!("  - {{id: m, recipe: mid.yaml}}\n{}", count("{{m}}"));
    let of_two_levels = format!("  - {{id: m, recipe: mid.yaml}}\n{}", count("{{m.c0}}"));
    let in_context = format!("{}    context: {{z: '{{{{c}}}}'}}\n", count("{{z}}"));
    let cases = [
        (count("{{c}}"), IN_JSON),
        (count("{{c.s}}"), 70_000),
        (count("\"$RECIPE_VAR_c\""), IN_JSON),
        (in_context, IN_JSON),
        (two_levels, 2 * 70_000 + r#"{"s":"","c0":{"s":""}}"#.len()),
        (of_two_levels, IN_JSON),
    ];
    for (steps, expected) in cases {
        assert_eq!(last_output(&steps), expected.to_string(), "{steps}");
    }
}

#[test]
fn a_condition_sees_an_output_over_64_kib() {
    let steps = "  - id: r\n    command: echo ran\n    condition: \"'xxx' in str(c)\"\n";
    assert_eq!(last_output(steps), "ran");
}

#[test]
fn an_agent_gets_an_output_over_64_kib() {
    let recipe =
        "name: out\nsteps:\n  - {id: c, recipe: in.yaml}\n  - {id: r, prompt: 'Summarise {{c}}'}\n";
    let workspace = Workspace::new(recipe);
    workspace.write("work/in.yaml", INNER);
    let fake = Fake::agent(|_| Ok("short".to_owned()));
    let calls = Arc::clone(&fake.calls);
    let result = workspace.runner().adapter(fake).run("recipe.yaml").expect("a result");
    assert!(result.success, "{:?}", result.outcome);
    assert!(calls.lock().expect("calls")[0].prompt.len() > IN_JSON);
}

#[test]
fn json_in_the_output_of_a_called_recipe_is_found() {
    let steps = "  - {id: j, recipe: json.yaml, parse_json: true, output: v}\n  - {id: r, command: 'echo {{v.n}}'}\n";
    let workspace = Workspace::new(&format!("name: out\nsteps:\n{steps}"));
    let inner = "name: json\nsteps:\n  - id: s\n    command: printf '{\"n\":7,\"pad\":\"'; head -c 70000 /dev/zero | tr '\\0' x; printf '\"}'\n";
    workspace.write("work/json.yaml", inner);
    let result = workspace.runner().run("recipe.yaml").expect("a result");
    assert!(result.success, "{:?}", result.outcome);
    assert_eq!(result.step("r").and_then(|step| step.output.clone()).as_deref(), Some("7"));
}
