//! `towpath resume`: continues a run. Work that is recorded as finished is never run again unless the
//! user asks for it.

mod due;

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::session::resume_run::{ResumeFlags, resume};
use crate::session::run_status::can_resume;
use crate::session::{conclude, find_run};
use crate::terminal::out;
use towpath_core::RunStatus;
use towpath_store::{RunRow, Store};

/// Resume a run that failed, was stopped or was interrupted.
///
/// Finished steps do not run again. Interrupted steps run again, unless they are marked
/// `effect: once`: then --done or --again decides.
///
/// Example: towpath resume 7f3k
///
/// In a crontab, for runs that wait for a rate limit: */10 * * * * towpath resume --due --quiet
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id, or a unique prefix of it [default: the latest run here that can be resumed; with
    /// --again, the latest run here]
    pub run: Option<String>,
    /// Resume the latest run of this directory, whatever its status.
    #[arg(long, conflicts_with = "run")]
    pub last: bool,
    /// Resume every waiting run that is due, one after the other, in any directory. A rate limit
    /// without a known end is due after 15 minutes. An overloaded agent or a refused login leaves the
    /// run waiting for the next try. Never prompts.
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
            None if self.last => find_run::latest(&store, env)?,
            // A step can run again in a run that is done, too.
            None if !self.flags.again.is_empty() => {
                find_run::named_or_latest(&store, env, None, |_| true, "has been recorded")?
            }
            name => {
                let name = name.as_deref();
                find_run::named_or_latest(&store, env, name, can_resume, "can be resumed")?
            }
        };
        if row.summary.status == RunStatus::Done && self.flags.again.is_empty() {
            return already_done(&row, &self.flags);
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

fn already_done(row: &RunRow, flags: &ResumeFlags) -> Result<Exit, CommandError> {
    let id = &row.id;
    let mut given = vec![
        ("--done", !flags.done.is_empty()),
        ("--edited", flags.edited),
        ("--new-session", flags.new_session),
    ];
    given.extend(flags.limits.given());
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(CommandError::bad_input(format!(
            "run {id} is done, so {flag} has no effect; to run a step and everything after it again: \
             towpath resume {id} --again STEP"
        )));
    }
    let message = format!(
        "run {id} is done; to run a step and everything after it again: towpath resume {id} --again \
         STEP"
    );
    if flags.shared.json {
        out::json(&serde_json::json!({
            "schema": 1,
            "success": true,
            "recipe_name": row.recipe,
            "run_id": id.to_string(),
            "status": RunStatus::Done.as_str(),
            "exit_code": Exit::Done as u8,
        }));
    }
    out::note(message);
    Ok(Exit::Done)
}
