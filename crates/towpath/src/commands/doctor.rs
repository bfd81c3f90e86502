//! `towpath doctor`: what there is on this machine and in this directory, what is wrong with it,
//! and the command that fixes each problem. It asks programs for their version and starts nothing
//! else; it fixes nothing, writes nothing and upgrades nothing by itself.

mod agent_capability_table;
mod bug_report;
mod correction_rules;
mod directories;
mod finding;
mod findings_report;
mod hook_failures;
mod hooks;
mod installed_programs;
mod installed_tools;
mod journal;
mod recipes;
mod runs_needing_attention;
mod settings;

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use finding::Level;
use findings_report::{Group, Topic, as_json, print, verdict, worst};
use serde_json::json;

/// Check this machine and directory, and show how to fix each problem.
///
/// Checks towpath's directories, the settings, the journal, the programs and the recipes. Exits with
/// 1 if something is broken. Programs are only asked for their version.
///
/// `--report` prints a bug report as Markdown instead: the version, the system, the settings, what is wrong, and
/// the status and the failed step of a run. Values that look like secrets are masked, your home directory is `~`.
/// Read it before you send it; towpath sends nothing.
///
/// Example: towpath doctor
/// Example: towpath doctor --report 7f3k > report.md
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print a bug report, with this run in it [default: the latest run here, if there is one]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with = "json")]
    pub report: Option<String>,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let journal = journal::open(env);
        let store = journal.store.as_ref();
        let (set, settings) = settings::check(env, &journal);
        // Asked first, answered last: each may take seconds.
        let programs = installed_programs::ask(env, &set);
        let search = crate::session::recipe_search_path::search_path(env, &set, &[], &env.current)?;
        let mut groups = vec![
            Group::new(Topic::Directories, directories::check(env, &search)),
            Group::new(Topic::Settings, settings),
            Group::new(Topic::Journal, journal.check(env)),
            Group::new(Topic::Runs, store.map_or(Ok(Vec::new()), runs_needing_attention::check)?),
            Group::new(Topic::Recipes, recipes::check(env, &search, &journal)?),
            Group::new(Topic::Tools, installed_tools::check(env)),
        ];
        let (findings, agents) = programs.answers();
        groups.insert(2, Group::new(Topic::Programs, findings));
        let (mut findings, hosts) = hooks::check(env, store, &agents);
        findings.extend(hooks::dropped_rewrites(env));
        findings.extend(hook_failures::check(env));
        findings.extend(correction_rules::check(env, &journal));
        groups.insert(3, Group::new(Topic::Hooks, findings));
        if let Some(run) = &self.report {
            bug_report::print(env, &groups, run)?;
            return Ok(Exit::Done);
        }
        let level = worst(&groups);
        if self.json {
            out::json(&json!({
                "schema": 1,
                "status": level.word(),
                "findings": as_json(&groups),
                "agents": agents,
                "hosts": hosts,
                "places": directories::as_json(env, &search),
            }));
        } else {
            let screen = Screen::new(env);
            print(&groups, &screen);
            agent_capability_table::print(&screen);
            verdict(&groups);
        }
        Ok(if level == Level::Broken { Exit::Failed } else { Exit::Done })
    }

    fn json(&self) -> bool {
        self.json
    }
}
