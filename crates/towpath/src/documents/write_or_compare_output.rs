//! Where a rendered document goes: standard output, a file, or a comparison.

use super::render::Writes;
use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::files;
use crate::session::trust::visible;
use crate::terminal::out;
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use similar::TextDiff;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_view::foreign_text::escaped;

/// The most bytes of a file that is compared.
const MOST_COMPARED: u64 = 256 << 20;
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
            let found = std::fs::metadata(&full).ok();
            // A pipe or a terminal is written to; it has no contents to replace.
            if found.as_ref().is_some_and(|found| !found.is_file() && !found.is_dir()) {
                std::fs::OpenOptions::new()
                    .write(true)
                    .open(&full)
                    .and_then(|mut file| file.write_all(bytes))
                    .map_err(failed)?;
                return Ok(Exit::Done);
            }
            let same_size = found.is_some_and(|found| found.len() == bytes.len() as u64);
            if !(same_size && std::fs::read(&full).is_ok_and(|before| before == bytes)) {
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
    let before = match files::read_regular(&full, MOST_COMPARED) {
        Ok(before) => Some(before),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(CommandError::bad_input(format!("{}: {error}", escaped(path)))),
    };
    if before.as_deref() == Some(bytes) {
        return Ok(Exit::Done);
    }
    print_difference(env, path, before.as_deref().unwrap_or_default(), bytes);
    out::note(match before {
        Some(_) => format!("{} is not what the document gives now", escaped(path)),
        None => format!("{} does not exist", escaped(path)),
    });
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
    let screen = Screen::new(env);
    let mut lines = text.split_terminator('\n');
    for line in lines.by_ref().take(MOST_LINES) {
        let tint = match line.as_bytes().first() {
            Some(b'+') => Tint::Good,
            Some(b'-') => Tint::Bad,
            Some(b'@') => Tint::Dim,
            _ => Tint::None,
        };
        out::line(screen.paint(tint, &visible(line)));
    }
    let more = lines.count();
    if more > 0 {
        out::line(format!("… {more} more lines"));
    }
}
