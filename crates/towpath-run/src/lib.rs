//! The run: plan and facts in, jobs out.
//!
//! Nothing here does I/O, asks the time or draws a random number. [`Run::apply`] takes what
//! happened, [`Run::next`] gives the effects that are wanted now, [`Run::outcome`] says how it
//! stands once nothing is in flight. Replaying the same facts always gives the same run.
//!
//! | rule | file |
//! |---|---|
//! | which step comes next, groups, failing, ending | `advance.rs` |
//! | conditions, limits, hooks, filling a job | `begin.rs` |
//! | what a finished job means, what a step sets | `settle.rs` |
//! | asking an agent once more for JSON | `remind.rs` |
//! | staging in git what an agent changed | `stage.rs` |
//! | machines: transitions, limits, outcomes, reminders | `machine/` |
//! | an agent that finishes a failed recipe's work | `recover.rs` |
//! | interruption, retry, `--done`, `--again` | `resume.rs` |
//! | going on with an edited recipe | `replan.rs` |
//! | what a run would do, without doing it | `preview/` |

#![deny(clippy::disallowed_methods)]

mod advance;
mod begin;
mod fact;
mod frame;
mod happening;
mod job;
mod machine;
mod outcome;
mod patience;
mod preview;
mod recover;
mod remind;
mod replan;
mod resume;
mod run;
mod settle;
mod stage;
mod time_limit;
mod view;

pub use fact::{Answer, Fact, Fault, JobEnd, JobStatus, Output, StopReason};
pub use frame::{Conversation, EndedCall, Spent};
pub use happening::{Happening, Movement};
pub use job::{AgentJob, HOOK_TIMEOUT, JSON_REMINDER, Job, JobWork, NON_INTERACTIVE_FOOTER};
pub use machine::{
    MachineExit, MachineView, Misreport, MisreportKind, Reported, read_report, without_report,
};
pub use outcome::{Failure, FailureKind, RunOutcome, StepResult, StepStatus};
pub use preview::{Preview, PreviewStep, Verdict, preview};
pub use replan::EditRefused;
pub use run::{Limits, Mismatch, NoSuchStep, Run, Timer};
pub use towpath_recipe::StepKind;
pub use view::{StepState, StepView};
