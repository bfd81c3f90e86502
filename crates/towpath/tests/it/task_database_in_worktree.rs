//! Which task database (`BEADS_DB`) an agent gets in a worktree.

use crate::support::{Printed, User};
use crate::worktree::user;
use std::fs;
use std::path::Path;

const ASK: &str = "name: ask\nsteps:\n  - id: ask\n    prompt: Hello?\n";

/// What an agent that works in a directory sees as `BEADS_DB`.
#[track_caller]
fn seen_in(user: &User, directory: &Path, environment: &[(&str, &str)]) -> String {
    let seen = user.path("seen");
    let line = serde_json::json!({
        "text": "ok",
        "run": format!("echo \"${{BEADS_DB-none}}\" > '{}'", seen.display()),
    });
    fs::write(user.path("answers.jsonl"), format!("{line}\n")).expect("a script");
    fs::write(user.path("ask.yaml"), ASK).expect("a recipe");
    let (recipe, script) = (user.path("ask.yaml"), user.path("answers.jsonl"));
    let arguments = ["run", recipe.to_str().unwrap(), "--script", script.to_str().unwrap()];
    let mut command = user.command(&arguments);
    command.current_dir(directory).env_remove("BEADS_DB").envs(environment.iter().copied());
    Printed::from(command.output().expect("towpath starts")).exits(0);
    fs::read_to_string(seen).expect("the agent has looked").trim_end().to_owned()
}

fn database(directory: &Path) -> String {
    fs::create_dir_all(directory.join(".beads-local")).expect("a folder");
    let file = directory.join(".beads-local/local.db");
    fs::write(&file, "").expect("a database");
    file.display().to_string()
}

#[test]
fn an_agent_in_a_worktree_gets_its_task_database() {
    let user = user(ASK);
    let (work, tree) = (user.path("work"), user.path("tree"));
    user.git(&work, &["worktree", "add", "--quiet", "../tree"]);
    assert_eq!(seen_in(&user, &tree, &[]), "none", "no database");
    let file = database(&tree);
    assert_eq!(seen_in(&user, &tree, &[]), file);
    assert_eq!(seen_in(&user, &tree.join("sub/inner"), &[]), file, "from a folder in it");
    assert_eq!(
        seen_in(&user, &tree, &[("BEADS_DB", "mine")]),
        "mine",
        "what the user has set stays"
    );
    let elsewhere = [("GIT_DIR", "/nowhere"), ("GIT_WORK_TREE", "/"), ("GIT_INDEX_FILE", "/x")];
    assert_eq!(seen_in(&user, &tree, &elsewhere), file, "whatever git the caller is in");
    database(&work);
    assert_eq!(seen_in(&user, &work, &[]), "none", "the main tree is no worktree");
}

#[test]
fn a_step_gets_the_database_of_its_own_directory() {
    let recipe = "name: two\nsteps:\n  - id: here\n    prompt: a\n  - id: there\n    \
                  prompt: b\n    working_dir: ../tree/sub\n";
    let user = user(recipe);
    user.git("work", &["worktree", "add", "--quiet", "../tree"]);
    let file = database(&user.path("tree"));
    let line = r#"{"text": "ok", "repeat": true, "run": "echo ${BEADS_DB-none} >> ~/seen"}"#;
    user.write("answers.jsonl", line);
    user.towpath(&["run", "./go.yaml", "--script", "answers.jsonl"]).exits(0);
    assert_eq!(fs::read_to_string(user.path("seen")).unwrap(), format!("none\n{file}\n"));
}

#[test]
fn a_folder_called_worktrees_makes_no_worktree() {
    let user = User::new();
    let plain = user.path("worktrees/plain");
    fs::create_dir_all(plain.join("sub")).expect("a folder");
    user.git(&plain, &["init", "--quiet"]);
    database(&plain);
    assert_eq!(seen_in(&user, &plain.join("sub"), &[]), "none");
}

#[test]
fn a_submodule_is_no_worktree_and_a_worktree_of_a_bare_repository_is_one() {
    let user = user(ASK);
    let work = user.path("work");
    let outer = user.path("outer");
    fs::create_dir(&outer).expect("a folder");
    user.git(&outer, &["init", "--quiet"]);
    user.git(&outer, &["submodule", "--quiet", "add", work.to_str().unwrap(), "part"]);
    database(&outer.join("part"));
    assert_eq!(seen_in(&user, &outer.join("part"), &[]), "none");
    user.git("", &["clone", "--quiet", "--bare", "work", "shop.git"]);
    let bare = user.path("shop.git");
    database(&bare);
    assert_eq!(seen_in(&user, &bare, &[]), "none", "a bare repository has no working tree");
    user.git(&bare, &["worktree", "add", "--quiet", "../of-bare", "-b", "x"]);
    let file = database(&user.path("of-bare"));
    assert_eq!(seen_in(&user, &user.path("of-bare"), &[]), file);
}

#[test]
fn without_a_repository_or_without_git_there_is_no_variable_and_no_error() {
    let user = User::new();
    let work = user.path("work");
    database(&work);
    assert_eq!(seen_in(&user, &work, &[]), "none");
    let bin = user.path("bin");
    fs::create_dir(&bin).expect("a folder");
    // What the scripted agent itself needs.
    std::os::unix::fs::symlink("/bin/cat", bin.join("cat")).expect("a link");
    assert_eq!(seen_in(&user, &work, &[("PATH", bin.to_str().unwrap())]), "none");
}
