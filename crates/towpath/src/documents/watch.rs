//! `--watch`: renders a document again whenever it, or a file that it reads, has changed. The files are
//! looked at several times a second: there are few of them, and every file system can do that.

use super::render::Rendering;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(150);

/// What a file was when it was looked at; `None`: it was not there.
pub type Stamp = Option<(u64, u64, i64, i64)>;

pub fn watch(mut rendering: Rendering<'_>) -> Result<Exit, CommandError> {
    let Some(file) = rendering.entry().path.clone() else {
        return Err(CommandError::bad_input("--watch needs a file: standard input ends"));
    };
    rendering.open()?;
    let entry = rendering.entry().directory.join(file.file_name().unwrap_or_default());
    loop {
        // An edit that is made while commands run is a change too.
        let before = stamp(&entry);
        let exit = match rendering.render() {
            Ok(exit @ (Exit::Hangup | Exit::Interrupted | Exit::Terminated)) => Some(exit),
            Ok(_) => None,
            Err(error) => {
                if !error.shown {
                    out::note(format!("error: {}", error.message));
                }
                None
            }
        };
        let name = rendering.entry().name();
        out::note(format!("watching {name}: Ctrl-C ends it"));
        let read = rendering.files.take_read().into_iter().map(|file| (file.path, file.stamp));
        let stamps = read.chain([(entry.clone(), before)]).collect();
        let exit = exit.or_else(|| wait_for_change(&rendering, &stamps));
        if let Some(exit) = exit {
            rendering.close()?;
            return Ok(exit);
        }
    }
}

/// Returns when a file has changed, or with the exit of a stop.
fn wait_for_change(rendering: &Rendering<'_>, stamps: &BTreeMap<PathBuf, Stamp>) -> Option<Exit> {
    loop {
        std::thread::sleep(LOOK);
        if let Some(exit) = rendering.stopped() {
            return Some(exit);
        }
        if stamps.iter().any(|(file, before)| stamp(file) != *before) {
            // An editor may write in several steps.
            std::thread::sleep(LOOK);
            return None;
        }
    }
}

pub fn stamp(file: &Path) -> Stamp {
    let stamped = |found: Metadata| (found.ino(), found.size(), found.mtime(), found.mtime_nsec());
    std::fs::metadata(file).ok().map(stamped)
}
