//! Programs on PATH that run instead of an installed tool's.

use crate::environment::{Environment, is_program};
use std::path::{Path, PathBuf};

/// The program that comes before the tool's on PATH. Without `bin/` on PATH, any program of the name.
pub fn shadowing(env: &Environment, bin: &Path, program: &str) -> Option<PathBuf> {
    let own = bin.join(program).canonicalize().ok();
    let path = env.paths("PATH");
    let before = path.iter().take_while(|directory| *directory != bin);
    let mut files = before.map(|directory| directory.join(program));
    files.find(|file| is_program(file) && file.canonicalize().ok() != own)
}
