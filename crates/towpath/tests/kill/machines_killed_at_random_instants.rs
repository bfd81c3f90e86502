//! A machine with restarts and reminders, of which the runner, its warden, both or the agent are
//! killed with `kill -9` at random instants. Its agents are slow, and work in sessions of their own.

use super::{Dice, nothing_lives};
use crate::support::{Printed, Signal, User, kill_hard, lives, signal_to, until};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};
use towpath_core::{JobKey, JobKind, RunId};
use towpath_engine::recorded;
use towpath_run::{Fact, Limits, RunOutcome};

/// Each look notes itself, and numbers the work that follows: that is how the script knows it.
const TOUR: &str = r#"
id: tour
label: Tour
description: Looks and works, and restarts
initialStep: look
guardrails: {maxStepVisits: 2}
steps:
  look:
    command: |
      echo "start $TOWPATH_JOB" >> ledger; sleep 0.03; echo "end $TOWPATH_JOB" >> ledger
      visit=${TOWPATH_JOB#*#}; echo "${visit%%.*}"
    output: number
    outcomes: [success, failure]
    onOutcome:
      success: {nextStep: work}
      failure: {action: exit, reason: look-failed}
  work:
    prompt: work {{number}}
    outcomes: [again, next, finished, other]
    onOutcome:
      again: {nextStep: look}
      next: {action: restart-new-session, recipeId: tour}
      finished: {action: exit, reason: all-done}
      other: {action: exit, reason: gave-up}
"#;

const QUICK: &str = "
id: quick
label: Quick
description: One call in a session that is there
initialStep: ask
guardrails: {}
steps:
  ask:
    prompt: still there?
    outcomes: [yes, other]
    onOutcome:
      yes: {action: exit, reason: free}
      other: {action: exit, reason: gave-up}
";

/// What the calls of the unbroken run are: three of the five visits need their reminder.
const CALLS: [&str; 8] =
    ["work 0", "work 1", "work#2 0", "work#2 1", "work#3 0", "work#4 0", "work#4 1", "work#5 0"];

/// The script. An answer belongs to what is asked, so that a call may be asked again.
fn script() -> String {
    let outcome = |name: &str| format!("{{\"outcome\": \"{name}\"}}");
    let answers = [
        ("work 1\n", "hm".to_owned()),
        ("work 2\n", outcome("on-with-it")),
        ("work 3\n", outcome("next")),
        ("work 4\n", "hm".to_owned()),
        ("work 5\n", outcome("finished")),
        ("No JSON block", outcome("again")),
        ("on-with-it", outcome("next")),
        ("still there?", outcome("yes")),
    ];
    let mut text = String::new();
    for (at, (asked, answer)) in answers.into_iter().enumerate() {
        // Every other agent waits by itself; the others have a child in a session of its own,
        // which notes a living twin, and one that they leave behind. A lock that is held has the
        // status 1; another one is that of a flock which was killed itself.
        let slow = "setsid sleep 300 & setsid -w bash -c 'echo $$ >> pids; exec 9>>twins; \
                    flock -n 9; [ $? != 1 ] || echo overlap >> ledger; sleep 0.09'; ";
        let (delay, slow) = if at % 2 == 0 { (0, slow) } else { (90, "") };
        let line = serde_json::json!({
            "match": asked,
            "text": answer,
            "repeat": true,
            "delay_ms": delay,
            "run": format!("{slow}echo \"end $TOWPATH_JOB\" >> ledger"),
        });
        let _ = writeln!(text, "{line}");
    }
    text
}

const FLAGS: [&str; 6] =
    ["--backend", "scripted", "--script", "answers.jsonl", "--calls", "calls.jsonl"];

fn user() -> User {
    User::new().file("tour.yaml", TOUR).file("quick.yaml", QUICK).file("answers.jsonl", &script())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Runner,
    Warden,
    Both,
    Agent,
}

const VICTIMS: [Victim; 4] = [Victim::Runner, Victim::Warden, Victim::Both, Victim::Agent];

/// The processes below one, nearest first.
fn below(pid: u32) -> Vec<u32> {
    let mut parents: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok) {
        let Ok(child) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        if let Some(parent) = parent.and_then(|parent| parent.parse().ok()) {
            parents.entry(parent).or_default().push(child);
        }
    }
    let mut found = vec![pid];
    let mut at = 0;
    while at < found.len() {
        found.extend(parents.get(&found[at]).into_iter().flatten());
        at += 1;
    }
    found.split_off(1)
}

fn is_agents(pid: u32) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|v| v.starts_with(b"TOWPATH_JOB=") && v.ends_with(b":agent"))
}

/// Kills whom it is to hit, or the runner where that one is not there; shows whom.
fn kill(victim: Victim, runner: &mut Child, dice: &mut Dice) -> Victim {
    let family = below(runner.id());
    let agents: Vec<u32> = family.iter().copied().filter(|pid| is_agents(*pid)).collect();
    let hit = match (victim, family.first()) {
        (Victim::Agent, _) if !agents.is_empty() => {
            signal_to(agents[dice.next() as usize % agents.len()], Signal::KILL);
            Victim::Agent
        }
        (Victim::Warden, Some(warden)) => {
            signal_to(*warden, Signal::KILL);
            Victim::Warden
        }
        (Victim::Both, Some(warden)) => {
            signal_to(*warden, Signal::KILL);
            runner.kill().ok();
            Victim::Both
        }
        _ => {
            runner.kill().ok();
            Victim::Runner
        }
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while runner.try_wait().expect("the runner can be waited for").is_none() {
        assert!(Instant::now() < deadline, "the runner lives on without its {victim:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    hit
}

fn call_of(key: &JobKey) -> String {
    format!("{} {}", key.step_path(), key.call)
}

/// Follows the record: what has answered is not asked again, unless its visit failed since.
/// Gives the jobs that are finished, and those in flight when the record ends.
fn followed(facts: &[Fact]) -> (BTreeSet<String>, Vec<JobKey>) {
    let mut finished: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<JobKey> = Vec::new();
    let mut keys = BTreeSet::new();
    for fact in facts {
        match fact {
            Fact::JobStarted { key, .. } => {
                assert!(keys.insert(key.to_string()), "{key} started twice");
                assert!(!finished.contains(&call_of(key)), "{key} started after its recorded end");
                open.push(key.clone());
            }
            Fact::JobFinished { key, end } => {
                open.retain(|started| started != key);
                if end.succeeded() {
                    finished.insert(call_of(key));
                }
            }
            Fact::Resumed => open.clear(),
            _ => {}
        }
    }
    (finished, open)
}

/// Another run wants the session of the last call that was made.
fn ask_in_its_session(user: &User) -> Option<Printed> {
    let calls = user.read("calls.jsonl");
    let last = calls.lines().last()?;
    let call: serde_json::Value = serde_json::from_str(last).expect("a call is JSON");
    let session = call["session"].as_str().expect("a call has its session");
    let asked = ["run", "quick.yaml", "--session", session, "--backend", "scripted"];
    Some(user.towpath(&[&asked[..], &["--script", "answers.jsonl"]].concat()))
}

/// One run, killed until it ends. Counts whom it hit, and in what.
struct Tour {
    user: User,
    run: Option<RunId>,
    /// Runner and warden are gone: nobody is there to end their children, until a user resumes.
    orphaned: bool,
    hits: BTreeMap<Victim, u64>,
    interrupted: BTreeMap<&'static str, u64>,
}

impl Tour {
    fn new(user: User, run: Option<RunId>) -> Tour {
        let (hits, interrupted) = (BTreeMap::new(), BTreeMap::new());
        Tour { user, run, orphaned: false, hits, interrupted }
    }

    /// Starts or resumes, waits, kills; whether the run has ended.
    fn round(&mut self, round: u64, dice: &mut Dice) -> bool {
        let before = self.run.as_ref().map(|run| self.user.facts(run)).unwrap_or_default();
        let done = followed(&before).0;
        let noted = self.user.read("ledger").lines().count();
        let orphans = self.user.read("pids");
        let mut runner = match &self.run {
            None => self.user.start(&[&["run", "tour.yaml"], &FLAGS[..]].concat()),
            Some(run) => self.user.start(&["resume", run.as_str()]),
        };
        std::thread::sleep(dice.micros(400_000));
        let victim = VICTIMS[round as usize % VICTIMS.len()];
        let by_itself = runner.try_wait().expect("the runner can be waited for").is_some();
        let hit = if by_itself { None } else { Some(kill(victim, &mut runner, dice)) };
        if self.run.is_none() {
            self.run = self.user.newest();
        }
        let Some(run) = self.run.clone() else { return false };
        let facts = self.user.facts(&run);
        let (_, open) = followed(&facts);
        if facts.len() > before.len() {
            self.orphaned = false;
            let left: Vec<&str> = orphans.lines().filter(|pid| lives(pid)).collect();
            assert!(left.is_empty(), "{left:?} of an earlier owner live on beside this one");
        }
        self.orphaned |= hit == Some(Victim::Both);
        if !self.orphaned {
            nothing_lives(&run);
        }
        let ledger = self.user.read("ledger");
        for line in ledger.lines().skip(noted) {
            assert!(line != "overlap", "two agents at once:\n{ledger}");
            let key = line.split(' ').nth(1).and_then(|job| job.parse::<JobKey>().ok());
            let key = key.expect("a line of the ledger names its job");
            assert!(!done.contains(&call_of(&key)), "{line}, which had ended before");
        }
        self.count(hit, &open, &facts[before.len()..]);
        let store = self.user.store();
        let recorded = recorded(&store, &run, Limits::default()).expect("the run can be replayed");
        recorded.run.outcome() == Some(RunOutcome::Done)
    }

    fn count(&mut self, hit: Option<Victim>, open: &[JobKey], new: &[Fact]) {
        let Some(hit) = hit else { return };
        *self.hits.entry(hit).or_default() += 1;
        let failed = new.iter().filter_map(|fact| match fact {
            Fact::JobFinished { key, end } if !end.succeeded() => Some(key),
            _ => None,
        });
        for key in open.iter().chain(failed) {
            let what = match (key.kind, key.call) {
                (JobKind::Agent, 0) => "prompt",
                (JobKind::Agent, _) => "reminder",
                _ => "command",
            };
            *self.interrupted.entry(what).or_default() += 1;
        }
    }

    /// The end is that of the unbroken run.
    fn check_end(&self) {
        let run = self.run.as_ref().expect("a run that ended is recorded");
        let store = self.user.store();
        let recorded = recorded(&store, run, Limits::default()).expect("the run can be replayed");
        assert_eq!(recorded.run.exit().expect("a machine's end").reason, "all-done");
        let view = recorded.run.machine_view().expect("a machine");
        assert_eq!((view.restarts, view.steps), (2, 4));
        let steps: Vec<String> = recorded.run.view().iter().map(|s| s.path.to_string()).collect();
        let path = (1..=5).flat_map(|visit| {
            let number = if visit == 1 { String::new() } else { format!("#{visit}") };
            [format!("look{number}"), format!("work{number}")]
        });
        assert_eq!(steps, path.collect::<Vec<_>>());
        let finished = followed(&self.user.facts(run)).0;
        let calls = finished.iter().filter(|call| call.starts_with("work")).map(String::as_str);
        assert_eq!(calls.collect::<Vec<_>>(), CALLS);
        nothing_lives(run);
        let left = self.user.read("pids");
        assert!(left.lines().all(|pid| !lives(pid)), "an agent's child lives on");
    }
}

#[test]
fn whichever_process_is_killed_a_machine_continues_and_pays_each_answer_once() {
    let kills = std::env::var("TOWPATH_KILLS").ok().and_then(|v| v.parse().ok()).unwrap_or(200) / 8;
    let seed = u64::from(std::process::id());
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ seed);
    println!("seed {seed}");
    let unbroken = user();
    unbroken.towpath(&[&["run", "tour.yaml"], &FLAGS[..]].concat()).exits(0);
    let run = Some(unbroken.run());
    Tour::new(unbroken, run).check_end();

    let (mut hits, mut interrupted) = (BTreeMap::new(), BTreeMap::new());
    let (mut killed, mut round) = (0, 0);
    let wanting = |hits: &BTreeMap<Victim, u64>, interrupted: &BTreeMap<&str, u64>| {
        VICTIMS.iter().any(|victim| hits.get(victim).is_none_or(|n| *n < 2))
            || ["prompt", "reminder"].iter().any(|what| !interrupted.contains_key(what))
    };
    while killed < kills || wanting(&hits, &interrupted) {
        assert!(killed < kills + 400, "something is never hit: {hits:?} {interrupted:?}");
        let mut tour = Tour { hits, interrupted, ..Tour::new(user(), None) };
        while !tour.round(round, &mut dice) {
            round += 1;
            if round % 4 == 0 && tour.run.is_some() {
                // No process has the session's lock any more.
                ask_in_its_session(&tour.user).map(|printed| printed.exits(0));
            }
        }
        tour.check_end();
        (hits, interrupted) = (tour.hits, tour.interrupted);
        killed = hits.values().sum();
    }
    println!("{killed} kills: {hits:?}, some of them interrupted: {interrupted:?}");
}

#[test]
fn a_session_that_a_restart_began_is_locked_from_its_first_call_until_its_owner_is_killed() {
    let slow = "{\"match\": \"work 3\\n\", \"text\": \"late\", \"delay_ms\": 60000}\n";
    let user = user();
    user.write("answers.jsonl", &format!("{slow}{}", script()));
    let mut runner = user.start(&[&["run", "tour.yaml"], &FLAGS[..]].concat());
    until("the restarted machine asks", || user.read("calls.jsonl").contains("work#3"));
    let run = user.run();
    let printed = ask_in_its_session(&user).expect("a call was made");
    printed.exits(5).reports("session locked");
    kill_hard(&mut runner);
    nothing_lives(&run);
    ask_in_its_session(&user).expect("a call was made").exits(0);
}
