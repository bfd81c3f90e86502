//! What is foreseen of a run: as tables, and against the run itself over random plans, in which
//! whatever runs goes well and prints what chance wants.

#[path = "../simulation/random_machine.rs"]
mod random_machine;
#[allow(dead_code, reason = "the simulation uses more of it")]
#[path = "../simulation/random_numbers.rs"]
mod random_numbers;
#[path = "../simulation/random_plan.rs"]
mod random_plan;

use random_numbers::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use towpath_recipe::{ParseJson, Plan, PlannedRecipe, Program, Tags, Work};
use towpath_run::{
    Fact, Job, JobEnd, JobStatus, JobWork, Limits, Output, Preview, PreviewStep, Run, StepStatus,
    StepView, preview,
};

fn program(recipes: &[(&str, &str)], inputs: Value, tags: Tags) -> Program {
    let planned = recipes.iter().map(|(name, text)| PlannedRecipe {
        source: (*name).to_owned(),
        text: (*text).to_owned(),
        calls: recipes.iter().enumerate().map(|(i, (n, _))| ((*n).to_owned(), i)).collect(),
        ..PlannedRecipe::default()
    });
    let Value::Object(inputs) = inputs else { panic!("inputs are a map") };
    let plan = Plan { recipes: planned.collect(), inputs, tags, ..Plan::default() };
    plan.load().unwrap_or_else(|problems| {
        panic!("{:?}", problems.into_iter().map(|p| p.message).collect::<Vec<_>>())
    })
}

/// `path verdict[: reason]`, called recipes below their step.
fn reported(steps: &[PreviewStep]) -> Vec<String> {
    let mut lines = Vec::new();
    for step in steps {
        let reason = step.verdict.reason().map_or(String::new(), |reason| format!(": {reason}"));
        lines.push(format!("{} {}{reason}", step.path, step.verdict.as_str()));
        lines.extend(reported(&step.children));
    }
    lines
}

fn seen(recipes: &[(&str, &str)]) -> Preview {
    preview(&program(recipes, json!({}), Tags::default()))
}

fn one(recipe: &str) -> Vec<String> {
    reported(&seen(&[("main", recipe)]).steps)
}

#[test]
fn conditions_are_asked_as_far_as_their_values_are_known() {
    let recipe = "
name: r
context: { mode: debug, strict: false }
steps:
  - { id: build, command: make }
  - { id: docs, condition: \"mode == 'release'\", command: make docs }
  - { id: test, condition: \"'ok' in build\", command: make test }
  - { id: gate, condition: \"strict and 'ok' in test\", command: make gate }
  - { id: built, condition: \"steps.build.status == 'completed'\", command: echo }
  - { id: undocumented, condition: \"steps.docs.status == 'skipped'\", command: echo }
  - { id: code, condition: \"steps.build.exit_code == 0\", command: echo }
  - { id: dead, condition: \"build and false\", command: echo }
";
    assert_eq!(
        one(recipe),
        [
            "build runs",
            "docs skipped: condition false",
            "test unknown: depends on ‹build›",
            "gate skipped: condition false",
            "built runs",
            "undocumented runs",
            "code unknown: depends on ‹steps.build.exit_code›",
            "dead never: its condition is always false",
        ]
    );
}

#[test]
fn values_are_filled_in_and_what_is_not_there_yet_shows_as_a_placeholder() {
    let recipe = "
name: r
context: { who: \"it's me\", n: 3, folder: sub }
steps:
  - { id: a, command: \"echo {{who}} {{n}} {{gone}}.\", working_dir: \"{{folder}}/x\" }
  - { id: b, prompt: \"look at {{a}} of {{who}} and {{a}}\" }
  - { id: c, command: \"echo {{own}} {{other}}\", context: { own: \"<{{n}}>\", other: \"{{a}}\" } }
";
    let steps = seen(&[("main", recipe)]).steps;
    let texts: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(texts, ["echo it's me 3 .", "look at ‹a› of it's me and ‹a›", "echo <3> ‹other›"]);
    assert_eq!(steps[0].directory, "sub/x");
    assert_eq!(steps[0].open, Vec::<String>::new());
    assert_eq!(
        (&steps[1].open, &steps[2].open),
        (&vec!["a".to_owned()], &vec!["other".to_owned()])
    );
}

#[test]
fn what_always_fails_is_reported_and_what_follows_never_comes() {
    let recipe = |tolerated: &str| {
        format!(
            "
name: r
context: {{ n: three }}
steps:
  - {{ id: sum, command: \"echo $(( {{{{n}}}} + 1 ))\"{tolerated} }}
  - {{ id: after, condition: \"sum == ''\", command: echo }}
"
        )
    };
    let lines = one(&recipe(""));
    assert!(lines[0].starts_with("sum fails: {{n}}: bash calculates here"), "{lines:?}");
    assert_eq!(lines[1], "after never: `sum` before it always fails");
    let lines = one(&recipe(", continue_on_error: true"));
    assert_eq!(lines[1], "after runs");
    let wrong =
        "name: r\ncontext: { n: 1 }\nsteps:\n  - { id: a, condition: n.lower(), command: x }\n";
    assert_eq!(
        one(wrong),
        ["a fails: condition: `lower` needs a string, but `n` is a number: write `str(n)`"]
    );
}

#[test]
fn called_recipes_are_opened_with_what_they_are_given() {
    let main = "
name: main
context: { mode: fast }
steps:
  - { id: one, command: echo }
  - { id: sub, recipe: inner, context: { given: \"{{mode}}\", late: \"{{one}}\" } }
  - { id: maybe, recipe: inner, condition: one, context: { given: x } }
  - { id: bare, recipe: inner }
  - { id: end, command: \"echo {{made}} {{sub.made}}\" }
";
    let inner = "
name: inner
required_context: [given]
context: { late: '' }
steps:
  - { id: made, condition: \"given == 'fast'\", command: \"echo {{given}}\" }
  - { id: too, condition: late, command: echo }
";
    let preview = seen(&[("main", main), ("inner", inner)]);
    assert_eq!(
        reported(&preview.steps),
        [
            "one runs",
            "sub runs",
            "sub/made runs",
            "sub/too unknown: depends on ‹late›",
            "maybe unknown: depends on ‹one›",
            "maybe/made skipped: condition false",
            "maybe/too skipped: condition false",
            "bare fails: the recipe `inner` needs a value for `given`",
            "end never: `bare` before it always fails",
        ]
    );
    assert_eq!(preview.steps[4].text, "echo ‹made› ‹sub.made›");
}

#[test]
fn tags_limits_and_groups_are_those_of_the_run() {
    let main = "
name: main
recursion: { max_total_steps: 3 }
steps:
  - { id: a, command: echo, when_tags: [x] }
  - { id: b, command: echo, when_tags: [y], parallel_group: g }
  - { id: c, command: echo, parallel_group: g }
  - { id: d, command: echo }
  - { id: e, command: echo }
  - { id: f, command: echo }
  - { id: g, command: echo, continue_on_error: true }
";
    let tags = Tags { include: vec!["y".into()], exclude: Vec::new() };
    let lines = reported(&preview(&program(&[("main", main)], json!({}), tags)).steps);
    assert_eq!(lines[..4], ["a skipped: needs tag x", "b runs", "c runs", "d runs"]);
    assert!(lines[4].starts_with("e fails: over the limit max_total_steps: 3"), "{lines:?}");
    assert_eq!(lines[5], "f never: `e` before it always fails");

    let main = "
name: main
steps:
  - { id: call, recipe: part, continue_on_error: true }
  - { id: after, command: echo }
";
    let part = "
name: part
recursion: { max_total_steps: 1 }
steps:
  - { id: first, command: echo x, output: x }
  - { id: second, command: echo }
  - { id: third, command: echo }
";
    let lines = reported(&seen(&[("main", main), ("part", part)]).steps);
    assert_eq!(lines.last().unwrap(), "after never: `call` before it always fails");
    // A condition that its value does not allow ends the recipe before the limit does, and that is
    // tolerated.
    let part = part.replace("{ id: second", "{ id: second, condition: \"x > 1\"");
    let lines = reported(&seen(&[("main", main), ("part", &part)]).steps);
    assert_eq!(lines.last().unwrap(), "after unknown: depends on whether `call` fails");

    let again = "
name: again
context: { more: true }
steps:
  - { id: deeper, recipe: again, condition: more }
";
    let lines = one(&again
        .replace("again\ncontext", "main\ncontext")
        .replace("recipe: again", "recipe: main"));
    let last = lines.last().unwrap();
    assert!(last.contains("fails: over the limit max_depth: 6"), "{lines:?}");
}

const MACHINE: &str = "
id: machine
label: L
description: d
initialStep: a
guardrails: {}
context: { n: 3 }
steps:
  z: { command: 'echo $(( {{n}} ))', outcomes: [success, failure], onOutcome: { success: { action: exit, reason: fine }, failure: { action: exit, reason: bad } } }
  a: { command: 'echo {{n}}', output: n, outcomes: [success, failure], onOutcome: { success: { nextStep: z }, failure: { action: exit, reason: bad } } }
  orphan: { prompt: \"{{n}}\", outcomes: [ok], onOutcome: { ok: { nextStep: orphan } } }
";

#[test]
fn of_a_called_machine_only_the_first_step_is_sure() {
    let main = "
name: main
steps:
  - { id: call, recipe: machine }
  - { id: after, command: \"echo {{call.reason}} {{n}}\" }
  - { id: gate, condition: \"call.reason == 'fine'\", command: echo }
";
    let preview = seen(&[("main", main), ("machine", MACHINE)]);
    assert_eq!(
        reported(&preview.steps),
        [
            "call runs",
            "call/z unknown: depends on what the steps before it report",
            "call/a runs",
            "call/orphan never: no outcome leads to it",
            "after runs",
            "gate unknown: depends on ‹call.reason›",
        ]
    );
    let [z, a, _] = &preview.steps[0].children[..] else { panic!() };
    assert_eq!((z.text.as_str(), a.text.as_str()), ("echo $(( ‹n› ))", "echo 3"));
    assert_eq!(preview.steps[1].text, "echo ‹call.reason› ", "its variables stay in the machine");

    // A circle may end at a guardrail, which nothing tolerates.
    let circle = MACHINE.replace("success: { nextStep: z }", "success: { nextStep: a }");
    let main = main.replace("recipe: machine", "recipe: machine, continue_on_error: true");
    let lines = reported(&seen(&[("main", &main), ("machine", &circle)]).steps);
    assert_eq!(lines[1], "call/z never: no outcome leads to it");
    assert_eq!(lines[4], "after unknown: depends on whether `call` fails");

    // What cannot be filled ends a machine, and with it what called it.
    let wrong = MACHINE.replace("n: 3", "n: three").replace("'echo {{n}}'", "'echo $(( {{n}} ))'");
    let main = main.replace(", continue_on_error: true", "");
    let lines = reported(&seen(&[("main", &main), ("machine", &wrong)]).steps);
    assert!(lines[2].starts_with("call/a fails: {{n}}: bash calculates here"), "{lines:?}");
    assert_eq!(lines[1], "call/z never: `a` before it always fails");
    assert_eq!(lines[4], "after never: `call` before it always fails");
}

#[test]
fn the_default_limit_of_recipes_does_not_bind_machines() {
    let mut main = "name: main\nsteps:\n".to_owned();
    for n in 0..199 {
        main.push_str(&format!("  - {{ id: s{n}, recipe: machine }}\n"));
    }
    main.push_str("  - { id: last, command: echo }\n");
    let lines = reported(&seen(&[("main", &main), ("machine", MACHINE)]).steps);
    assert_eq!(lines.last().unwrap(), "last runs");
}

#[test]
fn who_can_raise_the_depth_is_reported() {
    let deep = "
id: main
label: L
description: d
initialStep: a
guardrails: {}
steps:
  a: { prompt: x, outcomes: [ok], onOutcome: { ok: { nextStep: b } } }
  b: { recipe: main, outcomes: [success, failure], onOutcome: { success: { action: exit, reason: r }, failure: { action: exit, reason: r } } }
";
    let program = Arc::new(program(&[("main", deep)], json!({}), Tags::default()));
    let run = played(&program, &mut Random::new(1));
    let mut messages = Vec::new();
    fn failures(steps: &[StepView], messages: &mut Vec<String>) {
        for step in steps {
            if let Some(StepStatus::Failed(failure)) = step.result.as_ref().map(|r| &r.status) {
                messages.push(failure.message.clone());
            }
            failures(&step.children, messages);
        }
    }
    failures(&run.view(), &mut messages);
    let reported = messages.iter().find(|m| m.contains("max_depth: 6")).expect("the limit was met");
    assert!(
        reported.contains("machines cannot raise it, a list of steps that calls"),
        "{reported}"
    );
}

#[test]
fn a_recursion_without_bounds_is_not_followed_without_bounds() {
    let main = "
name: main
recursion: { max_depth: 4000000000, max_total_steps: 4000000000 }
steps:
  - { id: a, command: echo }
  - { id: left, recipe: main, condition: a }
  - { id: right, recipe: main, condition: a }
";
    let preview = seen(&[("main", main)]);
    assert!(preview.cut);
    fn count(steps: &[PreviewStep]) -> usize {
        steps.iter().map(|step| 1 + count(&step.children)).sum()
    }
    let number = count(&preview.steps);
    assert!((5_000..20_000).contains(&number), "{number}");
}

/// Without the JSON that it must give, a step would not go well.
fn must_be_json(program: &Program, job: &Job) -> bool {
    let mut recipe = 0;
    let path = job.key.step_path().without_visits();
    let mut ids = path.split('/').peekable();
    loop {
        let id = ids.next().expect("a path ends with a step");
        let steps = &program.recipes[recipe].steps;
        let step = steps.iter().find(|step| step.id == id).expect("a step of the plan");
        match &step.work {
            Work::Recipe { name, .. } if ids.peek().is_some() => {
                recipe = program.callee(recipe, name).expect("a recipe of the plan");
            }
            _ => return step.parse_json == ParseJson::Required,
        }
    }
}

/// One of the outcomes that a machine's prompt or reminder offers, if it is one.
fn outcome(job: &Job, random: &mut Random) -> Option<String> {
    let JobWork::Agent(agent) = &job.work else { return None };
    let offered: Vec<&str> =
        agent.prompt.lines().filter(|line| line.starts_with("{\"outcome\"")).collect();
    let chosen = offered.get(random.below(offered.len().max(1)))?;
    Some(chosen.replace("<brief description>", "none of them"))
}

/// Runs a plan in which every job goes well; what it prints is chance.
fn played(program: &Arc<Program>, random: &mut Random) -> Run {
    let mut run = Run::new(Arc::clone(program), Limits { agents: 3, ..Limits::DEFAULT });
    run.apply(&Fact::Started, 1).unwrap();
    while run.outcome().is_none() {
        let jobs = run.next();
        assert!(!jobs.is_empty(), "the run waits for nothing");
        for job in &jobs {
            let fact = Fact::job_started(job.key.clone());
            run.apply(&fact, 2).unwrap();
        }
        for job in jobs {
            let text = ["out", "", "{\"a\": 1}", "no"][random.below(4)];
            let text = match outcome(&job, random) {
                Some(outcome) => outcome,
                None if must_be_json(program, &job) => "{\"a\": 1}".to_owned(),
                None => text.to_owned(),
            };
            let output = Output::Text(text);
            let end = JobEnd { output, ..JobEnd::new(JobStatus::Exited(0)) };
            run.apply(&Fact::JobFinished { key: job.key, end }, 3).unwrap();
        }
    }
    run
}

fn by_path<'a>(steps: &'a [PreviewStep], all: &mut BTreeMap<String, &'a PreviewStep>) {
    for step in steps {
        all.insert(step.path.to_string(), step);
        by_path(&step.children, all);
    }
}

/// How often each verdict was put to the test.
type Spread = BTreeMap<&'static str, usize>;

fn agrees(
    view: &[StepView],
    foreseen: &BTreeMap<String, &PreviewStep>,
    spread: &mut Spread,
) -> Result<(), String> {
    for step in view {
        let Some(seen) = foreseen.get(&step.path.without_visits()) else {
            return Err(format!("{} was not foreseen at all", step.path));
        };
        let verdict = seen.verdict.as_str();
        let status = step.result.as_ref().map(|result| result.status.as_str());
        let fits = match verdict {
            "runs" => !matches!(status, Some("skipped")),
            "skipped" => matches!(status, None | Some("skipped")),
            "never" => matches!(status, None | Some("skipped")),
            "fails" => matches!(status, None | Some("failed")),
            _ => true,
        };
        if !fits {
            return Err(format!("{}: foreseen {:?}, but {status:?}", step.path, seen.verdict));
        }
        // A step that certainly runs is missing only where something before it failed.
        let failed = view.iter().any(|other| {
            let status = other.result.as_ref().map(|result| &result.status);
            matches!(status, Some(StepStatus::Failed(_))) && !other.tolerated
        });
        if verdict == "runs" && status.is_none() && !failed {
            return Err(format!("{} did not run", step.path));
        }
        if status.is_some() {
            *spread.entry(verdict).or_default() += 1;
        }
        agrees(&step.children, foreseen, spread)?;
    }
    Ok(())
}

#[test]
fn what_is_foreseen_comes_true() {
    let spread = compared(1..3_000, false);
    for verdict in ["runs", "skipped", "unknown", "fails"] {
        assert!(spread.get(verdict).is_some_and(|n| *n > 50), "{spread:?}");
    }
}

/// What a machine begins again with is not looked at, so plans with restarts are left out.
#[test]
fn what_is_foreseen_of_machines_comes_true() {
    let spread = compared(1..6_000, true);
    for verdict in ["runs", "skipped", "unknown", "fails"] {
        assert!(spread.get(verdict).is_some_and(|n| *n > 20), "{spread:?}");
    }
}

fn compared(seeds: Range<u64>, with_machines: bool) -> Spread {
    let mut spread = Spread::new();
    for seed in seeds {
        let mut random = Random::new(seed);
        let program = random_plan::generate(&mut random, with_machines);
        let machines = program.recipes.iter().any(|recipe| recipe.machine().is_some());
        if with_machines && (program.restarts() || !machines) {
            continue;
        }
        let foreseen = preview(&program);
        let mut steps = BTreeMap::new();
        by_path(&foreseen.steps, &mut steps);
        for _ in 0..3 {
            let run = played(&program, &mut random);
            if let Err(problem) = agrees(&run.view(), &steps, &mut spread) {
                panic!("seed {seed}: {problem}\n{}", random_plan::text(&program));
            }
        }
    }
    spread
}
