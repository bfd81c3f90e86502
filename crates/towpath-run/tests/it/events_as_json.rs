//! Every event as JSON and back.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use towpath_core::{FaultKind, JobKey, JobKind, RunId, SessionId, StepPath, Stream, Usage};
use towpath_recipe::Ending;
use towpath_run::*;

/// One generator per variant. [`position`] makes sure that none is missing.
fn kinds() -> Vec<BoxedStrategy<EventKind>> {
    vec![
        (run(), any::<String>(), bytes(), any::<bool>(), views())
            .prop_map(|(run, recipe, directory, resumed, steps)| {
                let directory = OsString::from_vec(directory).into();
                EventKind::RunStarted { run, recipe, directory, resumed, steps }
            })
            .boxed(),
        (step(), kind()).prop_map(|(step, kind)| EventKind::StepStarted { step, kind }).boxed(),
        (key(), select(vec![Stream::Stdout, Stream::Stderr]), bytes())
            .prop_map(|(job, stream, bytes)| EventKind::Output {
                step: job.step_path(),
                job,
                stream,
                bytes,
            })
            .boxed(),
        (step(), any::<String>()).prop_map(|(step, what)| EventKind::Doing { step, what }).boxed(),
        step().prop_map(|step| EventKind::Heard { step }).boxed(),
        (step(), result(), any::<bool>(), any::<i64>())
            .prop_map(|(step, result, tolerated, took_ms)| EventKind::StepEnded {
                step,
                result,
                tolerated,
                took_ms,
            })
            .boxed(),
        (step(), any::<String>(), any::<[u32; 4]>(), text())
            .prop_map(|(step, recipe, [visit, max_visits, total, max_total], model)| {
                EventKind::Entered { step, recipe, visit, max_visits, total, max_total, model }
            })
            .boxed(),
        (step(), session(), text(), any::<bool>(), any::<usize>())
            .prop_map(|(step, session, model, resumes, length)| {
                let (backend, is_reminder) = ("codex".to_owned(), !resumes);
                let call =
                    CallStarted { step, backend, session, resumes, model, is_reminder, length };
                EventKind::CallStarted(call)
            })
            .boxed(),
        (step(), session(), text(), any::<Option<usize>>(), usage(), any::<u64>())
            .prop_map(|(step, session, error, length, usage, took_ms)| {
                EventKind::CallEnded(CallEnded {
                    step,
                    session,
                    model: None,
                    is_reminder: false,
                    prompt_length: 7,
                    length,
                    error,
                    took_ms,
                    usage,
                })
            })
            .boxed(),
        (step(), report()).prop_map(|(step, report)| EventKind::Reported { step, report }).boxed(),
        (step(), any::<String>())
            .prop_map(|(step, error)| EventKind::Reminded { step, error })
            .boxed(),
        (step(), movement()).prop_map(|(step, to)| EventKind::Moved { step, to }).boxed(),
        (step(), any::<Vec<String>>())
            .prop_map(|(step, files)| EventKind::Staged { step, files })
            .boxed(),
        (proptest::option::of(step()), any::<String>())
            .prop_map(|(step, message)| EventKind::Warning { step, message })
            .boxed(),
        Just(EventKind::Stopping).boxed(),
        (
            any::<Vec<String>>(),
            select(vec![EndedWith::Step, EndedWith::Run, EndedWith::DeadRunner]),
        )
            .prop_map(|(processes, why)| EventKind::Ended { processes, why })
            .boxed(),
        Just(EventKind::Suspended).boxed(),
        Just(EventKind::Continued).boxed(),
        (run(), outcome(), views())
            .prop_map(|(run, outcome, steps)| EventKind::RunEnded { run, outcome, steps })
            .boxed(),
    ]
}

/// Where [`kinds`] has a variant, and its name in JSON. A new variant does not compile without both.
fn position(kind: &EventKind) -> (usize, &'static str) {
    match kind {
        EventKind::RunStarted { .. } => (0, "run-started"),
        EventKind::StepStarted { .. } => (1, "step-started"),
        EventKind::Output { .. } => (2, "output"),
        EventKind::Doing { .. } => (3, "doing"),
        EventKind::Heard { .. } => (4, "heard"),
        EventKind::StepEnded { .. } => (5, "step-ended"),
        EventKind::Entered { .. } => (6, "entered"),
        EventKind::CallStarted(_) => (7, "call-started"),
        EventKind::CallEnded(_) => (8, "call-ended"),
        EventKind::Reported { .. } => (9, "reported"),
        EventKind::Reminded { .. } => (10, "reminded"),
        EventKind::Moved { .. } => (11, "moved"),
        EventKind::Staged { .. } => (12, "staged"),
        EventKind::Warning { .. } => (13, "warning"),
        EventKind::Stopping => (14, "stopping"),
        EventKind::Ended { .. } => (15, "ended"),
        EventKind::Suspended => (16, "suspended"),
        EventKind::Continued => (17, "continued"),
        EventKind::RunEnded { .. } => (18, "run-ended"),
    }
}

fn session() -> impl Strategy<Value = Option<SessionId>> {
    text().prop_map(|id| id.map(SessionId::new))
}

fn text() -> impl Strategy<Value = Option<String>> {
    any::<Option<String>>()
}

/// Also such that are not UTF-8.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![any::<String>().prop_map(String::into_bytes), any::<Vec<u8>>()]
}

fn run() -> impl Strategy<Value = RunId> {
    any::<[u8; 8]>().prop_map(|bytes| RunId::from_random(&bytes, 4))
}

fn step() -> impl Strategy<Value = StepPath> {
    "[a-z]{1,5}(/[a-z]{1,5}(#[2-9])?)?".prop_map(StepPath::new)
}

fn key() -> impl Strategy<Value = JobKey> {
    let kinds = vec![JobKind::Bash, JobKind::Agent, JobKind::PreHook, JobKind::ErrorHook];
    let numbers = (1..9u32, 0..9u32, 0..2u32);
    (proptest::option::of(step()), "[a-z]{1,5}", numbers, select(kinds)).prop_map(
        |(frame, step, (visit, attempt, call), kind)| JobKey {
            frame,
            step,
            visit,
            attempt,
            call,
            kind,
        },
    )
}

fn kind() -> impl Strategy<Value = StepKind> {
    select(vec![StepKind::Bash, StepKind::Agent, StepKind::Recipe])
}

/// Sums of money, as programs print them.
fn usage() -> impl Strategy<Value = Option<Usage>> {
    let cost = any::<Option<u32>>().prop_map(|cents| cents.map(|cents| f64::from(cents) / 100.0));
    let usage = (any::<Option<u64>>(), cost).prop_map(|(tokens, cost_usd)| Usage {
        input_tokens: tokens,
        output_tokens: tokens,
        cost_usd,
    });
    proptest::option::of(usage)
}

fn report() -> impl Strategy<Value = Reported> {
    (any::<String>(), text(), text()).prop_map(|(outcome, description, why)| Reported {
        outcome,
        description,
        why,
    })
}

fn movement() -> impl Strategy<Value = Movement> {
    prop_oneof![
        any::<String>().prop_map(Movement::Step),
        (any::<String>(), text(), select(&[Ending::Success, Ending::Fail, Ending::Ask]))
            .prop_map(|(reason, description, ending)| MachineExit { reason, description, ending })
            .prop_map(Movement::Exit),
        any::<String>().prop_map(Movement::Restart),
    ]
}

fn failure() -> impl Strategy<Value = Failure> {
    let kinds = vec![
        FailureKind::Command,
        FailureKind::Timeout,
        FailureKind::Guardrail(Guardrail::StepVisits),
        FailureKind::Agent(FaultKind::UnknownSession),
        FailureKind::Stopped,
    ];
    (select(kinds), any::<[String; 2]>(), proptest::option::of(step()))
        .prop_map(|(kind, [message, detail], origin)| Failure { kind, message, detail, origin })
}

fn result() -> impl Strategy<Value = StepResult> {
    let status = prop_oneof![
        Just(StepStatus::Completed),
        any::<String>().prop_map(|reason| StepStatus::Degraded { reason }),
        failure().prop_map(|failure| StepStatus::Recovered { failure }),
        any::<String>().prop_map(|reason| StepStatus::Skipped { reason }),
        failure().prop_map(StepStatus::Failed),
    ];
    let output = prop_oneof![
        Just(Output::None),
        any::<String>().prop_map(Output::Text),
        any::<u64>().prop_map(|len| Output::OnDisk { len }),
        any::<u64>().prop_map(|len| Output::TooLarge { len }),
    ];
    (status, output, any::<Option<i32>>(), usage(), proptest::option::of(report())).prop_map(
        |(status, output, exit_code, usage, report)| StepResult {
            status,
            output,
            exit_code,
            usage,
            report,
        },
    )
}

fn outcome() -> impl Strategy<Value = RunOutcome> {
    prop_oneof![
        Just(RunOutcome::Done),
        (step(), failure()).prop_map(|(step, failure)| RunOutcome::Failed { step, failure }),
        any::<Option<i64>>()
            .prop_map(|until_ms| RunOutcome::Waiting { why: FaultKind::Limit, until_ms }),
        proptest::collection::vec(step(), 0..3).prop_map(|steps| RunOutcome::Asking { steps }),
        any::<i32>().prop_map(|n| RunOutcome::Stopped { reason: StopReason::Signal(n) }),
        Just(RunOutcome::Stopped { reason: StopReason::Cancel }),
    ]
}

fn views() -> impl Strategy<Value = Vec<StepView>> {
    let misreport = Misreport {
        kind: MisreportKind::NoBlock,
        error: "no JSON block".to_owned(),
        candidate: Some("{".to_owned()),
    };
    let reported =
        prop_oneof![Just(None), report().prop_map(|r| Some(Ok(r))), Just(Some(Err(misreport)))];
    let end = (reported, usage()).prop_map(|(report, usage)| CallEnd {
        usage,
        report,
        error: None,
        fault: Some(FaultKind::Auth),
        detail: String::new(),
    });
    let call = (key(), session(), proptest::option::of(end)).prop_map(|(key, session, end)| {
        AgentCall { key, backend: Some("codex".to_owned()), session, end }
    });
    let leaf = (step(), kind(), any::<Option<i64>>(), proptest::option::of(result()), call)
        .prop_map(|(path, kind, started_ms, result, call)| StepView {
            id: path.to_string(),
            path,
            kind,
            depth: 0,
            state: StepState::NotReached,
            tolerated: result.is_some(),
            gives_json: result.is_some(),
            gave_up: result.is_some(),
            result,
            started_ms,
            ended_ms: started_ms,
            ended_now: false,
            paused_ms: 0,
            declared_done: false,
            attempts: 1,
            restarts: u32::from(started_ms.is_some()),
            calls: vec![call],
            children: Vec::new(),
        });
    let nested = leaf.prop_recursive(2, 6, 2, |inner| {
        (inner.clone(), proptest::collection::vec(inner, 0..3))
            .prop_map(|(view, children)| StepView { children, ..view })
    });
    proptest::collection::vec(nested, 0..3)
}

#[test]
fn every_event_can_be_written_as_json_and_read_again() {
    let mut runner = TestRunner::new(Config::with_cases(40));
    for (index, strategy) in kinds().into_iter().enumerate() {
        let events = (any::<u64>(), any::<i64>(), strategy);
        let checked = runner.run(&events, |(seq, at_ms, kind)| {
            let (position, name) = position(&kind);
            prop_assert_eq!(position, index);
            let event = Event { seq, at_ms, kind };
            let text = serde_json::to_string(&event).expect("an event is plain data");
            let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            prop_assert_eq!(&value["kind"]["type"], name);
            prop_assert_eq!(serde_json::from_str::<Event>(&text).expect("it can be read"), event);
            Ok(())
        });
        checked.unwrap_or_else(|error| panic!("{error}"));
    }
    assert_eq!(kinds().len(), position(&last()).0 + 1, "every variant has a generator");
}

fn last() -> EventKind {
    let run = RunId::new("7f3k").expect("an id");
    EventKind::RunEnded { run, outcome: RunOutcome::Done, steps: Vec::new() }
}

#[test]
fn output_is_a_string_where_it_is_text() {
    let output = |bytes: &[u8]| {
        let job: JobKey = "build#1.0.0:bash".parse().expect("a key");
        let (step, bytes) = (job.step_path(), bytes.to_vec());
        let kind = EventKind::Output { step, job, stream: Stream::Stdout, bytes };
        serde_json::to_string(&Event { seq: 3, at_ms: 1_785_406_272_345, kind }).expect("JSON")
    };
    assert_eq!(
        output("é\n".as_bytes()),
        r#"{"seq":3,"at_ms":1785406272345,"kind":{"type":"output","data":{"step":"build","job":"build#1.0.0:bash","stream":"stdout","bytes":"é\n"}}}"#
    );
    assert!(output(b"\xff\n").ends_with(r#""bytes":[255,10]}}}"#));
}
