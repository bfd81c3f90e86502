//! `towpath doctor`: what there is on this machine and in this directory, what is wrong with it,
//! and the command that mends each thing. It asks programs for their version and starts nothing
//! else; it mends nothing, writes nothing and upgrades nothing by itself.

mod abilities;
mod agents;
mod finding;
mod places;
mod recipes;
mod record;
mod runs;
mod settings;
mod version;

use super::runs::table::Screen;
use crate::exit::{Exit, Stop};
use crate::out;
use crate::surroundings::Surroundings;
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

pub fn execute(args: &Args) -> Result<Exit, Stop> {
    let around = Surroundings::read()?;
    let record = record::open(&around);
    let store = record.store.as_ref();
    let (set, settings) = settings::look(&around, &record);
    // Asked first, answered last: each may take seconds.
    let programs = agents::ask(&around, &set);
    let search = crate::places::search_path(&around, &set, &[], &around.current)?;
    let mut groups = vec![
        Group { title: "places", findings: places::look(&around, &search) },
        Group { title: "settings", findings: settings },
        Group { title: "record", findings: record.look(&around) },
        Group { title: "runs", findings: store.map_or(Ok(Vec::new()), runs::look)? },
        Group { title: "recipes", findings: recipes::look(&around, &search, &record)? },
    ];
    let (findings, agents) = programs.answers();
    groups.insert(2, Group { title: "programs", findings });
    let level = worst(&groups);
    if args.json {
        out::json(&json!({
            "schema": 1,
            "status": level.word(),
            "findings": as_json(&groups),
            "agents": agents,
            "places": places::as_json(&around, &search),
        }));
    } else {
        let screen = Screen::new(&around);
        print(&groups, &screen);
        abilities::print(&screen);
        verdict(&groups);
    }
    Ok(if level == Level::Broken { Exit::Failed } else { Exit::Done })
}
