//! Which agent program the user means: by one of the few known names, or by its path. One that cannot
//! be used is refused before anything runs; the variable is ignored by a recipe without agents.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::choose_agent::AgentFlags;
use std::path::Path;
use towpath_core::files::is_program;
use towpath_core::quoted_list;
use towpath_recipe::Program;

const VARIABLE: &str = "AMPLIHACK_AGENT_BINARY";

/// The names of agent programs, and the backend that calls each.
const BINARIES: [(&str, &str); 5] = [
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("copilot", "github-copilot"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
];

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
    let known = |name: &str| BINARIES.iter().find(|(binary, _)| *binary == name);
    let flags =
        |backend: &str| AgentFlags { backend: Some(backend.to_owned()), ..AgentFlags::default() };
    if let Some((_, backend)) = known(wanted) {
        return Ok(flags(backend));
    }
    if !wanted.contains('/') {
        let names: Vec<&str> = BINARIES.iter().map(|(binary, _)| *binary).collect();
        return Err(CommandError::bad_input(format!(
            "{from}: no agent `{wanted}`; use {}, or the path of a program that works like `claude`",
            quoted_list(&names)
        )));
    }
    let name = Path::new(wanted).file_name().and_then(|name| name.to_str());
    let backend = name.and_then(known).map_or("claude-code", |(_, backend)| backend);
    let path = env.current.join(env.expand_home(Path::new(wanted)));
    match is_program(&path) {
        true => Ok(AgentFlags { program: Some(path), ..flags(backend) }),
        false => Err(CommandError::bad_input(format!("{from}: `{wanted}` is not a program"))),
    }
}
