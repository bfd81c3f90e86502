//! `dp pave`: the rules as instructions for an agent, and the hook that applies them.

use super::{Dp, init};
use crate::corrections::agents_md;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use serde_json::json;
use std::path::{Path, PathBuf};
use towpath_corrections::{Rule, agents_md, agents_md_lines};

/// Make the rules active: as a hook, as instructions for an agent, or both.
///
/// Example: dp pave --agents-md --append AGENTS.md
#[derive(Debug, clap::Args)]
pub struct PaveArgs {
    /// Install the hook that corrects calls before they run.
    #[arg(long)]
    hook: bool,
    /// Print the rules as instructions for an agent.
    #[arg(long)]
    agents_md: bool,
    /// With --agents-md: write them into this file, between two markers.
    #[arg(long, value_name = "FILE")]
    append: Option<PathBuf>,
    /// With --hook: the settings file of Claude Code.
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

pub fn execute(dp: &Dp<'_>, args: &PaveArgs) -> Result<Exit, CommandError> {
    if !args.hook && !args.agents_md {
        return Err(CommandError::bad_input("specify --hook or --agents-md (or both)"));
    }
    if args.hook {
        init::pave(dp, args.settings.clone())?;
    }
    if args.agents_md {
        instructions(dp, args.append.as_deref())?;
    }
    Ok(Exit::Done)
}

fn instructions(dp: &Dp<'_>, append: Option<&Path>) -> Result<(), CommandError> {
    let mut rules = dp.book()?.rules()?;
    rules.retain(|rule| rule.enabled);
    if rules.is_empty() && append.is_none() {
        match dp.json {
            true => out::json(&json!({ "status": "no_aliases", "rules": [] })),
            false => out::note("No aliases configured. Add some with: dp alias <from> <to>"),
        }
        return Ok(());
    }
    if let Some(file) = append {
        return append_to(dp, file, &rules);
    }
    match dp.json {
        true => out::json(&json!({
            "status": "generated",
            "rules": agents_md_lines(&rules),
            "count": rules.len(),
        })),
        false => out::stdout(agents_md(&rules).as_bytes()),
    }
    Ok(())
}

fn append_to(dp: &Dp<'_>, file: &Path, rules: &[Rule]) -> Result<(), CommandError> {
    let (shown, count) = (file.display(), rules.len());
    out::line(match agents_md::write(dp.env, file, rules)? {
        true => format!("Appended {count} rules to {shown}"),
        false => format!("{shown} already has these {count} rules"),
    });
    Ok(())
}
