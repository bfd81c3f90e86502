//! `towpath run demo`: a temporary git repository for its recipe, and a scripted agent to work in it.
//! It needs no key and no network, and touches no file of the user.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::git::Git;
use crate::session::choose_agent::AgentFlags;
use std::path::PathBuf;

/// Creates the repository again, and returns its path.
pub fn prepare(env: &Environment, flags: &mut AgentFlags) -> Result<PathBuf, CommandError> {
    let base = env.directories.cache.join("demo");
    let project = base.join("wordcount");
    let failed = |e: std::io::Error| CommandError::setup(format!("{}: {e}", base.display()));
    match std::fs::remove_dir_all(&project) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    std::fs::create_dir_all(&project).map_err(failed)?;
    Git::new(&project).run(&["-c", "init.defaultBranch=main", "init", "--quiet"])?;
    if flags.backend.is_none() && flags.script.is_none() {
        let answers = base.join("answers.jsonl");
        std::fs::write(&answers, towpath_recipe::DEMO_ANSWERS).map_err(failed)?;
        flags.backend = Some("scripted".to_owned());
        flags.script = Some(answers);
    }
    Ok(project)
}
