//! Where a rendered document goes: standard output, a file, or a comparison.

use super::render::Writes;
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::trust::visible;
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use similar::TextDiff;
use std::fs::Metadata;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_core::files;
use towpath_view::foreign_text::escaped;

/// The most bytes of a file that is compared.
const MOST_COMPARED: u64 = 256 << 20;
/// How much longer than a screen a difference may be.
const MOST_LINES: usize = 500;

/// `before`: the document that was rendered.
pub fn write(
    env: &Environment,
    writes: &Writes,
    before: &[u8],
    bytes: &[u8],
) -> Result<Exit, CommandError> {
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
            let same_size = found.as_ref().is_some_and(|found| found.len() == bytes.len() as u64);
            if !(same_size && std::fs::read(&full).is_ok_and(|before| before == bytes)) {
                refuse_read_only(&full, found.as_ref()).map_err(failed)?;
                files::write(&full, bytes).map_err(failed)?;
            }
            Ok(Exit::Done)
        }
        Writes::Regions(path) => {
            let full = target(env, path);
            let failed = |error| CommandError::setup(format!("{}: {error}", escaped(path)));
            if before != bytes {
                refuse_read_only(&full, std::fs::metadata(&full).ok().as_ref()).map_err(failed)?;
                let replaced = files::replace_unchanged(&full, before, bytes).map_err(failed)?;
                if !replaced {
                    let name = escaped(path);
                    return Err(CommandError::new(
                        Exit::Failed,
                        ErrorKind::InUse,
                        format!("{name} changed while its commands ran: nothing was written"),
                    ));
                }
            }
            Ok(Exit::Done)
        }
        Writes::Check(path) => check(env, path, bytes),
    }
}

/// A file that nobody may write to is not replaced, though its directory would allow it.
fn refuse_read_only(path: &Path, found: Option<&Metadata>) -> std::io::Result<()> {
    let Some(found) = found else { return Ok(()) };
    if found.permissions().readonly() {
        return Err(std::io::Error::other("it is read-only"));
    }
    Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?)
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
