//! A run that is followed from outside: the events are those of its owner, while it runs and after.

use crate::support::{Fake, Place};
use jiff::tz::TimeZone;
use std::time::{Duration, Instant};
use towpath_engine::{Event, EventKind, Reporter, RunFollower, Stream};
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

fn follower(place: &Place) -> (Store, RunFollower) {
    let store = Store::open_for_reading(&place.path("state")).expect("it opens").expect("a state");
    let row = store.latest(None).expect("it can be read").expect("a run");
    let follower = RunFollower::new(&store, row, TimeZone::UTC);
    (store, follower)
}

#[test]
fn an_ended_run_is_told_as_its_owner_told_it() {
    let place = Place::new(
        "name: told
steps:
  - {id: two-lines, command: \"printf 'one\\ntwo'\"}
  - {id: off, condition: '1 == 2', command: 'true'}
  - {id: ask, prompt: '{{nothing}}?'}
  - {id: sub, recipe: inner, continue_on_error: true}
",
    );
    place.write(
        "work/inner.yaml",
        "name: inner\nsteps:\n  - {id: fails, command: 'echo so >&2; exit 3'}\n",
    );
    let fake = Fake::agent(|_| Ok("an answer".into()));
    assert!(place.runner().adapter(fake).run("recipe.yaml").expect("a result").success);
    let (store, mut follower) = follower(&place);
    let mut seen = Lines::default();
    follower.poll(&store, &mut seen).expect("it can be followed");
    let expected = "\
run told resumed=false
start two-lines bash
stdout two-lines \"one\\ntwo\"
end two-lines completed tolerated=false
end off skipped tolerated=false
start ask agent
warning ask {{nothing}} has no value: it is empty
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
fn a_running_step_is_followed_as_it_prints() {
    let place = Place::new(
        "name: slow
steps:
  - {id: wait, command: 'echo begun; until [ -e go ]; do sleep 0.05; done; echo over'}
",
    );
    std::thread::scope(|scope| {
        let run = scope.spawn(|| place.runner().run("recipe.yaml").expect("a result").success);
        let until = Instant::now() + Duration::from_secs(30);
        let started = || Store::open_for_reading(&place.path("state")).ok().flatten();
        while started().is_none_or(|store| store.latest(None).ok().flatten().is_none()) {
            assert!(Instant::now() < until, "the run starts");
            std::thread::sleep(Duration::from_millis(10));
        }
        let (store, mut follower) = follower(&place);
        let mut seen = Lines::default();
        while seen.printed[0].is_empty() {
            assert!(Instant::now() < until, "{:?}", seen.lines);
            follower.poll(&store, &mut seen).expect("it can be followed");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(seen.printed[0], "begun\n");
        assert_eq!(seen.lines, ["run slow resumed=false", "start wait bash"]);
        place.write("work/go", "");
        assert!(run.join().expect("the run does not panic"));
        follower.poll(&store, &mut seen).expect("it can be followed");
        let rest =
            ["stdout wait \"begun\\nover\\n\"", "end wait completed tolerated=false", "ended done"];
        assert_eq!(seen.lines[2..], rest);
    });
}
