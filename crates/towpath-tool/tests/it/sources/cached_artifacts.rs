//! The cache of what was fetched: used again while it is unchanged, complete or not there.

use super::{User, read};
use crate::loopback_server::{LoopbackServer, Reply};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use towpath_tool::ToolRecipe;
use towpath_tool::sources::SourceError;

/// Of `hello\n`.
const HELLO: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

fn server() -> LoopbackServer {
    LoopbackServer::new(|_| Reply::Body(b"hello\n".to_vec()))
}

fn recipe(server: &LoopbackServer) -> ToolRecipe {
    let url = server.url("/hello");
    read(&format!(
        "[metadata]\nname = \"hello\"\n[version]\nsource = \"url\"\nversion = \"1.0\"\n\
         [[steps]]\naction = \"download\"\nurl = \"{url}\"\nsha256 = \"{HELLO}\"\n\
         [[steps]]\naction = \"install_binaries\"\nbinaries = [\"hello\"]\n\
         [verify]\ncommand = \"hello --version\"\n"
    ))
}

fn partials(user: &User) -> Vec<PathBuf> {
    let entries = fs::read_dir(user.cache.join(".partial")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Nothing is asked: the address is of no machine.
#[test]
fn an_http_address_without_a_hash_is_refused() {
    let recipe = read(
        "[metadata]\nname = \"hello\"\n[version]\nversion = \"1.0\"\n\
         [[steps]]\naction = \"download\"\nurl = \"http://192.0.2.1/hello\"\n\
         [[steps]]\naction = \"install_binaries\"\nbinaries = [\"hello\"]\n\
         [verify]\ncommand = \"hello --version\"\n",
    );
    let error = User::new().fetch(&recipe, "1.0").unwrap_err();
    assert!(error.to_string().contains("needs the hash of its file"), "{error}");
}

#[test]
fn what_is_unchanged_is_not_fetched_again() {
    let (server, user) = (server(), User::new());
    let recipe = recipe(&server);
    let first = user.fetch(&recipe, "1.0").unwrap();
    assert_eq!(first.checksums, [("hello".to_owned(), format!("sha256:{HELLO}"))]);
    assert_eq!(user.fetch(&recipe, "1.0").unwrap(), first);
    assert_eq!(server.requests().len(), 1);
    drop(server);
    assert_eq!(user.fetch(&recipe, "1.0").unwrap(), first);
    assert!(partials(&user).is_empty());
    let mode = first.directory.join("files/hello").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn what_was_changed_is_fetched_again() {
    let (server, user) = (server(), User::new());
    let recipe = recipe(&server);
    let first = user.fetch(&recipe, "1.0").unwrap();
    let damage: [fn(&Path); 4] = [
        |tree| fs::write(tree.join("files/hello"), "hell0\n").unwrap(),
        |tree| fs::write(tree.join("files/more"), "").unwrap(),
        |tree| fs::remove_file(tree.join("files/hello")).unwrap(),
        |tree| fs::write(tree.with_file_name("artifact.json"), "{").unwrap(),
    ];
    for (number, change) in damage.into_iter().enumerate() {
        change(&first.directory);
        assert_eq!(user.fetch(&recipe, "1.0").unwrap(), first, "{number}");
        assert_eq!(server.requests().len(), number + 2, "{number}");
        assert_eq!(fs::read_to_string(first.directory.join("files/hello")).unwrap(), "hello\n");
    }
}

#[test]
fn a_failed_fetch_leaves_nothing() {
    let user = User::new();
    let server = LoopbackServer::new(|_| Reply::Truncated(b"hel".to_vec(), 6));
    assert!(matches!(user.fetch(&recipe(&server), "1.0"), Err(SourceError::Download(_))));
    assert!(partials(&user).is_empty());
    assert!(!user.cache.join("url").exists());
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let (server, user) = (server(), User::new());
    let left = user.cache.join(".partial/4194304-0");
    fs::create_dir_all(left.join("tree/files")).unwrap();
    fs::write(left.join("lock"), "").unwrap();
    fs::write(left.join("tree/files/half"), "hel").unwrap();
    user.fetch(&recipe(&server), "1.0").unwrap();
    assert!(partials(&user).is_empty());
}

#[test]
fn many_at_once_get_the_same() {
    let (server, user) = (server(), User::new());
    let recipe = recipe(&server);
    let fetched: Vec<_> = std::thread::scope(|scope| {
        let fetch = || user.fetch(&recipe, "1.0").unwrap();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(fetch)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(fetched.iter().all(|artifact| *artifact == fetched[0]));
    assert!(partials(&user).is_empty());
}

#[test]
fn versions_and_steps_have_artifacts_of_their_own() {
    let (server, user) = (server(), User::new());
    let mut recipe = recipe(&server);
    let first = user.fetch(&recipe, "1.0").unwrap();
    assert_ne!(user.fetch(&recipe, "1.1").unwrap().directory, first.directory);
    recipe.steps.truncate(1);
    assert_eq!(user.fetch(&recipe, "1.0").unwrap(), first, "what is not fetched does not count");
    let wrong = user.fetch(&recipe, "../1").unwrap_err();
    assert!(matches!(wrong, SourceError::Version(_)), "{wrong}");
}
