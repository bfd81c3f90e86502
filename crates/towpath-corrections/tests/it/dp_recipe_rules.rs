//! The tests that the seed of these rules lists, by their names. Those of the command line are in the
//! tests of the program.

use crate::support::*;
use serde_json::json;
use towpath_corrections::{Correction, Rewrite, Rule, RuleIndex, ToolCall, correct};
use towpath_shell::bash;

const LOOP: &str = "while true; do\n  status=$(gt mol status 2>&1)\n  echo \"$status\"\n  \
                    if echo \"$status\" | grep -q \"signaled\"; then break; fi\n  sleep 5\ndone";

fn rewritten(line: &str, rules: Vec<Rule>) -> Rewrite {
    match corrected(line, rules) {
        Correction::Rewritten(rewrite) => rewrite,
        other => panic!("{line}: {other:?}"),
    }
}

/// TestRecipeRuleSimple
#[test]
fn recipe_rule_simple() {
    let rule = Rule {
        message: Some("Poll gt mol status in a loop".into()),
        ..rule(1, recipe("gt await-signal", LOOP))
    };
    let rewrite = rewritten("gt await-signal", vec![rule]);
    assert_eq!(rewrite.after, LOOP);
    let context = "Corrected: gt await-signal → [recipe] (Poll gt mol status in a loop)";
    assert_eq!(rewrite.context(), context);
    for other in ["gt await-signals", "gt await", "xgt await-signal", "echo gt await-signal"] {
        assert_eq!(line_after(other, numbered(&[recipe("gt await-signal", LOOP)])), None);
    }
}

/// TestRecipeRuleWithArgs: the seed's table of template variables.
#[test]
fn recipe_rule_with_args() {
    let wait = "convoy_id={{.Arg 1}}; gt convoy status \"$convoy_id\"";
    let list = "bd list {{.Args}} | grep -i wisp";
    check_rows(&[
        (
            &[recipe("gt convoy wait", wait)],
            "gt convoy wait abc123",
            Some("convoy_id=abc123; gt convoy status \"$convoy_id\""),
        ),
        (
            &[recipe("gt convoy wait", wait)],
            "gt convoy wait",
            Some("convoy_id=; gt convoy status \"$convoy_id\""),
        ),
        (
            &[recipe("bd list --wisp", list)],
            "bd list --wisp --limit 10",
            Some("bd list --limit 10 | grep -i wisp"),
        ),
        (
            &[recipe("gt post", "echo {{.Matched}} / {{.Raw}}")],
            "true; gt post 'a b'",
            Some("true; echo 'gt post' / 'gt post '\\''a b'\\'''"),
        ),
    ]);
    let rewrite =
        rewritten("gt await-signal --timeout 30", numbered(&[recipe("gt await-signal", LOOP)]));
    assert_eq!(rewrite.after, LOOP);
    assert_eq!(rewrite.applied[0].dropped, ["--timeout", "30"]);
}

/// TestRecipeRuleTemplateError: a template that cannot be filled leaves the call as it is.
#[test]
fn recipe_rule_template_error() {
    for script in ["gt x {{.Nope}}", "gt x {{.Arg 1", "gt x {{if .Args}}a"] {
        let rules = numbered(&[recipe("gt await-signal", script)]);
        assert_eq!(corrected("gt await-signal", rules), Correction::Unchanged, "{script}");
    }
}

/// TestRecipeRulePipeline: only the matching command of a line is replaced.
#[test]
fn recipe_rule_pipeline() {
    let one = [recipe("bd list --wisp", "bd list | grep -i wisp")];
    let two = [recipe("gt await-signal", "a; b")];
    check_rows(&[
        (&one, "bd list --wisp | head -3", Some("{ bd list | grep -i wisp; } | head -3")),
        (&two, "echo start && gt await-signal", Some("echo start && { a; b; }")),
        (&two, "echo start; gt await-signal; ls", Some("echo start; a; b; ls")),
        (&two, "echo 'gt await-signal' | cat", None),
        (&two, "gt await-signal > log", Some("{ a; b; } > log")),
    ]);
}

/// The whole input comes back, not the changed key alone.
#[test]
fn recipe_rule_keeps_the_input() {
    let input = json!({ "command": "gt await-signal", "description": "wait", "timeout": 5 });
    let call = ToolCall::claude_code("Bash", input);
    let index = RuleIndex::new(numbered(&[recipe("gt await-signal", "true")]));
    let Correction::Rewritten(rewrite) = correct(&call, &index) else { panic!() };
    let expected = r#"{"command":"true","description":"wait","timeout":5}"#;
    assert_eq!(rewrite.input.to_string(), expected);
}

/// TestTokenizeExported
#[test]
fn tokenize_exported() {
    let words = bash::tokenize("bd list --wisp 'a b' \"c d\" e\\ f").expect("it is bash");
    assert_eq!(words, ["bd", "list", "--wisp", "'a b'", "\"c d\"", "e\\ f"]);
    assert!(bash::tokenize("a 'b").is_err());
}
