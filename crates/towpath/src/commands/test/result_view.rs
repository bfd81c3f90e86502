//! How the results of tests are printed. Lines come as cases end, in the order of the files.

use super::expected_and_got;
use crate::environment::Environment;
use crate::terminal::format::{clean, count, duration};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use serde_json::json;
use std::cell::Cell;
use towpath_testing::{
    CaseResult, Change, Mutant, Observer, Problem, TestedRecipe, changes, results_json,
};
use towpath_view::foreign_text::escaped;
use unicode_width::UnicodeWidthStr as _;

/// Names are lined up as far as this.
const WIDEST: usize = 52;
/// How many of the last lines of an output are shown.
const LAST_LINES: usize = 10;

#[derive(Debug)]
pub struct View {
    screen: Screen,
    json: bool,
    /// The line at the bottom with the progress is drawn.
    drawn: Cell<bool>,
    live: bool,
    some: Cell<bool>,
}

impl View {
    pub fn new(env: &Environment, json: bool) -> View {
        let screen = Screen::new(env);
        let dumb = env.get("TERM").is_some_and(|term| term == "dumb");
        let live = env.stdout_terminal && !json && !dumb;
        View { screen, json, drawn: Cell::new(false), live, some: Cell::new(false) }
    }

    fn line(&self, text: impl AsRef<str>) {
        if self.drawn.replace(false) {
            out::stdout(b"\r\x1b[2K");
        }
        if !self.json {
            out::line(text);
        }
    }

    fn problem(&self, problem: &Problem) {
        let location = problem
            .location
            .as_ref()
            .map_or(String::new(), |at| format!("  {}", self.screen.paint(Tint::Dim, at)));
        let message = problem.message.lines().map(clean).collect::<Vec<_>>().join("\n      ");
        self.line(format!("      {message}{location}"));
        if let Some((expected, got)) = &problem.difference {
            for line in expected_and_got::lines(&self.screen, expected, got) {
                self.line(format!("        {line}"));
            }
        }
        if let Some((heading, text)) = &problem.more {
            self.line(self.screen.paint(Tint::Dim, &format!("      {heading}:")));
            for line in last_lines(text) {
                self.line(format!("        {line}"));
            }
        }
    }

    pub fn stopped(&self) {
        if self.json {
            out::json(&json!({ "schema": 1, "success": false, "stopped": true }));
            return;
        }
        self.line("");
        self.line("stopped");
    }

    pub fn end(
        &self,
        subjects: &[TestedRecipe],
        results: &[Vec<Option<CaseResult>>],
        mutate: bool,
        mutants: Option<&[Vec<Mutant>]>,
    ) {
        if self.json {
            out::json(&results_json(subjects, results, mutants));
            return;
        }
        let all = results.iter().flatten().flatten();
        let failed = all.clone().filter(|result| !result.passed()).count();
        let passed = all.count() - failed;
        let mut parts = vec![self.screen.paint(Tint::Good, &format!("{passed} passed"))];
        if failed > 0 {
            parts.push(self.screen.paint(Tint::Bad, &format!("{failed} failed")));
        }
        self.line("");
        self.line(parts.join(", "));
        let Some(mutants) = mutants else {
            if mutate {
                self.line("no mutations: all cases must pass first");
            }
            return;
        };
        let all = mutants.iter().flatten();
        let noticed = all.clone().filter(|m| m.noticed_by.is_some()).count();
        let tint = if noticed == all.clone().count() { Tint::Good } else { Tint::Bad };
        let transitions = all.clone().any(|mutant| mutant.change.outcome().is_some());
        let what = if transitions { "change" } else { "step" };
        let text = format!("{noticed} of {} noticed", count(all.count(), what));
        self.line(self.screen.paint(tint, &text));
    }
}

impl Observer for View {
    fn file(&self, subject: &TestedRecipe) {
        if self.some.replace(true) {
            self.line("");
        }
        self.line(format!("{} · {}", subject.suite.source.name, clean(&subject.recipe())));
    }

    fn case(&self, subject: &TestedRecipe, case: usize, result: &CaseResult) {
        let cases = &subject.suite.cases;
        let widths = cases.iter().map(|case| clean(&case.name).width());
        let width = widths.max().unwrap_or(0).min(WIDEST);
        let name = clean(&cases[case].name);
        let gap = " ".repeat(width.saturating_sub(name.width()));
        let took = duration(i64::try_from(result.took.as_millis()).unwrap_or(i64::MAX));
        let (tint, sign, word) = if result.passed() {
            (Tint::Good, "✓", "passed")
        } else {
            (Tint::Bad, "✗", "failed")
        };
        let sign = self.screen.paint(tint, sign);
        let word = self.screen.paint(tint, word);
        self.line(format!("  {sign} {name}{gap}  {word}  {took}"));
        for warning in &result.warnings {
            let label = self.screen.paint(Tint::Attention, "warning");
            self.line(format!("      {label}: {}", clean(warning)));
        }
        for problem in &result.problems {
            self.problem(problem);
        }
        if let Some(directory) = &result.directory {
            let shown = format!("      directory: {}", escaped(directory));
            self.line(self.screen.paint(Tint::Dim, &shown));
        }
    }

    fn mutations(&self, subject: &TestedRecipe) {
        self.line("");
        let what = if subject.is_machine() {
            "each transition and each command, disabled in turn"
        } else {
            "each step, disabled in turn"
        };
        self.line(format!("{} · {what}", subject.suite.source.name));
    }

    fn mutant(&self, subject: &TestedRecipe, mutant: &Mutant) {
        let program = subject.program.iter();
        let changes = program.flat_map(|program| changes(program.root()));
        let width = changes.map(|change| change.describe().width()).max().unwrap_or(0).min(WIDEST);
        let what = mutant.change.describe();
        let gap = " ".repeat(width.saturating_sub(what.width()));
        let (tint, sign) =
            if mutant.noticed_by.is_some() { (Tint::Good, "✓") } else { (Tint::Bad, "✗") };
        let sign = self.screen.paint(tint, sign);
        self.line(format!("  {sign} {what}{gap}  {}", clean(&describe(mutant))));
    }

    /// On a terminal, a temporary line shows the progress.
    fn under_way(&self, done: usize, all: usize, what: &str) {
        if self.live {
            let text = format!("  {done} of {} done · Ctrl-C to stop", count(all, what));
            out::stdout(format!("\r\x1b[2K{}", self.screen.paint(Tint::Dim, &text)).as_bytes());
            self.drawn.set(true);
        }
    }
}

fn describe(mutant: &Mutant) -> String {
    let (without, never) = match &mutant.change {
        Change::Idle { step } => (format!("step `{step}` does nothing"), "none runs it"),
        Change::Ends { .. } => ("the run ends here".to_owned(), "none gets here"),
    };
    match (&mutant.noticed_by, mutant.ran) {
        (Some(case), _) => format!("noticed by: {case}"),
        (None, true) => format!("no case notices when {without}"),
        (None, false) => format!("no case notices when {without}: {never}"),
    }
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.is_empty() {
        return vec!["(nothing)".to_owned()];
    }
    let first = lines.len().saturating_sub(LAST_LINES);
    let mut shown = Vec::new();
    if first > 0 {
        shown.push(format!("… {} before", count(first, "line")));
    }
    shown.extend(lines[first..].iter().map(|line| clean(line)));
    shown
}
