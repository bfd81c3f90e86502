//! The block at the bottom of the screen: one line per step, then how it goes. It is never wider
//! than the terminal and never higher; what does not fit is counted, not shown.

use super::fit_text::{fitted, one_line, shortened, width};
use super::step_status_board::{Board, Entered, Row, State};
use super::styled_line::{Line, Tone};
use crate::terminal::format::{count, duration};
use towpath_run::StepKind;

/// Steps that are shown by tallies around them need this much room to be of use.
const ENOUGH_STEPS: usize = 4;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// What changes from drawing to drawing without any event.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub columns: usize,
    pub rows: usize,
    pub now_ms: i64,
}

/// The steps, how it goes, and in between the lines that are being written right now.
pub fn block(board: &Board, open: Vec<Line>, moment: Moment) -> Vec<Line> {
    // The last column stays free: a terminal may wrap when it is written.
    let columns = moment.columns.saturating_sub(1);
    // One row above the block shows that there is something above it.
    let room = moment.rows.saturating_sub(1);
    let mut lines: Vec<Line> = open.into_iter().map(|line| line.cut(columns)).collect();
    lines.truncate(room.saturating_sub(8).min(4));
    let left = room.saturating_sub(lines.len());
    let above = left.saturating_sub(3);
    if above >= 2 && board.rows.len().min(ENOUGH_STEPS) <= above {
        lines.push(Line::new());
        lines.extend(steps(board, above, columns, moment.now_ms));
        lines.push(Line::new());
        lines.push(footer(board, columns));
        return lines;
    }
    // Where there is no room for the steps, what runs is named, and before anything else.
    let running = at_work(&board.rows);
    let named = running.iter().take(left.saturating_sub(1).max(1));
    lines.extend(named.map(|row| alone(row, columns, moment.now_ms)));
    if lines.len() < room || running.is_empty() {
        lines.push(footer(board, columns));
    }
    lines
}

/// The rows of the steps that do something themselves, those of called recipes too.
fn at_work(rows: &[Row]) -> Vec<&Row> {
    let within = |row| -> Vec<&Row> {
        let row: &Row = row;
        let below = at_work(&row.children);
        let itself = row.state == State::Running && below.is_empty();
        if itself { vec![row] } else { below }
    };
    rows.iter().flat_map(within).collect()
}

/// A step by its path, without the others of its recipe around it; by its name where that is too long.
fn alone(row: &Row, columns: usize, now_ms: i64) -> Line {
    let path = one_line(row.path.as_str());
    let name = if width(&path) + 4 <= columns { &path } else { &row.name };
    let time = time(row, now_ms).unwrap_or_default();
    let (symbol, tone) = sign(&row.state, now_ms);
    let line = Line::plain("  ").with(tone, symbol).text(format!(" {name}  {time}  "));
    let note = fitted(&running(row, now_ms), columns.saturating_sub(line.width()));
    line.text(note).cut(columns)
}

/// The steps alone, as they stay on the screen when the run has ended.
pub fn steps(board: &Board, room: usize, columns: usize, now_ms: i64) -> Vec<Line> {
    let shown = choose(board, room);
    let name = board.rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
    let time = board.rows.iter().filter_map(|row| time(row, now_ms)).map(|t| width(&t)).max();
    let name = name.min(columns * 2 / 5);
    let layout = Layout { name, time: time.unwrap_or(0), columns, now_ms };
    let mut lines = Vec::new();
    let hidden = |over: bool| {
        let rows = board.rows.iter().zip(&shown);
        rows.filter(move |(row, shown)| !**shown && row.state.is_over() == over).map(|(row, _)| row)
    };
    let before = tally(hidden(true), "earlier");
    let after = tally(hidden(false), "more");
    lines.extend(before);
    let visible = board.rows.iter().zip(&shown).filter(|(_, shown)| **shown);
    lines.extend(visible.map(|(row, _)| layout.line(row)));
    lines.extend(after);
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

/// Which rows are shown where not all can be: first what runs, then what failed, then what comes
/// next, then what ended last.
fn choose(board: &Board, room: usize) -> Vec<bool> {
    let count = board.rows.len();
    if count <= room {
        return vec![true; count];
    }
    let room = room.saturating_sub(2);
    let calm = |state: &State| {
        matches!(state, State::Pending | State::Done | State::Skipped { .. } | State::NotReached)
    };
    let rows = || board.rows.iter().enumerate();
    let running = rows().filter(|(_, row)| row.state == State::Running);
    let urgent = running.chain(rows().filter(|(_, row)| !calm(&row.state)));
    let next = rows().filter(|(_, row)| row.state == State::Pending);
    let over = rows().rev().filter(|(_, row)| calm(&row.state) && row.state.is_over());
    let soon = next.clone().take(room / 2);
    let order = urgent.chain(soon).chain(over).chain(next).map(|(index, _)| index);
    let mut shown = vec![false; count];
    let mut left = room;
    for index in order {
        if left > 0 && !shown[index] {
            shown[index] = true;
            left -= 1;
        }
    }
    shown
}

/// One line for the rows that are not shown.
fn tally<'a>(rows: impl Iterator<Item = &'a Row>, word: &str) -> Option<Line> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        let word = plural(&row.state);
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    if total == 0 {
        return None;
    }
    let parts: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    Some(Line::plain("  ").with(Tone::Faint, format!("… {total} {word}: {}", parts.join(", "))))
}

fn plural(state: &State) -> &'static str {
    match state {
        State::Pending => "to come",
        State::Running => "running",
        State::Done => "done",
        State::Trouble => "done with trouble",
        State::Odd { .. } => "done, see above",
        State::Skipped { .. } => "skipped",
        State::Failed { .. } => "failed",
        State::Tolerated { .. } => "failed, tolerated",
        State::Stopped => "stopped",
        State::Interrupted => "interrupted",
        State::Waiting => "waiting",
        State::Asking => "to be decided",
        State::NotReached => "not reached",
    }
}

struct Layout {
    name: usize,
    time: usize,
    columns: usize,
    now_ms: i64,
}

impl Layout {
    fn line(&self, row: &Row) -> Line {
        let (symbol, tone) = sign(&row.state, self.now_ms);
        let faint = matches!(row.state, State::Pending | State::NotReached);
        let name_tone = if faint { Tone::Faint } else { Tone::Plain };
        let name = shortened(&row.name, self.name);
        let time = time(row, self.now_ms).unwrap_or_default();
        let note = note(row, self.now_ms);
        let line = Line::plain("  ").with(tone, symbol).text(" ").with(name_tone, name.clone());
        if time.is_empty() && note.is_empty() {
            return line;
        }
        let gap = " ".repeat(self.name - width(&name) + 2 + self.time - width(&time));
        let note_tone = match row.state {
            State::Failed { .. } => Tone::Bad,
            State::Odd { .. }
            | State::Trouble
            | State::Tolerated { .. }
            | State::Waiting
            | State::Asking => Tone::Attention,
            State::Running if row.silence(self.now_ms).is_some() => Tone::Attention,
            State::Running => Tone::Plain,
            _ => Tone::Faint,
        };
        let line = line.text(format!("{gap}{time}  "));
        let room = self.columns.saturating_sub(line.width());
        line.with(note_tone, fitted(&note, room))
    }
}

fn sign(state: &State, now_ms: i64) -> (&'static str, Tone) {
    match state {
        State::Running => {
            let frame = usize::try_from(now_ms / 100).unwrap_or(0) % SPINNER.len();
            (SPINNER[frame], Tone::Strong)
        }
        State::Done => ("✓", Tone::Good),
        State::Odd { .. } => ("✓", Tone::Attention),
        State::Failed { .. } => ("✗", Tone::Bad),
        State::Trouble | State::Tolerated { .. } | State::Stopped | State::Interrupted => {
            ("!", Tone::Attention)
        }
        State::Waiting | State::Asking => ("?", Tone::Attention),
        State::Pending | State::Skipped { .. } | State::NotReached => ("·", Tone::Faint),
    }
}

fn time(row: &Row, now_ms: i64) -> Option<String> {
    match row.state {
        // Tenths would only flicker.
        State::Running => {
            let seconds = (now_ms - row.since_ms).max(0) / 1000;
            Some(if seconds < 10 { format!("{seconds} s") } else { duration(seconds * 1000) })
        }
        _ => row.took_ms.map(duration),
    }
}

/// What is shown of a step beside its time. Never empty for a step that has begun, so that the
/// sign before it does not carry the meaning alone.
fn note(row: &Row, now_ms: i64) -> String {
    let own = match &row.state {
        State::Pending => String::new(),
        State::Running => running(row, now_ms),
        State::Done | State::Trouble => row.report.clone().unwrap_or_else(|| "done".to_owned()),
        State::Odd { note } => note.clone(),
        State::Skipped { reason } => format!("skipped: {reason}"),
        State::Failed { message } => format!("failed: {message}"),
        State::Tolerated { message } => format!("failed, tolerated: {message}"),
        State::Stopped => "stopped".to_owned(),
        State::Interrupted => "interrupted".to_owned(),
        State::Waiting => "waits for a limit to end".to_owned(),
        State::Asking => "needs your decision".to_owned(),
        State::NotReached => "not reached".to_owned(),
    };
    let unknown = row.called == 0 && row.children.is_empty();
    if row.kind != StepKind::Recipe || unknown || row.state == State::Pending {
        return own;
    }
    let (over, skipped) = row.children_over();
    let mut steps = match row.called {
        0 => count(over - skipped, "step"),
        called => format!("{} of {}", over - skipped, count(called, "step")),
    };
    if skipped > 0 {
        steps.push_str(&format!(", {skipped} skipped"));
    }
    match &row.state {
        State::Done if row.report.is_none() => steps,
        State::Running => {
            let inner = inner(row, now_ms);
            if inner.is_empty() { steps } else { format!("{steps} · {inner}") }
        }
        State::Skipped { .. } => own,
        _ => format!("{own} · {steps}"),
    }
}

/// What a step does, and before it, since a line is cut at its end, which visit it is of how many and
/// for how long it has been silent.
fn running(row: &Row, now_ms: i64) -> String {
    let visit = row.visit.map(|(visit, most)| format!("visit {visit}/{most}"));
    let doing = Some(row.doing.clone()).filter(|doing| !doing.is_empty());
    let parts: Vec<String> = visit.into_iter().chain(row.silence(now_ms)).chain(doing).collect();
    if parts.is_empty() { "running".to_owned() } else { parts.join(" · ") }
}

/// The running steps of a called recipe; of a single one also what it does.
fn inner(row: &Row, now_ms: i64) -> String {
    let running: Vec<&Row> =
        row.children.iter().filter(|child| child.state == State::Running).collect();
    match running.as_slice() {
        [one] => match note(one, now_ms).as_str() {
            "running" => one.name.clone(),
            note => format!("{}: {note}", one.name),
        },
        many => many.iter().map(|child| child.name.as_str()).collect::<Vec<_>>().join(", "),
    }
}

/// `2 running · 1 of 6 done · $0.31 · Ctrl-C stops, keeps everything`; of a machine, which visits its
/// steps one at a time, `visit 2/3 · step 3, at most 6`.
fn footer(board: &Board, columns: usize) -> Line {
    let mut parts = match &board.machine {
        Some(Entered { visit: (visit, visits), steps: (step, steps) }) => {
            vec![format!("visit {visit}/{visits}"), format!("step {step}, at most {steps}")]
        }
        None => vec![
            format!("{} running", board.running().len()),
            format!("{} of {} done", board.done(), board.rows.len()),
        ],
    };
    parts.extend(board.cost.text());
    let text = format!("  {}", parts.join(" · "));
    let hints = [" · Ctrl-C stops, keeps everything", " · Ctrl-C stops", ""];
    // The terminal itself writes `^C` behind the last line.
    let fits = |hint: &&&str| width(&text) + width(hint) + 2 <= columns;
    let hint = hints.iter().find(fits).copied().unwrap_or("");
    Line::plain(text).with(Tone::Faint, hint).cut(columns)
}
