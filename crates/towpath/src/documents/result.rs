//! Where a rendered document goes: standard output, a file, or a comparison.

use super::render::Writes;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::files;
use crate::terminal::out;
use crate::terminal::table::{Screen, Tint, escaped};
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much longer than a screen a difference may be.
const MOST_LINES: usize = 500;

pub fn write(env: &Environment, writes: &Writes, bytes: &[u8]) -> Result<Exit, CommandError> {
    match writes {
        Writes::Stdout => {
            out::stdout(bytes);
            Ok(Exit::Done)
        }
        Writes::File(path) => {
            let full = target(env, path);
            let failed = |error| CommandError::setup(format!("{}: {error}", escaped(path)));
            let same = std::fs::read(&full).is_ok_and(|before| before == bytes);
            if !same {
                files::write(&full, bytes).map_err(failed)?;
            }
            Ok(Exit::Done)
        }
        Writes::Check(path) => check(env, path, bytes),
    }
}

/// The file itself, where the path is a link to it.
fn target(env: &Environment, path: &Path) -> PathBuf {
    let full = env.current.join(path);
    full.canonicalize().unwrap_or(full)
}

fn check(env: &Environment, path: &Path, bytes: &[u8]) -> Result<Exit, CommandError> {
    let full = env.current.join(path);
    let before = match std::fs::read(&full) {
        Ok(before) => before,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(CommandError::bad_input(format!("{}: {error}", escaped(path)))),
    };
    if before == bytes {
        return Ok(Exit::Done);
    }
    print_difference(env, path, &before, bytes);
    out::note(format!("{} is not what the document gives now", escaped(path)));
    Ok(Exit::Failed)
}

fn print_difference(env: &Environment, path: &Path, before: &[u8], after: &[u8]) {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let diff = TextDiff::configure()
        // Two texts with nothing in common must not take forever.
        .timeout(Duration::from_secs(1))
        .diff_lines(before.as_ref(), after.as_ref());
    let name = escaped(path);
    let text = diff.unified_diff().header(&name, &format!("{name} (rendered)")).to_string();
    let screen = Screen { color: env.color && env.stdout_terminal, ..Screen::new(env) };
    let mut lines = text.lines();
    for line in lines.by_ref().take(MOST_LINES) {
        let tint = match line.as_bytes().first() {
            Some(b'+') => Tint::Good,
            Some(b'-') => Tint::Bad,
            Some(b'@') => Tint::Dim,
            _ => Tint::None,
        };
        out::line(screen.paint(tint, line));
    }
    let more = lines.count();
    if more > 0 {
        out::line(format!("… {more} more lines"));
    }
}
