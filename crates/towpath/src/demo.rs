//! `towpath run demo`: a scratch git repository for its recipe, and a scripted agent to work in it. No key, no network, nothing of the person's own is touched.

use crate::agents::AgentFlags;
use crate::exit::Stop;
use crate::surroundings::Surroundings;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Makes the repository anew and says where it is.
pub fn prepare(around: &Surroundings, flags: &mut AgentFlags) -> Result<PathBuf, Stop> {
    let base = around.places.cache.join("demo");
    let project = base.join("wordcount");
    let failed = |e: std::io::Error| Stop::setup(format!("{}: {e}", base.display()));
    match std::fs::remove_dir_all(&project) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    std::fs::create_dir_all(&project).map_err(failed)?;
    git(&project, &["-c", "init.defaultBranch=main", "init", "--quiet"])?;
    if flags.backend.is_none() && flags.script.is_none() {
        let answers = base.join("answers.jsonl");
        std::fs::write(&answers, towpath_recipe::DEMO_ANSWERS).map_err(failed)?;
        flags.backend = Some("scripted".to_owned());
        flags.script = Some(answers);
    }
    Ok(project)
}

fn git(directory: &Path, arguments: &[&str]) -> Result<(), Stop> {
    let mut command = Command::new("git");
    command.current_dir(directory).args(arguments);
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(variable);
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Stop::setup(format!("the demo needs git, which cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Stop::setup(format!("git {}: {text}", arguments.join(" "))))
}
