//! `towpath skill`: a text that teaches an agent to write, check, test and run recipes, as a skill of
//! Claude Code. A file that was changed since it was installed is never written.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::skill_file::{SkillFile, SkillStatus, TEXT};
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;

/// Teach Claude Code to write, test and run recipes.
///
/// Example: towpath skill install
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: SkillCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SkillCommand {
    Install(Install),
    Print(Print),
}

/// Write the skill to .claude/skills/towpath/SKILL.md.
///
/// A newer text replaces one that is as it was installed. A file that you changed stays.
///
/// Example: towpath skill install --user
#[derive(Debug, clap::Args)]
struct Install {
    /// For this project, to be committed (the default).
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// For you, in all projects.
    #[arg(long)]
    user: bool,
}

/// Print the skill's text, for agents that have no skills.
///
/// Example: towpath skill print >> AGENTS.md
#[derive(Debug, clap::Args)]
struct Print {}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        match &self.command {
            SkillCommand::Install(install) => install.execute(invocation),
            SkillCommand::Print(Print {}) => {
                out::line(TEXT.trim_end());
                Ok(Exit::Done)
            }
        }
    }
}

impl Execute for Install {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let skill = if self.user { SkillFile::of_user(env) } else { SkillFile::of_project(env) }?;
        let shown = shown_path(&skill.path, env);
        let failed = |error: std::io::Error| CommandError::setup(format!("{shown}: {error}"));
        match skill.status().map_err(failed)? {
            SkillStatus::Absent => {
                skill.create().map_err(failed)?;
                out::line(format!("created {shown}; sessions that start from now on have it"));
            }
            SkillStatus::UpToDate => out::line(format!("{shown} is up to date")),
            SkillStatus::Earlier => {
                skill.update().map_err(failed)?;
                out::line(format!("updated {shown}"));
            }
            SkillStatus::ChangedByUser => {
                return Err(CommandError::bad_input(format!(
                    "{shown} was changed, and stays as it is; move it away to get the text of this \
                     version, or compare it: towpath skill print | diff {shown} -"
                )));
            }
        }
        Ok(Exit::Done)
    }
}
