//! Journals of older releases: a run that their owner left is resumed to its end by today's program.
//!
//! The stored samples have no run with a plan that can be run. Each gets one here, in its own tables, as
//! the release of that schema recorded it: the same facts, with the fields that they had then. Agent steps
//! are without staging, because the first release recorded no jobs of git.

use crate::support::User;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::fs;
use towpath_store::SCHEMA_VERSION;

const RECIPE: &str = "name: old
steps:
  - {id: build, command: echo built | tee -a effects}
  - {id: ask, prompt: 'Look at {{build}}.', auto_stage: false}
  - {id: check, command: 'echo checked {{ask}} >> effects'}
  - {id: last, prompt: 'And now?', auto_stage: false}
";

const ANSWERS: &str = "{\"text\": \"fine\", \"cost_usd\": 0.5}\n\"done\"\n";

/// The facts of a run whose owner died in the third step.
fn facts(version: i64) -> Vec<(&'static str, Option<&'static str>, Value)> {
    let started = |key: &str| json!({ "JobStarted": { "key": key } });
    let mut asked = json!({ "key": "ask#1.0.0:agent", "line": 1, "session": "3bfbed7f-f2b8-490d-9e15-1d75e3319a3b" });
    if version >= 3 {
        asked["backend"] = json!("scripted");
    }
    let [build, ask, check] = ["build#1.0.0:bash", "ask#1.0.0:agent", "check#1.0.0:bash"];
    let built = json!({ "status": { "Exited": 0 }, "output": { "OnDisk": { "len": 6 } } });
    let answered = json!({ "status": { "Exited": 0 }, "output": { "Text": "fine" }, "usage": { "cost_usd": 0.5 } });
    vec![
        ("started", None, json!("Started")),
        ("job-started", Some(build), started(build)),
        ("job-finished", Some(build), json!({ "JobFinished": { "key": build, "end": built } })),
        ("job-started", Some(ask), json!({ "JobStarted": asked })),
        ("job-finished", Some(ask), json!({ "JobFinished": { "key": ask, "end": answered } })),
        ("job-started", Some(check), started(check)),
    ]
}

/// Adds the run `8m2q` to a journal of this version.
fn add_run(user: &User, journal: &Connection, version: i64) {
    let work = user.path("work").display().to_string();
    let path = format!("{work}/old.yaml");
    let recipes = json!([{ "source": "old.yaml", "path": path, "text": RECIPE, "calls": {} }]);
    let mut options = json!({ "backend": "scripted", "script": format!("{work}/answers.jsonl") });
    if version >= 2 {
        options["found"] = json!(false);
    }
    let plan = json!({ "plan": { "recipes": recipes, "inputs": {} }, "options": options });
    // The row of the sample's own run has the columns of its release.
    journal.execute_batch("CREATE TEMP TABLE row AS SELECT * FROM runs").expect("the sample's run");
    let update = "UPDATE row SET n = 2, id = '8m2q', recipe = 'old', source = 'old.yaml', \
                  directory = ?1, status = 'running', cost_microusd = NULL, ended_ms = NULL";
    journal.execute(update, [work.as_bytes()]).expect("a run");
    journal.execute_batch("INSERT INTO runs SELECT * FROM row").expect("a run");
    journal
        .execute("INSERT INTO plans (run, version, plan) VALUES (2, 1, ?1)", [plan.to_string()])
        .expect("a plan");
    for (seq, (kind, key, body)) in (1_i64..).zip(facts(version)) {
        let stdout = match (kind, key) {
            ("job-finished", Some("build#1.0.0:bash")) => Some("built\n"),
            ("job-finished", _) => Some("fine"),
            _ => None,
        };
        let insert = "INSERT INTO facts (id, run, seq, at_ms, kind, key, body, stdout_len, stdout) \
                      VALUES (?1, 2, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let (id, at, length) = ((2 << 32) + seq, 1000 + seq, stdout.map(|text| text.len() as i64));
        let bytes = stdout.map(str::as_bytes);
        let values = params![id, seq, at, kind, key, body.to_string(), length, bytes];
        journal.execute(insert, values).expect("a fact");
    }
}

#[test]
fn an_interrupted_run_of_every_older_schema_is_resumed_to_its_end() {
    for version in 1..SCHEMA_VERSION {
        let user = User::new().file("answers.jsonl", ANSWERS).file("effects", "built\n");
        let state = user.path("home/state");
        fs::create_dir_all(&state).expect("a directory");
        let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../towpath-store/tests/fixtures");
        let sample = format!("{samples}/schema-{version}.db");
        fs::copy(sample, state.join("journal.db")).expect("a copy");
        let journal = Connection::open(state.join("journal.db")).expect("a database");
        add_run(&user, &journal, version);
        drop(journal);
        let before = user.towpath(&["show", "8m2q", "--json"]).exits(0).json();
        assert_eq!(before["status"], "interrupted", "schema {version}");
        user.towpath(&["resume", "8m2q"]).exits(0);
        let shown = user.towpath(&["show", "8m2q", "--json"]).exits(0).json();
        assert_eq!(shown["status"], "done", "schema {version}");
        let outputs = shown["steps"].as_array().expect("steps").iter();
        let outputs: Vec<&str> = outputs.filter_map(|step| step["output"].as_str()).collect();
        assert_eq!(outputs, ["built", "fine", "", "done"], "schema {version}");
        // What was done is not done again, and the script continues after its first line.
        assert_eq!(user.read("effects"), "built\nchecked fine\n", "schema {version}");
        assert_eq!(shown["cost_usd"], 0.5, "schema {version}");
    }
}
