//! What a string of a recipe must look like, beyond being one: names, paths, hashes, URLs, and the
//! placeholders in them. Each check returns why it refuses, in words for the user.

use crate::command_words::command_words;
use crate::output_pattern::OutputPattern;
use crate::sources::{SourceKind, SourceRef, check_version};
use crate::verify_section::VERSION;
use towpath_core::{nearest, quoted_list};

/// What the parameters of steps may contain in braces.
const PLACEHOLDERS: &[&str] = &["version", "os", "arch"];

const LONGEST_NAME: usize = 255;

/// Checks a value of one of the kinds that the table of keys has.
pub(super) fn check_value(kind: &str, text: &str) -> Result<(), String> {
    let package = |kind| SourceRef::new(kind, text).map(|_| ()).map_err(|error| error.to_string());
    match kind {
        "name" => check_tool_name(text),
        "npm" => package(SourceKind::Npm),
        "cargo" => package(SourceKind::Cargo),
        "pypi" => package(SourceKind::Pypi),
        "repository" => package(SourceKind::GitHub),
        "version" => check_version(text),
        "url" => url(text),
        "path" => inner_path(text),
        "sha256" => sha256(text),
        "hash" => text.strip_prefix("sha256:").map_or(Err(HASH.to_owned()), sha256),
        "pattern" => OutputPattern::new(text).map(|_| ()).map_err(|error| error.to_string()),
        "command" => {
            version_only(text)?;
            command_words(text).map(|_| ()).map_err(|error| error.to_string())
        }
        "word" if text.contains('\0') => Err("it contains a NUL character".to_owned()),
        "word" => placeholders(text),
        _ => one_line(text),
    }
}

const HASH: &str = "it begins with `sha256:`";

/// A name of a tool, a binary or an alias: `^[A-Za-z0-9_][A-Za-z0-9._+-]*$`. It becomes a file name.
pub fn check_tool_name(text: &str) -> Result<(), String> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let rest = text.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    match starts && rest && text.len() <= LONGEST_NAME {
        true => Ok(()),
        false => Err(format!("`{text}` is not a name: letters, digits, `.`, `_`, `+` and `-`")),
    }
}

fn one_line(text: &str) -> Result<(), String> {
    match text.trim().is_empty() || text.contains(char::is_control) {
        true => Err("it must be one line that is not empty".to_owned()),
        false => Ok(()),
    }
}

pub(crate) fn sha256(text: &str) -> Result<(), String> {
    match text.len() == 64 && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')) {
        true => Ok(()),
        false => Err("a SHA-256 is 64 hexadecimal digits in lower case".to_owned()),
    }
}

fn url(text: &str) -> Result<(), String> {
    one_line(text)?;
    placeholders(text)?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest.is_some_and(|rest| !rest.is_empty() && !text.contains(' ')) {
        true => Ok(()),
        false => Err(format!("`{text}` is not a URL: it begins with https:// or http://")),
    }
}

/// A path that stays inside of the install.
fn inner_path(text: &str) -> Result<(), String> {
    one_line(text)?;
    placeholders(text)?;
    match text.starts_with('/') || text.split('/').any(|part| part == ".." || part.is_empty()) {
        true => Err(format!("`{text}` is not a path inside of the install")),
        false => Ok(()),
    }
}

/// `{name}` with a name that nothing fills would arrive as it is written.
fn placeholders(text: &str) -> Result<(), String> {
    for part in text.split('{').skip(1) {
        let Some((name, _)) = part.split_once('}') else { continue };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        if is_name && !PLACEHOLDERS.contains(&name) {
            let near = nearest(name, PLACEHOLDERS.iter().copied());
            let known = quoted_list(&["{version}", "{os}", "{arch}"]);
            let help =
                near.map_or(format!("known are {known}"), |n| format!("did you mean `{{{n}}}`?"));
            return Err(format!("unknown placeholder `{{{name}}}`: {help}"));
        }
    }
    Ok(())
}

/// As above, where only the version can be filled in.
fn version_only(text: &str) -> Result<(), String> {
    one_line(text)?;
    placeholders(&text.replace(VERSION, ""))?;
    match text.contains("{os}") || text.contains("{arch}") {
        true => Err("only `{version}` can be used here".to_owned()),
        false => Ok(()),
    }
}
