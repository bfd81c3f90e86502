//! `towpath doctor`: what there is on this machine and in this directory, what is wrong with it,
//! and the command that mends each thing. It asks programs for their version and starts nothing
//! else; it mends nothing, writes nothing and upgrades nothing by itself.

mod agents;
mod capabilities;
mod directories;
mod finding;
mod journal;
mod recipes;
mod runs;
mod settings;
mod version;

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::table::Screen;
use finding::{Group, Level, as_json, print, verdict, worst};
use serde_json::json;

/// What is wrong here, and how to mend it.
///
/// Looks at the places, the settings, the record of runs, the programs and the recipes of this
/// directory. Ends with 1 if something is broken. Programs are only asked for their version.
///
/// Example: towpath doctor
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One JSON object on stdout.
    #[arg(long)]
    pub json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let record = journal::open(env);
        let store = record.store.as_ref();
        let (set, settings) = settings::look(env, &record);
        // Asked first, answered last: each may take seconds.
        let programs = agents::ask(env, &set);
        let search = crate::session::search_path::search_path(env, &set, &[], &env.current)?;
        let mut groups = vec![
            Group { title: "places", findings: directories::look(env, &search) },
            Group { title: "settings", findings: settings },
            Group { title: "record", findings: record.look(env) },
            Group { title: "runs", findings: store.map_or(Ok(Vec::new()), runs::look)? },
            Group { title: "recipes", findings: recipes::look(env, &search, &record)? },
        ];
        let (findings, agents) = programs.answers();
        groups.insert(2, Group { title: "programs", findings });
        let level = worst(&groups);
        if self.json {
            out::json(&json!({
                "schema": 1,
                "status": level.word(),
                "findings": as_json(&groups),
                "agents": agents,
                "places": directories::as_json(env, &search),
            }));
        } else {
            let screen = Screen::new(env);
            print(&groups, &screen);
            capabilities::print(&screen);
            verdict(&groups);
        }
        Ok(if level == Level::Broken { Exit::Failed } else { Exit::Done })
    }

    fn json(&self) -> bool {
        self.json
    }
}
