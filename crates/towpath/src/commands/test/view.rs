//! What a person sees of the tests, and what a machine reads. Lines come as cases end, in the order
//! of the files.

use super::difference;
use super::mutate::{Change, Mutant, changes};
use super::play::Played;
use super::problem::Problem;
use super::subject::Subject;
use crate::environment::Environment;
use crate::terminal::format::{clean, count, duration};
use crate::terminal::out;
use crate::terminal::table::{Screen, Tint, escaped};
use serde_json::{Value, json};
use std::cell::Cell;
use unicode_width::UnicodeWidthStr;

/// Names are lined up as far as this.
const WIDEST: usize = 52;
/// So many of the last lines of an output are shown.
const LAST_LINES: usize = 10;

#[derive(Debug)]
pub struct View {
    screen: Screen,
    json: bool,
    /// The line at the bottom that says what is under way is drawn.
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

    /// On a terminal, a line that goes away says that something happens.
    pub fn under_way(&self, done: usize, all: usize, what: &str) {
        if self.live {
            let text = format!("  {done} of {} done, Ctrl-C stops", count(all, what));
            out::stdout(format!("\r\x1b[2K{}", self.screen.paint(Tint::Dim, &text)).as_bytes());
            self.drawn.set(true);
        }
    }

    pub fn file(&self, subject: &Subject) {
        if self.some.replace(true) {
            self.line("");
        }
        self.line(format!("{} · {}", subject.suite.source.name, clean(&subject.recipe())));
    }

    pub fn case(&self, subject: &Subject, case: usize, played: &Played) {
        let cases = &subject.suite.cases;
        let widths = cases.iter().map(|case| clean(&case.name).width());
        let width = widths.max().unwrap_or(0).min(WIDEST);
        let name = clean(&cases[case].name);
        let gap = " ".repeat(width.saturating_sub(name.width()));
        let took = duration(i64::try_from(played.took.as_millis()).unwrap_or(i64::MAX));
        let (tint, sign, word) = if played.problems.is_empty() {
            (Tint::Good, "✓", "passed")
        } else {
            (Tint::Bad, "✗", "failed")
        };
        let sign = self.screen.paint(tint, sign);
        let word = self.screen.paint(tint, word);
        self.line(format!("  {sign} {name}{gap}  {word}  {took}"));
        for warning in &played.warnings {
            let label = self.screen.paint(Tint::Attention, "warning");
            self.line(format!("      {label}: {}", clean(warning)));
        }
        for problem in &played.problems {
            self.problem(problem);
        }
        if let Some(directory) = &played.directory {
            let shown = format!("      directory: {}", escaped(directory));
            self.line(self.screen.paint(Tint::Dim, &shown));
        }
    }

    fn problem(&self, problem: &Problem) {
        let place = problem
            .place
            .as_ref()
            .map_or(String::new(), |place| format!("  {}", self.screen.paint(Tint::Dim, place)));
        let message = problem.message.lines().map(clean).collect::<Vec<_>>().join("\n      ");
        self.line(format!("      {message}{place}"));
        if let Some((expected, got)) = &problem.difference {
            for line in difference::lines(&self.screen, expected, got) {
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

    pub fn without(&self, subject: &Subject) {
        self.line("");
        let what = if is_machine(subject) {
            "each transition and each command, taken away once"
        } else {
            "each step does nothing, once"
        };
        self.line(format!("{} · {what}", subject.suite.source.name));
    }

    pub fn mutant(&self, subject: &Subject, mutant: &Mutant) {
        let program = subject.program.iter();
        let changes = program.flat_map(|program| changes(program.root()));
        let width = changes.map(|change| change.told().width()).max().unwrap_or(0).min(WIDEST);
        let what = mutant.change.told();
        let gap = " ".repeat(width.saturating_sub(what.width()));
        let (tint, sign) =
            if mutant.noticed_by.is_some() { (Tint::Good, "✓") } else { (Tint::Bad, "✗") };
        let sign = self.screen.paint(tint, sign);
        self.line(format!("  {sign} {what}{gap}  {}", clean(&told(mutant))));
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
        subjects: &[Subject],
        played: &[Vec<Option<Played>>],
        mutate: bool,
        mutants: Option<&[Vec<Mutant>]>,
    ) {
        if self.json {
            out::json(&as_json(subjects, played, mutants));
            return;
        }
        let all = played.iter().flatten().flatten();
        let failed = all.clone().filter(|p| !p.problems.is_empty()).count();
        let passed = all.count() - failed;
        let mut parts = vec![self.screen.paint(Tint::Good, &format!("{passed} passed"))];
        if failed > 0 {
            parts.push(self.screen.paint(Tint::Bad, &format!("{failed} failed")));
        }
        self.line("");
        self.line(parts.join(", "));
        let Some(mutants) = mutants else {
            if mutate {
                self.line("nothing was taken away: first all cases must pass");
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

fn told(mutant: &Mutant) -> String {
    let (without, never) = match &mutant.change {
        Change::Idle { step } => (format!("step `{step}` does nothing"), "none runs it"),
        Change::Ends { .. } => ("the run ends here".to_owned(), "none comes here"),
    };
    match (&mutant.noticed_by, mutant.ran) {
        (Some(case), _) => format!("noticed by: {case}"),
        (None, true) => format!("no case notices when {without}"),
        (None, false) => format!("no case notices when {without}: {never}"),
    }
}

fn is_machine(subject: &Subject) -> bool {
    subject.program.as_ref().is_some_and(|program| program.root().machine().is_some())
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

fn as_json(
    subjects: &[Subject],
    played: &[Vec<Option<Played>>],
    mutants: Option<&[Vec<Mutant>]>,
) -> Value {
    let mut files = Vec::new();
    for (index, (subject, played)) in subjects.iter().zip(played).enumerate() {
        let cases = subject.suite.cases.iter().zip(played);
        let cases: Vec<Value> =
            cases.filter_map(|(case, end)| Some(case_json(&case.name, end.as_ref()?))).collect();
        let name = &subject.suite.source.name;
        let mut file = json!({ "file": name, "recipe": subject.recipe(), "cases": cases });
        if let Some(mutants) = mutants {
            file["mutations"] = mutants[index].iter().map(mutant_json).collect();
        }
        files.push(file);
    }
    let all = played.iter().flatten().flatten();
    let failed = all.clone().filter(|p| !p.problems.is_empty()).count();
    let unnoticed = mutants.into_iter().flatten().flatten().filter(|m| m.noticed_by.is_none());
    json!({
        "schema": 1,
        "success": failed == 0 && unnoticed.count() == 0,
        "passed": all.count() - failed,
        "failed": failed,
        "files": files,
    })
}

fn mutant_json(mutant: &Mutant) -> Value {
    let Mutant { change, ran, noticed_by } = mutant;
    let mut object = json!({ "step": change.step(), "ran": ran, "noticed_by": noticed_by });
    if let Some(outcome) = change.outcome() {
        object["outcome"] = json!(outcome);
    }
    object
}

fn case_json(name: &str, played: &Played) -> Value {
    let problems: Vec<Value> = played.problems.iter().map(Problem::json).collect();
    let mut case = json!({
        "name": name,
        "status": if problems.is_empty() { "passed" } else { "failed" },
        "duration": played.took.as_millis() as f64 / 1000.0,
        "problems": problems,
    });
    if !played.warnings.is_empty() {
        case["warnings"] = json!(played.warnings);
    }
    if let Some(directory) = &played.directory {
        case["directory"] = json!(directory.to_string_lossy());
    }
    case
}
