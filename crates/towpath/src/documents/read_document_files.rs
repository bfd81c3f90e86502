//! The files of a document: the one that the user names, and what it imports and embeds.

use super::import_trust;
use super::watch::{self, Stamp};
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::trust::ConsentStatus;
use crate::terminal::out;
use std::cell::RefCell;
use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_document::{
    Document, DocumentSet, FileKind, Files, Found, Node, NodeKind, Roots, has_regions, plain_path,
    read, read_regions,
};
use towpath_view::foreign_text::escaped;

/// The most bytes of a document, or of a file that it embeds.
const MOST: u64 = 256 << 20;

/// Gives documents their files, and remembers which.
#[derive(Debug)]
pub struct DocumentFiles<'a> {
    env: &'a Environment,
    /// The directory of the entry document.
    directory: PathBuf,
    /// The same as the user wrote it, with `/` at its end.
    shown: String,
    /// Nothing outside of this directory is read, unless the user trusts it.
    confined: Option<PathBuf>,
    read: RefCell<Vec<ReadFile>>,
}

/// A file that a document asked for.
#[derive(Debug, Clone)]
pub struct ReadFile {
    pub path: PathBuf,
    /// As the user would type it.
    pub name: String,
    /// It is outside of the project, and was not read.
    pub refused: bool,
    /// Before it was read.
    pub stamp: Stamp,
}

impl<'a> DocumentFiles<'a> {
    /// `confined`: only files of the project are read.
    pub fn of(env: &'a Environment, entry: &Entry, confined: bool) -> DocumentFiles<'a> {
        let name = entry.path.as_deref().map(escaped).unwrap_or_default();
        let shown = name.rfind('/').map_or("", |slash| &name[..=slash]).to_owned();
        let directory = entry.directory.clone();
        let project = env.project_root(&directory);
        let confined = confined.then(|| project.canonicalize().unwrap_or(project));
        DocumentFiles { env, directory, shown, confined, read: RefCell::default() }
    }

    /// Every file that was asked for since this was last called, each once.
    pub fn take_read(&self) -> Vec<ReadFile> {
        let mut known = HashSet::new();
        let mut files = self.read.take();
        files.retain(|file| known.insert(file.path.clone()));
        files
    }

    /// Likewise, without forgetting them.
    pub fn peek_read(&self) -> Vec<ReadFile> {
        let files = self.take_read();
        self.read.borrow_mut().clone_from(&files);
        files
    }

    fn name(&self, path: &str) -> String {
        match path.starts_with('/') {
            true => path.to_owned(),
            false => plain_path(&format!("{}{path}", self.shown)),
        }
    }

    fn bytes(&self, path: &str) -> Result<Vec<u8>, String> {
        let refused = self.is_refused(path);
        let (name, path) = (self.name(path), self.directory.join(path));
        let stamp = watch::stamp(&path);
        self.read.borrow_mut().push(ReadFile { path: path.clone(), name, refused, stamp });
        if refused {
            return Err("it is outside of the project: allow it with --allow-read".to_owned());
        }
        if is_of_the_kernel(&path) {
            return Err("the system makes it up while it is read: use @run [cat …]".to_owned());
        }
        files::read_regular(&path, MOST).map_err(|error| plain(&error))
    }

    /// Whether a file may not be read, since it is outside of the project and not trusted.
    fn is_refused(&self, path: &str) -> bool {
        let Some(project) = &self.confined else { return false };
        let Ok(real) = self.directory.join(path).canonicalize() else { return false };
        !real.starts_with(project) && (is_of_the_kernel(&real) || !self.is_trusted(&real))
    }

    fn is_trusted(&self, path: &Path) -> bool {
        let Ok(bytes) = files::read_regular(path, MOST) else { return false };
        let subject = import_trust::document_subject(path, &bytes);
        let Ok(journal) = self.env.journal() else { return false };
        subject.status(journal.as_ref()).is_ok_and(|status| status == ConsentStatus::Trusted)
    }
}

/// Whether a file is one of `/proc`, `/sys` or the like: some never end, and others have secrets.
fn is_of_the_kernel(path: &Path) -> bool {
    const KINDS: [rustix::fs::FsWord; 4] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163];
    rustix::fs::statfs(path).is_ok_and(|found| KINDS.contains(&found.f_type))
}

impl Files for DocumentFiles<'_> {
    fn import(&self, path: &str) -> Result<Found, String> {
        let bytes = self.bytes(path)?;
        let identity = identity(&self.directory.join(path));
        Ok(Found { identity, name: self.name(path), bytes })
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        self.bytes(path)
    }

    fn may_embed(&self, path: &str) -> bool {
        let refused = self.is_refused(path);
        if refused {
            let _ = self.bytes(path);
        }
        !refused
    }
}

/// The system's words without its number.
fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

fn identity(file: &Path) -> String {
    let path = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    escaped(&path)
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs {
    Document(FileKind),
    /// Only its regions are rendered.
    Regions,
    /// As it has regions or not.
    RegionsIfAny,
}

/// Where the document comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As the user wrote it; `None`: standard input.
    pub path: Option<PathBuf>,
    /// Its directory: absolute.
    pub directory: PathBuf,
}

impl Entry {
    pub fn new(env: &Environment, file: &Path) -> Result<Entry, CommandError> {
        if file == Path::new("-") {
            return Ok(Entry { path: None, directory: env.current.clone() });
        }
        let full = env.current.join(file);
        let directory = full.parent().unwrap_or(&env.current);
        let directory = directory.canonicalize().map_err(|error| unreadable(file, &error))?;
        Ok(Entry { path: Some(file.to_owned()), directory })
    }

    /// What messages call it.
    pub fn name(&self) -> String {
        self.path.as_deref().map_or_else(|| "standard input".to_owned(), escaped)
    }

    pub fn load(&self, env: &Environment, how: ReadAs) -> Result<DocumentSet, CommandError> {
        let name = self.name();
        let (bytes, identity) = match &self.path {
            None => (read_stdin()?, String::new()),
            Some(file) => {
                let full = env.current.join(file);
                let bytes = files::read_bytes(&full, MOST);
                (bytes.map_err(|error| unreadable(file, &error))?, identity(&full))
            }
        };
        let regions = match how {
            ReadAs::Document(_) => false,
            ReadAs::Regions => true,
            ReadAs::RegionsIfAny => has_regions(&name, &bytes),
        };
        let document: Document = match how {
            _ if regions => read_regions(&name, bytes),
            ReadAs::Document(kind) => read(&name, bytes, kind),
            _ => read(&name, bytes, FileKind::of(&name)),
        };
        let is_region = |node: &Node| matches!(node.kind, NodeKind::Region(_));
        if regions && !document.nodes.iter().any(is_region) && document.problems.is_empty() {
            out::note(format!(
                "note: {name} has no regions, so nothing is replaced; one begins with \
                 <!-- towpath:begin NAME -->"
            ));
        }
        Ok(DocumentSet::new(&identity, document))
    }

    pub fn roots(&self, env: &Environment, home: Option<&Path>) -> Roots {
        let home = home.map(|home| env.current.join(home)).or_else(|| env.home.clone());
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Roots {
            project: text(&env.project_root(&self.directory)),
            home: text(&home.unwrap_or_default()),
        }
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> CommandError {
    let (exit, kind) = match error.kind() {
        std::io::ErrorKind::NotFound => (Exit::BadInput, ErrorKind::NotFound),
        _ => (Exit::BadInput, ErrorKind::BadInput),
    };
    CommandError::new(exit, kind, format!("{}: {}", escaped(file), plain(error)))
}

fn read_stdin() -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| CommandError::bad_input(format!("standard input: {error}")))?;
    match bytes.len() as u64 > MOST {
        true => Err(CommandError::bad_input("standard input: larger than 256 MiB")),
        false => Ok(bytes),
    }
}
