//! Forgetting runs: only what has ended, only what is old, and never what a user has.

use crate::support::{User, until};
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

fn user() -> User {
    User::new()
        .file("ok.yaml", RECIPES)
        .file("bad.yaml", "name: bad\nsteps:\n  - {id: a, command: exit 1}\n")
        .file("l.yaml", "name: l\nsteps:\n  - {id: a, prompt: x}\n")
        .file("s.jsonl", "{\"error\":\"limit\"}\n")
}

/// Runs a recipe; gives the run.
fn ran(user: &User, recipe: &str, code: i32) -> RunId {
    user.towpath(&["run", recipe, "-q", "--script", "s.jsonl"]).exits(code);
    user.run()
}

/// Makes a run end so many days ago, as far as its record reports.
fn aged(user: &User, run: &RunId, days: i64) {
    let mut store = Store::open(&user.path("home/state")).expect("the journal opens");
    let mut summary = store.run(run).expect("a row").expect("a run").summary;
    summary.ended_ms = summary.ended_ms.map(|_| now() - days * DAY);
    store.append(run, &[], Some(&summary)).expect("the row is written");
}

fn left(user: &User) -> Vec<String> {
    let rows = user.store().runs(&Default::default()).expect("the runs can be listed");
    rows.into_iter().map(|row| row.id.to_string()).collect()
}

#[test]
fn old_ended_runs_go_with_their_files_and_the_rest_stays() {
    let user = user();
    let old = ran(&user, "ok.yaml", 0);
    let failed = ran(&user, "bad.yaml", 1);
    let waiting = ran(&user, "l.yaml", 75);
    let young = ran(&user, "ok.yaml", 0);
    for run in [&old, &failed, &waiting] {
        aged(&user, run, 31);
    }
    aged(&user, &young, 29);
    let printed = user.towpath(&["runs", "prune", "--dry-run"]).exits(0);
    assert!(printed.stdout.contains("would delete 2 runs, "), "{}", printed.stdout);
    assert!(printed.stdout.contains(old.as_str()) && printed.stdout.contains(failed.as_str()));
    assert!(!printed.stdout.contains(young.as_str()), "{}", printed.stdout);
    assert_eq!(left(&user).len(), 4, "a dry run deletes nothing");

    let printed = user.towpath(&["runs", "prune"]).exits(0);
    assert!(printed.stdout.starts_with("deleted 2 runs, "), "{}", printed.stdout);
    assert_eq!(left(&user), [young.as_str(), waiting.as_str()]);
    let runs = user.path("home/state/runs");
    assert!(!runs.join(old.as_str()).exists() && runs.join(young.as_str()).exists());
    user.towpath(&["show", old.as_str()]).exits(2).reports("there is no run");
    user.towpath(&["runs", "prune"]).exits(0).prints("nothing to delete\n");
}

#[test]
fn the_newest_are_kept() {
    let user = user();
    let runs: Vec<RunId> = (0..4).map(|_| ran(&user, "ok.yaml", 0)).collect();
    // Counted by their end: the oldest was resumed last, as it were.
    for (run, days) in runs.iter().zip([1, 9, 8, 7]) {
        aged(&user, run, days);
    }
    let printed = user.towpath(&["runs", "prune", "--keep", "2", "--older-than", "8d", "--json"]);
    let reported = printed.exits(0).json();
    assert_eq!(reported["schema"], 1);
    let ids: Vec<&str> = reported["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|r| r["run_id"].as_str())
        .collect();
    assert_eq!(ids, [runs[2].as_str(), runs[1].as_str()]);
    assert!(reported["bytes"].as_u64() > Some(400_000), "{reported}");
    assert_eq!(left(&user), [runs[3].as_str(), runs[0].as_str()]);
    user.towpath(&["runs", "prune", "--keep", "1"]).exits(0);
    assert_eq!(left(&user), [runs[0].as_str()]);
}

#[test]
fn running_interrupted_and_kept_runs_stay() {
    let user = user()
        .file("slow.yaml", "name: slow\nsteps:\n  - {id: a, command: 'touch began; sleep 60'}\n");
    let ended = ran(&user, "ok.yaml", 0);
    let lock = towpath_engine::lock_run(&user.store(), &ended).expect("nobody has it");
    let mut runner = user.start(&["run", "slow.yaml"]);
    until("the step runs", || user.path("work/began").exists());
    let prune = ["runs", "prune", "--older-than", "0d"];
    user.towpath(&prune).exits(0).prints("nothing to delete\n");
    assert_eq!(user.runs(), 2);
    drop(lock);
    crate::support::kill_hard(&mut runner);
    let printed = user.towpath(&prune).exits(0).reports("1 run was interrupted and kept");
    assert!(printed.stdout.starts_with("deleted 1 run, "), "{}", printed.stdout);
    assert_eq!(user.runs(), 1);
    let interrupted = user.run();
    user.towpath(&["cancel", interrupted.as_str()]).exits(0);
    user.towpath(&prune).exits(0);
    assert_eq!(user.runs(), 0);
}

#[test]
fn an_empty_home_stays_empty_and_a_bad_age_is_reported() {
    let user = User::new();
    user.towpath(&["runs", "prune"]).exits(0).prints("nothing to delete\n");
    assert!(!user.path("home").exists());
    user.towpath(&["runs", "prune", "--older-than", "30"]).exits(2).reports("30d or 2w");
    user.towpath(&["runs", "--all", "prune"]).exits(2);
}
