//! The files of a document: the one that the user names, and what it imports and embeds.

use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::files;
use crate::terminal::out;
use std::cell::RefCell;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use towpath_document::{
    Document, DocumentSet, FileKind, Files, Found, Node, NodeKind, Roots, plain_path, read,
    read_regions,
};
use towpath_view::foreign_text::escaped;

/// The most bytes of a document, or of a file that it embeds.
const MOST: u64 = 256 << 20;

/// Gives documents their files, and remembers which.
#[derive(Debug)]
pub struct DocumentFiles {
    /// The directory of the entry document.
    directory: PathBuf,
    /// The same as the user wrote it, with `/` at its end.
    shown: String,
    read: RefCell<Vec<PathBuf>>,
}

impl DocumentFiles {
    pub fn of(entry: &Entry) -> DocumentFiles {
        let name = entry.path.as_deref().map(escaped).unwrap_or_default();
        let shown = name.rfind('/').map_or("", |slash| &name[..=slash]).to_owned();
        let directory = entry.directory.clone();
        DocumentFiles { directory, shown, read: RefCell::default() }
    }

    /// Every file that was asked for since this was last called.
    pub fn take_read(&self) -> Vec<PathBuf> {
        self.read.take()
    }

    fn path(&self, path: &str) -> PathBuf {
        let path = self.directory.join(path);
        self.read.borrow_mut().push(path.clone());
        path
    }
}

impl Files for DocumentFiles {
    fn import(&self, path: &str) -> Result<Found, String> {
        let file = self.path(path);
        let bytes = files::read_regular(&file, MOST).map_err(|error| plain(&error))?;
        let identity = identity(&file);
        Ok(Found { identity, name: plain_path(&format!("{}{path}", self.shown)), bytes })
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        files::read_regular(&self.path(path), MOST).map_err(|error| plain(&error))
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

    pub fn load(&self, env: &Environment, regions: bool) -> Result<DocumentSet, CommandError> {
        let name = self.name();
        let (bytes, identity) = match &self.path {
            None => (read_stdin()?, String::new()),
            Some(file) => {
                let full = env.current.join(file);
                let bytes = files::read_bytes(&full, MOST);
                (bytes.map_err(|error| unreadable(file, &error))?, identity(&full))
            }
        };
        let document: Document = match regions {
            true => read_regions(&name, bytes),
            false => read(&name, bytes, FileKind::of(&name)),
        };
        let is_region = |node: &Node| matches!(node.kind, NodeKind::Region { .. });
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
