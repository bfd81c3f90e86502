//! Our own calls of git: nothing that a clone brings along runs, what the user has configured does,
//! and a look calls no git.

use crate::support::{Printed, User};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use towpath_core::GIT_GUARDS;

/// An agent that writes a file.
const ASK: &str = "name: ask\nsteps:\n  - {id: one, prompt: go, auto_stage: true}\n";
const ANSWERS: &str =
    "{\"text\": \"ok\", \"run\": \"echo abc > \\\"new-$RANDOM.txt\\\"; echo more >> old.txt\"}\n";

fn repository() -> User {
    let user = User::new().file("ask.yaml", ASK).file("old.txt", "old\n");
    let user = user.file("sub/old.txt", "old\n").file(".beads-local/local.db", "");
    fs::write(user.path("answers.jsonl"), ANSWERS).expect("a file");
    user.git("work", &["init", "--quiet", "--initial-branch=main"]);
    user.git("work", &["add", "--all"]);
    user.git("work", &["commit", "--quiet", "--message", "First"]);
    user
}

/// Makes a git directory start `touch PWN` wherever its configuration can.
fn poison(user: &User, directory: &Path, with_filters: bool) {
    let pwn = user.path("PWN").display().to_string();
    let command = format!("touch {pwn}; cat");
    let mut config = fs::read_to_string(directory.join("config")).expect("a configuration");
    config.push_str(&format!(
        "[core]\n fsmonitor = \"{command}\"\n hooksPath = {}/hooks\n",
        directory.display()
    ));
    for key in ["pager", "editor", "sshCommand", "askPass", "gitProxy", "alternateRefsCommand"] {
        config.push_str(&format!(" {key} = \"{command}\"\n"));
    }
    config
        .push_str(&format!("[diff]\n external = \"{command}\"\n[gpg]\n program = \"{command}\"\n"));
    config.push_str(&format!(
        "[credential]\n helper = \"!{command}\"\n[submodule]\n recurse = true\n"
    ));
    for word in
        ["status", "add", "worktree", "rev-parse", "branch", "update-ref", "config", "remote"]
    {
        config.push_str(&format!("[alias]\n {word} = \"!{command}\"\n"));
    }
    if with_filters {
        config.push_str(&format!(
            "[core]\n bare = false\n worktree = {}\n",
            user.path("work/sub").display()
        ));
        config.push_str(&format!(
            "[filter \"x\"]\n clean = \"{command}\"\n smudge = \"{command}\"\n required = true\n"
        ));
        fs::create_dir_all(directory.join("info")).expect("a folder");
        fs::write(directory.join("info/attributes"), "* filter=x diff=x\n").expect("attributes");
    }
    fs::write(directory.join("config"), config).expect("a configuration");
    for hook in
        ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "pre-auto-gc"]
    {
        let hook = directory.join("hooks").join(hook);
        user.program(hook.to_str().expect("a plain path"), &format!("#!/bin/sh\ntouch {pwn}\n"));
    }
}

/// Every command that calls git, and every one that only reads, in a folder of the working directory.
fn everything(user: &User, folder: &str, path: &str) -> Vec<Printed> {
    let recipe = user.path("work/ask.yaml").display().to_string();
    let answers = user.path("answers.jsonl").display().to_string();
    let team = user.path("work/.git").display().to_string();
    let run = ["run", &recipe, "--script", &answers];
    let calls: [Vec<&str>; 12] = [
        run.to_vec(),
        [&run[..], &["--worktree", "z"]].concat(),
        [&run[..], &["--worktree", "z"]].concat(),
        [&run[..], &["--worktree", "auto"]].concat(),
        [&run[..], &["--worktree", "y", "--dry-run"]].concat(),
        [&run[..], &["--worktree", "auto", "--dry-run"]].concat(),
        vec!["run", "demo"],
        vec!["recipes", "sync", &team, "--remote", "up"],
        vec!["list"],
        vec!["doctor"],
        vec!["runs"],
        vec!["trust"],
    ];
    let printed = calls.iter().map(|arguments| {
        let mut command = user.command(arguments);
        command.current_dir(user.path("work").join(folder)).env("PATH", path);
        Printed::from(command.output().expect("towpath starts"))
    });
    printed.collect()
}

fn own_path() -> String {
    std::env::var("PATH").expect("a PATH")
}

/// A repository with a poisoned git directory in it, tried from one of its folders.
fn nothing_starts_in(folder: &str) {
    let user = repository();
    user.git("work", &["clone", "--quiet", "--bare", ".", "vendor/lib"]);
    fs::create_dir_all(user.path("work/vendor/lib/.beads-local")).expect("a folder");
    fs::write(user.path("work/vendor/lib/.beads-local/local.db"), "").expect("a file");
    poison(&user, &user.path("work/vendor/lib"), true);
    let pwn = user.path("PWN");
    let plain =
        Command::new("git").arg("status").current_dir(user.path("work/vendor/lib")).output();
    assert!(pwn.exists(), "git itself runs it: {plain:?}");
    fs::remove_file(&pwn).expect("it was there");
    let printed = everything(&user, folder, &own_path());
    assert!(!pwn.exists(), "{folder}: {printed:?}");
    assert_eq!(printed[0].code, Some(0), "{:?}", printed[0]);
    if folder.starts_with("vendor/lib") {
        for worktree in &printed[1..6] {
            assert_eq!(worktree.code, Some(2), "{worktree:?}");
            assert!(worktree.stderr.contains("inside another repository's tree"), "{worktree:?}");
        }
    } else {
        let staged = user.git("work", &["diff", "--cached", "--name-only"]);
        assert!(staged.contains("new-"), "{folder}: staged elsewhere: {staged}");
    }
}

#[test]
fn a_git_directory_in_a_clone_starts_nothing() {
    std::thread::scope(|scope| {
        for folder in ["vendor/lib", "vendor/lib/objects", "vendor/lib/refs/heads", "vendor", ""] {
            scope.spawn(move || nothing_starts_in(folder));
        }
    });
}

#[test]
fn hooks_and_monitors_of_the_repository_itself_are_not_started() {
    let user = repository();
    poison(&user, &user.path("work/.git"), false);
    for folder in ["", "sub"] {
        let printed = everything(&user, folder, &own_path());
        let codes: Vec<Option<i32>> = printed[..7].iter().map(|printed| printed.code).collect();
        assert_eq!(codes, [Some(0); 7], "{printed:?}");
        assert!(!user.path("PWN").exists(), "{folder}: {printed:?}");
    }
}

#[test]
fn filters_that_the_user_has_configured_do_their_work() {
    let user = repository();
    let config =
        "[filter \"upper\"]\n clean = tr a-z A-Z\n smudge = tr A-Z a-z\n required = true\n";
    fs::write(user.path(".gitconfig"), config).expect("a configuration");
    user.write(".gitattributes", "*.txt filter=upper\n");
    user.git("work", &["add", "--all", "--renormalize"]);
    user.git("work", &["add", ".gitattributes"]);
    user.git("work", &["commit", "--quiet", "--message", "Filtered"]);
    assert_eq!(user.git("work", &["cat-file", "blob", "HEAD:old.txt"]), "OLD");
    let answers = user.path("answers.jsonl").display().to_string();
    let run = ["run", "ask.yaml", "--script", &answers, "--worktree", "z"];
    user.towpath(&run).exits(0).reports("staged");
    let made = fs::read_to_string(user.path("work-z/old.txt")).expect("a file");
    assert_eq!(made, "old\nmore\n", "smudged when the worktree was made");
    assert_eq!(
        user.git("work-z", &["cat-file", "blob", ":old.txt"]),
        "OLD\nMORE",
        "cleaned when staged"
    );
}

/// A `git` that writes down how it is called, first on a PATH.
fn recorded(user: &User) -> (String, PathBuf) {
    let path = own_path();
    let real = std::env::split_paths(&path)
        .map(|p| p.join("git"))
        .find(|file| file.is_file())
        .expect("git");
    let log = user.path("calls");
    let script = format!(
        "#!/bin/sh\n(printf '%s: ' \"$PWD\"; printf '%s ' \"$@\"; echo) >> {}\nexec {} \"$@\"\n",
        log.display(),
        real.display()
    );
    user.program("bin/git", &script);
    (format!("{}:{path}", user.path("bin").display()), log)
}

#[test]
fn every_call_of_git_is_guarded() {
    let user = repository();
    let (path, log) = recorded(&user);
    everything(&user, "sub", &path);
    let mut case = user.command(&["test", "ask.test.yaml"]);
    user.write("ask.test.yaml", "cases:\n  - name: one\n    git: true\n    agents: {one: ok}\n");
    let tested =
        Printed::from(case.env("PATH", &path).args(["--json"]).output().expect("towpath starts"));
    let mut words = BTreeSet::new();
    for call in fs::read_to_string(log).expect("calls").lines() {
        let (directory, call) = call.split_once(": ").expect("a directory");
        // The steps of the demo are a recipe's, in a repository that we have made.
        let of_step = directory.contains("/demo/") && !call.contains(" init ");
        if call == "--version " || of_step {
            continue;
        }
        for guard in GIT_GUARDS {
            assert!(call.contains(&format!("-c {guard} ")), "without {guard}: {call}");
        }
        words.extend(call.split_whitespace().map(str::to_owned));
    }
    for word in [
        "rev-parse",
        "status",
        "worktree",
        "branch",
        "init",
        "fetch",
        "remote",
        "ls-files",
        "commit",
    ] {
        assert!(words.contains(word), "{word} is not among {words:?}: {tested:?}");
    }
}

/// Where the sources of this workspace start git: each goes through the one list.
#[test]
fn no_source_starts_git_by_itself() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates");
    let (mut starts, mut scripts) = (Vec::new(), Vec::new());
    let mut folders: Vec<PathBuf> = fs::read_dir(crates)
        .expect("crates")
        .map(|c| c.expect("a crate").path().join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().map(|e| e.expect("an entry").path())
        {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = fs::read_to_string(&entry).unwrap_or_default();
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let name = entry.strip_prefix(crates).expect("below").display().to_string();
            if text.contains("Command::new(\"git\")") {
                starts.push(name.clone());
            }
            let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
            let is_call = |line: &str| {
                ["git ", "exec git", "new=$(git", "const COMMIT: &str = \"git"]
                    .iter()
                    .any(|c| line.starts_with(c))
            };
            if entry.extension().is_some_and(|e| e == "rs") && code.into_iter().any(is_call) {
                assert!(text.contains("guarded_git()"), "{name} calls git without the guards");
                scripts.push(name);
            }
        }
    }
    scripts.sort();
    assert_eq!(starts, ["towpath/src/git.rs"]);
    assert_eq!(scripts, ["towpath-run/src/git_staging.rs", "towpath-testing/src/case_runner.rs"]);
}

/// What is reported of the worktree by a look and by a run, without what only the run knows.
fn reported(printed: &Printed) -> serde_json::Value {
    let json: serde_json::Value =
        serde_json::from_str(&printed.stdout).unwrap_or_else(|e| panic!("{e}: {printed:?}"));
    let tree = &json["worktree"];
    serde_json::json!([tree["path"], tree["branch"], tree["base"]])
}

#[test]
fn a_dry_run_calls_no_git_and_agrees_with_the_run() {
    let user = repository();
    user.git("work", &["branch", "packed/one"]);
    user.git("work", &["pack-refs", "--all"]);
    user.git("work", &["branch", "loose"]);
    user.git("work", &["worktree", "add", "--quiet", "../side", "-b", "side"]);
    user.git("side", &["commit", "--quiet", "--allow-empty", "--message", "Side"]);
    user.git("work", &["worktree", "add", "--quiet", "--detach", "../work-detached"]);
    user.git("", &["clone", "--quiet", "--bare", "work", "shop.git"]);
    fs::create_dir_all(user.path("hub")).expect("a folder");
    user.git("", &["clone", "--quiet", "--bare", "work", "hub/.bare"]);
    fs::write(user.path("hub/.git"), "gitdir: ./.bare\n").expect("a link");
    let (path, log) = recorded(&user);
    let keep = "name: keep\nsteps:\n  - {id: a, command: touch kept}\n";
    fs::write(user.path("keep.yaml"), keep).expect("a recipe");
    let recipe = user.path("keep.yaml").display().to_string();
    let run = |folder: &str, name: &str, more: &[&str]| {
        let arguments = [&["run", &recipe, "--worktree", name, "--json"], more].concat();
        let mut command = user.command(&arguments);
        command.current_dir(user.path(folder)).env("PATH", &path);
        Printed::from(command.output().expect("towpath starts"))
    };
    for (folder, name) in [
        ("work", "new"),
        ("work", "new"),
        ("work/sub", "fix/login"),
        ("work", "packed/one"),
        ("work", "loose"),
        ("work", "detached"),
        ("side", "from-side"),
        ("shop.git", "of-bare"),
        ("hub/.bare", "of-hub"),
        ("work", "main"),
        ("work", "side"),
        ("work", "a..b"),
        ("work/.git", "x"),
        ("", "x"),
    ] {
        let _ = fs::remove_file(&log);
        let look = run(folder, name, &["--dry-run"]);
        assert!(!log.exists(), "{folder} {name}: {}", fs::read_to_string(&log).unwrap_or_default());
        let done = run(folder, name, &[]);
        assert_eq!(look.code, done.code, "{folder} {name}: {look:?} {done:?}");
        match done.code {
            Some(0) => assert_eq!(reported(&look), reported(&done), "{folder} {name}"),
            _ => assert_eq!(look.stderr, done.stderr, "{folder} {name}"),
        }
    }
}
