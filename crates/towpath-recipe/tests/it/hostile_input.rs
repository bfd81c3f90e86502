//! Texts that were made to hurt, and texts made by chance: an answer always comes, never a panic.

use crate::problems_as_lines::problems;
use proptest::prelude::*;
use towpath_core::{Diagnostic, Source, nearest, text_of};
use towpath_recipe::field_table::{Section, fields_of};
use towpath_recipe::{MAX_BYTES, read};

const GOOD: &str = r#"name: good
version: "1.0"
context: &ctx
  greeting: "it's {{x}}"
  list: [1, 1.10, 017, ~, true]
hooks:
  on_error: |
    echo "{{step_id}}: {{error}}"
steps:
  - &first
    id: one
    command: |
      echo {{greeting}}
        cat <<'END'
      {{list}}
      END
    timeout: 1.5
  - <<: *first
    id: two
    condition: one == 'x' and greeting
    parallel_group: g
  - id: three
    prompt: >-
      Look at {{one}}
      again
    parallel_group: g
    context: {a: "{{one}}"}
  - id: four
    recipe: sub/other
"#;

/// Reads, and checks that every location is inside the text and that errors mean no recipe.
fn survive(text: &str) -> Vec<Diagnostic> {
    let read = read(&Source::new("r.yaml", text));
    crate::problems_as_lines::render(&read.problems);
    assert_eq!(read.recipe.is_none(), read.problems.iter().any(Diagnostic::is_error), "{text}");
    read.problems
}

/// The code of the first problem, found on a small stack.
fn refusal(text: String) -> &'static str {
    let reading = std::thread::Builder::new().stack_size(512 * 1024);
    let code = reading.spawn(move || survive(&text)[0].code).unwrap().join();
    code.expect("reading does not exhaust the stack")
}

#[test]
fn the_good_recipe_is_good() {
    assert_eq!(
        problems(GOOD),
        "note[unfilled-place] r.yaml:4:19 `{{x}}` a default value is not \
        filled | this stays as it is written | use the variable where the value is used, in a \
        step\n"
    );
}

#[test]
fn texts_made_to_hurt_are_refused() {
    assert_eq!(refusal("[".repeat(10_000)), "too-deep");
    assert_eq!(refusal("{a: ".repeat(10_000)), "too-deep");
    assert_eq!(refusal("- ".repeat(10_000)), "too-deep");
    assert_eq!(refusal(format!("{}1{}", "[".repeat(200), "]".repeat(200))), "too-deep");
    assert_eq!(refusal("x".repeat(MAX_BYTES + 1)), "too-large");
    let deep: String = (0..5_000).map(|depth| " ".repeat(depth % 150) + "a:\n").collect();
    assert!(!survive(&deep).is_empty());
}

#[test]
fn alias_bombs_are_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    assert_eq!(refusal(bomb), "too-large");
    let long = format!("context:\n  a: &a {}\n", "x".repeat(500_000));
    assert_eq!(refusal(long + &"  - *a\n".repeat(2)), "bad-yaml");
    let copies: String = (0..1_000).map(|i| format!("  c{i}: *a\n")).collect();
    let text = format!("name: x\ncontext:\n  a: &a {}\n{copies}", "x".repeat(500_000));
    assert_eq!(refusal(text), "too-large");
    assert_eq!(refusal("a: &a [*a]\n".to_owned()), "bad-yaml");
}

/// Pieces that mean something to YAML, to bash or to us.
const PIECES: [&str; 34] = [
    "name", "steps", "id", "command", "context", "hooks", "on_error", ": ", ":", "\n", "  ",
    "    ", "- ", "{", "}", "[", "]", "\"", "'", "|\n", ">-\n", "&a ", "*a", "<<: *a", "{{x}}",
    "# ", "\t", "é", "? ", "!t ", "---\n", "\\", "\u{feff}", "<<'E'\n",
];

fn piece() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(PIECES.to_vec())
}

/// A cut in a text: where it begins and how much it takes away, in characters.
fn cut(text: &str, at: usize, length: usize, insert: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let at = at % (characters.len() + 1);
    let end = (at + length).min(characters.len());
    let (head, tail) = (&characters[..at], &characters[end..]);
    head.iter().copied().chain(insert.chars()).chain(tail.iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_gets_an_answer(pieces in proptest::collection::vec(piece(), 0..40)) {
        survive(&pieces.concat());
    }

    #[test]
    fn any_edit_of_a_good_recipe_gets_an_answer(
        edits in proptest::collection::vec((0..2000usize, 0..12usize, piece()), 1..5)
    ) {
        let edit = |text: String, (at, length, insert): (usize, usize, &str)| {
            cut(&text, at, length, insert)
        };
        survive(&edits.into_iter().fold(GOOD.to_owned(), edit));
    }

    #[test]
    fn an_unknown_field_is_always_reported(name in "[a-z_]{1,12}", map in 0..4usize) {
        let (section, text) = [
            (Section::Recipe, format!("{name}: 1\n{GOOD}")),
            (Section::Hooks, GOOD.replace("  on_error:", &format!("  {name}: 1\n  on_error:"))),
            (Section::Step, GOOD.replace("    id: one", &format!("    {name}: 1\n    id: one"))),
            (Section::Recursion, format!("{GOOD}recursion:\n  {name}: 1\n")),
        ][map].clone();
        prop_assume!(fields_of(section).all(|field| field.name != name));
        let expected = format!("unknown field `{name}`");
        let problems = survive(&text);
        let problem = problems.iter().find(|p| p.message == expected);
        let problem = problem.expect("the field is reported");
        prop_assert_eq!(&text[problem.labels[0].span.range()], &name);
        if let Some(near) = nearest(&name, fields_of(section).map(|f| f.name)) {
            let label = &problem.labels[0].text;
            prop_assert!(label.contains(near) || label.starts_with("this belongs"), "{label}");
        }
    }

    #[test]
    fn what_looks_like_a_number_keeps_its_text(written in "[-+]?[0-9._eExo]{1,8}") {
        let text = format!("name: x\ncontext:\n  v: {written}\nsteps: [{{id: a, command: x}}]\n");
        let recipe = read(&Source::new("r.yaml", text)).recipe.expect("a plain scalar is sound");
        prop_assert_eq!(text_of(&recipe.context["v"]), written);
    }

    #[test]
    fn any_json_text_arrives_as_it_is(value in "\\PC{0,20}|[\\x20-\\x7e\\n\\t]{0,20}") {
        let json = serde_json::json!({
            "name": "x",
            "context": {"v": value},
            "steps": [{"id": "a", "command": "x"}],
        });
        for text in [json.to_string(), serde_json::to_string_pretty(&json).unwrap()] {
            let read = read(&Source::new("r.json", text));
            let recipe = read.recipe.expect("JSON is sound");
            prop_assert_eq!(&recipe.context["v"], &serde_json::Value::from(value.clone()));
        }
    }
}
