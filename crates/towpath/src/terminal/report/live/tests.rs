//! What is on the screen, word for word.

use super::*;
use crate::terminal::report::reporter_test_support::*;
use crate::terminal::report::shape::RecipeShape;
use towpath_core::FaultKind;
use towpath_run::{Fault, JobEnd, JobStatus, Output, RunOutcome, StepView};

fn reporter(columns: usize, rows: usize) -> (Live<Recorder>, Recorder) {
    let recorder = Recorder::new(columns, rows);
    let options = OutputOptions { terminal: true, joined: true, ..options() };
    (Live::new(recorder.clone(), options, shape(&[("ci", 6)])), recorder)
}

fn six() -> Vec<StepView> {
    let kinds = ["recipe", "agent", "agent", "bash", "bash", "bash"];
    let ids = ["ci", "security-review", "architecture-review", "quality-gate", "deploy", "notify"];
    ids.into_iter().zip(kinds).map(|(id, kind)| pending(id, kind)).collect()
}

/// The run of the sketch, up to the moment that it shows.
fn sketch(columns: usize) -> (Live<Recorder>, Recorder) {
    let (mut live, seen) = reporter(columns, 24);
    live.run(six());
    for step in ["ci/1", "ci/2", "ci/3", "ci/4", "ci/5", "ci/6"] {
        live.start(step, "bash");
        live.end(step, &completed(), 1000);
    }
    live.end("ci", &completed(), 72_000);
    live.start("security-review", "agent");
    live.start("architecture-review", "agent");
    live.end("deploy", &skipped("needs tag release"), 0);
    live.doing("security-review", "Read src/auth.rs");
    live.doing("architecture-review", "Bash cargo tree");
    seen.pass_time(48_200);
    live.tick();
    (live, seen)
}

#[test]
fn the_block_of_the_sketch_in_80_columns() {
    let (_live, seen) = sketch(80);
    let screen = Screen::of(&seen);
    assert!(screen.cursor_hidden && !screen.wrapped);
    assert_eq!(
        screen.text(),
        "\
ship-release · run 7f3k · shop

  ✓ ci                   1 m 12 s  6 of 6 steps
  ⠹ security-review          48 s  Read src/auth.rs
  ⠹ architecture-review      48 s  Bash cargo tree
  · quality-gate
  · deploy                         skipped: needs tag release
  · notify

  2 running · 1 of 6 done · Ctrl-C stops, keeps everything"
    );
}

#[test]
fn the_block_of_the_sketch_in_50_columns() {
    let (_live, seen) = sketch(50);
    let screen = Screen::of(&seen);
    assert!(!screen.wrapped);
    assert_eq!(
        screen.text(),
        "\
ship-release · run 7f3k · shop

  ✓ ci                   1 m 12 s  6 of 6 steps
  ⠹ security-review          48 s  Read …/auth.rs
  ⠹ architecture-review      48 s  Bash cargo tr…
  · quality-gate
  · deploy                         skipped: need…
  · notify

  2 running · 1 of 6 done · Ctrl-C stops"
    );
}

#[test]
fn an_agent_that_prints_nothing_is_shown_as_silent() {
    let (mut live, seen) = sketch(80);
    seen.pass_time(12_000);
    live.report(EventKind::Heard { step: path("architecture-review") });
    seen.pass_time(130_000);
    live.start("notify", "bash");
    seen.pass_time(100_000);
    live.tick();
    let text = Screen::of(&seen).text();
    let line = |name: &str| text.lines().find(|l| l.contains(name)).unwrap_or_default().to_owned();
    assert!(line("security").ends_with("silent for 4 min · Read src/auth.rs"), "{text}");
    assert!(line("architecture").ends_with("silent for 3 min · Bash cargo tree"), "{text}");
    assert!(line("notify").ends_with("running"), "a command is no agent:\n{text}");
    live.report(EventKind::Continued);
    seen.pass_time(1_000);
    live.tick();
    assert!(!Screen::of(&seen).text().contains("silent for"), "stopped time does not count");
}

#[test]
fn output_scrolls_above_the_block_and_the_steps_stay_at_the_end() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("build", "bash"), pending("test", "bash")]);
    live.start("build", "bash");
    for number in 0..30 {
        live.print("build", &format!("line {number}\n"));
        seen.pass_time(80);
        live.tick();
    }
    live.end("build", &completed(), 2400);
    live.start("test", "bash");
    live.complain("test", "boom");
    live.end("test", &failed("exit 1", "one\nboom"), 100);
    let outcome = RunOutcome::Done;
    let run = towpath_core::RunId::new("7f3k").unwrap();
    live.report(EventKind::RunEnded { run, outcome, steps: Vec::new() });
    let screen = Screen::of(&seen);
    assert!(!screen.cursor_hidden && !screen.wrapped);
    let lines: String = (0..30).map(|number| format!("line {number}\n")).collect();
    let expected = format!(
        "ship-release · run 7f3k · shop\n{lines}boom\n\n  \
         ✓ build  2.4 s  done\n  \
         ✗ test   0.1 s  failed: exit 1: boom"
    );
    assert_eq!(screen.text(), expected);
    assert!(seen.stdout_text().is_empty());
}

#[test]
fn the_running_step_is_named_in_the_smallest_window() {
    for rows in 1..12 {
        let (mut live, seen) = reporter(30, rows);
        live.run(six());
        live.end("security-review", &failed("exit 1", ""), 100);
        live.start("ci/build", "bash");
        seen.pass_time(2_000);
        live.tick();
        let text = Screen::of(&seen).text();
        let named = if rows < 8 { "ci/build" } else { "⠋ ci" };
        assert!(text.contains(named), "{rows} rows: {text}");
        assert!(rows == 1 || rows == 2 || text.contains("1 running"), "{rows} rows: {text}");
    }
    let (mut live, seen) = reporter(30, 6);
    live.run(vec![pending("edit", "agent"), pending("test", "bash"), pending("echo", "bash")]);
    live.start("edit", "agent");
    live.doing("edit", "Read src/auth.rs");
    seen.pass_time(2_000);
    live.tick();
    let text = Screen::of(&seen).text();
    let block = "  ⠋ edit  2 s  Read …/auth.rs\n  1 running · 0 of 3 done";
    assert!(text.ends_with(block), "{text}");
}

#[test]
fn other_lines_are_above_the_block_and_are_not_overdrawn() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("build", "bash")]);
    live.start("build", "bash");
    seen.pass_time(80);
    live.tick();
    live.aside("[step:started]   build");
    seen.pass_time(80);
    live.tick();
    let text = Screen::of(&seen).text();
    let begin = "ship-release · run 7f3k · shop\n[step:started]   build\n\n  ⠙ build";
    assert!(text.starts_with(begin), "{text}");
    let (outcome, run) = (RunOutcome::Done, towpath_core::RunId::new("7f3k").unwrap());
    live.report(EventKind::RunEnded { run, outcome, steps: Vec::new() });
    live.aside("[recipe:exited]  done");
    assert!(Screen::of(&seen).text().ends_with("\n[recipe:exited]  done"));
}

#[test]
fn steps_that_run_together_can_be_distinguished() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("a", "bash"), pending("b", "bash")]);
    live.start("a", "bash");
    live.start("b", "bash");
    live.print("a", "one\ntwo\n");
    live.print("b", "three\n");
    live.print("b", "four\n");
    live.end("b", &completed(), 10);
    // Alone now, but still indented: whose line it is could not be seen otherwise.
    live.print("a", "five\n");
    live.end("a", &completed(), 10);
    live.start("c", "bash");
    live.print("c", "six\n");
    live.leave();
    let expected = "ship-release · run 7f3k · shop\na\n  one\n  two\nb\n  three\n  four\n\
                    a\n  five\nsix";
    assert_eq!(Screen::of(&seen).text(), expected);
}

#[test]
fn an_unfinished_line_is_in_the_block_until_it_ends() {
    let (mut live, seen) = reporter(40, 24);
    live.run(vec![pending("a", "bash")]);
    live.start("a", "bash");
    live.print("a", "10 %\r\u{1b}[32m20 %");
    seen.pass_time(100);
    live.tick();
    assert!(!Screen::of(&seen).text().contains('%'));
    seen.pass_time(200);
    live.tick();
    let screen = Screen::of(&seen).text();
    assert!(screen.contains("\n20 %\n\n  ⠸ a  0 s  running\n"), "{screen}");
    live.print("a", "\r30 %\n");
    live.leave();
    assert!(seen.stderr_text().ends_with("10 %\r\u{1b}[32m20 %\r30 %\n\u{1b}[0m\u{1b}[?25h"));
}

#[test]
fn a_block_never_gets_higher_than_the_terminal() {
    for rows in 1..30 {
        let (mut live, seen) = reporter(60, rows);
        let ids: Vec<String> = (0..40).map(|number| format!("step-{number}")).collect();
        live.run(ids.iter().map(|id| pending(id, "bash")).collect());
        for id in &ids[..20] {
            live.start(id, "bash");
            live.end(id, &completed(), 1000);
        }
        for id in &ids[20..24] {
            live.start(id, "bash");
            live.print(id, "unfinished");
        }
        for _ in 0..10 {
            seen.pass_time(100);
            live.print(&ids[20], "more\nunfinished");
            live.tick();
        }
        let screen = Screen::of(&seen);
        let drawn = live.drawn.as_ref().unwrap().widths.len();
        assert!(drawn <= rows.saturating_sub(1).max(1), "{drawn} of {rows}");
        let stays =
            if rows < 3 { "⠋ step-20" } else { "4 running · 20 of 40 done · Ctrl-C stops" };
        assert!(screen.text().contains(stays), "{rows}: {}", screen.text());
    }
}

#[test]
fn what_does_not_fit_is_counted() {
    let (mut live, seen) = reporter(70, 12);
    let ids: Vec<String> = (0..40).map(|number| format!("step-{number}")).collect();
    live.run(ids.iter().map(|id| pending(id, "bash")).collect());
    for id in &ids[..20] {
        live.start(id, "bash");
        live.end(id, &if id == "step-3" { skipped("no") } else { completed() }, 1000);
    }
    live.start("step-20", "bash");
    seen.pass_time(1000);
    live.tick();
    assert_eq!(
        Screen::of(&seen).text(),
        "\
ship-release · run 7f3k · shop

  … 18 earlier: 17 done, 1 skipped
  ✓ step-18  1.0 s  done
  ✓ step-19  1.0 s  done
  ⠋ step-20    1 s  running
  · step-21
  · step-22
  · step-23
  … 16 more: 16 to come

  1 running · 19 of 40 done · Ctrl-C stops, keeps everything"
    );
}

#[test]
fn a_running_recipe_step_shows_its_running_child() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("ci", "recipe")]);
    live.start("ci/lint", "bash");
    live.start("ci", "recipe");
    live.end("ci/lint", &completed(), 10);
    live.end("ci/docs", &skipped("no"), 0);
    live.start("ci/review", "agent");
    live.doing("ci/review", "Read\tsrc/auth.rs\nsecond");
    seen.pass_time(80);
    live.tick();
    let text = Screen::of(&seen).text();
    let line = "  ⠋ ci  0 s  1 of 6 steps, 1 skipped · review: Read src/au…\n";
    assert!(text.contains(line), "{text}");
    live.end("ci/review", &costing(0.25), 10);
    live.end("ci", &completed(), 20);
    seen.pass_time(80);
    live.tick();
    let text = Screen::of(&seen).text();
    assert!(text.contains("  ✓ ci  0.0 s  2 of 6 steps, 1 skipped\n"), "{text}");
    assert!(text.contains("0 running · 1 of 1 done · $0.25 · Ctrl-C"), "{text}");
}

#[test]
fn a_narrower_terminal_leaves_nothing_behind() {
    let (mut live, seen) = sketch(80);
    let before = seen.stderr_text().len();
    seen.0.borrow_mut().size = (30, 24);
    seen.pass_time(100);
    live.tick();
    // 47, 51, 50, 15, 61, 9 and 58 columns take 2 + 2 + 2 + 1 + 3 + 1 + 2 rows of 30, and
    // the empty lines one each.
    let drawn = seen.stderr_text()[before..].to_owned();
    assert!(drawn.starts_with("\r\u{1b}[14A\u{1b}[J"), "{drawn:?}");
}

#[test]
fn nothing_is_drawn_when_nothing_has_changed() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("a", "bash")]);
    seen.pass_time(80);
    live.tick();
    let writes = seen.0.borrow().writes;
    for _ in 0..20 {
        seen.pass_time(80);
        live.tick();
    }
    assert_eq!(seen.0.borrow().writes, writes);
    // And with a spinner not more often than the clock allows.
    live.start("a", "bash");
    for _ in 0..1000 {
        seen.pass_time(1);
        live.tick();
    }
    assert!(seen.0.borrow().writes - writes <= 14);
}

#[test]
fn the_terminal_is_given_back_on_a_stop_and_on_an_error() {
    let (mut live, seen) = sketch(80);
    live.report(EventKind::Suspended);
    let screen = Screen::of(&seen);
    assert!(!screen.cursor_hidden);
    assert_eq!(screen.text(), "ship-release · run 7f3k · shop");
    live.tick();
    live.report(EventKind::Continued);
    seen.pass_time(100);
    live.tick();
    let screen = Screen::of(&seen);
    assert!(screen.cursor_hidden && screen.text().contains("2 running"));
    drop(live);
    let screen = Screen::of(&seen);
    assert!(!screen.cursor_hidden);
    assert_eq!(screen.text(), "ship-release · run 7f3k · shop");
}

#[test]
fn stdout_elsewhere_gets_the_output_alone() {
    let recorder = Recorder::new(60, 24);
    let options = OutputOptions { terminal: true, ..options() };
    let mut live = Live::new(recorder.clone(), options, shape(&[]));
    live.run(vec![pending("a", "bash"), pending("b", "bash")]);
    live.start("a", "bash");
    live.print("a", "data\nno end");
    live.complain("a", "note\n");
    live.end("a", &completed(), 10);
    live.start("b", "bash");
    live.print("b", "after");
    live.end("b", &completed(), 10);
    live.leave();
    assert_eq!(recorder.stdout_text(), "data\nno endafter");
    assert_eq!(Screen::of(&recorder).text(), "ship-release · run 7f3k · shop\nnote");
}

#[test]
fn a_flood_of_output_is_not_kept() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("a", "bash")]);
    live.start("a", "bash");
    let chunk = "y\n".repeat(10_000);
    for _ in 0..20 {
        live.print("a", &chunk);
        assert!(live.above.len() < WAITING);
    }
    live.leave();
    assert_eq!(seen.stderr_text().matches("y\n").count(), 200_000);
}

#[test]
fn foreign_words_in_the_block_cannot_move_the_cursor() {
    let (mut live, seen) = reporter(60, 24);
    live.run(vec![pending("a\u{1b}[2Jb", "agent")]);
    live.start("a\u{1b}[2Jb", "agent");
    live.doing("a\u{1b}[2Jb", "Bash \u{1b}[3A\u{7}");
    seen.pass_time(80);
    live.tick();
    let text = Screen::of(&seen).text();
    assert!(text.contains("a\u{fffd}[2Jb  0 s  Bash \u{fffd}[3A\u{fffd}\n"), "{text}");
}

/// A machine of one step that may be visited three times, entered once.
fn machine(options: OutputOptions) -> (Live<Recorder>, Recorder) {
    let recorder = Recorder::new(60, 24);
    let recipe = RecipeShape {
        name: "review".into(),
        machine: true,
        most_steps: Some(6),
        ..RecipeShape::default()
    };
    let shape = Shape { recipes: vec![recipe] };
    let mut live = Live::new(recorder.clone(), options, shape);
    live.run(Vec::new());
    enter(&mut live, "look", 1);
    (live, recorder)
}

fn enter(live: &mut Live<Recorder>, step: &str, total: u32) {
    live.report(EventKind::Entered {
        step: path(step),
        recipe: "review".to_owned(),
        visit: total,
        max_visits: 3,
        total,
        max_total: 100,
        model: None,
    });
    live.start(step, "agent");
}

#[test]
fn visits_and_steps_are_counted_and_paths_are_relative() {
    let (mut live, seen) = machine(OutputOptions { terminal: true, joined: true, ..options() });
    live.doing("look", "Read /home/me/shop/crates/towpath/src/report/live/very/deep.rs");
    seen.pass_time(2_000);
    live.tick();
    let block = "  ⠋ look  2 s  Read …/towpath/src/report/live/very/deep.rs\n\n  \
                 visit 1/3 · step 1, at most 6 · Ctrl-C stops";
    let text = Screen::of(&seen).text();
    assert!(text.ends_with(block), "{text}");
}

#[test]
fn a_machines_answers_have_their_steps_name_and_not_the_outcome_line() {
    for (reporter, expected) in [
        (ReporterKind::Own, "── look\nIt is wrong.\n── look#2\nAll good.\n\nNow."),
        (
            ReporterKind::Orchestration,
            "It is wrong.\n\n{\"outcome\": \"bad\"}\n{\"outcome\": \"x\"}\nAll good.\n\nNow.\n```json\n\
             {\"outcome\": \"fine\"}\n```",
        ),
    ] {
        let (mut live, seen) =
            machine(OutputOptions { terminal: true, joined: true, reporter, ..options() });
        live.print("look", "It is wrong.\n\n{\"outcome\": \"bad\"}\n");
        live.print("look", "{\"outcome\": \"x\"}\n");
        live.end("look", &completed(), 10);
        enter(&mut live, "look#2", 2);
        live.print("look#2", "All good.\n\nNow.\n```json\n{\"outcome\": \"fine\"}\n```\n");
        live.end("look#2", &completed(), 10);
        live.leave();
        let text = Screen::of(&seen).text();
        assert_eq!(text, format!("ship-release · run 7f3k · shop\n{expected}"));
    }
    // A reader of stdout gets the whole answer.
    let (mut live, seen) = machine(OutputOptions { terminal: true, ..options() });
    live.print("look", "Done.\n{\"outcome\": \"fine\"}\n");
    live.leave();
    assert_eq!(seen.stdout_text(), "Done.\n{\"outcome\": \"fine\"}\n");
}

#[test]
fn a_machine_that_is_resumed_shows_which_visit_it_is_in() {
    let recipe = "id: review\nlabel: R\ndescription: d\ninitialStep: look\nguardrails: {}\nsteps:\n  \
                  look: {prompt: x, outcomes: [again, fine], onOutcome: {again: {nextStep: look}, \
                  fine: {action: exit, reason: fine}}}\n";
    let run = driven(&[("review", recipe)], &mut |key| {
        let limit = Fault { kind: FaultKind::Limit, until_ms: None };
        let again = Output::Text("{\"outcome\": \"again\"}".into());
        match key.visit {
            1 => JobEnd { output: again, ..JobEnd::new(JobStatus::Exited(0)) },
            _ => JobEnd::new(JobStatus::Faulted(limit)),
        }
    });
    let recorder = Recorder::new(90, 24);
    let options = OutputOptions { terminal: true, joined: true, ..options() };
    let shape = Shape::of(run.program()).bounded(run.program());
    let mut live = Live::new(recorder.clone(), options, shape).resuming(&run);
    live.run(run.view());
    live.start("look#2", "agent");
    recorder.pass_time(80);
    live.tick();
    let text = Screen::of(&recorder).text();
    assert!(text.contains("\n  visit 2/3 · step 2, at most 3 · cost unknown · Ctrl-C"), "{text}");
}
