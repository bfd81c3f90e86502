//! Recipes and their templates, each sentence of their description as a row.

use crate::support::*;
use towpath_corrections::{Correction, RuleKind};

fn becomes(to: &str, line: &str, expected: Option<&str>) {
    check_rows(&[(&[recipe("gt x", to)], line, expected)]);
}

#[test]
fn a_recipe_is_grouped_where_it_must_be() {
    for (to, line, expected) in [
        ("a; b", "gt x", "a; b"),
        ("a; b", "if gt x; then gt x; fi", "if a; b; then a; b; fi"),
        ("a; b", "false && gt x", "false && { a; b; }"),
        ("a; b", "gt x > f", "{ a; b; } > f"),
        ("a; b", ">f gt x", "{ a; b; } >f"),
        ("a", ">f gt x", ">f a"),
        ("a; b", "time gt x", "time { a; b; }"),
        ("a; b;", "gt x; c", "a; b; c"),
        ("a; b\n", "! gt x", "! { a; b; }"),
        ("a &", "gt x; c", "{ a & }; c"),
        ("a &", "gt x", "a &"),
        ("a >g", "gt x >f", "{ a >g; } >f"),
        ("cd d", "gt x", "cd d"),
        ("cd d", "gt x && c", "( cd d ) && c"),
        ("cd d", "echo $(gt x)", "echo $( ( cd d ))"),
        ("cd d; a", "(gt x); c", "( ( cd d; a )); c"),
        ("cd d", "diff <(gt x) <(c)", "diff <( ( cd d )) <(c)"),
        ("(a; b)", "echo $(gt x) $( gt x)", "echo $( (a; b)) $( (a; b))"),
        ("a | exit", "gt x; c", "a | exit; c"),
        ("if a; then exit 1; fi", "gt x; c", "( if a; then exit 1; fi ); c"),
        ("f() { return 1; }; f", "gt x; c", "f() { return 1; }; f; c"),
        ("a # why", "gt x\nc", "a # why\nc"),
        ("a # why", "gt x | c", "{ a # why\n} | c"),
        ("a # why", "echo $(gt x)", "echo $({ a # why\n})"),
        ("# why\na", "b && gt x", "b && { # why\na; }"),
        ("a", "gt >f x", "a >f"),
        ("a <<E\nb\nE", "gt x\nc", "a <<E\nb\nE\nc"),
        ("a; b", "bash -c 'gt x; c'", "bash -c 'a; b; c'"),
        ("a \"$y\"", "bash -c \"gt x; c\"", "bash -c \"a \\\"\\$y\\\"; c\""),
        ("a; b", "echo `gt x`", "echo `a; b`"),
        ("while a; do b; done", "c | gt x", "c | while a; do b; done"),
        ("a; b", "! time gt x; (time -p gt x)", "! time { a; b; }; (time -p { a; b; })"),
        ("a; b", "c | { time gt x; }", "c | { time { a; b; }; }"),
        ("a b", "c | time gt x; d=$(time gt x)", "c | time a b; d=$(time a b)"),
        ("a; b", "eval 'gt x | c'", "eval '{ a; b; } | c'"),
        ("a b", "bash <<< 'gt x'", "bash <<< 'a b'"),
    ] {
        becomes(to, line, Some(expected));
    }
}

#[test]
fn a_recipe_that_has_no_spelling_does_nothing() {
    for (to, line) in [
        ("a; b", "A=1 gt x"),
        ("b=1", "A=1 gt x"),
        ("a; b", "sudo gt x"),
        // `time` is a program there, which takes one command.
        ("a; b", "c | time gt x"),
        ("a; b", "c |& time -p gt x > f"),
        ("for i in 1; do a; done", "c | time gt x"),
        ("(a)", "c | time gt x"),
        ("a; b", "d=$(time gt x)"),
        ("a; b", "echo \"$(time gt x | c)\""),
        ("a; b", "echo \"$(time gt x && c)\""),
        ("a; b", "cat <(time gt x)"),
        ("a >f", "sudo gt x"),
        ("cd d", "A=1 gt x; c"),
        ("a", "ls | xargs gt x"),
        ("a\nb", "cat <<E; gt x\ntext\nE"),
        ("a 'b'", "bash -c 'gt x'"),
        ("# nothing", "gt x"),
        ("v=1; a \"$v\"", "gt x; echo $v"),
        ("IFS=,; a", "gt x; echo $v"),
        ("ls() { a; }; ls", "gt x; ls"),
        ("eval a", "gt x; echo $v"),
    ] {
        becomes(to, line, None);
    }
    becomes("a {{.Args}}", "ls | xargs gt x b", Some("ls | xargs a b"));
    becomes("v=1; exit", "gt x; echo $v", Some("( v=1; exit ); echo $v"));
}

#[test]
fn help_and_dry_runs_are_never_dropped() {
    for option in ["--help", "-h", "--version", "--dry-run", "-n"] {
        becomes("a", &format!("gt x {option}"), None);
        becomes("a {{.Arg 1}}", &format!("gt x b {option}"), None);
        becomes("a {{.Args}}", &format!("gt x {option}"), Some(&format!("a {option}")));
        becomes("a", &format!("gt x -- {option}"), Some("a"));
    }
}

#[test]
fn values_are_written_for_their_position() {
    for (to, line, expected) in [
        ("a p{{.Arg 1}}q", "gt x \"b c\"", "a p\"b c\"q"),
        ("a \"{{.Arg 1}}q\"", "gt x \"$v\"", "a \"${v}q\""),
        ("a \"$h{{.Arg 1}}\"", "gt x 'b'", "a \"${h}b\""),
        ("a $'{{.Arg 1}}'", "gt x \"it's\"", "a $'it\\'s'"),
        ("a <<E\n{{.Arg 1}}\nE", "gt x 'b $c \"'", "a <<E\nb \\$c \"\nE"),
        ("a <<E\n{{.Arg 1}}\nE", "gt x \"b $c\"", "a <<E\nb $c\nE"),
        ("a <<'E'\n{{.Arg 1}}\nE", "gt x 'b $c'", "a <<'E'\nb $c\nE"),
        ("a \"{{.Args}}\"", "gt x b 'c d' \"$e\"", "a \"b c d $e\""),
        ("a '{{.Args}}' '{{.Arg 2}} {{.Arg 1}}'", "gt x b \"c'd\"", "a 'b c'\\''d' 'c'\\''d b'"),
        ("a {{.Raw}} {{.Matched}}", "gt x 'b'", "a 'gt x '\\''b'\\''' 'gt x'"),
        ("a \"{{.Full}}\"", "gt x \"$v\" | c", "a \"gt x \\\"\\$v\\\" | c\" | c"),
        ("a {{.Args}}", "gt x ~/b", "a ~/b"),
        ("v={{.Arg 1}}; a", "gt x ~/b", "v=~/b; a"),
        ("a $(( {{.Arg 1}} + 1 ))", "gt x 4", "a $(( 4 + 1 ))"),
        (
            "for v in {{.Args}}; do a \"$v\"; done",
            "gt x *.c 'b c'",
            "for v in *.c 'b c'; do a \"$v\"; done",
        ),
        ("a=({{.Args}}); b", "gt x c d", "a=(c d); b"),
        ("a=({{.Args}}); b", "gt x [0]=x '[1]=y' [z", "a=(\"\"[0]=x '[1]=y' \"\"[z); b"),
        ("a=({{.Arg 1}}=x); b", "gt x '[0]'", "a=('[0]'=x); b"),
        ("[[ {{.Arg 1}} == b ]]", "gt x -f", "[[ '-f' == b ]]"),
        ("case {{.Arg 1}} in b) c;; esac", "gt x \"$v\"", "case \"$v\" in b) c;; esac"),
        ("{{.Args}}", "gt x b 'c d'", "b 'c d'"),
        ("a{{if .Args}} {{.Args}}{{else}} none{{end}}", "gt x", "a none"),
        ("a{{if .Arg 2}} {{.Arg 2}}{{end}}", "gt x b c", "a c"),
        ("a {{- if .Args}} b{{end}}", "gt x c", "a b"),
        ("a {{.Arg 7}} b", "gt x", "a b"),
        ("a >{{.Arg 1}}", "gt x 'f g'", "a >'f g'"),
        ("sudo {{.Args}}", "gt x b $v", "sudo b $v"),
        ("bash -c 'a \"$1\"' _ {{.Arg 1}}", "gt x 'b; c'", "bash -c 'a \"$1\"' _ 'b; c'"),
        ("bash -c 'a {{.Arg 1}}'", "gt x b", "bash -c 'a b'"),
        ("a {{.Args}}", "gt x $(grep b) c", "a $(grep b) c"),
    ] {
        if to.contains("$h{{") {
            // The mark keeps the name apart; the value would be joined to it.
            becomes(to, line, None);
            continue;
        }
        becomes(to, line, Some(expected));
    }
}

#[test]
fn words_that_would_expand_to_something_else_stop_the_rule() {
    for (to, line) in [
        ("a {{.Arg 1}}", "gt x $v"),
        ("a {{.Arg 2}}", "gt x *.c b"),
        ("a {{.Arg 1}}", "gt x {b,c}"),
        ("a {{.Arg 1}}", "gt x \"$@\""),
        ("a \"{{.Args}}\"", "gt x b $v"),
        ("a \"{{.Arg 1}}\"", "gt x ~/b"),
        ("a '{{.Arg 1}}'", "gt x \"$v\""),
        ("v=1; a {{.Arg 1}}", "gt x \"$v\""),
        ("for v in 1; do a {{.Args}}; done", "gt x \"$v\""),
        ("read v; a {{.Args}}", "gt x \"$v\""),
        ("eval b; a {{.Args}}", "gt x \"$v\""),
        ("cd d && a {{.Args}}", "gt x *.c"),
        ("IFS=,; a {{.Args}}", "gt x $v"),
        ("b; a {{.Args}}", "gt x $?"),
        ("f() { a {{.Args}}; }; f", "gt x \"$1\""),
        ("a", "gt x $(b)"),
        ("a", "gt x \"${v:=1}\""),
        ("a {{.Arg 1}}", "gt x b <(c)"),
        ("a {{.Args}} {{.Args}}", "gt x `b`"),
        ("while a {{.Args}}; do break; done", "gt x \"$(b)\""),
        ("if b; then a {{.Args}}; fi", "gt x \"$(b)\""),
        ("f() { a {{.Args}}; }; f", "gt x \"$(b)\""),
        ("b && a {{.Args}}", "gt x \"$(b)\""),
        ("b || a {{.Args}}", "gt x \"$(b)\""),
        ("a {{if .Arg 1}}b{{end}}", "gt x $v"),
        ("v={{.Args}}; a", "gt x b c"),
        ("a p{{.Args}}", "gt x b c"),
        ("a ${{.Arg 1}}", "gt x HOME"),
        ("a {p{{.Arg 1}}}", "gt x 'b',c"),
        ("bash -c 'a {{.Arg 1}}'", "gt x 'b; c'"),
        ("eval \"a {{.Arg 1}}\"", "gt x 'b; c'"),
        ("ssh h \"a {{.Arg 1}}\"", "gt x 'b c'"),
        ("{{.Args}}", "gt x B=1 c"),
        ("{{.Args}}", "gt x if c"),
        ("a <<E\n{{.Arg 1}}\nE", "gt x $'b\\nE\\nc'"),
        ("a $(( {{.Arg 1}} ))", "gt x 'v[$(b)]'"),
        ("a {{.Arg 1}}", "bash -c 'gt x \"b c\"'"),
    ] {
        becomes(to, line, None);
    }
}

#[test]
fn commands_inside_of_the_words_are_corrected_too() {
    let kinds = [recipe("gt x", "a {{.Args}}"), command("grep", "rg"), literal("gt", "b", "c")];
    check_rows(&[
        (&kinds, "gt x \"$(grep b)\" b", Some("a \"$(rg b)\" b")),
        (&kinds, "gt x $(gt x b)", Some("a $(a b)")),
        (&kinds, "gt x --b; gt y b", Some("a --b; gt y c")),
        (
            &[recipe("sudo", "doas {{.Args}}"), command("grep", "rg")],
            "sudo grep b",
            Some("doas rg b"),
        ),
    ]);
}

#[test]
fn braces_are_text_without_a_template() {
    let kind = RuleKind::Recipe {
        from: "gt x".into(),
        to: "docker ps --format '{{.ID}}'".into(),
        template: false,
        timeout: None,
    };
    check_rows(&[(&[kind], "gt x", Some("docker ps --format '{{.ID}}'"))]);
}

#[test]
fn only_a_line_of_the_rules_own_words_is_vouched_for() {
    for (to, line, vouched) in [
        ("a; b", "gt x", true),
        ("a", "gt x --timeout 30", true),
        ("a {{.Arg 1}}", "gt x", true),
        ("a {{.Matched}}", "gt x b", true),
        ("a", "gt x; gt x && gt x", true),
        ("a {{.Args}}", "gt x b", false),
        ("a '{{.Raw}}'", "gt x", false),
        ("a '{{.Full}}'", "gt x", false),
        ("a", "gt x >f", false),
        ("a", "gt x; ls", false),
        ("a", "A=1 gt x", false),
        ("a", "(gt x)", false),
        ("a", "gt x # b", false),
    ] {
        let found = corrected(line, numbered(&[recipe("gt x", to)]));
        let Correction::Rewritten(rewrite) = found else { panic!("{line}: {found:?}") };
        assert_eq!(rewrite.vouched, vouched, "{to} {line}");
    }
    let found = corrected("scp -r a", numbered(&[flag("scp", "r", "R")]));
    assert!(matches!(found, Correction::Rewritten(r) if !r.vouched));
    // A rule on the name does not grant the permission that the new program would have to ask for.
    let found = corrected("gpush", numbered(&[command("gpush", "git push")]));
    assert!(matches!(found, Correction::Rewritten(r) if !r.vouched));
}

#[test]
fn a_line_with_a_redirection_of_the_agent_is_not_vouched_for() {
    for line in
        [">f gt x", "gt >f x", "gt x >f", "2>&1 gt x", "gt {fd}>f x", "A=1 gt x", "gt >f x && gt x"]
    {
        let correction = corrected(line, numbered(&[recipe("gt x", "a; b")]));
        let vouched = matches!(&correction, Correction::Rewritten(rewrite) if rewrite.vouched);
        assert!(!vouched, "{line}: {correction:?}");
    }
    let correction = corrected("gt x && gt x", numbered(&[recipe("gt x", "a; b")]));
    assert!(matches!(correction, Correction::Rewritten(rewrite) if rewrite.vouched));
}
