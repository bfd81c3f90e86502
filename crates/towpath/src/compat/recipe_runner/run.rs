//! Runs a recipe: what the steps print as it comes, between a heading and the summary that this name
//! ends with. A recipe that was found in the working tree runs with a warning: under this name nobody
//! expects to be asked.

use super::{Line, code, found_at, summary};
use crate::commands::run::{self, Chosen, Ready};
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::session::audit::{Audit, audited};
use crate::session::result::result;
use crate::session::trust;
use crate::terminal::out;
use crate::terminal::report::{self, Look, Voice};
use crate::terminal::table::one_line;
use towpath_engine::RunEnd;
use towpath_store::Store;

pub fn execute(
    env: &Environment,
    line: &Line,
    chosen: Chosen,
    args: &run::Args,
) -> Result<Exit, CommandError> {
    trust::warn(env, &chosen.program, chosen.origin)?;
    let mut audit = Audit::in_directory(env, line.audit_dir.as_deref())?;
    let mut store = Store::open(&env.directories.state)?;
    let heading = heading(&chosen);
    let voice = Voice::Stepwise { progress: line.progress };
    let look = Look { voice, ..Look::new(env, &args.shared) };
    let Ready { prepared, config, tree, .. } = run::ready(env, &mut store, chosen, args)?;
    if !line.json() {
        out::line(heading);
    }
    let driven = report::drive(
        prepared,
        &mut store,
        config,
        tree,
        &look,
        audit.as_mut(),
        &args.shared.events,
    )?;
    audited(audit, driven, |end, _| conclude(&end, &store, &look, line))
}

pub fn heading(chosen: &Chosen) -> String {
    let root = chosen.program.root();
    let (name, version) = (one_line(&root.name), one_line(&root.version));
    let from = found_at(&chosen.program, chosen.origin);
    format!("Recipe: {name} (v{version}){from}\nSteps: {}\n", root.steps.len())
}

fn conclude(end: &RunEnd, store: &Store, look: &Look, line: &Line) -> Result<Exit, CommandError> {
    let exit = Exit::of_outcome(&end.outcome);
    if line.json() {
        out::json(&result(store, end, code(exit), false)?);
    } else {
        out::stdout(summary::text(end, look.live()).as_bytes());
        report::rate_limit::notes(end).iter().for_each(out::note);
        if exit != Exit::Done {
            for way in report::next_commands::ways(&end.id, &end.run) {
                out::note(format!("{}: {}", way.when, way.command));
            }
        }
    }
    Ok(exit)
}
