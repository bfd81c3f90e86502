//! The head of a snapshot as bytes. Numbers have a fixed size; what does not fit is refused.

use super::{Paused, Source, SourceState, Stamp};
use crate::host::{Mode, Permission};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    #[error("written by another version")]
    OtherFormat,
    #[error("damaged")]
    Damaged,
}

#[derive(Debug, Default)]
pub(super) struct Encoder {
    pub bytes: Vec<u8>,
}

impl Encoder {
    pub fn paused(&mut self, paused: Paused) {
        match paused {
            Paused::No => self.bytes.push(0),
            Paused::UntilContinued => self.bytes.push(1),
            Paused::Until(end) => {
                self.bytes.push(2);
                self.number(end as u64);
            }
        }
    }

    pub fn number(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    fn time(&mut self, time: Option<i64>) {
        self.bytes.push(time.is_some().into());
        self.number(time.unwrap_or(0) as u64);
    }

    pub fn path(&mut self, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        self.number(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    pub fn mode(&mut self, mode: Mode) {
        self.bytes.push(match mode {
            Mode::Correct => 0,
            Mode::Report => 1,
        });
    }

    pub fn permission(&mut self, permission: Permission) {
        self.bytes.push(match permission {
            Permission::Vouched => 0,
            Permission::Never => 1,
            Permission::Always => 2,
        });
    }

    pub fn sources(&mut self, sources: &[Source]) {
        self.number(sources.len() as u64);
        for source in sources {
            self.path(&source.path);
            match &source.state {
                SourceState::Absent => self.bytes.push(0),
                SourceState::Unsettled => self.bytes.push(1),
                SourceState::Identity { device, inode, created_ns } => {
                    self.bytes.push(2);
                    self.number(*device);
                    self.number(*inode);
                    self.number(*created_ns as u64);
                }
                SourceState::Stamped(stamp) => {
                    self.bytes.push(3);
                    let Stamp { device, inode, size, modified_ns, changed_ns, created_ns } = *stamp;
                    let numbers = [device, inode, size, modified_ns as u64, changed_ns as u64];
                    for number in numbers {
                        self.number(number);
                    }
                    self.time(created_ns);
                }
            }
        }
    }
}

#[derive(Debug)]
pub(super) struct Decoder<'a> {
    rest: &'a [u8],
}

type Decoded<T> = Result<T, SnapshotError>;

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { rest: bytes }
    }

    fn take(&mut self, length: usize) -> Decoded<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(SnapshotError::Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Decoded<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn paused(&mut self) -> Decoded<Paused> {
        match self.byte()? {
            0 => Ok(Paused::No),
            1 => Ok(Paused::UntilContinued),
            2 => Ok(Paused::Until(self.number()? as i64)),
            _ => Err(SnapshotError::Damaged),
        }
    }

    pub fn number(&mut self) -> Decoded<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| SnapshotError::Damaged)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn time(&mut self) -> Decoded<Option<i64>> {
        let known = self.byte()? == 1;
        let time = self.number()? as i64;
        Ok(known.then_some(time))
    }

    pub fn path(&mut self) -> Decoded<PathBuf> {
        let length = usize::try_from(self.number()?).map_err(|_| SnapshotError::Damaged)?;
        Ok(PathBuf::from(OsString::from_vec(self.take(length)?.to_vec())))
    }

    pub fn mode(&mut self) -> Decoded<Mode> {
        match self.byte()? {
            0 => Ok(Mode::Correct),
            1 => Ok(Mode::Report),
            _ => Err(SnapshotError::Damaged),
        }
    }

    pub fn permission(&mut self) -> Decoded<Permission> {
        match self.byte()? {
            0 => Ok(Permission::Vouched),
            1 => Ok(Permission::Never),
            2 => Ok(Permission::Always),
            _ => Err(SnapshotError::Damaged),
        }
    }

    pub fn sources(&mut self) -> Decoded<Vec<Source>> {
        let mut sources = Vec::new();
        for _ in 0..self.number()? {
            let path = self.path()?;
            let state = match self.byte()? {
                0 => SourceState::Absent,
                1 => SourceState::Unsettled,
                2 => SourceState::Identity {
                    device: self.number()?,
                    inode: self.number()?,
                    created_ns: self.number()? as i64,
                },
                3 => SourceState::Stamped(Stamp {
                    device: self.number()?,
                    inode: self.number()?,
                    size: self.number()?,
                    modified_ns: self.number()? as i64,
                    changed_ns: self.number()? as i64,
                    created_ns: self.time()?,
                }),
                _ => return Err(SnapshotError::Damaged),
            };
            sources.push(Source { path, state });
        }
        Ok(sources)
    }

    /// Nothing may be left.
    pub fn end(&self) -> Decoded<()> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(SnapshotError::Damaged),
        }
    }
}
