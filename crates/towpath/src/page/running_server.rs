//! The server of the page that is up, found by its files in the state directory: the lock names the
//! process, `server.json` its port, `token` the token. All are for this user only.

use crate::environment::Environment;
use crate::terminal::format::now_ms;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use towpath_core::RunId;
use towpath_process::RunLock;
use towpath_server::Token;

/// A server that is up.
#[derive(Debug)]
pub struct RunningServer {
    pub note: ServerNote,
    token: Token,
}

/// What a server notes about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerNote {
    pub pid: u32,
    pub port: u16,
    pub read_only: bool,
    /// The origin on another address than loopback.
    #[serde(default)]
    pub other: Option<String>,
}

impl ServerNote {
    /// Whether a server like `next` may have the token of this one: the same one again, and nobody on a
    /// network could read it.
    pub fn passes_token_to(&self, next: &ServerNote) -> bool {
        let same =
            (self.port, self.read_only, &self.other) == (next.port, next.read_only, &next.other);
        same && !self.other.as_ref().is_some_and(|origin| origin.starts_with("http:"))
    }
}

/// Where a server keeps its files.
#[derive(Debug)]
pub struct PageFiles {
    pub directory: PathBuf,
}

impl PageFiles {
    pub fn of(env: &Environment) -> PageFiles {
        PageFiles { directory: env.directories.state.join("ui") }
    }

    pub fn lock(&self) -> PathBuf {
        self.directory.join("lock")
    }

    fn note(&self) -> PathBuf {
        self.directory.join("server.json")
    }

    pub fn phone_key(&self) -> PathBuf {
        self.directory.join("phone-key")
    }

    fn token_file(&self) -> PathBuf {
        self.directory.join("token")
    }

    /// The note of the last server, which may be gone.
    pub fn last(&self) -> Option<ServerNote> {
        serde_json::from_slice(&fs::read(self.note()).ok()?).ok()
    }

    pub fn token(&self) -> Option<Token> {
        Token::parse(fs::read_to_string(self.token_file()).ok()?.trim_end())
    }

    /// Whether nobody else could read the token.
    pub fn token_is_private(&self) -> bool {
        fs::metadata(self.token_file()).is_ok_and(|file| file.mode() & 0o077 == 0)
    }

    pub fn write_note(&self, note: &ServerNote) -> io::Result<()> {
        write_private(&self.note(), &serde_json::to_vec(note)?)
    }

    /// So that the next server has another one.
    pub fn remove_token(&self) {
        // What cannot be removed is as it would be after a kill.
        let _ = fs::remove_file(self.token_file());
    }

    pub fn write_token(&self, token: &Token) -> io::Result<()> {
        write_private(&self.token_file(), format!("{}\n", token.as_str()).as_bytes())
    }
}

/// All at once, and readable for this user only.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    // A temporary file has the mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

pub fn new_token() -> io::Result<Token> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(Token::from_random(bytes))
}

impl RunningServer {
    /// The server of this state directory, once it can be asked.
    pub fn find(env: &Environment) -> Option<RunningServer> {
        let files = PageFiles::of(env);
        let pid = RunLock::holder(&files.lock())?.pid?;
        let note = files.last().filter(|note| note.pid == pid)?;
        Some(RunningServer { note, token: files.token()? })
    }

    pub fn new(note: ServerNote, token: Token) -> RunningServer {
        RunningServer { note, token }
    }

    /// The page of a run, or of all. Its token is in the part of the address that a browser sends
    /// nowhere.
    pub fn address(&self, run: Option<&RunId>) -> String {
        format!("{}#t={}", self.bare(run), self.token.as_str())
    }

    /// The page as a browser is started with it: it leads there once.
    pub fn opening(&self, run: Option<&RunId>) -> io::Result<String> {
        let random = new_token()?;
        let code = self.token.code(now_ms(), random.as_str());
        let path = run.map_or(String::new(), |run| format!("/run/{run}"));
        Ok(format!("http://127.0.0.1:{}/open/{code}{path}", self.note.port))
    }

    /// For what may be kept, such as a log, the address has no token.
    pub fn run_address(&self, run: &RunId, with_token: bool) -> String {
        if with_token { self.address(Some(run)) } else { self.bare(Some(run)) }
    }

    /// Where a remote client connects.
    pub fn phone_address(&self) -> String {
        format!("ws://127.0.0.1:{}", self.note.port)
    }

    /// The page on another address than loopback.
    pub fn other_address(&self) -> Option<String> {
        let origin = self.note.other.as_ref()?;
        Some(format!("{origin}/#t={}", self.token.as_str()))
    }

    fn bare(&self, run: Option<&RunId>) -> String {
        let path = run.map_or(String::new(), |run| format!("run/{run}"));
        format!("http://127.0.0.1:{}/{path}", self.note.port)
    }
}
