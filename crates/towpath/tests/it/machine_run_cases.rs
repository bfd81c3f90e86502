//! Every row of the machine runs, through `agent-recipes`: the same answers give the same path, the
//! same calls, the same end.

use crate::support::{Printed, User, until};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn rows() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/machine-runs.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = rows[0]["cases"].as_u64().unwrap() as usize;
    assert_eq!(rows.len() - 1, count, "the file has as many rows as its first line promises");
    rows.into_iter().skip(1).collect()
}

/// One answer in the words of the scripted agent.
fn line(answer: &Value) -> Value {
    let Some(fields) = answer.as_object() else { return json!({ "text": answer }) };
    let mut line = serde_json::Map::new();
    for (name, value) in fields {
        match name.as_str() {
            "session" => line.insert("session_id".into(), value.clone()),
            "cost" if value.is_null() => None,
            "cost" => line.insert("cost_usd".into(), value.clone()),
            "timeout" => line.insert("error".into(), json!("timeout")),
            _ => line.insert(name.clone(), value.clone()),
        };
    }
    Value::Object(line)
}

struct Ran {
    user: User,
    printed: Printed,
    calls: Vec<Value>,
}

fn write_recipe(user: &User, recipe: &Value) {
    let name = format!("recipes/{}.json", recipe["id"].as_str().unwrap());
    user.write(&name, &recipe.to_string());
}

fn run(row: &Value) -> Ran {
    let user = User::new();
    let also = row["also"].as_array().cloned().unwrap_or_default();
    for recipe in also.iter().chain(Some(&row["recipe"]).filter(|recipe| recipe.is_object())) {
        write_recipe(&user, recipe);
    }
    user.write("recipes/.keep", "");
    let answers = row["answers"].as_array().unwrap();
    let script: String = answers.iter().map(|answer| format!("{}\n", line(answer))).collect();
    user.write("answers.jsonl", &script);
    let id = row["builtin"].as_str().unwrap_or_else(|| row["recipe"]["id"].as_str().unwrap());
    let flags = row["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap());
    let mut arguments = vec!["as", "agent-recipes", id];
    arguments.extend(flags);
    if !arguments.contains(&"--backend") {
        arguments.extend(["--backend", "scripted"]);
    }
    arguments.extend(["--script", "answers.jsonl", "--calls", "calls.jsonl", "-R", "recipes"]);
    let mut other = row["setup"]["session_locked"].as_str().map(|session| occupy(&user, session));
    let printed = user.towpath(&arguments);
    if let Some(other) = &mut other {
        other.kill().unwrap();
        other.wait().unwrap();
    }
    let calls = user.read("calls.jsonl");
    let calls = calls.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Ran { user, printed, calls }
}

/// A run that is in the session while another one wants it.
fn occupy(user: &User, session: &str) -> std::process::Child {
    user.write("slow.jsonl", "{\"text\": \"late\", \"delay_ms\": 20000}\n");
    let arguments = ["as", "agent-recipes", "review-and-commit", "--session", session];
    let more = ["--script", "slow.jsonl", "--calls", "occupied.jsonl"];
    let child = user.start(&[arguments.as_slice(), &more].concat());
    until("the first run asks its agent", || !user.read("occupied.jsonl").is_empty());
    child
}

/// The sessions that the program generated, by the order of their first use.
fn sessions(calls: &[Value], expected: &[Value]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (call, expected) in calls.iter().zip(expected) {
        let (id, name) = (call["session"].as_str().unwrap(), expected["session"].as_str().unwrap());
        let generated = name.starts_with('S') && name[1..].parse::<u32>().is_ok();
        if generated && !names.contains_key(id) {
            names.insert(id.to_owned(), format!("S{}", names.len() + 1));
        }
    }
    names
}

fn compare_calls(ran: &Ran, expected: &[Value], wrong: &mut Vec<String>) {
    if ran.calls.len() != expected.len() {
        wrong.push(format!("{} calls, not {}", ran.calls.len(), expected.len()));
    }
    let names = sessions(&ran.calls, expected);
    for (at, (call, wanted)) in ran.calls.iter().zip(expected).enumerate() {
        let step = call["step"].as_str().unwrap().split('#').next().unwrap();
        let id = call["session"].as_str().unwrap();
        let reported = json!({
            "step": step,
            "kind": call["kind"],
            "session": names.get(id).map_or(id, String::as_str),
            "new": call["how"] == "new",
            "model": call["model"],
        });
        for (field, value) in wanted.as_object().unwrap() {
            let got = if field == "prompt" { &call["prompt"] } else { &reported[field] };
            if got != value {
                wrong.push(format!("call {at}: {field} is {got}, not {value}"));
            }
        }
    }
}

/// The steps entered, from the verbose lines or, without them, from the calls.
fn compare_steps(ran: &Ran, expected: &[Value], wrong: &mut Vec<String>) {
    let prompts = ran.calls.iter().filter(|call| call["kind"] == "prompt");
    let steps: Vec<Value> = prompts
        .map(|call| json!(call["step"].as_str().unwrap().split('#').next().unwrap()))
        .collect();
    if steps != expected {
        wrong.push(format!("steps {steps:?}, not {expected:?}"));
    }
}

fn compare_end(ran: &Ran, expect: &Value, wrong: &mut Vec<String>) {
    if ran.printed.code.map(i64::from) != expect["exit_code"].as_i64() {
        wrong.push(format!("exit {:?}, not {}", ran.printed.code, expect["exit_code"]));
    }
    let last = ran.printed.stdout.lines().last().unwrap_or_default();
    let reason = expect["reason"].as_str().map(|reason| {
        let more = expect["description"].as_str().map_or(String::new(), |d| format!(" — {d}"));
        format!("Exit: {reason}{more}")
    });
    match reason {
        Some(reason) if last != reason => wrong.push(format!("ends {last:?}, not {reason:?}")),
        None if last.starts_with("Exit:") => wrong.push(format!("ends {last:?}")),
        _ => {}
    }
    if let Some(stdout) = expect["stdout"].as_str().filter(|stdout| *stdout != ran.printed.stdout) {
        wrong.push(format!("stdout is {:?}, not {stdout:?}", ran.printed.stdout));
    }
    for part in expect["stderr_contains"].as_array().into_iter().flatten() {
        if !ran.printed.stderr.contains(part.as_str().unwrap()) {
            wrong.push(format!("stderr has no {part}: {}", ran.printed.stderr));
        }
    }
    if let Some(lines) = expect["stderr_lines"].as_array() {
        let reported: Vec<Value> = ran
            .printed
            .stderr
            .lines()
            .filter(|line| line.starts_with("[orchestration]"))
            .map(Value::from)
            .collect();
        if reported != *lines {
            wrong.push(format!("stderr lines {reported:?}, not {lines:?}"));
        }
    }
    compare_cost(ran, expect, wrong);
}

fn compare_cost(ran: &Ran, expect: &Value, wrong: &mut Vec<String>) {
    let Some(usd) = expect["cost_usd"].as_f64() else { return };
    let unknown = match expect["calls_without_cost"].as_u64() {
        Some(count) => format!(", {count} call unknown"),
        None => String::new(),
    };
    let line = format!("Cost: ${usd:.4}{unknown}\n");
    if !ran.printed.stderr.contains(&line) {
        wrong.push(format!("stderr has no {line:?}: {}", ran.printed.stderr));
    }
}

fn compare_lengths(ran: &Ran, expect: &Value, wrong: &mut Vec<String>) {
    for (call, length) in
        ran.calls.iter().zip(expect["prompt_chars"].as_array().into_iter().flatten())
    {
        let chars = call["prompt"].as_str().unwrap().chars().count() as u64;
        if Some(chars) != length.as_u64() {
            wrong.push(format!("a prompt of {chars} characters, not {length}"));
        }
    }
}

#[test]
fn every_recorded_machine_run_gives_the_same_path_calls_and_end() {
    let mut failed = Vec::new();
    for row in rows() {
        let ran = run(&row);
        let expect = &row["expect"];
        let mut wrong = Vec::new();
        compare_end(&ran, expect, &mut wrong);
        compare_calls(&ran, expect["calls"].as_array().unwrap(), &mut wrong);
        compare_steps(&ran, expect["steps"].as_array().unwrap(), &mut wrong);
        compare_lengths(&ran, expect, &mut wrong);
        if ran.printed.stderr.contains("were not used") {
            wrong.push("an answer was left over".to_owned());
        }
        if !wrong.is_empty() {
            let (id, why) = (&row["id"], &row["why"]);
            failed.push(format!("{id} {why}\n  {}\n{}", wrong.join("\n  "), ran.printed.stderr));
        }
        drop(ran.user);
    }
    assert!(failed.is_empty(), "{} rows:\n{}", failed.len(), failed.join("\n"));
}
