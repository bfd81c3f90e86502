//! `towpath link`: this program under its other names. It creates links and replaces links; an
//! existing file is never touched.

use super::Execute;
use crate::compat::NAMES;
use crate::environment::{Environment, Invocation, own_program};
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Create links to this program under its other names.
///
/// A link to another program is replaced only with --force, a regular file never.
///
/// Example: towpath link ~/.local/bin
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory for the links, preferably one on PATH.
    pub directory: PathBuf,
    /// Replace links to other programs.
    #[arg(long)]
    pub force: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let directory = env.current.join(env.expand_home(&self.directory));
        if !directory.is_dir() {
            let shown = self.directory.display();
            return Err(CommandError::bad_input(format!(
                "{shown} is not a directory; create it first"
            )));
        }
        let target = own_program()?;
        let mut refused = false;
        for other in NAMES {
            let link = directory.join(other.name);
            let shown = shown_path(&link, env);
            match create(&link, &target, self.force)
                .map_err(|e| CommandError::setup(format!("{shown}: {e}")))?
            {
                LinkResult::Created => out::line(format!("{shown}: created, {}", other.what)),
                LinkResult::Unchanged => out::line(format!("{shown}: exists already")),
                LinkResult::Replaced(old) => {
                    out::line(format!("{shown}: replaced, it was a link to {}", old.display()));
                }
                LinkResult::Refused(why) => {
                    refused = true;
                    out::note(format!("{shown}: not created, {why}"));
                }
            }
        }
        if !on_path(env, &directory) {
            let shown = shown_path(&directory, env);
            out::note(format!("note: {shown} is not on PATH, so the links are not found by name"));
        }
        Ok(if refused { Exit::BadInput } else { Exit::Done })
    }
}

enum LinkResult {
    Created,
    Unchanged,
    Replaced(PathBuf),
    Refused(String),
}

fn create(link: &Path, target: &Path, force: bool) -> std::io::Result<LinkResult> {
    match symlink(target, link) {
        Ok(()) => return Ok(LinkResult::Created),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    if !link.symlink_metadata()?.is_symlink() {
        let why = "a file of that name exists; move it away first".to_owned();
        return Ok(LinkResult::Refused(why));
    }
    let old = link.read_link()?;
    if old == target {
        return Ok(LinkResult::Unchanged);
    }
    if !force {
        let old = old.display();
        return Ok(LinkResult::Refused(format!("it is a link to {old}; --force replaces it")));
    }
    // Created under another name and renamed, so that the link is never missing.
    let mut new = link.as_os_str().to_owned();
    new.push(format!(".{}", std::process::id()));
    let new = PathBuf::from(new);
    symlink(target, &new)?;
    std::fs::rename(&new, link).inspect_err(|_| {
        let _ = std::fs::remove_file(&new);
    })?;
    Ok(LinkResult::Replaced(old))
}

fn on_path(env: &Environment, directory: &Path) -> bool {
    let same = |other: &Path| match (other.canonicalize(), directory.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    env.paths("PATH").iter().any(|p| same(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_are_ever_replaced_and_only_when_asked() {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, link) = (directory.path().join("dp"), directory.path().join("meld"));
        let (target, other) = (Path::new("/opt/towpath"), Path::new("/opt/other"));
        std::fs::write(&file, "mine").expect("write");
        symlink(other, &link).expect("link");
        for force in [false, true] {
            assert!(matches!(create(&file, target, force), Ok(LinkResult::Refused(_))));
            assert_eq!(std::fs::read_to_string(&file).expect("read"), "mine");
        }
        assert!(matches!(create(&link, target, false), Ok(LinkResult::Refused(_))));
        assert_eq!(link.read_link().expect("link"), other);
        let replaced = create(&link, target, true);
        assert!(matches!(replaced, Ok(LinkResult::Replaced(old)) if old == other));
        assert!(matches!(create(&link, target, false), Ok(LinkResult::Unchanged)));
        let left: Vec<_> = std::fs::read_dir(directory.path()).expect("read").collect();
        assert_eq!(left.len(), 2, "no other name is left behind");
    }
}
