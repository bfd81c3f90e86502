//! What a user asks for: which recipe, with which values, by which agent, shown how. The same flags
//! for every command that takes a recipe, and for the other names.

use super::called_as::CalledAs;
use super::choose_agent::AgentFlags;
use super::state_machine_flags::MachineFlags;
use super::time_flags::TimeFlags;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::project_settings::settings_for;
use crate::session::recipe_search_path::{search_path, working_directory};
use crate::settings::Settings;
use crate::terminal::report::{EventFlags, OUTPUT};
use std::path::PathBuf;
use towpath_core::{Map, parse_set};
use towpath_recipe::{Request, RunOptions, Tags};

#[derive(Debug, Clone, Default, clap::Args)]
pub struct RequestFlags {
    /// Set a variable to a string, a number, a boolean, or a JSON array or object. Can be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The working directory: where steps run and relative paths start.
    #[arg(short = 'C', long = "working-dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Look for recipes in this directory first. Can be repeated.
    #[arg(short = 'R', long = "recipe-dir", value_name = "DIR")]
    pub recipe_dirs: Vec<PathBuf>,
    /// Also run steps with one of these tags; untagged steps always run.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub include_tags: Vec<String>,
    /// Run tagged steps, except those with one of these tags.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub exclude_tags: Vec<String>,
}

/// Where a request is looked up, and with which settings.
pub struct LookupContext {
    pub directory: PathBuf,
    pub settings: Settings,
}

impl RequestFlags {
    pub fn here(&self, env: &Environment) -> Result<LookupContext, CommandError> {
        let directory = working_directory(env, self.directory.as_deref())?;
        let settings = settings_for(env, &directory)?;
        Ok(LookupContext { directory, settings })
    }

    pub fn request(
        &self,
        env: &Environment,
        here: &LookupContext,
        recipe: &str,
    ) -> Result<Request, CommandError> {
        Ok(Request {
            reference: recipe.to_owned(),
            working_dir: here.directory.clone(),
            search: search_path(env, &here.settings, &self.recipe_dirs, &here.directory)?,
            inputs: inputs(&self.set)?,
            run_options: RunOptions {
                tags: self.tags()?,
                home: env.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
                ..RunOptions::default()
            },
        })
    }

    fn tags(&self) -> Result<Tags, CommandError> {
        let clean = |flag: &str, tags: &[String]| {
            let tags: Vec<String> = tags.iter().map(|tag| tag.trim().to_owned()).collect();
            match tags.iter().any(String::is_empty) {
                true => Err(CommandError::bad_input(format!("--{flag} has an empty tag"))),
                false => Ok(tags),
            }
        };
        Ok(Tags {
            include: clean("include-tags", &self.include_tags)?,
            exclude: clean("exclude-tags", &self.exclude_tags)?,
        })
    }
}

/// The flags of a new run, under any name of the program.
#[derive(Debug, Default, clap::Args)]
pub struct RunFlags {
    #[command(flatten)]
    pub request: RequestFlags,
    /// Do not stage files in git, even for steps that ask for it.
    #[arg(long)]
    pub no_auto_stage: bool,
    /// Show what would run, and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// What `towpath test` gives a case: inputs with their types, and substitutes.
    #[arg(long, value_name = "FILE", hide = true)]
    pub rehearsal: Option<PathBuf>,
    /// Wait until the agent's rate limit resets or its service answers again, then continue
    /// (default: exit 75 for a rate limit, 4 for a fault).
    #[arg(long)]
    pub wait: bool,
    /// Run in a separate git worktree beside the repository, on the branch NAME; an existing one is
    /// reused. `auto` chooses a name.
    #[arg(long, value_name = "NAME|auto")]
    pub worktree: Option<String>,
    #[arg(skip)]
    pub called_as: CalledAs,
    #[command(flatten)]
    pub agent: AgentFlags,
    #[command(flatten)]
    pub machine: MachineFlags,
    #[command(flatten)]
    pub shared: SharedFlags,
}

/// The flags that `run` and `resume` share.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SharedFlags {
    #[command(flatten)]
    pub times: TimeFlags,
    /// Install required programs that are missing before anything runs, with `towpath tool`.
    #[arg(long)]
    pub install_missing: bool,
    /// Mask the value of this environment variable in all output and records. Can be repeated.
    #[arg(long, value_name = "NAME", help_heading = OUTPUT)]
    pub secret: Vec<String>,
    /// Print one JSON object on stdout when the run ends, and nothing else.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// With --json: include the final variables.
    #[arg(long, requires = "json", help_heading = OUTPUT)]
    pub with_context: bool,
    /// Print only the output of steps, and errors.
    #[arg(short, long, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Also print commands, hooks and ended processes.
    #[arg(short, long, conflicts_with = "quiet", help_heading = OUTPUT)]
    pub verbose: bool,
    /// Write a JSON line for every ended step to a new file in this directory.
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub audit_dir: Option<PathBuf>,
    #[command(flatten)]
    pub events: EventFlags,
}

pub fn inputs(set: &[String]) -> Result<Map, CommandError> {
    let mut inputs = Map::new();
    for argument in set {
        let (name, value) = parse_set(argument)
            .map_err(|e| CommandError::bad_input(format!("{e}: write --set NAME=VALUE")))?;
        inputs.insert(name, value);
    }
    Ok(inputs)
}
