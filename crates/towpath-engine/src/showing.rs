//! What a job prints, on its way to the reporter. A reader that is slow is given what it takes, and is
//! never waited for.

use crate::event::{Event, Reporter, Stream};
use crate::files::Files;
use towpath_core::{JobKey, StepPath};
use towpath_process::Follow;

/// A job's output on its way to the reporter. The files may be gone from the directory before
/// everything is shown; they are open here.
pub(crate) struct Showing {
    step: StepPath,
    /// A hook's output is no step's output, and an agent's is read by its backend.
    hook: bool,
    /// What our own git says is for us alone.
    ours: bool,
    agent: bool,
    /// It may be that this is as if it had never been said. It is shown when that is known.
    held: bool,
    stdout: Option<Follow>,
    stderr: Option<Follow>,
}

/// How much of what was new a reporter has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    All,
    Some,
    None,
}

impl Showing {
    pub fn new(key: &JobKey, agent: bool) -> Showing {
        Showing {
            step: key.step_path(),
            hook: key.kind.is_hook(),
            ours: !key.kind.is_hook() && !key.kind.is_work(),
            agent,
            held: false,
            stdout: None,
            stderr: None,
        }
    }

    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Shows what is new, as far as the reporter takes it.
    pub fn show(&mut self, reporter: &mut dyn Reporter) -> Shown {
        let step = &self.step;
        let stdout = if self.hook { Stream::Stderr } else { Stream::Stdout };
        let mut some = false;
        if self.held {
            return Shown::All;
        }
        for (follow, stream) in [(&mut self.stdout, stdout), (&mut self.stderr, Stream::Stderr)] {
            let Some(follow) = follow else { continue };
            if !reporter.ready() {
                return if some { Shown::Some } else { Shown::None };
            }
            let all = follow.read_while(&mut |bytes| {
                some = true;
                reporter.event(&Event::Output { step, stream, bytes });
                reporter.ready()
            });
            // A file that cannot be read now is read when the job ends, where errors count.
            if !all.unwrap_or(true) {
                return Shown::Some;
            }
        }
        Shown::All
    }

    /// Opens the files, which are there once the child is.
    pub fn open(&mut self, files: &Files) {
        if self.ours {
            return;
        }
        if self.stdout.is_none() && !self.agent {
            self.stdout = Follow::open(&files.path("stdout")).ok();
        }
        if self.stderr.is_none() {
            self.stderr = Follow::open(&files.path("stderr")).ok();
        }
    }
}
