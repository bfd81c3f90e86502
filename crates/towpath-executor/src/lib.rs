//! Starts one job and reports its end.
//!
//! Who calls what: the engine's loop decides which job comes next and calls [`Executor::start`] with a
//! [`JobSpec`]: a filled script or an agent call, its directory, its timeouts, its variables. It then
//! waits in [`Executor::events`] with an [`Observer`], which gets [`JobEvent`]s: output, what an agent
//! does, the name of its session, and exactly one [`Finished`] per job; `stop`, `kill`, `pause` and
//! `resume` are called between two waits, `close` at the end of the run. [`LocalExecutor`] asks a warden
//! process to start the children and reads their files; agents' lines go through the `Reader` of a
//! [`Backend`]. [`AdapterExecutor`] is in front of another executor and calls an embedder's [`Adapter`]
//! first. Whoever takes over the run of a dead owner calls [`Recovery::recover`] before it starts
//! anything. What crosses is plain data with a JSON form, so that the process that runs a job need not be
//! the one that decides what runs next; what is recorded, and what an end means for the run, is none of
//! this crate's business.
//!
//! | module | what it is |
//! |---|---|
//! | `executor.rs` | `trait Executor`, its events, `Observer`, `Waker` |
//! | `job_spec.rs` | `JobSpec`: one job to start |
//! | `finished_job.rs` | `Finished`: how one job ended, and where its output is |
//! | `local/mod.rs` | `LocalExecutor`: children of a warden on this machine |
//! | `local/job_to_child.rs` | from a `JobSpec` to the child: script, program, environment, input files |
//! | `local/running_job.rs` | a job that runs: its timeouts, and what its end means |
//! | `local/job_files.rs` | the files of one job in the run's directory |
//! | `local/output_follower.rs` | output on its way to the observer, at the pace of a slow reader |
//! | `local/idle_timer.rs` | how long a job has printed nothing |
//! | `local/agent_lines.rs` | an agent's output, line by line, into its backend's reader |
//! | `local/agent_calls_file.rs` | the file that lists every agent call |
//! | `local/warden_link.rs` | the warden of a run, and its events |
//! | `recover_answer.rs` | what a dead owner's agent call left on disk |
//! | `embedder_adapter.rs` | `trait Adapter`: an embedder's own agents and commands |
//! | `adapter_executor.rs` | `AdapterExecutor`: jobs that an adapter takes, before another executor |
//!
//! The engine sees processes and agent programs only through this crate. So what an owner of a run
//! needs of them (its lock, ending what a dead owner left, the table of backends) is exported here.

mod adapter_executor;
mod embedder_adapter;
mod error;
mod executor;
mod finished_job;
mod job_spec;
mod local;
mod recover_answer;
mod session_tree;
mod variables_by_directory;

pub use adapter_executor::AdapterExecutor;
pub use embedder_adapter::{Adapter, AdapterError, AgentCall, BashCall};
pub use error::ExecutorError;
pub use executor::{Executor, JobEvent, Observer, Responder, Swept, Waker};
pub use finished_job::{EndStatus, Finished};
pub use job_spec::{AgentWork, JobId, JobSpec, ScriptedAnswer, Work, new_session};
pub use local::{LocalAgents, LocalConfig, LocalExecutor, WardenStart};
pub use recover_answer::{InterruptedCall, LocalRecovery, Recovered, Recovery};
pub use session_tree::SessionTree;
pub use variables_by_directory::{DirectoryVariables, Variables};

pub use towpath_agent::{
    Backend, BackendRow, Call, CallProgress, Reader, Script, ScriptError, ScriptLine, SessionIds,
    WithoutModel, backend_row,
};
pub use towpath_process::sandbox::{
    Confinement, Limits, NoConfinement, Policy, SERVER_ARGUMENT, find_confinement, server_main,
};
pub use towpath_process::{
    Acquire, Holder, Leftover, ProcessError, RunLock, Sandbox, Stream, TerminalText, end_marked,
    own_executable, since_boot, warden_main,
};
