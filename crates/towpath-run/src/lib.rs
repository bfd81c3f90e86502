//! The run: plan and facts in, jobs out.
//!
//! Nothing here does I/O, asks the time or draws a random number. [`Run::apply`] takes what
//! happened, [`Run::next`] gives the effects that are wanted now, [`Run::outcome`] the status once
//! nothing is in flight. Replaying the same facts always gives the same run.
//!
//! Data is below: facts, jobs and their ends, events, what is shown. A step's visit and how far it has
//! come (`progress.rs`) are data, too, and so are the frames of the recipes that are open. Above are the
//! families of transitions, each in a file of its own, all of them methods of [`Run`]; [`Run::apply`]
//! calls them.
//!
//! | rule | file |
//! |---|---|
//! | conditions, filling a job, calling a recipe | `start.rs`, `scope.rs` |
//! | what a finished job means, how a step settles | `settle.rs` |
//! | what all flows implement, and the one dispatch between them | `flow.rs` |
//! | sequences: batches, failing, ending, running again | `sequence.rs` |
//! | state machines: transitions, guardrails, outcomes, reminders | `machine/` |
//! | hooks | `hook.rs` |
//! | documents that prompts are made of | `document.rs`, `prompt_rendering.rs` |
//! | agent calls, and asking again for what an answer lacks | `remind.rs` |
//! | staging in git what an agent changed | `git_staging.rs` |
//! | an agent that finishes a failed recipe's work | `recovery.rs` |
//! | `recursion`: how many steps, how deep | `step_count.rs` |
//! | timeouts of commands, agent calls and recipe steps | `job_timeout.rs`, `expire.rs` |
//! | faults that are waited for | `wait_policy.rs` |
//! | interruption, retry, `--done`, `--again` | `resume.rs` |
//! | continuing with an edited recipe | `replan.rs` |
//! | what a run would do, without doing it | `preview/` |

#![deny(clippy::disallowed_methods)]

mod agent_call;
mod condition_value;
mod document;
mod event;
mod expire;
mod fact;
mod failure;
mod find_step;
mod flow;
mod frame;
mod git_staging;
mod hook;
mod job;
mod job_end;
mod job_timeout;
mod machine;
mod machine_exit;
mod machine_state;
mod preview;
mod progress;
mod prompt_rendering;
mod recovery;
mod remind;
mod replan;
mod reported;
mod resume;
mod run;
mod run_outcome;
mod scope;
mod sequence;
mod settle;
mod spent;
mod start;
mod step_count;
mod step_result;
mod step_view;
mod view;
mod wait_policy;

pub use agent_call::{AgentCall, CallEnd};
pub use condition_value::ConditionValue;
pub use event::{CallEnded, CallStarted, EndedWith, Event, EventKind, Movement};
pub use fact::{Answer, Fact, StopReason};
pub use failure::{Failure, FailureKind, Guardrail};
pub use find_step::NoSuchStep;
pub use git_staging::IndexState;
pub use job::{AgentJob, HOOK_TIMEOUT, JSON_REMINDER, Job, JobWork, NON_INTERACTIVE_FOOTER};
pub use job_end::{Fault, JobEnd, JobStatus, Output};
pub use machine::MachineView;
pub use machine_exit::MachineExit;
pub use preview::{Preview, PreviewStep, Verdict, preview};
pub use replan::EditRefused;
pub use reported::{Misreport, MisreportKind, Reported, read_report, without_report};
pub use run::{Limits, Mismatch, Run, Timer};
pub use run_outcome::RunOutcome;
pub use spent::Spent;
pub use step_result::{StepResult, StepStatus};
pub use step_view::{StepState, StepView};
pub use towpath_recipe::StepKind;
