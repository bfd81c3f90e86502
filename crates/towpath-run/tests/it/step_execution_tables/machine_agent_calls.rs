//! A machine's agent calls: which session each has, what is before its prompt, and the one
//! reminder of a visit.

use super::machine_transitions_and_limits::{again, review, with_machine_options};
use super::{Fact, JobEnd, JobStatus, Output, Play, RunOutcome, name_of};
use towpath_core::FaultKind;
use towpath_run::{Fault, StopReason};

fn fault(kind: FaultKind) -> JobStatus {
    JobStatus::Faulted(Fault { kind, until_ms: None })
}

#[test]
fn each_call_continues_with_the_session_of_the_one_before_until_a_restart() {
    let play = Play::one(&review("")).reports("work", "done").gives("review", "hm");
    let play = play.reports("review.1", "bad").reports("work#2", "other").play();
    let before: Vec<Option<String>> = play
        .jobs
        .iter()
        .map(|job| play.call(&name_of(job)).continues.as_ref().map(ToString::to_string))
        .collect();
    let expected = [None, Some("work#1.0.0:agent"), Some("review#1.0.0:agent")];
    assert_eq!(before[..3], expected.map(|key| key.map(str::to_owned)));
    assert_eq!(before[3].as_deref(), Some("review#1.0.1:agent"), "the reminder was the last");
    assert!(play.jobs.iter().all(|job| play.call(&name_of(job)).keeps_session));
    let play = Play::one(&again("")).reports("step", "more").reports("step#2", "done").play();
    assert_eq!(play.call("step#2").continues, None, "a restart has a session of its own");
    assert!(!play.call("step#2").may_open_session);
}

#[test]
fn an_answer_without_an_outcome_is_reminded_once_in_its_visit() {
    let play = Play::one(&review("")).gives("work", "hm").reports("work.1", "done");
    let play = play.gives("review", "{\"outcome\": \"nope\"}").reports("review.1", "good").play();
    assert_eq!(play.started(), "work work.1 review review.1");
    assert_eq!(play.reason(), "all-good");
    assert_eq!(play.call("work.1").earlier.as_deref(), Some("hm"));
    assert!(play.call("work.1").prompt.starts_with(
        "Your previous response did not include the required JSON outcome block.\nPlease respond"
    ));
    let reminder = &play.call("review.1").prompt;
    assert!(reminder.contains("Error: Outcome 'nope' is not one of: bad, good, other\n"));
    let view = play.run.machine_view().expect("a machine");
    assert_eq!((view.steps, view.reminders), (2, 1), "reminders are no steps");

    let play = Play::one(&review("")).gives("work", "hm").gives("work.1", "hm").play();
    assert_eq!(play.started(), "work work.1", "no second reminder");
    assert_eq!(play.reason(), "orchestration-error");
}

#[test]
fn a_crash_repeats_the_call_that_was_interrupted_and_nothing_else() {
    let text = review("");
    let mut play = Play::one(&text).gives("work", "hm").reports("work.1", "done");
    play = play.reports("review", "good");
    play.start_all();
    play.fact(Fact::Resumed);
    let prompt = play.start_all();
    play.finish(&prompt[0]);
    play.start_all();
    play.fact(Fact::Resumed);
    let reminder = play.start_all();
    play.fact(Fact::Resumed);
    play.proceed();
    assert_eq!(
        play.keys(),
        "work#1.0.0:agent work#1.1.0:agent work#1.1.1:agent work#1.2.1:agent work#1.3.1:agent \
         review#1.0.0:agent",
        "the prompt again, then only the reminder"
    );
    assert_eq!(play.reason(), "all-good");
    assert_eq!(reminder[0].key.to_string(), "work#1.2.1:agent");
}

#[test]
fn a_reminder_that_was_wanted_and_not_started_is_wanted_after_a_crash() {
    let mut play = Play::one(&review("")).gives("work", "hm").reports("work.1", "other");
    let first = play.start_all();
    play.finish(&first[0]);
    play.resume();
    assert_eq!(play.keys(), "work#1.0.0:agent work#1.0.1:agent");
}

#[test]
fn what_failed_is_asked_again_and_an_answer_that_only_lacks_its_outcome_is_not() {
    let answer = |text: &str| JobEnd {
        output: Output::Text(text.into()),
        ..JobEnd::new(JobStatus::Exited(0))
    };
    let rows = [
        ("work", JobEnd::new(fault(FaultKind::Auth)), "backend-error"),
        ("work", JobEnd::new(fault(FaultKind::Overloaded)), "backend-error"),
        ("work", JobEnd::new(JobStatus::TimedOut), "backend-error"),
        ("work", JobEnd::new(JobStatus::Exited(1)), "orchestration-error"),
        ("work.1", answer("still nothing"), "orchestration-error"),
        ("work.1", JobEnd::new(fault(FaultKind::Crash)), "backend-error"),
        ("work.1", JobEnd::new(fault(FaultKind::Limit)), "under way"),
        ("work.1", JobEnd::new(fault(FaultKind::Overloaded)), "backend-error"),
        ("work.1", JobEnd::new(JobStatus::TimedOut), "backend-error"),
        ("work.1", JobEnd::new(JobStatus::Signalled(9)), "orchestration-error"),
    ];
    for (name, end, reason) in rows {
        // The first answer is complete, and only the reminder about it has failed.
        let keeps_answer = name == "work.1" && !end.succeeded();
        let status = end.status.clone();
        let mut play = Play::one(&review("")).gives("work", "hm").end_of(name, end).play();
        assert_eq!(play.reason(), reason, "{name} {status:?}");
        let before = play.started.len();
        play = play.gives("work", "hm again").reports("work.1", "done").reports("review", "good");
        play.resume();
        let (repeated, earlier) = match keeps_answer {
            true => ("work.1 review", "hm"),
            false => ("work work.1 review", "hm again"),
        };
        assert_eq!(play.started[before..].join(" "), repeated, "{name} {status:?}");
        assert_eq!(play.reason(), "all-good");
        assert_eq!(play.call("work.1").earlier.as_deref(), Some(earlier));
        let mut keys: Vec<String> = play.jobs.iter().map(|job| job.key.to_string()).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), play.jobs.len(), "{}", play.keys());
    }
}

#[test]
fn a_cancelled_reminder_is_repeated_alone_and_a_limit_waits() {
    let mut play = Play::one(&review("")).gives("work", "hm");
    let first = play.start_all();
    play.finish(&first[0]);
    let reminder = play.start_all();
    play.fact(Fact::Stopping { reason: StopReason::Cancel });
    let stopped = JobEnd::new(JobStatus::Stopped);
    play.fact(Fact::JobFinished { key: reminder[0].key.clone(), end: stopped });
    assert_eq!((play.reason().as_str(), play.outcome().as_str()), ("cancelled", "cancelled"));
    play = play.reports("work.1", "other");
    play.resume();
    assert_eq!(play.keys(), "work#1.0.0:agent work#1.0.1:agent work#1.1.1:agent");
    assert_eq!(play.reason(), "gave-up");

    let limit = JobStatus::Faulted(Fault { kind: FaultKind::Limit, until_ms: Some(7) });
    let play = Play::one(&review("")).ends("work", limit).play();
    assert_eq!(
        play.run.outcome(),
        Some(RunOutcome::Waiting { why: FaultKind::Limit, until_ms: Some(7) })
    );
}

#[test]
fn a_session_that_no_call_has_answered_from_may_have_to_be_opened() {
    let overloaded = || fault(FaultKind::Overloaded);
    let mut play = Play::one(&review("")).ends("work", overloaded()).play();
    assert!(!play.call("work").may_open_session, "the first call opens it in any case");
    play.resume();
    assert!(play.call("work").may_open_session, "the first may have opened it, or not");
    assert_eq!(play.call("work").continues.as_ref(), Some(&play.jobs[0].key));
    play = play.reports("work", "done").ends("review", overloaded());
    play.resume();
    assert!(!play.call("review").may_open_session, "a call of this session has answered");
    play.resume();
    assert!(!play.call("review").may_open_session);
    let last = &play.jobs[play.jobs.len() - 2].key;
    assert_eq!(play.call("review").continues.as_ref(), Some(last), "the call that failed");
}

#[test]
fn a_session_that_another_else_began_is_never_opened() {
    let text = again("");
    let mut play = with_machine_options(&text, |w| w.session = Some("theirs".into()))
        .ends("step", fault(FaultKind::UnknownSession))
        .play();
    assert_eq!(play.call("step").session, Some("theirs".into()));
    play = play.reports("step", "more").ends("step#2", fault(FaultKind::Crash));
    play.resume();
    let again = play.call("step");
    assert_eq!((again.may_open_session, again.session.as_ref()), (false, None));
    assert_eq!(again.continues.as_ref(), Some(&play.jobs[0].key), "which has that session");
    let other = play.call("step#2");
    assert_eq!((other.session.as_ref(), other.continues.as_ref()), (None, None));
    play.resume();
    assert!(play.call("step#2").may_open_session, "the session after a restart is our own");
}

#[test]
fn the_context_is_before_prompts_until_a_session_has_answered() {
    let text = again("");
    let mut play = with_machine_options(&text, |w| w.context = Some("Mind the gap.".into()))
        .ends("step", fault(FaultKind::Crash))
        .play();
    let reported = |play: &Play, name: &str| {
        play.call(name).prompt.starts_with("## Context\n\nMind the gap.\n\n---\n\ngo one\n\nEnd")
    };
    assert!(reported(&play, "step"));
    play = play.gives("step", "hm").reports("step.1", "more").reports("step#2", "done");
    play.resume();
    assert!(reported(&play, "step"), "nobody has heard it yet");
    assert!(!play.call("step.1").prompt.contains("Mind the gap"));
    assert!(reported(&play, "step#2"), "a fresh session knows nothing");
    let mut play = with_machine_options(&review(""), |w| w.context = Some("Mind the gap.".into()));
    play = play.reports("work", "done").reports("review", "good").play();
    assert!(!play.call("review").prompt.contains("Mind the gap"));
}

#[test]
fn a_call_has_a_day_unless_its_step_or_the_user_reports_otherwise() {
    let times = |text: &str, run: Option<u64>| {
        let timeout = run.map(std::time::Duration::from_secs);
        let play = Play::with(&[("main", text)], |plan| plan.step_timeout = timeout);
        let play = play.gives("work", "hm").reports("work.1", "other").play();
        let time = |job: &super::Job| job.timeout.expect("a call has a time").as_secs();
        play.jobs.iter().map(time).collect::<Vec<_>>()
    };
    let own = review("").replacen("prompt: work", "timeout: 9, prompt: work", 1);
    assert_eq!(times(&review(""), None), [86_400, 86_400]);
    assert_eq!(times(&review(""), Some(7)), [7, 7]);
    assert_eq!(times(&own, Some(7)), [9, 9]);
}

#[test]
fn a_conversation_has_a_name_for_the_session_that_is_opened_for_it() {
    let text = again("");
    let named = |w: &mut towpath_recipe::MachineOptions| w.conversation = Some("ours".into());
    let mut play = with_machine_options(&text, named).reports("step", "more");
    play = play.ends("step#2", fault(FaultKind::Crash)).play();
    let first = play.call("step");
    assert_eq!((first.opens.as_ref(), first.session.as_ref()), (Some(&"ours".into()), None));
    assert!(!first.may_open_session, "it is opened in any case");
    assert_eq!(play.call("step#2").opens, None, "a restart is another conversation");
    play = with_machine_options(&text, |w| {
        named(w);
        w.session = Some("theirs".into());
    })
    .reports("step", "done")
    .play();
    let first = play.call("step");
    assert_eq!(first.session, Some("theirs".into()));
    assert!(first.may_open_session, "the first call of its session may have failed");
}
