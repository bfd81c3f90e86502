//! The rules in one flat file, so that a hook needs no database and decodes only the rules that a
//! call may need: ten thousand rules cost little more than one.
//!
//! ```text
//! magic · length of the head · head · tables and rules
//! head:   paused, mode, permission, sources, the user's rules, the rules of each project
//! table:  rows of 16 bytes, sorted: where a rule is looked up, and where its JSON is in the file
//! ```
//!
//! The file is written as a whole and never changed. It has every file that it was made from with
//! what identifies that file's contents; the reader compares them and decides.

mod codec;
mod lookup_table;

pub use codec::SnapshotError;

use crate::host::{Mode, Permission};
use crate::rule::{Rule, merge};
use crate::tool_call::ToolCall;
use codec::{Decoder, Encoder};
use lookup_table::Table;
use std::path::{Path, PathBuf};

/// All that a snapshot is made of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SnapshotContents {
    pub paused: Paused,
    pub mode: Mode,
    pub permission: Permission,
    /// The files that the settings and the user's rules come from.
    pub sources: Vec<Source>,
    pub rules: Vec<Rule>,
    pub projects: Vec<SnapshotProject>,
}

/// Whether corrections are paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paused {
    #[default]
    No,
    UntilContinued,
    /// Until this time, in milliseconds.
    Until(i64),
}

impl Paused {
    pub fn is_paused(self, now_ms: i64) -> bool {
        match self {
            Paused::No => false,
            Paused::UntilContinued => true,
            Paused::Until(end) => now_ms < end,
        }
    }
}

/// The rules of one project that may be used: those of a trusted file that the user has not disabled.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotProject {
    pub root: PathBuf,
    pub sources: Vec<Source>,
    pub rules: Vec<Rule>,
}

/// A file that a snapshot was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    pub state: SourceState,
}

/// What a file was when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceState {
    Absent,
    /// The contents are those of a file with this stamp.
    Stamped(Stamp),
    /// Only which file it is counts: every change of its contents removes the snapshot. A file that
    /// is made where another one was removed may get its number, but not the time it was created.
    Identity {
        device: u64,
        inode: u64,
        created_ns: i64,
    },
    /// It had just been changed: the next change could leave the same stamp.
    Unsettled,
}

/// What identifies the contents of a file. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    pub modified_ns: i64,
    pub changed_ns: i64,
    /// `None` where the file system does not record it.
    pub created_ns: Option<i64>,
}

impl SourceState {
    /// Whether what was read from the file is still what it contains. `now` is `None` where the
    /// file is not there.
    pub fn is_current(&self, now: Option<&Stamp>) -> bool {
        match (self, now) {
            (SourceState::Absent, None) => true,
            (SourceState::Stamped(then), Some(now)) => then == now,
            (SourceState::Identity { device, inode, created_ns }, Some(now)) => {
                let same = *device == now.device && *inode == now.inode;
                same && now.created_ns == Some(*created_ns)
            }
            _ => false,
        }
    }
}

/// Where the bytes of a snapshot come from.
pub trait Bytes {
    /// `None` where the file has no such range or cannot be read.
    fn range(&self, start: u64, length: usize) -> Option<Vec<u8>>;

    /// The first bytes, at most so many.
    fn beginning(&self, most: usize) -> Option<Vec<u8>>;
}

impl Bytes for [u8] {
    fn range(&self, start: u64, length: usize) -> Option<Vec<u8>> {
        let start = usize::try_from(start).ok()?;
        self.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
    }

    fn beginning(&self, most: usize) -> Option<Vec<u8>> {
        Some(self[..most.min(self.len())].to_vec())
    }
}

/// A snapshot that is being read.
#[derive(Debug)]
pub struct Snapshot<'a, B: Bytes + ?Sized> {
    bytes: &'a B,
    pub paused: Paused,
    pub mode: Mode,
    pub permission: Permission,
    pub sources: Vec<Source>,
    user: Table,
    projects: Vec<ProjectHead>,
}

/// A project of a snapshot, without its rules.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectHead {
    pub root: PathBuf,
    pub sources: Vec<Source>,
    table: Table,
}

const MAGIC: &[u8; 16] = b"towpath rules 3\n";
/// The magic, and the length of the head.
const FRONT: usize = MAGIC.len() + 4;
/// A head that is longer was not written by us.
const MOST_HEAD: usize = 16 << 20;
/// What is read at first: most heads are shorter.
const FIRST_READ: usize = 4 << 10;

impl SnapshotContents {
    pub fn to_bytes(&self) -> Vec<u8> {
        // The head has offsets into what follows, and numbers of a fixed size: its length is known
        // once it was written with any offsets.
        let length = self.head(&vec![Table::default(); self.projects.len() + 1]).len();
        let mut body = Vec::new();
        let start = (FRONT + length) as u64;
        let mut tables = vec![Table::write(&self.rules, &mut body, start)];
        for project in &self.projects {
            tables.push(Table::write(&project.rules, &mut body, start));
        }
        let head = self.head(&tables);
        let mut bytes = MAGIC.to_vec();
        bytes.extend((head.len() as u32).to_le_bytes());
        bytes.extend(head);
        bytes.extend(body);
        bytes
    }

    fn head(&self, tables: &[Table]) -> Vec<u8> {
        let mut head = Encoder::default();
        head.paused(self.paused);
        head.mode(self.mode);
        head.permission(self.permission);
        head.sources(&self.sources);
        tables[0].encode(&mut head);
        head.number(self.projects.len() as u64);
        for (project, table) in self.projects.iter().zip(&tables[1..]) {
            head.path(&project.root);
            head.sources(&project.sources);
            table.encode(&mut head);
        }
        head.bytes
    }
}

impl<'a, B: Bytes + ?Sized> Snapshot<'a, B> {
    /// Reads the head.
    pub fn open(bytes: &'a B) -> Result<Snapshot<'a, B>, SnapshotError> {
        let mut front = bytes.beginning(FIRST_READ).ok_or(SnapshotError::Damaged)?;
        if front.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(SnapshotError::OtherFormat);
        }
        let length = front.get(MAGIC.len()..FRONT).and_then(|b| <[u8; 4]>::try_from(b).ok());
        let length = u32::from_le_bytes(length.ok_or(SnapshotError::Damaged)?) as usize;
        if length > MOST_HEAD {
            return Err(SnapshotError::Damaged);
        }
        if front.len() < FRONT + length {
            front = bytes.range(0, FRONT + length).ok_or(SnapshotError::Damaged)?;
        }
        let mut head = Decoder::new(&front[FRONT..FRONT + length]);
        let paused = head.paused()?;
        let mode = head.mode()?;
        let permission = head.permission()?;
        let sources = head.sources()?;
        let user = Table::decode(&mut head)?;
        let mut projects = Vec::new();
        for _ in 0..head.number()? {
            projects.push(ProjectHead {
                root: head.path()?,
                sources: head.sources()?,
                table: Table::decode(&mut head)?,
            });
        }
        head.end()?;
        Ok(Snapshot { bytes, paused, mode, permission, sources, user, projects })
    }

    pub fn project(&self, root: &Path) -> Option<&ProjectHead> {
        self.projects.iter().find(|project| project.root == root)
    }

    /// The rules that a call may need, a project's before the user's with the same key.
    pub fn candidates(
        &self,
        call: &ToolCall,
        project: Option<&ProjectHead>,
    ) -> Result<Vec<Rule>, SnapshotError> {
        let user = self.user.candidates(self.bytes, call)?;
        match project {
            None => Ok(user),
            // A rule and the one it wins over are looked up by the same words.
            Some(project) => Ok(merge(user, project.table.candidates(self.bytes, call)?)),
        }
    }

    /// All of it, decoded.
    pub fn contents(&self) -> Result<SnapshotContents, SnapshotError> {
        let projects = self.projects.iter().map(|project| {
            Ok(SnapshotProject {
                root: project.root.clone(),
                sources: project.sources.clone(),
                rules: project.table.all(self.bytes)?,
            })
        });
        Ok(SnapshotContents {
            paused: self.paused,
            mode: self.mode,
            permission: self.permission,
            sources: self.sources.clone(),
            rules: self.user.all(self.bytes)?,
            projects: projects.collect::<Result<_, SnapshotError>>()?,
        })
    }
}
