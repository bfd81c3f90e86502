//! Variables that nothing sets.

use crate::temporary_project::Project;
use towpath_recipe::Dialect;

#[test]
fn variables_that_nothing_sets() {
    let project = Project::new(&[(
        "a.yaml",
        r#"name: a
context: {version: 1}
hooks: {on_error: "echo {{step_id}} {{error}} {{late}} {{stpe_id}}"}
steps:
  - id: first
    command: echo {{verison}} {{version}} {{verison.x}} {{late}} {{first}}
  - id: second
    prompt: "{{first.status}} {{steps.first.status}} {{own}} {{given}}"
    context: {own: "{{own}}"}
    condition: whatever == 1
    output: late
  - id: third
    command: echo {{late}} {{second}} {{own}}
    working_dir: "{{dir}}"
"#,
    )])
    .set("given=1");
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "error[undefined-variable] @/a.yaml:6:19 `{{verison}}` step `first` uses {{verison}}, \
         which nothing sets | did you mean `version`?\n\
         error[undefined-variable] @/a.yaml:6:57 `{{late}}` step `first` uses {{late}}, which \
         nothing sets | step `second` sets it, but not before this\n\
         error[undefined-variable] @/a.yaml:6:66 `{{first}}` step `first` uses {{first}}, which \
         nothing sets | step `first` sets it, but not before this\n\
         error[undefined-variable] @/a.yaml:10:16 `whatever` the condition of step `second` reads \
         `whatever`, which nothing sets | declare it: `whatever: ''` in `context` | \
         GiveValues([\"whatever\"])\n\
         error[undefined-variable] @/a.yaml:9:21 `{{own}}` step `second` uses {{own}}, which \
         nothing sets | write {{own?}} if it may be missing, declare it in `context` | \
         GiveValues([\"own\"])\n\
         error[undefined-variable] @/a.yaml:13:28 `{{second}}` step `third` uses {{second}}, which \
         nothing sets | the output of step `second` is `late`\n\
         error[undefined-variable] @/a.yaml:13:39 `{{own}}` step `third` uses {{own}}, which \
         nothing sets | write {{own?}} if it may be missing, declare it in `context` | \
         GiveValues([\"own\"])\n\
         error[undefined-variable] @/a.yaml:14:19 `{{dir}}` step `third` uses {{dir}}, which \
         nothing sets | write {{dir?}} if it may be missing, declare it in `context` | \
         GiveValues([\"dir\"])\n\
         error[undefined-variable] @/a.yaml:3:56 `{{stpe_id}}` a hook uses {{stpe_id}}, which \
         nothing sets | did you mean `step_id`?\n\
         error[no-parts] @/a.yaml:8:14 `{{first.status}}` step `second` uses {{first.status}}, but \
         `first` is a string: it will be empty | did you mean `steps.first.status`?\n"
    );
}

#[test]
fn a_variable_is_read_by_its_own_name() {
    let project = Project::new(&[(
        "a.yaml",
        "name: a\ncontext: {run_tests: true, deep: {x: 1}}\nsteps:\n  \
         - {id: test, command: 'echo {{context.deep.x}}', condition: context.run_tests == true}\n  \
         - {id: other, command: x, condition: context.elsewhere}\n",
    )]);
    assert_eq!(
        project.report(&project.named("a.yaml")),
        "error[undefined-variable] @/a.yaml:4:63 `context.run_tests` the condition of step \
         `test` reads `context.run_tests`, which nothing sets | did you mean \
         `run_tests`?\n\
         note[undefined-variable] @/a.yaml:5:40 `context.elsewhere` the condition of step `other` \
         reads `context.elsewhere`, which nothing sets: it will be null | declare it: \
         `elsewhere: ''` in `context` | GiveValues([\"elsewhere\"])\n"
    );
}

#[test]
fn variables_flow_through_calls() {
    let project = Project::new(&[
        (
            "a.yaml",
            "name: a\ncontext: {base: 1}\nsteps:\n  - {id: one, command: ls, output: early}\n  \
             - id: call\n    recipe: b\n    context: {extra: 1}\n  \
             - {id: after, command: 'echo {{deep}} {{call}} {{inner}}'}\n",
        ),
        (
            "b.yaml",
            "name: b\nsteps:\n  - {id: inner, command: 'echo {{base}} {{early}} {{extra}} {{top}}'}\n  \
             - {id: again, recipe: c}\n  - {id: end, command: 'echo {{nope}} {{deep}}'}\n",
        ),
        ("c.yaml", "name: c\nsteps:\n  - {id: x, command: 'ls {{extra}}', output: deep}\n"),
    ])
    .set("top=1");
    let reported = project.report(&project.named("a.yaml"));
    assert_eq!(reported.lines().count(), 1, "{reported}");
    assert!(reported.contains("b.yaml:5:30 `{{nope}}`"), "{reported}");
}

#[test]
fn a_broken_step_does_not_hide_unset_variables() {
    let project = Project::new(&[(
        "build.yaml",
        "name: build\ncontext: {version: 1}\nsteps:\n  - id: build\n    comand: cargo build\n  \
         - id: test\n    command: echo {{verison}} {{build}}\n",
    )]);
    assert_eq!(
        project.report(&project.named("build.yaml")),
        "error[unknown-field] @/build.yaml:5:5 `comand` unknown field `comand` | did you mean \
         `command`?\n\
         error[undefined-variable] @/build.yaml:7:19 `{{verison}}` step `test` uses \
         {{verison}}, which nothing sets | did you mean `version`?\n"
    );
}

#[test]
fn a_condition_that_reads_only_what_its_own_step_sets_is_warned_of() {
    let step =
        "{id: a, condition: mode == 'fast', context: {mode: fast}, command: 'echo {{mode}}'}";
    let reported = |before: &str| {
        let project =
            Project::new(&[("r.yaml", &format!("name: r\n{before}steps:\n  - {step}\n"))]);
        project.report(&project.named("r.yaml"))
    };
    assert_eq!(
        reported(""),
        "error[undefined-variable] @/r.yaml:3:24 `mode` the condition of step `a` reads `mode`, which only the step's own `context` sets: here it is null | a condition is looked at before the step has its `context` | set `mode` in the recipe's `context`, or compare what the step's `context` is made of\n"
    );
    assert_eq!(reported("context: {mode: slow}\n"), "");
}

#[test]
fn what_could_not_be_read_is_no_reason_to_warn_of_what_it_may_set() {
    for broken in [
        "{id: a, recipe: nowhere}",
        "{id: a, outptu: x, command: ls}",
        "{id: a, output: [x], command: ls}",
        "{id: 'a b', command: ls}",
        "{command: ls}",
        "just a text",
        "",
    ] {
        let text = format!(
            "name: r\nsteps:\n  - {{id: before, command: 'echo {{{{early}}}}'}}\n  - {broken}\n  - \
             {{id: after, condition: x, command: 'echo {{{{x}}}}'}}\n"
        );
        let project = Project::new(&[("r.yaml", &text)]);
        let reported = project.report(&project.named("r.yaml"));
        let unset = reported.lines().filter(|line| line.contains("undefined-variable"));
        let unset: Vec<&str> = unset.collect();
        assert!(matches!(unset[..], [one] if one.contains("{{early}}")), "{broken}: {reported}");
        assert!(reported.contains("error["), "{broken}: {reported}");
    }
}

#[test]
fn a_name_that_nothing_sets_does_not_run() {
    let plan = |dialect: Dialect, text: &str| {
        let mut project = Project::new(&[
            ("r.yaml", &format!("name: r\ncontext: {{dir: x}}\n{text}")),
            ("ask.md", "Ask {{who}} about {{dir}}\n"),
            ("perhaps.md", "Ask {{who?}}\n"),
            ("called.yaml", "name: called\nsteps:\n  - {id: in, command: 'echo {{who}}'}\n"),
        ]);
        project.run_options.dialect = dialect;
        project.named("r.yaml").plan
    };
    for text in [
        "steps: [{id: a, command: 'rm -rf {{dri}}/'}]",
        "steps: [{id: a, command: 'echo $RECIPE_VAR_dri'}]",
        "steps: [{id: a, prompt: 'Clean {{dri}}'}]",
        "steps: [{id: a, prompt_file: ask.md}]",
        "steps: [{id: a, command: ls, working_dir: 'x/{{dri}}'}]",
        "steps: [{id: a, recipe: called, context: {other: '{{dri}}', who: x}}]",
        "steps: [{id: a, command: ls, condition: \"dri == 'x'\"}]",
        "hooks: {pre_step: 'echo {{dri}}'}\nsteps: [{id: a, command: ls}]",
        "steps: [{id: a, recipe: called}]",
    ] {
        assert!(plan(Dialect::Towpath, text).is_none(), "{text}");
        assert!(plan(Dialect::RecipeRunner, text).is_some(), "{text}");
    }
    for text in [
        "steps: [{id: a, command: 'rm -rf {{dri?}}/{{ dir? }}'}]",
        "steps: [{id: a, command: 'echo ${RECIPE_VAR_dri:-}'}]",
        "steps: [{id: a, prompt_file: perhaps.md}]",
        "steps: [{id: a, recipe: called, context: {who: x}}]",
        "steps: [{id: a, command: ls, condition: dri}]",
        "steps:\n  - {id: who-is, command: ls, condition: dir == 'y', output: who}\n  - {id: b, command: 'echo {{who}}'}",
        "steps:\n  - {id: who-is, command: ls, parse_json: true}\n  - {id: b, command: 'echo {{who-is.name}}'}",
        "hooks: {pre_step: 'echo {{step_id}}'}\nsteps: [{id: a, command: ls}]",
    ] {
        assert!(plan(Dialect::Towpath, text).is_some(), "{text}");
    }
}
