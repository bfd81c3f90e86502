//! `towpath skill`: a text that teaches an agent to write, check, test and run recipes, as a skill of
//! Claude Code. A file that was changed since it was installed is never written.

use super::Execute;
use crate::corrections::install::HostFiles;
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Exit};
use crate::files;
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use sha2::{Digest as _, Sha256};
use std::io::ErrorKind;
use std::path::PathBuf;
use towpath_rules::host::Host;

const TEXT: &str = include_str!("skill/SKILL.md");
const FILE: &str = "skills/towpath/SKILL.md";
/// Begins the last line of an installed file, which has the hash of the lines above it.
const SEAL: &str = "<!-- installed by towpath, unchanged: ";

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
        let path = self.path(env)?;
        let shown = shown_path(&path, env);
        let failed = |error: std::io::Error| CommandError::setup(format!("{shown}: {error}"));
        let text = sealed(TEXT);
        let there = match files::read_text(&path, files::MOST_TEXT) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        match there {
            None => {
                files::create(&path, text.as_bytes()).map_err(failed)?;
                out::line(format!("created {shown}; sessions that start from now on have it"));
            }
            Some(there) if there == text => out::line(format!("{shown} is up to date")),
            Some(there) if is_as_installed(&there) => {
                files::replace(&path, text.as_bytes()).map_err(failed)?;
                out::line(format!("updated {shown}"));
            }
            Some(_) => {
                return Err(CommandError::bad_input(format!(
                    "{shown} was changed, and stays as it is; move it away to get the text of this \
                     version, or compare it: towpath skill print | diff {shown} -"
                )));
            }
        }
        Ok(Exit::Done)
    }
}

impl Install {
    /// Of a user, links are followed to the directory of Claude Code's settings, which may be kept
    /// elsewhere; below it, and in a project, none is.
    fn path(&self, env: &Environment) -> Result<PathBuf, CommandError> {
        let claude = HostFiles::of(Host::ClaudeCode);
        let (base, name) = match (self.user, &env.home) {
            (false, _) => (env.project_root(&env.current), format!(".claude/{FILE}")),
            (true, Some(home)) => {
                let settings = claude.user_path(&|name| env.get(name).map(PathBuf::from), home);
                let base = settings.parent().unwrap_or(home);
                (base.canonicalize().unwrap_or_else(|_| base.to_owned()), FILE.to_owned())
            }
            (true, None) => return Err(CommandError::setup("HOME is not set")),
        };
        files::below(&base, &name)
            .map_err(|error| CommandError::setup(format!("{}: {error}", shown_path(&base, env))))
    }
}

fn sealed(text: &str) -> String {
    format!("{text}\n{SEAL}{} -->\n", hash(text))
}

fn is_as_installed(file: &str) -> bool {
    file.rsplit_once(&format!("\n{SEAL}")).is_some_and(|(text, _)| file == sealed(text))
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
