//! What a job prints, on its way to the observer. A reader that is slow gets what it takes, and is never
//! waited for.

use super::job_files::JobFiles;
use crate::executor::{JobEvent, Observer};
use towpath_core::JobKey;
use towpath_process::{Follow, Stream};

/// A job's output on its way to the observer. The files may be gone from the directory before
/// everything is shown; they are open here.
pub(crate) struct OutputFollower {
    key: JobKey,
    /// A hook's output is not its step's output.
    hook: bool,
    /// What our own git prints is not shown.
    own_git: bool,
    /// An agent's stdout is read by its backend.
    agent: bool,
    /// The call may be repeated, and then this was never printed. It is shown when that is known.
    withheld: bool,
    stdout: Option<Follow>,
    stderr: Option<Follow>,
}

/// How much of what was new an observer has taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    All,
    Some,
    None,
}

impl OutputFollower {
    pub fn new(key: &JobKey, agent: bool, withheld: bool) -> OutputFollower {
        OutputFollower {
            key: key.clone(),
            hook: key.kind.is_hook(),
            own_git: !key.kind.is_hook() && !key.kind.is_work(),
            agent,
            withheld,
            stdout: None,
            stderr: None,
        }
    }

    /// Shows from now on what was withheld.
    pub fn release(&mut self) {
        self.withheld = false;
    }

    /// Shows what is new, as far as the observer takes it.
    pub fn show(&mut self, observer: &mut dyn Observer) -> Shown {
        let job = &self.key;
        let stdout = if self.hook { Stream::Stderr } else { Stream::Stdout };
        let mut some = false;
        if self.withheld {
            return Shown::All;
        }
        for (follow, stream) in [(&mut self.stdout, stdout), (&mut self.stderr, Stream::Stderr)] {
            let Some(follow) = follow else { continue };
            if !observer.ready() {
                return if some { Shown::Some } else { Shown::None };
            }
            let all = follow.read_while(&mut |bytes| {
                some = true;
                observer.event(JobEvent::Output { job, stream, bytes });
                observer.ready()
            });
            // A file that cannot be read now is read when the job ends, where errors count.
            if !all.unwrap_or(true) {
                return Shown::Some;
            }
        }
        Shown::All
    }

    /// Opens the files that have been created meanwhile: while the job runs only if descriptors are
    /// plentiful, at its end in any case.
    pub fn open(&mut self, files: &JobFiles, ended: bool) {
        if self.own_git {
            return;
        }
        let open = |name: &str| {
            let path = files.path(name);
            if ended { Follow::open(&path).ok() } else { Follow::open_if_plentiful(&path) }
        };
        if self.stdout.is_none() && !self.agent {
            self.stdout = open("stdout");
        }
        if self.stderr.is_none() {
            self.stderr = open("stderr");
        }
    }
}
