//! The programs that a wheel installs: its console scripts, and files that go to `bin/` as they are.

use super::installed_programs::is_program_name;
use super::source_error::SourceError;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;
use zip::ZipArchive;

/// More than any list of entry points.
const LONGEST_FILE: u64 = 1 << 20;

pub(super) fn wheel_programs(wheel: &Path, extras: &[String]) -> Result<Vec<String>, SourceError> {
    let file = File::open(wheel).map_err(SourceError::io(wheel))?;
    let broken =
        |error: &dyn std::fmt::Display| SourceError::output("pip", format!("a wheel: {error}"));
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| broken(&error))?;
    let names: Vec<String> =
        archive.file_names().flatten().map(std::borrow::Cow::into_owned).collect();
    let mut programs: BTreeSet<String> = names.iter().filter_map(|name| script(name)).collect();
    for name in names.iter().filter(|name| is_entry_points(name)) {
        let entry = archive.by_name(name).map_err(|error| broken(&error))?;
        let mut text = String::new();
        entry.take(LONGEST_FILE).read_to_string(&mut text).map_err(|error| broken(&error))?;
        programs.extend(console_scripts(&text, extras));
    }
    Ok(programs.into_iter().filter(|name| is_program_name(name)).collect())
}

/// `black-26.10.1.dist-info/entry_points.txt`
fn is_entry_points(name: &str) -> bool {
    name.split_once('/').is_some_and(|(directory, file)| {
        directory.ends_with(".dist-info") && file == "entry_points.txt"
    })
}

/// `ruff-0.8.0.data/scripts/ruff`
fn script(name: &str) -> Option<String> {
    let (directory, rest) = name.split_once('/')?;
    let file = rest.strip_prefix("scripts/").filter(|file| !file.contains('/'))?;
    directory.ends_with(".data").then(|| file.to_owned())
}

/// The names in `[console_scripts]`. One that needs an extra counts only if the extra is installed.
fn console_scripts(text: &str, extras: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.trim();
            continue;
        }
        let Some((name, function)) = line.split_once('=').filter(|_| section == "console_scripts")
        else {
            continue;
        };
        let needed = function.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
        let mut needed = needed.split(',').map(str::trim).filter(|extra| !extra.is_empty());
        if !line.starts_with(['#', ';']) && needed.all(|extra| extras.iter().any(|e| e == extra)) {
            names.push(name.trim().to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn console_scripts_are_read_with_their_extras() {
        let text = "[console_scripts]\nblack = black:patched_main\nblackd = blackd:patched_main [d]\n\
            # no = x:y\n\n[ gui_scripts ]\nwindow = x:y\n[console_scripts]\nlast=a.b:c [d, e]\n";
        assert_eq!(console_scripts(text, &[]), ["black"]);
        assert_eq!(console_scripts(text, &["d".to_owned()]), ["black", "blackd"]);
        let both = ["d".to_owned(), "e".to_owned()];
        assert_eq!(console_scripts(text, &both), ["black", "blackd", "last"]);
        assert!(console_scripts("", &[]).is_empty());
    }

    #[test]
    fn files_for_bin_are_found() {
        assert_eq!(script("ruff-0.8.0.data/scripts/ruff").as_deref(), Some("ruff"));
        for name in ["ruff/scripts/x", "a.data/scripts/b/c", "a.data/data/bin/x", "scripts/x"] {
            assert_eq!(script(name), None, "{name}");
        }
        assert!(is_entry_points("x-1.dist-info/entry_points.txt"));
        assert!(!is_entry_points("x/entry_points.txt"));
    }
}
