//! The conclusion of a run: its result as JSON or as its last lines, and the program's exit code.

use super::result_json::result;
use super::{DrivenRun, Session};
use crate::exit::{CommandError, Exit};
use crate::terminal::report::next_commands::is_edited;
use crate::terminal::{out, report};

/// Concludes a run as `towpath` does.
pub fn conclude(session: &Session<'_>, driven: DrivenRun) -> Result<Exit, CommandError> {
    conclude_with(driven, |driven| {
        let DrivenRun { end, left, .. } = driven;
        let Session { env, store, flags, .. } = session;
        if flags.json {
            let mut value = result(store, end, driven.exit(), flags.with_context)?;
            if let Some(left) = left {
                value["worktree"] = left.json();
            }
            out::json(&value);
        }
        let directory = store.run(&end.id)?.map(|row| row.directory);
        let directory = directory.as_deref().unwrap_or(&env.current);
        let edited = is_edited(&end.run);
        report::ending(&session.output, end, edited, directory, &env.current);
        if let Some(left) = left.as_ref().filter(|_| !flags.quiet) {
            left.lines(env).iter().for_each(out::note);
        }
        Ok(())
    })
}

/// Concludes a run whose end another name reports. A file that is not complete is reported last.
pub fn conclude_with(
    driven: DrivenRun,
    report: impl FnOnce(&DrivenRun) -> Result<(), CommandError>,
) -> Result<Exit, CommandError> {
    report(&driven)?;
    driven.unwritten.iter().for_each(|problem| out::note(format!("error: {problem}")));
    Ok(driven.exit())
}
