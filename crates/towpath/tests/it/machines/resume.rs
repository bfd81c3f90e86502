//! How a machine's run continues: after an answer without an outcome, at a limit, with what a user
//! shows of a step.

use super::{calls, prompts, run, script, shown, user};
use crate::support::{Signal, User, kill_hard, signal, until};

fn resume(user: &User, arguments: &[&str]) -> crate::support::Printed {
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    user.towpath(&[&["resume", "--last"], arguments, &with].concat())
}

/// More answers: the lines that were used stay used.
fn more(user: &User, answers: &[&str]) {
    let used = user.read("answers.jsonl");
    script(user, answers);
    user.write("answers.jsonl", &(used + &user.read("answers.jsonl")));
}

#[test]
fn after_an_orchestration_error_the_visit_gets_a_new_prompt_and_a_new_reminder() {
    let user = user(&["broken", "Hm.", "Hm."]);
    run(&user, &["fix.yaml"]).exits(1);
    more(&user, &["Well.", "fixed", "fine"]);
    resume(&user, &[]).exits(0);
    assert_eq!(
        calls(&user),
        [
            "look prompt new",
            "fix prompt resume",
            "fix reminder resume",
            "fix prompt resume",
            "fix reminder resume",
            "look#2 prompt resume",
        ]
    );
    assert_eq!(prompts(&user)[1], prompts(&user)[3]);
    assert_eq!(shown(&user)["machine"]["stepVisitCounts"]["fix"], 1, "the same visit");
}

#[test]
fn a_reminder_that_was_stopped_is_repeated_alone() {
    let user = user(&[]);
    let late = r#"{"text": "{\"outcome\": \"fine\"}", "delay_ms": 60000, "cost_usd": 1}"#;
    user.write("answers.jsonl", &format!("\"Hm.\"\n{late}\n"));
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    let mut started = user.start(&[&["run", "fix.yaml"], &with[..]].concat());
    until("the reminder is asked", || {
        user.path("work/calls.jsonl").exists() && calls(&user).len() == 2
    });
    signal(&started, Signal::INT);
    started.wait().expect("it ends");
    let cost = |user: &User| {
        let printed = user.towpath(&["runs", "--json"]).exits(0).json();
        printed["runs"][0]["cost_usd"].clone()
    };
    assert!(cost(&user).is_null(), "nobody knows what a stopped call cost");
    user.write("answers.jsonl", &user.read("answers.jsonl").replace("60000", "0"));
    resume(&user, &[]).exits(0);
    let reminder = "look reminder resume";
    assert_eq!(calls(&user), ["look prompt new", reminder, reminder]);
}

#[test]
fn only_a_higher_limit_than_the_one_that_was_met_helps() {
    let user = user(&["broken", "fixed", "broken", "fixed"]);
    run(&user, &["fix.yaml", "--max-visits", "2"]).exits(3);
    for flags in [&["--max-visits", "1"][..], &["--max-visits", "2"]] {
        resume(&user, flags)
            .exits(3)
            .reports("to continue, raise the limit above 2: --max-visits N");
    }
    resume(&user, &["--max-steps", "500"]).exits(3).reports("to continue, raise the limit");
    more(&user, &["fine"]);
    let printed = run(&user, &["fix.yaml"]);
    assert!(printed.stderr.contains("--max-visits 3\n"), "{}", printed.stderr);
}

#[test]
fn what_a_call_cost_that_was_interrupted_is_not_known() {
    let user = user(&[]);
    let late = r#"{"text": "{\"outcome\": \"fine\"}", "delay_ms": 60000, "cost_usd": 0.5}"#;
    user.write("answers.jsonl", &format!("{late}\n"));
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    let mut started = user.start(&[&["run", "fix.yaml"], &with[..]].concat());
    until("it is asked", || user.path("work/calls.jsonl").exists() && calls(&user).len() == 1);
    kill_hard(&mut started);
    let reported = |user: &User| {
        let show = user.towpath(&["show", user.run().as_str(), "--json"]).exits(0).json();
        let runs = user.towpath(&["runs"]).exits(0).stdout;
        assert_eq!(show["cost_complete"], false);
        (show["cost_usd"].clone(), runs.lines().nth(1).expect("a run").to_owned())
    };
    let (cost, runs) = reported(&user);
    assert!(cost.is_null() && runs.ends_with(" unknown  look"), "{cost} {runs}");
    user.write("answers.jsonl", &late.replace("60000", "0"));
    resume(&user, &[]).exits(0).reports("at least $0.50");
    let (cost, runs) = reported(&user);
    assert!(cost == 0.5 && runs.contains("$0.50+"), "{cost} {runs}");
    let step = user.towpath(&["show", user.run().as_str()]).exits(0).stdout;
    assert!(step.matches("at least $0.50").count() == 2, "{step}");
}

#[test]
fn after_a_backend_error_and_a_limit_of_the_agent_the_call_is_made_again() {
    let user = user(&["broken", "{\"error\": \"crash\"}"]);
    run(&user, &["fix.yaml"]).exits(4);
    more(&user, &["{\"error\": \"limit\"}"]);
    resume(&user, &[]).exits(75);
    more(&user, &["fixed", "fine"]);
    resume(&user, &[]).exits(0);
    let asked: Vec<String> =
        calls(&user).iter().map(|call| call.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(asked, ["look", "fix", "fix", "fix", "look#2"]);
    let state = &shown(&user)["machine"];
    assert_eq!((&state["reason"], &state["stepCount"]), (&"all-fine".into(), &3.into()));
}

#[test]
fn a_run_at_a_limit_continues_only_with_a_higher_one() {
    for (flags, answers, raised, reported) in [
        (
            &["--max-visits", "1"][..],
            &["broken", "fixed"][..],
            ["--max-visits", "2"],
            "max-step-visits-exceeded:look: to continue, raise the limit: --max-visits N",
        ),
        (
            &["--max-steps", "2"],
            &["broken", "fixed"],
            ["--max-steps", "3"],
            "max-total-steps: to continue, raise the limit: --max-steps N",
        ),
    ] {
        let user = user(answers);
        let printed = run(&user, &[&["fix.yaml"], flags].concat()).exits(3);
        let flag = raised.join(" ");
        assert!(printed.stderr.contains(&format!("towpath resume {} {flag}", user.run())));
        more(&user, &["fine"]);
        resume(&user, &[]).exits(3).reports(reported);
        resume(&user, &flags[..2]).exits(3);
        resume(&user, &raised).exits(0);
        let asked = calls(&user);
        assert_eq!(asked[2..], ["look#2 prompt resume"], "what is done stays done");
    }
}

#[test]
fn a_called_machine_at_a_limit_continues_with_the_flag_that_is_offered() {
    for (flags, raised) in [
        (["--max-visits", "1"], ["--max-visits", "2"]),
        (["--max-steps", "2"], ["--max-steps", "3"]),
    ] {
        let user = user(&["broken", "fixed"]);
        user.write("list.yaml", "name: list\nsteps:\n  - {id: call, recipe: fix}\n");
        let printed = run(&user, &[&["list.yaml"], &flags[..]].concat()).exits(3);
        let offered =
            format!("nothing is lost: towpath resume {} {}\n", user.run(), raised.join(" "));
        assert!(printed.stderr.ends_with(&offered), "{}", printed.stderr);
        let shown = user.towpath(&["show", user.run().as_str()]).exits(0);
        assert!(shown.stdout.contains(offered.trim_end()), "{}", shown.stdout);
        more(&user, &["fine"]);
        resume(&user, &[])
            .exits(3)
            .reports(&format!("to continue, raise the limit: {} N", raised[0]));
        assert_eq!(calls(&user).len(), 2, "nothing was asked");
        resume(&user, &raised).exits(0);
    }
}

#[test]
fn a_run_at_its_last_restart_continues_with_more() {
    let user = User::new();
    script(&user, &["complete", "no-issues", "committed"]);
    let printed = run(&user, &["implement-and-review-all", "--max-restarts", "0"]).exits(3);
    assert!(printed.stderr.contains("(max-restarts-exceeded)"), "{}", printed.stderr);
    assert!(printed.stderr.contains("no restart was allowed"), "{}", printed.stderr);
    more(&user, &["no-tasks"]);
    resume(&user, &[]).exits(3).reports("--max-restarts N");
    resume(&user, &["--max-restarts", "1"]).exits(0);
    assert_eq!(calls(&user)[3], "implement#2 prompt new");
}

const PAY: &str = r#"
id: pay
label: Pay
description: Pays once
initialStep: charge
guardrails: {}
steps:
  charge:
    command: echo charged >> ledger.txt; [ -e fast ] || sleep 60
    effect: once
    outcomes: [success, failure]
    onOutcome:
      success: { nextStep: mail }
      failure: { action: exit, reason: not-paid }
  mail:
    command: echo mailed
    outcomes: [success, failure]
    onOutcome:
      success: { action: exit, reason: paid }
      failure: { action: exit, reason: not-mailed }
"#;

fn interrupted() -> User {
    let user = User::new().file("pay.yaml", PAY).file("answers.jsonl", "");
    let mut child = user.start(&["run", "pay.yaml"]);
    until("it charges", || !user.read("ledger.txt").is_empty());
    kill_hard(&mut child);
    user
}

#[test]
fn a_user_reports_what_became_of_a_step_that_may_run_only_once() {
    let user = interrupted();
    let id = user.run();
    let printed = resume(&user, &[]).exits(10);
    let hint =
        format!("towpath resume {id} --done charge --outcome NAME (one of success, failure)");
    assert!(printed.stderr.contains(&hint), "{}", printed.stderr);
    resume(&user, &["--done", "charge"]).exits(2).reports("give its outcome with --outcome");
    let wrong = ["--done", "charge", "--outcome", "paid"];
    resume(&user, &wrong).exits(2).reports("success, failure");
    resume(&user, &["--done", "charge", "--outcome", "success"]).exits(0).prints("mailed\n");
    assert_eq!(user.count("ledger.txt", "charged"), 1);
    assert_eq!(shown(&user)["machine"]["reason"], "paid");
}

#[test]
fn the_outcome_that_a_user_names_decides_the_way() {
    let user = interrupted();
    resume(&user, &["--done", "charge", "--outcome", "failure"]).exits(0).prints("");
    assert_eq!(shown(&user)["machine"]["reason"], "not-paid");
}

#[test]
fn a_user_may_let_a_step_run_again() {
    let user = interrupted();
    user.write("fast", "");
    resume(&user, &["--again", "charge"]).exits(0).prints("mailed\n");
    assert_eq!(user.count("ledger.txt", "charged"), 2);
}

const LOST: &str = r#"{"error": "unknown_session"}"#;

/// The session of every call.
fn sessions(user: &User) -> Vec<String> {
    let reported = |line: &str| {
        let call: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        call["session"].as_str().expect("a session").to_owned()
    };
    user.read("calls.jsonl").lines().map(reported).collect()
}

/// A conversation that is gone, or too long, is no dead end: the hint names what helps, the visit
/// begins in another session with the record so far, and later resumes continue that one.
#[test]
fn a_lost_or_too_long_conversation_is_begun_in_a_new_session() {
    for fault in [LOST, r#"{"error": "too_long", "text": "Prompt is too long"}"#] {
        let user = user(&["broken", fault, fault]);
        let hint = |user: &User| format!("towpath resume {} --new-session", user.run());
        run(&user, &["fix.yaml"]).exits(4).reports(&hint(&user));
        // The same again, as often as one likes.
        resume(&user, &[]).exits(4).reports(&hint(&user));
        assert_eq!(shown(&user)["resume"], hint(&user));

        more(&user, &[r#"{"error": "crash"}"#]);
        resume(&user, &["--new-session"]).exits(4);
        more(&user, &["fixed", r#"{"error": "crash"}"#]);
        resume(&user, &[]).exits(4);
        more(&user, &["fine"]);
        resume(&user, &[]).exits(0);

        let (calls, prompts, sessions) = (calls(&user), prompts(&user), sessions(&user));
        let kinds = ["new", "resume", "resume", "new", "resume", "resume", "resume"];
        assert_eq!(calls.iter().map(|c| c.rsplit(' ').next().unwrap()).collect::<Vec<_>>(), kinds);
        let (old, new) = sessions.split_at(3);
        assert!(old.iter().all(|id| *id == old[0]) && new.iter().all(|id| *id == new[0]));
        assert_ne!(old[0], new[0]);
        // Until the new session has answered once, its prompts begin with the record.
        for at in [3, 4] {
            assert!(prompts[at].starts_with("## Record\n\n"), "{}", prompts[at]);
            let reported = "- look: broken\n  Worked.\n  \n  {\"outcome\": \"broken\"}\n";
            assert!(prompts[at].contains(reported), "{}", prompts[at]);
            assert!(prompts[at].ends_with(&prompts[1]), "{}", prompts[at]);
        }
        assert!(prompts[5].starts_with("Look. "), "{}", prompts[5]);
    }
}

/// A session that was brought may be too long for the first prompt.
#[test]
fn a_session_that_the_user_named_and_is_too_long_is_replaced() {
    let user = user(&[r#"{"error": "too_long", "text": "Prompt is too long"}"#]);
    let session = ["fix.yaml", "--session", "22222222-2222-4222-8222-222222222222"];
    let hint = |user: &User| format!("towpath resume {} --new-session", user.run());
    run(&user, &session).exits(4).reports(&hint(&user));
}

/// The latest steps count most.
#[test]
fn the_record_of_a_long_run_is_short_enough_for_a_prompt() {
    let long = |word: &str| format!("{}\n{{\"outcome\": \"{word}\"}}", "é".repeat(20_000));
    let (broken, fixed) = (long("broken"), long("fixed"));
    let rounds = [broken.as_str(), fixed.as_str()].repeat(10);
    let user = user(&[&rounds[..], &[LOST]].concat());
    run(&user, &["fix.yaml", "--max-visits", "20"]).exits(4);
    more(&user, &["fine"]);
    resume(&user, &["--new-session"]).exits(0);
    let prompts = prompts(&user);
    let reported = prompts.last().expect("a call");
    assert!(reported.len() < 16_000, "{}", reported.len());
    assert!(
        reported.contains("earlier left out") && reported.contains("- fix#10: fixed\n  …é"),
        "{reported}"
    );
}

/// An answer that waited for its reminder is asked for from the beginning: nobody remembers it.
#[test]
fn a_reminder_in_a_lost_session_becomes_a_prompt_in_a_new_one() {
    let user = user(&["broken", "Hm.", LOST]);
    run(&user, &["fix.yaml"]).exits(4);
    more(&user, &["fixed", "fine"]);
    resume(&user, &["--new-session"]).exits(0);
    assert_eq!(
        calls(&user)[2..],
        ["fix reminder resume", "fix prompt new", "look#2 prompt resume"]
    );
    assert!(prompts(&user)[3].contains("Fix it."), "{}", prompts(&user)[3]);
    // A step of a list has a conversation only for its reminder.
    let list = "name: l\nsteps:\n  - {id: a, prompt: x, parse_json: true}\n";
    user.write("l.yaml", list);
    user.write("answers.jsonl", &format!("\"no json\"\n{LOST}\n\"{{}}\"\n"));
    run(&user, &["l.yaml"]).exits(4).reports("--new-session");
    resume(&user, &["--new-session"]).exits(0);
    assert_eq!(calls(&user)[5..], ["a prompt new", "a reminder resume", "a prompt new"]);
}

/// A session that the user brought is given up with the others.
#[test]
fn a_new_session_replaces_one_that_the_user_named() {
    let user = user(&[LOST]);
    run(&user, &["fix.yaml", "--session", "theirs"]).exits(4);
    more(&user, &["fine"]);
    resume(&user, &["--new-session"]).exits(0);
    assert_eq!(calls(&user), ["look prompt resume", "look prompt new"]);
    assert_ne!(sessions(&user)[1], "theirs");
    resume(&user, &["--new-session"]).exits(2).reports("--new-session has no effect");
}
