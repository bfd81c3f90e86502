//! `towpath tool`: what a user learns about a tool.

use crate::support::{Printed, User};
use std::io::Write as _;
use std::process::Stdio;

fn judge(user: &User, arguments: &[&str], input: &str) -> Printed {
    let all: Vec<&str> = ["tool", "judge"].iter().chain(arguments).copied().collect();
    let mut command = user.command(&all);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("towpath starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("towpath reads");
    drop(stdin);
    Printed::from(child.wait_with_output().expect("towpath ends"))
}

const TMUX: &str = r#"{ "tool": "tmux", "command": "tmux --version", "exit": 1, "stdout": "",
  "stderr": "usage: tmux [-2CDlNuvV] [-c shell-command]\n" }"#;

#[test]
fn a_recorded_run_is_judged() {
    let user = User::new();
    judge(&user, &[], TMUX).exits(0).prints(
        "tmux: works-by-help\n\
         \x20 because of usage-line: usage: tmux [-2CDlNuvV] [-c shell-command]\n\
         \x20 check: tmux --version prints `usage: tmux ` with exit code 1\n",
    );
    assert!(!user.path("home").exists(), "judging created something");
}

#[test]
fn the_json_has_the_analysis_and_the_check() {
    let json = judge(&User::new(), &["--json"], TMUX).exits(0).json();
    assert_eq!((&json["schema"], &json["verdict"]), (&1.into(), &"works-by-help".into()));
    assert_eq!(json["suggested_mode"], "output");
    assert_eq!(json["verify"]["pattern"], "usage: tmux ");
    assert_eq!(json["verify"]["reason"], "verification repaired: tool does not support --version");
    assert!(json.get("repair_metadata").is_none());
}

#[test]
fn what_is_no_observation_is_refused_with_its_location() {
    let user = User::new();
    let input = r#"{ "tool": "x", "comand": "x", "exit": "killed" }"#;
    judge(&user, &[], input)
        .exits(2)
        .reports("unknown field `comand`")
        .reports("did you mean `command`?")
        .reports("must be an exit code");
    judge(&user, &[], "").exits(2);
}

#[test]
fn foreign_text_cannot_move_the_cursor() {
    let input = r#"{ "tool": "x", "command": "x", "exit": 1, "stderr": "\u001b[2J\u001b[1mboo" }"#;
    let printed = judge(&User::new(), &[], input).exits(0);
    assert!(!printed.stdout.contains('\u{1b}'), "{:?}", printed.stdout);
    assert!(printed.stdout.contains("boo"));
}
