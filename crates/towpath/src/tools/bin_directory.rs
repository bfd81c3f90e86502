//! The directory with the programs of installed tools, and the user's PATH: the line that puts it there,
//! and programs that come before it.

use crate::environment::Environment;
use std::path::{Path, PathBuf};
use towpath_core::files::is_program;

/// The file of the user's shell and the line for it; none where `bin/` is on PATH.
pub fn path_line(env: &Environment, bin: &Path) -> Option<(&'static str, String)> {
    if env.paths("PATH").iter().any(|directory| directory == bin) {
        return None;
    }
    let shell = env.text("SHELL").unwrap_or_default();
    let quoted = towpath_shell::bash::quote(&bin.display().to_string());
    Some(match shell.rsplit('/').next().unwrap_or_default() {
        "fish" => ("~/.config/fish/config.fish", format!("fish_add_path {quoted}")),
        "zsh" => ("~/.zshrc", format!("export PATH={quoted}:\"$PATH\"")),
        _ => ("~/.bashrc", format!("export PATH={quoted}:\"$PATH\"")),
    })
}

/// The program that comes before the tool's on PATH. Without `bin/` on PATH, any program of the name.
pub fn shadowing(env: &Environment, bin: &Path, program: &str) -> Option<PathBuf> {
    let own = bin.join(program).canonicalize().ok();
    let path = env.paths("PATH");
    let before = path.iter().take_while(|directory| *directory != bin);
    let mut files = before.map(|directory| directory.join(program));
    files.find(|file| is_program(file) && file.canonicalize().ok() != own)
}
