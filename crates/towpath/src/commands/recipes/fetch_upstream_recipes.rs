//! The recipes of another repository, read from a private bare copy in our cache. The user's own
//! repository does not change, nothing is checked out, and no file of it is run.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::git::Git;
use crate::session::recipe_search_path::PROJECT_DIRECTORIES;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use towpath_recipe::MAX_BYTES;
use towpath_recipe::directory_manifest::{Manifest, digest, is_recipe_file};

#[derive(Debug)]
pub struct Upstream {
    pub commit: String,
    /// The folder in that repository; empty for its root.
    pub path: String,
    pub files: BTreeMap<String, Vec<u8>>,
    /// Files that look like recipes and are not taken, with the reason.
    pub passed: Vec<String>,
}

impl Upstream {
    pub fn manifest(&self) -> Manifest {
        let mut manifest = Manifest::default();
        for (name, bytes) in &self.files {
            manifest.insert(name, digest(bytes));
        }
        manifest
    }
}

/// What is fetched goes by this name in the copy.
const FETCHED: &str = "refs/towpath/fetched";

pub fn fetch(
    env: &Environment,
    url: &str,
    reference: Option<&str>,
    path: Option<&str>,
) -> Result<Upstream, CommandError> {
    let reference = checked_reference(reference.unwrap_or("HEAD"))?;
    let path = path.map(checked_path).transpose()?;
    let from = address(env, url)?;
    let cache = env.directories.cache.join("recipes");
    let copy = cache.join(format!("{}.git", digest(from.as_bytes())));
    let failed = |e: std::io::Error| CommandError::setup(format!("{}: {e}", cache.display()));
    // What is in a repository may be for its readers only.
    DirBuilder::new().recursive(true).mode(0o700).create(&cache).map_err(failed)?;
    // Two fetches into one copy would take the reference from each other.
    let lock = File::create(copy.with_extension("lock")).map_err(failed)?;
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|e| failed(e.into()))?;
    fs::create_dir_all(&copy).map_err(failed)?;
    let git = Git::new(&copy);
    // No template: it would bring hooks along. On a copy that is there it changes nothing.
    git.run(&["init", "--quiet", "--bare", "--template=", "."])?;
    let git = git.over_network(env);
    let refspec = format!("+{reference}:{FETCHED}");
    let options = ["--quiet", "--no-tags", "--depth=1", "--no-recurse-submodules"];
    let mut call = vec!["--git-dir=.", "fetch", "--no-auto-maintenance", "--no-write-fetch-head"];
    call.extend(options);
    call.extend(["--", &from, &refspec]);
    git.run(&call).map_err(|stop| CommandError { message: hidden(&stop.message, url), ..stop })?;
    read(&git, path)
}

/// A URL, or a path made absolute, because git is called from another directory.
fn address(env: &Environment, url: &str) -> Result<String, CommandError> {
    if url.starts_with('-') || url.is_empty() || url.contains(char::is_control) {
        return Err(CommandError::bad_input("the URL of a git repository is missing"));
    }
    if url.split_once("::").is_some_and(|(helper, _)| helper.eq_ignore_ascii_case("ext")) {
        return Err(CommandError::bad_input("an `ext::` URL runs a command; name a repository"));
    }
    let local = env.current.join(env.expand_home(Path::new(url)));
    match local.canonicalize() {
        Ok(real) => real.to_str().map(str::to_owned).ok_or_else(|| {
            CommandError::bad_input(format!("{}: the path is not UTF-8", real.display()))
        }),
        Err(_) => Ok(url.to_owned()),
    }
}

fn checked_reference(reference: &str) -> Result<&str, CommandError> {
    let fine = |c: char| c.is_alphanumeric() || "._/-@+#".contains(c);
    let bad = reference.is_empty()
        || reference.starts_with(['-', '+'])
        || reference.contains("..")
        || !reference.chars().all(fine);
    if bad {
        let shown = crate::terminal::format::clean(reference);
        return Err(CommandError::bad_input(format!(
            "--ref {shown}: give a branch, a tag or a full commit id"
        )));
    }
    Ok(reference)
}

fn checked_path(path: &str) -> Result<String, CommandError> {
    let plain = path.trim_start_matches("./").trim_end_matches('/');
    let plain = if plain == "." { "" } else { plain };
    let inside = plain.is_empty() || plain.split('/').all(|s| !matches!(s, "" | "." | ".."));
    if inside && !plain.contains(char::is_control) {
        return Ok(plain.to_owned());
    }
    let shown = crate::terminal::format::clean(path);
    Err(CommandError::bad_input(format!("--path {shown}: give a directory inside the repository")))
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn read(git: &Git, path: Option<String>) -> Result<Upstream, CommandError> {
    let commit = text(git.run(&["--git-dir=.", "rev-parse", "--verify", &commit_of(FETCHED)])?);
    let path = match path {
        Some(path) => path,
        None => usual_path(git, &commit)?,
    };
    let tree = format!("{commit}:{path}");
    let listed = git.run(&["--git-dir=.", "ls-tree", "-r", "-z", "-l", "--full-tree", &tree]);
    let listed = listed.map_err(|_| {
        CommandError::bad_input(format!("--path {path}: no such directory at {}", &commit[..7]))
    })?;
    let mut passed = Vec::new();
    let wanted = entries(&listed, &mut passed);
    let input: String = wanted.iter().map(|(_, object)| format!("{object}\n")).collect();
    let blobs = git.run_with(&["--git-dir=.", "cat-file", "--batch"], input.as_bytes())?;
    let files = contents(wanted, &blobs)
        .ok_or_else(|| CommandError::setup("git cat-file gave an unexpected answer"))?;
    Ok(Upstream { commit, path, files, passed })
}

/// A tag may name a commit.
fn commit_of(reference: &str) -> String {
    format!("{reference}^{{commit}}")
}

/// The first directory in which a project keeps its recipes, else the repository itself.
fn usual_path(git: &Git, commit: &str) -> Result<String, CommandError> {
    let mut call = vec!["--git-dir=.", "ls-tree", "-d", "-z", "--name-only", "--full-tree", commit];
    call.extend(PROJECT_DIRECTORIES);
    let listed = git.run(&call)?;
    let there: Vec<&[u8]> = listed.split(|b| *b == 0).collect();
    let path = PROJECT_DIRECTORIES.iter().find(|path| there.contains(&path.as_bytes()));
    Ok(path.map_or(String::new(), |path| (*path).to_owned()))
}

/// The recipe files of a listing: name and object.
fn entries(listed: &[u8], passed: &mut Vec<String>) -> Vec<(String, String)> {
    let mut wanted = Vec::new();
    for entry in listed.split(|b| *b == 0).filter(|e| !e.is_empty()) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let Some((meta, name)) = entry.split_once('\t') else { continue };
        let meta: Vec<&str> = meta.split_whitespace().collect();
        let [mode, kind, object, size] = meta[..] else { continue };
        if !is_recipe_file(name) {
            continue;
        }
        // Mode 120000 is a symbolic link: its content is a path, not a recipe.
        if kind != "blob" || mode == "120000" {
            passed.push(format!("{name} is a symbolic link"));
        } else if size.parse::<usize>().map_or(true, |size| size > MAX_BYTES) {
            passed.push(format!("{name} is larger than {MAX_BYTES} bytes"));
        } else {
            wanted.push((name.to_owned(), object.to_owned()));
        }
    }
    wanted
}

/// What `git cat-file --batch` answers: for each object a line with its size, then its bytes.
fn contents(wanted: Vec<(String, String)>, mut blobs: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for (name, object) in wanted {
        let end = blobs.iter().position(|b| *b == b'\n')?;
        let header = std::str::from_utf8(&blobs[..end]).ok()?;
        let size = header.strip_prefix(&format!("{object} blob "))?.parse::<usize>().ok()?;
        let bytes = blobs.get(end + 1..end + 1 + size)?;
        files.insert(name, bytes.to_vec());
        blobs = blobs.get(end + 1 + size + 1..)?;
    }
    Some(files)
}

/// A URL for people to read: without the password that may be in it.
pub fn shown_url(url: &str) -> String {
    let shown = url.split_once("://").and_then(|(scheme, rest)| {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (_, host) = host.rsplit_once('@')?;
        Some(format!("{scheme}://{host}/{path}"))
    });
    crate::terminal::format::clean(&shown.unwrap_or_else(|| url.to_owned()))
}

fn hidden(message: &str, url: &str) -> String {
    message.replace(url, &shown_url(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        assert_eq!(shown_url("https://ann:secret@git.example/x.git"), "https://git.example/x.git");
        assert_eq!(shown_url("git@host:x.git"), "git@host:x.git");
        assert_eq!(shown_url("https://host"), "https://host");
        assert_eq!(shown_url("../team"), "../team");
        let message = hidden("fatal: 'https://a:b@h/x' is gone", "https://a:b@h/x");
        assert_eq!(message, "fatal: 'https://h/x' is gone");
    }

    #[test]
    fn what_could_be_read_as_something_else_is_refused() {
        for bad in ["", "-x", "a:b", "a b", "+x", "a..b", "a^{tree}"] {
            assert!(checked_reference(bad).is_err(), "{bad}");
        }
        for good in ["HEAD", "main", "v1.0", "refs/heads/feature/x", "0a1b2c"] {
            assert!(checked_reference(good).is_ok(), "{good}");
        }
        for bad in ["..", "a/../b", "/a", "a//b"] {
            assert!(checked_path(bad).is_err(), "{bad}");
        }
        assert_eq!(checked_path("./a/b/").ok().as_deref(), Some("a/b"));
        assert_eq!(checked_path(".").ok().as_deref(), Some(""));
    }

    #[test]
    fn an_answer_that_does_not_fit_is_none() {
        let wanted = || vec![("a.yaml".to_owned(), "12ab".to_owned())];
        let files = contents(wanted(), b"12ab blob 3\nx\ny\n").expect("it fits");
        assert_eq!(files["a.yaml"], b"x\ny");
        for bad in ["", "12ab missing\n", "12ab blob 9\nx\n", "ff blob 1\nx\n"] {
            assert!(contents(wanted(), bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
