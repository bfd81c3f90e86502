//! State machines beyond the shared cases: which names are placeholders, commands and calls as steps,
//! problems in the files they are in, restarts, and files that must not be read.

use crate::problems_as_lines::render;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use towpath_core::{Map, Part, Source, Value};
use towpath_recipe::{
    Flow, Plan, ReadContext, Recipe, Request, RequiredProgram, Resolved, RunOptions, SearchPath,
    Transition, Work, builtin, builtin_alone, builtin_names, edited, list, read, read_in_context,
    resolve, standalone,
};

/// A machine with these steps and further fields.
fn machine(more: &str, steps: &str) -> String {
    format!(
        "id: demo\nlabel: Demo\ndescription: A demo\ninitialStep: a\nguardrails: {{}}\n{more}steps:\n{steps}"
    )
}

const EXITS: &str = "    outcomes: [ok, other]\n    onOutcome:\n      ok: {action: exit, reason: done}\n      other: {action: exit, reason: other}\n";
const RESULTS: &str = "    outcomes: [success, failure]\n    onOutcome:\n      success: {action: exit, reason: done}\n      failure: {action: exit, reason: failed}\n";

fn problems(text: &str) -> String {
    render(&read(&Source::new("demo.yaml", text)).problems)
}

fn sound(text: &str) -> Recipe {
    let read = read(&Source::new("demo.yaml", text));
    read.recipe.unwrap_or_else(|| panic!("{}", render(&read.problems)))
}

fn request(reference: &str, directory: &Path, inputs: &[(&str, &str)]) -> Request {
    let input = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::from(*value));
    Request {
        reference: reference.to_owned(),
        working_dir: directory.to_owned(),
        search: SearchPath::given([directory]),
        inputs: inputs.iter().map(input).collect(),
        run_options: RunOptions::default(),
    }
}

fn resolved(files: &[(&str, &str)], reference: &str, inputs: &[(&str, &str)]) -> Resolved {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), files);
    resolve(&request(reference, directory.path(), inputs))
}

fn write(directory: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Errors and warnings, without the notes of the analysis.
fn reported(resolved: &Resolved) -> String {
    let worse = resolved.problems.iter().filter(|p| p.severity > towpath_core::Severity::Note);
    render(&worse.cloned().collect::<Vec<_>>())
}

#[test]
fn without_a_context_only_names_that_are_set_are_placeholders() {
    let steps = format!(
        "  a:\n    prompt: '{{{{own}}}} {{{{out.x}}}} {{{{other}}}} \\{{{{other}}}} \\{{{{out}}}} {{{{given}}}}'\n    context: {{own: '{{{{out}}}}{{{{nope}}}}'}}\n{EXITS}  b:\n    prompt: '{{{{own}}}}'\n    output: out\n{EXITS}"
    );
    let text = machine("", &steps);
    let prompt = |recipe: &Recipe, step: usize| match &recipe.steps[step].work {
        Work::Agent(work) => work
            .prompt
            .parts()
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Placeholder(placeholder) => format!("<{}>", placeholder.path),
            })
            .collect::<String>(),
        _ => panic!("an agent's"),
    };
    let recipe = sound(&text);
    assert_eq!(prompt(&recipe, 0), r"<own> <out.x> {{other}} \{{other}} {{out}} {{given}}");
    assert_eq!(prompt(&recipe, 1), "{{own}}", "a step's own names are its own");
    let own = &recipe.steps[0].context[0].1;
    let scope = Map::from_iter([("out".to_owned(), Value::from("S"))]);
    assert_eq!(own.render(&scope), Value::from("S{{nope}}"));

    let given = resolved(&[("demo.yaml", &text)], "demo", &[("given", "x"), ("given2", "y")]);
    assert_eq!(
        reported(&given),
        "warning[unread-input] `given2` was set, but nothing declares or reads it | did you mean \
         `given`?\n\
         warning[unreachable-step] demo.yaml:14:3 `b` Step 'b' is unreachable | no outcome of a \
         reachable step leads here\n"
    );
    let program = given.program.unwrap();
    assert!(prompt(program.root(), 0).ends_with("<given>"));
    let stored = program.plan.as_ref().clone().load().unwrap();
    assert!(prompt(stored.root(), 0).ends_with("<given>"), "a stored plan means the same");
}

#[test]
fn a_command_keeps_the_braces_of_other_programs() {
    let command = |more: &str, written: &str| {
        let steps = format!("  a:\n    command: docker ps --format '{written}'\n{RESULTS}");
        let recipe = sound(&machine(more, &steps));
        let Work::Bash { command } = &recipe.steps[0].work else { panic!("a command") };
        command.fill(&mut |_| Some("x".to_owned())).unwrap().script
    };
    assert!(command("", "{{ ID }} {{.Names}}").contains("{{ ID }} {{.Names}}"));
    let escaped = command("context: {v: 1}\n", "\\{{ ID }} {{.Names}} {{v}}");
    assert!(escaped.contains("'{{ ID }} {{.Names}} "), "{escaped}");
}

#[test]
fn names_that_nothing_sets_do_not_run() {
    let report = |more: &str, prompt: &str| {
        let steps = format!("  a:\n    prompt: '{prompt}'\n    output: plan\n{EXITS}");
        let found = resolved(&[("demo.yaml", &machine(more, &steps))], "demo", &[]);
        render(&found.problems)
    };
    let context = "context: {task: x}\n";
    for (prompt, hint) in [
        ("Do {{taks}} for {{task}}", "did you mean `task`?"),
        ("{{a}}", "nothing sets"),
        ("{{nothing}}", "write {{nothing?}} if it may be missing"),
        ("{{steps.a.status}}", "nothing sets"),
    ] {
        let problems = report(context, prompt);
        assert!(problems.starts_with("error[undefined-variable]"), "{prompt}: {problems}");
        assert!(problems.contains(hint), "{prompt}: {problems}");
    }
    for (more, prompt) in
        [(context, "{{task}} {{plan.x}} {{nothing?}} {{.Names}}"), ("", "{{taks}}")]
    {
        assert_eq!(report(more, prompt), "", "{prompt}");
    }
    let near = report("", "{{paln}}");
    assert!(
        near.starts_with("note[unfilled]") && near.contains("did you mean {{plan}}?"),
        "{near}"
    );
}

#[test]
fn commands_and_calls_are_steps() {
    let steps = format!(
        "  a:\n    command: make\n    working_dir: sub\n    timeout: 5\n    effect: once\n    output: log\n{RESULTS}  b:\n    recipe: other\n    context: {{x: 1}}\n{RESULTS}"
    );
    let recipe = sound(&machine("", &steps));
    assert!(matches!(recipe.flow, Flow::Machine(_)));
    assert!(matches!(recipe.steps[0].work, Work::Bash { .. }));
    assert!(matches!(&recipe.steps[1].work, Work::Recipe { name, .. } if name == "other"));
    assert_eq!(recipe.steps[0].timeout, Some(std::time::Duration::from_secs(5)));
}

#[test]
fn what_a_kind_of_step_cannot_have_is_refused() {
    for (step, reported) in [
        (
            format!("    command: make\n{EXITS}"),
            "error[missing-outcome] demo.yaml:9:5 `outcomes` Step 'a': a command step must list the outcome 'success'\n\
             error[missing-outcome] demo.yaml:9:5 `outcomes` Step 'a': a command step must list the outcome 'failure'\n",
        ),
        (
            format!("    command: make\n    model: opus\n{RESULTS}"),
            "error[unused-field] demo.yaml:9:5 `model` Step 'a': 'model' is for steps with a 'prompt'\n",
        ),
        (
            format!("    prompt: x\n    working_dir: y\n{EXITS}"),
            "error[unused-field] demo.yaml:9:5 `working_dir` Step 'a': 'working_dir' is for steps with a 'command' or a 'recipe' | a session stays in the directory it began in\n",
        ),
        (
            format!("    prompt: x\n    command: y\n{EXITS}"),
            "error[unclear-type] demo.yaml:8:5 `prompt` Step 'a' must have only one of 'prompt' and 'command' | demo.yaml:9:5 `command` \n",
        ),
        (
            format!("    prompt: x\n    condition: y\n{EXITS}"),
            "error[unknown-field] demo.yaml:9:5 `condition` Unknown field 'condition' in step 'a' | a state machine has none: the outcome of a step chooses the next one, under 'onOutcome'\n",
        ),
        (
            format!("    prompt: x\n    timeout: soon\n{EXITS}"),
            "error[wrong-type] demo.yaml:9:14 `soon` Step 'a': `timeout` must be seconds above 0, such as `30` or `5m`, not `soon`\n",
        ),
        (
            format!("    recipe: x\n    effect: once\n{RESULTS}"),
            "error[once-on-recipe] demo.yaml:9:13 `once` Step 'a': a step that calls a recipe cannot be `once` | put `effect: once` on the steps inside the called recipe\n",
        ),
        (
            format!("    promt: x\n{EXITS}"),
            "error[unknown-field] demo.yaml:8:5 `promt` Unknown field 'promt' in step 'a' | did you mean 'prompt'?\n",
        ),
    ] {
        assert_eq!(problems(&machine("", &format!("  a:\n{step}"))), reported);
    }
}

#[test]
fn a_list_of_steps_in_a_machine_is_reported() {
    let text =
        "id: demo\nlabel: D\ndescription: d\ninitialStep: a\nguardrails: {}\nsteps:\n  - id: a\n";
    assert_eq!(
        problems(text),
        "error[wrong-type] demo.yaml:6:1 `steps` 'steps' must be an object of steps, this is a list | write each step as `NAME:` with its fields below it, without `- id`\n"
    );
    let named = "name: x\ninitialStep: a\nsteps:\n  a: {command: make}\n";
    assert!(problems(named).contains("Unknown field 'name'"));
}

#[test]
fn a_file_of_steps_is_no_recipe_and_not_listed() {
    let steps = format!("a:\n{}", "    prompt: x\n".to_owned() + EXITS);
    let text = machine("", "  $include: shared/s.yaml\n");
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), &[("shared/s.yaml", &steps), ("demo.yaml", &text)]);
    let listed = list(&SearchPath::given([directory.path()]));
    let own: Vec<_> = listed.iter().filter(|l| l.path.is_some()).collect();
    assert_eq!(own.len(), 1, "{own:?}");
    assert_eq!((own[0].label.as_deref(), own[0].steps, &own[0].broken), (Some("Demo"), 1, &None));
    let resolved = resolve(&request("shared/s", directory.path(), &[]));
    assert!(reported(&resolved).contains("this is a file of steps for state machines to include"));
}

#[test]
fn problems_are_reported_in_the_file_they_are_written_in() {
    let shared = "a:\n  prompt: x\n  outcomes: [ok, other]\n  onOutcome:\n    ok: {nextStep: nope}\n    other: {action: exit}\n";
    let text = machine("", "  a:\n    $ref: 'shared/s.yaml#/a'\n    model: gpt\n");
    let resolved = resolved(&[("shared/s.yaml", shared), ("demo.yaml", &text)], "./demo.yaml", &[]);
    assert_eq!(
        reported(&resolved),
        "error[bad-choice] ./demo.yaml:9:12 `gpt` Invalid model 'gpt' at step a. Valid models: haiku, sonnet, opus\n\
         error[unknown-step] ./shared/s.yaml:5:20 `nope` Next step nope not found in steps (step a, outcome ok)\n\
         error[no-reason] ./shared/s.yaml:6:21 `exit` Exit transition must have a non-empty 'reason' (step a, outcome other)\n"
    );
}

#[test]
fn cycles_are_printed_as_chains() {
    let text = machine("", "  $include: s/a.yaml\n  a: {$ref: 's/r.yaml#/x'}\n");
    let files = [
        ("demo.yaml", text.as_str()),
        ("s/a.yaml", "$include: b.yaml\n"),
        ("s/b.yaml", "$include: a.yaml\n"),
        ("s/r.yaml", "x: {$ref: 'r.yaml#/y'}\ny: {$ref: 'r.yaml#/x'}\n"),
    ];
    let reported = reported(&resolved(&files, "demo", &[]));
    assert!(
        reported.contains("include each other in a cycle: s/a.yaml → s/b.yaml → s/a.yaml"),
        "{reported}"
    );
    assert!(reported.contains("cycle: s/r.yaml#/x → s/r.yaml#/y → s/r.yaml#/x"), "{reported}");
}

#[test]
fn long_chains_and_many_files_are_refused_in_time() {
    let files = |path: &str| {
        let number: usize = path.strip_suffix(".yaml").unwrap().parse().unwrap();
        let all: Vec<String> = (number + 1..number + 20).map(|n| format!("{n}.yaml")).collect();
        Ok(Source::new(
            path,
            format!("$include: [{}]\nx: {{$ref: '{}.yaml#/x'}}\n", all.join(", "), number + 1),
        ))
    };
    let text = machine("", "  $include: 1.yaml\n  a: {$ref: '1.yaml#/x'}\n");
    let inputs = Map::new();
    let beside = ReadContext::of_files(&files, &inputs);
    let read = read_in_context(&Source::new("demo.yaml", text), &beside);
    let codes: Vec<&str> = read.problems.iter().map(|p| p.code).collect();
    for code in ["too-many-files", "include-deep", "ref-deep"] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
}

#[test]
fn beside_a_reference_null_takes_a_field_away() {
    let shared = format!("a:\n    prompt: x\n    model: opus\n    timeout: 5\n{EXITS}");
    let own = "    $ref: 's.yaml#/a'\n    prompt: null\n    command: make\n    model: null\n    timeout: null\n    outcomes: [success, failure, other]\n    onOutcome: {success: {action: exit, reason: r}, failure: {action: exit, reason: f}}\n";
    let text = machine("", &format!("  a:\n{own}"));
    let resolved = resolved(&[("s.yaml", &shared), ("demo.yaml", &text)], "demo", &[]);
    assert_eq!(
        reported(&resolved),
        "error[unknown-outcome] s.yaml:7:7 `ok` Step 'a': onOutcome key 'ok' is not in outcomes\n"
    );
    let none = own.replace("null\n    outcomes", "null\n    zzz: null\n    outcomes");
    let text = machine("", &format!("  a:\n{none}"));
    let beside = |_: &str| Ok(Source::new("s.yaml", shared.as_str()));
    let read =
        read_in_context(&Source::new("d", text), &ReadContext::of_files(&beside, &Map::new()));
    assert!(render(&read.problems).contains("Unknown field 'zzz' in step 'a'"));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_recipes_directory() {
    let directory = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let steps = format!("a:\n    prompt: secret\n{EXITS}");
    write(outside.path(), &[("s.yaml", &steps)]);
    write(directory.path(), &[("demo.yaml", &machine("", "  $include: link/s.yaml\n"))]);
    std::os::unix::fs::symlink(outside.path(), directory.path().join("link")).unwrap();
    let refused = resolve(&request("./demo.yaml", directory.path(), &[]));
    assert!(reported(&refused).contains("leads out of its directory"), "{}", reported(&refused));
    assert!(refused.program.is_none());
    let pipe = std::process::Command::new("mkfifo").arg(directory.path().join("p.yaml")).status();
    assert!(pipe.unwrap().success());
    write(directory.path(), &[("demo.yaml", &machine("", "  $include: p.yaml\n"))]);
    let refused = resolve(&request("./demo.yaml", directory.path(), &[]));
    assert!(reported(&refused).contains("p.yaml: this is no file"), "{}", reported(&refused));
}

fn restarting(id: &str, target: &str) -> String {
    let steps = format!(
        "  a:\n    prompt: x\n    outcomes: [again, other]\n    onOutcome:\n      again: {{action: restart-new-session, recipeId: {target}}}\n      other: {{action: exit, reason: o}}\n"
    );
    machine("", &steps).replace("id: demo", &format!("id: {id}"))
}

#[test]
fn restarts_are_found_over_all_machines() {
    let files =
        [("demo.yaml", restarting("demo", "two")), ("two.yaml", restarting("two", "three"))];
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (*p, t.as_str())).collect();
    let missing = resolved(&files, "demo", &[]);
    assert_eq!(
        reported(&missing).split(" | ").next().unwrap(),
        "error[recipe-not-found] two.yaml:11:54 `three` Restart recipe 'three' not found (step a, outcome again)"
    );
    let steps = ("three.yaml", "name: three\nsteps: [{id: a, command: make}]\n");
    let wrong = resolved(&[files[0], files[1], steps], "demo", &[]);
    assert!(
        reported(&wrong).contains("Restart recipe 'three' is no state machine"),
        "{}",
        reported(&wrong)
    );
    let back = restarting("three", "demo");
    let found = resolved(&[files[0], files[1], ("three.yaml", &back)], "demo", &[]);
    let program = found.program.unwrap();
    assert_eq!(program.callee(0, "two"), Some(1));
    assert_eq!(program.callee(2, "demo"), Some(0));
}

#[test]
fn a_machines_own_id_means_itself_whatever_its_file_is_called() {
    let own = restarting("other-id", "other-id");
    let found = resolved(&[("demo.yaml", &own)], "demo", &[]);
    assert_eq!(
        reported(&found),
        "warning[other-name] demo.yaml:1:5 `other-id` the recipe's id is 'other-id', but it is found by its file's name, 'demo' | name the file after the id, or write the id 'demo'\n"
    );
    assert_eq!(found.program.unwrap().callee(0, "other-id"), Some(0));
}

#[test]
fn machines_and_step_recipes_call_each_other() {
    let caller = machine("", &format!("  a:\n    recipe: steps\n{RESULTS}"));
    let steps = "name: steps\nsteps:\n  - {id: a, command: make}\n  - {id: b, recipe: last}\n";
    let last =
        machine("", &format!("  a:\n    command: make\n{RESULTS}")).replace("id: demo", "id: last");
    let found = resolved(
        &[("demo.yaml", &caller), ("steps.yaml", steps), ("last.yaml", &last)],
        "demo",
        &[],
    );
    assert_eq!(reported(&found), "");
    assert_eq!(found.program.unwrap().recipes.len(), 3);
    let endless = "name: steps\nsteps: [{id: b, recipe: demo}]\n";
    let found = resolved(&[("demo.yaml", &caller), ("steps.yaml", endless)], "demo", &[]);
    assert!(reported(&found).contains("call each other without end"), "{}", reported(&found));
    let child = "name: child\nextends: last\n";
    let found = resolved(&[("child.yaml", child), ("last.yaml", &last)], "child", &[]);
    assert!(reported(&found).contains("`last` is a state machine, which cannot be extended"));
}

#[test]
fn an_edited_file_of_shared_steps_is_noticed() {
    let shared = format!("a:\n    prompt: x\n{EXITS}b:\n    prompt: y\n{EXITS}");
    let text = machine("", "  a: {$ref: 's.yaml#/a'}\n  b: {$ref: 's.yaml#/b'}\n");
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), &[("s.yaml", &shared), ("demo.yaml", &text)]);
    let plan: Plan = resolve(&request("demo", directory.path(), &[])).plan.unwrap();
    assert_eq!(plan.recipes[0].files, BTreeMap::from([("s.yaml".to_owned(), shared.clone())]));
    assert_eq!(edited(&plan), []);
    write(directory.path(), &[("s.yaml", &shared.replace("prompt: y", "prompt: z"))]);
    let found = edited(&plan);
    assert_eq!(
        format!("{:?}", found[0].edit),
        r#"Steps { changed: ["b"], added: [], removed: [] }"#
    );
    write(directory.path(), &[("s.yaml", "- none\n")]);
    assert!(format!("{:?}", edited(&plan)[0].edit).starts_with("Broken"));
}

/// What a machine means, without where it is written.
fn meaning(recipe: &Recipe) -> String {
    let steps: Vec<String> = recipe
        .steps
        .iter()
        .map(|step| {
            let then: Vec<String> = step
                .outcomes
                .iter()
                .map(|outcome| match &outcome.then {
                    Transition::Restart { recipe, .. } => {
                        format!("{} restart {recipe}", outcome.name)
                    }
                    then => format!("{} {then:?}", outcome.name),
                })
                .collect();
            let work = match &step.work {
                Work::Agent(work) => format!("{:?} {:?}", work.prompt.source(), work.model),
                Work::Bash { command } => command.text().to_owned(),
                Work::Recipe { name, .. } => name.clone(),
            };
            format!(
                "{} {work} {then:?} {:?} {:?} {:?} {:?} {} {:?}",
                step.id,
                step.context,
                step.output,
                step.timeout,
                step.effect,
                requires(&step.requires),
                step.options.sandbox
            )
        })
        .collect();
    format!(
        "{} {} {} {:?} {:?} {:?} {steps:#?}",
        recipe.name,
        recipe.description,
        requires(&recipe.requires),
        recipe.options.sandbox,
        recipe.machine().map(|m| (&m.label, m.initial, m.guardrails, &m.model)),
        recipe.context
    )
}

fn requires(programs: &[RequiredProgram]) -> String {
    let programs = programs.iter().map(|program| program.requirement.to_string());
    programs.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_machine_written_out_alone_is_the_same_machine() {
    for name in builtin_names().filter(|name| builtin(name).unwrap().contains("initialStep:")) {
        let found = resolve(&request(name, Path::new("/nowhere"), &[]));
        let alone = sound(&builtin_alone(name).unwrap());
        assert_eq!(meaning(&alone), meaning(found.program.unwrap().root()), "{name}");
    }
    let steps = format!(
        "  a:\n    prompt: \"  first {{{{v}}}}\\n\\ttab\\n\"\n    context: {{w: ['{{{{v}}}}', 1.10, null]}}\n    output: out\n    timeout: 1.5\n{EXITS}  'true':\n    command: |+\n      make\n\n    working_dir: '{{{{v}}}}/x'\n    effect: once\n    requires: [make]\n    sandbox: false\n{RESULTS}  '1':\n    prompt: |\n      One: \"x\"\n\n        # two\n{EXITS}"
    );
    let recipe = sound(&machine(
        "model: opus\ncontext: {v: 'a: b', w-x: {y: [1]}}\nrequires: [git, 'jq>=1.6']\nsandbox: true\n",
        &steps,
    ));
    let text = standalone(&recipe).unwrap();
    assert_eq!(meaning(&sound(&text)), meaning(&recipe), "{text}");
}

#[test]
fn what_belongs_to_others_is_left_alone_in_every_map() {
    let shared = format!("$schema: s\nx-owner: team\nb:\n    prompt: x\n{EXITS}");
    let text = "$schema: s\nx-a: 1\nid: demo\nlabel: D\ndescription: d\ninitialStep: a
guardrails: {$schema: s, x-a: 1}
steps:
  $schema: s
  x-note: [what, ever]
  x-part: {$ref: 'gone.yaml#/a'}
  $include: s.yaml
  a:
    x-a: 1
    prompt: x
    outcomes: [ok, other]
    onOutcome:
      $schema: s
      x-why: because
      x-none: null
      ok: {nextStep: b, x-a: 1}
      other: {action: exit, reason: o}
";
    let files = [("s.yaml", shared.as_str()), ("demo.yaml", text)];
    assert_eq!(reported(&resolved(&files, "demo", &[])), "");
    let wrong = text.replace("nextStep: b", "nextStep: x-note").replace("[ok,", "[ok, x-why,");
    assert_eq!(
        reported(&resolved(&[("s.yaml", &shared), ("demo.yaml", &wrong)], "demo", &[])),
        "error[bad-id] demo.yaml:16:20 `x-why` Step 'a': 'x-why' cannot be an outcome's name | \
         what begins with 'x-' is left to other programs\n\
         error[unknown-step] demo.yaml:21:22 `x-note` Next step x-note not found in steps (step \
         a, outcome ok) | what begins with 'x-' is left alone and is no step\n"
    );
    // A variable is a variable, whatever it is called.
    let text = machine("context: {x-a: 1}\n", &format!("  a:\n    prompt: '{{{{x-a}}}}'\n{EXITS}"));
    assert_eq!(problems(&text), "");
    assert_eq!(sound(&text).context.len(), 1);
}

#[test]
fn beside_a_reference_null_takes_a_transition_away() {
    let shared = format!("a:\n    prompt: x\n{EXITS}");
    let own = |transitions: &str| {
        let step = format!(
            "  a:\n    $ref: 's.yaml#/a'\n    outcomes: [fine, other]\n    onOutcome: {{fine: {{action: exit, reason: s}}, {transitions}}}\n"
        );
        let text = machine("", &step);
        resolved(&[("s.yaml", &shared), ("demo.yaml", &text)], "demo", &[])
    };
    let narrowed = own("ok: null");
    assert_eq!(reported(&narrowed), "");
    let program = narrowed.program.expect("it is sound");
    let names: Vec<&str> =
        program.root().steps[0].outcomes.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["fine", "other"]);
    assert_eq!(
        reported(&own("ok: null, othe: null")),
        "error[unknown-outcome] demo.yaml:10:60 `othe` Step 'a': there is no transition for \
         'othe' that null could take away | did you mean 'other'?\n"
    );
    // There is nothing to take away where nothing is referred to.
    let text = machine(
        "",
        &format!("  a:\n    prompt: x\n{}", EXITS.replace("{action: exit, reason: done}", "null")),
    );
    assert!(problems(&text).contains("Transition must be an object"), "{}", problems(&text));
}

#[test]
fn a_file_that_cannot_be_included_is_one_problem() {
    let steps = "  $include: [gone.yaml, s.yaml]\n  b:\n    $ref: 's.yaml#/deep'\n  c:\n    prompt: x\n    outcomes: [ok]\n    onOutcome: {ok: {nextStep: commit}}\n";
    let text = machine("", steps);
    let found = resolved(&[("s.yaml", "$include: lost.yaml\n"), ("demo.yaml", &text)], "demo", &[]);
    let lines: Vec<String> = reported(&found).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines.iter().all(|line| line.contains("cannot read")), "{lines:?}");
    // With all its files a name that is not there is reported.
    let text = text.replace("[gone.yaml, s.yaml]", "s.yaml");
    let found = resolved(
        &[
            ("s.yaml", "z: {prompt: x, outcomes: [ok], onOutcome: {ok: {nextStep: z}}}\n"),
            ("demo.yaml", &text),
        ],
        "demo",
        &[],
    );
    let reported = reported(&found);
    assert!(reported.contains("Initial step not found in steps: a"), "{reported}");
    assert!(reported.contains("Next step commit not found"), "{reported}");
    assert!(reported.contains("there is no step 'deep' in s.yaml"), "{reported}");
}

#[test]
fn a_circle_of_calls_shows_what_can_be_done() {
    let called = "    outcomes: [success, failure]\n    onOutcome: {success: {action: exit, reason: r}, failure: {action: exit, reason: r}}\n";
    let calling = |id: &str, callee: &str| {
        machine("", &format!("  a:\n    recipe: {callee}\n{called}"))
            .replace("id: demo", &format!("id: {id}"))
    };
    let (ma, mb) = (calling("ma", "mb"), calling("mb", "ma"));
    let machines = reported(&resolved(&[("ma.yaml", &ma), ("mb.yaml", &mb)], "ma", &[]));
    assert!(
        machines.contains("let one of these state machines begin with another step"),
        "{machines}"
    );
    assert!(!machines.contains("condition"), "{machines}");
    let list = "name: mb\nsteps:\n  - {id: s, recipe: ma}\n";
    let mixed = reported(&resolved(&[("ma.yaml", &ma), ("mb.yaml", list)], "ma", &[]));
    assert!(mixed.contains("give the step of mb a `condition` that ends it"), "{mixed}");
}

#[test]
fn a_limit_that_never_binds_is_reported_at_its_location() {
    let text = machine("", &format!("  a:\n    prompt: x\n{EXITS}"))
        .replace("guardrails: {}", "guardrails: {maxTotalSteps: 9, maxStepVisits: 7}");
    let resolved = resolved(&[("demo.yaml", &text)], "demo", &[]);
    assert_eq!(
        render(&resolved.problems),
        "note[idle-limit] demo.yaml:5:29 `9` maxTotalSteps 9 can never end a session: it has at \
         most 1 step\n\
         note[idle-limit] demo.yaml:5:47 `7` maxStepVisits 7 can never end a session: no step is \
         entered that often\n"
    );
}

#[test]
fn the_greatest_number_is_reported() {
    let great = "99999999999999999999";
    let text = machine("", &format!("  a:\n    prompt: x\n    timeout: {great}\n{EXITS}"))
        .replace("guardrails: {}", &format!("guardrails: {{maxStepVisits: {great}}}"));
    let reported = problems(&text);
    assert!(reported.contains("Guardrail 'maxStepVisits' can be 4294967295 at most"), "{reported}");
    assert!(
        reported.contains("Step 'a': `timeout` can be 1000000000000000000 at most"),
        "{reported}"
    );
    assert_eq!(reported.lines().count(), 2, "{reported}");
    let steps = format!(
        "name: r\nrecursion: {{max_depth: {great}}}\nsteps:\n  - {{id: a, command: x, timeout: 1e30}}\n"
    );
    let reported = problems(&steps);
    assert!(reported.contains("`max_depth` can be 4294967295 at most"), "{reported}");
    assert!(reported.contains("`timeout` can be 1000000000000000000 at most"), "{reported}");
}

#[test]
fn a_nul_byte_is_refused_before_anything_runs() {
    for field in ["prompt", "command", "recipe"] {
        let results = if field == "prompt" { EXITS } else { RESULTS };
        let reported = problems(&machine("", &format!("  a:\n    {field}: \"a\\0b\"\n{results}")));
        assert_eq!(reported.matches("contains a NUL byte").count(), 1, "{reported}");
        assert!(
            reported.contains(&format!("Step 'a': '{field}' contains a NUL byte")),
            "{reported}"
        );
        let steps = format!("name: r\nsteps:\n  - id: a\n    {field}: \"a\\0b\"\n");
        let reported = problems(&steps);
        assert_eq!(
            reported,
            format!(
                "error[nul-byte] demo.yaml:4:{} `\\0` `{field}` contains a NUL byte | no program can take it\n",
                field.len() + 9
            ),
            "{reported}"
        );
    }
    let fields = "    command: x\n    working_dir: \"a\\0b\"\n";
    let reported = problems(&machine("", &format!("  a:\n{fields}{RESULTS}")));
    assert!(reported.contains("'working_dir' contains a NUL byte"), "{reported}");
    let reported = problems(&format!("name: r\nsteps:\n  - id: a\n{fields}"));
    assert!(reported.contains("`working_dir` contains a NUL byte"), "{reported}");
}

#[test]
fn a_steps_name_that_is_not_kebab_case_is_warned_about() {
    let text =
        machine("", &format!("  do_It:\n    prompt: x\n{EXITS}")).replace("Step: a", "Step: do_It");
    assert_eq!(
        problems(&text),
        "warning[bad-id] demo.yaml:7:3 `do_It` Step name 'do_It' is not kebab-case | use small \
         letters and digits, with `-` between words\n"
    );
    sound(&text);
}
