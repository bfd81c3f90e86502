//! Which agent program the user means: by one of the few known names, or by its path. One that cannot
//! be used is refused before anything runs; the variable is ignored by a recipe without agents.

use crate::environment::{Environment, is_program};
use crate::exit::CommandError;
use crate::session::choose_agent::AgentFlags;
use std::path::Path;
use towpath_recipe::Program;

const VARIABLE: &str = "AMPLIHACK_AGENT_BINARY";

pub fn flags(
    env: &Environment,
    flag: Option<&str>,
    program: &Program,
) -> Result<AgentFlags, CommandError> {
    if let Some(wanted) = flag {
        return chosen(env, wanted, "--agent-binary");
    }
    match env.text(VARIABLE).filter(|wanted| !wanted.is_empty()) {
        Some(wanted) if program.has_agents() => chosen(env, &wanted, VARIABLE),
        _ => Ok(AgentFlags::default()),
    }
}

fn chosen(env: &Environment, wanted: &str, from: &str) -> Result<AgentFlags, CommandError> {
    let backend = Some("claude-code".to_owned());
    if wanted == "claude" {
        return Ok(AgentFlags { backend, ..AgentFlags::default() });
    }
    if !wanted.contains('/') {
        return Err(CommandError::bad_input(format!(
            "{from}: no agent `{wanted}`; use `claude`, or the path of a program that works like it"
        )));
    }
    let path = env.current.join(env.expand_home(Path::new(wanted)));
    match is_program(&path) {
        true => Ok(AgentFlags { backend, program: Some(path), ..AgentFlags::default() }),
        false => Err(CommandError::bad_input(format!("{from}: `{wanted}` is not a program"))),
    }
}
