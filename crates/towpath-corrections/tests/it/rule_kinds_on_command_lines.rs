//! Command, flag, literal, regex and refuse rules, each sentence of their description as a row.

use crate::support::*;
use towpath_corrections::{Correction, Rule, RuleKind, unapplied};

#[test]
fn words_of_a_command_become_others() {
    check_rows(&[
        (
            &[command("git comit", "git commit")],
            "git  comit -m 'a  b'",
            Some("git  commit -m 'a  b'"),
        ),
        (&[command("git comit", "git commit")], "git -C d comit", None),
        (&[command("pip", "python3 -m pip")], "pip install x", Some("python3 -m pip install x")),
        (&[command("docker compose", "docker-compose")], "docker >f compose up", None),
        (
            &[command("docker compose", "docker-compose")],
            "docker compose up",
            Some("docker-compose up"),
        ),
        (&[command("grep", "rg")], "\\grep a; 'grep' b", Some("rg a; rg b")),
        (&[command("grep", "rg")], "gr\\\nep a", Some("rg a")),
        (&[command("grep", "rg")], "grep() { :; }; grep a", None),
        (
            &[command("grep", "rg -e \"$x\"")],
            "bash -c \"grep a\"",
            Some("bash -c \"rg -e \\\"\\$x\\\" a\""),
        ),
        (&[command("grep", "rg 'a'")], "bash -c 'grep a'", None),
        (&[command("grep", "rg")], "echo `grep \\`grep a\\``", Some("echo `rg \\`rg a\\``")),
        (&[command("grep", "rg a | b")], "grep x", None),
        (&[command("grep", "rg")], "watch -n 2 grep a", Some("watch -n 2 rg a")),
        (&[command("grep", "rg 'a b'")], "watch grep a", None),
        (&[command("a", "b"), command("a b", "c")], "a b d", Some("c d")),
    ]);
}

#[test]
fn flags_become_others_or_are_dropped() {
    check_rows(&[
        (&[flag("rg", "r", "")], "rg -rn x", Some("rg -n x")),
        (&[flag("rg", "r", ""), flag("rg", "n", "")], "rg -n  x", Some("rg  x")),
        (&[flag("scp", "q", "")], "scp -q a h:", Some("scp a h:")),
        (&[flag("scp", "q", "")], "scp a h: -q", Some("scp a h:")),
        (&[flag("scp", "q", "")], "scp \\\n -q a", Some("scp \\\n  a")),
        (&[flag("scp", "q", "")], "scp 5 -q>f", None),
        (&[flag("scp", "P", "")], "scp -P 22 a", None),
        (&[flag("scp", "P", "p")], "scp -P22 a", Some("scp -p22 a")),
        (&[flag("scp", "P", "port")], "scp -P22 a", None),
        (&[flag("scp", "P", "port")], "scp -qP 22 a", Some("scp -q --port 22 a")),
        (&[flag("scp", "q", "quiet")], "scp -qP 22 a", Some("scp --quiet -P 22 a")),
        (&[flag("scp", "r", "R")], "scp -i -r a", None),
        (
            &[flag("git commit", "m", "n")],
            "git add -m x; git commit -m x",
            Some("git add -m x; git commit -n x"),
        ),
        (&[flag("git", "no-verfy", "no-verify")], "git commit -m --no-verfy", None),
        (&[flag("foo", "r", "R")], "foo -abr x; foo -abcr x", Some("foo -abR x; foo -abcr x")),
        (
            &[valued_flag("foo", "r", "R", "x")],
            "foo -abcr y; foo -xr; foo -x -r",
            Some("foo -abcR y; foo -xr; foo -x -r"),
        ),
        (&[flag("go", "r", "R")], "go test -run x -r", Some("go test -run x -R")),
        (&[flag("go", "-rn", "-run")], "go test -rn x", Some("go test -run x")),
        (&[flag("scp", "r", "R")], "scp '-r' -\"r\" \\-r a", Some("scp '-R' -R \\-R a")),
        (
            &[flag("gh", "lmit", "limit")],
            "gh list --lmit=$n '--lmit' 3",
            Some("gh list --limit=$n '--limit' 3"),
        ),
        (&[flag("gh", "lmit", "")], "gh list --lmit=3 x", Some("gh list x")),
        // The word after a long option that takes a value is data.
        (
            &[flag("git commit", "a", "all")],
            "git commit --message -a --amend -a",
            Some("git commit --message -a --amend --all"),
        ),
        (
            &[flag("git commit", "a", "all")],
            "git commit --message=x -a",
            Some("git commit --message=x --all"),
        ),
        (&[flag("curl", "k", "cacert")], "curl --header -k", None),
        (&[flag("curl", "k", "cacert")], "curl --silent -k", Some("curl --silent --cacert")),
        (&[flag("find", "r", "R")], "find . -name -r", None),
        (
            &[flag("gh", "--txt", "--body"), flag("gh", "r", "R")],
            "gh pr create --txt -r",
            Some("gh pr create --body -r"),
        ),
        (&[flag("git", "force", "force-with-lease")], "git push --repo --force", None),
        (&[flag("foo", "r", "R")], "foo --message -r", Some("foo --message -R")),
        (&[flag("gh", "lmit", "limit")], "gh list --lmit$x", None),
        (
            &[flag("scp", "r", "R")],
            "bash -c \"scp \\\"-r\\\" a\"",
            Some("bash -c \"scp \\\"-R\\\" a\""),
        ),
        (
            &[flag("scp", "r", "R")],
            "xargs -r scp -r a; find . -exec scp -r {} h: \\;",
            Some("xargs -r scp -R a; find . -exec scp -R {} h: \\;"),
        ),
    ]);
}

#[test]
fn literals_are_for_the_words_of_their_command() {
    check_rows(&[
        (
            &[literal("scp", "host:", "new:")],
            "scp $(echo host:) host:",
            Some("scp $(echo host:) new:"),
        ),
        (&[literal("scp", "host:", "new:")], "scp a host: >host: b", Some("scp a new: >host: b")),
        (&[literal("scp", "host", "it's")], "scp 'host' 'host'", None),
        (&[literal("scp", "host", "\"")], "scp \"host\"$x\"host\"", None),
        (&[literal("scp", "host", "$(rm y)")], "scp \"host\"", None),
        (&[literal("scp", "host", "a; rm y")], "scp host", None),
        (&[literal("scp", "a b", "c")], "scp xa by", Some("scp xcy")),
        (
            &[literal("echo", "a", "'"), command("grep", "rg")],
            "grep b; echo a",
            Some("rg b; echo a"),
        ),
        (
            &[literal("pip", "install", "add"), literal("pip", "install x", "add y")],
            "pip install x",
            Some("pip add y"),
        ),
    ]);
}

#[test]
fn regular_expressions_begin_in_code() {
    check_rows(&[
        (&[regex("a+", "b")], "echo \"$(aa 'aa')\" aa # aa", Some("echo \"$(b 'aa')\" b # aa")),
        (&[regex("curl -k", "curl -x")], "curl -kL y", None),
        (&[regex("x*", "y")], "echo xx", Some("echo y")),
        (&[regex("cat <<E", "cat <<F")], "cat <<E\na\nE", None),
        (&[regex("b c", "d"), command("b", "x")], "a; b c", Some("a; d")),
        (&[regex("a", "b")], "cat <<E\na $(a)\nE", Some("cbt <<E\na $(b)\nE")),
    ]);
    let literal = towpath_corrections::RuleKind::ParameterLiteral {
        tool: "Bash".into(),
        parameter: "command".into(),
        from: "npm".into(),
        to: "pnpm".into(),
    };
    check_rows(&[(&[literal], "npm i; echo 'npm'; pnpm x", Some("pnpm i; echo 'npm'; pnpm x"))]);
}

#[test]
fn refused_commands_deny_the_call() {
    let denied = Some("DENIED `gt a` is refused by a correction rule.");
    let with_argument = Some("DENIED `gt a c` is refused by a correction rule.");
    check_rows(&[
        (&[refuse("gt a")], "ls; bash -c 'gt a'", denied),
        (&[refuse("gt a"), recipe("gt a b", "gt c")], "gt a b", Some("gt c")),
        (&[refuse("gt a"), recipe("gt a b", "gt c")], "gt a b; gt a c >f", with_argument),
        (&[refuse("gt a"), recipe("gt", "gt c")], "gt a", denied),
        (&[refuse("gt a"), recipe("gt a", "gt c")], "gt a", denied),
        (&[refuse("gt a")], "gt a 'open", None),
    ]);
}

#[test]
fn a_denial_names_each_refused_command() {
    let rules = vec![
        Rule { message: Some("Use gt d.".into()), ..rule(1, refuse("gt a")) },
        rule(2, refuse("gt b")),
    ];
    let line = format!("ls && gt a 'x y' | cat; gt b {}", "z".repeat(200));
    let Correction::Denied(denial) = corrected(&line, rules) else { panic!("not refused") };
    let long = format!("gt b {}…", "z".repeat(95));
    let expected =
        format!("`gt a 'x y'` is refused: Use gt d.\n`{long}` is refused by a correction rule.");
    assert_eq!(denial.reason, expected);
}

#[test]
fn what_a_template_takes_as_text_is_not_dropped() {
    for script in ["log {{.Raw}}", "log '{{.Full}}'", "log \"{{.Args}}\""] {
        let rules = vec![rule(1, recipe("gt x", script))];
        let Correction::Rewritten(rewrite) = corrected("gt x --all b", rules) else {
            panic!("{script}")
        };
        assert_eq!(rewrite.applied[0].dropped, [""; 0], "{script}");
        assert!(!rewrite.vouched, "{script}");
    }
}

#[test]
fn a_rule_that_matches_and_is_not_applied_has_a_reason() {
    let reason = |rules: &[Rule], line: &str| {
        let call = bash_call(line);
        let all: Vec<&Rule> = rules.iter().collect();
        let correction = corrected(line, rules.to_vec());
        let found = unapplied(&call, &all, &correction).expect("bash");
        found.iter().map(|one| format!("{}: {}", one.rule, one.reason)).collect::<Vec<_>>()
    };
    let one = |kind| vec![rule(1, kind)];
    let flag = RuleKind::Flag {
        command: "scp".into(),
        from: "-r".into(),
        to: "-R".into(),
        valued: String::new(),
    };
    for (rules, line, expected) in [
        (one(recipe("gt x", "a")), "gt x --help", "1: `--help` would be dropped"),
        (
            one(recipe("gt x", "a \"{{.Args}}\"")),
            "gt x $v",
            "1: `$v` would not expand as it does now",
        ),
        (
            one(recipe("gt x", "a; b")),
            "sudo gt x",
            "1: assignments and wrappers such as sudo take one command, not a script",
        ),
        (
            one(recipe("gt x", "a")),
            "gt x $(b)",
            "1: what `$(b)` runs or sets would happen never, or more than once",
        ),
        (
            one(recipe("gt x", "v=1; a")),
            "gt x; echo $v",
            "1: the script changes what the rest of the line reads",
        ),
        (
            one(recipe("gt x", "a")),
            "gt() { b; }; gt x",
            "1: the line defines a function of that name",
        ),
        (one(flag), "scp a b", "1: the command does not have the option -r"),
        (one(command("grep", "grep -E")), "grep -E a", "1: the command is corrected already"),
        (vec![Rule { enabled: false, ..rule(1, command("a", "b")) }], "a", "1: it is disabled"),
        (
            vec![Rule { directory: Some("/shop".into()), ..rule(1, command("a", "b")) }],
            "a",
            "1: it is only for calls in /shop",
        ),
        (
            vec![rule(1, recipe("gt", "a")), rule(2, recipe("gt x", "b"))],
            "gt x",
            "1: rule 2 matches more of it",
        ),
        (
            vec![rule(1, command("gt", "a")), rule(2, recipe("gt x", "b"))],
            "gt x",
            "1: rule 2 replaces the whole command",
        ),
        (
            one(regex("localhost:3000", "localhost:4000")),
            "curl \"http://localhost:3000/x\"",
            "1: what it matches is in quotes, a here-document or a comment",
        ),
        (
            one(regex("curl -k", "curl")),
            "curl -kL x",
            "1: what it matches ends inside of a word, or the result is not certain",
        ),
        (
            one(RuleKind::Refuse { from: "git push".into(), option: "--force,-f".into() }),
            "git push",
            "1: the command has no option --force,-f",
        ),
    ] {
        assert_eq!(reason(&rules, line), [expected], "{line}");
    }
    assert_eq!(reason(&one(command("a", "b")), "a; c"), [""; 0], "it is applied");
    assert_eq!(reason(&one(command("a b", "c")), "a d"), [""; 0], "it is about another command");
}

#[test]
fn the_context_names_what_was_corrected() {
    let rules = vec![
        Rule { message: Some("Poll".into()), ..rule(3, recipe("gt wait", "gt poll")) },
        rule(4, command("grep", "rg")),
    ];
    let Correction::Rewritten(rewrite) = corrected("gt wait --timeout 30; grep a", rules) else {
        panic!()
    };
    let expected = "Corrected: gt wait → [recipe] (Poll); grep → rg. Dropped: --timeout 30";
    assert_eq!(rewrite.context(), expected);
}

#[test]
fn a_rule_on_a_wrapper_does_not_edit_the_command_that_it_starts() {
    check_rows(&[
        (&[flag("xargs", "-r", "")], "echo d | xargs rm -r", None),
        (&[flag("xargs", "-r", "")], "echo d | xargs -r rm -r", Some("echo d | xargs rm -r")),
        (&[flag("find", "-r", "")], r"find . -exec rm -r {} \;", None),
        (
            &[flag("find", "-name", "-iname")],
            r"find . -name x -exec grep -name {} \;",
            Some(r"find . -iname x -exec grep -name {} \;"),
        ),
        (&[flag("sudo", "-n", "")], "sudo sed -n x", None),
        (&[flag("env", "-i", "")], "env sed -i x", None),
        (&[flag("timeout", "-s", "-k")], "timeout 5 kill -s 9", None),
        (&[flag("bash", "-l", "")], "bash x.sh -l", None),
        (&[flag("ssh", "-t", "")], "ssh host ls -t", None),
        (&[flag("docker run", "-i", "")], "docker run sed -i x", None),
        (&[literal("sudo", "old", "new")], "sudo cat old", None),
        (&[literal("bash", "old", "new")], "bash -c \"cat old\"", None),
    ]);
}

#[test]
fn a_dropped_option_takes_its_value_along() {
    let drop = |line: &str| line_after(line, numbered(&[flag("kubectl get", "--namespace", "")]));
    for line in ["kubectl get pods --namespace x", "kubectl get pods --namespace=x"] {
        assert_eq!(drop(line).as_deref(), Some("kubectl get pods"));
    }
    assert_eq!(drop("kubectl get --namespace x pods").as_deref(), Some("kubectl get pods"));
    assert_eq!(drop("kubectl get --namespace >f x pods"), None);
    assert_eq!(drop("kubectl get pods --namespace"), None);
}
