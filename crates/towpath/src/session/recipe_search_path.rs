//! Where recipes are looked for, and what reading one from there means.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::settings::Settings;
use std::path::{Path, PathBuf};
use towpath_recipe::{Origin, SearchDir, SearchPath};

/// The given working directory, or the current one; absolute, and it exists.
pub fn working_directory(env: &Environment, given: Option<&Path>) -> Result<PathBuf, CommandError> {
    let Some(given) = given else { return Ok(env.current.clone()) };
    let path = env.current.join(env.expand_home(given));
    let resolved = path
        .canonicalize()
        .map_err(|e| CommandError::bad_input(format!("--working-dir {}: {e}", given.display())))?;
    if resolved.is_dir() {
        Ok(resolved)
    } else {
        Err(CommandError::bad_input(format!("--working-dir {}: not a directory", given.display())))
    }
}

/// Where a project keeps its recipes; new ones go to the first.
pub const PROJECT_DIRECTORIES: [&str; 5] = [
    ".towpath/recipes",
    "recipes",
    "amplifier-bundle/recipes",
    "src/amplihack/amplifier-bundle/recipes",
    ".claude/recipes",
];

/// Every directory in which a recipe's name is looked for, in order: `-R`, the variables, the project,
/// the user's own. Built-ins come last and are not directories.
pub fn search_path(
    env: &Environment,
    settings: &Settings,
    given: &[PathBuf],
    working_directory: &Path,
) -> Result<SearchPath, CommandError> {
    let mut directories = Vec::new();
    let mut add = |path: PathBuf, origin| {
        let known = directories.iter().any(|d: &SearchDir| d.path == path);
        if !known {
            directories.push(SearchDir { path, origin });
        }
    };
    for path in given {
        let directory = env.current.join(env.expand_home(path));
        if !directory.is_dir() {
            return Err(CommandError::bad_input(format!(
                "--recipe-dir {}: no such directory",
                path.display()
            )));
        }
        add(directory, Origin::Given);
    }
    for variable in ["TOWPATH_RECIPE_DIRS", "RECIPE_RUNNER_RECIPE_DIRS"] {
        for path in env.paths(variable).iter().filter(|p| !p.as_os_str().is_empty()) {
            add(env.current.join(env.expand_home(path)), Origin::Given);
        }
    }
    if let Some(bundle) = amplihack_bundle(env) {
        add(bundle.join("recipes"), Origin::Given);
    }
    let root = env.project_root(working_directory);
    for inside in PROJECT_DIRECTORIES {
        add(root.join(inside), Origin::Project);
    }
    for path in &settings.recipe_dirs.value {
        add(env.expand_home(path), Origin::User);
    }
    add(env.directories.config.join("recipes"), Origin::User);
    if let Some(home) = &env.home {
        add(home.join(".amplihack/amplifier-bundle/recipes"), Origin::User);
        add(home.join(".amplihack/.claude/recipes"), Origin::User);
    }
    Ok(SearchPath { directories, agents: agent_directories(env, &root) })
}

/// The bundle of an installation of amplihack that the user has named.
fn amplihack_bundle(env: &Environment) -> Option<PathBuf> {
    let home = env.text("AMPLIHACK_HOME").filter(|home| !home.is_empty())?;
    Some(env.current.join(env.expand_home(Path::new(&home))).join("amplifier-bundle"))
}

/// Where agents are looked for by reference; the built-in ones come after them.
fn agent_directories(env: &Environment, root: &Path) -> Vec<SearchDir> {
    let bundle = amplihack_bundle(env).map(|bundle| bundle.join("agents"));
    let installed = [".amplihack/.claude/agents", ".amplihack/amplifier-bundle/agents"];
    let home = env.home.iter().flat_map(|home| installed.map(|inside| home.join(inside)));
    let own = bundle.into_iter().chain(home).chain([env.directories.config.join("agents")]);
    let own = own.map(|path| SearchDir { path, origin: Origin::User });
    let project = [".claude/agents", "amplifier-bundle/agents", ".towpath/agents"];
    let project =
        project.map(|inside| SearchDir { path: root.join(inside), origin: Origin::Project });
    own.chain(project).collect()
}
