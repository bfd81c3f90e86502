//! The skill for Claude Code as a file: its text, where it is, and whether it is as it was installed.
//! The last line of an installed file has the hash of the lines above it; a file without that, or with
//! another hash, is the user's and is never written.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::shown_path::shown_path;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use towpath_core::files;
use towpath_corrections::host::Host;
use towpath_corrections::install::HostFiles;

pub const TEXT: &str = include_str!("skill_file/SKILL.md");
const FILE: &str = "skills/towpath/SKILL.md";
const SEAL: &str = "<!-- installed by towpath, unchanged: ";

#[derive(Debug)]
pub struct SkillFile {
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillStatus {
    Absent,
    UpToDate,
    /// As an earlier version has installed it.
    Earlier,
    ChangedByUser,
}

impl SkillFile {
    pub fn of_project(env: &Environment) -> Result<SkillFile, CommandError> {
        SkillFile::below(env.project_root(&env.current), &format!(".claude/{FILE}"), env)
    }

    /// Links are followed to the directory of Claude Code's settings, which may be kept elsewhere.
    pub fn of_user(env: &Environment) -> Result<SkillFile, CommandError> {
        let Some(home) = &env.home else { return Err(CommandError::setup("HOME is not set")) };
        let claude = HostFiles::of(Host::ClaudeCode);
        let settings = claude.user_path(&|name| env.get(name).map(PathBuf::from), home);
        let base = settings.parent().unwrap_or(home);
        SkillFile::below(base.canonicalize().unwrap_or_else(|_| base.to_owned()), FILE, env)
    }

    fn below(base: PathBuf, name: &str, env: &Environment) -> Result<SkillFile, CommandError> {
        match files::below(&base, name) {
            Ok(path) => Ok(SkillFile { path }),
            Err(error) => Err(CommandError::setup(format!("{}: {error}", shown_path(&base, env)))),
        }
    }

    pub fn status(&self) -> io::Result<SkillStatus> {
        let text = match files::read_text(&self.path, files::MOST_TEXT) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(SkillStatus::Absent),
            Err(error) => return Err(error),
        };
        let as_installed = |(above, _): (&str, &str)| text == sealed(above);
        Ok(match text.rsplit_once(&format!("\n{SEAL}")).is_some_and(as_installed) {
            true if text == sealed(TEXT) => SkillStatus::UpToDate,
            true => SkillStatus::Earlier,
            false => SkillStatus::ChangedByUser,
        })
    }

    pub fn create(&self) -> io::Result<()> {
        files::create(&self.path, sealed(TEXT).as_bytes())
    }

    pub fn update(&self) -> io::Result<()> {
        files::replace(&self.path, sealed(TEXT).as_bytes())
    }

    /// Removes the file and its own directory, if that is empty then.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        if let Some(directory) = self.path.parent() {
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }
}

fn sealed(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{text}\n{SEAL}{hash} -->\n")
}
