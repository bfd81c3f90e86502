//! The run: plan and facts in, jobs out.
//!
//! Nothing here does I/O, asks the time or draws a random number. [`Run::apply`] takes what
//! happened, [`Run::next`] gives the effects that are wanted now, [`Run::outcome`] the status once
//! nothing is in flight. Replaying the same facts always gives the same run.
//!
//! | rule | file |
//! |---|---|
//! | what all flows implement, and the one dispatch between them | `sequence_or_machine_flow.rs` |
//! | sequences: batches, failing, ending, running again | `sequence.rs` |
//! | state machines: transitions, guardrails, outcomes, reminders | `state_machine/` |
//! | conditions, filling a job, calling a recipe | `step_start.rs`, `fill_command_and_prompt.rs` |
//! | what a finished job means, how a step settles | `step_end.rs` |
//! | hooks | `pre_and_post_step_hooks.rs` |
//! | `recursion`: how many steps, how deep | `step_and_depth_limits.rs` |
//! | timeouts of commands, agent calls and recipe steps | `job_timeout.rs`, `recipe_step_timeout.rs` |
//! | asking an agent again for JSON | `json_reminder.rs` |
//! | staging in git what an agent changed | `git_staging.rs` |
//! | an agent that finishes a failed recipe's work | `recovery_agent.rs` |
//! | faults that are waited for | `wait_after_fault.rs` |
//! | interruption, retry, `--done`, `--again` | `resume_interrupted_steps.rs` |
//! | continuing with an edited recipe | `continue_with_edited_recipe.rs` |
//! | what a run would do, without doing it | `preview/` |

#![deny(clippy::disallowed_methods)]

mod agent_call;
mod condition_values;
mod continue_with_edited_recipe;
mod cost_of_calls;
mod event;
mod fact;
mod fill_command_and_prompt;
mod find_step;
mod git_staging;
mod job;
mod job_end;
mod job_timeout;
mod json_reminder;
mod pre_and_post_step_hooks;
mod preview;
mod recipe_frame;
mod recipe_step_timeout;
mod recovery_agent;
mod render_prompt_documents;
mod resume_interrupted_steps;
mod run;
mod run_view;
mod sequence;
mod sequence_or_machine_flow;
mod state_machine;
mod step_and_depth_limits;
mod step_and_run_outcome;
mod step_end;
mod step_progress;
mod step_start;
mod wait_after_fault;

pub use agent_call::{AgentCall, CallEnd};
pub use condition_values::ConditionValue;
pub use continue_with_edited_recipe::EditRefused;
pub use cost_of_calls::Spent;
pub use event::{CallEnded, CallStarted, EndedWith, Event, EventKind, Movement};
pub use fact::{Answer, Fact, StopReason};
pub use find_step::NoSuchStep;
pub use git_staging::IndexState;
pub use job::{AgentJob, HOOK_TIMEOUT, JSON_REMINDER, Job, JobWork, NON_INTERACTIVE_FOOTER};
pub use job_end::{Fault, JobEnd, JobStatus, Output};
pub use preview::{Preview, PreviewStep, Verdict, preview};
pub use run::{Limits, Mismatch, Run, Timer};
pub use run_view::{StepState, StepView};
pub use state_machine::{
    MachineExit, MachineView, Misreport, MisreportKind, Reported, read_report, without_report,
};
pub use step_and_run_outcome::{
    Failure, FailureKind, Guardrail, RunOutcome, StepResult, StepStatus,
};
pub use towpath_recipe::StepKind;
