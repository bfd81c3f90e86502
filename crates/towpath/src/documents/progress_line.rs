//! What a user sees while the commands of a document run: on a terminal one line with which and
//! how long, otherwise a line now and then for one that takes long.

use crate::environment::Environment;
use crate::terminal::format::{clean, duration};
use crate::terminal::out;
use crate::terminal::screen::cut;
use std::time::{Duration, Instant};
use towpath_document::Command;
use towpath_engine::RenderReporter;

/// A command that ends sooner is not shown.
const SHOWN_AFTER: Duration = Duration::from_millis(500);
/// How often a command is mentioned that runs for long where there is no terminal.
const MENTIONED_EVERY: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct ProgressLine {
    terminal: bool,
    verbose: bool,
    running: Option<Running>,
    /// The line is on the screen.
    drawn: bool,
}

#[derive(Debug)]
struct Running {
    what: String,
    began: Instant,
    mentioned: Instant,
}

impl ProgressLine {
    pub fn new(env: &Environment, verbose: bool) -> ProgressLine {
        ProgressLine { terminal: env.stderr_terminal, verbose, running: None, drawn: false }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            out::message("\r\u{1b}[K");
        }
    }
}

impl RenderReporter for ProgressLine {
    fn command_started(&mut self, command: &Command) {
        if self.verbose {
            out::message(&described(command));
        }
        let what = command.shown.lines().next().unwrap_or_default();
        let what = format!("line {}: {}", command.line, clean(what));
        let now = Instant::now();
        self.running = Some(Running { what, began: now, mentioned: now });
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.clear();
        out::stderr(bytes);
    }

    fn command_ended(&mut self, _: &Command, _: Duration) {
        self.clear();
        self.running = None;
    }

    fn tick(&mut self) {
        let Some(running) = &mut self.running else { return };
        let took = running.began.elapsed();
        let time = format!(" · {}", duration(took.as_millis() as i64));
        if !self.terminal {
            if running.mentioned.elapsed() >= MENTIONED_EVERY {
                running.mentioned = Instant::now();
                out::note(format!("{}{time}", running.what));
            }
            return;
        }
        if took >= SHOWN_AFTER {
            let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
            let width = size.map_or(80, |size| usize::from(size.ws_col)).max(40);
            // The time is what changes: a narrow terminal cuts the command.
            let what = cut(&running.what, width - 1 - time.chars().count());
            out::message(&format!("\r\u{1b}[K{what}{time}"));
            self.drawn = true;
        }
    }
}

/// `-v`: the definition, the parameters, and the command as it runs.
fn described(command: &Command) -> String {
    let mut text = format!("{}:{}\n", command.file, command.line);
    if let (Some(name), Some(definition)) = (&command.name, &command.definition) {
        text.push_str(&format!("  definition  ${name} = {}\n", clean(definition)));
        for (name, value) in &command.parameters {
            text.push_str(&format!("  parameter   {name} = {}\n", clean(value)));
        }
    }
    for (index, line) in command.shown.lines().enumerate() {
        let title = if index == 0 { "command" } else { "" };
        text.push_str(&format!("  {title:<10}  {}\n", clean(line)));
    }
    text
}
