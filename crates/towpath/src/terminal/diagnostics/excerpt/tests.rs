//! Long lines, wide characters and many problems, as they are drawn.

use super::*;
use crate::terminal::diagnostics::{Style, render};
use proptest::prelude::*;
use towpath_core::{Diagnostic, Span};

fn drawn(text: &str, labels: &[(&str, &str)], width: usize) -> String {
    let source = Source::new("m.json", text);
    let mut problem = Diagnostic::error("x", "wrong");
    for (what, label) in labels {
        let start = text.find(what).expect("the labelled text is there");
        problem = problem.at(&source, Span { start, end: start + what.len() }, *label);
    }
    render(&[problem], Style { color: false, width: Some(width) })
}

#[test]
fn a_long_line_is_cut_around_its_label() {
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
    // Without room for the label's text, the marked range is at the left.
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
fn two_labels_of_one_line_are_both_visible() {
    let text = format!("one: {}two: {}", "x".repeat(300), "y".repeat(300));
    let drawn_text = drawn(&text, &[("one", "first"), ("two", "again")], 60);
    let line = drawn_text.lines().find(|line| line.starts_with("1 │")).expect("the line");
    assert!(
        line.contains("one: xxx") && line.contains("…xxx") && line.contains("two: yyy"),
        "{drawn_text}"
    );
    assert!(line.width() <= 60, "{drawn_text}");
}

#[test]
fn wide_characters_tabs_and_control_characters_do_not_move_the_caret() {
    let text = format!("{}\tname: \u{1b}[2J日本語{}", "語".repeat(100), "本".repeat(100));
    let drawn_text = drawn(&text, &[("日本語", "here")], 50);
    let lines: Vec<&str> = drawn_text.lines().collect();
    let at = lines[3].split("日本語").next().expect("the text before it").width();
    let caret = lines[4].split('^').next().expect("the caret").width();
    assert_eq!((at, lines[4].matches('^').count()), (caret, 6), "{drawn_text}");
    assert!(!drawn_text.contains('\u{1b}') && drawn_text.contains("1:112"), "{drawn_text}");
    assert!(lines[3].width() <= 50, "{drawn_text}");
}

#[test]
fn a_label_that_is_wider_than_the_terminal_is_cut_too() {
    let value = "v".repeat(500);
    let drawn_text = drawn(&format!("a: {value}"), &[(&value, "")], 40);
    let lines: Vec<&str> = drawn_text.lines().collect();
    assert!(lines[3].ends_with("v…") && lines[3].width() <= 40, "{drawn_text}");
    assert!(lines[4].ends_with('^') && lines[4].width() <= 40, "{drawn_text}");
}

#[test]
fn of_many_problems_the_errors_come_first_and_the_rest_is_counted() {
    let source = Source::new("m", "a\n".repeat(400));
    let problem = |n: usize| {
        let span = Span { start: n * 2, end: n * 2 + 1 };
        let made = if n % 10 == 9 { Diagnostic::error } else { Diagnostic::note };
        made("x", format!("number {n}")).at(&source, span, "")
    };
    let problems: Vec<Diagnostic> = (0..400).map(problem).collect();
    let drawn_text = render(&problems, Style { color: false, width: None });
    assert_eq!(drawn_text.matches("error: number").count(), 40, "{drawn_text}");
    assert_eq!(drawn_text.matches("note: number").count(), 10, "{drawn_text}");
    let last = "350 more problems: --json lists all of them\n\n";
    assert!(drawn_text.ends_with(last), "{drawn_text}");
}

proptest! {
    #[test]
    fn any_span_of_any_text_can_be_drawn(
        text in "[a語\t\n\r\u{1b}é ]{0,300}",
        spans in prop::collection::vec((0usize..320, 0usize..320), 1..4),
        width in 0usize..120,
    ) {
        let source = Source::new("m", text.clone());
        let mut problem = Diagnostic::error("x", "wrong");
        for (a, b) in spans {
            let at = |offset: usize| text.floor_char_boundary(offset.min(text.len()));
            let span = Span { start: at(a.min(b)), end: at(a.max(b)) };
            problem = problem.at(&source, span, "label");
        }
        let drawn_text = render(&[problem], Style { color: false, width: Some(width) });
        prop_assert!(drawn_text.contains("m:"), "{drawn_text}");
        prop_assert!(!drawn_text.contains('\u{1b}'), "{drawn_text:?}");
    }
}
