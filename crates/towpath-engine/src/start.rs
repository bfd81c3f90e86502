//! The start of a job: the command that bash gets, or the program that answers a call, with its
//! environment and its files. The warden has the child; what it prints is `live.rs`.

use crate::agents::Prepared;
use crate::driver::{Driver, Launch};
use crate::error::EngineError;
use crate::files::Files;
use crate::live::{Asking, Live};
use crate::silence::Silence;
use std::ffi::OsString;
use std::time::Instant;
use towpath_process::ChildSpec;
use towpath_run::JobWork;
use towpath_shell::Filled;

/// Scripts longer than this do not fit into an argument.
const LONGEST_ARGUMENT: usize = 120_000;

impl Driver<'_> {
    /// Starts a job as a child of the warden.
    pub(crate) fn start(&mut self, launch: Launch) -> Result<(), EngineError> {
        let Launch { id, job, mut agent, .. } = launch;
        let mut files = Files::new(&self.directory, id as u32, &self.config.secrets);
        let mut environment = self.config.environment.clone();
        let own = job.environment.iter().map(|(n, v)| (n.into(), v.into()));
        let (program, arguments, stdin, reader);
        match (&job.work, &mut agent) {
            (JobWork::Bash(filled), _) => {
                set(&mut environment, own);
                let command = match self.config.substitutes.of(&job.key) {
                    Some(text) => text.to_owned(),
                    None => written_out(filled, &mut files)?,
                };
                arguments = bash_arguments(command, &mut files)?;
                program = self.config.bash.clone().into_os_string();
                (stdin, reader) = (None, None);
            }
            (JobWork::Agent(_), Some(prepared)) => {
                self.config.agents.note(&job, prepared, &self.config.secrets)?;
                prepared.call.private = files.private();
                let invocation = prepared.backend.invocation(&prepared.call);
                files.prepare(&invocation)?;
                environment.retain(|(name, _)| prepared.backend.keeps(&name.to_string_lossy()));
                if let Some(tree) = &self.session_tree {
                    set(&mut environment, tree.for_child().into_iter());
                }
                let there = self.config.by_directory.of(&self.directory_of(&job));
                set(&mut environment, there.into_iter());
                set(&mut environment, own);
                set(&mut environment, invocation.set.into_iter());
                files.write("stdin", &invocation.stdin)?;
                program = invocation.program.into_os_string();
                arguments = invocation.arguments;
                (stdin, reader) = (Some(files.path("stdin")), Some(prepared.backend.reader()));
            }
            (JobWork::Agent(_), None) => return Ok(()),
        }
        let spec = ChildSpec {
            id,
            job: job.key.to_string(),
            program,
            arguments,
            environment,
            directory: self.directory_of(&job),
            stdin,
            stdout: files.path("stdout"),
            stderr: files.path("stderr"),
        };
        let mut live = Live::new(job.key.clone(), files, job.timeout, reader);
        let idle = self.config.idle_timeout.filter(|_| live.key.kind.is_work());
        live.silence = idle.map(Silence::new);
        let may_be_repeated = |prepared: &Prepared| prepared.may_open && prepared.call.resume;
        live.showing.hold(agent.as_ref().is_some_and(may_be_repeated));
        live.call = agent.map(|prepared| Asking { id, job, prepared, began: Instant::now() });
        self.live.insert(id, live);
        self.warden.start(&spec)?;
        Ok(())
    }
}

fn set(
    environment: &mut Vec<(OsString, OsString)>,
    variables: impl Iterator<Item = (OsString, OsString)>,
) {
    for (name, value) in variables {
        environment.retain(|(known, _)| *known != name);
        environment.push((name, value));
    }
}

/// A filled script as text, its values in a file beside it.
fn written_out(filled: &Filled, files: &mut Files) -> Result<String, EngineError> {
    if !filled.values.is_empty() {
        files.write("values", &filled.values_bytes())?;
    }
    Ok(filled.command(&files.path("values").to_string_lossy()))
}

/// `bash -c TEXT`, or `bash FILE` where the text is longer than an argument may be.
fn bash_arguments(command: String, files: &mut Files) -> Result<Vec<OsString>, EngineError> {
    if command.len() <= LONGEST_ARGUMENT {
        return Ok(vec!["-c".into(), command.into()]);
    }
    files.write("script", command.as_bytes())?;
    Ok(vec![files.path("script").into()])
}
