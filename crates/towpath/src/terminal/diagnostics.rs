//! Draws diagnostics: each with its location, cut to the terminal's width, and no more of them than a
//! user reads.

mod excerpt;

use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::wrap::wrap;
use codespan_reporting::diagnostic::{Diagnostic as Drawn, Label as DrawnLabel};
use codespan_reporting::term::{self, Config};
use excerpt::Excerpts;
use towpath_core::{Diagnostic, Hint, Severity};
use towpath_shell::bash::quote;

/// The width where there is no terminal.
const USUAL_WIDTH: usize = 80;
/// How many problems are drawn.
const MOST: usize = 50;

/// How problems are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    pub color: bool,
    /// None: it is not known.
    pub width: Option<usize>,
}

/// The longest word that a message follows.
const SEVERITY: &str = "warning: ";
/// The columns before a note: numbers of lines, and the sign of a note.
const BEFORE_NOTES: usize = 8;

impl Style {
    /// A text that follows a first word, wrapped where the width is known.
    fn wrapped(self, first: &str, text: &str, indent: usize) -> String {
        let Some(width) = self.width else { return text.to_owned() };
        let wrapped = wrap(&format!("{first}{text}"), width.saturating_sub(indent));
        wrapped.strip_prefix(first).map_or(text.to_owned(), str::to_owned)
    }
}

/// Draws problems to stderr, each with its location.
pub fn draw(problems: &[Diagnostic], color: bool) {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    let width = size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    out::message(&render(problems, Style { color, width }));
}

/// Draws what is wrong with a file. The error has the first problem and its location, for `--json`.
pub fn refuse_file(
    problems: &[Diagnostic],
    color: bool,
    exit: Exit,
    kind: ErrorKind,
) -> CommandError {
    draw(problems, color);
    let message = problems.first().map_or(String::new(), |problem| {
        let location = problem.labels.first().map(|label| {
            let (line, column) = label.source.line_column(label.span.start);
            format!("{}:{line}:{column}: ", label.source.name)
        });
        format!("{}{}", location.unwrap_or_default(), problem.message)
    });
    CommandError { shown: true, ..CommandError::new(exit, kind, message) }
}

/// Problems as text: of hundreds the first ones, errors before all others.
pub fn render(problems: &[Diagnostic], style: Style) -> String {
    let mut order: Vec<usize> = (0..problems.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(problems[*at].severity));
    let more = order.split_off(order.len().min(MOST)).len();
    order.sort_unstable();
    let mut text: String = order.into_iter().map(|at| one(&problems[at], style)).collect();
    if more > 0 {
        text.push_str(&format!("{}: --json lists all of them\n\n", count(more, "more problem")));
    }
    text
}

fn one(problem: &Diagnostic, style: Style) -> String {
    let files = Excerpts::of(&problem.labels, style.width.unwrap_or(USUAL_WIDTH));
    let labels = problem.labels.iter().enumerate().map(|(index, label)| {
        let (file, range) = files.locate(label);
        let drawn = match index {
            0 => DrawnLabel::primary(file, range),
            _ => DrawnLabel::secondary(file, range),
        };
        drawn.with_message(plain(&label.text))
    });
    let drawn = match problem.severity {
        Severity::Error => Drawn::error(),
        Severity::Warning => Drawn::warning(),
        Severity::Note => Drawn::note(),
    };
    let helps = help(problem);
    let notes = helps.iter().map(|help| style.wrapped("help: ", &plain(help), BEFORE_NOTES));
    let notes = notes.map(|help| format!("help: {help}")).collect();
    let message = style.wrapped(SEVERITY, &plain(&problem.message), 0);
    let drawn = drawn.with_message(&message).with_labels(labels.collect()).with_notes(notes);
    let config = Config::default();
    let result = if style.color {
        let mut buffer = term::termcolor::Buffer::ansi();
        term::emit_to_write_style(&mut buffer, &config, &files, &drawn)
            .map(|()| String::from_utf8_lossy(buffer.as_slice()).into_owned())
    } else {
        term::emit_into_string(&config, &files, &drawn)
    };
    result.unwrap_or_else(|_| format!("{message}\n"))
}

/// What to do next, with the flags of this program.
fn help(problem: &Diagnostic) -> Option<String> {
    let Some(hint) = &problem.hint else { return problem.help.clone() };
    let help = problem.help.as_deref();
    let or = |flags: String| help.map_or(flags.clone(), |help| format!("{help}, or {flags}"));
    let of = |flag: &str| format!("{flag}: {}", help.unwrap_or_default());
    Some(match hint {
        Hint::BoundRestarts => or("--max-restarts N does".to_owned()),
        Hint::GiveValues(names) => {
            let sets: Vec<String> = names.iter().map(|name| format!("--set {name}=…")).collect();
            or(format!("give {}", sets.join(" ")))
        }
        Hint::RenderDocument => {
            format!("to render it: towpath render {}", quote(help.unwrap_or_default()))
        }
        Hint::IncludedTag => of("--include-tags"),
        Hint::ExcludedTag => of("--exclude-tags"),
    })
}

/// Text that may contain foreign text, in as many lines as it has.
fn plain(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// `1 error, 2 warnings in build.yaml. Nothing was run.`
pub fn tally(problems: &[Diagnostic], name: &str) -> String {
    let number = |severity| problems.iter().filter(|p| p.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let notes = number(Severity::Note);
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    if notes > 0 {
        parts.push(count(notes, "note"));
    }
    let what = if parts.is_empty() { "no problems".to_owned() } else { parts.join(", ") };
    let ran = if errors > 0 { ". Nothing was run." } else { "" };
    format!("{what} in {name}{ran}")
}

/// Whether recipes are valid, and all that is wrong with them, for other programs.
pub fn verdict_json<'a>(
    valid: bool,
    problems: impl Iterator<Item = &'a Diagnostic>,
) -> serde_json::Value {
    let problems: Vec<serde_json::Value> = problems.map(problem_json).collect();
    serde_json::json!({ "schema": 1, "valid": valid, "problems": problems })
}

/// A problem for other programs.
pub fn problem_json(problem: &Diagnostic) -> serde_json::Value {
    towpath_view::problem_json(&with_flags(problem))
}

/// The same problem with its hint written out, for what knows nothing of our flags.
pub fn with_flags(problem: &Diagnostic) -> Diagnostic {
    Diagnostic { help: help(problem), hint: None, ..problem.clone() }
}
