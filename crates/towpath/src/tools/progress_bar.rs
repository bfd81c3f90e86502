//! Progress of downloads and builds: on a terminal one line that changes, elsewhere a line now and then.

use super::report::shown_time;
use crate::environment::Environment;
use crate::terminal::format::{bytes, clean};
use crate::terminal::out;
use crate::terminal::screen::cut;
use std::time::{Duration, Instant};
use towpath_tool::sources::{Progress, Unit};

const BAR: usize = 24;
/// How often the line is drawn at most.
const DRAWN_EVERY: Duration = Duration::from_millis(80);
/// How often work that takes long is mentioned where there is no terminal.
const MENTIONED_EVERY: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct ProgressBar {
    terminal: bool,
    shown: bool,
    phase: String,
    detail: String,
    began: Instant,
    last: Option<Instant>,
    on_screen: bool,
}

impl ProgressBar {
    pub fn new(env: &Environment, shown: bool) -> ProgressBar {
        let (phase, detail, began) = (String::new(), String::new(), Instant::now());
        let terminal = env.stderr_terminal;
        ProgressBar { terminal, shown, phase, detail, began, last: None, on_screen: false }
    }

    pub fn clear(&mut self) {
        if std::mem::take(&mut self.on_screen) {
            out::message("\r\u{1b}[K");
        }
    }

    fn draw(&mut self, amount: &str) {
        if !self.shown || self.phase.is_empty() {
            return;
        }
        let every = if self.terminal { DRAWN_EVERY } else { MENTIONED_EVERY };
        let since = self.last.unwrap_or(self.began);
        let first = self.terminal && self.last.is_none();
        if !first && since.elapsed() < every {
            return;
        }
        self.last = Some(Instant::now());
        let time = shown_time(self.began.elapsed().as_millis());
        if !self.terminal {
            out::note(format!("  {}  {amount}{} · {time}", self.phase, self.detail));
            return;
        }
        let width = terminal_width();
        let line = format!("  {:<9} {amount}{}", self.phase, self.detail);
        let time = format!(" · {time}");
        let line = cut(&line, width - 1 - time.chars().count());
        out::message(&format!("\r\u{1b}[K{line}{time}"));
        self.on_screen = true;
    }
}

fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stderr()).ok();
    size.map_or(80, |size| usize::from(size.ws_col)).max(20)
}

/// Columns that are left for the bar: numbers come first.
fn bar_width(terminal_width: usize) -> usize {
    BAR.min(terminal_width.saturating_sub(44))
}

/// `━━━━╸━━━  38/52  `, or the amount alone where the whole is not known.
fn amount_text(done: u64, total: Option<u64>, unit: Unit, width: usize) -> String {
    let text = |number: u64| match unit {
        Unit::Bytes => bytes(number),
        Unit::Items => number.to_string(),
    };
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{}  ", text(done));
    };
    let filled = (done.min(total) as usize * width) / total as usize;
    let head = if filled < width { "╸" } else { "" };
    let rest = "─".repeat(width.saturating_sub(filled + 1));
    let bar = format!("{}{head}{rest}", "━".repeat(filled));
    let space = if bar.is_empty() { "" } else { "  " };
    format!("{bar}{space}{}/{}  ", text(done), text(total))
}

impl Progress for ProgressBar {
    fn phase(&mut self, what: &str) {
        self.clear();
        self.phase = clean(what);
        self.detail.clear();
        self.began = Instant::now();
        self.last = None;
        self.draw("");
    }

    fn amount(&mut self, done: u64, total: Option<u64>, unit: Unit) {
        let amount = amount_text(done, total, unit, bar_width(terminal_width()));
        self.draw(&amount);
    }

    fn line(&mut self, text: &str) {
        self.detail = clean(text);
        self.draw("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_gets_the_numbers_without_the_bar() {
        let amount = |columns| amount_text(38, Some(52), Unit::Items, bar_width(columns));
        assert_eq!(amount(40), "38/52  ");
        assert_eq!(amount(50), "━━━━╸─  38/52  ");
        assert_eq!(amount(80).chars().filter(|c| "━╸─".contains(*c)).count(), BAR);
    }
}
