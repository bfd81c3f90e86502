//! `towpath run`: a fresh run of a recipe, recorded from its first step.

use super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::session::request_flags::{RequestFlags, RunFlags};
use crate::session::resolve_recipe::resolve;
use crate::session::{Session, choose_recipe, conclude, dry_run, recipe_list, trust};
use crate::terminal::report::ReporterKind;
use towpath_store::Store;

/// Run a recipe.
///
/// Every step is recorded when it starts and when it ends. If the run fails or is interrupted,
/// `towpath resume` continues it.
///
/// Example: towpath run build.yaml --set mode=release
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The recipe: a file, or a name that `towpath list` shows [default: choose one on a terminal, else
    /// list them and fail]
    recipe: Option<String>,
    #[command(flatten)]
    flags: RunFlags,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let flags = &self.flags;
        let Some(recipe) = &self.recipe else {
            let RequestFlags { directory, recipe_dirs, .. } = &flags.request;
            let found =
                recipe_list::entries(env, directory.as_deref(), recipe_dirs, flags.called_as)?;
            if flags.shared.json || !choose_recipe::can_ask(env) {
                // A script whose variable is empty has run nothing, and must notice it.
                if flags.shared.json {
                    let message = "no recipe was named; `towpath list --json` lists them";
                    return Err(CommandError::bad_input(message));
                }
                recipe_list::print(&found, env, false);
                let message = "no recipe was named; to run one of these: towpath run NAME";
                return Err(CommandError::bad_input(message));
            }
            return match choose_recipe::choose(&found)? {
                Some(name) => self.run(env, &name),
                None => Ok(Exit::Done),
            };
        };
        self.run(env, recipe)
    }

    fn json(&self) -> bool {
        self.flags.shared.json
    }
}

impl Args {
    fn run(&self, env: &Environment, recipe: &str) -> Result<Exit, CommandError> {
        let flags = &self.flags;
        let chosen = resolve(env, flags, recipe, |_| false)?;
        if flags.dry_run {
            return dry_run::execute(env, &chosen, flags);
        }
        let mut store = Store::open(&env.directories.state)?;
        trust::consent(env, &mut store, &chosen.program, chosen.origin)?;
        let mut session = Session::new(env, store, &flags.shared, ReporterKind::Own)?;
        let recorded = session.record(chosen, flags)?;
        let driven = session.drive(recorded)?;
        conclude::conclude(&session, driven)
    }
}
