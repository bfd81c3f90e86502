//! The run: plan and facts in, jobs out.
//!
//! Nothing here does I/O, asks the time or draws a random number. [`Run::apply`] takes what
//! happened, [`Run::next`] gives the effects that are wanted now, [`Run::outcome`] the status once
//! nothing is in flight. Replaying the same facts always gives the same run.
//!
//! | rule | file |
//! |---|---|
//! | what all flows implement, and the one dispatch between them | `flow.rs` |
//! | sequences: batches, failing, ending, running again | `sequence.rs` |
//! | state machines: transitions, guardrails, outcomes, reminders | `machine/` |
//! | conditions, filling a job, calling a recipe | `step_start.rs`, `scope.rs` |
//! | what a finished job means, how a step settles | `step_end.rs` |
//! | hooks | `hooks.rs` |
//! | `recursion`: how many steps, how deep | `recursion.rs` |
//! | timeouts of commands, agent calls and recipe steps | `step_timeout.rs`, `expiry.rs` |
//! | asking an agent again for JSON | `json_reminder.rs` |
//! | staging in git what an agent changed | `git_staging.rs` |
//! | an agent that finishes a failed recipe's work | `recovery.rs` |
//! | faults that are waited for | `waiting.rs` |
//! | interruption, retry, `--done`, `--again` | `resume.rs` |
//! | continuing with an edited recipe | `replan.rs` |
//! | what a run would do, without doing it | `preview/` |

#![deny(clippy::disallowed_methods)]

mod agent_call;
mod event;
mod expiry;
mod fact;
mod flow;
mod frame;
mod git_staging;
mod hooks;
mod job;
mod json_reminder;
mod lookup;
mod machine;
mod outcome;
mod preview;
mod progress;
mod recovery;
mod recursion;
mod replan;
mod resume;
mod run;
mod scope;
mod sequence;
mod step_end;
mod step_start;
mod step_timeout;
mod step_view;
mod waiting;

pub use agent_call::{AgentCall, CallEnd, Spent};
pub use event::{CallEnded, CallStarted, EndedWith, Event, EventKind, Movement};
pub use fact::{Answer, Fact, Fault, JobEnd, JobStatus, Output, StopReason};
pub use job::{AgentJob, HOOK_TIMEOUT, JSON_REMINDER, Job, JobWork, NON_INTERACTIVE_FOOTER};
pub use lookup::NoSuchStep;
pub use machine::{
    MachineExit, MachineView, Misreport, MisreportKind, Reported, read_report, without_report,
};
pub use outcome::{Failure, FailureKind, Guardrail, RunOutcome, StepResult, StepStatus};
pub use preview::{Preview, PreviewStep, Verdict, preview};
pub use replan::EditRefused;
pub use run::{Limits, Mismatch, Run, Timer};
pub use step_view::{StepState, StepView};
pub use towpath_recipe::StepKind;
