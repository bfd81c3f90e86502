//! Jobs that an embedder's adapter takes, before a real executor.

use crate::agent_answers::call;
use crate::support::Run;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use towpath_core::{FaultKind, Secrets};
use towpath_executor::{
    Adapter, AdapterError, AdapterExecutor, AgentCall, BashCall, EndStatus, Executor as _,
};

/// Does what the prompt or the command asks for.
#[derive(Default)]
pub struct Demo {
    saw_abandoned: Arc<AtomicBool>,
}

impl Adapter for Demo {
    fn name(&self) -> &str {
        "demo"
    }

    fn execute_agent_step(&self, call: &AgentCall) -> Result<String, AdapterError> {
        match call.prompt.as_str() {
            "panic" => panic!("out of ideas"),
            "wait" => {
                while !call.is_abandoned() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                self.saw_abandoned.store(true, Ordering::Release);
                Ok("too late".into())
            }
            prompt => Ok(format!("answer to {prompt}")),
        }
    }

    fn execute_bash_step(&self, call: &BashCall) -> Option<Result<String, AdapterError>> {
        match call.command.as_str() {
            "panic" => panic!("no shell"),
            "mine" => Some(Err(AdapterError::exit(7, "not here"))),
            _ => None,
        }
    }
}

/// An adapter before the executor of `run`, which is used apart from it.
pub fn adapted<'a>(run: &'a mut Run, adapter: Demo) -> AdapterExecutor<'a> {
    let directory = run.directory.path().to_owned();
    AdapterExecutor::new(Arc::new(adapter), &mut run.executor, directory, Secrets::default())
}

pub fn a_panic_is_a_failed_call_and_the_rest_continues() {
    let mut run = Run::new();
    let directory = run.directory.path().to_owned();
    let (panicking, command, next) =
        (call(&directory, 1, "panic"), run.job(2, "panic"), call(&directory, 3, "go"));
    let mut seen = std::mem::take(&mut run.seen);
    let mut executor = adapted(&mut run, Demo::default());
    for job in [panicking, command, next] {
        executor.start(job).unwrap();
    }
    let end = seen.end_of(&mut executor, 1);
    assert_eq!(end.status, EndStatus::Faulted { kind: FaultKind::Crash, until_ms: None });
    assert_eq!(end.message.as_deref(), Some("demo panicked: out of ideas"));
    assert_eq!(seen.end_of(&mut executor, 2).status, EndStatus::Exited(1));
    assert_eq!(seen.stderr["s2"], "demo panicked: no shell");
    assert_eq!(seen.end_of(&mut executor, 3).answer.as_deref(), Some("answer to go"));
}

pub fn what_an_adapter_leaves_is_run_by_the_other_executor() {
    let mut run = Run::new();
    let jobs = [run.job(1, "mine"), run.job(2, "echo real; exit 4")];
    let mut seen = std::mem::take(&mut run.seen);
    let mut executor = adapted(&mut run, Demo::default());
    for job in jobs {
        executor.start(job).unwrap();
    }
    assert_eq!(seen.end_of(&mut executor, 1).status, EndStatus::Exited(7));
    assert_eq!(seen.end_of(&mut executor, 2).status, EndStatus::Exited(4));
    assert_eq!((seen.stderr["s1"].as_str(), seen.stdout_of("s2")), ("not here", "real\n"));
}

pub fn a_call_that_never_returns_is_abandoned() {
    let mut run = Run::new();
    let directory = run.directory.path().to_owned();
    let mut late = call(&directory, 1, "wait");
    late.timeout = Some(Duration::from_millis(100));
    let stopped = call(&directory, 2, "wait");
    let adapter = Demo::default();
    let saw_abandoned = Arc::clone(&adapter.saw_abandoned);
    let mut seen = std::mem::take(&mut run.seen);
    let mut executor = adapted(&mut run, adapter);
    executor.start(late).unwrap();
    assert_eq!(seen.end_of(&mut executor, 1).status, EndStatus::TimedOut);
    crate::support::until("the call sees it", || saw_abandoned.load(Ordering::Acquire));
    let id = stopped.id;
    executor.start(stopped).unwrap();
    executor.stop(id).unwrap();
    assert_eq!(seen.end_of(&mut executor, 2).status, EndStatus::Stopped);
    assert_eq!(seen.stdout_of("s1"), "", "what is returned later is dropped");
}
