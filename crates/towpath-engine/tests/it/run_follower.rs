//! A run that is followed from outside: the events are those of its owner, while it runs and after.

use crate::support::{Fake, Workspace};
use jiff::tz::TimeZone;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use towpath_engine::{Event, EventKind, Listener, Reporter, RunFollower, Stream};
use towpath_executor::{Backend, backend_row};
use towpath_store::Store;

/// Events as lines; output in a line of its own for each stream, up to the end of its step.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    printed: [String; 2],
}

impl Lines {
    fn flush(&mut self, step: &str) {
        for (name, text) in ["stdout", "stderr"].into_iter().zip(&mut self.printed) {
            if !text.is_empty() {
                self.lines.push(format!("{name} {step} {:?}", std::mem::take(text)));
            }
        }
    }
}

impl Reporter for Lines {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted { recipe, resumed, .. } => {
                self.lines.push(format!("run {recipe} resumed={resumed}"));
            }
            EventKind::StepStarted { step, kind } => {
                self.lines.push(format!("start {step} {}", kind.as_str()));
            }
            EventKind::Output { stream, bytes, .. } => {
                let text = &mut self.printed[usize::from(*stream == Stream::Stderr)];
                text.push_str(&String::from_utf8_lossy(bytes));
            }
            EventKind::StepEnded { step, result, tolerated, .. } => {
                self.flush(step.as_str());
                let word = result.status.as_str();
                self.lines.push(format!("end {step} {word} tolerated={tolerated}"));
            }
            EventKind::Warning { step, message } => {
                let step = step.as_ref().map_or("-", |step| step.as_str());
                self.lines.push(format!("warning {step} {message}"));
            }
            EventKind::RunEnded { outcome, .. } => {
                self.lines.push(format!("ended {}", outcome.as_str()));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn follower(workspace: &Workspace) -> (Store, RunFollower) {
    let store =
        Store::open_for_reading(&workspace.path("state")).expect("it opens").expect("a state");
    let row = store.latest(None).expect("it can be read").expect("a run");
    let follower = RunFollower::new(&store, row, TimeZone::UTC);
    (store, follower)
}

#[test]
fn an_ended_run_is_reported_as_its_owner_reported_it() {
    let workspace = Workspace::new(
        "name: reported
steps:
  - {id: two-lines, command: \"printf 'one\\ntwo'\"}
  - {id: off, condition: '1 == 2', command: 'true'}
  - {id: ask, prompt: '{{off}}?'}
  - {id: sub, recipe: inner, continue_on_error: true}
",
    );
    workspace.write(
        "work/inner.yaml",
        "name: inner\nsteps:\n  - {id: fails, command: 'echo so >&2; exit 3'}\n",
    );
    let fake = Fake::agent(|_| Ok("an answer".into()));
    assert!(workspace.runner().adapter(fake).run("recipe.yaml").expect("a result").success);
    let (store, mut follower) = follower(&workspace);
    let mut seen = Lines::default();
    follower.poll(&store, &mut seen).expect("it can be followed");
    let expected = "\
run reported resumed=false
start two-lines bash
stdout two-lines \"one\\ntwo\"
end two-lines completed tolerated=false
end off skipped tolerated=false
start ask agent
warning ask {{off}} has no value: it is empty
stdout ask \"an answer\\n\"
end ask completed tolerated=false
start sub recipe
start sub/fails bash
stderr sub/fails \"so\\n\"
end sub/fails failed tolerated=false
end sub failed tolerated=true
ended done";
    assert_eq!(seen.lines.join("\n"), expected);
    follower.poll(&store, &mut seen).expect("it can be followed");
    assert_eq!(seen.lines.join("\n"), expected, "nothing comes twice");
}

#[test]
fn a_run_is_followed_without_reading_what_its_jobs_print() {
    let workspace = Workspace::new(
        "name: large\nsteps:\n  - {id: print, command: 'head -c 100000 /dev/zero; echo so >&2'}\n",
    );
    assert!(workspace.runner().run("recipe.yaml").expect("a result").success);
    let (store, mut follower) = follower(&workspace);
    let directory = store.run_directory(&follower.row().id);
    let is_output = |path: &std::path::Path| path.extension().is_some_and(|end| end == "stdout");
    let files = std::fs::read_dir(&directory).expect("a directory").flatten();
    let file = files.map(|file| file.path()).find(|path| is_output(path)).expect("an output");
    std::fs::rename(&file, directory.join("elsewhere")).expect("it can be moved");
    let mut seen = Lines::default();
    follower.poll_without_output(&store, &mut seen).expect("no output is read");
    let expected = [
        "run large resumed=false",
        "start print bash",
        "end print completed tolerated=false",
        "ended done",
    ];
    assert_eq!(seen.lines, expected);
    std::fs::rename(directory.join("elsewhere"), &file).expect("it can be moved");
    follower.poll(&store, &mut seen).expect("it can be followed");
    assert_eq!(seen.lines, expected, "nothing comes twice");
    assert_eq!((seen.printed[0].len(), seen.printed[1].as_str()), (100_000, "so\n"));
}

#[test]
fn a_running_step_is_followed_as_it_prints() {
    let workspace = Workspace::new(
        "name: slow
steps:
  - {id: wait, command: 'echo begun; until [ -e go ]; do sleep 0.05; done; echo over'}
",
    );
    std::thread::scope(|scope| {
        let run = scope.spawn(|| workspace.runner().run("recipe.yaml").expect("a result").success);
        let until = Instant::now() + Duration::from_secs(30);
        let started = || Store::open_for_reading(&workspace.path("state")).ok().flatten();
        while started().is_none_or(|store| store.latest(None).ok().flatten().is_none()) {
            assert!(Instant::now() < until, "the run starts");
            std::thread::sleep(Duration::from_millis(10));
        }
        let (store, mut follower) = follower(&workspace);
        let mut seen = Lines::default();
        while seen.printed[0].is_empty() {
            assert!(Instant::now() < until, "{:?}", seen.lines);
            follower.poll(&store, &mut seen).expect("it can be followed");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(seen.printed[0], "begun\n");
        assert_eq!(seen.lines, ["run slow resumed=false", "start wait bash"]);
        workspace.write("work/go", "");
        assert!(run.join().expect("the run does not panic"));
        follower.poll(&store, &mut seen).expect("it can be followed");
        let rest =
            ["stdout wait \"begun\\nover\\n\"", "end wait completed tolerated=false", "ended done"];
        assert_eq!(seen.lines[2..], rest);
    });
}

/// Every event, as the owner or a follower reports it.
#[derive(Clone, Default)]
pub struct Recorded(Arc<Mutex<Vec<Event>>>);

impl Reporter for Recorded {
    fn event(&mut self, event: &Event) {
        self.0.lock().expect("events").push(event.clone());
    }
}

impl Listener for Recorded {
    fn on_event(&mut self, event: &Event) {
        self.event(event);
    }
}

impl Recorded {
    fn events(&self) -> Vec<Event> {
        self.0.lock().expect("events").clone()
    }

    /// The kinds, without what an owner and a follower may report differently:
    /// - numbers and times of the events, and of a call how long it took: the owner's clock has it;
    /// - how output is divided into pieces, and how often an agent was heard;
    /// - what is not in the record: a suspended terminal, processes that were ended.
    fn comparable(&self) -> Vec<EventKind> {
        let mut kinds: Vec<EventKind> = Vec::new();
        for event in self.events() {
            match (kinds.last_mut(), event.kind) {
                (
                    Some(EventKind::Output { job, stream, bytes, .. }),
                    EventKind::Output { job: next, stream: same, bytes: more, .. },
                ) if *job == next && *stream == same => bytes.extend(more),
                (_, EventKind::CallEnded(mut call)) => {
                    call.took_ms = 0;
                    kinds.push(EventKind::CallEnded(call));
                }
                (_, EventKind::Heard { .. } | EventKind::Ended { .. }) => {}
                (_, EventKind::Suspended | EventKind::Continued) => {}
                (_, kind) => kinds.push(kind),
            }
        }
        kinds
    }
}

/// A recipe with hooks, a failing step, an agent that uses a tool, and a state machine.
const EVERYTHING: &str = "name: everything
hooks: {pre_step: 'echo before', on_error: 'echo lost >&2'}
steps:
  - {id: print, command: 'echo one', output: words}
  - {id: off, condition: '1 == 2', command: 'true'}
  - {id: fails, command: 'echo so >&2; exit 3', continue_on_error: true}
  - {id: ask, prompt: 'Look at {{words}} and {{off}}.', model: big}
  - {id: sub, recipe: machine}
  - {id: wait, command: 'until [ -e go ]; do sleep 0.05; done; echo over'}
";
const MACHINE: &str = "id: machine
label: Machine
description: Works, then checks.
guardrails: {}
initialStep: work
steps:
  work:
    prompt: work
    outcomes: [ok, other]
    onOutcome: {ok: {nextStep: check}, other: {action: exit, reason: gave-up}}
  check:
    command: 'echo fine'
    outcomes: [success, failure]
    onOutcome: {success: {action: exit, reason: all-good}, failure: {action: exit, reason: bad}}
";

/// A program that prints what Cursor's once printed: it uses a tool, then answers.
fn agent(workspace: &Workspace) -> Arc<dyn Backend> {
    let recorded = include_str!("../../../towpath-agent/tests/recorded/cursor.jsonl");
    workspace.write("recorded.jsonl", recorded);
    let program = workspace.path("agent");
    let text = format!("#!/bin/bash\ncat '{}'\n", workspace.path("recorded.jsonl").display());
    workspace.write("agent", &text);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("a program");
    let make = backend_row("cursor").expect("it is known").make.expect("it is a program");
    make(program, TimeZone::UTC)
}

#[test]
fn a_follower_reports_what_the_owner_reports() {
    let workspace = Workspace::new(EVERYTHING);
    workspace.write("work/machine.yaml", MACHINE);
    let (owner, seen) = (Recorded::default(), Recorded::default());
    let until = Instant::now() + Duration::from_secs(60);
    let mut follower = None;
    std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let runner = workspace.runner().backend(agent(&workspace)).listener(owner.clone());
            runner.search([workspace.path("work")]).run("recipe.yaml").expect("a result").outcome
        });
        // Followed while it runs: until its last step has begun.
        let begun = |event: &Event| matches!(&event.kind, EventKind::StepStarted { step, .. } if step.as_str() == "wait");
        while !seen.events().iter().any(begun) {
            assert!(Instant::now() < until && !run.is_finished(), "{:?}", owner.events());
            if follower.is_none() {
                let store = Store::open_for_reading(&workspace.path("state")).ok().flatten();
                let row = store.as_ref().and_then(|store| store.latest(None).ok().flatten());
                follower = store.zip(row).map(|(store, row)| {
                    let follower = RunFollower::new(&store, row, TimeZone::UTC);
                    (store, follower)
                });
            }
            if let Some((store, follower)) = &mut follower {
                follower.poll(store, &mut seen.clone()).expect("it can be followed");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        workspace.write("work/go", "");
        run.join().expect("the run does not panic");
    });
    let (store, mut live) = follower.expect("it was followed");
    live.poll(&store, &mut seen.clone()).expect("it can be followed");
    let calls = |event: &Event| matches!(event.kind, EventKind::CallEnded(_));
    assert_eq!(owner.events().iter().filter(|event| calls(event)).count(), 2);
    let doing = |event: &Event| matches!(event.kind, EventKind::Doing { .. });
    assert!(owner.events().iter().any(doing), "the agent uses a tool");
    assert_same(&seen, &owner);
    // And from its beginning, when it has ended.
    let after = Recorded::default();
    let row = store.latest(None).expect("it can be read").expect("a run");
    let mut follower = RunFollower::new(&store, row, TimeZone::UTC);
    follower.poll(&store, &mut after.clone()).expect("it can be followed");
    assert_same(&after, &owner);
}

pub fn assert_same(followed: &Recorded, owner: &Recorded) {
    let (followed_kinds, expected) = (followed.comparable(), owner.comparable());
    for (at, (kind, expected)) in followed_kinds.iter().zip(&expected).enumerate() {
        assert_eq!(kind, expected, "event {at}");
    }
    assert_eq!(followed_kinds.len(), expected.len());
    for events in [followed.events(), owner.events()] {
        let numbers = events.iter().map(|event| event.seq);
        assert!(numbers.eq(1..=events.len() as u64), "the events are numbered from 1");
        assert!(events.iter().all(|event| event.at_ms > 0));
    }
}
