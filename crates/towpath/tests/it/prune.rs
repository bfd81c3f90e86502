//! Forgetting runs: only what has ended, only what is old, and never what somebody has.

use crate::support::{Person, until};
use towpath_core::RunId;
use towpath_store::Store;

const DAY: i64 = 86_400_000;

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.expect("after 1970").as_millis() as i64
}

const RECIPES: &str = "
name: ok
steps:
  - {id: a, command: 'head -c 200000 /dev/zero | tr \"\\0\" x'}
";

fn person() -> Person {
    Person::new()
        .file("ok.yaml", RECIPES)
        .file("bad.yaml", "name: bad\nsteps:\n  - {id: a, command: exit 1}\n")
        .file("l.yaml", "name: l\nsteps:\n  - {id: a, prompt: x}\n")
        .file("s.jsonl", "{\"error\":\"limit\"}\n")
}

/// Runs a recipe; gives the run.
fn ran(person: &Person, recipe: &str, code: i32) -> RunId {
    person.towpath(&["run", recipe, "-q", "--script", "s.jsonl"]).exits(code);
    person.run()
}

/// Makes a run end so many days ago, as far as its record tells.
fn aged(person: &Person, run: &RunId, days: i64) {
    let mut store = Store::open(&person.path("home/state")).expect("the journal opens");
    let mut summary = store.run(run).expect("a row").expect("a run").summary;
    summary.ended_ms = summary.ended_ms.map(|_| now() - days * DAY);
    store.append(run, &[], Some(&summary)).expect("the row is written");
}

fn left(person: &Person) -> Vec<String> {
    let rows = person.store().runs(&Default::default()).expect("the runs can be listed");
    rows.into_iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn old_ended_runs_go_with_their_files_and_the_rest_stays() {
    let person = person();
    let old = ran(&person, "ok.yaml", 0);
    let failed = ran(&person, "bad.yaml", 1);
    let waiting = ran(&person, "l.yaml", 75);
    let young = ran(&person, "ok.yaml", 0);
    for run in [&old, &failed, &waiting] {
        aged(&person, run, 31);
    }
    aged(&person, &young, 29);
    let said = person.towpath(&["runs", "prune", "--dry-run"]).exits(0);
    assert!(said.stdout.contains("would delete 2 runs, "), "{}", said.stdout);
    assert!(said.stdout.contains(old.as_str()) && said.stdout.contains(failed.as_str()));
    assert!(!said.stdout.contains(young.as_str()), "{}", said.stdout);
    assert_eq!(left(&person).len(), 4, "a dry run deletes nothing");

    let said = person.towpath(&["runs", "prune"]).exits(0);
    assert!(said.stdout.starts_with("deleted 2 runs, "), "{}", said.stdout);
    assert_eq!(left(&person), [young.as_str(), waiting.as_str()]);
    let runs = person.path("home/state/runs");
    assert!(!runs.join(old.as_str()).exists() && runs.join(young.as_str()).exists());
    person.towpath(&["show", old.as_str()]).exits(2).says("there is no run");
    person.towpath(&["runs", "prune"]).exits(0).prints("nothing to delete\n");
}

#[test]
fn the_newest_are_kept() {
    let person = person();
    let runs: Vec<RunId> = (0..4).map(|_| ran(&person, "ok.yaml", 0)).collect();
    // Counted by their end: the oldest was resumed last, as it were.
    for (run, days) in runs.iter().zip([1, 9, 8, 7]) {
        aged(&person, run, days);
    }
    let said = person.towpath(&["runs", "prune", "--keep", "2", "--older-than", "8d", "--json"]);
    let told = said.exits(0).json();
    assert_eq!(told["schema"], 1);
    let ids: Vec<&str> = told["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|r| r["run_id"].as_str())
        .collect();
    assert_eq!(ids, [runs[2].as_str(), runs[1].as_str()]);
    assert!(told["bytes"].as_u64() > Some(400_000), "{told}");
    assert_eq!(left(&person), [runs[3].as_str(), runs[0].as_str()]);
    person.towpath(&["runs", "prune", "--keep", "1"]).exits(0);
    assert_eq!(left(&person), [runs[0].as_str()]);
}

#[test]
fn what_goes_on_was_cut_off_or_is_held_stays() {
    let person = person()
        .file("slow.yaml", "name: slow\nsteps:\n  - {id: a, command: 'touch began; sleep 60'}\n");
    let ended = ran(&person, "ok.yaml", 0);
    let lock = towpath_engine::hold(&person.store(), &ended).expect("nobody has it");
    let mut runner = person.start(&["run", "slow.yaml"]);
    until("the step runs", || person.path("work/began").exists());
    let prune = ["runs", "prune", "--older-than", "0d"];
    person.towpath(&prune).exits(0).prints("nothing to delete\n");
    assert_eq!(person.runs(), 2);
    drop(lock);
    crate::support::kill_hard(&mut runner);
    let said = person.towpath(&prune).exits(0).says("1 run was cut off and stays");
    assert!(said.stdout.starts_with("deleted 1 run, "), "{}", said.stdout);
    assert_eq!(person.runs(), 1);
    let interrupted = person.run();
    person.towpath(&["cancel", interrupted.as_str()]).exits(0);
    person.towpath(&prune).exits(0);
    assert_eq!(person.runs(), 0);
}

#[test]
fn nothing_is_made_to_be_pruned_and_a_bad_age_is_told() {
    let person = Person::new();
    person.towpath(&["runs", "prune"]).exits(0).prints("nothing to delete\n");
    assert!(!person.path("home").exists());
    person.towpath(&["runs", "prune", "--older-than", "30"]).exits(2).says("30d or 2w");
    person.towpath(&["runs", "--all", "prune"]).exits(2);
}
