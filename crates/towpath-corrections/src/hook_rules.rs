//! The file from which hooks read the rules. It is never stale: whoever changes a rule removes it
//! before the change is committed, and it has the stamp of every other file that it was made from.
//! Without it a hook reads the journal, and writes it again where nobody is changing a rule.

use super::hooks_directory::HooksDirectory;
use super::project_rules::{ProjectRules, RULES_FILE};
use super::resolved::with_resolved_directories;
use super::rule_book::{LOCK, user_rules};
use super::stamped_file;
use crate::host::{Mode, Permission};
use crate::snapshot::{
    Bytes, Paused, Snapshot, SnapshotContents, SnapshotError, SnapshotProject, Source,
};
use crate::{Error, HookSettings, Rule, ToolCall, User};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use towpath_store::{Store, StoreError};

pub(crate) const SNAPSHOT: &str = "rules.snapshot";
/// Of more projects the rules are read from their files each time.
const MOST_PROJECTS: usize = 64;
/// No settings file and no file of rules is larger.
pub const MOST_SOURCE: u64 = 1 << 20;

/// What a hook decides a call by.
#[derive(Debug, Default)]
pub struct HookRules {
    pub paused: Paused,
    pub mode: Mode,
    pub permission: Permission,
    /// Those that the call may need.
    pub rules: Vec<Rule>,
    /// Why the project's rules cannot be used.
    pub problem: Option<Error>,
}

/// The rules for a call, from the snapshot where it is current.
pub fn rules_for(user: &dyn User, call: &ToolCall) -> Result<HookRules, Error> {
    let directory = HooksDirectory::of(user.state());
    let root = call.directory.as_deref().map(|cwd| user.project_root(Path::new(cwd)));
    let root = root.filter(|root| root.join(RULES_FILE).exists());
    if let Ok(file) = File::open(directory.file(SNAPSHOT)).map(SnapshotBytes)
        && let Ok(snapshot) = Snapshot::open(&file)
        && stamped_file::are_current(&snapshot.sources)
        && is_current(&snapshot, root.as_deref())
        && let Ok(found) = found(&snapshot, call, root.as_deref())
    {
        return Ok(found);
    }
    let mut rebuilt = Rebuilt::begin(user, &directory)?;
    let added = root.as_deref().map_or(Ok(()), |root| rebuilt.add_project(root));
    let bytes = rebuilt.contents.to_bytes();
    rebuilt.write(&directory, &bytes);
    let snapshot = Snapshot::open(bytes.as_slice()).map_err(unreadable)?;
    let found = found(&snapshot, call, root.as_deref()).map_err(unreadable)?;
    Ok(HookRules { problem: added.err(), ..found })
}

fn unreadable(error: SnapshotError) -> Error {
    Error::Setup(format!("the rules cannot be read: {error}"))
}

/// Whether the snapshot has the rules of the project's file as it is now.
fn is_current<B: Bytes>(snapshot: &Snapshot<'_, B>, root: Option<&Path>) -> bool {
    root.is_none_or(|root| {
        snapshot.project(root).is_some_and(|project| stamped_file::are_current(&project.sources))
    })
}

fn found<B: Bytes + ?Sized>(
    snapshot: &Snapshot<'_, B>,
    call: &ToolCall,
    root: Option<&Path>,
) -> Result<HookRules, SnapshotError> {
    Ok(HookRules {
        paused: snapshot.paused,
        mode: snapshot.mode,
        permission: snapshot.permission,
        rules: with_resolved_directories(
            snapshot.candidates(call, root.and_then(|root| snapshot.project(root)))?,
        ),
        problem: None,
    })
}

struct SnapshotBytes(File);

impl Bytes for SnapshotBytes {
    fn range(&self, start: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, start).ok()?;
        Some(bytes)
    }

    fn beginning(&self, most: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; most];
        let read = self.0.read_at(&mut bytes, 0).ok()?;
        bytes.truncate(read);
        Some(bytes)
    }
}

/// A snapshot that is made again.
struct Rebuilt {
    contents: SnapshotContents,
    store: Option<Store>,
    /// `None` while rules are changed: what was read may be old in a moment.
    lock: Option<File>,
}

impl Rebuilt {
    fn begin(user: &dyn User, directory: &HooksDirectory) -> Result<Rebuilt, Error> {
        // Taken before anything is read. A hook does not wait for a change that is under way.
        let lock = directory.append(LOCK).ok();
        let lock =
            lock.filter(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok());
        let database = user.state().join(towpath_store::DATABASE);
        let database = stamped_file::identity(&database).map_err(Error::file(&database))?;
        let store = match Store::open_for_reading(user.state()) {
            // It has no rules, and a hook upgrades nothing.
            Err(StoreError::Older { .. }) => None,
            opened => opened?,
        };
        let HookSettings { mode, permission, source } = user.settings()?;
        let sources = vec![source];
        let mut contents = SnapshotContents { mode, permission, sources, ..Default::default() };
        contents.projects = unchanged_projects(directory, &database);
        contents.sources.push(database);
        if let Some(store) = &store {
            contents.rules = user_rules(store)?;
            contents.paused = match store.pause()? {
                None => Paused::No,
                Some(pause) => pause.until_ms.map_or(Paused::UntilContinued, Paused::Until),
            };
        }
        Ok(Rebuilt { contents, store, lock })
    }

    fn add_project(&mut self, root: &Path) -> Result<(), Error> {
        self.contents.projects.retain(|project| project.root != root);
        let path = root.join(RULES_FILE);
        // Looked at before it is read: a change in between is seen by the next hook.
        let (_, source) = stamped_file::read(&path, MOST_SOURCE).map_err(Error::file(&path))?;
        if let Some(project) = ProjectRules::of_file(self.store.as_ref(), &path)? {
            let rules = project.usable().cloned().collect();
            let root = root.to_owned();
            let project = SnapshotProject { root, sources: vec![source], rules };
            self.contents.projects.insert(0, project);
            self.contents.projects.truncate(MOST_PROJECTS);
        }
        Ok(())
    }

    /// A snapshot that cannot be written costs the next hook some time, and nothing else.
    fn write(&self, directory: &HooksDirectory, bytes: &[u8]) {
        if self.lock.is_some() {
            let _ = directory.replace(SNAPSHOT, bytes);
        }
    }
}

/// The projects of the old snapshot whose files are still what they were. The user's trust in them is
/// in the journal: with another journal there are none.
fn unchanged_projects(directory: &HooksDirectory, journal: &Source) -> Vec<SnapshotProject> {
    let old = File::open(directory.file(SNAPSHOT)).ok().map(SnapshotBytes);
    let old = old.as_ref().and_then(|file| Snapshot::open(file).ok());
    let old = old.filter(|old| old.sources.contains(journal));
    let projects = old.and_then(|old| old.contents().ok()).map_or(Vec::new(), |old| old.projects);
    projects.into_iter().filter(|p| stamped_file::are_current(&p.sources)).collect()
}
