//! Recipe files on disk: reading one as text, and what a directory offers by name. A file that is
//! too large, no text or not readable is a problem with its path, never a guess.

use crate::yaml::MAX_BYTES;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span, is_safe_segment};

/// The manifest's file in a directory of recipes.
pub const MANIFEST_FILE: &str = "_recipe_manifest.json";
pub(crate) const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];
/// How deep below a search directory recipes are listed.
pub(crate) const LIST_DEPTH: usize = 4;
/// Directories of other people's files, often huge.
pub(crate) const SKIPPED: [&str; 2] = ["node_modules", "target"];

/// Reads a file as recipe text, known to the user as `shown`.
pub(crate) fn load(path: &Path, shown: &str) -> Result<Arc<Source>, Diagnostic> {
    let bytes = read_bytes(path).map_err(|error| unreadable(shown, &error))?;
    if bytes.len() > MAX_BYTES {
        let message = format!("{shown} is larger than {MAX_BYTES} bytes");
        return Err(Diagnostic::error("too-large", message));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(shown, text.trim_start_matches('\u{feff}'))),
        Err(error) => Err(not_text(shown, error.as_bytes(), error.utf8_error().valid_up_to())),
    }
}

fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    // Room for most recipes: they are read at once.
    let mut bytes = Vec::with_capacity(8 << 10);
    File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn unreadable(shown: &str, error: &std::io::Error) -> Diagnostic {
    let why = match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "this is a directory".to_owned(),
        _ => error.to_string(),
    };
    Diagnostic::error("unreadable", format!("cannot read {shown}: {why}"))
}

fn not_text(shown: &str, bytes: &[u8], good: usize) -> Diagnostic {
    // Up to the bad byte nothing changes, so the location is right in the replaced text too.
    let source = Source::new(shown, String::from_utf8_lossy(bytes));
    let end = good + char::REPLACEMENT_CHARACTER.len_utf8();
    let (line, _) = source.line_column(good);
    Diagnostic::error("not-utf8", format!("{shown} is not UTF-8 text: line {line}")).at(
        &source,
        Span { start: good, end },
        "this byte is no text",
    )
}

/// The recipes below a directory by the names that call them, in order.
pub(crate) fn names_below(
    directory: &Path,
    depth: usize,
) -> std::io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    collect(directory, "", depth, &mut found)?;
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| rank(&a.1).cmp(&rank(&b.1))));
    Ok(found)
}

/// A pipe or a device that was only found would block its reader. What cannot be looked at is reported
/// when it is read.
fn is_plain(path: &Path) -> bool {
    path.metadata().map_or(true, |found| found.is_file())
}

/// The position of a file's ending among those that are tried for a name.
fn rank(path: &Path) -> usize {
    let extension = path.extension().unwrap_or_default();
    EXTENSIONS.iter().position(|e| extension == *e).unwrap_or(EXTENSIONS.len())
}

fn collect(
    directory: &Path,
    prefix: &str,
    depth: usize,
    found: &mut Vec<(String, PathBuf)>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else { continue };
        if !is_safe_segment(stem) {
            continue;
        }
        // The directory knows what each file is; only a link has to be followed.
        let kind = entry.file_type().ok().filter(|kind| !kind.is_symlink());
        if kind.map_or_else(|| path.is_dir(), |kind| kind.is_dir()) {
            // Below the directory itself, what cannot be read is not offered.
            let passed = kind.is_none() || path.extension().is_some() || SKIPPED.contains(&stem);
            if depth > 1 && !passed {
                let _ = collect(&path, &format!("{prefix}{stem}/"), depth - 1, found);
            }
        } else if rank(&path) < EXTENSIONS.len()
            && !path.ends_with(MANIFEST_FILE)
            && kind.map_or_else(|| is_plain(&path), |kind| kind.is_file())
        {
            found.push((format!("{prefix}{stem}"), path));
        }
    }
    Ok(())
}

/// Where the text of a recipe is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecipeFile {
    OnDisk(PathBuf),
    BuiltIn(&'static str),
}

pub(crate) enum Refusal {
    Outside(PathBuf),
    Unreadable(std::io::Error),
}

impl Refusal {
    pub fn problem(self, shown: &str) -> Diagnostic {
        match self {
            Refusal::Unreadable(error) => unreadable(shown, &error),
            Refusal::Outside(real) => Diagnostic::error(
                "outside",
                format!("{shown} leads out of its directory, to {}", real.display()),
            )
            .help("a name stays below its directory: copy the file, or name the file itself"),
        }
    }
}

/// The real path, if it is below the base with all symbolic links resolved.
pub(crate) fn stays_below(base: &Path, path: &Path) -> Result<PathBuf, Refusal> {
    let base = base.canonicalize().map_err(Refusal::Unreadable)?;
    let real = path.canonicalize().map_err(Refusal::Unreadable)?;
    if real.starts_with(&base) { Ok(real) } else { Err(Refusal::Outside(real)) }
}
