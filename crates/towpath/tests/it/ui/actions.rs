//! What the page can do: the program's own commands, as processes that outlive the server, with their
//! own refusals.

use super::openapi_schema::check;
use super::page_client::Page;
use crate::read_only_commands::{WAITING, project};
use crate::support::{User, kill_hard, lives, until};
use serde_json::{Value, json};

const SLOW: &str = "
name: slow
context: { word: none }
steps:
  - id: wait
    command: echo $$ > pid; until [ -e go ]; do sleep 0.02; done; echo {{word}} > done
";

#[track_caller]
fn acted(page: &Page, path: &str, described: &str, body: &Value) -> Value {
    let answer = page.post(path, body);
    check("post", described, answer.status, &answer.json());
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

fn status(page: &Page, run: &str) -> String {
    page.get(&format!("runs/{run}"))["status"].as_str().expect("a status").to_owned()
}

#[test]
fn a_run_that_the_page_started_outlives_the_server() {
    let user = User::new().file("slow.yaml", SLOW);
    let mut page = Page::start(&user, &[]);
    let body = json!({ "recipe": "slow.yaml", "inputs": { "word": "it's \"done\"" } });
    let started = acted(&page, "runs", "/api/v1/runs", &body);
    assert_eq!(started["exit_code"], Value::Null);
    let command = r#"towpath run '--set=word=it'\''s "done"' slow.yaml"#;
    assert_eq!(started["command"], command);
    let run = started["run_id"].as_str().expect("a run").to_owned();
    assert_eq!(run, user.run().as_str());
    until("the step runs", || !user.read("pid").is_empty());
    page.kill();
    assert!(lives(&user.read("pid")), "the step lives on");
    user.write("go", "");
    until("the run is done", || user.towpath(&["show", &run, "--json"]).json()["status"] == "done");
    assert_eq!(user.read("done"), "it's \"done\"\n");
    let page = Page::start(&user, &[]);
    assert_eq!(status(&page, &run), "done");
}

#[test]
fn a_run_that_ends_at_once_is_named_in_the_answer() {
    let user = User::new().file("quick.yaml", "name: quick\nsteps: [{id: a, command: 'true'}]\n");
    let page = Page::start(&user, &[]);
    for _ in 0..5 {
        let started = acted(&page, "runs", "/api/v1/runs", &json!({ "recipe": "quick.yaml" }));
        assert_eq!(started["run_id"], user.run().as_str());
    }
}

#[test]
fn refusals_are_those_of_the_command() {
    let user = project();
    let page = Page::start(&user, &[]);
    let body = json!({ "recipe": "ci" });
    let refused = page.post("runs", &body);
    let printed = user.towpath(&["run", "--quiet", "ci"]).exits(5);
    assert_eq!(refused.status, 409);
    check("post", "/api/v1/runs", 409, &refused.json());
    assert_eq!(refused.json()["exit_code"], 5);
    assert_eq!(refused.json()["message"].as_str(), Some(printed.stderr.trim_end()));
    let missing = page.post("runs", &json!({ "recipe": "--help" })).json();
    assert_eq!((&missing["exit_code"], &missing["run_id"]), (&json!(2), &Value::Null));
    page.post("runs", &json!({ "recipe": "ci", "directory": "work" })).refused(
        400,
        "bad-input",
        "must be the absolute path of a directory",
    );
    page.post("runs/7f3k/resume", &json!({})).refused(404, "not-found", "there is no run 7f3k");
    page.post("runs", &json!({ "recipe": "ci", "sudo": true })).refused(400, "bad-input", "sudo");
}

#[test]
fn what_was_shown_is_trusted_and_nothing_else() {
    let user = project();
    let page = Page::start(&user, &[]);
    let thing = page.get("recipes/ci")["trust"]["things"][0].clone();
    assert_eq!(thing["trusted"], false);
    assert!(thing["contents"].as_str().expect("contents").contains("echo publish"), "{thing}");
    let body = json!({ "path": thing["path"], "hash": thing["hash"] });
    let file = ".towpath/recipes/ci.yaml";
    let text = user.read(file);
    user.write(file, &text.replace("echo publish", "rm -r /"));
    page.post("trust", &body).refused(400, "bad-input", "changed since it was shown");
    user.write(file, &text);
    let trusted = acted(&page, "trust", "/api/v1/trust", &body);
    assert_eq!(trusted["exit_code"], 0);
    assert_eq!(page.get("recipes/ci")["recipe"]["trusted"], true);
}

#[test]
fn a_killed_run_is_resumed_and_a_running_one_is_cancelled() {
    let user = User::new().file("slow.yaml", SLOW);
    let page = Page::start(&user, &[]);
    let mut runner = user.start(&["run", "slow.yaml"]);
    until("the step runs", || !user.read("pid").is_empty());
    let run = user.run().to_string();
    kill_hard(&mut runner);
    until("the page shows it", || status(&page, &run) == "interrupted");
    let path = format!("runs/{run}/resume");
    // The warden of the killed process may still be ending what it left.
    until("it is resumed", || page.post(&path, &json!({})).status == 200);
    let refused = page.post(&path, &json!({}));
    let printed = user.towpath(&["resume", "--quiet", &run]).exits(5);
    assert_eq!((refused.status, refused.json()["exit_code"].as_i64()), (409, Some(5)));
    assert_eq!(refused.json()["message"].as_str(), Some(printed.stderr.trim_end()));
    let cancelled =
        acted(&page, &format!("runs/{run}/cancel"), "/api/v1/runs/{run}/cancel", &json!({}));
    assert_eq!(cancelled["message"], format!("run {run} is cancelled"));
    assert_eq!(status(&page, &run), "cancelled");
}

#[test]
fn the_page_is_sent_what_a_run_does_and_that_its_process_was_killed() {
    let user = User::new().file("slow.yaml", SLOW);
    let page = Page::start(&user, &[]);
    let (mut messages, hello) = page.messages(None);
    let mut runner = user.start(&["run", "slow.yaml"]);
    let mut latest = hello["seq"].as_u64().expect("a number");
    let mut next = |messages: &mut super::page_client::Messages| {
        let message = messages.next();
        assert_eq!(message["seq"], latest + 1, "no number is missing");
        latest += 1;
        message
    };
    // The page asks when it is sent something, and only then.
    let mut until_status = |wanted: &str| loop {
        let run = next(&mut messages)["run"].as_str().expect("a run").to_owned();
        let view = page.get(&format!("runs/{run}"));
        let begun = view["jobs"].as_array().is_some_and(|jobs| !jobs.is_empty());
        if view["status"] == wanted && begun {
            return run;
        }
    };
    let run = until_status("running");
    until("the step runs", || !user.read("pid").is_empty());
    kill_hard(&mut runner);
    assert_eq!(until_status("interrupted"), run);
    let (mut again, _) = page.messages(hello["seq"].as_u64());
    assert_eq!(again.next()["seq"], hello["seq"].as_u64().expect("a number") + 1);
}

#[test]
fn a_step_that_may_run_once_is_asked_about_and_answered() {
    let user = User::new().file("waiting.yaml", WAITING).file("go", "");
    let page = Page::start(&user, &[]);
    let mut runner = user.start(&["run", "waiting.yaml"]);
    until("the payment", || !user.read("paid").is_empty());
    let run = user.run().to_string();
    kill_hard(&mut runner);
    until("it asks", || page.get("questions")["questions"][0]["step"] == "pay");
    let questions = page.get("questions");
    check("get", "/api/v1/questions", 200, &questions);
    let question = &questions["questions"][0];
    assert_eq!((&question["kind"], &question["once"]), (&json!("asking"), &json!(true)));
    assert_eq!(question["next"][0]["command"], format!("towpath resume {run} --done pay"));
    let asking = page.get("runs?status=asking");
    assert_eq!((&asking["runs"][0]["run_id"], &asking["found"]), (&json!(run), &json!(1)));
    assert_eq!(asking["runs"][0]["group"], "asking");
    let bypass = page.post(&format!("runs/{run}/resume"), &json!({ "again": ["pay"] }));
    bypass.refused(400, "bad-input", "pay may run only once");
    let unanswered = page.post(&format!("runs/{run}/resume"), &json!({}));
    assert_eq!((unanswered.status, &unanswered.json()["success"]), (409, &json!(false)));
    let path = format!("runs/{run}/answer");
    let again = json!({ "step": "pay", "verdict": "again" });
    page.post(&path, &again).refused(400, "bad-input", "pay may run only once");
    let wrong = json!({ "step": "pay", "verdict": "again", "confirm": "yes" });
    page.post(&path, &wrong).refused(400, "bad-input", "pay may run only once");
    let done = json!({ "step": "pay", "verdict": "done", "output": "--paid" });
    until("it is answered", || page.post(&path, &done).status == 200);
    until("the run is done", || status(&page, &run) == "done");
    assert_eq!(user.count("paid", "paid"), 1);
    assert_eq!(page.get(&format!("runs/{run}"))["steps"][1]["output"], "--paid");
    assert_eq!(page.get("questions")["questions"], json!([]));
}

#[test]
fn a_short_name_of_a_step_that_may_run_once_confirms_nothing() {
    let outer = "name: outer\nsteps:\n  - {id: shop, recipe: ./waiting.yaml}\n";
    let user = User::new().file("waiting.yaml", WAITING).file("outer.yaml", outer).file("go", "");
    let page = Page::start(&user, &[]);
    let mut runner = user.start(&["run", "outer.yaml"]);
    until("the payment", || !user.read("paid").is_empty());
    let run = user.run().to_string();
    kill_hard(&mut runner);
    until("it asks", || page.get("questions")["questions"][0]["step"] == "shop/pay");
    for name in ["shop/pay", "pay"] {
        let bypass = page.post(&format!("runs/{run}/resume"), &json!({ "again": [name] }));
        bypass.refused(400, "bad-input", "shop/pay may run only once");
    }
    let short = json!({ "step": "pay", "verdict": "again", "confirm": "pay" });
    let answer = format!("runs/{run}/answer");
    page.post(&answer, &short).refused(400, "bad-input", "no question about pay is open");
    // A question that was answered elsewhere is not answered again.
    let done = json!({ "step": "shop/pay", "verdict": "done" });
    until("it is answered", || page.post(&answer, &done).status == 200);
    until("the run is done", || status(&page, &run) == "done");
    let again = json!({ "step": "shop/pay", "verdict": "again", "confirm": "shop/pay" });
    page.post(&answer, &again).refused(400, "bad-input", "no question about shop/pay is open");
    let bypass = page.post(&format!("runs/{run}/resume"), &json!({ "again": ["pay"] }));
    bypass.refused(400, "bad-input", "shop/pay may run only once");
    assert_eq!(user.count("paid", "paid"), 1);
}

#[test]
fn inputs_that_no_command_line_can_have_are_refused() {
    let user = User::new().file("slow.yaml", SLOW);
    let page = Page::start(&user, &[]);
    for (name, value) in
        [("word", "a\0b".to_owned()), ("word", "x".repeat(200_000)), ("a=b", "c".into())]
    {
        let body = json!({ "recipe": "slow.yaml", "inputs": { name: value } });
        page.post("runs", &body).refused(400, "bad-input", name);
    }
    let body = json!({ "recipe": "slow\0.yaml" });
    page.post("runs", &body).refused(400, "bad-input", "NUL");
    assert!(user.newest().is_none());
}

#[test]
fn an_attempt_whose_runner_was_killed_is_not_running_after_the_resume() {
    let user = User::new().file("slow.yaml", SLOW);
    let page = Page::start(&user, &[]);
    let mut runner = user.start(&["run", "slow.yaml"]);
    until("the step runs", || !user.read("pid").is_empty());
    let run = user.run().to_string();
    kill_hard(&mut runner);
    user.write("pid", "");
    until("it is resumed", || page.post(&format!("runs/{run}/resume"), &json!({})).status == 200);
    until("the step runs again", || !user.read("pid").is_empty());
    let statuses = || -> Vec<Value> {
        let view = page.get(&format!("runs/{run}"));
        let jobs = view["jobs"].as_array().expect("jobs").iter();
        jobs.map(|job| job["status"].clone()).collect()
    };
    assert_eq!(statuses(), ["interrupted", "running"]);
    user.write("go", "");
    until("the run is done", || status(&page, &run) == "done");
    assert_eq!(statuses(), ["interrupted", "succeeded"]);
}

#[test]
fn a_read_only_page_shows_and_does_nothing() {
    let user = User::new().file("slow.yaml", SLOW);
    let page = Page::start(&user, &["--read-only"]);
    let refused = page.post("runs", &json!({ "recipe": "slow.yaml" }));
    refused.refused(403, "read-only", "this server is read-only");
    assert_eq!(page.get("server")["read_only"], true);
    let quoted = page.ask("recipes/%2Fetc%2Fpasswd?directory=/");
    quoted.refused(404, "not-found", "there is no recipe /etc/passwd");
    let built_in = page.post("recipes/demo/dry-run", &json!({ "inputs": {} }));
    check("post", "/api/v1/recipes/{name}/dry-run", 200, &built_in.json());
    assert!(user.newest().is_none());
}
