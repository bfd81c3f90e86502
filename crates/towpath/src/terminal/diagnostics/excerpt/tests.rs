use super::*;
use crate::terminal::diagnostics::{Style, render};
use proptest::prelude::*;
use towpath_core::{Diagnostic, Span};

fn drawn(text: &str, places: &[(&str, &str)], width: usize) -> String {
    let source = Source::new("m.json", text);
    let mut problem = Diagnostic::error("x", "wrong");
    for (what, label) in places {
        let start = text.find(what).expect("the place is there");
        problem = problem.at(&source, Span { start, end: start + what.len() }, *label);
    }
    render(&[problem], Style { color: false, width: Some(width) })
}

#[test]
fn a_long_line_is_cut_around_its_place() {
    let text = format!("{{{}\"promt\": 1{}}}", "\"a\": 0, ".repeat(60), ", \"b\": 2".repeat(60));
    assert_eq!(
        drawn(&text, &[("\"promt\"", "did you mean 'prompt'?")], 60),
        "error: wrong
  ┌─ m.json:1:482
  │
1 │ …a\": 0, \"a\": 0, \"a\": 0, \"promt\": 1, \"b\": 2, \"b\": 2, \"b\"…
  │                         ^^^^^^^ did you mean 'prompt'?

"
    );
    // Where there is no room for what is said, the place stands at the left.
    assert_eq!(
        drawn(&text, &[("\"promt\"", "did you mean 'prompt'?")], 40),
        "error: wrong
  ┌─ m.json:1:482
  │
1 │ … 0, \"promt\": 1, \"b\": 2, \"b\": 2, \"b…
  │      ^^^^^^^ did you mean 'prompt'?

"
    );
}

#[test]
fn two_places_of_one_line_are_both_seen() {
    let text = format!("one: {}two: {}", "x".repeat(300), "y".repeat(300));
    let told = drawn(&text, &[("one", "first"), ("two", "again")], 60);
    let line = told.lines().find(|line| line.starts_with("1 │")).expect("the line");
    assert!(
        line.contains("one: xxx") && line.contains("…xxx") && line.contains("two: yyy"),
        "{told}"
    );
    assert!(line.width() <= 60, "{told}");
}

#[test]
fn wide_characters_tabs_and_control_characters_keep_the_caret_in_its_place() {
    let text = format!("{}\tname: \u{1b}[2J日本語{}", "語".repeat(100), "本".repeat(100));
    let told = drawn(&text, &[("日本語", "here")], 50);
    let lines: Vec<&str> = told.lines().collect();
    let at = lines[3].split("日本語").next().expect("the place").width();
    let caret = lines[4].split('^').next().expect("the caret").width();
    assert_eq!((at, lines[4].matches('^').count()), (caret, 6), "{told}");
    assert!(!told.contains('\u{1b}') && told.contains("1:112"), "{told}");
    assert!(lines[3].width() <= 50, "{told}");
}

#[test]
fn a_place_that_is_longer_than_the_line_has_room_is_cut_too() {
    let value = "v".repeat(500);
    let told = drawn(&format!("a: {value}"), &[(&value, "")], 40);
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[3].ends_with("v…") && lines[3].width() <= 40, "{told}");
    assert!(lines[4].ends_with('^') && lines[4].width() <= 40, "{told}");
}

#[test]
fn of_many_problems_the_errors_come_first_and_the_rest_is_counted() {
    let source = Source::new("m", "a\n".repeat(400));
    let problem = |n: usize| {
        let place = Span { start: n * 2, end: n * 2 + 1 };
        let made = if n % 10 == 9 { Diagnostic::error } else { Diagnostic::note };
        made("x", format!("number {n}")).at(&source, place, "")
    };
    let problems: Vec<Diagnostic> = (0..400).map(problem).collect();
    let told = render(&problems, Style { color: false, width: None });
    assert_eq!(told.matches("error: number").count(), 40, "{told}");
    assert_eq!(told.matches("note: number").count(), 10, "{told}");
    assert!(told.ends_with("350 more problems: --json tells all of them\n\n"), "{told}");
}

proptest! {
    #[test]
    fn any_place_of_any_text_can_be_drawn(
        text in "[a語\t\n\r\u{1b}é ]{0,300}",
        places in prop::collection::vec((0usize..320, 0usize..320), 1..4),
        width in 0usize..120,
    ) {
        let source = Source::new("m", text.clone());
        let mut problem = Diagnostic::error("x", "wrong");
        for (a, b) in places {
            let at = |offset: usize| text.floor_char_boundary(offset.min(text.len()));
            let span = Span { start: at(a.min(b)), end: at(a.max(b)) };
            problem = problem.at(&source, span, "said");
        }
        let told = render(&[problem], Style { color: false, width: Some(width) });
        prop_assert!(told.contains("m:"), "{told}");
        prop_assert!(!told.contains('\u{1b}'), "{told:?}");
    }
}
