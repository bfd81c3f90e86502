//! One output of a job on its way into its file. The job writes into a pipe, as under `| cat`: so it
//! may open `/dev/stdout` or `/dev/stderr` again, as many scripts do, and truncates nothing. Secrets
//! are masked on the way, so that no file ever contains one. Nothing here waits for a writer. A file that takes no more is noted, once, and what comes after is thrown
//! away, so that the job is not blocked.

use crate::os;
use crate::warden_event::{Lost, Stream};
use rustix::fs::{FileType, Mode, OFlags, fchmod, fstat, open};
use rustix::io::{Errno, ioctl_fionread, read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use towpath_core::{Masker, Secrets};

#[derive(Debug)]
pub(crate) struct Output {
    stream: Stream,
    pipe: OwnedFd,
    masker: Option<Masker>,
    file: OutputFile,
    wide: bool,
}

/// The file, and what it did not take.
#[derive(Debug)]
struct OutputFile {
    target: Target,
    lost: Option<Errno>,
}

/// Where the bytes go. A file that does not exist yet is created with the first of them: most steps print
/// nothing on stderr, and many nothing at all, and a file made for nothing costs as much as the
/// start of a program.
#[derive(Debug)]
pub(crate) enum Target {
    Open(OwnedFd),
    Later(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// More may come.
    Open,
    /// Nobody has the other end any more.
    Closed,
}

impl Output {
    /// With the end for the job.
    pub fn new(
        stream: Stream,
        target: Target,
        secrets: &Secrets,
    ) -> Result<(Output, OwnedFd), Errno> {
        let (pipe, end) = os::output_pipe()?;
        let file = OutputFile { target, lost: None };
        Ok((Output { stream, pipe, masker: secrets.masker(), file, wide: false }, end))
    }

    /// Moves what is there, until `limit` is reached. (At most one buffer more; and one read in any
    /// case, to see the end.)
    pub fn pump(&mut self, limit: usize, buffer: &mut [u8]) -> Flow {
        let flow = self.take(limit, buffer);
        if let (Flow::Closed, Some(masker)) = (flow, &mut self.masker) {
            self.file.keep(masker.finish());
        }
        flow
    }

    fn take(&mut self, limit: usize, buffer: &mut [u8]) -> Flow {
        let mut moved = 0;
        loop {
            match read(&self.pipe, &mut *buffer) {
                Ok(0) => return Flow::Closed,
                Ok(length) => {
                    let bytes = &buffer[..length];
                    self.file.keep(self.masker.as_mut().map_or(bytes, |m| m.push(bytes)));
                    moved += length;
                    if moved >= limit {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if let Some(masker) = &mut self.masker {
                        self.file.keep(masker.pause());
                    }
                    break;
                }
                Err(_) => return Flow::Closed,
            }
        }
        if moved >= os::PIPE_SIZE && !self.wide {
            self.wide = true;
            os::widen(&self.pipe);
        }
        Flow::Open
    }

    /// Moves all that is in the pipe now, and does not follow a writer that continues.
    pub fn drain(&mut self, buffer: &mut [u8]) -> Flow {
        let waiting = ioctl_fionread(&self.pipe).unwrap_or(0);
        let flow = self.pump(usize::try_from(waiting).unwrap_or(usize::MAX), buffer);
        if let (Flow::Open, Some(masker)) = (flow, &mut self.masker) {
            self.file.keep(masker.flush());
        }
        flow
    }

    pub fn lost(&self) -> Option<Lost> {
        let errno = self.file.lost?;
        Some(Lost { stream: self.stream, errno: errno.raw_os_error() })
    }
}

impl OutputFile {
    fn keep(&mut self, mut bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Target::Later(path) = &self.target
            && self.lost.is_none()
        {
            match open_private(path) {
                Ok(file) => self.target = Target::Open(file),
                Err(errno) => self.lost = Some(errno),
            }
        }
        let Target::Open(file) = &self.target else { return };
        while !bytes.is_empty() && self.lost.is_none() {
            match write(file, bytes) {
                Ok(0) => self.lost = Some(Errno::IO),
                Ok(length) => bytes = &bytes[length..],
                Err(Errno::INTR) => {}
                Err(errno) => self.lost = Some(errno),
            }
        }
    }
}

/// Opens a file for a job's output, emptied, mode 0600. Without waiting, lest a pipe with nobody at
/// its other end blocks the warden. Appending: what another process does to the file leaves no hole,
/// and two writers do not overwrite each other.
pub(crate) fn open_private(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::APPEND;
    let now = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let private = Mode::from_raw_mode(0o600);
    let file = open(path, now, private)?;
    let state = fstat(&file)?;
    let regular = FileType::from_raw_mode(state.st_mode) == FileType::RegularFile;
    if regular && Mode::from_raw_mode(state.st_mode) != private {
        fchmod(&file, private)?;
    }
    Ok(file)
}

impl AsFd for Output {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    const SMALL: usize = 4096;

    fn output_into(file: File) -> (Output, File) {
        let (stream, target) = (Stream::Stdout, Target::Open(file.into()));
        let (output, end) = Output::new(stream, target, &Secrets::default()).expect("a pipe");
        (output, end.into())
    }

    #[test]
    fn a_limit_is_kept_and_the_rest_comes_later() {
        let mut kept = tempfile::tempfile().expect("a file");
        let (mut output, mut end) = output_into(kept.try_clone().expect("a file"));
        let bytes: Vec<u8> = (0..5 * SMALL).map(|n| n as u8).collect();
        end.write_all(&bytes).expect("a pipe with room");
        let length = || kept.metadata().expect("a file").len() as usize;
        let mut buffer = vec![0; SMALL];
        assert_eq!(output.pump(SMALL, &mut buffer), Flow::Open);
        assert_eq!(length(), SMALL);
        assert_eq!(output.pump(SMALL + 1, &mut buffer), Flow::Open);
        assert_eq!(length(), 3 * SMALL);
        assert_eq!(output.drain(&mut buffer), Flow::Open);
        assert_eq!(length(), 5 * SMALL);
        assert_eq!(output.drain(&mut buffer), Flow::Open, "the other end is open, and empty");
        drop(end);
        assert_eq!(output.drain(&mut buffer), Flow::Closed);
        assert_eq!(output.lost(), None);
        std::io::Seek::rewind(&mut kept).expect("a file");
        let mut read = Vec::new();
        kept.read_to_end(&mut read).expect("a file");
        assert!(read == bytes, "in their order");
    }

    #[test]
    fn a_file_that_takes_nothing_leaves_the_pipe_empty() {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let (mut output, mut end) = output_into(full);
        let mut buffer = vec![0; SMALL];
        for _ in 0..20 {
            // More in all than a pipe takes: this would wait for ever.
            end.write_all(&[b'x'; 10_000]).expect("a pipe with room");
            assert_eq!(output.drain(&mut buffer), Flow::Open);
        }
        let lost = output.lost().expect("noted");
        assert_eq!((lost.stream, lost.errno), (Stream::Stdout, Errno::NOSPC.raw_os_error()));
    }
}
