//! What is refused when a rule is created, and what is only warned about.

use crate::support::*;
use towpath_corrections::{NewRule, RuleError, RuleKind, RuleWarning, warnings};

fn created(kind: RuleKind) -> Result<towpath_corrections::Rule, RuleError> {
    let message = Some("why".to_owned());
    NewRule { kind, message, directory: None }.check(1, false)
}

#[test]
fn rules_that_could_never_work_are_refused() {
    let tool = |from: &str, to: &str| RuleKind::ToolName {
        from: from.into(),
        to: to.into(),
        host: "claude-code".into(),
    };
    for (kind, error) in [
        (tool("", "Read"), "is empty"),
        (tool("Read", "Read"), "already"),
        (command(" ", "rg"), "is empty"),
        (command("grep", " "), "is empty"),
        (command("grep", "grep"), "already"),
        (command("grep $x", "rg"), "plain words"),
        (command("grep; ls", "rg"), "plain words"),
        (command("grep", "rg; ls"), "plain words"),
        (flag("scp", "r", "-r"), "already"),
        (flag("scp", "r x", "R"), "no option"),
        (flag("", "r", "R"), "is empty"),
        (valued_flag("scp", "r", "R", "a-b"), "letters"),
        (literal("scp", "a", "a"), "already"),
        (regex("(bad", "x"), "no regular expression"),
        (recipe(" ", "x"), "is empty"),
        (recipe("gt x", " "), "is empty"),
        (recipe("gt x", "gt x"), "already"),
        (recipe("gt x", "while true; do"), "no bash"),
        (recipe("gt x", "gt y {{.Nope}}"), "no value"),
        (recipe("gt x", "gt y {{.Arg 1"), "not closed"),
        (recipe("gt x", "a # {{.Arg 1}}"), "certain spelling"),
        (recipe("gt x", "a `b {{.Arg 1}}`"), "certain spelling"),
        (recipe("gt x", "{{if .Args}}a{{else}}if{{end}}"), "no bash"),
        (refuse("gt *"), "plain words"),
        (RuleKind::Refuse { from: "gt".into(), option: "--a,b c".into() }, "no option"),
        (RuleKind::ToolName { from: "a".into(), to: "b".into(), host: "codex".into() }, "no hook"),
        (
            RuleKind::ToolRecipe { from: "a".into(), script: "b".into(), host: "gemini".into() },
            "no hook",
        ),
    ] {
        let found = created(kind.clone()).map(drop).map_err(|e| e.to_string());
        assert!(found.as_ref().is_err_and(|text| text.contains(error)), "{kind:?}: {found:?}");
    }
    let silent = NewRule { kind: refuse("gt a"), message: None, directory: None };
    assert!(silent.check(1, false).is_err());
}

#[test]
fn only_a_script_that_is_not_understood_can_be_forced() {
    let forced =
        |kind: RuleKind| NewRule { kind, message: None, directory: None }.check(1, true).is_ok();
    assert!(forced(recipe("gt x", "while true; do")));
    assert!(!forced(recipe("gt x", "{{.Nope}}")) && !forced(regex("(bad", "x")));
}

#[test]
fn rules_that_work_are_accepted() {
    for kind in [
        command("git comit", "git commit"),
        flag("scp", "-r", ""),
        literal("scp", "a", ""),
        regex("a(b)", "$1"),
        recipe("gt x", "a {{if .Args}}{{.Args}}{{end}}"),
        refuse("gt deacon pending"),
    ] {
        let rule = created(kind.clone()).unwrap_or_else(|e| panic!("{kind:?}: {e}"));
        assert!(rule.enabled && rule.hits == 0);
    }
}

#[test]
fn the_key_has_everything_that_makes_a_rule_another_one() {
    let key = |kind: &RuleKind| kind.key();
    let one = recipe("gt x", "a");
    assert_eq!(key(&one), key(&recipe("gt x", "b")));
    assert_eq!((key(&one).command.as_str(), key(&one).tool.as_str()), ("gt", "Bash"));
    for other in
        [recipe("gt y", "a"), refuse("gt x"), command("gt x", "a"), literal("gt", "gt x", "a")]
    {
        assert_ne!(key(&one), key(&other));
    }
    for (spelling, same) in [
        (flag("scp", "r", "R"), flag("scp", "-r", "")),
        (flag("git add", "all", ""), flag("git add", "--all", "")),
        (recipe("gt  x ", "a"), recipe("gt x", "b")),
    ] {
        assert_eq!(key(&spelling), key(&same));
    }
    assert_ne!(key(&recipe("gt 'a  b'", "a")), key(&recipe("gt 'a b'", "a")));
    let tool =
        |host: &str| RuleKind::ToolName { from: "a".into(), to: "b".into(), host: host.into() };
    assert_ne!(key(&tool("claude-code")), key(&tool("codex")));
}

#[test]
fn circles_and_changes_of_the_shell_are_warned_about() {
    let others =
        vec![rule(1, command("a", "b")), rule(2, recipe("b x", "c")), rule(3, command("c", "a"))];
    let warned = |kind: RuleKind| warnings(&rule(9, kind), &others, &|_| true);
    assert_eq!(warned(command("b", "a")), [RuleWarning::Cycle { numbers: vec![9, 1] }]);
    assert!(warned(command("d", "a")).is_empty());
    assert_eq!(
        warned(recipe("gt x", "a | b {{.Args}}; exit 3")),
        [RuleWarning::ChangesShell { command: "exit".into() }]
    );
    assert!(warned(recipe("gt x", "(exit {{.Arg 1}})")).is_empty());
    assert_eq!(warned(regex("a+", "aa")), [RuleWarning::MatchesItself]);
}

#[test]
fn what_a_rule_would_break_is_warned_about() {
    let warned = |kind: RuleKind| -> Vec<String> {
        let found = warnings(&rule(1, kind), &[], &|program| !program.starts_with("no"));
        found.iter().map(ToString::to_string).collect()
    };
    for (kind, expected) in [
        (command("ls", "nosuch"), "`nosuch` is not installed"),
        (recipe("gt x", "nosuch {{.Args}} | cat"), "`nosuch` is not installed"),
        (command("grep", "rg"), "in `rg`, -r, -E"),
        (command("find", "fd"), "in `fd`, all options"),
        (flag("unknown get", "--namespace", ""), "if --namespace takes a value"),
        (flag("rg", "-r", ""), "if -r takes a value"),
        (recipe("gt x", "git push"), "runs without a question"),
    ] {
        let found = warned(kind.clone());
        assert!(found.iter().any(|text| text.contains(expected)), "{kind:?}: {found:?}");
        assert_eq!(found.len(), 1, "{found:?}");
    }
    for kind in [
        command("git comit", "git commit"),
        command("nosuch a", "nosuch b"),
        command("python", "python3"),
        command("grep", "grep -E"),
        flag("kubectl get", "--namespace", ""),
        flag("scp", "-q", ""),
        flag("scp", "-r", "-R"),
        recipe("gt x", "cd d; git push {{.Args}}"),
    ] {
        let found = warned(kind.clone());
        assert!(found.iter().all(|text| text.contains("subshell")), "{kind:?}: {found:?}");
    }
}

#[test]
fn a_replacement_names_only_groups_of_its_expression() {
    let check = |from: &str, to: &str| {
        let kind = regex(from, to);
        NewRule { kind, message: None, directory: None }.check(1, false).map(drop)
    };
    for to in ["bar$1x", "$2", "${name}", "$name"] {
        assert!(matches!(check(r"foo(\d+)", to), Err(RuleError::NoGroup { .. })), "{to}");
    }
    for to in ["bar$1", "${1}x", "$0", "$$1x", "a $ b", "$"] {
        assert_eq!(check(r"foo(\d+)", to), Ok(()), "{to}");
    }
    assert_eq!(check(r"foo(?P<name>\d+)", "$name"), Ok(()));
}
