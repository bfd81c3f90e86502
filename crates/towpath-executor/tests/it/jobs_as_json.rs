//! Jobs and their ends as JSON: a fleet sends them to another machine.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fmt::Debug;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;
use towpath_core::{FaultKind, JobKey, SessionId, Usage};
use towpath_executor::{
    AgentWork, Call, Confinement, EndStatus, Finished, JobId, JobSpec, Leftover, Limits, Policy,
    Sandbox, ScriptLine, ScriptedAnswer, Work,
};
use towpath_shell::Filled;

fn path() -> impl Strategy<Value = PathBuf> {
    vec(1u8.., 0..12).prop_map(|bytes| OsString::from_vec(bytes).into())
}

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,8}[\n\u{0}\"\\\\]{0,2}"
}

fn session() -> impl Strategy<Value = SessionId> {
    text().prop_map(SessionId::new)
}

fn duration() -> impl Strategy<Value = Duration> {
    (any::<u64>(), 0..1_000_000_000u32).prop_map(|(s, n)| Duration::new(s, n))
}

fn key() -> impl Strategy<Value = JobKey> {
    let keys = ["s#1.0.0:bash", "ci/build#2/t#1.3.1:agent", "a#1.0.0:on_error", "a#1.0.0:snapshot"];
    prop::sample::select(keys.map(|k| k.parse().expect("a key")).to_vec())
}

fn fault() -> impl Strategy<Value = FaultKind> {
    use FaultKind::*;
    prop::sample::select(vec![Limit, Overloaded, Auth, Crash, UnknownSession, TooLong, BadRequest])
}

fn usage() -> impl Strategy<Value = Usage> {
    (of(any::<u64>()), of(any::<u64>()), of(any::<u32>())).prop_map(|(input, output, cost)| Usage {
        input_tokens: input,
        output_tokens: output,
        cost_usd: cost.map(|micros| f64::from(micros) / 1e6),
    })
}

fn script_line() -> impl Strategy<Value = ScriptLine> {
    let texts = (of(text()), of(session()), of(text()), of(text()), of(text()));
    let rest = (of(fault()), of(any::<i64>()), of(usage()), any::<u64>(), any::<bool>());
    (texts, rest).prop_map(|((text, session_id, matches, step, run), rest)| {
        let (error, until_ms, usage, delay_ms, repeat) = rest;
        ScriptLine {
            text,
            error,
            until_ms,
            session_id,
            usage,
            delay_ms,
            matches,
            step,
            repeat,
            run,
        }
    })
}

fn agent_work() -> impl Strategy<Value = AgentWork> {
    let call = (text(), of(text()), of(session()), of(text()), of(text()));
    let more = (path(), path(), any::<bool>(), any::<bool>());
    let around = (any::<bool>(), of((any::<u32>(), script_line())), of(text()), of(text()));
    (call, more, around).prop_map(|(call, more, around)| {
        let (prompt, model, session, system, mode) = call;
        let (directory, private, resume, appends_system) = more;
        let (may_open_session, scripted, agent, earlier) = around;
        let scripted = scripted.map(|(number, line)| ScriptedAnswer { number, line });
        let call = Call {
            prompt,
            model,
            session,
            resume,
            directory,
            system,
            appends_system,
            mode,
            private,
        };
        AgentWork { call, may_open_session, scripted, agent, earlier }
    })
}

fn sandbox() -> impl Strategy<Value = Sandbox> {
    let confinement = prop_oneof![
        path().prop_map(|program| Confinement::Bubblewrap { program }),
        prop::sample::select(vec![
            Confinement::Namespaces,
            Confinement::Landlock,
            Confinement::None
        ]),
    ];
    let limits =
        any::<[u64; 4]>().prop_map(|[scratch_bytes, memory_bytes, processes, file_bytes]| Limits {
            scratch_bytes,
            memory_bytes,
            processes,
            file_bytes,
        });
    let policy = (vec(path(), 0..3), vec(path(), 0..3), any::<bool>(), any::<bool>(), limits)
        .prop_map(|(readable, writable, network, drop_user, limits)| Policy {
            readable,
            writable,
            network,
            drop_user,
            limits,
        });
    let confined = (confinement, policy)
        .prop_map(|(confinement, policy)| Sandbox::Confined { confinement, policy });
    prop_oneof![Just(Sandbox::None), confined]
}

fn job_spec() -> impl Strategy<Value = JobSpec> {
    let script =
        (text(), vec(text(), 0..3), any::<[bool; 2]>()).prop_map(|(script, values, flags)| {
            let [substitute, fail_fast] = flags;
            let script = Filled { values, fail_fast, ..Filled::plain(script) };
            Work::Script { script, substitute }
        });
    let work = prop_oneof![script, agent_work().prop_map(|work| Work::Agent(Box::new(work)))];
    let limits = (of(duration()), of(duration()), vec((text(), text()), 0..3), sandbox());
    (any::<u32>(), key(), work, path(), limits).prop_map(|(id, key, work, directory, limits)| {
        let (timeout, idle_timeout, environment, sandbox) = limits;
        let id = JobId(id);
        JobSpec { id, key, work, directory, timeout, idle_timeout, environment, sandbox }
    })
}

fn status() -> impl Strategy<Value = EndStatus> {
    prop_oneof![
        any::<i32>().prop_map(EndStatus::Exited),
        any::<i32>().prop_map(EndStatus::Signalled),
        duration().prop_map(EndStatus::Silent),
        prop::sample::select(vec![EndStatus::TimedOut, EndStatus::Stopped, EndStatus::NotStarted]),
        (fault(), of(any::<i64>()))
            .prop_map(|(kind, until_ms)| EndStatus::Faulted { kind, until_ms }),
    ]
}

fn finished() -> impl Strategy<Value = Finished> {
    let processes = || {
        let command = |(pid, command)| Leftover { pid, command, job: None };
        vec((any::<u32>(), text()).prop_map(command), 0..3)
    };
    let texts = (text(), text(), of(text()), of(text()), of(session()), vec(text(), 0..3));
    let rest = (of(usage()), of(usage()), processes(), processes());
    (any::<u32>(), status(), texts, rest).prop_map(|(job, status, texts, rest)| {
        let (stdout, stderr, answer, message, session, warnings) = texts;
        let (usage, session_total, ended, left) = rest;
        Finished {
            job: JobId(job),
            status,
            stdout,
            stderr,
            answer,
            message,
            usage,
            session_total,
            session,
            warnings,
            ended,
            left,
        }
    })
}

fn travels<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    sent: &T,
) -> Result<(), TestCaseError> {
    let json = serde_json::to_string(sent).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let arrived: T =
        serde_json::from_str(&json).map_err(|e| TestCaseError::fail(format!("{e}\n{json}")))?;
    prop_assert_eq!(&arrived, sent, "{}", json);
    Ok(())
}

pub fn a_job_and_its_end_travel_as_json() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    runner.run(&job_spec(), |job| travels(&job)).unwrap();
    runner.run(&finished(), |end| travels(&end)).unwrap();
}
