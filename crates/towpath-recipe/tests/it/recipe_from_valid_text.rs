//! What a sound text becomes: the recipe that is run.

use std::time::Duration;
use towpath_core::{Map, Source, text_of};
use towpath_recipe::{Effect, Recipe, Recursion, Work, read};

fn recipe(text: &str) -> Recipe {
    let read = read(&Source::new("r.yaml", text));
    read.recipe.unwrap_or_else(|| panic!("{:#?}", read.problems))
}

#[test]
fn defaults_are_filled_in() {
    let recipe = recipe("name: x\nsteps:\n  - id: a\n    command: ls\n");
    assert_eq!((recipe.version.as_str(), recipe.description.as_str()), ("1.0", ""));
    assert_eq!(recipe.recursion, Recursion { max_depth: None, max_total_steps: None });
    assert!(recipe.hooks.pre_step.is_none() && recipe.context.is_empty());
    let step = &recipe.steps[0];
    assert_eq!(
        (step.effect, step.timeout, step.continue_on_error),
        (Effect::Repeatable, None, false)
    );
}

#[test]
fn the_fields_decide_the_type() {
    let rows = [
        ("command: ls", "bash"),
        ("prompt: hi", "agent"),
        ("prompt: hi\n    command: ls", "bash"),
        ("recipe: r", "recipe"),
        ("recipe: r\n    command: ls\n    prompt: hi", "recipe"),
        ("type: agent\n    prompt: hi\n    command: ls", "agent"),
        ("type: bash\n    agent: x\n    command: ls", "bash"),
    ];
    for (fields, kind) in rows {
        let recipe = recipe(&format!("name: x\nsteps:\n  - id: a\n    {fields}\n"));
        assert_eq!(recipe.steps[0].work.kind().as_str(), kind, "{fields}");
    }
}

#[test]
fn values_keep_their_text_and_their_order() {
    let recipe = recipe(
        "name: x\nversion: 1.10\ncontext:\n  z: 1.10\n  a: 017\n  m: {k: [1e3, +5, yes, true, ~]}\n  \
         big: 12345678901234567890123\n  t: 12:30\nsteps: [{id: a, command: true}]\n",
    );
    assert_eq!(recipe.version, "1.10");
    let keys: Vec<&str> = recipe.context.keys().map(String::as_str).collect();
    assert_eq!(keys, ["z", "a", "m", "big", "t"]);
    let texts: Vec<String> = recipe.context.values().map(text_of).collect();
    let map = r#"{"k":[1e3,"+5","yes",true,null]}"#;
    assert_eq!(texts, ["1.10", "017", map, "12345678901234567890123", "12:30"]);
    assert!(recipe.context["z"].is_number() && recipe.context["a"].is_string());
    let Work::Bash { command } = &recipe.steps[0].work else { panic!("a bash step") };
    assert_eq!(command.text(), "true");
}

#[test]
fn a_step_has_all_its_fields() {
    let recipe = recipe(
        r#"name: x
steps:
  - id: a
    prompt: Look at {{x}}
    model: haiku
    timeout: 1.5
    effect: once
    continue_on_error: true
    working_dir: "{{dir}}/src"
    context:
      whole: "{{list}}"
      mixed: ["n={{n}}", 2]
"#,
    );
    let step = &recipe.steps[0];
    assert_eq!(step.timeout, Some(Duration::from_millis(1500)));
    assert_eq!((step.effect, step.continue_on_error), (Effect::Once, true));
    let scope = serde_json::json!({"list": [1, 2], "n": 3, "dir": "/d", "x": "it"});
    let scope: &Map = scope.as_object().unwrap();
    assert_eq!(step.working_dir.as_ref().unwrap().render(scope), "/d/src");
    let context: Vec<String> =
        step.context.iter().map(|(k, v)| format!("{k}={}", v.render(scope))).collect();
    assert_eq!(context, ["whole=[1,2]", r#"mixed=["n=3",2]"#]);
    let Work::Agent(agent) = &step.work else { panic!("an agent step") };
    assert_eq!(agent.prompt.render(scope), "Look at it");
    assert_eq!((agent.model.as_deref(), agent.auto_stage), (Some("haiku"), true));
}

#[test]
fn merged_steps_take_over_what_they_do_not_set() {
    let recipe = recipe(
        "name: x\nsteps:\n  - &base\n    id: a\n    command: ls\n    timeout: 3\n  - <<: *base\n    \
         id: b\n    timeout: 5\n",
    );
    let seconds: Vec<u64> = recipe.steps.iter().map(|s| s.timeout.unwrap().as_secs()).collect();
    assert_eq!(seconds, [3, 5]);
    assert_eq!(recipe.steps[1].id, "b");
    assert_eq!(recipe.step_text(&recipe.steps[1]), "<<: *base\n    id: b\n    timeout: 5");
}

#[test]
fn batches_outputs_and_uses() {
    let recipe = recipe(
        "name: x\ncontext: {b: 1}\nsteps:\n  - {id: a, command: 'echo {{ b }}', parallel_group: g}\n  \
         - {id: b, command: ls, parallel_group: g}\n  - {id: c, command: ls, output: o}\n",
    );
    assert_eq!(recipe.batches(), [0..2, 2..3]);
    let outputs: Vec<Option<&str>> = recipe.steps.iter().map(|s| recipe.output_name(s)).collect();
    assert_eq!(outputs, [Some("a"), None, Some("o")]);
    let used = &recipe.steps[0].uses[0];
    assert_eq!((used.path.as_str(), used.field), ("b", "command"));
    assert_eq!(&recipe.source.text[used.span.range()], "{{ b }}");
}
