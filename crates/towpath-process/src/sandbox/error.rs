//! Why a sandbox could not be used. How a command ended is no error: that is `EndStatus`.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("`{}` cannot be made visible in a sandbox: {source}", path.display())]
    Path { path: PathBuf, source: io::Error },
    #[error("cannot start `{}` for the sandbox: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("{doing}: {source}")]
    System { doing: &'static str, source: io::Error },
    /// The mechanism itself refused; `reason` is its own message.
    #[error("the sandbox ({confinement}) cannot be set up: {reason}")]
    Setup { confinement: &'static str, reason: String },
    #[error("the command cannot be run in the sandbox: {reason}")]
    Command { reason: String },
    /// The sandbox has ended by itself, and with it everything in it.
    #[error("the sandbox ended before it had answered{detail}")]
    Gone { detail: String },
    #[error("the sandbox gave an answer that cannot be true")]
    Garbled,
    #[error("the sandbox did not answer in time, and was ended")]
    Silent,
    #[error("the sandbox is closed after an earlier failure")]
    Closed,
}

impl SandboxError {
    pub(super) fn system(
        doing: &'static str,
    ) -> impl FnOnce(rustix::io::Errno) -> SandboxError + Copy {
        move |errno| SandboxError::System { doing, source: errno.into() }
    }
}
