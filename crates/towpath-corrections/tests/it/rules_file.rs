//! Rules in a file: what is read, what is refused and where, and that what is written is read back.

use crate::support::*;
use proptest::prelude::*;
use towpath_core::Source;
use towpath_corrections::{
    AboutRules, NewRule, Rule, RuleKind, RulesFile, RulesFormat, read_rules, write_rules,
};

fn read(text: &str) -> Result<RulesFile, Vec<String>> {
    read_as(text, RulesFormat::Toml)
}

/// Problems as `LINE:COLUMN MESSAGE | LABEL | HELP`.
fn read_as(text: &str, format: RulesFormat) -> Result<RulesFile, Vec<String>> {
    let source = Source::new("rules.toml", text);
    read_rules(&source, format).map_err(|problems| {
        let shown = problems.iter().map(|problem| {
            let label = &problem.labels[0];
            let (line, column) = source.line_column(label.span.start);
            let help = problem.help.as_deref().unwrap_or_default();
            format!("{line}:{column} {} | {} | {help}", problem.message, label.text)
        });
        shown.collect()
    })
}

fn kinds(file: RulesFile) -> Vec<RuleKind> {
    file.rules.into_iter().map(|rule| rule.rule.kind).collect()
}

const EVERY_KIND: &str = r#"
name = "our team"

[[rule]]
kind = "flag"
command = "scp"
from = "-r"
to = "-R"
message = "scp copies directories with -R"

[[rule]]
kind = "flag"
command = "rg"
from = "-r"
to = ""
valued = "eg"

[[rule]]
kind = "command"
from = "grep"
to = "rg"
directory = "web"
enabled = false

[[rule]]
kind = "literal"
command = "scp"
from = "user@host:"
to = "user@new:"

[[rule]]
kind = "literal"
tool = "mcp__files__read"
parameter = "path"
from = "/old/"
to = "/new/"

[[rule]]
kind = "regex"
from = 'curl -k\b'
to = "curl"

[[rule]]
kind = "recipe"
from = "gt await-signal"
to = '''
while ! gt mol status | grep -q signaled; do
  sleep 5
done'''
timeout = 600

[[rule]]
kind = "recipe"
from = "docker names"
to = "docker ps --format '{{.Names}}'"
template = false

[[rule]]
kind = "refuse"
from = "gt deacon pending"
message = "There is no such command: use `gt mol status`."

[[rule]]
kind = "tool-name"
from = "read_file"
to = "Read"

[[rule]]
kind = "tool-name"
host = "copilot"
from = "read_file"
to = "shell"

[[rule]]
kind = "tool-recipe"
from = "await_signal"
to = "gt mol status"
"#;

#[test]
fn every_kind_is_read() {
    let file = read(EVERY_KIND).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(file.about.name.as_deref(), Some("our team"));
    let rules = file.rules.clone();
    assert_eq!(rules[0].rule.message.as_deref(), Some("scp copies directories with -R"));
    assert!(!rules[2].enabled && rules[2].rule.directory.as_deref() == Some("web"));
    assert!(rules[0].enabled && !rules[0].force);
    let found = kinds(file);
    assert_eq!(
        found[..4],
        [
            flag("scp", "-r", "-R"),
            valued_flag("rg", "-r", "", "eg"),
            command("grep", "rg"),
            literal("scp", "user@host:", "user@new:"),
        ]
    );
    assert_eq!(found[5], regex(r"curl -k\b", "curl"));
    let script = "while ! gt mol status | grep -q signaled; do\n  sleep 5\ndone";
    assert!(matches!(&found[6], RuleKind::Recipe { to, timeout: Some(600), template: true, .. }
        if to == script));
    assert!(matches!(&found[7], RuleKind::Recipe { template: false, .. }));
    assert!(matches!(&found[9], RuleKind::ToolName { host, .. } if host == "claude-code"));
    assert!(matches!(&found[10], RuleKind::ToolName { host, .. } if host == "copilot"));
}

#[test]
fn a_file_may_be_empty() {
    assert_eq!(read("# nothing yet\n").unwrap().rules, []);
    assert_eq!(read_as("{}", RulesFormat::Json).unwrap().rules, []);
}

#[test]
fn all_problems_are_reported_with_their_locations() {
    let text = r#"
[[rule]]
kind = "flga"
from = "x"

[[rule]]
from = "a"
comand = "b"

[[rule]]
kind = "flag"
from = "-r"
to = 5
timeout = 3

[[rule]]
kind = "recipe"
from = "gt x"
to = "while true; do"

[[rule]]
kind = "regex"
from = "(bad"
to = ""

[[rule]]
kind = "refuse"
from = "gt $x"
message = " "

[[rule]]
kind = "recipe"
from = "gt y"
to = "{{.Nope}}"
timeout = 0

[[rule]]
kind = "command"
from = "grep"
to = "rg"

[[rule]]
kind = "command"
from = "grep"
to = "ag"

[[rule]]
kind = "literal"
command = "a"
tool = "b"
from = "c"
to = "d"
"#;
    let problems = read(text).unwrap_err();
    let expected = [
        "3:8 `kind` must be `tool-name`, `tool-recipe`, `flag`, `command`, `literal`, `regex`, \
         `recipe`, `refuse`, not `flga` | did you mean `flag`? | ",
        "6:1 the rule has no `kind` | add `kind` | ",
        "8:1 unknown key `comand` | did you mean `command`? | ",
        "10:1 the flag rule has no `command` | add `command` | ",
        "13:6 `to` must be a string, not `5` |  | ",
        "14:1 unknown key `timeout` | a flag rule has no such key | a flag rule has `kind`, \
         `command`, `from`, `to`, `valued`, `message`, `directory`, `enabled`",
    ];
    assert_eq!(problems[..expected.len()], expected, "{problems:#?}");
    let starts: Vec<&str> = problems[expected.len()..]
        .iter()
        .map(|problem| problem.split(':').next().unwrap())
        .collect();
    assert_eq!(starts, ["19", "23", "28", "29", "34", "35", "42", "50"], "{problems:#?}");
    assert!(problems[6].contains("no bash") && problems[6].contains("force = true"));
    assert!(problems[7].contains("regular expression"));
    assert!(problems[12].contains("twice"));
}

#[test]
fn a_script_has_the_line_ends_of_bash() {
    let text = "[[rule]]\nkind = 'recipe'\nfrom = 'gt x'\nto = '''\na\nb'''\n";
    let expected = vec![recipe("gt x", "a\nb")];
    assert_eq!(kinds(read(text).unwrap()), expected);
    assert_eq!(kinds(read(&text.replace('\n', "\r\n")).unwrap()), expected);
}

#[test]
fn everything_that_is_wrong_with_one_rule_is_reported() {
    let text = r#"
[[rule]]
kind = "flag"
command = "scp $x"
from = "---"
to = "----"
valued = "1"
mesage = "no"
"#;
    let problems = read(text).unwrap_err();
    let starts: Vec<&str> = problems.iter().map(|p| p.split(':').next().unwrap()).collect();
    assert_eq!(starts, ["4", "5", "6", "7", "8"], "{problems:#?}");
}

#[test]
fn json_has_the_same_keys_and_locations() {
    let text = "{\"rule\": [\n  {\"kind\": \"command\", \"from\": \"grep\", \"to\": \"rg\"},\n  \
                {\"kind\": \"command\", \"form\": \"ls\", \"to\": \"eza\"}\n]}";
    let problems = read_as(text, RulesFormat::Json).unwrap_err();
    assert_eq!(problems, ["3:23 unknown key `form` | did you mean `from`? | "]);
    let right = text.replace("form", "from");
    assert_eq!(
        kinds(read_as(&right, RulesFormat::Json).unwrap()),
        [command("grep", "rg"), command("ls", "eza")]
    );
    assert_eq!(read_as("{\"rule\": 5}", RulesFormat::Json).unwrap_err().len(), 1);
    assert!(read_as("[]", RulesFormat::Json).is_err() && read_as("", RulesFormat::Json).is_err());
}

#[test]
fn a_collection_of_dp_is_read() {
    let text = r#"
[meta]
version = 1
name = 'gastown-crew'
exported_at = 2026-02-10T19:00:00Z
count = 3

[[aliases]]
from = 'read_file'
to = 'Read'

[[aliases]]
from = 'r'
to = 'R'
tool = 'Bash'
param = 'command'
command = 'scp'
match_kind = 'flag'
message = 'why'

[[aliases]]
from = '/old'
to = '/new'
tool = 'mcp__x'
param = 'p'
match_kind = 'literal'
"#;
    let file = read(text).unwrap_or_else(|problems| panic!("{problems:#?}"));
    assert_eq!(file.about.name.as_deref(), Some("gastown-crew"));
    assert_eq!(file.rules[1].rule.message.as_deref(), Some("why"));
    assert_eq!(kinds(file)[1], flag("scp", "r", "R"));
    let problems = read(&text.replace("'flag'", "'fuzzy'")).unwrap_err();
    assert_eq!(problems, ["18:14 unknown kind of alias `fuzzy` |  | "]);
}

#[test]
fn a_script_is_written_as_it_is() {
    let rules = [
        Rule { message: Some("it's plain".into()), ..rule(7, recipe("gt x", "a \"$b\" '\\'\nc")) },
        rule(8, flag("scp", "r", "R")),
    ];
    let text = write_rules(&rules, &AboutRules::default(), RulesFormat::Toml);
    assert_eq!(
        text,
        "[[rule]]\nkind = \"recipe\"\nfrom = \"gt x\"\nto = '''\na \"$b\" '\\'\nc'''\n\
         message = \"it's plain\"\n\n\
         [[rule]]\nkind = \"flag\"\ncommand = \"scp\"\nfrom = \"r\"\nto = \"R\"\n"
    );
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{1,8}", "[\\PC\n\t\r\u{1}'\"\\\\]{1,12}", "'{1,4}\n\"{1,4}"]
}

fn any_kind() -> impl Strategy<Value = RuleKind> {
    let four = || (text(), text(), text(), text());
    prop_oneof![
        four().prop_map(|(from, to, host, _)| RuleKind::ToolName { from, to, host }),
        four().prop_map(|(from, script, host, _)| RuleKind::ToolRecipe { from, script, host }),
        (four(), "[a-z]{0,3}").prop_map(|((command, ..), valued)| RuleKind::Flag {
            command,
            from: "-r".into(),
            to: String::new(),
            valued
        }),
        four().prop_map(|(from, to, ..)| RuleKind::Command { from, to }),
        four().prop_map(|(command, from, to, _)| RuleKind::Literal { command, from, to }),
        four().prop_map(|(tool, parameter, from, to)| RuleKind::ParameterLiteral {
            tool,
            parameter,
            from,
            to
        }),
        four().prop_map(|(tool, parameter, from, to)| RuleKind::Regex {
            tool,
            parameter,
            from,
            to
        }),
        (four(), any::<bool>(), prop::option::of(1..100_000_u64)).prop_map(
            |((from, to, ..), template, timeout)| RuleKind::Recipe { from, to, template, timeout }
        ),
        (text(), text()).prop_map(|(from, option)| RuleKind::Refuse { from, option }),
    ]
}

fn any_rule() -> impl Strategy<Value = (NewRule, bool)> {
    (any_kind(), text(), prop::option::of(text()), any::<bool>()).prop_map(
        |(kind, message, directory, enabled)| {
            (NewRule { kind, message: Some(message), directory }, enabled)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(new in prop::collection::vec(any_rule(), 1..4)) {
        let mut rules: Vec<Rule> = Vec::new();
        for (new, enabled) in new {
            // As a user creates them; forced where that is possible.
            let Ok(rule) = new.check(1, true) else { continue };
            if rules.iter().all(|other| other.key() != rule.key()) {
                rules.push(Rule { enabled, ..rule });
            }
        }
        for format in [RulesFormat::Toml, RulesFormat::Json] {
            let text = write_rules(&rules, &AboutRules::default(), format);
            let file = read_as(&text, format);
            let file = file.unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
            let back: Vec<Rule> =
                file.rules.into_iter().map(|rule| Rule { number: 1, ..rule.into_rule() }).collect();
            prop_assert_eq!(&back, &rules, "{}", text);
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in "[\\PC\n]{0,80}", key in "[a-z]{1,8}", value in "\\PC{0,8}") {
        let _ = read(&text);
        let _ = read(&format!("[[rule]]\nkind = 'flag'\n{key} = '{value}'\n"));
        let _ = read_as(&format!("{{\"rule\":[{{\"{key}\":\"{value}\"}}]}}"), RulesFormat::Json);
    }
}
