//! One call of an agent's tool, as a hook sees it: answered, and recorded in the log of calls.
//!
//! On the way to an answer no database is opened: rules come from the snapshot, what happened goes to
//! the log. What fails beside the answer is kept as a problem, and changes no answer.

mod after_batch;
mod after_call;
mod before_call;
mod ingest;
mod pave_check;
mod records;

pub use ingest::any_payload;
pub use pave_check::PaveCheck;

use crate::hook_rules::{HookRules, rules_for};
use crate::hooks_directory::HooksDirectory;
use crate::host::{Answer, HookEvent, HookPayload};
use crate::resolved::resolved;
use crate::{Error, ToolCall, User, now_ms};
use std::cell::RefCell;

/// One call of a hook, with what is needed to answer it.
#[derive(Debug)]
pub struct HookCall<'a> {
    user: &'a dyn User,
    directory: HooksDirectory,
    payload: HookPayload,
    /// The host's version, where the payload or the environment has it.
    version: Option<String>,
    at_ms: i64,
    problems: RefCell<Vec<HookProblem>>,
}

/// A problem beside an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProblem {
    /// The hook, or the file.
    pub what: String,
    pub message: String,
}

impl<'a> HookCall<'a> {
    pub fn new(user: &'a dyn User, mut payload: HookPayload) -> HookCall<'a> {
        // A host that names no directory calls its hooks in it.
        let current = || user.current().to_str().map(str::to_owned);
        let directory = payload.call.directory.or_else(current);
        payload.call.directory = directory.as_deref().map(resolved);
        for one in &mut payload.batch {
            one.call.directory = one.call.directory.as_deref().map(resolved);
        }
        let variable = |name: &str| Some(user.variable(name)?.to_string_lossy().into_owned());
        let version = payload.version.clone();
        HookCall {
            user,
            directory: HooksDirectory::of(user.state()),
            version: version.or_else(|| payload.host.version_of_environment(&variable)),
            payload,
            at_ms: now_ms(),
            problems: RefCell::default(),
        }
    }

    pub fn answer(&self) -> Result<Answer, Error> {
        match self.payload.event {
            HookEvent::Pre => before_call::answer(self),
            HookEvent::Post | HookEvent::Failure => after_call::answer(self),
            HookEvent::Batch => after_batch::answer(self),
        }
    }

    /// The problems so far.
    pub fn problems(&self) -> Vec<HookProblem> {
        self.problems.borrow().clone()
    }

    /// The rules that a call may need.
    fn rules(&self, call: &ToolCall) -> Result<HookRules, Error> {
        let mut rules = rules_for(self.user, call)?;
        self.note(rules.problem.take().map_or(Ok(()), Err));
        Ok(rules)
    }

    /// Keeps what went wrong beside the answer.
    fn note<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Option<T> {
        let what = format!("{} {}", self.payload.event.name(), self.payload.host.name());
        result.map_err(|error| self.problem(what, error.to_string())).ok()
    }

    fn problem(&self, what: impl Into<String>, message: String) {
        self.problems.borrow_mut().push(HookProblem { what: what.into(), message });
    }
}
