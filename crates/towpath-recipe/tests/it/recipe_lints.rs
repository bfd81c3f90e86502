//! What is sound and cannot be meant: reported before the run, with its location.

use crate::temporary_project::Project;
use towpath_recipe::Dialect;

const BEFORE: &str = r#"name: r
context: {a: dev, count: 3, items: [1, 2], empty: '', conf: {host: x, deep: {port: 1}}}
steps:
  - {id: build, command: make, output: o}
  - {id: ask, prompt: Answer, parse_json: true, output: answer}
  - {id: call, recipe: other, output: called}
  - id: gate
    command: echo
    condition: "#;

const AFTER: &str = "\n  - {id: deploy, command: ls}\n";

fn report(text: &str) -> String {
    report_in(Dialect::RecipeRunner, text)
}

fn report_in(dialect: Dialect, text: &str) -> String {
    let other = "name: other\nsteps:\n  - {id: inner, command: echo x, output: returned}\n";
    let mut project = Project::new(&[("r.yaml", text), ("other.yaml", other)]);
    project.run_options.dialect = dialect;
    project.report(&project.named("r.yaml"))
}

/// What is reported about a condition, without the file.
fn of(condition: &str) -> String {
    let quoted = serde_json::to_string(condition).unwrap();
    report(&format!("{BEFORE}{quoted}{AFTER}")).replace("@/r.yaml:9:", "")
}

fn null(path: &str, why: &str) -> String {
    format!("the condition of step `gate` reads `{path}`, {why}: it will be null")
}

#[test]
fn a_condition_that_cannot_be_meant_is_warned_of_at_its_location() {
    let unset = "which nothing sets";
    for (condition, code, location, message, hint) in [
        (
            "a == prod",
            "undefined-variable",
            "22 `prod`",
            null("prod", unset),
            "did you mean 'prod'?",
        ),
        (
            "a in [prod, 'dev']",
            "undefined-variable",
            "23 `prod`",
            null("prod", unset),
            "did you mean 'prod'?",
        ),
        (
            "prod in o",
            "undefined-variable",
            "17 `prod`",
            null("prod", unset),
            "did you mean 'prod'?",
        ),
        (
            "a == v1.2",
            "undefined-variable",
            "22 `v1.2`",
            null("v1.2", unset),
            "did you mean 'v1.2'?",
        ),
        ("yes", "undefined-variable", "17 `yes`", null("yes", unset), "did you mean `true`?"),
        ("not OFF", "undefined-variable", "21 `OFF`", null("OFF", unset), "did you mean `false`?"),
        (
            "cuont > 2",
            "undefined-variable",
            "17 `cuont`",
            null("cuont", unset),
            "did you mean `count`?",
        ),
        (
            "a == cuont",
            "undefined-variable",
            "22 `cuont`",
            null("cuont", unset),
            "did you mean `count` or 'cuont'?",
        ),
        (
            "mode == 'fast'",
            "undefined-variable",
            "17 `mode`",
            null("mode", unset),
            "declare it: `mode: ''` in `context`",
        ),
        (
            "build == 'x'",
            "undefined-variable",
            "17 `build`",
            null("build", unset),
            "the output of step `build` is `o`",
        ),
        (
            "deploy",
            "undefined-variable",
            "17 `deploy`",
            null("deploy", unset),
            "step `deploy` sets it, but not before this",
        ),
        (
            "steps.biuld.status == 'completed'",
            "unknown-step",
            "17 `steps.biuld.status`",
            null("steps.biuld.status", "but there is no step `biuld`"),
            "did you mean `build`?",
        ),
        (
            "steps['biuld'].status == 'completed'",
            "unknown-step",
            "17 `steps['biuld'].status`",
            null("steps['biuld'].status", "but there is no step `biuld`"),
            "did you mean `build`?",
        ),
        (
            "steps.deploy.exit_code == 0",
            "unknown-step",
            "17 `steps.deploy.exit_code`",
            null("steps.deploy.exit_code", "but step `deploy` comes later"),
            "",
        ),
        (
            "steps.gate.status",
            "unknown-step",
            "17 `steps.gate.status`",
            null("steps.gate.status", "but this step has not run yet"),
            "",
        ),
        (
            "steps.call.exit_code == 0",
            "unknown-step",
            "17 `steps.call.exit_code`",
            null("steps.call.exit_code", "but step `call` calls a recipe, which has no exit code"),
            "did you mean `steps.call.status`?",
        ),
        (
            "steps.build.stauts == 'failed'",
            "unknown-step",
            "17 `steps.build.stauts`",
            null("steps.build.stauts", "but a step has no `stauts`"),
            "did you mean `status`?",
        ),
        (
            "steps.build.output == 'x'",
            "unknown-step",
            "17 `steps.build.output`",
            null("steps.build.output", "but a step has no `output`"),
            "its output is `o`",
        ),
        (
            "steps.build.status.code == 1",
            "no-parts",
            "17 `steps.build.status.code`",
            null("steps.build.status.code", "but `status` is a string"),
            "",
        ),
        (
            "steps.build.status == 'success'",
            "unknown-status",
            "39 `'success'`",
            "no step ever has the status `success`: this comparison is never true".into(),
            "did you mean 'completed'? | a step's status is completed, degraded, recovered, failed or skipped",
        ),
        (
            "'error' == steps.build.status",
            "unknown-status",
            "17 `'error'`",
            "no step ever has the status `error`: this comparison is never true".into(),
            "did you mean 'failed'?",
        ),
        (
            "steps.build.status != 'Completed'",
            "unknown-status",
            "39 `'Completed'`",
            "no step ever has the status `Completed`: this comparison is always true".into(),
            "did you mean 'completed'?",
        ),
        (
            "steps.build.status in ['ok', 'degraded']",
            "unknown-status",
            "40 `'ok'`",
            "no step ever has the status `ok`: this comparison is never true".into(),
            "did you mean 'completed'?",
        ),
        (
            "'succe' in steps.build.status",
            "unknown-status",
            "17 `'succe'`",
            "no step ever has the status `succe`: this comparison is never true".into(),
            "",
        ),
        (
            "steps.build.status == 0",
            "unknown-status",
            "39 `0`",
            "no step ever has the status `0`: this comparison is never true".into(),
            "did you mean 'completed'?",
        ),
        (
            "o.a",
            "no-parts",
            "17 `o.a`",
            null("o.a", "but `o` is a string"),
            "`parse_json: true` on step `build` makes a map of JSON",
        ),
        (
            "o['a'] == 1",
            "no-parts",
            "17 `o['a']`",
            null("o['a']", "but `o` is a string"),
            "`parse_json: true` on step `build`",
        ),
        (
            "o[0] == 'x'",
            "no-parts",
            "18 `[0]`",
            null("[0]", "but `o` is a string"),
            "a string has no parts",
        ),
        (
            "o.strip().x",
            "no-parts",
            "26 `.x`",
            null(".x", "but `o.strip()` is a string"),
            "a string has no parts",
        ),
        (
            "a.name == 'x'",
            "no-parts",
            "17 `a.name`",
            null("a.name", "but `a` is a single value"),
            "a single value has no parts",
        ),
        (
            "conf.hots == 'x'",
            "undefined-variable",
            "17 `conf.hots`",
            null("conf.hots", "but `conf` has no `hots`"),
            "did you mean `host`?",
        ),
        (
            "conf.deep['prot'] > 1",
            "undefined-variable",
            "17 `conf.deep['prot']`",
            null("conf.deep['prot']", "but `conf.deep` has no `prot`"),
            "did you mean `port`?",
        ),
        (
            "len(o) == 'three'",
            "never-changes",
            "17 `len(o) == 'three'`",
            "this comparison is never true".into(),
            "`len(o)` is a number, `'three'` is a string",
        ),
        (
            "steps.build.exit_code == 'failed'",
            "never-changes",
            "17 `steps.build.exit_code == 'failed'`",
            "this comparison is never true".into(),
            "`steps.build.exit_code` is a number, `'failed'` is a string",
        ),
        (
            "steps.build.exit_code != 'x' and a",
            "never-changes",
            "17 `steps.build.exit_code != 'x'`",
            "this comparison is always true".into(),
            "",
        ),
        (
            "o.startswith('x') == 'yes'",
            "never-changes",
            "17 `o.startswith('x') == 'yes'`",
            "this comparison is never true".into(),
            "is true or false, `'yes'` is a string",
        ),
        (
            "o.split(',') == 3",
            "never-changes",
            "17 `o.split(',') == 3`",
            "this comparison is never true".into(),
            "is a list",
        ),
        (
            "'x' in len(o)",
            "never-changes",
            "17 `'x' in len(o)`",
            "this comparison is never true".into(),
            "",
        ),
        (
            "steps.build == 'completed'",
            "never-changes",
            "17 `steps.build == 'completed'`",
            "this comparison is never true".into(),
            "`steps.build` is a map",
        ),
        (
            "a == 'x' or 'y'",
            "never-changes",
            "29 `'y'`",
            "`'y'` is always true".into(),
            "compare it with something",
        ),
        (
            "not steps.build.status",
            "never-changes",
            "21 `steps.build.status`",
            "`steps.build.status` is always true".into(),
            "compare it, as in `steps.build.status == 'completed'`",
        ),
        (
            "steps.build and a",
            "never-changes",
            "17 `steps.build`",
            "`steps.build` is always true".into(),
            "compare a part of it",
        ),
    ] {
        let report = of(condition);
        let expected = format!("warning[{code}] {location} {message}");
        assert!(report.starts_with(&expected) && report.contains(hint), "{condition}:\n{report}");
        assert_eq!(report.lines().count(), 1, "{condition}: {report}");
    }
}

#[test]
fn an_index_that_no_list_has_is_an_error() {
    for (condition, location) in
        [("items[-1]", "23 `-1`"), ("items[1.5] == 2", "23 `1.5`"), ("answer.x[true]", "26 `true`")]
    {
        let report = of(condition);
        assert!(
            report.starts_with(&format!("error[bad-condition] {location} ")),
            "{condition}: {report}"
        );
        assert!(
            report.contains("is never the index of an element: the first one is 0"),
            "{report}"
        );
    }
    assert!(of("items[-1]").contains("let an earlier step take the element from the end"));
}

#[test]
fn a_list_has_no_named_parts() {
    for condition in ["items.length > 0", "items.size", "items['count'] == 2"] {
        let report = of(condition);
        assert!(report.starts_with("warning[no-parts] "), "{condition}: {report}");
        assert!(report.contains("but `items` is a list"), "{condition}: {report}");
        assert!(report.contains("`len(items)` counts its items"), "{condition}: {report}");
    }
}

#[test]
fn what_may_be_meant_is_left_alone() {
    for condition in [
        "a == 'prod'",
        "true",
        "a",
        "empty == none or empty == None or empty == null",
        "empty.anything",
        "count == 'many'",
        "items[0] == 1 and items.0",
        "answer.a.b and answer[0] and answer['x'] == 3",
        "call.returned == 'x' and returned == 'y' and called",
        "called.part",
        "steps.build.status == 'completed' or steps['build']['status'] in ['failed', 'skipped']",
        "'complete' in steps.build.status",
        "steps.build.exit_code",
        "steps.build.exit_code == '1' and steps.ask.exit_code == null",
        "len(o) == '3' and len(o) > 2 and int(o) == 3",
        "o == 3 and o == true and o != 'x' and o > 1",
        "(a or 'default') == 'dev'",
        "o.split(',')[1] == 'x'",
        "bool(o) == true and o.count('x') > 0",
        "conf.other == 'x' and conf.host",
        "steps and items",
    ] {
        assert_eq!(of(condition), "", "{condition}");
    }
}

#[test]
fn a_variable_that_may_be_left_out_is_asked_for_and_only_noted() {
    for condition in ["fast", "not fast", "fast and len(fast) > 0", "bool(fast) or a == 'x'"] {
        let report = of(condition);
        assert!(report.starts_with("note[undefined-variable] "), "{condition}: {report}");
        assert!(report.contains("declare it: `fast: ''` in `context`"), "{condition}: {report}");
        assert_eq!(report.lines().count(), 1, "{condition}: {report}");
    }
}

#[test]
fn what_a_caller_or_the_user_gives_counts_as_set() {
    let project = Project::new(&[
        ("r.yaml", "name: r\nsteps:\n  - {id: x, recipe: s, context: {mode: fast}}\n"),
        (
            "s.yaml",
            "name: s\nrequired_context: [need]\nsteps:\n  - {id: y, condition: mode == 'x' and \
             flag and need.part, command: ls}\n",
        ),
    ])
    .set("flag=1")
    .set("need={\"part\": 1}");
    assert_eq!(project.report(&project.named("r.yaml")), "");
}

#[test]
fn a_printed_no_is_true_and_that_is_noted() {
    let of = |step: &str, condition: &str| {
        report(&format!(
            "name: r\nsteps:\n  - {{id: check, {step}}}\n  - {{id: x, condition: {condition}, command: ls}}\n"
        ))
    };
    let prints = "command: test -f x && echo true || echo false, output: flag";
    assert_eq!(
        of(prints, "flag"),
        "note[text-is-true] @/r.yaml:4:24 `flag` the string `false` is true: in a condition every \
         string but the empty one is | step `check` prints it | compare it, as in `flag == \
         'true'`, or set `parse_json: true` on step `check`\n"
    );
    for (step, condition) in
        [(prints, "not flag"), (prints, "flag and flag != 'x'"), ("command: ls | wc -l", "check")]
    {
        assert!(of(step, condition).starts_with("note[text-is-true]"), "{step}: {condition}");
    }
    assert!(of("prompt: Answer true or false", "check").starts_with("note[text-is-true]"));
    for (step, condition) in [
        (prints, "flag == 'true'"),
        ("command: echo false, output: flag, parse_json: true", "flag"),
        ("command: make lint, output: flag", "flag"),
    ] {
        assert_eq!(of(step, condition), "", "{step}: {condition}");
    }
}

#[test]
fn braces_that_stay_as_they_are_and_name_a_variable_are_warned_of() {
    let text = r#"name: r
context: {x: 1, first_name: ann}
hooks: {on_error: "echo {{step_id | upper}}"}
steps:
  - id: a
    command: |
      echo {{ x | upper }} {{x y}} {{x} {{first name}} {{x}}
      docker ps --format '{{.Names}} {{json .State}} {{range .Items}}{{- x }}' ${{ x || y }}
    context: {own: "{{own | lower}}"}
  - id: b
    prompt: "{{a[0]}} {{ other | upper }} {{steps.a.status|e}} {{#if x}} {{'x'}}"
    working_dir: "{{x.y()}}"
"#;
    let report = report(text);
    let lines: Vec<(&str, &str)> = report
        .lines()
        .filter_map(|line| {
            let (location, rest) =
                line.strip_prefix("warning[unfilled] @/r.yaml:")?.split_once(' ')?;
            Some((location, rest.split(" | ").last()?))
        })
        .collect();
    let filter = |name: &str| format!("a placeholder has no filters: write {{{{{name}}}}}");
    assert_eq!(
        lines,
        [
            ("3:25", filter("step_id").as_str()),
            ("7:12", &filter("x")),
            ("7:28", "a placeholder is a name alone: {{x}}"),
            ("7:36", "write {{x}}"),
            ("7:41", "did you mean {{first_name}}?"),
            ("9:21", &filter("own")),
            ("11:14", "write {{a.0}}"),
            ("11:43", &filter("steps.a.status")),
            ("12:19", "a placeholder is a name alone: {{x.y}}"),
        ],
        "{report}"
    );
    assert!(report.contains("`{{ x | upper }}` this is no placeholder: it stays as it is written"));
    let parts = "name: r\nsteps:\n  - {id: a, command: ls}\n  - {id: b, command: 'echo {{a.x}} \
                 {{steps.c.status}}'}\n";
    assert_eq!(
        self::report(parts),
        "warning[no-parts] @/r.yaml:4:28 `{{a.x}}` step `b` uses {{a.x}}, but `a` is a string: it will \
         be empty | `parse_json: true` on step `a` makes a map of JSON\n\
         warning[unknown-step] @/r.yaml:4:36 `{{steps.c.status}}` step `b` uses {{steps.c.status}}, \
         but there is no step `c`: it will be empty | did you mean `a`?\n"
    );
}

#[test]
fn under_our_own_rules_what_never_has_a_value_does_not_run() {
    for condition in ["a == prod", "steps.biuld.status == 'failed'", "o.x == 1", "conf.hots == 'x'"]
    {
        let quoted = serde_json::to_string(condition).unwrap();
        let report = report_in(Dialect::Towpath, &format!("{BEFORE}{quoted}{AFTER}"));
        assert!(report.starts_with("error["), "{condition}: {report}");
    }
    for text in
        ["{{steps.biuld.status}}", "{{o.x}}", "{{conf.hots}}", "{{conf.other}}", "{{conf.deep.x}}"]
    {
        let report = |text: &str| {
            let texts = format!("{BEFORE}true\n  - {{id: b, command: 'rm -rf {text}/'}}\n");
            report_in(Dialect::Towpath, &texts)
        };
        assert!(report(text).starts_with("error["), "{text}: {}", report(text));
        let optional = text.replace("}}", "?}}");
        assert_eq!(report(&optional), "", "{optional}");
    }
}

#[test]
fn a_tag_that_cannot_be_asked_for_is_warned_of() {
    for tag in ["'a, b'", "' a'", "''"] {
        let text = format!("name: r\nsteps:\n  - {{id: a, command: ls, when_tags: [{tag}]}}\n");
        let name = tag.trim_matches('\'');
        let expected =
            format!("warning[bad-tag] @/r.yaml:3:38 `{tag}` the tag `{name}` cannot be asked for");
        assert!(report(&text).starts_with(&expected), "{}", report(&text));
    }
}
