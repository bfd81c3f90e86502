//! The rules of a run as tables: a recipe and what its jobs give in, what starts and what is set
//! out. No process, no clock.

mod agent_call_records;
mod fail_fast_commands;
mod machine_agent_calls;
mod machine_exits;
mod machine_resumed;
mod machine_transitions_and_limits;
mod prompt_documents;
mod sandboxed_commands;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use towpath_core::{FaultKind, JobKind, Map, StepPath};
use towpath_recipe::{Plan, PlannedRecipe, Program};
use towpath_run::{
    AgentJob, Answer, EventKind, Fact, Fault, JSON_REMINDER, Job, JobEnd, JobStatus, JobWork,
    Limits, Output, Run, RunOutcome, StepStatus, StepView, StopReason,
};

/// A run in a small world: jobs end at once, in the order they were wanted, with the results that
/// are given by step path; without one a job exits with 0 and prints nothing.
struct Play {
    run: Run,
    results: BTreeMap<String, JobEnd>,
    /// As `name_of` names them.
    started: Vec<String>,
    jobs: Vec<Job>,
    warnings: Vec<String>,
    journal: Vec<Fact>,
    clock: i64,
}

fn program(recipes: &[(&str, &str)], inputs: Value) -> Arc<Program> {
    let planned = recipes.iter().map(|(name, text)| PlannedRecipe {
        source: (*name).to_owned(),
        text: (*text).to_owned(),
        calls: recipes.iter().enumerate().map(|(i, (n, _))| ((*n).to_owned(), i)).collect(),
        ..PlannedRecipe::default()
    });
    let Value::Object(inputs) = inputs else { panic!("inputs are a map") };
    // Staging is a matter of its own tests.
    let plan = Plan { recipes: planned.collect(), inputs, no_auto_stage: true, ..Plan::default() };
    Arc::new(plan.load().unwrap_or_else(|problems| {
        panic!("{:?}", problems.into_iter().map(|p| p.message).collect::<Vec<_>>())
    }))
}

/// `path` of a step's work, `path.1` of a second call, `path:kind` of everything around it.
fn name_of(job: &Job) -> String {
    let path = job.key.step_path();
    match (job.key.kind.is_work(), job.key.call) {
        (true, 0) => path.to_string(),
        (true, call) => format!("{path}.{call}"),
        (false, _) => format!("{path}:{}", job.key.kind.as_str()),
    }
}

impl Play {
    fn new(recipes: &[(&str, &str)], inputs: Value) -> Play {
        Play::of(program(recipes, inputs))
    }

    /// With the plan changed before the run begins.
    fn with(recipes: &[(&str, &str)], change: impl FnOnce(&mut Plan)) -> Play {
        let mut plan = Plan::clone(&program(recipes, json!({})).plan);
        change(&mut plan);
        Play::of(Arc::new(plan.load().expect("the plan was sound before")))
    }

    fn of(program: Arc<Program>) -> Play {
        let run = Run::new(program, Limits { agents: 2, ..Limits::DEFAULT });
        let mut play = Play {
            run,
            results: BTreeMap::new(),
            started: Vec::new(),
            jobs: Vec::new(),
            warnings: Vec::new(),
            journal: Vec::new(),
            clock: 0,
        };
        play.fact(Fact::Started);
        play
    }

    fn one(recipe: &str) -> Play {
        Play::new(&[("main", recipe)], json!({}))
    }

    fn gives(mut self, path: &str, output: &str) -> Play {
        let end =
            JobEnd { output: Output::Text(output.into()), ..JobEnd::new(JobStatus::Exited(0)) };
        self.results.insert(path.into(), end);
        self
    }

    /// A machine's step reports this.
    fn reports(self, path: &str, outcome: &str) -> Play {
        let text = json!({"outcome": outcome, "otherDescription": "so it is"});
        self.gives(path, &format!("Work done.\n{text}"))
    }

    fn ends(mut self, path: &str, status: JobStatus) -> Play {
        self.results.insert(path.into(), JobEnd::new(status));
        self
    }

    fn end_of(mut self, path: &str, end: JobEnd) -> Play {
        self.results.insert(path.into(), end);
        self
    }

    fn fact(&mut self, fact: Fact) {
        self.clock += 1;
        self.run.apply(&fact, self.clock).expect("the run takes the fact");
        self.journal.push(fact);
        for event in self.run.take_events() {
            if let EventKind::Warning { message, .. } = event {
                self.warnings.push(message);
            }
        }
    }

    fn start_all(&mut self) -> Vec<Job> {
        let jobs = self.run.next();
        for job in &jobs {
            self.started.push(name_of(job));
            self.jobs.push(job.clone());
            self.fact(Fact::job_started(job.key.clone()));
        }
        jobs
    }

    fn finish(&mut self, job: &Job) {
        let name = name_of(job);
        let empty =
            JobEnd { output: Output::Text(String::new()), ..JobEnd::new(JobStatus::Exited(0)) };
        let end = self.results.get(&name).cloned().unwrap_or(empty);
        self.fact(Fact::JobFinished { key: job.key.clone(), end });
    }

    fn play(mut self) -> Play {
        self.proceed();
        self
    }

    fn proceed(&mut self) {
        loop {
            let jobs = self.start_all();
            if jobs.is_empty() {
                return;
            }
            for job in &jobs {
                self.finish(job);
            }
        }
    }

    fn started(&self) -> String {
        self.started.join(" ")
    }

    /// The keys of all jobs, in the order they started.
    fn keys(&self) -> String {
        self.jobs.iter().map(|job| job.key.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// The agent call that was started under this name last.
    fn call(&self, name: &str) -> &AgentJob {
        let job = self.jobs.iter().rfind(|job| name_of(job) == name);
        match &job.unwrap_or_else(|| panic!("no call {name}")).work {
            JobWork::Agent(agent) => agent,
            JobWork::Bash(_) => panic!("{name} is no agent call"),
        }
    }

    /// How the run's own machine ended.
    fn reason(&self) -> String {
        self.run.exit().map_or_else(|| "under way".into(), |exit| exit.reason)
    }

    fn resume(&mut self) {
        self.fact(Fact::Resumed);
        self.proceed();
    }

    fn value(&self, name: &str) -> Value {
        self.run.context().get(name).cloned().unwrap_or(Value::Null)
    }

    fn step(&self, path: &str) -> StepView {
        fn find(steps: &[StepView], path: &str) -> Option<StepView> {
            steps.iter().find_map(|s| {
                if s.path.as_str() == path { Some(s.clone()) } else { find(&s.children, path) }
            })
        }
        find(&self.run.view(), path).unwrap_or_else(|| panic!("no step {path}"))
    }

    fn status(&self, path: &str) -> String {
        let result = self.step(path).result.expect("the step has a result");
        match result.status {
            StepStatus::Failed(failure) => format!("failed: {}", failure.message),
            StepStatus::Skipped { reason } => format!("skipped: {reason}"),
            StepStatus::Degraded { reason } => format!("degraded: {reason}"),
            StepStatus::Recovered { failure } => format!("recovered: {}", failure.message),
            StepStatus::Completed => "completed".into(),
        }
    }

    fn outcome(&self) -> String {
        match self.run.outcome() {
            Some(RunOutcome::Failed { step, failure }) => {
                format!("failed at {step}: {}", failure.message)
            }
            Some(outcome) => outcome.as_str().to_owned(),
            None => "under way".into(),
        }
    }

    /// The script of a job, with its values filled in.
    fn script(&self, path: &str) -> String {
        let job =
            self.jobs.iter().rfind(|j| j.key.step_path().as_str() == path && !j.key.kind.is_hook());
        match &job.expect("the job was wanted").work {
            JobWork::Bash(filled) => filled.values.join("|"),
            JobWork::Agent(agent) => agent.prompt.clone(),
        }
    }
}

#[test]
fn steps_run_in_file_order_and_conditions_decide_when_they_are_reached() {
    let play = Play::one(
        "name: r\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: two, condition: \"a == 'x'\"}\n  - {id: c, command: three, condition: \"'y' in a\"}\n",
    )
    .gives("a", "xy")
    .play();
    assert_eq!(play.started(), "a c");
    assert_eq!(play.status("b"), "skipped: condition false");
    assert_eq!(play.outcome(), "done");
}

#[test]
fn outputs_are_stored_by_name_or_id_and_never_over_a_context_key() {
    let play = Play::one(
        "name: r\ncontext: {kept: mine}\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x, output: named}\n  - {id: kept, command: x}\n",
    )
    .gives("a", "1")
    .gives("b", "2")
    .gives("kept", "3")
    .play();
    assert_eq!(play.value("a"), "1");
    assert_eq!(play.value("named"), "2");
    assert_eq!(play.value("b"), Value::Null, "an output with a name is not stored twice");
    assert_eq!(play.value("kept"), "mine");
    assert_eq!(play.value("steps")["b"], json!({"status": "completed", "exit_code": 0}));
}

#[test]
fn a_users_own_key_steps_wins() {
    let play = Play::one("name: r\ncontext: {steps: 3}\nsteps:\n  - {id: a, command: x}\n").play();
    assert_eq!(play.value("steps"), 3);
}

#[test]
fn a_failed_step_fails_the_run_and_its_output_is_kept() {
    let recipe = "name: r\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x}\n";
    let end = JobEnd { output: Output::Text("half".into()), ..JobEnd::new(JobStatus::Exited(3)) };
    let play = Play::one(recipe).end_of("a", end).play();
    assert_eq!(play.started(), "a");
    assert_eq!(play.outcome(), "failed at a: exit 3");
    assert_eq!(play.step("a").result.expect("a result").output, Output::Text("half".into()));
}

#[test]
fn a_tolerated_failure_stores_its_output_and_never_leaves_a_stale_value() {
    let recipe = "name: r\ncontext: {v: old}\nsteps:\n  - {id: a, command: x, output: v, continue_on_error: true}\n  - {id: b, command: \"echo {{v}} {{steps.a.status}} {{steps.a.exit_code}}\"}\n";
    let end = JobEnd { output: Output::Text("new".into()), ..JobEnd::new(JobStatus::Exited(3)) };
    let play = Play::one(recipe).end_of("a", end).play();
    assert_eq!(play.script("b"), "new|failed|3");
    assert_eq!(play.outcome(), "done");
    assert!(play.step("a").tolerated);
    let play = Play::one(recipe).ends("a", JobStatus::NotStarted).play();
    assert_eq!(play.value("v"), "", "not the old value");
}

#[test]
fn what_continue_on_error_tolerates() {
    let fault = |kind| JobStatus::Faulted(Fault { kind, until_ms: None });
    let rows = [
        (JobStatus::Exited(1), "done"),
        (JobStatus::TimedOut, "done"),
        (JobStatus::Signalled(9), "done"),
        (JobStatus::NotStarted, "done"),
        (fault(FaultKind::Overloaded), "done"),
        (fault(FaultKind::Crash), "done"),
        (fault(FaultKind::Auth), "failed at a: agent: auth"),
        (fault(FaultKind::Limit), "waiting"),
    ];
    for (status, outcome) in rows {
        let recipe = "name: r\nsteps:\n  - {id: a, prompt: x, continue_on_error: true}\n";
        let play = Play::one(recipe).ends("a", status.clone()).play();
        assert_eq!(play.outcome(), outcome, "{status:?}");
    }
    let endless =
        "name: r\nsteps:\n  - {id: a, recipe: main, condition: 'true', continue_on_error: true}\n";
    assert!(
        Play::one(endless).play().outcome().contains("max_depth"),
        "limits are never swallowed"
    );
}

#[test]
fn errors_of_conditions_and_values_fail_the_step() {
    let recipe = "name: r\ncontext: {n: 5, word: abc}\nsteps:\n  - {id: a, command: x, condition: \"n.strip()\"}\n";
    assert!(Play::one(recipe).play().outcome().starts_with("failed at a: condition:"));
    let recipe =
        "name: r\ncontext: {word: abc}\nsteps:\n  - {id: a, command: 'echo $(( {{word}} + 1 ))'}\n";
    let play = Play::one(recipe).play();
    assert_eq!(play.started(), "", "the shell does not start");
    assert!(play.outcome().contains("{{word}}"), "{}", play.outcome());
}

#[test]
fn an_undefined_variable_is_empty_with_a_warning() {
    let play = Play::one("name: r\nsteps:\n  - {id: a, command: 'echo {{nope}}'}\n").play();
    assert_eq!(play.script("a"), "");
    assert_eq!(play.warnings, ["{{nope}} has no value: it is empty"]);
}

/// The environment of a step's job, or of its hook.
fn environment(play: &Play, name: &str) -> Vec<(String, String)> {
    play.jobs.iter().rfind(|j| name_of(j) == name).expect("the job was wanted").environment.clone()
}

#[test]
fn a_command_gets_the_recipe_variables_that_it_mentions() {
    let value = "it's \"a\" $(b)\n`c` *";
    let recipe = "name: r
context: {list: [1, {a: 1.10}], map: {key: deep}, own__name: own, other: no}
hooks: {post_step: 'echo $RECIPE_VAR_task $RECIPE_VAR_step_status'}
steps:
  - id: a
    command: >-
      bash -c 'echo \"$RECIPE_VAR_task\" ${RECIPE_VAR_list} $RECIPE_VAR_map__key
      $RECIPE_VAR_own__name ${RECIPE_VAR_nope:-none}'
  - {id: b, command: 'echo {{task}}'}
";
    let play = Play::new(&[("r", recipe)], serde_json::json!({ "task": value })).play();
    let pair = |name: &str, value: &str| (format!("RECIPE_VAR_{name}"), value.to_owned());
    let expected = [
        pair("task", value),
        pair("list", "[1,{\"a\":1.10}]"),
        pair("map__key", "deep"),
        pair("own__name", "own"),
    ];
    assert_eq!(environment(&play, "a"), expected);
    assert_eq!(environment(&play, "b"), []);
    let hook = environment(&play, "a:post_step");
    assert_eq!(hook[..2], [pair("task", value), pair("step_status", "completed")]);
    assert_eq!(play.warnings, [""; 0]);
}

#[test]
fn a_recipe_variable_without_a_value_is_empty_with_a_warning() {
    let play = Play::one("name: r\nsteps:\n  - {id: a, command: 'echo $RECIPE_VAR_nope'}\n").play();
    assert_eq!(environment(&play, "a"), [("RECIPE_VAR_nope".to_owned(), String::new())]);
    assert_eq!(play.warnings, ["{{nope}} has no value: it is empty"]);
}

#[test]
fn a_recipe_variable_that_no_environment_can_take_fails_its_step() {
    let recipe = "name: r\nsteps:\n  - {id: a, command: 'echo $RECIPE_VAR_big'}\n";
    let big = |bytes: usize| serde_json::json!({ "big": "x".repeat(bytes) });
    let longest = 131_071 - "RECIPE_VAR_big=".len();
    let play = Play::new(&[("r", recipe)], big(longest)).play();
    assert_eq!(play.started(), "a");
    let play = Play::new(&[("r", recipe)], big(longest + 1)).play();
    assert_eq!(play.started(), "", "the shell does not start");
    assert!(play.outcome().contains("128 KiB"), "{}", play.outcome());
    assert!(play.outcome().contains("{{big}}"), "{}", play.outcome());
}

#[test]
fn outputs_that_are_too_large() {
    let named = "name: r\nsteps:\n  - {id: a, command: x, output: v}\n";
    let end = JobEnd {
        output: Output::TooLarge { len: 17_000_000 },
        ..JobEnd::new(JobStatus::Exited(0))
    };
    let play = Play::one(named).end_of("a", end.clone()).play();
    assert!(play.outcome().contains("over the limit of 16 MiB"), "{}", play.outcome());
    let unread = "name: r\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x}\n";
    assert_eq!(Play::one(unread).end_of("a", end.clone()).play().outcome(), "done");
    for reader in [
        "command: 'echo {{a}}'",
        "prompt: 'see {{a}}'",
        "command: x, condition: a",
        "command: x, working_dir: '{{a}}'",
        "recipe: main, condition: 'false'",
    ] {
        let recipe =
            format!("name: r\nsteps:\n  - {{id: a, command: x}}\n  - {{id: b, {reader}}}\n");
        let play = Play::one(&recipe).end_of("a", end.clone()).play();
        if reader.starts_with("recipe") {
            assert_eq!(play.outcome(), "done");
        } else {
            assert!(
                play.outcome().contains("too large to be a value"),
                "{reader}: {}",
                play.outcome()
            );
        }
    }
}

const CALLER: &str = "
name: caller
context: {shared: caller, only: caller}
steps:
  - {id: before, command: x, output: seen}
  - id: call
    recipe: child
    context: {given: '{{seen}}', typed: '{{list}}', mixed: 'is {{seen}}', nested: {deep: ['{{seen}}']}}
    output: result
  - {id: after, command: 'echo {{result}} {{call.made}} {{made}} {{secret}} {{own}}'}
";

const CHILD: &str = "
name: child
context: {shared: child, own: default, given: none}
steps:
  - {id: look, command: 'echo {{shared}} {{own}} {{only}} {{given}} {{typed}} {{mixed}} {{nested.deep.0}} {{seen}}', output: secret}
  - {id: make, command: y, output: made}
  - {id: skip, command: z, condition: 'false'}
";

#[test]
fn a_called_recipe_gets_overrides_over_the_callers_context_over_its_defaults() {
    let play =
        Play::new(&[("caller", CALLER), ("child", CHILD)], json!({"list": [1, 2], "own": "set"}))
            .gives("before", "B")
            .play();
    assert_eq!(play.script("call/look"), "caller|set|caller|B|[1,2]|is B|B|B");
}

#[test]
fn what_comes_back_from_a_called_recipe() {
    let play = Play::new(&[("caller", CALLER), ("child", CHILD)], json!({}))
        .gives("before", "B")
        .gives("call/look", "L")
        .gives("call/make", "M")
        .play();
    // The last executed step's output, the map of what its steps set, and these flat; never its
    // defaults or the overrides.
    assert_eq!(play.value("result"), "M");
    assert_eq!(play.value("call"), json!({"secret": "L", "made": "M"}));
    assert_eq!(play.value("made"), "M");
    assert_eq!(play.value("secret"), "L");
    assert_eq!(play.value("shared"), "caller");
    assert_eq!(play.value("own"), Value::Null);
    assert_eq!(play.value("given"), Value::Null);
    assert_eq!(play.started(), "before call/look call/make after");
}

/// The result of a called recipe is read whole, or not at all.
#[test]
fn an_output_of_a_called_recipe_that_is_too_large_fails_whoever_reads_it() {
    let inner = "name: in\nsteps:\n  - {id: s, command: x}\n  - {id: t, command: y}\n";
    let middle = "name: mid\nsteps:\n  - {id: c, recipe: in}\n";
    let too_large = JobEnd {
        output: Output::TooLarge { len: 17_000_000 },
        ..JobEnd::new(JobStatus::Exited(0))
    };
    let readers = [
        ("command: 'echo {{m}}'", false),
        ("command: 'echo {{m.c}}'", false),
        ("command: 'echo {{m.c.s}}'", false),
        ("command: 'echo {{c}}'", false),
        ("command: 'echo $RECIPE_VAR_m'", false),
        ("command: 'true', context: {z: '{{m}}'}", false),
        ("command: 'true', condition: \"'x' in str(m)\"", false),
        ("prompt: 'Summarise {{m}}'", false),
        ("recipe: in, context: {z: '{{c}}'}", false),
        ("command: 'echo {{m.c.t}} {{t}}'", true),
    ];
    for (reader, is_done) in readers {
        let outer =
            format!("name: out\nsteps:\n  - {{id: m, recipe: mid}}\n  - {{id: r, {reader}}}\n");
        let recipes = [("out", outer.as_str()), ("mid", middle), ("in", inner)];
        let play = Play::new(&recipes, json!({}))
            .end_of("m/c/s", too_large.clone())
            .gives("m/c/t", "small")
            .play();
        let outcome = play.outcome();
        let fails = outcome.contains("output of 17000000 bytes is too large to be a value");
        assert_eq!((outcome == "done", fails), (is_done, !is_done), "{reader}: {outcome}");
    }
}

#[test]
fn json_is_not_looked_for_in_what_is_too_large() {
    let inner = "name: in\nsteps:\n  - {id: s, command: x}\n";
    let outer =
        "name: out\nsteps:\n  - {id: c, recipe: in, parse_json: true, parse_json_required: true}\n";
    let end = JobEnd {
        output: Output::TooLarge { len: 17_000_000 },
        ..JobEnd::new(JobStatus::Exited(0))
    };
    let play = Play::new(&[("out", outer), ("in", inner)], json!({})).end_of("c/s", end).play();
    let outcome = play.outcome();
    assert!(outcome.contains("output of 17000000 bytes is too large to be read"), "{outcome}");
}

/// Each call has a copy of all that was set before it, and must not keep it.
#[test]
#[allow(clippy::disallowed_methods, reason = "the memory of this process is the system's")]
fn memory_grows_with_the_calls_and_not_with_their_square() {
    use std::fmt::Write as _;
    let peak_kb = || {
        let status = std::fs::read_to_string("/proc/self/status").expect("a Linux process");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).expect("a number")
    };
    let mut inner = "name: in\nsteps:\n".to_owned();
    (0..5).for_each(|n| writeln!(inner, "  - {{id: s{n}, command: x}}").expect("text"));
    let mut outer = "name: out\nrecursion: {max_total_steps: 10000}\nsteps:\n".to_owned();
    (0..500).for_each(|n| writeln!(outer, "  - {{id: c{n}, recipe: in}}").expect("text"));
    let recipes = [("out", outer.as_str()), ("in", inner.as_str())];
    let play = Play::new(&recipes, json!({}));
    let before = peak_kb();
    let play = play.play();
    assert_eq!((play.outcome().as_str(), play.jobs.len()), ("done", 2_500));
    let grown = peak_kb() - before;
    assert!(grown < 60_000, "{grown} kB");
}

#[test]
fn a_step_of_a_finished_recipe_runs_again_with_what_its_recipe_was_given() {
    let recipes = [("caller", CALLER), ("child", CHILD)];
    let mut play = Play::new(&recipes, json!({"list": [1, 2]}))
        .gives("before", "B")
        .gives("after", "A")
        .play();
    let given = play.script("call/look");
    assert_eq!(given, "caller|default|caller|B|[1,2]|is B|B|B");
    play.fact(Fact::Resumed);
    let step = play.run.find_step("look").expect("the step is there");
    play.fact(Fact::Answered { step, answer: Answer::Again });
    play.proceed();
    assert_eq!(play.script("call/look#2"), given);
}

#[test]
fn on_failure_nothing_returns_flat_and_from_a_group_neither() {
    let caller = CALLER.replace("recipe: child", "recipe: child\n    continue_on_error: true");
    let play = Play::new(&[("caller", &caller), ("child", CHILD)], json!({}))
        .gives("call/look", "L")
        .ends("call/make", JobStatus::Exited(1))
        .play();
    assert_eq!(play.value("secret"), Value::Null);
    assert_eq!(play.value("call")["secret"], "L");
    assert_eq!(play.status("call"), "failed: step call/make: exit 1");
    let grouped = "name: g\nsteps:\n  - {id: one, recipe: child, parallel_group: p}\n  - {id: two, recipe: child, parallel_group: p}\n";
    let play = Play::new(&[("g", grouped), ("child", CHILD)], json!({}))
        .gives("one/make", "1")
        .gives("two/make", "2")
        .play();
    assert_eq!(play.value("made"), Value::Null);
    assert_eq!(play.value("one")["made"], "1");
    assert_eq!(play.value("two")["made"], "2");
}

#[test]
fn the_failure_of_a_run_is_reported_at_the_step_where_it_began() {
    let play = Play::new(&[("caller", CALLER), ("child", CHILD)], json!({}))
        .ends("call/make", JobStatus::Exited(4))
        .play();
    assert_eq!(play.outcome(), "failed at call/make: exit 4");
}

#[test]
fn a_group_starts_together_and_fails_when_all_have_ended() {
    let recipe = "name: r\nsteps:\n  - {id: a, command: x, parallel_group: g}\n  - {id: b, command: x, parallel_group: g}\n  - {id: c, command: x, parallel_group: g, condition: 'false'}\n  - {id: d, command: x}\n";
    let mut play = Play::one(recipe).ends("a", JobStatus::Exited(1));
    let jobs = play.start_all();
    assert_eq!(play.started(), "a b");
    play.finish(&jobs[0]);
    assert_eq!(play.outcome(), "under way", "the others finish");
    assert!(play.start_all().is_empty());
    play.finish(&jobs[1]);
    assert_eq!(play.outcome(), "failed at a: exit 1");
    assert_eq!(play.status("b"), "completed");
}

#[test]
fn at_most_so_many_agents_at_once_and_bash_is_not_limited() {
    let mut recipe = "name: r\nsteps:\n".to_owned();
    for step in [
        "{id: a, prompt: x",
        "{id: b, prompt: x",
        "{id: c, prompt: x",
        "{id: d, command: x",
        "{id: e, command: x",
    ] {
        recipe.push_str(&format!("  - {step}, parallel_group: g}}\n"));
    }
    let mut play = Play::one(&recipe);
    let jobs = play.start_all();
    assert_eq!(play.started(), "a b d e");
    play.finish(&jobs[0]);
    play.start_all();
    assert_eq!(play.started(), "a b d e c");
}

#[test]
fn prompts_end_with_the_footer_and_take_values_as_plain_text() {
    let play =
        Play::one("name: r\ncontext: {v: \"a'$(x)\"}\nsteps:\n  - {id: a, prompt: 'do {{v}}'}\n")
            .play();
    assert_eq!(play.script("a"), "do a'$(x)\n\nProceed autonomously. Do not ask questions.");
}

const HOOKS: &str = "name: r\nhooks: {pre_step: 'echo {{step_id}}', post_step: 'echo {{step_status}}', on_error: 'echo {{error}}'}\n";

#[test]
fn hooks_belong_to_the_steps_that_run() {
    let recipe = format!(
        "{HOOKS}steps:\n  - {{id: a, command: x}}\n  - {{id: b, command: x, condition: 'false'}}\n  - {{id: c, command: x, continue_on_error: true}}\n  - {{id: d, command: x}}\n"
    );
    let play = Play::one(&recipe)
        .ends("c", JobStatus::Exited(1))
        .ends("d", JobStatus::TimedOut)
        .ends("d:on_error", JobStatus::Exited(1))
        .play();
    assert_eq!(
        play.started(),
        "a:pre_step a a:post_step c:pre_step c c:on_error d:pre_step d d:on_error"
    );
    let hook = play.jobs.iter().find(|j| j.key.kind == JobKind::ErrorHook).expect("a hook ran");
    assert_eq!(
        hook.environment,
        [("STEP_ID".into(), "c".into()), ("STEP_STATUS".into(), "failed".into())]
    );
    assert!(play.warnings[0].contains("on_error hook failed"), "a failing hook is a warning");
}

#[test]
fn hooks_of_a_caller_are_not_hooks_of_the_called() {
    let caller = format!("{HOOKS}steps:\n  - {{id: call, recipe: child}}\n");
    let child = "name: c\nsteps:\n  - {id: in, command: x}\n";
    let play = Play::new(&[("caller", &caller), ("child", child)], json!({})).play();
    assert_eq!(play.started(), "call:pre_step call/in call:post_step");
}

#[test]
fn the_directory_of_a_recipe_step_applies_to_the_whole_child() {
    let caller = "name: r\nsteps:\n  - {id: call, recipe: child, working_dir: sub}\n  - {id: own, command: x}\n";
    let child = "name: c\nsteps:\n  - {id: plain, command: x}\n  - {id: below, command: x, working_dir: deeper}\n  - {id: away, command: x, working_dir: /tmp}\n";
    let play = Play::new(&[("r", caller), ("child", child)], json!({})).play();
    let directories: Vec<&str> = play.jobs.iter().map(|j| j.directory.as_str()).collect();
    assert_eq!(directories, ["sub", "sub/deeper", "/tmp", ""]);
}

#[test]
fn a_steps_own_context_is_for_that_step_only() {
    let play = Play::one("name: r\ncontext: {v: base}\nsteps:\n  - {id: a, command: 'echo {{v}}', context: {v: own}}\n  - {id: b, command: 'echo {{v}}'}\n").play();
    assert_eq!((play.script("a"), play.script("b")), ("own".into(), "base".into()));
}

#[test]
fn the_timeout_of_a_recipe_step_applies_to_the_whole_child() {
    let caller = "name: r\nsteps:\n  - {id: call, recipe: child, timeout: 5}\n";
    let child = "name: c\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x}\n";
    let mut play = Play::new(&[("r", caller), ("child", child)], json!({}));
    let jobs = play.start_all();
    let timers = play.run.timers();
    assert_eq!(timers.len(), 1);
    play.fact(Fact::Expired { step: timers[0].step.clone() });
    assert_eq!(play.run.unwanted(), [jobs[0].key.clone()]);
    assert!(play.run.next().is_empty());
    play.fact(Fact::JobFinished { key: jobs[0].key.clone(), end: JobEnd::new(JobStatus::Stopped) });
    assert_eq!(play.outcome(), "failed at call: timed out after 5 s");
}

#[test]
fn limits_count_each_executed_step_once_and_the_strictest_stated_one_applies() {
    let caller = "name: r\nrecursion: {max_total_steps: 4}\nsteps:\n  - {id: a, command: x}\n  - {id: skip, command: x, condition: 'false'}\n  - {id: call, recipe: child}\n  - {id: z, command: x}\n";
    let child = "name: c\nsteps:\n  - {id: b, command: x, parallel_group: g}\n  - {id: c, command: x, parallel_group: g}\n";
    let play = Play::new(&[("r", caller), ("child", child)], json!({})).play();
    assert_eq!(play.started(), "a call/b call/c");
    assert!(
        play.outcome().contains("failed at z: over the limit max_total_steps: 4"),
        "{}",
        play.outcome()
    );
    let strict = "name: c\nrecursion: {max_total_steps: 1}\nsteps:\n  - {id: b, command: x}\n  - {id: c, command: x}\n";
    let play = Play::new(&[("r", caller), ("child", strict)], json!({})).play();
    assert!(play.outcome().contains("failed at call/c"), "{}", play.outcome());
}

#[test]
fn a_limit_of_the_agents_program_makes_the_run_wait() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: x, parallel_group: g}\n  - {id: b, prompt: x, parallel_group: g}\n  - {id: c, prompt: x, parallel_group: g}\n";
    let limit = JobStatus::Faulted(Fault { kind: FaultKind::Limit, until_ms: Some(99) });
    let mut play = Play::one(recipe).ends("a", limit);
    let jobs = play.start_all();
    play.finish(&jobs[0]);
    assert!(play.start_all().is_empty(), "nothing more is started");
    play.finish(&jobs[1]);
    assert_eq!(
        play.run.outcome(),
        Some(RunOutcome::Waiting { why: FaultKind::Limit, until_ms: Some(99) })
    );
    play.results.clear();
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(play.started(), "a b c a", "what finished is not repeated");
    assert_eq!(play.outcome(), "done");
}

/// How long a run waits for, and what for.
fn waits(play: &Play) -> Option<(FaultKind, i64)> {
    match play.run.outcome() {
        Some(RunOutcome::Waiting { why, until_ms: Some(until) }) => Some((why, until - play.clock)),
        _ => None,
    }
}

#[test]
fn faults_that_may_pass_are_waited_for_where_nobody_watches_longer_each_time() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: x}\n  - {id: b, prompt: x}\n";
    let fault = |kind| JobStatus::Faulted(Fault { kind, until_ms: None });
    let patient = Fact::WaitsAfterFaults { first_ms: 60_000 };
    for kind in [FaultKind::Overloaded, FaultKind::Auth] {
        let mut play = Play::one(recipe).ends("b", fault(kind));
        play.fact(patient.clone());
        play.proceed();
        let mut minutes = Vec::new();
        for _ in 0..8 {
            let (why, wait) = waits(&play).expect("it waits");
            assert_eq!(why, kind);
            minutes.push(wait / 60_000);
            play.fact(Fact::Resumed);
            play.fact(patient.clone());
            play.proceed();
        }
        assert_eq!(minutes, [1, 2, 5, 10, 30, 60, 60, 60]);
        // A resume by hand reports the fault at once.
        play.fact(Fact::Resumed);
        play.proceed();
        assert!(play.outcome().contains("failed at b"), "{}", play.outcome());
    }
    // A login that never worked is the user's to fix; an overload passes by itself.
    for (kind, waited) in [(FaultKind::Auth, false), (FaultKind::Overloaded, true)] {
        let mut play = Play::one(recipe).ends("a", fault(kind));
        play.fact(patient.clone());
        play.proceed();
        assert_eq!(waits(&play).is_some(), waited, "{kind:?}");
    }
    for kind in [FaultKind::Crash, FaultKind::BadRequest, FaultKind::TooLong] {
        let mut play = Play::one(recipe).ends("b", fault(kind));
        play.fact(patient.clone());
        play.proceed();
        assert_eq!(waits(&play), None, "{kind:?}");
    }
}

#[test]
fn interrupted_work_runs_again_and_finished_work_does_not() {
    let recipe = format!(
        "{HOOKS}steps:\n  - {{id: a, command: x}}\n  - {{id: b, command: x, parallel_group: g}}\n  - {{id: c, command: x, parallel_group: g}}\n"
    );
    let mut play = Play::one(&recipe);
    while !play.started().ends_with("b c") {
        let jobs = play.start_all();
        if play.started().ends_with("b c") {
            play.finish(&jobs[0]);
        } else {
            for j in &jobs {
                play.finish(j);
            }
        }
    }
    play.start_all();
    play.started.clear();
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(
        play.started(),
        "b:post_step c c:post_step",
        "the interrupted hook and the interrupted step"
    );
    assert_eq!(play.outcome(), "done");
}

#[test]
fn a_interrupted_step_marked_once_is_asked_about() {
    let recipe = "name: r\nsteps:\n  - {id: a, command: x, effect: once}\n  - {id: b, command: 'echo {{a}}'}\n";
    for (answer, started, value) in [
        (Answer::Done { output: "by hand".into(), outcome: None }, "a b", "by hand"),
        (Answer::Again, "a a b", ""),
    ] {
        let mut play = Play::one(recipe);
        play.start_all();
        play.fact(Fact::Resumed);
        assert_eq!(
            play.run.outcome(),
            Some(RunOutcome::Asking { steps: vec![StepPath::new("a")] })
        );
        assert!(play.run.next().is_empty(), "nothing starts before the answer");
        play.fact(Fact::Answered { step: StepPath::new("a"), answer });
        play.proceed();
        assert_eq!(play.started(), started);
        assert_eq!(play.script("b"), value);
        assert_eq!(play.outcome(), "done");
    }
}

#[test]
fn once_is_asked_about_after_a_timeout_or_stop_but_not_after_its_own_failure() {
    let recipe = "name: r\nsteps:\n  - {id: a, command: x, effect: once}\n";
    for (status, asks) in [
        (JobStatus::TimedOut, true),
        (JobStatus::Signalled(9), true),
        (JobStatus::Exited(1), false),
        (JobStatus::NotStarted, false),
    ] {
        let mut play = Play::one(recipe).ends("a", status.clone()).play();
        play.fact(Fact::Resumed);
        assert_eq!(!play.run.asking().is_empty(), asks, "{status:?}");
    }
}

#[test]
fn a_call_has_the_time_of_its_step_then_of_the_run_then_an_agent_has_an_hour() {
    let recipe = "name: r\nsteps:\n  - {id: a, command: x}\n  - {id: b, command: x, timeout: 2}\n  \
                  - {id: c, prompt: x, parse_json: true}\n  - {id: d, prompt: x, timeout: 3}\n";
    let times = |step_timeout: Option<u64>| {
        let timeout = step_timeout.map(Duration::from_secs);
        let play = Play::with(&[("main", recipe)], |plan| plan.step_timeout = timeout);
        let play = play.gives("c", "no json").gives("c.1", "{}").play();
        let reported = |job: &Job| match job.timeout {
            Some(time) => format!("{} {}", name_of(job), time.as_secs()),
            None => format!("{} -", name_of(job)),
        };
        play.jobs.iter().map(reported).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(times(None), "a -, b 2, c 3600, c.1 3600, d 3");
    assert_eq!(times(Some(7)), "a 7, b 2, c 7, c.1 7, d 3");
}

#[test]
fn a_timeout_reports_whose_time_it_was() {
    let reported = |step: &str, change: fn(&mut Plan), end: JobEnd| {
        let recipe = format!("name: r\nsteps:\n  - {{id: a, {step}}}\n");
        let play = Play::with(&[("main", &recipe)], change).end_of("a", end).play();
        match play.run.view().remove(0).result.map(|result| result.status) {
            Some(StepStatus::Failed(failure)) => failure.message,
            other => panic!("{other:?}"),
        }
    };
    let late = || JobEnd::new(JobStatus::TimedOut);
    let timeout = |plan: &mut Plan| plan.step_timeout = Some(Duration::from_secs(7));
    assert_eq!(reported("command: x, timeout: 2", timeout, late()), "timed out after 2 s");
    assert_eq!(reported("command: x", timeout, late()), "timed out after 7 s (step_timeout)");
    let hour = reported("prompt: x", |_| {}, late());
    assert!(hour.starts_with("timed out after 3600 s, the time of an agent step"), "{hour}");
    let silent = JobEnd { silent_ms: Some(1500), ..late() };
    assert_eq!(reported("prompt: x", timeout, silent), "timed out: it printed nothing for 1.5 s");
}

#[test]
fn the_time_of_a_called_recipe_is_without_the_time_in_which_nobody_drove_the_run() {
    let main = "name: r\nsteps:\n  - {id: call, recipe: child}\n";
    let child = "name: c\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: two}\n";
    for interrupted in [false, true] {
        let play = Play::new(&[("main", main), ("child", child)], json!({}));
        let mut play = play.ends("call/b", JobStatus::Exited(1));
        if interrupted {
            play.start_all();
        } else {
            play.proceed();
        }
        let worked = play.clock;
        play.clock += 1_000_000;
        play.results.clear();
        play.resume();
        assert_eq!(play.outcome(), "done");
        let took = play.step("call").took_ms().expect("it has ended");
        assert!(took >= worked - 2 && took < 20, "{took} ms of work, {worked} before the pause");
    }
}

#[test]
fn again_runs_a_step_and_what_follows_again_with_new_keys() {
    let play = |again: &str| {
        let caller = CALLER.replace("{{list}}", "x");
        let mut play = Play::new(&[("caller", &caller), ("child", CHILD)], json!({}))
            .gives("before", "B")
            .gives("call/make", "M")
            .play();
        play.started.clear();
        play.fact(Fact::Resumed);
        let step = play.run.find_step(again).expect("the step is there");
        let rerun = play.run.rerun_steps(&step).expect("it can run again");
        let reported: Vec<String> = rerun.iter().map(ToString::to_string).collect();
        play.fact(Fact::Answered { step, answer: Answer::Again });
        play.proceed();
        assert_eq!(play.outcome(), "done");
        (play.started(), reported.join(" "))
    };
    assert_eq!(play("after"), ("after#2".into(), "after".into()));
    assert_eq!(play("make"), ("call/make#2 after#2".into(), "call/make after".into()));
    let all = "before#2 call#2/look call#2/make after#2";
    assert_eq!(play("before"), (all.into(), "before call after".into()));
}

#[test]
fn a_stopped_run_starts_nothing_more_and_continues_where_it_was() {
    let recipe = format!("{HOOKS}steps:\n  - {{id: a, command: x}}\n  - {{id: b, command: x}}\n");
    let mut play = Play::one(&recipe);
    let jobs = play.start_all();
    play.fact(Fact::Stopping { reason: StopReason::Signal(2) });
    play.fact(Fact::JobFinished { key: jobs[0].key.clone(), end: JobEnd::new(JobStatus::Stopped) });
    assert!(play.run.next().is_empty());
    assert_eq!(play.outcome(), "stopped");
    play.started.clear();
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(play.started(), "a:pre_step a a:post_step b:pre_step b b:post_step");
}

#[test]
fn an_edited_plan_is_taken_for_what_has_not_finished() {
    let old = "name: r\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: bad}\n  - {id: c, command: three}\n";
    let begin = || {
        let mut play = Play::one(old).ends("b", JobStatus::Exited(1)).play();
        play.results.clear();
        play.started.clear();
        play
    };
    let mut play = begin();
    let new = "name: r\nsteps:\n  - {id: a, command: one}\n  - {id: b, command: good}\n  - {id: new, command: x}\n  - {id: c, command: other}\n";
    play.run.replan(program(&[("main", new)], json!({}))).expect("nothing finished has changed");
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(play.started(), "b new c");
    assert_eq!(play.outcome(), "done");
    for (edit, why) in [
        (old.replace("command: one", "command: uno"), "a has run and was changed"),
        (old.replace("  - {id: a, command: one}\n", ""), "a has run and is gone from the recipe"),
        (old.replace("steps:\n", "steps:\n  - {id: z, command: x}\n"), "z is new"),
    ] {
        let refused =
            begin().run.replan(program(&[("main", &edit)], json!({}))).expect_err("refused");
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn an_edit_edits_a_step_that_failed_before_it_started() {
    let rows = [
        ("condition: \"int('x') > 1\"", "condition: \"int('5') > 1\""),
        ("command: 'echo $(( {{v}} ))'", "command: 'echo $(( 7 ))'"),
    ];
    for (bad, good) in rows {
        let command = if bad.starts_with("command") { "" } else { ", command: x" };
        let text = |part: &str| {
            format!(
                "name: r\ncontext: {{v: abc}}\nsteps:\n  - {{id: a, command: x}}\n  - {{id: b, {part}{command}}}\n"
            )
        };
        let mut play = Play::one(&text(bad)).play();
        assert!(play.outcome().starts_with("failed at b"), "{}", play.outcome());
        play.run.replan(program(&[("main", &text(good))], json!({}))).expect("b never ran");
        play.fact(Fact::Resumed);
        play.proceed();
        assert_eq!((play.started().as_str(), play.outcome().as_str()), ("a b", "done"));
    }
    let limit = |n: u32| {
        format!(
            "name: r\nrecursion: {{max_total_steps: {n}}}\nsteps:\n  - {{id: a, command: x}}\n  - {{id: b, command: x}}\n"
        )
    };
    let mut play = Play::one(&limit(1)).play();
    play.run.replan(program(&[("main", &limit(9))], json!({}))).expect("only the limit changed");
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(play.outcome(), "done");
}

#[test]
fn an_edit_replaces_what_was_interrupted() {
    let mut play =
        Play::one("name: r\nsteps:\n  - {id: a, command: 'echo {{v}}', context: {v: old}}\n");
    play.start_all();
    let new = "name: r\nsteps:\n  - {id: before, command: x}\n  - {id: a, command: 'echo {{v}}', context: {v: new}}\n";
    play.run.replan(program(&[("main", new)], json!({}))).expect("nothing has finished");
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(play.started(), "a before a#2");
    assert_eq!(play.script("a#2"), "new");
}

#[test]
fn an_edit_replaces_a_call_in_which_nothing_has_finished() {
    let sub = ("sub", "name: sub\nsteps:\n  - {id: x, command: one}\n");
    let outer = "name: outer\nsteps:\n  - {id: a, command: x}\n  - {id: s, recipe: sub}\n";
    let mut play = Play::new(&[("outer", outer), sub], json!({}));
    let a = play.start_all();
    play.finish(&a[0]);
    play.start_all();
    let new = outer.replace("recipe: sub", "command: two");
    play.run.replan(program(&[("outer", &new)], json!({}))).expect("nothing of it has finished");
    play.resume();
    assert_eq!(play.started(), "a s/x s");
    assert_eq!(play.outcome(), "done");
}

#[test]
fn a_journal_that_does_not_fit_is_an_error_and_no_panic() {
    let mut play = Play::one("name: r\nsteps:\n  - {id: a, command: x}\n");
    let key = "other#1.0.0:bash".parse().expect("a key");
    let started = Fact::job_started(key);
    assert!(play.run.apply(&started, 9).is_err());
    let key = "a#1.0.0:bash".parse().expect("a key");
    let ended = Fact::JobFinished { key, end: JobEnd::new(JobStatus::Exited(0)) };
    assert!(play.run.apply(&ended, 9).is_err());
}

#[test]
fn facts_are_written_and_read_back() {
    let play = Play::one("name: r\nsteps:\n  - {id: a, command: x}\n").gives("a", "v").play();
    for fact in &play.journal {
        let text = serde_json::to_string(fact).expect("a fact is plain data");
        assert_eq!(serde_json::from_str::<Fact>(&text).expect("and read back"), *fact);
    }
    let _: Map = play.run.context().clone();
}

#[test]
fn tags_decide_before_conditions_and_apply_to_called_recipes() {
    let root = "name: r\nsteps:\n  - {id: always, command: x}\n  - {id: fast, command: x, when_tags: [fast, unit]}\n  - {id: slow, command: x, when_tags: [slow]}\n  - {id: both, command: x, when_tags: [fast, slow]}\n  - {id: call, recipe: c}\n";
    let child = "name: c\nsteps:\n  - {id: plain, command: x}\n  - {id: fast, command: x, when_tags: [fast]}\n";
    let texts = [("r", root), ("c", child)];
    let with = |include: &[&str], exclude: &[&str]| {
        Play::with(&texts, |plan| {
            plan.tags.include = include.iter().map(|tag| (*tag).to_owned()).collect();
            plan.tags.exclude = exclude.iter().map(|tag| (*tag).to_owned()).collect();
        })
        .play()
    };
    let none = with(&[], &[]);
    assert_eq!(none.started(), "always call/plain");
    assert_eq!(none.status("fast"), "skipped: needs tag fast or unit");
    assert_eq!(with(&["fast"], &[]).started(), "always fast both call/plain call/fast");
    let mixed = with(&["fast"], &["slow"]);
    assert_eq!(mixed.started(), "always fast call/plain call/fast");
    assert_eq!(mixed.status("both"), "skipped: excluded by tag slow");
    assert_eq!(mixed.status("slow"), "skipped: excluded by tag slow");
    assert_eq!(with(&[], &["slow"]).started(), "always fast call/plain call/fast");
}

const JSON_STEP: &str = "name: r\nsteps:\n  - {id: a, command: x, parse_json: true, output: v}\n  - {id: b, command: 'echo {{v.n}}'}\n";

#[test]
fn json_in_an_output_becomes_a_value_and_none_degrades_the_step() {
    let play = Play::one(JSON_STEP).gives("a", "so: {\"n\": 1.10}").play();
    assert_eq!(play.value("v"), json!({"n": serde_json::from_str::<Value>("1.10").unwrap()}));
    assert_eq!((play.script("b").as_str(), play.status("a").as_str()), ("1.10", "completed"));
    let play = Play::one(JSON_STEP).gives("a", "no such thing").play();
    assert_eq!(play.value("v"), json!("no such thing"));
    assert_eq!(play.status("a"), "degraded: its output contains no JSON");
    assert_eq!((play.outcome().as_str(), play.started().as_str()), ("done", "a b"));
    let strict =
        JSON_STEP.replace("parse_json: true", "parse_json: true, parse_json_required: true");
    let play = Play::one(&strict).gives("a", "no such thing").play();
    assert!(
        play.outcome().starts_with("failed at a: its output contains no JSON"),
        "{}",
        play.outcome()
    );
    assert_eq!(play.value("b"), Value::Null, "the recipe stops there");
    let play = Play::one(&strict).gives("a", "[2]").play();
    assert_eq!((play.value("v"), play.outcome().as_str()), (json!([2]), "done"));
}

const ASK: &str =
    "name: r\nsteps:\n  - {id: a, prompt: go, model: m, parse_json: true, output: v}\n";

#[test]
fn an_agent_is_reminded_of_json_once_in_its_session() {
    let play = Play::one(ASK).gives("a", "hm").gives("a.1", "{\"ok\":1}").play();
    assert_eq!(play.started(), "a a.1");
    let JobWork::Agent(reminder) = &play.jobs[1].work else { panic!("an agent call") };
    assert_eq!(reminder.continues.as_ref(), Some(&play.jobs[0].key));
    assert_eq!((reminder.prompt.as_str(), reminder.model.as_deref()), (JSON_REMINDER, Some("m")));
    assert_eq!((play.value("v"), play.status("a").as_str()), (json!({"ok": 1}), "completed"));
    let play = Play::one(ASK).gives("a", "hm").gives("a.1", "still no").play();
    assert_eq!((play.started().as_str(), play.value("v")), ("a a.1", json!("hm")));
    assert_eq!(play.status("a"), "degraded: its output contains no JSON");
}

#[test]
fn a_reminder_that_is_interrupted_is_repeated_without_its_prompt() {
    let mut play = Play::one(ASK).gives("a", "hm").gives("a.1", "[1]");
    let first = play.start_all();
    play.finish(&first[0]);
    let reminder = play.start_all();
    assert_eq!(reminder[0].key.to_string(), "a#1.0.1:agent");
    play.fact(Fact::Resumed);
    let again = play.start_all();
    assert_eq!(again[0].key.to_string(), "a#1.1.1:agent");
    play.finish(&again[0]);
    assert_eq!((play.outcome().as_str(), play.value("v")), ("done", json!([1])));
}

#[test]
fn a_limit_during_a_reminder_keeps_the_answer() {
    let limit = JobStatus::Faulted(Fault { kind: FaultKind::Limit, until_ms: None });
    let mut play = Play::one(ASK).gives("a", "hm").ends("a.1", limit).play();
    assert_eq!(
        play.run.outcome(),
        Some(RunOutcome::Waiting { why: FaultKind::Limit, until_ms: None })
    );
    play.results.remove("a.1");
    play = play.gives("a.1", "7");
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!((play.started().as_str(), play.value("v")), ("a a.1 a.1", json!(7)));
}

/// With staging on, as it is unless a user asks otherwise.
fn staging(recipe: &str) -> Play {
    Play::with(&[("r", recipe)], |plan| plan.no_auto_stage = false)
}

#[test]
fn what_an_agent_changed_is_staged_before_the_hook_and_nothing_else() {
    let recipe = "name: r\nhooks: {post_step: 'echo hook'}\nsteps:\n  - {id: a, prompt: go}\n  - {id: b, prompt: go, auto_stage: false}\n  - {id: c, command: x}\n  - {id: d, prompt: go}\n";
    let play = staging(recipe)
        .gives("a:snapshot", " M mine.txt\n?? new.txt")
        .gives("a:stage", "theirs.txt")
        .gives("d:snapshot", " M mine.txt\nA  theirs.txt\nM  user.txt")
        .play();
    assert_eq!(
        play.started(),
        "a:snapshot a a:stage a:post_step b b:post_step c c:post_step d:snapshot d d:stage \
         d:post_step"
    );
    let git_add = |id: &str| {
        let key = format!("{id}#1.0.0:stage");
        let job = play.jobs.iter().find(|j| j.key.to_string() == key).expect("it was staged");
        let JobWork::Bash(filled) = &job.work else { panic!("git is a shell job") };
        filled.values.join("|")
    };
    assert_eq!(git_add("a"), "mine.txt\nnew.txt");
    assert_eq!(
        git_add("d"),
        "mine.txt\nuser.txt",
        "what we added to git ourselves is not the user's work"
    );
}

#[test]
fn a_group_is_staged_once_it_has_ended() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: go, parallel_group: g}\n  - {id: b, command: x, parallel_group: g}\n  - {id: c, command: x}\n";
    let play = staging(recipe).play();
    assert_eq!(play.started(), "a:snapshot b a a:stage c");
}

#[test]
fn a_step_that_is_declared_done_while_it_is_staged_is_staged_again() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: go}\n  - {id: b, command: x}\n";
    let mut play = staging(recipe);
    for _ in 0..2 {
        let jobs = play.start_all();
        play.finish(&jobs[0]);
    }
    play.start_all();
    play.fact(Fact::Resumed);
    let answer = Answer::Done { output: "mine".into(), outcome: None };
    play.fact(Fact::Answered { step: StepPath::new("a"), answer });
    play.proceed();
    assert_eq!(play.started(), "a:snapshot a a:stage a:stage b");
    assert_eq!(play.outcome(), "done");
}

#[test]
fn nothing_is_staged_without_git_or_after_a_failure() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: go}\n";
    let play = staging(recipe).ends("a:snapshot", JobStatus::Exited(3)).play();
    assert_eq!((play.started().as_str(), play.warnings.len()), ("a:snapshot a", 0));
    let crash = JobStatus::Faulted(Fault { kind: FaultKind::Crash, until_ms: None });
    assert_eq!(staging(recipe).ends("a", crash).play().started(), "a:snapshot a");
    let broken = staging(recipe).ends("a:snapshot", JobStatus::Exited(128)).play();
    assert_eq!(broken.warnings, ["what it changed is not staged in git: exit 128"]);
    assert_eq!(broken.outcome(), "done");
}

#[test]
fn the_first_look_at_git_counts_for_a_whole_visit() {
    let mut play =
        staging("name: r\nsteps:\n  - {id: a, prompt: go}\n").gives("a:snapshot", " M x");
    let look = play.start_all();
    play.finish(&look[0]);
    play.start_all();
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(play.started(), "a:snapshot a a a:stage", "its own half work is not the user's");
}

const CALLS: &str = "name: r\nsteps:\n  - {id: call, recipe: c, recovery_on_failure: true, output: o}\n  - {id: after, command: 'echo {{good}} {{o}}'}\n";
const FAILS: &str = "name: c\ndescription: build it\nsteps:\n  - {id: good, command: make}\n  - {id: bad, command: false}\n  - {id: last, command: publish}\n";

#[test]
fn an_agent_gets_one_attempt_to_finish_a_failed_recipe() {
    let texts = [("r", CALLS), ("c", FAILS)];
    let failing = || {
        let play = Play::new(&texts, json!({})).gives("call/good", "made");
        play.ends("call/bad", JobStatus::Exited(4))
    };
    let play = failing().gives("call", "fixed\n{\"outcome\":\"recovered\"}").play();
    assert_eq!(play.started(), "call/good call/bad call after");
    assert_eq!(play.status("call"), "recovered: step call/bad: exit 4");
    assert_eq!(play.script("after"), "made|fixed\n{\"outcome\":\"recovered\"}");
    let prompt = play.script("call");
    for part in
        ["build it", "- good [completed]", "- bad [failed]", "- last [not reached]", "exit 4"]
    {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
    let play = failing().gives("call", "I have NOT recovered anything").play();
    assert_eq!(play.outcome(), "failed at call/bad: exit 4");
    let auth = JobStatus::Faulted(Fault { kind: FaultKind::Auth, until_ms: None });
    assert_eq!(
        failing().ends("call", auth).play().outcome(),
        "failed at call: recovery: agent: auth"
    );
}

#[test]
fn a_limit_or_a_stop_is_not_recovered_from() {
    let strict = format!("{FAILS}recursion: {{max_total_steps: 1}}\n");
    let play = Play::new(&[("r", CALLS), ("c", &strict)], json!({})).play();
    assert_eq!(play.started(), "call/good");
}

#[test]
fn a_called_recipe_reports_which_values_it_needs() {
    let root = "name: r\ncontext: {a: ''}\nsteps:\n  - {id: call, recipe: c}\n";
    let child =
        "name: c\nrequired_context: [a, b, d]\ncontext: {d: 1}\nsteps:\n  - {id: x, command: x}\n";
    let play = Play::new(&[("r", root), ("c", child)], json!({})).play();
    assert_eq!(play.outcome(), "failed at call: the recipe `c` needs a value for `a`, `b`");
    let play = Play::new(&[("r", root), ("c", child)], json!({"a": 1, "b": false})).play();
    assert_eq!(play.outcome(), "done");
}

#[test]
fn a_plan_joins_what_a_recipe_extends() {
    let base = "name: base\ncontext: {a: 1, b: 1}\nhooks: {pre_step: echo, on_error: base}\nsteps:\n  - {id: one, command: 'echo {{a}}'}\n  - {id: two, command: 'echo {{b}}'}\n";
    let middle =
        "name: middle\nextends: base\ncontext: {b: 2}\nsteps:\n  - {id: three, command: x}\n";
    let child = "name: child\nextends: middle\nhooks: {pre_step: 'echo child'}\nsteps:\n  - {id: one, command: 'echo new'}\n";
    let play = Play::with(&[("child", child), ("middle", middle), ("base", base)], |plan| {
        plan.recipes[0].extends = Some(1);
        plan.recipes[1].extends = Some(2);
    })
    .play();
    assert_eq!(play.started(), "one:pre_step one two:pre_step two three:pre_step three");
    assert_eq!((play.script("one").as_str(), play.script("two").as_str()), ("", "2"));
}
