//! `towpath resume`: continues a run. Work that is recorded as finished is never run again unless the
//! user asks for it.

mod due;

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::session::resume::{ResumeFlags, resume};
use crate::session::{conclude, find_run};
use crate::terminal::out;
use towpath_core::{RunId, RunStatus};
use towpath_store::Store;

/// Go on with a run that failed, was stopped or was cut off.
///
/// What is recorded as finished stays finished. What was in flight runs once more, unless its
/// step is marked `effect: once`: then you say what became of it with --done or --again.
///
/// Example: towpath resume 7f3k
///
/// In a crontab, for runs that wait for a limit: */10 * * * * towpath resume --due --quiet
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id; a unique beginning is enough.
    #[arg(required_unless_present_any = ["last", "due"])]
    pub run: Option<String>,
    /// The latest run in this directory.
    #[arg(long, conflicts_with = "run")]
    pub last: bool,
    /// Every waiting run whose time has come, one after the other, wherever it was started. A rate
    /// limit without a known end is tried after 15 minutes. An overloaded agent or a refused login
    /// leaves the run waiting for the next try. Nothing is asked.
    #[arg(long, conflicts_with_all = [
        "run", "last", "done", "again", "edited", "wait", "backend", "script", "calls", "program",
        "new_session",
    ])]
    pub due: bool,
    #[command(flatten)]
    flags: ResumeFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if self.due {
            return due::execute(&self.flags.shared, env);
        }
        let store = Store::open(&env.directories.state)?;
        let row = match &self.run {
            Some(name) => find_run::find(&store, name)?,
            None => find_run::latest(&store, env)?,
        };
        if row.summary.status == RunStatus::Done && self.flags.again.is_empty() {
            return already_done(&row.id, &self.flags);
        }
        let Some((mut session, recorded)) = resume(env, store, &row, &self.flags)? else {
            return Ok(Exit::Done);
        };
        let driven = session.drive(recorded)?;
        conclude::conclude(&session, driven)
    }

    fn json(&self) -> bool {
        self.flags.shared.json
    }
}

fn already_done(id: &RunId, flags: &ResumeFlags) -> Result<Exit, CommandError> {
    let mut given = vec![
        ("--done", !flags.done.is_empty()),
        ("--edited", flags.edited),
        ("--new-session", flags.new_session),
    ];
    given.extend(flags.limits.given());
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(CommandError::bad_input(format!(
            "run {id} is done, and {flag} changes nothing any more; to run a step of it and what \
             follows anew: towpath resume {id} --again STEP"
        )));
    }
    let message = format!(
        "run {id} is done; to run a step of it and what follows anew: towpath resume {id} --again STEP"
    );
    if flags.shared.json {
        return Err(CommandError::new(Exit::Done, "already-done", message));
    }
    out::note(message);
    Ok(Exit::Done)
}
