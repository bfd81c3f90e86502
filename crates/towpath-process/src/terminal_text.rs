//! What a warden writes to a terminal when its engine is gone, such as the sequence that shows the cursor
//! again: the engine itself can be killed without a chance to write it.

use rustix::fs::{Mode, OFlags, open};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalText {
    /// The terminal's device.
    pub device: PathBuf,
    pub text: String,
}

impl TerminalText {
    /// Writes it if the terminal takes it at once: one that is gone or stopped is left as it is.
    pub(crate) fn write(&self) {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if let Ok(device) = open(&self.device, flags, Mode::empty())
            && rustix::termios::isatty(&device)
        {
            let _ = rustix::io::write(&device, self.text.as_bytes());
        }
    }
}
