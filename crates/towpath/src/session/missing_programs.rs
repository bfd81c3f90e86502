//! Programs that the prompts of a built-in state machine, or of a file that replaces it, mention and
//! that are not installed. That is reported before the first call, and nothing is refused: the prompts
//! explain what to do without them.

use crate::environment::Environment;
use crate::terminal::out;
use std::path::Path;
use towpath_recipe::Program;

/// The built-in machines whose work is in git, and those whose tasks are.
const WITH_GIT: [&str; 7] = [
    "review-and-commit",
    "implement-and-review",
    "implement-and-review-all",
    "document-design",
    "refine-design",
    "break-down-tasks",
    "rebase",
];
const WITH_TASKS: [&str; 3] =
    ["break-down-tasks", "implement-and-review", "implement-and-review-all"];

pub fn warn(env: &Environment, program: &Program, directory: &Path) {
    if program.root().machine().is_none() {
        return;
    }
    let name = program.root().name.as_str();
    let texts = &program.plan.recipes[0];
    let mentioned = |word: &str| {
        let mut texts = texts.files.values().chain([&texts.text]);
        texts.any(|text| text.contains(&format!("`{word}")))
    };
    let missing = |program: &str| mentioned(program) && env.on_path(program).is_none();
    if WITH_GIT.contains(&name) && missing("git") {
        out::note(format!("warning: git is not on PATH, and {name} needs it"));
    }
    if WITH_TASKS.contains(&name) && missing("bd") {
        out::note(if directory.join(".beads").exists() {
            "warning: .beads/ exists and bd is not on PATH: no task can be taken or created"
        } else {
            "warning: bd is not on PATH: tasks are kept in TASKS.md instead"
        });
    }
}
