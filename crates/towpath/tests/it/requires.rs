//! `requires`: nothing runs without the programs that a recipe needs; installed tools come before programs
//! on PATH, first on the PATH of everything that the run starts, and a resume uses the same.

use crate::support::{Printed, User};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Installs a version of a tool as `towpath tool` does: an install with its record, and a link to it.
fn install(user: &User, tool: &str, version: &str, program: &str) -> PathBuf {
    let install = format!("home/data/tools/.installs/{tool}/{version}");
    user.program(
        &format!("{install}/bin/{program}"),
        &format!("#!/bin/sh\necho {tool} {version}\n"),
    );
    let record = install_record(tool, version, program);
    fs::write(user.path(&install).join("towpath-tool.json"), record).expect("a record");
    let link = user.path(&format!("home/data/tools/{tool}/{version}"));
    fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
    symlink(user.path(&install), &link).expect("a link");
    link
}

/// What `towpath tool` writes into an install, as far as a run reads it.
pub fn install_record(tool: &str, version: &str, program: &str) -> String {
    let path = format!("bin/{program}");
    let record = json!({
        "schema": 1, "tool": tool, "version": version, "from": "url:https://example.com/x",
        "installed_ms": 0, "integrity": "sha256:00",
        "binaries": [
            { "name": program, "path": path, "sha256": "00", "verdict": "works-by-version" },
        ],
        "verify": { "command": format!("{program} --version") },
        "sandbox": { "kind": "none", "not_enforced": [] },
    });
    record.to_string()
}

fn remove(user: &User, tool: &str, version: &str) {
    fs::remove_file(user.path(&format!("home/data/tools/{tool}/{version}"))).expect("a link");
}

/// A program on PATH that prints a line for `--version`, and keeps a note that it ran.
fn on_path(user: &User, name: &str, line: &str) {
    let ran = user.path(&format!("{name}-ran"));
    let text = format!("#!/bin/sh\necho \"$*\" >> {}\necho '{line}'\n", ran.display());
    user.program(&format!("bin/{name}"), &text);
}

fn towpath(user: &User, arguments: &[&str]) -> Printed {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", user.path("bin").display());
    let output = user.command(arguments).env("PATH", path).output();
    Printed::from(output.expect("towpath starts"))
}

const MISSING: &str = "name: r
requires: [no-such-a, sh]
steps:
  - {id: a, command: touch ran}
  - {id: b, condition: 'false', command: x, requires: ['no-such-b>=1.6', no-such-a]}
  - {id: c, when_tags: [docs], command: x, requires: [no-such-c]}
";

#[test]
fn all_that_is_missing_is_reported_at_once_and_nothing_runs() {
    let user = User::new().file("r.yaml", MISSING);
    let refused = towpath(&user, &["run", "r.yaml"]).exits(5);
    let refused = refused
        .reports("`no-such-a` is missing: not found")
        .reports("r.yaml:2:12")
        .reports("`no-such-b>=1.6` is missing: not found")
        .reports(
            "error: required programs are missing, and nothing was run: no-such-a (towpath tool \
             create no-such-a), no-such-b>=1.6 (towpath tool create no-such-b); --install-missing \
             installs them first",
        );
    assert!(!refused.stderr.contains("no-such-c"), "tags leave it out:\n{}", refused.stderr);
    assert_eq!((user.newest(), user.read("ran").as_str()), (None, ""));
    let tagged = towpath(&user, &["run", "r.yaml", "--include-tags", "docs"]).exits(5);
    tagged.reports("`no-such-c` is missing");
    let json = towpath(&user, &["run", "r.yaml", "--json"]).exits(5).json();
    assert_eq!(json["error"]["kind"], "missing-program");
    assert!(json["error"]["message"].as_str().is_some_and(|text| text.contains("no-such-b>=1.6")));
    // A recipe for the tool is there already.
    fs::create_dir_all(user.path("home/config/tools")).expect("a folder");
    fs::write(user.path("home/config/tools/no-such-a.toml"), "").expect("a file");
    towpath(&user, &["run", "r.yaml"]).exits(5).reports("(towpath tool install no-such-a)");
}

#[test]
fn a_state_machine_and_what_it_calls_are_refused_too() {
    let machine = "id: m
label: M
description: m
initialStep: a
guardrails: {}
requires: [no-such-a]
steps:
  a:
    command: touch ran
    requires: [no-such-b]
    outcomes: [success, failure]
    onOutcome:
      success: {action: exit, reason: done}
      failure: {action: exit, reason: failed}
";
    let user = User::new().file("m.yaml", machine);
    user.write(
        "r.yaml",
        "name: r\nsteps:\n  - {id: a, command: touch ran}\n  - {id: b, recipe: m}\n",
    );
    for recipe in ["m.yaml", "r.yaml"] {
        let refused = towpath(&user, &["run", recipe]).exits(5);
        refused.reports("`no-such-a` is missing").reports("`no-such-b` is missing");
    }
    assert_eq!((user.newest(), user.path("work/ran").exists()), (None, false));
}

#[test]
fn an_installed_tool_comes_first_on_the_path_of_everything_that_runs() {
    let recipe = "name: r
hooks: {pre_step: tool >> hooked}
requires: ['tool>=1.2', 'tool<2', ripgrep]
steps:
  - {id: a, command: tool; rg}
  - {id: ask, prompt: x}
";
    let user = User::new().file("r.yaml", recipe);
    on_path(&user, "tool", "tool 1.5");
    for version in ["1.1", "1.9", "1.10", "2.0"] {
        install(&user, "tool", version, "tool");
    }
    install(&user, "ripgrep", "14.1.0", "rg");
    let agent = user.program(
        "agent",
        "#!/bin/bash\ncat > /dev/null\ntool >> agent-used\n\
         echo '{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}'\n\
         echo '{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"hm\"}}'\n\
         echo '{\"type\":\"turn.completed\",\"usage\":{}}'\n",
    );
    let agent = ["--backend", "codex", "--agent-path", agent.to_str().expect("a plain path")];
    let run = towpath(&user, &[&["run", "r.yaml"], &agent[..]].concat()).exits(0);
    run.shows("tool 1.10\nripgrep 14.1.0\n");
    assert_eq!(user.read("hooked"), "tool 1.10\ntool 1.10\n");
    assert_eq!(user.read("agent-used"), "tool 1.10\n");
    assert!(!user.path("tool-ran").exists(), "no process is needed to know an installed version");
    let shown = towpath(&user, &["show", user.run().as_str()]).exits(0);
    shown.shows("requires tool 1.10 · ").shows("requires ripgrep 14.1.0 · ");
    let shown = towpath(&user, &["show", user.run().as_str(), "--json"]).exits(0).json();
    assert_eq!(shown["requirements"][0]["version"], "1.10");
}

#[test]
fn the_version_that_the_project_has_locked_comes_before_a_newer_one() {
    let user =
        User::new().file("r.yaml", "name: r\nsteps:\n  - {id: a, requires: [jq], command: jq}\n");
    for version in ["1.6", "1.7"] {
        install(&user, "jq", version, "jq");
    }
    assert_eq!(towpath(&user, &["run", "r.yaml"]).exits(0).stdout, "jq 1.7\n");
    let locked = "form = 3
[[tool]]
name = 'jq'
from = 'cargo:jq'
version = '1.6'
recipe = '''
[metadata]
name = \"jq\"
[[steps]]
action = \"cargo_install\"
crate = \"jq\"
[verify]
command = \"jq --version\"
'''
[tool.locks]
";
    user.write(".towpath/tools.lock", locked);
    assert_eq!(towpath(&user, &["run", "r.yaml"]).exits(0).stdout, "jq 1.6\n");
    user.write(".towpath/tools.lock", &locked.replace("1.6", "1.5"));
    assert_eq!(
        towpath(&user, &["run", "r.yaml"]).exits(0).stdout,
        "jq 1.7\n",
        "1.5 is not installed"
    );
}

#[test]
fn a_program_on_path_is_asked_for_its_version() {
    let user = User::new();
    on_path(&user, "tool", "tool-1.5");
    on_path(&user, "other", "hello");
    let recipe = |requires: &str| {
        user.write(
            "r.yaml",
            &format!("name: r\nrequires: {requires}\nsteps:\n  - {{id: a, command: tool}}\n"),
        );
    };
    recipe("[tool, other]");
    towpath(&user, &["run", "r.yaml"]).exits(0);
    assert!(!user.path("other-ran").exists(), "nobody has asked for a version");
    recipe("['tool>=1.4', 'tool<1.6']");
    towpath(&user, &["run", "r.yaml"]).exits(0);
    recipe("['tool>=1.10', 'other>1']");
    let refused = towpath(&user, &["run", "r.yaml"]).exits(5);
    let refused = refused.reports(&format!(
        "`tool>=1.10` is missing: there is 1.5 ({})",
        user.path("bin/tool").display()
    ));
    refused.reports("is not known: `other --version` does not print it");
    // A tool whose version does not fit is not used, and does not hide the program.
    install(&user, "tool", "1.2", "tool");
    recipe("['tool=1.5']");
    towpath(&user, &["run", "r.yaml"]).exits(0).shows("tool-1.5");
    recipe("['tool>=3']");
    towpath(&user, &["run", "r.yaml"]).exits(5).reports("is missing: there is 1.2 (");
}

#[test]
fn a_dry_run_starts_nothing_and_reports_what_it_could_not_check() {
    let recipe = "name: r\nrequires: ['tool>=1', no-such-a]\nsteps:\n  - {id: a, command: tool}\n";
    let user = User::new().file("r.yaml", recipe);
    on_path(&user, "tool", "tool 1.5");
    let shown = towpath(&user, &["run", "r.yaml", "--dry-run"]).exits(0);
    shown
        .reports("warning: `no-such-a` is missing: not found")
        .reports("to install it: towpath tool create no-such-a")
        .reports("note: `tool>=1`: the version of")
        .reports("was not checked");
    let json = towpath(&user, &["run", "r.yaml", "--dry-run", "--json"]).exits(0).json();
    let codes: Vec<&str> = json["problems"]
        .as_array()
        .expect("problems")
        .iter()
        .filter_map(|problem| problem["code"].as_str())
        .collect();
    assert_eq!(codes, ["unchecked-version", "missing-program"]);
    assert!(!user.path("tool-ran").exists(), "it was started");
}

#[test]
fn validate_notes_what_is_missing_and_starts_nothing() {
    let recipe = "name: r\nrequires: ['tool>=1', no-such-a]\nsteps:\n  - {id: a, command: tool}\n";
    let user = User::new().file("r.yaml", recipe);
    on_path(&user, "tool", "tool 0.5");
    let valid = towpath(&user, &["validate", "r.yaml", "--strict"]).exits(0);
    valid.shows("note: `no-such-a` is missing").shows("r.yaml:2:23");
    assert!(!user.path("tool-ran").exists(), "it was started");
    let explained = towpath(&user, &["explain", "r.yaml"]).exits(0);
    explained.shows("requires\n  tool>=1    r\n  no-such-a  r\n");
    let explained = towpath(&user, &["explain", "r.yaml", "--json"]).exits(0).json();
    assert_eq!(explained["recipes"][0]["requires"], json!(["tool>=1", "no-such-a"]));
}

#[test]
fn a_resume_uses_the_same_tool_or_reports_that_it_is_gone() {
    let recipe =
        "name: r\nsteps:\n  - {id: a, command: '[ -e go ] && tool', requires: ['tool<2']}\n";
    let user = User::new().file("r.yaml", recipe);
    install(&user, "tool", "1.1", "tool");
    towpath(&user, &["run", "r.yaml"]).exits(1);
    let run = user.run();
    user.write("go", "");
    // A newer one is not what the run began with.
    install(&user, "tool", "1.2", "tool");
    towpath(&user, &["resume", run.as_str()]).exits(0).shows("tool 1.1\n");

    remove(&user, "tool", "1.1");
    let again = ["resume", run.as_str(), "--again", "a"];
    let resumed = towpath(&user, &again).exits(0).shows("tool 1.2\n");
    resumed
        .reports("note: the run has used tool 1.1 (")
        .reports("which is gone; it continues with tool 1.2 (");

    remove(&user, "tool", "1.2");
    install(&user, "tool", "2.0", "tool");
    let facts = user.facts(&run).len();
    let refused = towpath(&user, &again).exits(5);
    refused
        .reports("`tool<2` is missing: there is 2.0 (")
        .reports("the run has used tool 1.2 (")
        .reports("(towpath tool update tool); --install-missing installs them first");
    assert_eq!(user.facts(&run).len(), facts, "nothing of the resume is recorded");
    on_path(&user, "tool", "tool 1.9");
    towpath(&user, &again).exits(0).shows("tool 1.9\n").reports("it continues with tool 1.9 (");
    // From now on that is the run's, whatever is installed.
    install(&user, "tool", "1.2", "tool");
    let kept = towpath(&user, &again).exits(0).shows("tool 1.9\n");
    assert!(!kept.stderr.contains("which is gone"), "{}", kept.stderr);
}

#[test]
fn what_cannot_be_installed_first_refuses_the_run() {
    let recipe = "name: r\nrequires: [no-such-a]\nsteps:\n  - {id: a, command: touch ran}\n";
    let user = User::new().file("r.yaml", recipe);
    fs::create_dir_all(user.path("home/config/tools")).expect("a folder");
    fs::write(user.path("home/config/tools/no-such-a.toml"), "this is no recipe").expect("a file");
    let refused = towpath(&user, &["run", "r.yaml", "--install-missing", "--json"]).exits(5);
    assert_eq!(refused.json()["error"]["kind"], "missing-program", "only that is on stdout");
    refused
        .reports("no-such-a is missing: towpath tool install no-such-a\n")
        .reports("no-such-a was not installed (exit status: ")
        .reports("`no-such-a` is missing: not found");
    assert_eq!((user.newest(), user.path("work/ran").exists()), (None, false));
}

#[test]
fn a_test_case_runs_without_the_programs() {
    let recipe = "name: r\nrequires: [no-such-a]\nsteps:\n  - {id: a, command: no-such-a}\n";
    let user = User::new().file("r.yaml", recipe);
    user.write(
        "r.test.yaml",
        "cases:\n  - {name: t, stubs: {a: echo replaced}, expect: {outputs: {a: replaced}}}\n",
    );
    towpath(&user, &["test", "r.test.yaml"]).exits(0);
}
