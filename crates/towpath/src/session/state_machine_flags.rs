//! The flags for state machines: their guardrails, their models, the conversation they begin in. For
//! a step recipe, flags that would have no effect are refused.

use crate::exit::CommandError;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_core::{SessionId, nearest};
use towpath_recipe::{MachineOptions, Program, TIERS};

/// The heading of these flags in the help. It is set flag by flag: a heading for all that follow would
/// include the flags of others.
pub const MACHINES: &str = "State machines";

#[derive(Debug, Clone, Default, clap::Args)]
pub struct MachineFlags {
    /// The model tier for steps without one: haiku, sonnet or opus.
    #[arg(long, value_name = "TIER", help_heading = MACHINES)]
    pub model: Option<String>,
    #[command(flatten)]
    pub limits: LimitFlags,
    /// Start in this existing conversation of the agent's program.
    #[arg(long, value_name = "ID", help_heading = MACHINES)]
    pub session: Option<String>,
    /// Name the conversation that the run begins in: a new session gets this id, where the agent's
    /// program takes one.
    #[arg(long, value_name = "ID", help_heading = MACHINES)]
    pub conversation: Option<String>,
    /// Put TEXT before the first prompt of every session.
    #[arg(long, value_name = "TEXT", conflicts_with = "context_file", help_heading = MACHINES)]
    pub context: Option<String>,
    /// Like --context, from a file.
    #[arg(long, value_name = "FILE", help_heading = MACHINES)]
    pub context_file: Option<PathBuf>,
    /// Add system instructions, for backends that support them.
    #[arg(long, value_name = "TEXT", help_heading = MACHINES)]
    pub system_prompt: Option<String>,
}

/// The guardrails that override a recipe's own; a resume may raise them.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LimitFlags {
    /// The maximum number of visits to one step per session.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = MACHINES)]
    pub max_visits: Option<u32>,
    /// The maximum number of steps per session.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[arg(help_heading = MACHINES)]
    pub max_steps: Option<u32>,
    /// The maximum number of restarts.
    #[arg(long, value_name = "N", help_heading = MACHINES)]
    pub max_restarts: Option<u32>,
}

impl LimitFlags {
    pub fn is_empty(&self) -> bool {
        self.given().iter().all(|(_, given)| !given)
    }

    /// What was given for a flag, by how it is written in help.
    pub fn of(&self, flag: &str) -> Option<u32> {
        match flag {
            "--max-visits N" => self.max_visits,
            "--max-steps N" => self.max_steps,
            "--max-restarts N" => self.max_restarts,
            _ => None,
        }
    }

    /// Each flag, and whether it was given.
    pub fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--max-visits", self.max_visits.is_some()),
            ("--max-steps", self.max_steps.is_some()),
            ("--max-restarts", self.max_restarts.is_some()),
        ]
    }

    /// A guardrail has no effect without a state machine.
    pub fn refuse_for(&self, program: &Program) -> Result<(), CommandError> {
        let machines = program.recipes.iter().any(|recipe| recipe.machine().is_some());
        match self.given().iter().find(|(_, given)| *given && !machines) {
            Some((flag, _)) => Err(no_machine(flag, &program.root().name)),
            None => Ok(()),
        }
    }

    /// Replaces earlier values by those that were given.
    pub fn over(&self, run_options: &mut MachineOptions) {
        run_options.max_visits = self.max_visits.or(run_options.max_visits);
        run_options.max_steps = self.max_steps.or(run_options.max_steps);
        run_options.max_restarts = self.max_restarts.or(run_options.max_restarts);
    }
}

impl MachineFlags {
    pub fn machine_options(&self) -> Result<MachineOptions, CommandError> {
        let mut run_options = MachineOptions {
            model: self.tier()?,
            session: given_id("--session", self.session.as_ref())?,
            conversation: given_id("--conversation", self.conversation.as_ref())?,
            context: self.context()?,
            system: self.system_prompt.clone(),
            ..MachineOptions::default()
        };
        self.limits.over(&mut run_options);
        Ok(run_options)
    }

    fn tier(&self) -> Result<Option<String>, CommandError> {
        let Some(tier) = &self.model else { return Ok(None) };
        if TIERS.contains(&tier.as_str()) {
            return Ok(Some(tier.clone()));
        }
        let near = nearest(tier, TIERS).map_or(String::new(), |n| format!("did you mean `{n}`? "));
        let why = format!("--model: no tier `{tier}`: {near}one of {}", TIERS.join(", "));
        Err(CommandError::bad_input(why))
    }

    fn context(&self) -> Result<Option<String>, CommandError> {
        let Some(path) = &self.context_file else { return Ok(self.context.clone()) };
        read_text(path).map(Some)
    }

    /// A flag that does nothing for what is to be run is a mistake.
    pub fn refuse_for(&self, program: &Program) -> Result<(), CommandError> {
        if program.recipes.iter().any(|recipe| recipe.machine().is_some()) {
            let root = program.root().machine().is_some();
            let only_root = [
                ("--session", self.session.is_some()),
                ("--conversation", self.conversation.is_some()),
                ("--context", self.has_context()),
            ];
            return match only_root.iter().find(|(_, given)| *given && !root) {
                Some((flag, _)) => Err(no_machine(flag, &program.root().name)),
                None => Ok(()),
            };
        }
        self.limits.refuse_for(program)?;
        let given = [
            ("--model", self.model.is_some()),
            ("--session", self.session.is_some()),
            ("--conversation", self.conversation.is_some()),
            ("--context", self.has_context()),
            ("--system-prompt", self.system_prompt.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(no_machine(flag, &program.root().name)),
            None => Ok(()),
        }
    }

    fn has_context(&self) -> bool {
        self.context.is_some() || self.context_file.is_some()
    }
}

fn given_id(flag: &str, id: Option<&String>) -> Result<Option<SessionId>, CommandError> {
    match id {
        Some(id) if id.trim().is_empty() => {
            Err(CommandError::bad_input(format!("{flag} has no id")))
        }
        id => Ok(id.map(|id| SessionId::from(id.as_str()))),
    }
}

fn no_machine(flag: &str, recipe: &str) -> CommandError {
    CommandError::bad_input(format!("{flag} is for state machines, and {recipe} is a step recipe"))
}

fn read_text(path: &Path) -> Result<String, CommandError> {
    let read = files::read_text(path, files::MOST_TEXT);
    let text = read
        .map_err(|e| CommandError::bad_input(format!("--context-file {}: {e}", path.display())))?;
    Ok(text.trim_end().to_owned())
}
