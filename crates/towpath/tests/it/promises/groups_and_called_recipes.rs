//! Groups and called recipes: everything in a group runs at the same time, whatever it is; limits bind
//! wherever they are stated.

use super::{runner, scripted};
use crate::support::User;
use std::io::{BufRead as _, BufReader};

/// Ends only when the other has begun.
fn meets(own: &str, other: &str) -> String {
    format!("touch {own}; until [ -e {other} ]; do sleep 0.02; done")
}

#[test]
fn agents_and_called_recipes_of_a_group_run_at_the_same_time() {
    let recipe = "name: r
steps:
  - {id: one, prompt: first, parallel_group: agents, auto_stage: false, timeout: 30}
  - {id: two, prompt: second, parallel_group: agents, auto_stage: false, timeout: 30}
  - {id: left, recipe: half, context: {own: left, other: right}, parallel_group: recipes, timeout: 30}
  - {id: right, recipe: half, context: {own: right, other: left}, parallel_group: recipes, timeout: 30}
";
    let half = "name: half\nsteps:\n  - id: meet\n    command: touch {{own}}; until [ -e {{other}} ]; do sleep 0.02; done\n";
    let user = User::new().file("r.yaml", recipe).file("half.yaml", half);
    let answer = |what: &str, run: String| {
        serde_json::json!({"match": what, "text": what, "run": run}).to_string() + "\n"
    };
    let answers = answer("first", meets("a", "b")) + &answer("second", meets("b", "a"));
    scripted(&user, "r.yaml", &answers).exits(0).reports("4 of 4 steps ran");
}

#[test]
fn sixty_steps_of_a_group_run_at_the_same_time() {
    let mut recipe = "name: r\nsteps:\n".to_owned();
    for n in 0..60 {
        recipe.push_str(&format!(
            "  - {{id: s{n}, command: 'touch met.{n}; until [ $(ls met.* | wc -l) = 60 ]; do sleep 0.05; done', parallel_group: g, timeout: 120}}\n"
        ));
    }
    let user = User::new().file("r.yaml", &recipe);
    user.towpath(&["run", "r.yaml"]).exits(0).reports("60 of 60 steps ran");
}

#[test]
fn a_step_of_a_group_has_its_directory_and_its_end_is_reported_when_it_comes() {
    let recipe = "name: r
context: {d: below}
steps:
  - {id: quick, command: 'basename $PWD > ../where', working_dir: '{{d}}', parallel_group: g}
  - {id: slow, command: 'until [ -e go ]; do sleep 0.02; done', parallel_group: g, timeout: 60}
";
    let user = User::new().file("r.yaml", recipe).file("below/x", "");
    let mut command = user.command(&["as", "recipe-runner-rs", "r.yaml", "--progress"]);
    let mut child = command.spawn().expect("it starts");
    let lines = BufReader::new(child.stderr.take().expect("its stderr")).lines();
    for line in lines {
        // Only a user who reads it while the other still works can let that one continue.
        if line.expect("a line") == "[step:complete] quick (1/2) — ok" {
            user.write("go", "");
        }
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    assert_eq!(user.read("where"), "below\n");
}

#[test]
fn limits_bind_in_groups_and_where_a_called_recipe_states_them() {
    let group = "name: g
recursion: {max_total_steps: 2}
steps:
  - {id: x, command: touch x, parallel_group: g}
  - {id: y, command: touch y, parallel_group: g}
  - {id: z, command: touch z, parallel_group: g, condition: \"1 == 1\"}
";
    let call = |name: &str, extra: &str, callee: &str| {
        format!("name: {name}\n{extra}steps:\n  - {{id: call, recipe: {callee}}}\n")
    };
    let user = User::new()
        .file("group.yaml", group)
        .file("top.yaml", &call("top", "", "middle"))
        .file("middle.yaml", &call("middle", "recursion: {max_depth: 1}\n", "lower"))
        .file("lower.yaml", &call("lower", "", "lowest"))
        .file("lowest.yaml", "name: lowest\nsteps:\n  - {id: a, command: touch deep}\n");
    user.towpath(&["run", "group.yaml"]).exits(3).reports("z: over the limit max_total_steps: 2");
    user.towpath(&["run", "top.yaml"]).exits(3).reports("over the limit max_depth: 1");
    runner(&user, &["top.yaml"]).exits(1).shows("over the limit max_depth: 1");
    assert!(!user.path("work/z").exists() && !user.path("work/deep").exists());
}

#[test]
fn a_called_recipe_may_be_in_a_folder_and_gets_its_values_whole() {
    let recipe = "name: r
context: {list: [1, 2.50]}
steps:
  - {id: call, recipe: testing/inner, context: {given: '{{list}}', nested: {deep: ['{{list}}', x]}}}
  - {id: after, command: 'echo \"{{call.made}} [{{own?}}] [{{given?}}]\"'}
";
    let inner = "name: inner
context: {own: default}
steps:
  - {id: look, command: 'echo {{given.1}} {{nested.deep.0.0}} {{own}}', output: made}
";
    let user = User::new().file("r.yaml", recipe).file("shared/testing/inner.yaml", inner);
    let printed = user.towpath(&["run", "r.yaml", "-R", "shared"]).exits(0);
    assert_eq!(printed.stdout, "2.50 1 default\n2.50 1 default [] []\n");
}
