//! From a job to its child: the command that bash gets, or the program that answers a call, with its
//! environment and its input files.

use super::agent_calls_file;
use super::job_files::JobFiles;
use super::{LocalAgents, LocalConfig};
use crate::error::ExecutorError;
use crate::job_spec::{AgentWork, JobSpec, Work};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use towpath_agent::{Backend, Scripted};
use towpath_process::{ChildSpec, Sandbox};
use towpath_shell::Filled;

/// Scripts longer than this do not fit into an argument.
const LONGEST_ARGUMENT: usize = 120_000;

/// What a child is started with beside its files for output.
struct Start {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    stdin: Option<PathBuf>,
}

impl LocalConfig {
    /// Writes the input files of a job, and describes its child. With the backend that reads its output,
    /// where it is an agent's.
    pub(super) fn child(
        &self,
        job: &mut JobSpec,
        files: &mut JobFiles,
    ) -> Result<(ChildSpec, Option<Arc<dyn Backend>>), ExecutorError> {
        let own = job.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let (start, backend) = match &mut job.work {
            Work::Script { script, .. } => (self.script(script, own, files)?, None),
            Work::Agent(work) => {
                work.call.directory.clone_from(&job.directory);
                work.call.private = files.private();
                if let Some(path) = &self.calls {
                    agent_calls_file::append(path, &job.key, work, &self.secrets)?;
                }
                let backend = self.backend(work).ok_or(ExecutorError::NoBackend)?;
                (self.call(&*backend, work, own, files)?, Some(backend))
            }
        };
        let spec = ChildSpec {
            id: u64::from(job.id.0),
            job: job.key.to_string(),
            program: start.program,
            arguments: start.arguments,
            environment: start.environment,
            directory: job.directory.clone(),
            stdin: start.stdin,
            stdout: files.path("stdout"),
            stderr: files.path("stderr"),
            report_start: false,
            sandbox: with_input_files(&job.sandbox, files),
        };
        Ok((spec, backend))
    }

    fn backend(&self, work: &AgentWork) -> Option<Arc<dyn Backend>> {
        match (&work.scripted, &self.agents) {
            (Some(answer), _) => {
                let (line, bash) = (answer.line.clone(), self.bash.clone());
                Some(Arc::new(Scripted { line, bash }))
            }
            (None, LocalAgents::Program(backend)) => Some(Arc::clone(backend)),
            (None, LocalAgents::None | LocalAgents::Scripted) => None,
        }
    }

    fn script(
        &self,
        script: &Filled,
        own: Vec<(OsString, OsString)>,
        files: &mut JobFiles,
    ) -> Result<Start, ExecutorError> {
        let mut environment = self.environment.clone();
        set(&mut environment, own);
        if script.has_values() {
            files.write("values", &script.values_bytes())?;
        }
        let command = script.command(&files.path("values").to_string_lossy());
        let arguments = bash_arguments(script.bash_options(), command, files)?;
        let program = self.bash.clone().into_os_string();
        Ok(Start { program, arguments, environment, stdin: None })
    }

    fn call(
        &self,
        backend: &dyn Backend,
        work: &AgentWork,
        own: Vec<(OsString, OsString)>,
        files: &mut JobFiles,
    ) -> Result<Start, ExecutorError> {
        let invocation = backend.invocation(&work.call);
        files.prepare(&invocation)?;
        let mut environment = self.environment.clone();
        environment.retain(|(name, _)| backend.keeps(&name.to_string_lossy()));
        if let Some(tree) = &self.session_tree {
            set(&mut environment, tree.for_child());
        }
        set(&mut environment, self.directory_variables.of(&work.call.directory));
        set(&mut environment, own);
        set(&mut environment, invocation.set);
        files.write("stdin", &invocation.stdin)?;
        Ok(Start {
            program: invocation.program.into_os_string(),
            arguments: invocation.arguments,
            environment,
            stdin: Some(files.path("stdin")),
        })
    }
}

/// The job's sandbox, with the files that it is started with.
fn with_input_files(sandbox: &Sandbox, files: &JobFiles) -> Sandbox {
    let mut sandbox = sandbox.clone();
    if let Sandbox::Confined { policy, .. } = &mut sandbox {
        policy.readable.extend(files.inputs());
        policy.writable.extend(Some(files.private()).filter(|private| private.exists()));
    }
    sandbox
}

fn set(environment: &mut Vec<(OsString, OsString)>, variables: Vec<(OsString, OsString)>) {
    for (name, value) in variables {
        environment.retain(|(known, _)| *known != name);
        environment.push((name, value));
    }
}

/// `bash OPTIONS -c -- TEXT`, so that a text may begin with `-`, or `bash OPTIONS FILE` where the text is longer than an argument may be.
fn bash_arguments(
    options: &[&str],
    command: String,
    files: &mut JobFiles,
) -> Result<Vec<OsString>, ExecutorError> {
    let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
    if command.len() <= LONGEST_ARGUMENT {
        arguments.extend(["-c".into(), "--".into(), command.into()]);
    } else {
        files.write("script", command.as_bytes())?;
        arguments.push(files.path("script").into());
    }
    Ok(arguments)
}
