//! Rules as instructions, and their section in a file.

use crate::support::*;
use towpath_corrections::{
    BrokenMarkers, Rule, RuleKind, agents_md, agents_md_lines, with_agents_md,
};

const LOOP: &str = "while true; do\n  status=$(gt mol status 2>&1)\n  echo \"$status\"\n  \
                    if echo \"$status\" | grep -q \"signaled\"; then break; fi\n  sleep 5\ndone";

fn message(rule: Rule, text: &str) -> Rule {
    Rule { message: Some(text.to_owned()), ..rule }
}

fn tool(from: &str, to: &str, host: &str) -> RuleKind {
    RuleKind::ToolName { from: from.into(), to: to.into(), host: host.into() }
}

/// TestAgentsMDWithRecipes of the seed.
#[test]
fn agents_md_with_recipes() {
    let text = agents_md(&[
        message(rule(1, recipe("gt await-signal", LOOP)), "Poll gt mol status in a loop"),
        rule(2, recipe("gt convoy wait", "convoy_id={{.Arg 1}}; gt convoy status \"$convoy_id\"")),
        rule(3, recipe("bd list --wisp", "bd list | grep -i wisp")),
    ]);
    assert_eq!(
        text,
        "# Command Corrections\n\n\
         ## bd (recipes)\n\n\
         - Do NOT use `bd list --wisp`. It will be expanded to: `bd list | grep -i wisp`\n\n\
         ## gt (recipes)\n\n\
         - Do NOT use `gt await-signal`. It will be expanded to: `while true; do   \
         status=$(gt mol status 2>&1)   echo \"$st...` (Poll gt mol status in a loop)\n\
         - Do NOT use `gt convoy wait`. It will be expanded to: \
         `convoy_id={{.Arg 1}}; gt convoy status \"$convoy_id\"`\n\n"
    );
}

#[test]
fn every_kind_has_its_sentence_and_its_group() {
    let valued = |command: &str, from: &str, to: &str| flag(command, from, to);
    let parameter = RuleKind::ParameterLiteral {
        tool: "mcp__x".into(),
        parameter: "path".into(),
        from: "/old".into(),
        to: "/new".into(),
    };
    let script = RuleKind::ToolRecipe {
        from: "await_signal".into(),
        script: "gt mol\nstatus".into(),
        host: "claude-code".into(),
    };
    let rules = [
        rule(9, script),
        rule(8, tool("read_file", "Read", "claude-code")),
        rule(7, tool("grep_tool", "search", "gemini")),
        rule(6, valued("scp", "r", "R")),
        message(rule(5, valued("rg", "-r", "")), "no\n# heading"),
        rule(4, command("grep", "rg")),
        rule(3, literal("scp", "user@host:", "user@new:")),
        rule(2, parameter),
        rule(1, regex("curl -k", "curl --cacert c.pem")),
        message(rule(10, refuse("gt deacon pending")), "Use `gt mol status`."),
        Rule { enabled: false, ..rule(11, command("a", "b")) },
        Rule { directory: Some("/a".into()), ..rule(12, command("c", "d `e`")) },
    ];
    let text = agents_md(&rules);
    assert_eq!(
        text,
        "# Tool Name Corrections\n\n\
         The following tool names are INCORRECT. Use the correct names instead:\n\n\
         - Do NOT call `await_signal`. Run this in the shell instead: `gt mol status`\n\
         - Do NOT call `grep_tool`. Use `search` instead. (in gemini)\n\
         - Do NOT call `read_file`. Use `Read` instead.\n\n\
         # Command Corrections\n\n\
         ## Bash (param: command)\n\n\
         - Pattern `curl -k` → `curl --cacert c.pem`\n\n\
         ## c → d `e`\n\n\
         - Use `` d `e` `` instead of `c` (only in `/a`)\n\n\
         ## grep → rg\n\n\
         - Use `rg` instead of `grep`\n\n\
         ## gt (refused)\n\n\
         - Do NOT use `gt deacon pending`. Use `gt mol status`.\n\n\
         ## mcp__x (param: path)\n\n\
         - `/old` → `/new`\n\n\
         ## rg\n\n\
         - Flag `-r` should be left out (no # heading)\n\n\
         ## scp\n\n\
         - Flag `-r` should be `-R`\n\
         - `user@host:` → `user@new:`\n\n"
    );
    let mut reversed = rules.to_vec();
    reversed.reverse();
    assert_eq!(agents_md(&reversed), text);
    assert_eq!(agents_md_lines(&rules).len(), 11);
    assert_eq!(agents_md(&[]), "");
}

#[test]
fn a_preview_is_cut_by_characters() {
    let preview = |script: &str| agents_md_lines(&[rule(1, recipe("gt x", script))]).remove(0);
    let sixty = "ü".repeat(60);
    assert!(preview(&sixty).ends_with(&format!("`{sixty}`")));
    assert!(preview(&"ü".repeat(61)).ends_with(&format!("`{}...`", "ü".repeat(57))));
}

#[test]
fn nothing_in_it_moves_a_cursor() {
    let mut rule = rule(1, refuse("gt\u{7} x"));
    rule.message = Some("a\u{1b}[2Jb\tc\r\nd\u{202e}e\u{9b}".into());
    rule.directory = Some("/a\u{8}".into());
    let text = agents_md(&[rule]);
    assert!(text.contains(r"a\u{1b}[2Jb") && text.contains(r" d\u{202e}e\u{9b}"), "{text}");
    let moves = |c: char| c.is_control() && !['\n', '\t'].contains(&c) || c == '\u{202e}';
    assert!(!text.contains(moves), "{text:?}");
}

#[test]
fn a_section_is_replaced_and_all_other_bytes_stay() {
    let one = agents_md(&[rule(1, command("grep", "rg"))]);
    let two = agents_md(&[rule(1, command("ls", "eza"))]);
    for old in ["", "# Mine", "# Mine\n", "# Mine\n\n", "# Mine\r\ntext\r\n"] {
        let first = with_agents_md(old, &one).unwrap();
        assert!(first.starts_with(old) && first.contains("Use `rg`"), "{first}");
        assert_eq!(with_agents_md(&first, &one).unwrap(), first);
        let second = with_agents_md(&format!("{first}\nafter"), &two).unwrap();
        assert!(second.starts_with(old) && second.ends_with("\nafter"), "{second}");
        assert!(second.contains("Use `eza`") && !second.contains("Use `rg`"));
        assert_eq!(old.contains('\r'), second.contains("eza`\r\n") || second.contains("-->\r\n"));
        let none = with_agents_md(&second, "").unwrap();
        assert!(none.starts_with(old) && !none.contains("towpath"), "{none}");
        assert_eq!(with_agents_md(old, "").unwrap(), old);
    }
}

#[test]
fn broken_markers_are_refused() {
    let good = with_agents_md("a\n", "text").unwrap();
    let (begin, end) = good.trim_start_matches("a\n\n").split_once("text\n").unwrap();
    for text in [begin.to_owned(), end.to_owned(), format!("{end}{begin}"), good.repeat(2)] {
        assert_eq!(with_agents_md(&text, "x"), Err(BrokenMarkers), "{text}");
    }
}
