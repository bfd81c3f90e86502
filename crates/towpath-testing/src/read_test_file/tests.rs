//! The reader of test files takes any text: what it does not understand it refuses, with its
//! location.

use super::*;
use crate::suite::{Answers, Stub};
use proptest::prelude::*;

fn reading(text: &str) -> (Option<Suite>, Vec<Diagnostic>) {
    read(&Source::new("x.test.yaml", text), Path::new("/x.test.yaml"))
}

/// The texts of problems. Each label must be at a location in the text, so that it can be drawn.
fn drawn(problems: &[Diagnostic]) -> String {
    let mut drawn = String::new();
    for problem in problems {
        drawn.push_str(&format!("{}\n", problem.message));
        for label in &problem.labels {
            assert!(label.source.text.get(label.span.start..label.span.end).is_some(), "{label:?}");
            drawn.push_str(&format!("{}\n", label.text));
        }
        drawn.extend(problem.help.as_deref());
    }
    drawn
}

fn suite(text: &str) -> Suite {
    let (suite, problems) = reading(text);
    suite.unwrap_or_else(|| panic!("{}", drawn(&problems)))
}

#[test]
fn every_case_begins_with_the_defaults() {
    let suite = suite(
        "defaults:
  git: true
  files: {a: from defaults, b: 1, c: gone}
  agents: {plan: yes please}
  expect: {outputs: {x: 1, y: {contains: z}}, exit: 0}
cases:
  - name: one
    files: {b: own, c: null}
    expect: {outputs: {y: 3}}
  - name: two
    git: false
    agents: {plan: [first, {fault: limit, until: 2030-01-01T00:00:00Z}]}
",
    );
    let [one, two] = suite.cases.as_slice() else { panic!("{:?}", suite.cases) };
    let file = |name: &str, text: Option<&str>| (name.to_owned(), text.map(str::to_owned));
    let files = [file("a", Some("from defaults")), file("b", Some("own")), file("c", None)];
    assert_eq!(one.files, files);
    assert!(one.git && !two.git);
    let outputs: Vec<&str> = one.expect.outputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(outputs, ["x", "y"]);
    assert!(one.expect.outputs[1].1.contains.is_empty(), "a matcher is not joined");
    assert!(matches!(one.agents[0].1, Answers::Always(_)));
    let Answers::InOrder(list) = &two.agents[0].1 else { panic!("{:?}", two.agents) };
    assert_eq!(list[1].fault, Some("limit"));
    assert_eq!(two.expect.exit, Some(0));
}

#[test]
fn null_removes_one_default_of_a_map() {
    let suite = suite(
        "defaults:
  env: {A: a, B: b}
  agents: {x: hello, y: there}
  stubs: {c: echo, d: echo}
  files: {f: text}
cases:
  - {name: one, env: {A: null}, agents: {x: null}, stubs: {c: null}, files: {f: null}}
  - {name: two, env: null, agents: null, stubs: null}
",
    );
    let [one, two] = suite.cases.as_slice() else { panic!("{:?}", suite.cases) };
    assert_eq!(one.env, [("B".to_owned(), "b".to_owned())]);
    let names = |names: Vec<&str>| names.join(" ");
    assert_eq!(names(one.agents.iter().map(|(name, _)| name.text.as_str()).collect()), "y");
    assert_eq!(names(one.stubs.iter().map(|(name, _)| name.text.as_str()).collect()), "d");
    assert_eq!(one.files, [("f".to_owned(), None)], "a file that is not to be there");
    assert!(two.env.is_empty() && two.agents.is_empty() && two.stubs.is_empty());
    // Without a default there is nothing to take away.
    let (suite, problems) = reading("cases: [{name: a, agents: {x: null}}]");
    assert!(suite.is_none(), "{}", drawn(&problems));
}

#[test]
fn a_stub_is_a_command_or_what_it_would_print() {
    let suite = suite("cases: [{name: a, stubs: {x: echo, y: {stdout: 5, exit: 3}}}]");
    let [(_, x), (_, y)] = suite.cases[0].stubs.as_slice() else { panic!() };
    assert!(matches!(x, Stub::Bash(text) if text == "echo"));
    assert!(matches!(y, Stub::Prints { stdout, exit: 3, .. } if stdout == "5"));
}

#[test]
fn the_status_follows_from_what_else_is_expected() {
    let rows = [
        ("{}", "done"),
        ("{exit: 0}", "done"),
        ("{failed_at: x}", "failed"),
        ("{error: x}", "failed"),
        ("{exit: 3}", "failed"),
        ("{exit: 75}", "waiting"),
        ("{exit: 10}", "asking"),
        ("{exit: 2}", "refused"),
        ("{exit: 0, status: failed}", "failed"),
    ];
    for (expect, status) in rows {
        let suite = suite(&format!("cases: [{{name: a, expect: {expect}}}]"));
        assert_eq!(suite.cases[0].expect.ending().as_str(), status, "{expect}");
    }
}

#[test]
fn an_outcome_is_the_last_line_of_the_answer() {
    let suite = suite(
        "cases: [{name: a, agents: {x: [{outcome: done}, {answer: I did it., outcome: other, \
         description: it \"rains\"}]}}]",
    );
    let Answers::InOrder(list) = &suite.cases[0].agents[0].1 else { panic!() };
    assert_eq!(list[0].text.as_deref(), Some("{\"outcome\":\"done\"}"));
    let other = "{\"outcome\":\"other\",\"otherDescription\":\"it \\\"rains\\\"\"}";
    assert_eq!(list[1].text, Some(format!("I did it.\n\n{other}")));
}

#[test]
fn a_bad_test_file_is_refused_with_its_reason() {
    let rows = [
        ("", "x.test.yaml is empty"),
        ("[]", "a test file must be a map, this is a list"),
        ("recipe: a.yaml", "the test file has no `cases`"),
        ("cases: []", "the file has no cases"),
        ("cases: {}", "`cases` must be a list of cases, this is a map"),
        ("case: []", "unknown key `case`"),
        ("cases: [{set: {}}]", "the case has no `name`"),
        ("cases: [{name: \"a\\nb\"}]", "a case's name must be one line, and not empty"),
        ("cases: [{name: a}, {name: a}]", "two cases are named `a`"),
        ("defaults: {name: a}\ncases: [{name: a}]", "unknown key `name`"),
        ("cases: [{name: a, files: {../x: y}}]", "`../x` is not a path below"),
        ("cases: [{name: a, files: {/x: y}}]", "`/x` is not a path below"),
        ("cases: [{name: a, files: {.: y}}]", "`.` is not a path below"),
        ("cases: [{name: a, files: {x: [1]}}]", "`x` must be a string, this is a list"),
        ("cases: [{name: a, git: yes}]", "`git` must be true or false, this is a string"),
        ("cases: [{name: a, env: {A=B: c}}]", "`A=B` is not a variable's name"),
        ("cases: [{name: a, setup: \"a\\0b\"}]", "a command cannot contain a NUL"),
        ("cases: [{name: a, agents: {x: {fault: tired}}}]", "`fault` must be `auth`,"),
        ("cases: [{name: a, agents: {x: {until: 5, run: a}}}]", "`until` needs a `fault`"),
        ("cases: [{name: a, agents: {x: {}}}]", "an answer needs `answer`,"),
        ("cases: [{name: a, agents: {x: {description: y, run: z}}}]", "needs an `outcome`"),
        ("cases: [{name: a, machine: {max_visits: many}}]", "`max_visits` must be a whole number"),
        ("cases: [{name: a, machine: {visits: 3}}]", "unknown key `visits`"),
        ("cases: [{name: a, expect: {calls: many}}]", "`calls` must be a number, or a list"),
        ("cases: [{name: a, expect: {calls: [{kind: hint}]}}]", "`kind` must be `prompt`,"),
        ("cases: [{name: a, expect: {calls: [{}]}}]", "this call expects nothing"),
        ("cases: [{name: a, expect: {restarts: -1}}]", "`restarts` must be a whole number"),
        ("cases: [{name: a, stubs: {x: {exit: 256}}}]", "`exit` must be an exit code"),
        ("cases: [{name: a, expect: {status: finished}}]", "`status` must be `done`,"),
        ("cases: [{name: a, expect: {ran: x}}]", "`ran` must be a list of steps"),
        ("cases: [{name: a, expect: {error: {matches: '('}}}]", "not a regular expression"),
        ("cases: [{name: a, expect: {error: {}}}]", "`error` expects nothing"),
        ("cases: [{name: a, expect: {error: {contains: ''}}}]", "an empty text checks nothing"),
        ("cases: [{name: a, expect: {outputs: {x: {contain: y}}}}]", "unknown key `contain`"),
        ("cases: [{name: a, name: b}]", "`name` is here twice"),
        ("cases: [{name: a}]\n---\nx: 1", "a test file is one document"),
    ];
    for (text, message) in rows {
        let (suite, problems) = reading(text);
        assert!(suite.is_none(), "{text}");
        let shown = drawn(&problems);
        assert!(shown.contains(message), "{text}\n{shown}");
    }
}

#[test]
fn a_misspelt_required_key_is_not_also_missing() {
    let rows = [("case: [{name: a}]", "case", "cases"), ("cases: [{nmae: a}]", "nmae", "name")];
    for (text, written, meant) in rows {
        let (_, problems) = reading(text);
        let shown = drawn(&problems);
        assert_eq!(problems.len(), 1, "{shown}");
        assert!(shown.contains(&format!("unknown key `{written}`")), "{shown}");
        assert!(shown.contains(&format!("did you mean `{meant}`?")), "{shown}");
    }
}

#[test]
fn an_output_may_be_a_map() {
    let suite =
        suite("cases: [{name: a, expect: {outputs: {x: {ok: true}, y: {is: {lacks: 1}}}}}]");
    let outputs = &suite.cases[0].expect.outputs;
    assert_eq!(outputs[0].1.is, Some(serde_json::json!({"ok": true})));
    assert!(outputs[1].1.is.is_some() && outputs[1].1.lacks.is_empty());
}

#[test]
fn the_page_about_testing_has_every_key_and_no_other() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/testing.md");
    let page = std::fs::read_to_string(page).unwrap();
    let names = |keys: &[Key]| keys.iter().map(|key| key.name).collect::<Vec<_>>();
    let rows = [
        ("Keys of a test file", &names(FILE_KEYS)[..]),
        ("Keys of a case", &names(case_and_defaults::CASE_KEYS)[..]),
        ("Keys of `machine`", machine_flags::MACHINE_KEYS),
        ("Agents' answers", answers_and_stubs::ANSWER_KEYS),
        ("Stubs", answers_and_stubs::STUB_KEYS),
        ("Expectations", expect::EXPECT_KEYS),
        ("Calls", agent_call_list::CALL_KEYS),
        ("Matchers", expect::MATCHER_KEYS),
    ];
    for (heading, keys) in rows {
        let (_, below) = page.split_once(&format!("\n## {heading}\n")).expect(heading);
        let table = below.split("\n## ").next().unwrap_or(below).lines();
        let cells = table.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(cells.collect::<Vec<_>>(), keys, "{heading}");
    }
}

/// Pieces of test files, put together in any way.
fn piece() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "cases:",
        "defaults:",
        "recipe:",
        "name:",
        "expect:",
        "agents:",
        "stubs:",
        "files:",
        "set:",
        "ran:",
        "skipped:",
        "outputs:",
        "contains:",
        "matches:",
        "- ",
        "  ",
        "    ",
        "\n",
        "\n  - ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        "null",
        "true",
        "1.10",
        "'",
        "\"",
        "*a",
        "&a ",
        "<<: ",
        "|\n",
        ">",
        "#",
        "\\0",
        "ü",
        "\t",
        "..",
        "/",
        "until: 2030-01-01T00:00:00Z",
        "fault: limit",
    ]);
    prop_oneof![4 => words.prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(pieces in prop::collection::vec(piece(), 0..40)) {
        let (_, problems) = reading(&pieces.concat());
        drawn(&problems);
    }

    #[test]
    fn no_yaml_value_makes_the_reader_panic(value in value(4)) {
        let text = serde_json::json!({ "defaults": value, "cases": [value, { "name": "x" }] });
        let (_, problems) = reading(&text.to_string());
        drawn(&problems);
    }
}

/// Valid YAML with our own keys where they do not belong.
fn value(depth: u32) -> impl Strategy<Value = serde_json::Value> {
    let keys: Vec<&str> = case_and_defaults::DEFAULT_KEYS
        .iter()
        .map(|key| key.name)
        .chain(["name", "answer", "run", "fault", "stdout", "exit", "ran", "skipped", "outputs"])
        .chain(["contains", "matches", "is", "checks", "../x"])
        .collect();
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a-z(\\[\\x00\n]{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(depth, 40, 6, move |inner| {
        let key = prop::sample::select(keys.clone()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::btree_map(key, inner, 0..6)
                .prop_map(|map| { serde_json::Value::Object(map.into_iter().collect()) }),
        ]
    })
}
