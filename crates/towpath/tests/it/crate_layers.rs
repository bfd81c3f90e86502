//! Checks the layers: which crate may use which, that only the binary prints, and that the modules of
//! the binary use each other in one direction. A file of tests that no test binary names is found too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A crate, and the crates of ours that it may use. An arrow only ever points down this table.
const TABLE: &[(&str, &[&str])] = &[
    (
        "towpath",
        &[
            "server",
            "testing",
            "view",
            "tool",
            "engine",
            "agent",
            "run",
            "recipe",
            "corrections",
            "document",
            "store",
            "process",
            "shell",
            "core",
        ],
    ),
    ("towpath-server", &["view", "engine", "run", "recipe", "store", "shell", "core"]),
    ("towpath-view", &["engine", "run", "recipe", "store", "core"]),
    ("towpath-testing", &["engine", "run", "recipe", "process", "shell", "core"]),
    ("towpath-tool", &["process", "store", "shell", "core"]),
    ("towpath-engine", &["executor", "run", "recipe", "document", "store", "shell", "core"]),
    ("towpath-executor", &["agent", "process", "shell", "core"]),
    ("towpath-agent", &["core"]),
    ("towpath-run", &["recipe", "document", "shell", "core"]),
    ("towpath-recipe", &["document", "shell", "core"]),
    ("towpath-document", &["shell", "core"]),
    ("towpath-corrections", &["store", "shell", "core"]),
    ("towpath-store", &["core"]),
    ("towpath-process", &["core"]),
    ("towpath-shell", &["core"]),
    ("towpath-core", &[]),
];

fn crates() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The crates of ours that a manifest's `[dependencies]` names.
fn uses(manifest: &str) -> BTreeSet<String> {
    let table: toml::Table = manifest.parse().expect("a manifest is TOML");
    let empty = toml::Table::new();
    let dependencies = table.get("dependencies").and_then(|d| d.as_table()).unwrap_or(&empty);
    dependencies.keys().filter_map(|k| k.strip_prefix("towpath-")).map(str::to_owned).collect()
}

#[test]
fn an_arrow_only_points_down_the_table() {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(crates()).expect("the crates' folder can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().expect("a folder has a name").to_string_lossy().into_owned();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).expect("a crate has a manifest");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is named as its folder");
        found.insert(name, uses(&manifest));
    }
    let table: BTreeSet<&str> = TABLE.iter().map(|(name, _)| *name).collect();
    let names: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, table, "every crate is in the table, and nothing else");
    for (name, allowed) in TABLE {
        let allowed: BTreeSet<String> = allowed.iter().map(|a| (*a).to_owned()).collect();
        let extra: Vec<_> = found[*name].difference(&allowed).collect();
        assert!(extra.is_empty(), "{name} may not use {extra:?}");
    }
    for (index, (name, allowed)) in TABLE.iter().enumerate() {
        let below = &TABLE[index + 1..];
        for used in *allowed {
            let used = format!("towpath-{used}");
            assert!(below.iter().any(|(b, _)| *b == used), "{name} points up to {used}");
        }
    }
}

/// Every Rust file below a folder.
fn sources(folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).expect("a source can be read");
            files.push((path.display().to_string(), text));
        }
    }
}

const PURE: &[&str] = &["std::env::join_paths", "std::env::split_paths", "std::env::consts"];
/// The process that confines itself and then becomes a job: it gives the job the environment it has got.
const ENTRY: &str = "towpath-process/src/sandbox/confined_job.rs";

#[test]
fn only_the_binary_reads_the_environment_or_prints() {
    for (name, _) in TABLE.iter().filter(|(name, _)| *name != "towpath") {
        let mut files = Vec::new();
        sources(&crates().join(name).join("src"), &mut files);
        assert!(!files.is_empty(), "{name} has sources");
        // A program hands its arguments to the library.
        for (file, text) in files.into_iter().filter(|(file, _)| !file.contains("/src/bin/")) {
            let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
            // What belongs to paths or to the compiler is not the environment.
            let code = PURE.iter().fold(code.to_owned(), |code, name| code.replace(name, ""));
            let is_entry = file.ends_with(ENTRY);
            for word in ["std::env::", "env::var", "println!", "eprintln!", "home_dir"] {
                assert!(is_entry || !code.contains(word), "{file} uses {word}");
            }
        }
    }
}

/// The code of the binary: each file by its path below `src`, without comments.
fn binary_sources() -> Vec<(String, String)> {
    let folder = crates().join("towpath/src");
    let mut files = Vec::new();
    sources(&folder, &mut files);
    let code = |(path, text): (String, String)| {
        let below = Path::new(&path).strip_prefix(&folder).expect("a source is below its folder");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        (below.display().to_string(), code.collect::<Vec<_>>().join("\n"))
    };
    files.into_iter().map(code).collect()
}

/// What follows each occurrence of a path's beginning: `exit` for `crate::exit::Exit`.
fn names_after<'a>(code: &'a str, beginning: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(beginning).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The top-level module that a file of the binary belongs to.
fn module(path: &str) -> &str {
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs")
}

#[test]
fn the_modules_of_the_binary_use_each_other_in_one_direction() {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, code) in binary_sources() {
        assert!(!code.contains("crate::{"), "{path}: one `use crate::` per module");
        let own = module(&path).to_owned();
        let others = names_after(&code, "crate::").filter(|name| *name != own).map(str::to_owned);
        uses.entry(own.clone()).or_default().extend(others);
    }
    assert!(uses.len() > 8 && uses["session"].contains("terminal"), "{uses:?}");
    while !uses.is_empty() {
        let free = |name: &String| !uses.contains_key(name);
        let done: Vec<String> =
            uses.iter().filter(|(_, used)| used.iter().all(free)).map(|(n, _)| n.clone()).collect();
        assert!(!done.is_empty(), "these modules use each other in a circle: {uses:?}");
        for name in &done {
            drop(uses.remove(name));
        }
    }
}

#[test]
fn nothing_but_the_command_line_uses_a_command() {
    let files = binary_sources();
    let commands: BTreeSet<&str> = files
        .iter()
        .filter_map(|(path, _)| path.strip_prefix("commands/")?.split(['/', '.']).next())
        .filter(|name| *name != "mod")
        .collect();
    assert!(commands.contains("run") && commands.contains("completions"), "{commands:?}");
    for (path, code) in &files {
        if path != "cli.rs" {
            let found = names_after(code, "crate::").any(|name| name == "commands");
            assert!(!found, "{path} uses crate::commands");
        }
        let Some(inside) = path.strip_prefix("commands/") else { continue };
        let above = if inside.contains('/') { "super::super::" } else { "super::" };
        let other = names_after(code, above).find(|name| commands.contains(name));
        assert_eq!(other, None, "{path} uses another command");
    }
}

#[test]
fn one_file_of_the_binary_reads_the_environment() {
    for (path, code) in binary_sources().iter().filter(|(path, _)| path != "environment.rs") {
        assert!(!code.contains("std::env") && !code.contains("env::var"), "{path} reads it");
    }
}

#[test]
fn every_file_of_tests_is_in_a_test_binary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = |path: &Path| -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").path()).collect()
    };
    let binaries = entries(&crates).into_iter().flat_map(|path| entries(&path.join("tests")));
    let mut found = 0;
    for directory in binaries {
        let Ok(main) = fs::read_to_string(directory.join("main.rs")) else { continue };
        for file in entries(&directory).iter().filter(|file| file.extension().is_some()) {
            let name = file.file_stem().expect("a file has a name").to_string_lossy();
            let named = name == "main" || main.contains(&format!("mod {name};"));
            assert!(named, "{} is in no test binary", file.display());
            found += 1;
        }
    }
    assert!(found > 100, "{found} files");
}
