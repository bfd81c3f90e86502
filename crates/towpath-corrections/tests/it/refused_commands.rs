//! Commands that a rule refuses: the table of `docs/corrections.md`, row by row, and more of
//! each kind.

use crate::support::*;
use towpath_corrections::{Correction, RuleKind};

fn with_option(from: &str, option: &str) -> RuleKind {
    RuleKind::Refuse { from: from.into(), option: option.into() }
}

fn is_refused(line: &str, rules: &[RuleKind]) -> bool {
    match corrected(line, numbered(rules)) {
        Correction::Denied(_) => true,
        Correction::Unchanged => false,
        Correction::Rewritten(rewrite) => panic!("{line} became {}", rewrite.after),
    }
}

#[test]
fn the_documented_table_is_right() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/corrections.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| how it is written |")).skip(2);
    let rules = [refuse("bd danger"), with_option("git push", "--force,-f")];
    let mut checked = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let row = row.replace("\\|", "\0");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let expected = match cells[3] {
            "yes" => true,
            "no" => false,
            other => panic!("{other:?}"),
        };
        for example in cells[2].split('`').skip(1).step_by(2) {
            let line = example.replace('\0', "|").replace("⏎", "\n");
            assert_eq!(is_refused(&line, &rules), expected, "{line}");
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} examples");
}

#[test]
fn an_option_is_found_wherever_the_program_would_find_it() {
    let rules = [with_option("git push", "--force,-f")];
    for line in [
        "git push --force",
        "git push origin main --force",
        "git push -f",
        "git push -fu origin",
        "git push -uf origin",
        "git push --force=x",
        "git -C sub push --force",
        "git -C \"$dir\" push --force",
        "git -c a=b push -f",
        "git --git-dir x push -f",
        "git --no-pager push -f",
        "git -Csub push -f",
        "/usr/bin/git push -f",
        "cd a && sudo -u b git push origin -f 2>&1 | tail",
    ] {
        assert!(is_refused(line, &rules), "{line}");
    }
    for line in [
        "git push",
        "git push --force-with-lease",
        "git push -o -f origin",
        "git push --repo --force",
        "git push -- -f",
        "git push origin +main",
        "git commit -m 'git push --force'",
        "git -C push commit -f",
        "git --no-pager log push -f",
        "git stash push -f",
        "echo git push -f",
        "mygit push -f",
    ] {
        assert!(!is_refused(line, &rules), "{line}");
    }
}

#[test]
fn options_among_the_words_of_a_rule_may_be_anywhere_too() {
    for (from, lines) in [
        ("git push --force", &["git push origin --force", "git -C a push --force"][..]),
        ("rm -rf", &["rm -fr x", "rm -r -f x", "rm -rfv x", "rm x -rf", "/bin/rm -rf x"]),
        ("terraform -destroy", &["terraform x -destroy"]),
        ("kubectl delete -n prod", &["kubectl delete -n prod x"]),
    ] {
        for line in lines {
            assert!(is_refused(line, &[refuse(from)]), "{from}: {line}");
        }
    }
    for (from, line) in [
        ("rm -rf", "rm -r x"),
        ("rm -rf", "rm -- -rf"),
        ("rm -rf", "rm --rf"),
        ("kubectl delete -n prod", "kubectl delete -n test prod"),
    ] {
        assert!(!is_refused(line, &[refuse(from)]), "{from}: {line}");
    }
}

#[test]
fn a_line_that_is_not_understood_is_looked_at_in_pieces() {
    let rules = [refuse("bd danger")];
    for line in [
        "x $((( 1 )) && y); bd danger",
        "cat <(a | case x in x) ;; esac) && bd danger",
        "if x $((( 1 )) && y); then /bin/bd danger; fi",
        "echo $((( 1 )) && y)\nbd danger",
    ] {
        assert!(towpath_shell::bash::parse(line).is_err(), "{line} is understood");
        assert!(is_refused(line, &rules), "{line}");
    }
    let long = |end: &str| format!("echo {} {end}", "a".repeat(70_000));
    assert!(is_refused(&long("; bd danger"), &rules));
    for line in [long("bd danger"), long("<<E\nbd danger\nE"), "x $((( 1 )) && y); bd list".into()]
    {
        assert!(!is_refused(&line, &rules), "{}", &line[line.len() - 30..]);
    }
}

#[test]
fn the_longest_rule_wins_and_the_reason_names_the_command() {
    let rules = [refuse("bd list"), recipe("bd list --wisp", "bd ls"), refuse("bd list --wisp -x")];
    assert_eq!(line_after("bd list --wisp", numbered(&rules)).as_deref(), Some("bd ls"));
    assert!(is_refused("bd list", &rules) && is_refused("bd list --wisp -x", &rules));
    let Correction::Denied(denial) = corrected("a; eval 'bd list'", numbered(&rules)) else {
        panic!()
    };
    assert_eq!(denial.reason, "`bd list` is refused by a correction rule.");
}
