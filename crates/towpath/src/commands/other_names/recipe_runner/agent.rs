//! Which agent program a person means: by a name of the few that are known, or by its path. A wish
//! that cannot be met is refused before anything runs; one that only the environment carries is left
//! alone by a recipe without agents.

use crate::agents::AgentFlags;
use crate::exit::Stop;
use crate::surroundings::{Surroundings, is_program};
use std::path::Path;
use towpath_recipe::Program;

const VARIABLE: &str = "AMPLIHACK_AGENT_BINARY";

pub fn flags(
    around: &Surroundings,
    flag: Option<&str>,
    program: &Program,
) -> Result<AgentFlags, Stop> {
    if let Some(wish) = flag {
        return chosen(around, wish, "--agent-binary");
    }
    match around.text(VARIABLE).filter(|wish| !wish.is_empty()) {
        Some(wish) if program.has_agents() => chosen(around, &wish, VARIABLE),
        _ => Ok(AgentFlags::default()),
    }
}

fn chosen(around: &Surroundings, wish: &str, from: &str) -> Result<AgentFlags, Stop> {
    let backend = Some("claude-code".to_owned());
    if wish == "claude" {
        return Ok(AgentFlags { backend, ..AgentFlags::default() });
    }
    if !wish.contains('/') {
        return Err(Stop::bad_input(format!(
            "{from}: there is no agent `{wish}`; there is `claude`, or give the path of a program \
             that works like it"
        )));
    }
    let path = around.current.join(around.expand_home(Path::new(wish)));
    match is_program(&path) {
        true => Ok(AgentFlags { backend, program: Some(path), ..AgentFlags::default() }),
        false => Err(Stop::bad_input(format!("{from}: `{wish}` is not a program"))),
    }
}
