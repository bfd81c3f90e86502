//! `towpath init`: hooks in the settings of agent programs, which stay the user's own files.

use crate::support::{Printed, User};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HOSTS: [&str; 6] = ["claude-code", "codex", "cursor", "gemini", "copilot", "opencode"];

/// Where each host has its hooks: the user's file below the home, and a project's.
const FILES: [(&str, &str); 6] = [
    (".claude/settings.json", ".claude/settings.json"),
    (".codex/hooks.json", ".codex/hooks.json"),
    (".cursor/hooks.json", ".cursor/hooks.json"),
    (".gemini/settings.json", ".gemini/settings.json"),
    (".copilot/settings.json", ".github/hooks/towpath.json"),
    (".config/opencode/plugin/towpath.js", ".opencode/plugin/towpath.js"),
];

/// A user with `towpath` on a PATH without agents.
fn user() -> User {
    let user = User::new();
    user.program(
        "bin dir/towpath",
        "#!/bin/sh\necho \"$*\" >> \"$HOME/called\"\ncat >> \"$HOME/called\"\n",
    );
    user
}

fn init(user: &User, arguments: &[&str]) -> Printed {
    let mut command = user.command(&[&["init"], arguments].concat());
    let path = format!("{}:/usr/bin:/bin", user.path("bin dir").display());
    command.env("PATH", path);
    for variable in
        ["CLAUDE_CLI_PATH", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"]
    {
        command.env_remove(variable);
    }
    Printed::from(command.output().expect("towpath starts"))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Every command in a file of hooks.
fn commands(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(text) if key == "command" || key == "bash" => vec![text.clone()],
                value => commands(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(commands).collect(),
        _ => Vec::new(),
    }
}

/// All files below a directory, with their contents.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)),
            path => found.push((path.clone(), fs::read(path).expect("a file"))),
        }
    }
    found.sort();
    found
}

#[test]
fn hooks_are_installed_shown_and_taken_back() {
    for (host, (file, _)) in HOSTS.iter().zip(FILES) {
        let user = user();
        let path = user.path(file);
        let before = files(&user.path(""));
        init(&user, &[host, "--dry-run"]).exits(0).shows("would be created").shows("+");
        assert_eq!(files(&user.path("")), before, "{host}: a dry run writes nothing");

        init(&user, &[host]).exits(0).shows(&format!("{file}: created")).shows("+");
        let installed = read(&path);
        assert!(
            installed.contains(&format!("{}/towpath", user.path("bin dir").display())),
            "{installed}"
        );

        init(&user, &[host]).exits(0).shows("already").shows("nothing changed");
        assert_eq!(read(&path), installed);

        init(&user, &[host, "--remove"]).exits(0).shows("removed");
        assert_eq!(files(&user.path("")), before, "{host}");
        init(&user, &[host, "--remove"]).exits(0).shows("nothing changed");
    }
}

#[test]
fn a_users_settings_stay_to_the_byte_with_their_mode_and_their_link() {
    let user = user();
    let settings = "{\r\n\t\"model\": \"opus\", \"hooks\": {\"Stop\": [] }\r\n}";
    let target = user.path("dotfiles/claude.json");
    write(&target, settings);
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("a mode");
    fs::create_dir(user.path(".claude")).expect("a directory");
    symlink("../dotfiles/claude.json", user.path(".claude/settings.json")).expect("a link");

    let printed = init(&user, &["claude-code"]).exits(0);
    let backup = user.path("dotfiles/claude.json.towpath-backup");
    let printed = printed.shows(
        "settings.json: changed; its previous contents: ~/dotfiles/claude.json.towpath-backup",
    );
    printed.shows("note: the version of Claude Code is not known");
    assert_eq!(read(&backup), settings);
    for file in [&backup, &target] {
        let mode = fs::metadata(file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{}", file.display());
    }
    assert!(user.path(".claude/settings.json").symlink_metadata().expect("a link").is_symlink());
    let value: Value = serde_json::from_str(&read(&target)).expect("JSON");
    assert_eq!(value["model"], "opus");
    assert_eq!(value["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"], 10);

    init(&user, &["claude-code", "--remove"]).exits(0).shows("its first backup stays");
    assert_eq!(read(&target), settings);
    // The backup is what the user had before towpath changed anything.
    assert_eq!(read(&backup), settings);
    write(&target, "{}");
    init(&user, &["claude-code"]).exits(0);
    assert_eq!(read(&backup), settings);
}

#[test]
fn a_read_only_file_is_refused_and_not_touched() {
    let user = user();
    let path = user.path(".claude/settings.json");
    write(&path, "{}");
    let mode = |mode| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    mode(0o444);
    init(&user, &["claude-code"]).exits(5).reports("settings.json is read-only");
    assert_eq!(read(&path), "{}");
    assert_eq!(fs::read_dir(user.path(".claude")).expect("a directory").count(), 1);
    mode(0o644);
    init(&user, &["claude-code"]).exits(0);
    let installed = read(&path);
    mode(0o444);
    init(&user, &["claude-code"]).exits(0).shows("nothing changed");
    init(&user, &["claude-code", "--remove"]).exits(5).reports("chmod u+w");
    assert_eq!(read(&path), installed);
}

#[test]
fn an_empty_file_is_as_none() {
    for (host, (file, _)) in HOSTS.iter().zip(FILES) {
        let user = user();
        let path = user.path(file);
        init(&user, &[host]).exits(0);
        let new = read(&path);
        for empty in ["", "\n  \n"] {
            init(&user, &[host, "--remove"]).exits(0);
            write(&path, empty);
            init(&user, &[host, "--remove"]).exits(0).shows("nothing changed");
            assert_eq!(read(&path), empty, "{host}");
            init(&user, &[host]).exits(0);
            assert_eq!(read(&path), new, "{host}");
            assert!(!path.with_file_name("settings.json.towpath-backup").exists());
        }
    }
}

#[test]
fn a_malformed_file_is_refused_with_its_location_and_not_touched() {
    let user = user();
    let path = user.path(".claude/settings.json");
    for (text, at, why) in [
        ("{\n  \"model\": \"opus\",\n}", "3:1", "expected a value after the comma, found `}`"),
        ("{\n  \"hooks\": []\n}", "2:12", "`hooks` is an array, and must be an object"),
        ("{} // mine", "1:4", "a comment, which the program does not read"),
    ] {
        write(&path, text);
        init(&user, &["claude-code"]).exits(5).reports(&format!("settings.json:{at}")).reports(why);
        let error = init(&user, &["claude-code", "--json"]).exits(5).json();
        let message = error["error"]["message"].as_str().expect("a message");
        assert!(message.contains(&format!("settings.json:{at}: {why}")), "{message}");
        assert_eq!(read(&path), text);
        assert_eq!(fs::read_dir(user.path(".claude")).expect("a directory").count(), 1);
    }
    fs::remove_file(&path).expect("removed");
    symlink("nowhere", &path).expect("a link");
    init(&user, &["claude-code"]).exits(5).reports("a symbolic link to a file that does not exist");
}

#[test]
fn a_projects_hooks_have_no_trace_of_this_machine_and_succeed_without_towpath() {
    for (host, (_, file)) in HOSTS.iter().zip(FILES) {
        let user = user();
        user.git("work", &["init", "-q"]);
        fs::create_dir(user.path("work/deep")).expect("a directory");
        let mut command = user.command(&["init", host, "--project"]);
        command.current_dir(user.path("work/deep"));
        Printed::from(command.output().expect("towpath starts")).exits(0);
        let text = read(&user.path("work").join(file));
        assert!(!text.contains(&user.path("").display().to_string()), "{text}");
        assert!(!text.contains(env!("CARGO_BIN_EXE_towpath")), "{text}");
        if *host == "opencode" {
            continue;
        }
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let commands = commands(&value);
        assert_eq!(commands.len(), 2, "only what every version reads: {text}");
        for command in commands {
            let event = if command.contains("hook pre ") { "pre" } else { "post" };
            assert_eq!(
                run(&user, &command, "/usr/bin:/bin"),
                (Some(0), String::new()),
                "{command}"
            );
            let path = format!("{}:/usr/bin:/bin", user.path("bin dir").display());
            assert_eq!(run(&user, &command, &path), (Some(0), String::new()));
            let called = fs::read_to_string(user.path("called")).expect("it was called");
            assert_eq!(called, format!("hook {event} --host {host}\npayload"));
            fs::remove_file(user.path("called")).expect("removed");
        }
    }
}

/// Runs a hook as a host does; its exit code and what it printed.
fn run(user: &User, command: &str, path: &str) -> (Option<i32>, String) {
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .current_dir(user.path("work"))
        .env("PATH", path)
        .env("HOME", user.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    // One that ends at once does not read it.
    let _ = std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"payload");
    let output = child.wait_with_output().expect("it ends");
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
}

/// Where a failed hook is taken for a refusal, a program that is gone refuses nothing.
#[test]
fn a_program_that_is_gone_denies_nothing_in_copilot() {
    let user = user();
    init(&user, &["copilot"]).exits(0);
    let value: Value =
        serde_json::from_str(&read(&user.path(".copilot/settings.json"))).expect("JSON");
    assert_eq!(value["hooks"]["preToolUse"][0]["timeoutSec"], 10);
    fs::remove_file(user.path("bin dir/towpath")).expect("removed");
    for command in commands(&value) {
        assert_eq!(run(&user, &command, "/usr/bin:/bin").0, Some(0), "{command}");
    }
}

#[test]
fn newer_events_are_installed_only_for_a_version_that_reads_them() {
    let user = user();
    let path = user.path(".claude/settings.json");
    let events = || -> Vec<String> {
        let value: Value = serde_json::from_str(&read(&path)).expect("JSON");
        value["hooks"].as_object().expect("hooks").keys().cloned().collect()
    };
    let claude = |version: &str| {
        user.program("bin dir/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
        init(&user, &["claude-code"]).exits(0);
    };
    claude("2.1.63");
    assert_eq!(events(), ["PreToolUse", "PostToolUse"]);
    claude("2.1.325");
    assert_eq!(events(), ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"]);
    // An older version would drop every hook in the file.
    claude("2.1.30");
    assert_eq!(events(), ["PreToolUse", "PostToolUse"]);
}

#[test]
fn a_projects_hooks_follow_the_version_here_too() {
    let user = user();
    let events = || -> Vec<String> {
        let text = read(&user.path("work/.claude/settings.json"));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        value["hooks"].as_object().expect("hooks").keys().cloned().collect()
    };
    let printed = init(&user, &["claude-code", "--project"]).exits(0);
    printed.shows("note: the version of Claude Code is not known, so the hooks for failed calls");
    assert_eq!(events(), ["PreToolUse", "PostToolUse"]);
    user.program("bin dir/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n");
    let printed = init(&user, &["claude-code", "--project"]).exits(0);
    printed
        .shows("need Claude Code 2.1.119 or newer: in an older one no hook of this project runs");
    assert_eq!(events(), ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch"]);
    // Started by its path, and found by no hook of the project.
    fs::remove_file(user.path("bin dir/towpath")).expect("removed");
    init(&user, &["codex", "--project"])
        .exits(0)
        .shows("note: towpath is not on PATH here: the hooks of this project do nothing for you");
}

#[test]
fn what_is_in_the_way_of_our_hooks_is_named() {
    let user = user();
    let other = r#"{"disableAllHooks": true, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks":
        [{"type": "command", "command": "saver hook claude"}]}]}}"#;
    write(&user.path(".claude/settings.json"), other);
    let off = "disableAllHooks is true in this file: Claude Code runs no hook at all";
    let beside = "`saver hook claude` runs before calls too: if it also rewrites commands, Claude \
                  Code uses one of the two";
    for _ in 0..2 {
        let printed = init(&user, &["claude-code"]).exits(0);
        printed.shows(&format!("note: {off}")).shows(&format!("note: {beside}"));
    }
    let notes = user.towpath(&["doctor", "--json"]).json()["hosts"][0]["notes"].clone();
    assert_eq!(notes, serde_json::json!([off, beside]));
}

#[test]
fn hosts_whose_hooks_need_no_version_are_not_started() {
    let user = user();
    for (host, program) in [("copilot", "copilot"), ("gemini", "gemini"), ("codex", "codex")] {
        let script = format!("#!/bin/sh\ntouch '{}'\n", user.path("started").display());
        user.program(&format!("bin dir/{program}"), &script);
        init(&user, &[host]).exits(0);
    }
    assert!(!user.path("started").exists());
}

#[test]
fn what_the_user_must_do_is_printed() {
    let user = user();
    init(&user, &["codex"])
        .exits(0)
        .shows("note: Codex runs a new or changed hook only after you trust it");
    let printed = init(&user, &["opencode"]).exits(0);
    printed.shows("npm install --prefix ~/.config/opencode");
    let package: Value =
        serde_json::from_str(&read(&user.path(".config/opencode/package.json"))).expect("JSON");
    assert_eq!(package["dependencies"]["@opencode-ai/plugin"], "latest");
    init(&user, &["claud-code"]).exits(2).reports("did you mean `claude-code`?");
    init(&user, &["codex", "--user", "--project"]).exits(2);
}

#[test]
fn a_plugin_of_another_owner_and_its_package_stay() {
    let user = user();
    let plugin = user.path(".config/opencode/plugin/towpath.js");
    write(&plugin, "export const Mine = 1\n");
    init(&user, &["opencode"]).exits(5).reports("towpath did not write it");
    assert_eq!(read(&plugin), "export const Mine = 1\n");
    fs::remove_file(&plugin).expect("removed");

    let package = user.path(".config/opencode/package.json");
    for text in [
        "{\"dependencies\": {\"@opencode-ai/plugin\": \"1.0.0\"}}",
        "{\n  \"name\": \"x\",\n  \"dependencies\": {}\n}\n",
        "{\"dependencies\": {\n  \"zod\": \"4\"\n}}",
    ] {
        write(&package, text);
        init(&user, &["opencode"]).exits(0);
        assert!(read(&package).contains("@opencode-ai/plugin"));
        init(&user, &["opencode", "--remove"]).exits(0);
        assert_eq!(read(&package), text);
        assert!(!plugin.exists());
    }
}

#[test]
fn the_result_is_one_json_object() {
    let user = user();
    let reported = init(&user, &["gemini", "--json"]).exits(0).json();
    assert_eq!(reported["host"], "gemini");
    assert_eq!(reported["scope"], "user");
    assert_eq!(reported["changes"][0]["action"], "created");
    assert!(reported["changes"][0]["diff"].as_str().expect("a diff").contains("BeforeTool"));
    let reported = init(&user, &["gemini", "--json"]).exits(0).json();
    assert_eq!(reported["changes"][0]["action"], "unchanged");
}

/// The arguments with which a run starts Claude Code, one a line.
fn arguments_of_claude(user: &User, version: &str) -> String {
    let stub = user.program(
        "claude",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && exec echo '{version}'\n\
             printf '%s\\n' \"$@\" > \"$HOME/arguments\"\nexit 1\n"
        ),
    );
    let mut command = user.command(&["run", "ask.yaml"]);
    command.env("CLAUDE_CLI_PATH", stub).env("TOWPATH_BACKEND", "claude-code");
    Printed::from(command.output().expect("towpath starts")).exits(4);
    read(&user.path("arguments"))
}

#[test]
fn claude_code_gets_the_hooks_from_a_run_where_there_are_rules() {
    let user = user().file("ask.yaml", "name: ask\nsteps:\n  - {id: a, prompt: Do it.}\n");
    assert!(!arguments_of_claude(&user, "2.1.325").contains("--settings"));
    user.towpath(&["rules", "add", "command", "grpe", "grep"]).exits(0);
    for (version, events) in [("2.1.325 (Claude Code)", 4), ("2.1.30 (Claude Code)", 2), ("?", 2)] {
        let arguments = arguments_of_claude(&user, version);
        let settings = arguments.split("--settings\n").nth(1).and_then(|rest| rest.lines().next());
        let settings: Value = serde_json::from_str(settings.expect("settings")).expect("JSON");
        let hooks = settings["hooks"].as_object().expect("hooks");
        assert_eq!(hooks.len(), events, "{version}: {settings:#}");
        let own = commands(&settings);
        assert!(own[0].ends_with("towpath hook pre --host claude-code"), "{own:?}");
    }
}

#[test]
fn doctor_shows_which_programs_have_the_hooks() {
    let user = user();
    let doctor = |arguments: &[&str]| {
        let mut command = user.command(&[&["doctor"], arguments].concat());
        command.env("PATH", "/usr/bin:/bin").env_remove("CLAUDE_CLI_PATH");
        Printed::from(command.output().expect("towpath starts"))
    };
    doctor(&[]).shows("no hooks: towpath init codex");
    init(&user, &["codex"]).exits(0);
    init(&user, &["codex", "--project"]).exits(0);
    doctor(&[])
        .shows("user: ~/.codex/hooks.json (pre, post); project: .codex/hooks.json (pre, post)")
        .shows("no call of it was seen yet; it runs hooks only after you trust them");
    let hosts = doctor(&["--json"]).json()["hosts"].clone();
    assert_eq!(hosts[1]["hooks"][0]["scope"], "user", "{hosts:#}");
    assert_eq!(hosts[1]["hooks"][0]["events"], serde_json::json!(["pre", "post"]));
    fs::remove_file(user.path("bin dir/towpath")).expect("removed");
    doctor(&[]).shows("bin dir/towpath is gone").shows("fix: towpath init codex");
    write(&user.path(".gemini/settings.json"), "{ oh");
    doctor(&[]).shows("fix: towpath init gemini --dry-run");
}

#[test]
fn hooks_are_gone_when_towpath_is() {
    let user = user();
    let settings = "{\"model\": \"opus\"}";
    write(&user.path(".claude/settings.json"), settings);
    for host in HOSTS {
        init(&user, &[host]).exits(0);
        init(&user, &[host, "--project"]).exits(0);
    }
    user.towpath(&["uninstall", "--dry-run"]).exits(0).shows("would remove the hooks of Codex");
    user.towpath(&["uninstall"])
        .exits(0)
        .shows("removed the hooks of Claude Code in ~/.claude/settings.json");
    assert_eq!(read(&user.path(".claude/settings.json")), settings);
    for (user_file, project_file) in &FILES[1..] {
        assert!(!user.path(user_file).exists(), "{user_file}");
        assert!(user.path("work").join(project_file).exists(), "{project_file}");
    }
}
