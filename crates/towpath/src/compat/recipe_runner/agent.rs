//! Which agent program a person means: by a name of the few that are known, or by its path. A wish
//! that cannot be met is refused before anything runs; one that only the environment carries is left
//! alone by a recipe without agents.

use crate::environment::{Environment, is_program};
use crate::exit::CommandError;
use crate::session::agents::AgentFlags;
use std::path::Path;
use towpath_recipe::Program;

const VARIABLE: &str = "AMPLIHACK_AGENT_BINARY";

pub fn flags(
    env: &Environment,
    flag: Option<&str>,
    program: &Program,
) -> Result<AgentFlags, CommandError> {
    if let Some(wish) = flag {
        return chosen(env, wish, "--agent-binary");
    }
    match env.text(VARIABLE).filter(|wish| !wish.is_empty()) {
        Some(wish) if program.has_agents() => chosen(env, &wish, VARIABLE),
        _ => Ok(AgentFlags::default()),
    }
}

fn chosen(env: &Environment, wish: &str, from: &str) -> Result<AgentFlags, CommandError> {
    let backend = Some("claude-code".to_owned());
    if wish == "claude" {
        return Ok(AgentFlags { backend, ..AgentFlags::default() });
    }
    if !wish.contains('/') {
        return Err(CommandError::bad_input(format!(
            "{from}: there is no agent `{wish}`; there is `claude`, or give the path of a program \
             that works like it"
        )));
    }
    let path = env.current.join(env.expand_home(Path::new(wish)));
    match is_program(&path) {
        true => Ok(AgentFlags { backend, program: Some(path), ..AgentFlags::default() }),
        false => Err(CommandError::bad_input(format!("{from}: `{wish}` is not a program"))),
    }
}
