//! A git worktree for a run, with real repositories, and what becomes of it.

use crate::support::{Printed, User, until};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A repository in the working directory, with one commit: a recipe, and a folder.
pub fn user(recipe: &str) -> User {
    let user = User::new().file("go.yaml", recipe).file("sub/inner/file", "x\n");
    let work = user.path("work");
    user.git(&work, &["init", "--quiet"]);
    user.git(&work, &["add", "."]);
    user.git(&work, &["commit", "--quiet", "-m", "First"]);
    user
}

const WRITE: &str = "name: Write it\nsteps:\n  - id: write\n    command: pwd; echo new > file\n";
const LOOK: &str = "name: look\nsteps:\n  - id: look\n    command: pwd\n";

#[test]
fn a_run_gets_a_worktree_beside_the_repository_on_a_branch_of_its_own() {
    let user = user(WRITE);
    let tree = user.path("work-try");
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    let printed = printed.prints(&format!("{}\n", tree.display()));
    let printed = printed.reports("worktree ~/work-try, on the new branch try\n");
    printed.reports(
        "worktree ~/work-try · branch try · 1 uncommitted change\n  to inspect it: cd ~/work-try\n  \
         when you no longer need it: git worktree remove ~/work-try\n",
    );
    assert_eq!(fs::read_to_string(tree.join("file")).unwrap(), "new\n");
    assert!(!user.path("work/file").exists());
    assert_eq!(user.git(&tree, &["branch", "--show-current"]), "try");
    let id = user.run();
    user.towpath(&["show", id.as_str()]).exits(0).shows("worktree ~/work-try · branch try\n");
    let shown = user.towpath(&["show", id.as_str(), "--json"]).exits(0).json();
    assert_eq!(shown["worktree"]["path"], tree.to_str().unwrap());
}

#[test]
fn a_worktree_of_that_name_is_used_again() {
    let user = user(WRITE);
    user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    let again = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    again.reports("existing worktree ~/work-try, on the branch try\n");
    // From inside it, and from a folder in it, the same names mean the same worktrees.
    let mut inside = user.command(&["run", "../../go.yaml", "--worktree", "try", "--json"]);
    inside.current_dir(user.path("work-try/sub/inner"));
    let inside = Printed::from(inside.output().unwrap()).exits(0).json();
    assert_eq!(inside["worktree"]["path"], user.path("work-try").to_str().unwrap());
    assert!(user.path("work-try/sub/inner/file").exists());
    let list = user.git("work", &["worktree", "list"]);
    assert_eq!(list.lines().count(), 2, "{list}");
}

#[test]
fn a_run_from_a_folder_works_in_the_same_folder() {
    let user = user(LOOK);
    let inner = user.path("work/sub/inner");
    let mut command = user.command(&["run", "../../go.yaml", "--worktree", "try", "--json"]);
    let printed = Printed::from(command.current_dir(&inner).output().unwrap()).exits(0).json();
    let directory = user.path("work-try/sub/inner").display().to_string();
    assert_eq!(printed["steps"][0]["output"], directory);
    fs::create_dir(user.path("work/untracked")).expect("a folder");
    let arguments = ["run", "./go.yaml", "-C", "untracked", "--worktree", "other"];
    user.towpath(&arguments).exits(2).reports("untracked is not in the branch other");
    assert!(!user.path("work-other").exists());
}

#[test]
fn a_worktree_without_changes_is_removed_with_its_branch() {
    let user = user(LOOK);
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    printed
        .reports("nothing was changed in the worktree ~/work-try: removed it, and its branch try");
    assert!(!user.path("work-try").exists());
    assert_eq!(user.git("work", &["branch", "--list"]), "* main");
    let id = user.run();
    user.towpath(&["show", id.as_str()]).exits(0).shows("branch try · gone\n");
    let resume = ["resume", id.as_str(), "--again", "look"];
    let printed = user.towpath(&resume).exits(5).reports("is gone; to restore it: git -C ");
    let command = printed.stderr.split("to restore it: ").nth(1).unwrap().trim_end().to_owned();
    let home = user.path("");
    let back = Command::new("bash").args(["-c", &command]).env("HOME", &home).output().unwrap();
    assert!(back.status.success(), "{command}: {back:?}");
    user.towpath(&resume).exits(0);
}

#[test]
fn a_worktree_with_work_in_it_stays() {
    let with = |command: &str| {
        let text = format!("name: do\nsteps:\n  - id: do\n    command: |\n      {command}\n");
        user(&text)
    };
    let commit = "git -c user.name=a -c user.email=b commit -q --allow-empty -m x";
    let ignored = "mkdir out; echo '*' > out/.gitignore; touch out/report";
    let detached = "git checkout -q --detach";
    for (command, reported) in [
        (commit, "branch try · 1 new commit\n"),
        (ignored, "branch try · 1 ignored\n"),
        (detached, "on no branch\n"),
        ("rm go.yaml", "1 uncommitted change\n"),
    ] {
        let user = with(command);
        user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0).reports(reported);
        assert!(user.path("work-try").is_dir(), "{command}");
    }
    // Neither settings nor marks by which git passes files over let anything be lost.
    let user = with("echo precious > new");
    user.git("work", &["config", "status.showUntrackedFiles", "no"]);
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    printed.reports("1 uncommitted change\n");
    assert!(user.path("work-try/new").is_file());
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let user = with(&format!("git update-index {mark} go.yaml; echo '# mine' >> go.yaml"));
        user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0).reports("branch try\n");
        assert!(user.path("work-try/go.yaml").is_file(), "{mark}");
    }
    // One that was there before is nobody's to remove, and neither is a branch.
    let user = with("true");
    user.git("work", &["branch", "try"]);
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    printed.reports("worktree ~/work-try, on the branch try\n");
    assert!(user.path("work-try").is_dir());
    user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    assert!(user.path("work-try").is_dir());
}

#[test]
fn a_run_that_did_not_get_done_keeps_its_worktree_and_continues_there() {
    let user = user("name: wait\nsteps:\n  - id: wait\n    command: pwd; test -e ~/ready\n");
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(1);
    printed.reports("to give up the run: git worktree remove ~/work-try");
    fs::write(user.path("ready"), "").unwrap();
    let id = user.run();
    let mut elsewhere = user.command(&["resume", id.as_str(), "--json"]);
    let printed = Printed::from(elsewhere.current_dir(user.path("")).output().unwrap()).exits(0);
    let object = printed.json();
    assert_eq!(object["steps"][0]["output"], user.path("work-try").to_str().unwrap());
    assert_eq!(object["worktree"]["removed"], true);
    assert!(!user.path("work-try").exists());
}

#[test]
fn a_worktree_in_which_another_run_could_continue_stays() {
    let user = user("name: wait\nsteps:\n  - id: wait\n    command: test -e ~/ready\n");
    user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(1);
    let first = user.run();
    user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(1);
    fs::write(user.path("ready"), "").unwrap();
    user.towpath(&["resume", first.as_str()])
        .exits(0)
        .reports("worktree ~/work-try · branch try\n");
    assert!(user.path("work-try").is_dir());
}

#[test]
fn auto_makes_a_name_that_is_free() {
    let user = user(WRITE);
    for _ in 0..2 {
        user.towpath(&["run", "go.yaml", "--worktree", "auto"]).exits(0);
    }
    let auto = ["run", "go.yaml", "--worktree", "auto"];
    let at_once: Vec<_> = (0..4).map(|_| user.start(&auto)).collect();
    for run in at_once {
        Printed::from(run.wait_with_output().expect("it ends")).exits(0);
    }
    let branches = user.git("work", &["branch", "--format=%(refname:short)"]);
    let made: Vec<&str> = branches.lines().filter(|b| b.starts_with("write-it-2")).collect();
    assert_eq!(made.len(), 6, "{branches}");
    for branch in made {
        assert!(user.path(&format!("work-{branch}/file")).exists());
    }
}

/// A second run that comes while the first makes the branch waits, and shares the worktree: neither
/// takes the branch away from the other.
#[test]
fn one_name_at_once_is_one_worktree_with_its_history() {
    let work = "name: work\nsteps:\n  - {id: w, command: 'sleep 1; git log -1 && touch made-$$'}\n";
    let user = user(work);
    let same = ["run", "go.yaml", "--worktree", "same"];
    let found = Command::new("sh").args(["-c", "command -v git"]).output().expect("sh starts");
    let found = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let text = format!(
        "#!/bin/sh\n{found} \"$@\"; code=$?\n\
         case \" $* \" in *' branch --no-track '*) touch ~/branched; sleep 1;; esac\nexit $code\n"
    );
    user.program("slow/git", &text);
    let path = format!("{}:{}", user.path("slow").display(), std::env::var("PATH").unwrap());
    let mut first = user.command(&same);
    let first = first.env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    until("the branch is made", || user.path("branched").exists());
    user.towpath(&same).exits(0);
    Printed::from(first.unwrap().wait_with_output().expect("it ends")).exits(0);
    assert_eq!(user.git("work", &["merge-base", "main", "same"]).len(), 40);
    assert!(user.path("work-same/go.yaml").is_file());
}

#[test]
fn a_tag_of_the_same_name_is_not_taken_for_the_branch() {
    let user = user(LOOK);
    user.git("work", &["tag", "try"]);
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    printed.reports("removed it, and its branch try");
}

#[test]
fn a_branch_with_folders_is_one_directory() {
    let user = user(WRITE);
    user.towpath(&["run", "go.yaml", "--worktree", "fix/a"]).exits(0);
    assert_eq!(user.git("work-fix-a", &["branch", "--show-current"]), "fix/a");
}

#[test]
fn impossible_names_are_refused_before_anything_is_created() {
    let user = user(WRITE);
    let run = |name: &str| user.towpath(&["run", "go.yaml", &format!("--worktree={name}")]);
    for name in ["", "-x", "a b", "a..b", "x.lock", "@{-1}", "a~1", "/a", "a/", "a\u{7}"] {
        run(name).exits(2).reports("cannot be the name of a branch");
    }
    run("main").exits(2).reports("the branch main is checked out in ");
    // A file where git keeps its worktrees lets it fail at the last moment.
    fs::write(user.path("work/.git/worktrees"), "").unwrap();
    run("late").exits(2);
    assert_eq!(user.git("work", &["branch", "--list", "late"]), "");
    fs::remove_file(user.path("work/.git/worktrees")).unwrap();
    fs::create_dir(user.path("work-taken")).unwrap();
    run("taken").exits(2).reports("exists and is not a worktree of this repository");
    user.git("", &["clone", "--quiet", "work", "work-clone"]);
    run("clone").exits(2).reports("exists and is not a worktree of this repository");
    run("gone").exits(0);
    fs::remove_dir_all(user.path("work-gone")).unwrap();
    run("gone").exits(2).reports("git worktree prune");
    user.towpath(&["run", "demo", "--worktree", "x"]).exits(2).reports("repository of its own");
    assert_eq!(user.runs(), 1);
    assert_eq!(user.git("work", &["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_directory_without_a_commit_or_a_repository_is_refused_with_what_to_do() {
    let user = User::new().file("go.yaml", WRITE);
    let run = || user.towpath(&["run", "go.yaml", "--worktree", "x"]);
    run().exits(2).reports("is not in a git repository: run git init");
    let work = user.path("work");
    user.git(&work, &["init", "--quiet"]);
    run().exits(2).reports("has no commit yet");
    assert!(!user.path("work-x").exists());
    assert!(!user.has_journal() || user.runs() == 0);
    let mut without = user.command(&["run", "go.yaml", "--worktree", "x"]);
    let printed = Printed::from(without.env("PATH", user.path("none")).output().unwrap());
    printed.exits(5).reports("--worktree needs git");
}

#[test]
fn beside_a_bare_repository_and_not_inside_another_ones_tree() {
    let user = user(WRITE);
    let recipe = user.path("work/go.yaml").display().to_string();
    user.git("", &["clone", "--quiet", "--bare", "work", "shop.git"]);
    let run = |directory: &str| {
        let mut command = user.command(&["run", &recipe, "--worktree", "x"]);
        Printed::from(command.current_dir(user.path(directory)).output().unwrap())
    };
    run("shop.git").exits(0).reports("worktree ~/shop-x, on the new branch x\n");
    assert!(user.path("shop-x/file").exists());
    fs::create_dir(user.path("hub")).unwrap();
    user.git("", &["clone", "--quiet", "--bare", "work", "hub/.bare"]);
    run("hub/.bare").exits(0);
    assert!(user.path("hub/x/file").exists());
    fs::create_dir(user.path("outer")).unwrap();
    user.git("outer", &["init", "--quiet"]);
    user.git("outer", &["submodule", "--quiet", "add", "../work", "part"]);
    run("outer/part").exits(2).reports("is in a submodule");
    run("work/.git").exits(2).reports("inside git's own directory");
}

#[test]
fn uncommitted_changes_stay_and_are_reported() {
    let user = user(WRITE);
    user.write("draft", "x");
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try"]).exits(0);
    printed.reports("note: the worktree begins at the last commit");
    assert!(!user.path("work-try/draft").exists());
}

#[test]
fn a_dry_run_creates_no_worktree() {
    let user = user(WRITE);
    let printed = user.towpath(&["run", "go.yaml", "--worktree", "try", "--dry-run"]).exits(0);
    printed.shows("Write it · dry run · work · worktree try\n");
    assert!(!user.path("work-try").exists());
    assert_eq!(user.git("work", &["branch", "--list"]), "* main");
}

#[test]
fn a_dry_run_shows_the_worktree_of_step_recipes_and_machines() {
    let user = user(WRITE);
    let there = user.path("work-try");
    let reported =
        "Would run in the worktree ~/work-try, on the new branch try; nothing is created now\n";
    for recipe in ["go.yaml", "review-and-commit"] {
        let look = ["run", recipe, "--worktree", "try", "--dry-run", "--backend", "scripted"];
        let printed = user.towpath(&look).exits(0);
        assert!(printed.stdout.contains(reported), "{}", printed.stdout);
        let json = user.towpath(&[&look[..], &["--json"]].concat()).exits(0).json();
        assert_eq!(json["worktree"]["path"], there.display().to_string(), "{json}");
        assert_eq!(json["worktree"]["branch"], "try");
        assert_eq!(json["worktree"]["new_branch"], true);
    }
    let auto = ["run", "review-and-commit", "--worktree", "auto", "--dry-run"];
    user.towpath(&auto).exits(0).shows("on the new branch review-and-commit-");
    assert!(!there.exists());
    assert_eq!(user.git("work", &["branch", "--list"]), "* main");
    user.towpath(&["run", "go.yaml", "--worktree", "a..b", "--dry-run"]).exits(2);
}

#[test]
fn runs_lists_those_of_every_working_tree_of_the_repository() {
    let user = user("name: go\nsteps:\n  - {id: print, command: pwd -P}\n");
    let (work, side) = (user.path("work"), user.path("side"));
    user.git(&work, &["worktree", "add", "--quiet", side.to_str().expect("text"), "-b", "side"]);
    let other = user.path("other");
    fs::create_dir(&other).expect("a folder");
    user.git(&other, &["init", "--quiet"]);
    fs::copy(work.join("go.yaml"), other.join("go.yaml")).expect("a copy");
    let mut ids = Vec::new();
    for directory in [&work, &side, &side.join("sub"), &other] {
        let mut command = user.command(&["run", "../go.yaml"]);
        if !directory.ends_with("sub") {
            command = user.command(&["run", "go.yaml"]);
        }
        Printed::from(command.current_dir(directory).output().expect("it starts")).exits(0);
        ids.push(user.run().to_string());
    }
    // Its worktree is removed again, since nothing is left there.
    user.towpath(&["run", "go.yaml", "--worktree", "gone"]).exits(0);
    ids.insert(0, user.run().to_string());
    let listed = |directory: &Path| {
        let mut command = user.command(&["runs", "--json"]);
        // No git is needed to find them.
        let printed = command.current_dir(directory).env("PATH", "/no/such/directory").output();
        let reported = Printed::from(printed.expect("it starts")).exits(0).json();
        let runs = reported["runs"].as_array().expect("a list").clone();
        let mut ids: Vec<String> =
            runs.iter().map(|run| run["run_id"].as_str().expect("an id").to_owned()).collect();
        ids.sort();
        ids
    };
    let sorted = |ids: &[String]| {
        let mut ids = ids.to_vec();
        ids.sort();
        ids
    };
    for directory in [&work, &work.join("sub"), &side] {
        assert_eq!(listed(directory), sorted(&ids[..4]), "in {}", directory.display());
    }
    assert_eq!(listed(&other), sorted(&ids[4..]));
}
