//! How a machine's run goes on: after an answer without an outcome, at a limit, with what a person
//! says of a step.

use super::{calls, person, prompts, run, script, shown};
use crate::support::{Person, kill_hard, signal, until};

fn resume(person: &Person, arguments: &[&str]) -> crate::support::Said {
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    person.towpath(&[&["resume", "--last"], arguments, &with].concat())
}

/// More answers: the lines that were used stay used.
fn more(person: &Person, answers: &[&str]) {
    let used = person.read("answers.jsonl");
    script(person, answers);
    person.write("answers.jsonl", &(used + &person.read("answers.jsonl")));
}

#[test]
fn after_an_orchestration_error_the_visit_gets_a_new_prompt_and_a_new_reminder() {
    let person = person(&["broken", "Hm.", "Hm."]);
    run(&person, &["mend.yaml"]).exits(1);
    more(&person, &["Well.", "mended", "fine"]);
    resume(&person, &[]).exits(0);
    assert_eq!(
        calls(&person),
        [
            "look prompt new",
            "mend prompt resume",
            "mend reminder resume",
            "mend prompt resume",
            "mend reminder resume",
            "look#2 prompt resume",
        ]
    );
    assert_eq!(prompts(&person)[1], prompts(&person)[3]);
    assert_eq!(shown(&person)["machine"]["stepVisitCounts"]["mend"], 1, "the same visit");
}

#[test]
fn a_reminder_that_was_stopped_leaves_its_answer_to_the_new_prompt_and_no_cost() {
    let person = person(&[]);
    let late = r#"{"text": "{\"outcome\": \"fine\"}", "delay_ms": 60000, "cost_usd": 1}"#;
    person.write("answers.jsonl", &format!("\"Hm.\"\n{late}\n"));
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    let mut started = person.start(&[&["run", "mend.yaml"], &with[..]].concat());
    until("the reminder is asked", || {
        person.path("work/calls.jsonl").exists() && calls(&person).len() == 2
    });
    signal(&started, "-INT");
    started.wait().expect("it ends");
    let cost = |person: &Person| {
        let said = person.towpath(&["runs", "--json"]).exits(0).json();
        said["runs"][0]["cost_usd"].clone()
    };
    assert!(cost(&person).is_null(), "nobody knows what a stopped call cost");
    person.write("answers.jsonl", &person.read("answers.jsonl").replace("60000", "0"));
    resume(&person, &[]).exits(0);
    assert_eq!(calls(&person).last().expect("a call"), "look prompt resume");
}

#[test]
fn only_a_higher_limit_than_the_one_that_was_met_helps() {
    let person = person(&["broken", "mended", "broken", "mended"]);
    run(&person, &["mend.yaml", "--max-visits", "2"]).exits(3);
    for flags in [&["--max-visits", "1"][..], &["--max-visits", "2"]] {
        resume(&person, flags).exits(3).says("raise the limit above 2 to go on: --max-visits N");
    }
    resume(&person, &["--max-steps", "500"]).exits(3).says("raise the limit to go on");
    more(&person, &["fine"]);
    let said = run(&person, &["mend.yaml"]);
    assert!(said.stderr.contains("--max-visits N\n"), "{}", said.stderr);
}

#[test]
fn what_a_call_cost_that_was_cut_off_is_not_known() {
    let person = person(&[]);
    let late = r#"{"text": "{\"outcome\": \"fine\"}", "delay_ms": 60000, "cost_usd": 0.5}"#;
    person.write("answers.jsonl", &format!("{late}\n"));
    let with = ["--script", "answers.jsonl", "--calls", "calls.jsonl"];
    let mut started = person.start(&[&["run", "mend.yaml"], &with[..]].concat());
    until("it is asked", || person.path("work/calls.jsonl").exists() && calls(&person).len() == 1);
    kill_hard(&mut started);
    let told = |person: &Person| {
        let show = person.towpath(&["show", person.run().as_str(), "--json"]).exits(0).json();
        let runs = person.towpath(&["runs"]).exits(0).stdout;
        assert_eq!(show["cost_complete"], false);
        (show["cost_usd"].clone(), runs.lines().nth(1).expect("a run").to_owned())
    };
    let (cost, runs) = told(&person);
    assert!(cost.is_null() && runs.contains("$?"), "{cost} {runs}");
    person.write("answers.jsonl", &late.replace("60000", "0"));
    resume(&person, &[]).exits(0).says("at least $0.50");
    let (cost, runs) = told(&person);
    assert!(cost == 0.5 && runs.contains("$0.50+"), "{cost} {runs}");
    let step = person.towpath(&["show", person.run().as_str()]).exits(0).stdout;
    assert!(step.matches("at least $0.50").count() == 2, "{step}");
}

#[test]
fn after_a_backend_error_and_a_limit_of_the_agent_the_call_is_made_again() {
    let person = person(&["broken", "{\"error\": \"crash\"}"]);
    run(&person, &["mend.yaml"]).exits(4);
    more(&person, &["{\"error\": \"limit\"}"]);
    resume(&person, &[]).exits(75);
    more(&person, &["mended", "fine"]);
    resume(&person, &[]).exits(0);
    let asked: Vec<String> =
        calls(&person).iter().map(|call| call.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(asked, ["look", "mend", "mend", "mend", "look#2"]);
    let state = &shown(&person)["machine"];
    assert_eq!((&state["reason"], &state["stepCount"]), (&"all-fine".into(), &3.into()));
}

#[test]
fn a_run_at_a_limit_goes_on_only_with_a_higher_one() {
    for (flags, answers, raised, told) in [
        (
            &["--max-visits", "1"][..],
            &["broken", "mended"][..],
            ["--max-visits", "2"],
            "max-step-visits-exceeded:look: raise the limit to go on: --max-visits N",
        ),
        (
            &["--max-steps", "2"],
            &["broken", "mended"],
            ["--max-steps", "3"],
            "max-total-steps: raise the limit to go on: --max-steps N",
        ),
    ] {
        let person = person(answers);
        let said = run(&person, &[&["mend.yaml"], flags].concat()).exits(3);
        let flag = format!("{} N", raised[0]);
        assert!(said.stderr.contains(&format!("towpath resume {} {flag}", person.run())));
        more(&person, &["fine"]);
        resume(&person, &[]).exits(3).says(told);
        resume(&person, &flags[..2]).exits(3);
        resume(&person, &raised).exits(0);
        let asked = calls(&person);
        assert_eq!(asked[2..], ["look#2 prompt resume"], "what is done stays done");
    }
}

#[test]
fn a_called_machine_at_a_limit_is_gone_on_with_by_the_flag_that_is_offered() {
    for (flags, raised) in [
        (["--max-visits", "1"], ["--max-visits", "2"]),
        (["--max-steps", "2"], ["--max-steps", "3"]),
    ] {
        let person = person(&["broken", "mended"]);
        person.write("list.yaml", "name: list\nsteps:\n  - {id: call, recipe: mend}\n");
        let said = run(&person, &[&["list.yaml"], &flags[..]].concat()).exits(3);
        let offered = format!("nothing is lost: towpath resume {} {} N\n", person.run(), raised[0]);
        assert!(said.stderr.ends_with(&offered), "{}", said.stderr);
        let shown = person.towpath(&["show", person.run().as_str()]).exits(0);
        assert!(shown.stdout.contains(offered.trim_end()), "{}", shown.stdout);
        more(&person, &["fine"]);
        resume(&person, &[]).exits(3).says(&format!("raise the limit to go on: {} N", raised[0]));
        assert_eq!(calls(&person).len(), 2, "nothing was asked");
        resume(&person, &raised).exits(0);
    }
}

#[test]
fn a_run_at_its_last_restart_goes_on_with_more() {
    let person = Person::new();
    script(&person, &["complete", "no-issues", "committed"]);
    let said = run(&person, &["implement-and-review-all", "--max-restarts", "0"]).exits(3);
    assert!(said.stderr.contains("(max-restarts-exceeded)"), "{}", said.stderr);
    assert!(said.stderr.contains("no restart was allowed"), "{}", said.stderr);
    more(&person, &["no-tasks"]);
    resume(&person, &[]).exits(3).says("--max-restarts N");
    resume(&person, &["--max-restarts", "1"]).exits(0);
    assert_eq!(calls(&person)[3], "implement#2 prompt new");
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

fn cut_off() -> Person {
    let person = Person::new().file("pay.yaml", PAY).file("answers.jsonl", "");
    let mut child = person.start(&["run", "pay.yaml"]);
    until("it charges", || !person.read("ledger.txt").is_empty());
    kill_hard(&mut child);
    person
}

#[test]
fn a_person_says_what_became_of_a_step_that_may_run_only_once() {
    let person = cut_off();
    let id = person.run();
    let said = resume(&person, &[]).exits(10);
    let hint =
        format!("towpath resume {id} --done charge --outcome NAME (one of success, failure)");
    assert!(said.stderr.contains(&hint), "{}", said.stderr);
    resume(&person, &["--done", "charge"]).exits(2).says("say how it ended with --outcome");
    let wrong = ["--done", "charge", "--outcome", "paid"];
    resume(&person, &wrong).exits(2).says("success, failure");
    resume(&person, &["--done", "charge", "--outcome", "success"]).exits(0).prints("mailed\n");
    assert_eq!(person.count("ledger.txt", "charged"), 1);
    assert_eq!(shown(&person)["machine"]["reason"], "paid");
}

#[test]
fn the_outcome_that_a_person_names_decides_the_way() {
    let person = cut_off();
    resume(&person, &["--done", "charge", "--outcome", "failure"]).exits(0).prints("");
    assert_eq!(shown(&person)["machine"]["reason"], "not-paid");
}

#[test]
fn a_person_may_let_a_step_run_again() {
    let person = cut_off();
    person.write("fast", "");
    resume(&person, &["--again", "charge"]).exits(0).prints("mailed\n");
    assert_eq!(person.count("ledger.txt", "charged"), 2);
}

const LOST: &str = r#"{"error": "unknown_session"}"#;

/// The session of every call.
fn sessions(person: &Person) -> Vec<String> {
    let told = |line: &str| {
        let call: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        call["session"].as_str().expect("a session").to_owned()
    };
    person.read("calls.jsonl").lines().map(told).collect()
}

/// A conversation that is gone, or too long, is no dead end: the hint names what helps, the visit
/// begins in another session with the record so far, and later resumes continue that one.
#[test]
fn a_lost_or_too_long_conversation_is_begun_in_a_new_session() {
    for fault in [LOST, r#"{"error": "too_long", "text": "Prompt is too long"}"#] {
        let person = person(&["broken", fault, fault]);
        let hint = |person: &Person| format!("towpath resume {} --new-session", person.run());
        run(&person, &["mend.yaml"]).exits(4).says(&hint(&person));
        // The same again, as often as one likes.
        resume(&person, &[]).exits(4).says(&hint(&person));
        assert_eq!(shown(&person)["resume"], hint(&person));

        more(&person, &[r#"{"error": "crash"}"#]);
        resume(&person, &["--new-session"]).exits(4);
        more(&person, &["mended", r#"{"error": "crash"}"#]);
        resume(&person, &[]).exits(4);
        more(&person, &["fine"]);
        resume(&person, &[]).exits(0);

        let (calls, prompts, sessions) = (calls(&person), prompts(&person), sessions(&person));
        let kinds = ["new", "resume", "resume", "new", "resume", "resume", "resume"];
        assert_eq!(calls.iter().map(|c| c.rsplit(' ').next().unwrap()).collect::<Vec<_>>(), kinds);
        let (old, new) = sessions.split_at(3);
        assert!(old.iter().all(|id| *id == old[0]) && new.iter().all(|id| *id == new[0]));
        assert_ne!(old[0], new[0]);
        // Until the new session has answered once, its prompts begin with the record.
        for at in [3, 4] {
            assert!(prompts[at].starts_with("## Record\n\n"), "{}", prompts[at]);
            let told = "- look: broken\n  Worked.\n  \n  {\"outcome\": \"broken\"}\n";
            assert!(prompts[at].contains(told), "{}", prompts[at]);
            assert!(prompts[at].ends_with(&prompts[1]), "{}", prompts[at]);
        }
        assert!(prompts[5].starts_with("Look. "), "{}", prompts[5]);
    }
}

/// A session that was brought may be too long for the first prompt.
#[test]
fn a_session_that_was_brought_and_is_too_long_is_left_for_a_new_one() {
    let person = person(&[r#"{"error": "too_long", "text": "Prompt is too long"}"#]);
    let session = ["mend.yaml", "--session", "22222222-2222-4222-8222-222222222222"];
    let hint = |person: &Person| format!("towpath resume {} --new-session", person.run());
    run(&person, &session).exits(4).says(&hint(&person));
}

/// The latest steps count most.
#[test]
fn the_record_of_a_long_run_is_short_enough_for_a_prompt() {
    let long = |word: &str| format!("{}\n{{\"outcome\": \"{word}\"}}", "é".repeat(20_000));
    let (broken, mended) = (long("broken"), long("mended"));
    let rounds = [broken.as_str(), mended.as_str()].repeat(10);
    let person = person(&[&rounds[..], &[LOST]].concat());
    run(&person, &["mend.yaml", "--max-visits", "20"]).exits(4);
    more(&person, &["fine"]);
    resume(&person, &["--new-session"]).exits(0);
    let prompts = prompts(&person);
    let told = prompts.last().expect("a call");
    assert!(told.len() < 16_000, "{}", told.len());
    assert!(
        told.contains("earlier left out") && told.contains("- mend#10: mended\n  …é"),
        "{told}"
    );
}

/// An answer that waited for its reminder is asked for from the beginning: nobody remembers it.
#[test]
fn a_reminder_in_a_lost_session_becomes_a_prompt_in_a_new_one() {
    let person = person(&["broken", "Hm.", LOST]);
    run(&person, &["mend.yaml"]).exits(4);
    more(&person, &["mended", "fine"]);
    resume(&person, &["--new-session"]).exits(0);
    assert_eq!(
        calls(&person)[2..],
        ["mend reminder resume", "mend prompt new", "look#2 prompt resume"]
    );
    assert!(prompts(&person)[3].contains("Mend it."), "{}", prompts(&person)[3]);
    // A step of a list has a conversation only for its reminder.
    let list = "name: l\nsteps:\n  - {id: a, prompt: x, parse_json: true}\n";
    person.write("l.yaml", list);
    person.write("answers.jsonl", &format!("\"no json\"\n{LOST}\n\"{{}}\"\n"));
    run(&person, &["l.yaml"]).exits(4).says("--new-session");
    resume(&person, &["--new-session"]).exits(0);
    assert_eq!(calls(&person)[5..], ["a prompt new", "a reminder resume", "a prompt new"]);
}

/// A session that the user brought is given up with the others.
#[test]
fn a_new_session_takes_the_place_of_one_that_was_brought() {
    let person = person(&[LOST]);
    run(&person, &["mend.yaml", "--session", "theirs"]).exits(4);
    more(&person, &["fine"]);
    resume(&person, &["--new-session"]).exits(0);
    assert_eq!(calls(&person), ["look prompt resume", "look prompt new"]);
    assert_ne!(sessions(&person)[1], "theirs");
    resume(&person, &["--new-session"]).exits(2).says("--new-session changes nothing any more");
}
