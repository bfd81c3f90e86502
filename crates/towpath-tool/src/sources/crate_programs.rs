//! The programs of a crate: those its manifest names, and those that Cargo finds by their files. The
//! registry's index does not have them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// What a crate's manifest and its files mean; in alphabetical order. None if it is no manifest.
pub(super) fn crate_programs(directory: &Path) -> Option<Vec<String>> {
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).ok()?;
    let has_main = directory.join("src/main.rs").is_file();
    let mut files = Vec::new();
    for entry in fs::read_dir(directory.join("src/bin")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.strip_suffix(".rs") {
            Some(stem) => files.push(stem.to_owned()),
            None if entry.path().join("main.rs").is_file() => files.push(name),
            None => {}
        }
    }
    programs_of_manifest(&manifest, has_main, &files)
}

fn programs_of_manifest(manifest: &str, has_main: bool, files: &[String]) -> Option<Vec<String>> {
    let manifest: Table = manifest.parse().ok()?;
    let package = manifest.get("package")?.as_table()?;
    let name = package.get("name")?.as_str()?;
    let listed = manifest.get("bin").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names = listed.iter().filter_map(|bin| bin.get("name")?.as_str()).map(str::to_owned);
    let mut programs: BTreeSet<String> = names.collect();
    // A published manifest lists what was found, and turns the search off.
    let searched = package.get("autobins").and_then(Value::as_bool).unwrap_or(true);
    if searched {
        let has_path =
            |path: &str| listed.iter().any(|b| b.get("path").and_then(Value::as_str) == Some(path));
        if has_main && !has_path("src/main.rs") {
            programs.insert(name.to_owned());
        }
        programs
            .extend(files.iter().filter(|file| !has_path(&format!("src/bin/{file}.rs"))).cloned());
    }
    Some(programs.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_listed_or_found() {
        let programs = |manifest: &str, has_main, files: &[&str]| {
            let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
            programs_of_manifest(manifest, has_main, &files)
        };
        let package = "[package]\nname = \"ripgrep\"\n";
        let listed =
            format!("{package}autobins = false\n[[bin]]\nname = \"rg\"\npath = \"x.rs\"\n");
        let renamed = format!("{package}[[bin]]\nname = \"rg\"\npath = \"src/main.rs\"\n");
        let cases: &[(&str, bool, &[&str], &[&str])] = &[
            (package, false, &[], &[]),
            (package, true, &[], &["ripgrep"]),
            (package, true, &["b", "a"], &["a", "b", "ripgrep"]),
            (&listed, true, &["other"], &["rg"]),
            (&renamed, true, &["other"], &["other", "rg"]),
        ];
        for (manifest, has_main, files, expected) in cases {
            assert_eq!(programs(manifest, *has_main, files).unwrap(), *expected, "{manifest}");
        }
        assert_eq!(programs("[workspace]", true, &[]), None);
        assert_eq!(programs("not TOML", true, &[]), None);
    }
}
