//! What is reported about a recipe: the file, then every problem it has.

use crate::problems_as_lines::problems;

#[test]
fn a_sound_recipe_has_no_problems() {
    let file = r#"name: build
version: 1.10
description: "Builds"
author:
tags: [ci, 2024, true]
context:
  mode: release
  nested: {a: [1, two]}
recursion: {max_depth: 3, max_total_steps: 50}
hooks:
  pre_step: echo "[$(date)] {{step_id}} {{step_status}}"
steps:
  - id: a
    command: true
  - id: b
    prompt: "Look at {{a}}"
    model: haiku
    auto_stage: false
    timeout: 0.5
    continue_on_error: true
    working_dir: "{{mode}}/x"
    effect: once
  - id: c
    recipe: other
    context: {x: "{{b}}", y: [1, "{{a}}"]}
    condition: a == 'x' and mode
    output: c_out
    parse_json: false
    when_tags: []
"#;
    let expected = r"";
    assert_eq!(problems(file), expected);
}

#[test]
fn json_is_read_too() {
    let file = r#"{
	"name": "j",
	"steps": [
		{"id": "a", "command": "echo \ud83d\ude00 \"{{nope\"", "comand": "x"},
		{"id": "b", "command": "ls\n\tcat <<{{x}}\n"}
	]
}
"#;
    let expected = r#"error[unknown-field] r.yaml:4:58 `"comand"` unknown field `comand` | did you mean `command`?
error[bad-shell-text] r.yaml:5:39 `{{x}}` a value cannot be the delimiter of a here-document | write a fixed word such as EOF
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn unknown_fields_and_their_nearest_names() {
    let file = r"nam: x
step:
  - id: a
";
    let expected = r"error[unknown-field] r.yaml:1:1 `nam` unknown field `nam` | did you mean `name`?
error[unknown-field] r.yaml:2:1 `step` unknown field `step` | did you mean `steps`?
";
    assert_eq!(problems(file), expected);
}

#[test]
fn a_misspelt_required_field_is_not_also_missing() {
    let rows = [
        ("nmae: x\nsteps:\n  - {id: a, command: x}\n", "1:1", "nmae", "name"),
        ("name: x\nstesp:\n  - {id: a, command: x}\n", "2:1", "stesp", "steps"),
        ("name: x\nsteps:\n  - {ids: a, command: x}\n", "3:6", "ids", "id"),
        ("name: x\nsteps:\n  - {id: a, comand: x}\n", "3:13", "comand", "command"),
    ];
    for (file, at, written, meant) in rows {
        let expected = format!(
            "error[unknown-field] r.yaml:{at} `{written}` unknown field `{written}` | \
             did you mean `{meant}`?\n"
        );
        assert_eq!(problems(file), expected);
    }
}

#[test]
fn an_unknown_field_in_each_section() {
    let file = r"name: x
command: x
hooks:
  on_eror: x
  timeout: 5
recursion:
  depth: 1
steps:
  - id: a
    comand: cargo build
    zebra: 1
    name: foo
  - id: b
    command: x
    pre_step: y
";
    let expected = r"error[unknown-field] r.yaml:2:1 `command` unknown field `command` | this belongs to a step
error[unknown-field] r.yaml:4:3 `on_eror` unknown field `on_eror` | did you mean `on_error`? | `hooks` has `pre_step`, `post_step`, `on_error`
error[unknown-field] r.yaml:5:3 `timeout` unknown field `timeout` | this belongs to a step | `hooks` has `pre_step`, `post_step`, `on_error`
error[unknown-field] r.yaml:7:3 `depth` unknown field `depth` | `recursion` has no such field | `recursion` has `max_depth`, `max_total_steps`
error[unknown-field] r.yaml:10:5 `comand` unknown field `comand` | did you mean `command`?
error[unknown-field] r.yaml:11:5 `zebra` unknown field `zebra` | a step has no such field
error[unknown-field] r.yaml:12:5 `name` unknown field `name` | a step is named by its `id`: letters, digits, `_`, `-`
error[unknown-field] r.yaml:15:5 `pre_step` unknown field `pre_step` | this belongs under `hooks`
";
    assert_eq!(problems(file), expected);
}

#[test]
fn wrong_types() {
    let file = r#"name: [a]
version: {a: 1}
tags: ci
context: 5
recursion: 3
hooks: [x]
steps:
  - id: [a]
    command: {a: b}
    timeout: soon
    continue_on_error: "true"
    when_tags: release
    context: x
    condition:
    output: 1.5
  - id: b
    command: x
    timeout: 0
  - id: c
    command: x
    timeout: "30"
    parse_json: yes
    effect: twice
  - id: d
    command: x
    timeout: 1e-30
"#;
    let expected = r#"error[wrong-type] r.yaml:1:7 `[` `name` must be a string, this is a list
error[wrong-type] r.yaml:2:10 `{` `version` must be a string, this is a map
error[wrong-type] r.yaml:3:7 `ci` `tags` must be a list of strings, not `ci` | write `[ci]`
error[wrong-type] r.yaml:4:10 `5` `context` must be a map, not `5`
error[wrong-type] r.yaml:5:12 `3` `recursion` must be a map of fields, this is a number | not a map
error[wrong-type] r.yaml:6:8 `[x]` `hooks` must be a map of fields, this is a list | not a map
error[wrong-type] r.yaml:8:9 `[` `id` must be a string, this is a list
error[wrong-type] r.yaml:9:14 `{` `command` must be a string, this is a map
error[wrong-type] r.yaml:10:14 `soon` `timeout` must be seconds above 0, such as `30` or `5m`, not `soon`
error[wrong-type] r.yaml:11:24 `"true"` `continue_on_error` must be true or false, not `"true"` | write `true`, without quotes
error[wrong-type] r.yaml:12:16 `release` `when_tags` must be a list of strings, not `release` | write `[release]`
error[wrong-type] r.yaml:13:14 `x` `context` must be a map, not `x`
error[empty-field] r.yaml:14:5 `condition` `condition` has no value | give it a string, or take it out
error[bad-name] r.yaml:15:13 `1.5` `1.5` cannot be a variable | not a name | use letters, digits, `_` and `-`; begin with a letter, a digit or `_`
error[wrong-type] r.yaml:18:14 `0` `timeout` must be seconds above 0, such as `30` or `5m`, not `0`
error[wrong-type] r.yaml:21:14 `"30"` `timeout` must be seconds above 0, such as `30` or `5m`, not `"30"` | write `30`, without quotes
error[wrong-type] r.yaml:22:17 `yes` `parse_json` must be true or false, not `yes` | write `true`, without quotes
error[bad-choice] r.yaml:23:13 `twice` `effect` must be `repeatable` or `once`, not `twice`
error[wrong-type] r.yaml:26:14 `1e-30` `timeout` must be seconds above 0, such as `30` or `5m`, not `1e-30`
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn nothing_in_the_file() {
    let file = r"# only a comment
";
    let expected = r"error[empty-file] r.yaml:1:1 `` r.yaml is empty | a recipe needs `name` and `steps`
";
    assert_eq!(problems(file), expected);
}

#[test]
fn not_a_recipe_at_all() {
    let file = r"- a
- b
";
    let expected = r"error[wrong-type] r.yaml:1:1 `- a` a recipe must be a map of fields, this is a list | not a map
";
    assert_eq!(problems(file), expected);
}

#[test]
fn a_text_is_not_a_recipe() {
    let file = r"hello
";
    let expected = r"error[wrong-type] r.yaml:1:1 `hello` a recipe must be a map of fields, this is a string | not a map
";
    assert_eq!(problems(file), expected);
}

#[test]
fn no_name_and_no_steps() {
    let file = r#"version: "1"
"#;
    let expected = r#"error[missing-field] r.yaml:1:1 `version: "1"` the recipe has no `name` | add `name`
error[no-steps] r.yaml:1:1 `version: "1"` the recipe has no `steps` | add `steps`
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn empty_name_and_empty_steps() {
    let file = r#"name: "  "
steps: []
"#;
    let expected = r#"error[empty-name] r.yaml:1:7 `"  "` the recipe's name is empty
error[no-steps] r.yaml:2:1 `steps` the recipe has no steps | nothing is listed here
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn steps_without_anything_to_run() {
    let file = r#"name: x
steps:
  - id: a
  - id: b
    command: "  "
  - id: c
    type: agent
    command: echo
  - id: d
    type: recipe
  -
  - just text
  - command: echo
"#;
    let expected = r"error[nothing-to-run] r.yaml:3:9 `a` this step has nothing to run | give it a `command`
error[nothing-to-run] r.yaml:4:9 `b` this step has nothing to run | give it a `command`
error[nothing-to-run] r.yaml:6:9 `c` this step has nothing to run | give it a `prompt`
warning[unused-field] r.yaml:8:5 `command` a step of type `agent` does not use `command` | this has no effect
error[nothing-to-run] r.yaml:9:9 `d` this step has nothing to run | give it a `recipe`
error[empty-step] r.yaml:11:4 `` this step is empty
error[wrong-type] r.yaml:12:5 `just text` a step must be a map of fields, this is a string | not a map | write `- id: just` and below it `command: just text`
error[missing-field] r.yaml:13:5 `command: echo` the step has no `id` | add `id`
";
    assert_eq!(problems(file), expected);
}

#[test]
fn ids_become_parts_of_paths() {
    let file = r#"name: x
steps:
  - {id: a.b, command: x}
  - {id: a/b, command: x}
  - {id: "a#b", command: x}
  - {id: "", command: x}
  - {id: 7, command: x}
  - {id: é, command: x}
"#;
    let expected = r#"error[bad-id] r.yaml:3:10 `a.b` `a.b` cannot be a step's id | not an id | use letters, digits, `_` and `-`
error[bad-id] r.yaml:4:10 `a/b` `a/b` cannot be a step's id | not an id | use letters, digits, `_` and `-`
error[bad-id] r.yaml:5:10 `"a#b"` `a#b` cannot be a step's id | not an id | use letters, digits, `_` and `-`
error[bad-id] r.yaml:6:10 `""` `` cannot be a step's id | not an id | use letters, digits, `_` and `-`
error[bad-id] r.yaml:8:10 `é` `é` cannot be a step's id | not an id | use letters, digits, `_` and `-`
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn two_steps_with_one_id() {
    let file = r"name: x
steps:
  - id: a
    command: x
  - id: b
    comand: x
  - id: b
    command: x
  - id: a
    command: x
";
    let expected = r"error[unknown-field] r.yaml:6:5 `comand` unknown field `comand` | did you mean `command`?
error[duplicate-id] r.yaml:7:9 `b` two steps have the id `b` | again here | r.yaml:5:9 `b` first here
error[duplicate-id] r.yaml:9:9 `a` two steps have the id `a` | again here | r.yaml:3:9 `a` first here
";
    assert_eq!(problems(file), expected);
}

#[test]
fn duplicate_keys_at_any_depth_with_both_locations() {
    let file = r#"name: x
context:
  a: 1
  deep: {list: [{k: 1, "k": 2}]}
  a: 3
steps:
  - id: a
    command: x
    command: y
name: y
"#;
    let expected = r#"error[duplicate-key] r.yaml:4:24 `"k"` `k` is here twice | again here | r.yaml:4:18 `k` first here
error[duplicate-key] r.yaml:5:3 `a` `a` is here twice | again here | r.yaml:3:3 `a` first here
error[duplicate-key] r.yaml:9:5 `command` `command` is here twice | again here | r.yaml:8:5 `command` first here
error[duplicate-key] r.yaml:10:1 `name` `name` is here twice | again here | r.yaml:1:1 `name` first here
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn the_same_key_twice_in_a_merged_map() {
    let file = r"name: x
steps:
  - id: a
    <<: {command: x, command: y}
";
    let expected = r"error[duplicate-key] r.yaml:4:22 `command` `command` is here twice
";
    assert_eq!(problems(file), expected);
}

#[test]
fn merged_maps_and_aliases() {
    let file = r"name: x
context:
  base: &base
    command: echo {{who}}
    comand: typo
    timeout: soon
steps:
  - <<: *base
    id: a
  - <<: *base
    id: b
    timeout: 3
  - *base
";
    let expected = r"note[unfilled-place] r.yaml:4:19 `{{who}}` a default value is not filled | this stays as it is written | use the variable where the value is used, in a step
error[unknown-field] r.yaml:5:5 `comand` unknown field `comand` | did you mean `command`?
error[wrong-type] r.yaml:6:14 `soon` `timeout` must be seconds above 0, such as `30` or `5m`, not `soon`
error[missing-field] r.yaml:13:5 `*base` the step has no `id` | add `id`
";
    assert_eq!(problems(file), expected);
}

#[test]
fn names_of_variables() {
    let file = r#"name: x
context:
  a.b: 1
  "-c": 2
  __ok: 3
steps:
  - id: a
    command: x
    output: my.out
    context:
      "x y": 1
  - id: b
    command: x
    output: "{{a}}"
"#;
    let expected = r#"error[bad-name] r.yaml:3:3 `a.b` `a.b` cannot be a context key | not a name | use letters, digits, `_` and `-`; begin with a letter, a digit or `_`
error[bad-name] r.yaml:4:3 `"-c"` `-c` cannot be a context key | not a name | use letters, digits, `_` and `-`; begin with a letter, a digit or `_`
error[bad-name] r.yaml:9:13 `my.out` `my.out` cannot be a variable | not a name | use letters, digits, `_` and `-`; begin with a letter, a digit or `_`
error[bad-name] r.yaml:11:7 `"x y"` `x y` cannot be a context key | not a name | use letters, digits, `_` and `-`; begin with a letter, a digit or `_`
error[bad-name] r.yaml:14:13 `"{{a}}"` `{{a}}` cannot be a variable | not a name | use letters, digits, `_` and `-`; begin with a letter, a digit or `_`
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn the_type_of_a_step() {
    let file = r"name: x
steps:
  - id: a
    type: bash
    prompt: ignored
    command: echo
    agent: reviewer
  - id: b
    agent: reviewer
    command: echo
  - id: c
    type: shell
    command: echo
  - id: d
    recipe: other
    command: echo
    recovery_on_failure: false
  - id: e
    prompt: hi
    command: echo
";
    let expected = r"warning[unused-field] r.yaml:5:5 `prompt` a step of type `bash` does not use `prompt` | this has no effect
warning[unused-field] r.yaml:7:5 `agent` a step of type `bash` does not use `agent` | this has no effect
error[unclear-type] r.yaml:9:5 `agent` this step has both `agent` and `command` | an agent step? | r.yaml:10:5 `command` or a bash step? | add `type: agent` or `type: bash`
error[bad-choice] r.yaml:12:11 `shell` `type` must be `bash` or `agent` or `recipe`, not `shell`
warning[unused-field] r.yaml:16:5 `command` a step of type `recipe` does not use `command` | this has no effect
warning[unused-field] r.yaml:19:5 `prompt` a step of type `bash` does not use `prompt` | this has no effect
";
    assert_eq!(problems(file), expected);
}

#[test]
fn a_map_of_steps_in_a_step_recipe() {
    assert_eq!(
        problems("name: x\nsteps:\n  a: {command: make}\n"),
        "error[steps-map] r.yaml:2:1 `steps` `steps` is a map: did you mean a list? | begin each step \
         with `- id: a` | a map of steps is a state machine, which has an `initialStep`\n"
    );
    let reported = problems("name: x\ninitialStep: a\nsteps:\n  a: {command: make}\n");
    assert!(
        reported.starts_with(
            "error[unknown-field] r.yaml:1:1 `name` Unknown field 'name' in recipe | steps as a map make \
             a machine, which has an 'id'; a step recipe has a list\n"
        ),
        "{reported}"
    );
}

#[test]
fn once_belongs_to_the_steps_inside() {
    let file = r"name: x
steps:
  - id: a
    recipe: y
    effect: once
";
    let expected = r"error[once-on-recipe] r.yaml:5:13 `once` a step that calls a recipe cannot be `once` | put `effect: once` on the steps inside the called recipe
";
    assert_eq!(problems(file), expected);
}

#[test]
fn templates_where_none_are_filled() {
    let file = r#"name: x
context:
  a: "{{b}}"
  b: 1
steps:
  - id: a
    recipe: "{{r}}"
  - id: b
    prompt: x
    model: "{{m}}"
  - id: c
    command: x
    parallel_group: "{{g}}"
"#;
    let expected = r#"note[unfilled-place] r.yaml:3:7 `{{b}}` a default value is not filled | this stays as it is written | use the variable where the value is used, in a step
error[not-a-template] r.yaml:7:13 `"{{r}}"` `recipe` takes a name, not a template | which recipe is called must be known beforehand | write one step for each recipe, each with its `condition`
error[not-a-template] r.yaml:10:13 `{{m}}` `model` takes no `{{…}}` | write the value itself
error[not-a-template] r.yaml:13:22 `{{g}}` `parallel_group` takes no `{{…}}` | write the value itself
"#;
    assert_eq!(problems(file), expected);
}

#[test]
fn a_placeholder_must_be_quoted() {
    let file = r"name: x
steps:
  - id: a
    command: {{x}}
  - id: b
    command: 'a'
";
    let expected = r"error[unquoted-place] r.yaml:4:14 `{{x}}` a value that begins with `{{` must be quoted: YAML reads it as a map | write '{{x}}'
";
    assert_eq!(problems(file), expected);
}

#[test]
fn a_placeholder_must_be_quoted_in_a_longer_text() {
    let file = r"name: x
steps:
  - id: a
    command: {{x}} --all
";
    let expected = r"error[unquoted-place] r.yaml:4:14 `{{x}} --all` a value that begins with `{{` must be quoted: YAML reads it as a map | write '{{x}} --all'
";
    assert_eq!(problems(file), expected);
}

#[test]
fn carets_inside_block_texts() {
    let file = r#"name: x
steps:
  - id: a
    command: |
      echo é

        cat <<{{v}}
    condition: >
      a == 1 and
      b ==
  - id: b
    command: 'echo ''a'' <<{{v}}'
    condition: "\"é\" == "
"#;
    let expected = r"error[bad-shell-text] r.yaml:7:15 `{{v}}` a value cannot be the delimiter of a here-document | write a fixed word such as EOF
error[bad-condition] r.yaml:10:11 `` a value is expected after `==`, not the end
error[bad-shell-text] r.yaml:12:28 `{{v}}` a value cannot be the delimiter of a here-document | write a fixed word such as EOF
error[bad-condition] r.yaml:13:25 `` a value is expected after `==`, not the end
";
    assert_eq!(problems(file), expected);
}

#[test]
fn hooks_with_single_quotes() {
    let file = r#"name: x
hooks:
  on_error: "echo 'failed at $STEP_ID' >> log"
  post_step: |
    bash -c 'echo $STEP_ID'
    echo "it's $STEP_ID"
  pre_step:
steps:
  - {id: a, command: x}
"#;
    let expected = r"warning[literal-step-id] r.yaml:3:30 `$STEP_ID` single quotes keep `$STEP_ID` as it is | this stays `$STEP_ID` | use double quotes, or write {{step_id}}
error[empty-field] r.yaml:7:3 `pre_step` `pre_step` has no value | give it a string, or take it out
";
    assert_eq!(problems(file), expected);
}

#[test]
fn parallel_groups() {
    let file = r#"name: x
context: {known: 1, mate: 2}
steps:
  - id: a
    command: x
    parallel_group: g
  - id: mate
    command: echo {{known}}
    output: o
    parallel_group: g
  - id: reader
    command: echo {{a}} {{o.x}} {{mate}}
    condition: steps.a.status == 'done'
    parallel_group: g
    context:
      v: ["{{o}}"]
  - id: writer
    command: echo {{writer}}
    output: o
    parallel_group: g
  - id: after
    command: echo {{a}} {{o}}
  - id: late
    command: x
    parallel_group: g
"#;
    let expected = r"error[reads-mate] r.yaml:12:19 `{{a}}` step `reader` reads what `a` writes, but both run at the same time | not there yet | r.yaml:4:9 `a` written here | take step `reader` out of the parallel group
error[reads-mate] r.yaml:12:25 `{{o.x}}` step `reader` reads what `writer` writes, but both run at the same time | not there yet | r.yaml:19:13 `o` written here | take step `reader` out of the parallel group
error[reads-mate] r.yaml:13:16 `steps.a.status` step `reader` reads what `a` writes, but both run at the same time | not there yet | r.yaml:4:9 `a` written here | take step `reader` out of the parallel group
error[reads-mate] r.yaml:16:12 `{{o}}` step `reader` reads what `writer` writes, but both run at the same time | not there yet | r.yaml:19:13 `o` written here | take step `reader` out of the parallel group
error[two-writers] r.yaml:19:13 `o` two steps of one parallel group write `o` | again here | r.yaml:9:13 `o` first here | which one would win is chance: give each its own `output`
error[scattered-group] r.yaml:25:21 `g` the steps of group `g` are not next to each other | again here | r.yaml:20:21 `g` the group ended here | move the steps together, or give one of the groups another name
";
    assert_eq!(problems(file), expected);
}

#[test]
fn an_output_named_steps() {
    let file = r"name: x
steps:
  - id: a
    command: x
    output: steps
";
    let expected = r"warning[hides-steps] r.yaml:5:13 `steps` an output named `steps` hides the steps' results | `{{steps.ID.status}}` will not work after this step
";
    assert_eq!(problems(file), expected);
}

#[test]
fn two_documents() {
    let file = r"name: x
steps: [{id: a, command: x}]
---
name: y
";
    let expected = r"error[two-documents] r.yaml:4:1 `` a recipe is one document: nothing may follow a `---`
";
    assert_eq!(problems(file), expected);
}

#[test]
fn yaml_that_is_none() {
    let file = r"name: x
steps:
  - id: a
    command: echo a: b
";
    let expected = r"error[bad-yaml] r.yaml:4:20 `:` this is not valid YAML: mapping values are not allowed in this context | put quotes around the whole value: 'echo a: b'
";
    assert_eq!(problems(file), expected);
}

#[test]
fn tabs_do_not_indent() {
    let file = r"name: x
steps:
  - id: a
	command: x
";
    let expected = r"error[bad-yaml] r.yaml:4:1 `	` this line is indented with a tab | indent with spaces
";
    assert_eq!(problems(file), expected);
}

#[test]
fn unknown_tags() {
    let file = r"name: !vault x
";
    let expected = r"error[bad-yaml] r.yaml:1:7 `!vault x` YAML reads a `!` at the start of a value as a tag | put quotes around it: '!vault x'
";
    assert_eq!(problems(file), expected);
}

#[test]
fn keys_that_are_not_text() {
    let file = r"name: x
? [a]
: b
";
    let expected = r"error[no-steps] r.yaml:1:1 `name: x` the recipe has no `steps` | add `steps`
error[bad-key] r.yaml:2:3 `[` a key must be a string, this is a list | not a string
";
    assert_eq!(problems(file), expected);
}

#[test]
fn an_unknown_anchor() {
    let file = r"name: *nope
";
    let expected = r"error[bad-yaml] r.yaml:1:7 `*` this is not valid YAML: alias references unknown anchor | put quotes around the whole value: '*nope'
";
    assert_eq!(problems(file), expected);
}

#[test]
fn numbers_that_are_only_numbers_in_yaml() {
    let file = r"name: x
steps:
  - id: a
    command: x
    timeout: 017
  - id: b
    command: x
    timeout: +5
  - id: c
    command: x
    timeout: 1_000
  - id: d
    command: x
    timeout: .5
  - id: e
    command: x
    timeout: .inf
";
    let expected = r"error[wrong-type] r.yaml:5:14 `017` `timeout` must be seconds above 0, such as `30` or `5m`, not `017`
error[wrong-type] r.yaml:8:14 `+5` `timeout` must be seconds above 0, such as `30` or `5m`, not `+5`
error[wrong-type] r.yaml:11:14 `1_000` `timeout` must be seconds above 0, such as `30` or `5m`, not `1_000`
error[wrong-type] r.yaml:14:14 `.5` `timeout` must be seconds above 0, such as `30` or `5m`, not `.5`
error[wrong-type] r.yaml:17:14 `.inf` `timeout` must be seconds above 0, such as `30` or `5m`, not `.inf`
";
    assert_eq!(problems(file), expected);
}
