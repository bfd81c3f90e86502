//! What is true for any text and any rule.

use crate::support::*;
use proptest::prelude::*;
use towpath_corrections::{Correction, RuleIndex, RuleKind, correct};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_line_gets_an_answer(line in "[\\PC\n\t]{0,60}", from in "[a-z ]{1,6}", to in "\\PC{0,12}") {
        for kind in [
            command(&from, &to), flag("a", &from, &to), literal("a", &from, &to), regex(&from, &to),
            recipe(&from, &to), refuse(&from),
        ] {
            line_after(&format!("a {line}; {from} {line}"), vec![rule(1, kind)]);
        }
    }

    #[test]
    fn a_second_correction_changes_nothing(line in "(grep|ls|scp -r|echo 'grep')( [a-z'$\"|;&-]{1,5}){0,5}") {
        let rules = || numbered(&[command("grep", "rg"), flag("scp", "r", "R")]);
        if let Some(after) = line_after(&line, rules()) {
            prop_assert_eq!(line_after(&after, rules()), None);
        }
    }
}

#[test]
fn a_line_of_64_kilobytes_is_the_longest() {
    let line = |length: usize| format!("grep {}", "a".repeat(length - 5));
    assert!(line_after(&line(64 * 1024), numbered(&[command("grep", "rg")])).is_some());
    assert!(line_after(&line(64 * 1024 + 1), numbered(&[command("grep", "rg")])).is_none());
}

#[test]
fn among_ten_thousand_rules_the_right_one_is_found() {
    let mut kinds: Vec<RuleKind> =
        (0..10_000).map(|n| command(&format!("program{n}"), &format!("other{n}"))).collect();
    kinds.push(regex("never[0-9]", "x"));
    let rules = RuleIndex::new(numbered(&kinds));
    let Correction::Rewritten(rewrite) = correct(&bash_call("a; program77 b"), &rules) else {
        panic!()
    };
    assert_eq!((rewrite.after.as_str(), rewrite.applied[0].rule), ("a; other77 b", 78));
    assert_eq!(correct(&bash_call("a; program b"), &rules), Correction::Unchanged);
}
