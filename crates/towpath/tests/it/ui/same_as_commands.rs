//! Every view is the same as what the command of that view prints, and as `openapi.json` describes it.

use super::openapi_schema::check;
use super::page_client::Page;
use crate::read_only_commands::{WAITING, project};
use crate::support::{User, kill_hard, until, with_script};
use serde_json::{Value, json};

/// Without what only the page has.
fn without(mut value: Value, keys: &[&str]) -> Value {
    let object = value.as_object_mut().expect("an object");
    for key in keys {
        assert!(object.remove(*key).is_some(), "{key} is missing in {object:?}");
    }
    value
}

const OF_RUN: [&str; 8] =
    ["input_texts", "why", "next", "resume_preview", "owner", "jobs", "questions", "facts"];

const ASK: &str = "
name: ask
steps:
  - id: plan
    prompt: Plan it in {{target}}
  - id: build
    command: echo built {{target}}; echo '<b>' >&2
context: { target: here }
";

/// A run that failed, one that is done and has asked an agent, and one that was killed.
fn user_with_runs() -> (User, [String; 3]) {
    let user = project().file("ask.yaml", ASK).file("waiting.yaml", WAITING);
    user.write("answers.jsonl", "{\"text\": \"A plan.\", \"cost_usd\": 0.25}\n");
    user.towpath(&["run", "./.towpath/recipes/ci.yaml"]).exits(1);
    let failed = user.run().to_string();
    user.towpath(&with_script(&["run", "ask.yaml"])).exits(0);
    let done = user.run().to_string();
    let mut runner = user.start(&["run", "waiting.yaml"]);
    until("it prints", || {
        let run = user.run().to_string();
        run != done && user.towpath(&["logs", &run]).stdout == "before\n"
    });
    let interrupted = user.run().to_string();
    kill_hard(&mut runner);
    until("its warden is gone", || {
        let shown = user.towpath(&["show", &interrupted, "--json"]).json();
        shown["status"] == "interrupted"
    });
    (user, [failed, done, interrupted])
}

#[test]
fn views_are_the_same_as_what_the_commands_print() {
    let (user, runs) = user_with_runs();
    let page = Page::start(&user, &[]);
    let listed = page.get("runs");
    check("get", "/api/v1/runs", 200, &listed);
    let printed = user.towpath(&["runs", "--all", "--json"]).exits(0).json();
    let printed = printed["runs"].as_array().expect("runs");
    let rows = listed["runs"].as_array().expect("runs");
    assert_eq!((rows.len(), printed.len()), (3, 3));
    for row in rows {
        let own = printed.iter().find(|other| other["run_id"] == row["run_id"]);
        assert_eq!(Some(&without(row.clone(), &["group", "owner", "running_steps"])), own);
    }
    for run in &runs {
        let view = page.get(&format!("runs/{run}"));
        check("get", "/api/v1/runs/{run}", 200, &view);
        let printed = user.towpath(&["show", run, "--json"]).exits(0).json();
        assert_eq!(without(view, &OF_RUN), printed, "{run}");
    }
    let recipes = page.get("recipes");
    check("get", "/api/v1/recipes", 200, &recipes);
    let printed = user.towpath(&["list", "--json"]).exits(0).json();
    assert_eq!(without(recipes, &["directory"]), printed);
    let recipe = page.get("recipes/ask.yaml?set=target%3Dthere");
    check("get", "/api/v1/recipes/{name}", 200, &recipe);
    let printed = user.towpath(&["explain", "ask.yaml", "--json"]).exits(0).json();
    assert_eq!(recipe["recipe"], printed);
    let printed = user.towpath(&["explain", "ask.yaml", "--format", "svg"]).exits(0).stdout;
    assert_eq!(recipe["chart"].as_str(), Some(printed.as_str()));
    let dry = ["run", "ask.yaml", "--dry-run", "--json", "--set", "target=there"];
    assert_eq!(recipe["dry_run"], user.towpath(&dry).exits(0).json());
    assert_eq!(recipe["past"]["done"], 1);
    assert_eq!(recipe["past"]["median_cost_usd"], 0.25);
    let doctor = page.get("doctor");
    check("get", "/api/v1/doctor", 200, &doctor);
    let printed = user.towpath(&["doctor", "--json"]).json();
    assert_eq!(
        doctor["findings"].as_array().map(Vec::len),
        printed["findings"].as_array().map(Vec::len)
    );
    check("get", "/api/v1/server", 200, &page.get("server"));
}

#[test]
fn what_a_run_that_is_not_over_has_cost_is_in_the_totals() {
    let text = "name: ask\nsteps:\n  - {id: a, prompt: hi}\n  \
                - {id: b, command: 'echo $$ > pid; sleep 60'}\n";
    let answers = "{\"text\": \"hello\", \"cost_usd\": 5.25}\n";
    let user = User::new().file("ask.yaml", text).file("answers.jsonl", answers);
    let page = Page::start(&user, &[]);
    let mut runner = user.start(&["run", "ask.yaml", "--script", "answers.jsonl"]);
    until("the second step runs", || !user.read("pid").is_empty());
    let known = |page: &Page| page.get("runs")["totals"]["today"].clone();
    let expected = json!({ "runs": 1, "known_usd": 5.25, "incomplete_runs": 0 });
    assert_eq!(known(&page), expected, "while it runs");
    kill_hard(&mut runner);
    until("it is interrupted", || page.get("runs")["runs"][0]["status"] == "interrupted");
    assert_eq!(known(&page), expected, "when its process is gone");
}

#[test]
fn what_needs_the_user_comes_first() {
    let (user, [failed, done, interrupted]) = user_with_runs();
    let page = Page::start(&user, &[]);
    let order = |query: &str| -> Vec<(String, String)> {
        let listed = page.get(&format!("runs{query}"));
        let rows = listed["runs"].as_array().expect("runs").clone();
        let text = |row: &Value, key: &str| row[key].as_str().expect(key).to_owned();
        rows.iter().map(|row| (text(row, "run_id"), text(row, "group"))).collect()
    };
    let row = |run: &str, group: &str| (run.to_owned(), group.to_owned());
    let all = [row(&interrupted, "interrupted"), row(&failed, "failed"), row(&done, "rest")];
    assert_eq!(order(""), all);
    assert_eq!(order("?limit=1"), all[..1]);
    assert_eq!(order(&format!("?before={interrupted}&limit=1")), all[1..2]);
    assert_eq!(order("?status=done"), all[2..]);
    assert_eq!(order("?text=WAITING"), all[..1]);
    assert_eq!(order(&format!("?project={}", user.path("work").display())), all);
    assert_eq!(order("?project=/nowhere"), []);
    page.ask("runs?status=odd").refused(400, "bad-input", "`odd` is not the status of a run");
    let totals = &page.get("runs")["totals"];
    assert_eq!(totals["today"], json!({ "runs": 3, "known_usd": 0.25, "incomplete_runs": 0 }));
    let history = page.get("runs?text=ask")["history"].clone();
    assert_eq!(history[0]["recipe_name"], "ask");
    assert_eq!(history[0]["runs"][0]["run_id"], done.as_str());
    // Started again in the same directory: the failure was seen.
    user.towpath(&["run", "./.towpath/recipes/ci.yaml"]).exits(1);
    let again = user.run().to_string();
    let groups = order("?text=ci.yaml");
    assert_eq!(groups, [row(&again, "failed"), row(&failed, "rest")]);
}

#[test]
fn a_run_has_why_it_stopped_what_to_do_and_what_a_resume_would_do() {
    let (user, [failed, done, interrupted]) = user_with_runs();
    let page = Page::start(&user, &[]);
    let view = page.get(&format!("runs/{failed}"));
    let why = view["why"].as_str().expect("a sentence");
    assert!(
        why.starts_with("tests/smoke failed: ") && why.ends_with("connection refused"),
        "{why}"
    );
    let next = json!({
        "when": "nothing is lost",
        "command": format!("towpath resume {failed}"),
        "action": "resume",
        "body": {},
    });
    assert_eq!(view["next"][0], next);
    assert_eq!(view["next"][1]["body"], json!({ "edited": true }));
    let preview = json!({
        "keeps": ["build", "lint", "tests/unit"],
        "again": ["tests/smoke"],
        "to_come": ["publish"],
        "asks": [],
    });
    assert_eq!(view["resume_preview"], preview);
    assert_eq!(view["jobs"][0]["path"], "build");
    let view = page.get(&format!("runs/{interrupted}"));
    assert_eq!(view["why"], "its process is gone; wait was interrupted");
    assert_eq!(view["next"][0]["command"], format!("towpath resume {interrupted}"));
    assert_eq!(view["resume_preview"]["again"], json!(["wait"]));
    let view = page.get(&format!("runs/{done}"));
    assert_eq!(
        (view["why"].as_str(), &view["resume_preview"]),
        (Some("done: 2 of 2 steps ran"), &Value::Null)
    );
    let graph = page.ask(&format!("runs/{failed}/graph.svg"));
    assert_eq!(graph.header("content-type"), Some("image/svg+xml"));
    let graph = graph.text();
    for part in ["data-part=\"0\"", "data-step=\"tests\" data-calls=\"1\"", "data-step=\"smoke\""] {
        assert!(graph.contains(part), "{part} in {graph}");
    }
    assert!(!graph.contains("<style"), "a page's style sheet is its own");
}

#[test]
fn a_step_has_its_prompt_its_answer_and_what_it_printed() {
    let (user, [failed, done, interrupted]) = user_with_runs();
    let page = Page::start(&user, &[]);
    let plan = page.get(&format!("runs/{done}/steps/plan"));
    check("get", "/api/v1/runs/{run}/steps/{step}", 200, &plan);
    assert_eq!(plan["text"], "Plan it in {{target}}");
    let job = &plan["jobs"][0];
    assert!(job["text"].as_str().expect("a prompt").starts_with("Plan it in here"), "{job}");
    assert_eq!((&job["answer"], &job["backend"]), (&json!("A plan."), &json!("scripted")));
    assert_eq!(job["usage"]["cost_usd"], 0.25);
    let build = page.get(&format!("runs/{done}/steps/build"));
    let text = build["jobs"][0]["text"].as_str().expect("a command");
    assert!(text.contains("='here'\n") && text.contains("echo built "), "{text}");
    let outputs = build["jobs"][0]["outputs"].as_array().expect("outputs").clone();
    assert_eq!((&outputs[0]["bytes"], &outputs[1]["stream"]), (&json!(11), &json!("stderr")));
    let read = |output: &Value| {
        let name = output["name"].as_str().expect("a name");
        page.ask(&format!("runs/{done}/logs/{name}")).text()
    };
    assert_eq!((read(&outputs[0]), read(&outputs[1])), ("built here\n".into(), "<b>\n".into()));
    let smoke = page.get(&format!("runs/{failed}/steps/tests/smoke"));
    assert_eq!(
        (&smoke["step"]["status"], &smoke["jobs"][0]["exit_code"]),
        (&json!("failed"), &json!(3))
    );
    assert_eq!(page.get(&format!("runs/{failed}/steps/smoke"))["step"]["path"], "tests/smoke");
    page.ask(&format!("runs/{failed}/steps/nope")).refused(404, "not-found", "no step `nope`");
    let cut = page.get(&format!("runs/{interrupted}/steps/wait"));
    assert_eq!(cut["jobs"][0]["status"], "interrupted");
    let name = cut["jobs"][0]["outputs"][0]["name"].as_str().expect("an output").to_owned();
    let log = page.ask(&format!("runs/{interrupted}/logs/{name}"));
    assert_eq!(log.text(), "before\n", "what a killed step printed is kept");
    let compared = page.get(&format!("runs/{failed}/compare/{done}"));
    check("get", "/api/v1/runs/{run}/compare/{other}", 200, &compared);
    assert_eq!(compared["same_recipe"], false);
    let same = page.get(&format!("runs/{failed}/compare/{failed}"));
    assert_eq!((&same["first_difference"], &same["same_recipe"]), (&Value::Null, &json!(true)));
}

#[test]
fn a_running_step_is_read_from_its_first_byte() {
    let user = User::new().file("waiting.yaml", &WAITING.replace("sleep 60", "echo done"));
    let mut runner = user.start(&["run", "waiting.yaml"]);
    until("it prints", || {
        user.newest().is_some_and(|run| user.towpath(&["logs", run.as_str()]).stdout == "before\n")
    });
    let run = user.run();
    let page = Page::start(&user, &[]);
    let view = page.get(&format!("runs/{run}"));
    check("get", "/api/v1/runs/{run}", 200, &view);
    assert_eq!((&view["status"], &view["why"]), (&json!("running"), &json!("wait is running")));
    assert_eq!(view["owner"]["pid"], runner.id());
    let listed = page.get("runs");
    check("get", "/api/v1/runs", 200, &listed);
    assert_eq!(listed["runs"][0]["running_steps"][0]["path"], "wait");
    let output = view["jobs"][0]["outputs"][0]["name"].as_str().expect("an output").to_owned();
    let log = page.ask(&format!("runs/{run}/logs/{output}"));
    assert_eq!((log.text().as_str(), log.header("towpath-live")), ("before\n", Some("true")));
    user.write("go", "");
    assert_eq!(runner.wait().expect("it ends").code(), Some(0));
    let log = page.ask(&format!("runs/{run}/logs/{output}?from=7"));
    assert_eq!((log.text().as_str(), log.header("towpath-live")), ("after\n", Some("false")));
}

#[test]
fn a_run_can_be_exported_as_one_file() {
    let (user, [failed, done, interrupted]) = user_with_runs();
    for (run, parts) in [
        (&failed, ["connection refused", "tests/smoke failed: ", "smoke"]),
        (&done, ["A plan.", "&lt;b&gt;", "$0.25"]),
        (&interrupted, ["before", "its process is gone", "wait"]),
    ] {
        let html = user.towpath(&["show", run, "--html"]).exits(0).stdout;
        assert!(html.starts_with("<!doctype html>") && html.contains("<svg "), "{html}");
        for part in parts {
            assert!(html.contains(part), "{part} in {html}");
        }
        for foreign in ["<script", "src=", "href=", "@import", "url("] {
            assert!(!html.contains(foreign), "{foreign} in {html}");
        }
    }
    user.towpath(&["show", &done, "--html", "--json"]).exits(2);
}

#[test]
fn the_action_after_a_guardrail_raises_it_as_the_command_does() {
    let text = "id: loop\nlabel: Loop\ndescription: Never ends\ninitialStep: a\n\
                guardrails: {maxStepVisits: 2}\nsteps:\n  a:\n    command: 'true'\n    \
                outcomes: [success, failure]\n    onOutcome: {success: {nextStep: a}, \
                failure: {action: exit, reason: broken}}\n";
    let user = User::new().file("loop.yaml", text);
    user.towpath(&["run", "loop.yaml"]).exits(3);
    let run = user.run().to_string();
    let page = Page::start(&user, &[]);
    let next = page.get(&format!("runs/{run}"))["next"][0].clone();
    assert_eq!(next["command"], format!("towpath resume {run} --max-visits 3"));
    assert_eq!((&next["action"], &next["body"]), (&json!("resume"), &json!({ "max_visits": 3 })));
}

#[test]
fn recipes_of_one_name_in_two_projects_have_two_histories() {
    let recipe = "name: build\nsteps:\n  - id: a\n    command: echo a\n";
    let user = User::new().file("p1/build.yaml", recipe).file("p2/build.yaml", recipe);
    for file in ["p1/build.yaml", "p2/build.yaml", "p2/build.yaml"] {
        user.towpath(&["run", file]).exits(0);
    }
    let page = Page::start(&user, &[]);
    let past = |file: &str| page.get(&format!("recipes/{file}"))["past"]["runs"].clone();
    assert_eq!((past("p1%2Fbuild.yaml"), past("p2%2Fbuild.yaml")), (json!(1), json!(2)));
    let history = page.get("runs")["history"].clone();
    let lengths = history.as_array().expect("recipes").iter();
    let lengths: Vec<_> = lengths.map(|one| one["runs"].as_array().map(Vec::len)).collect();
    assert_eq!(lengths, [Some(1), Some(2)]);
}

#[test]
fn each_group_of_runs_has_a_limit_of_its_own() {
    let (user, [failed, _, interrupted]) = user_with_runs();
    user.write("two.yaml", "name: two\nsteps:\n  - id: a\n    command: exit 3\n");
    user.towpath(&["run", "two.yaml"]).exits(1);
    let page = Page::start(&user, &[]);
    let listed = page.get("runs?each=1");
    check("get", "/api/v1/runs", 200, &listed);
    assert_eq!(listed["groups"], json!({ "interrupted": 1, "failed": 2, "rest": 1 }));
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(3));
    for run in [&failed, &interrupted] {
        let answer = page.post(&format!("runs/{run}/dismiss"), &json!({}));
        check("post", "/api/v1/runs/{run}/dismiss", answer.status, &answer.json());
    }
    assert_eq!(page.get("runs")["groups"], json!({ "failed": 1, "rest": 3 }));
    let diff = page.get(&format!("runs/{failed}/diff"));
    check("get", "/api/v1/runs/{run}/diff", 200, &diff);
    assert_eq!(diff["known"], false);
}
