//! What went wrong inside of a hook: one line each, which `doctor` shows. A hook that fails lets the
//! call run, so nobody would notice it otherwise.

use crate::terminal::format::{clean, now_ms, rfc3339};
use std::fs;
use std::io::Write as _;
use towpath_corrections::hooks_directory::HooksDirectory;

const ERRORS: &str = "errors.log";
/// Of a log that has grown longer than this, the newer half stays.
const MOST: u64 = 64 << 10;
/// One message is not longer than this.
const MOST_MESSAGE: usize = 500;

/// Records a failure. Where even that fails, there is nothing left to do.
pub fn record(directory: &HooksDirectory, what: &str, message: &str) {
    let message: String = clean(message).chars().take(MOST_MESSAGE).collect();
    let line = format!("{} {what}: {message}\n", rfc3339(now_ms()));
    let Ok(mut file) = directory.append(ERRORS) else { return };
    let _ = file.write_all(line.as_bytes());
    if file.metadata().is_ok_and(|file| file.len() > MOST) {
        let lines = recent(directory);
        let newer = lines[lines.len() / 2..].iter().map(|line| format!("{line}\n"));
        let _ = directory.replace(ERRORS, newer.collect::<String>().as_bytes());
    }
}

/// The lines of the log, the oldest first.
pub fn recent(directory: &HooksDirectory) -> Vec<String> {
    let bytes = fs::read(directory.file(ERRORS)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded_and_keeps_the_newest() {
        let state = tempfile::tempdir().expect("a directory");
        let directory = HooksDirectory::of(state.path());
        assert!(recent(&directory).is_empty());
        for number in 0..400 {
            record(&directory, "pre codex", &format!("{number} {}", "x\n".repeat(1_000)));
        }
        let lines = recent(&directory);
        let length: usize = lines.iter().map(String::len).sum();
        assert!(length as u64 <= MOST + 1_000 && lines.len() > 20, "{length} in {}", lines.len());
        assert!(lines.last().is_some_and(|line| line.contains(" pre codex: 399 x")));
        assert!(lines.iter().all(|line| line.contains("pre codex")));
    }
}
