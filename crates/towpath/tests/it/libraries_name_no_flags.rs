//! Library crates carry data; the binary adds the flag or command that helps. So no text of a
//! library may name a flag or a command of `towpath`, unless it is listed here with the reason.

use crate::support::User;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files, or directories, whose texts are not for the user, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("towpath-agent/src/call.rs", "arguments of the agents' programs"),
    ("towpath-agent/src/backends/", "arguments of the agents' programs"),
    ("towpath-process/src/sandbox/bubblewrap.rs", "the options of bubblewrap"),
    (
        "towpath-recipe/src/field_table.rs",
        "the documentation of fields, for the schema and the docs",
    ),
    (
        "towpath-recipe/src/machine_analysis/dry_run_layout.rs",
        "the text of `agent-recipes --dry-run`, as it was",
    ),
    (
        "towpath-corrections/src/install/",
        "the hooks in the settings of agent programs start towpath",
    ),
    ("towpath-corrections/src/project_rules.rs", "what is hashed before the text of a file"),
    ("towpath-corrections/src/recipe/mod.rs", "options of the commands that agents type"),
    ("towpath-corrections/src/snapshot.rs", "the first bytes of a file"),
    ("towpath-server/src/actions.rs", "it starts towpath itself, with arguments"),
    ("towpath-server/src/own_program.rs", "it starts towpath itself, with arguments"),
    ("towpath-server/src/phone/start_recipe.rs", "it starts towpath itself, with arguments"),
    ("towpath-shell/src/bash/code_programs.rs", "the options of common programs"),
    ("towpath-tool/src/", "options of the programs that are verified"),
    ("towpath-testing/src/case_runner.rs", "it starts towpath itself, with arguments"),
    (
        "towpath-testing/src/read_test_file/machine_flags.rs",
        "arguments for the towpath that a case starts",
    ),
];

/// The flags and the commands of `towpath`, from its manual pages.
fn own_words() -> (BTreeSet<String>, BTreeSet<String>) {
    let user = User::new();
    user.towpath(&["man", "man1"]).exits(0);
    let (mut flags, mut commands) = (BTreeSet::new(), BTreeSet::new());
    for entry in fs::read_dir(user.path("work/man1")).expect("pages") {
        let path = entry.expect("a page").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        commands.extend(name.split('-').nth(1).map(str::to_owned));
        let page = fs::read_to_string(&path).expect("a page is text");
        for bold in page.split("\\fB").skip(1) {
            let bold = bold.split("\\f").next().unwrap_or(bold).replace("\\-", "-");
            if is_flag(&bold) {
                flags.insert(bold);
            }
        }
    }
    assert!(flags.contains("--set") && flags.contains("--include-tags"), "{flags:?}");
    assert!(commands.contains("resume") && commands.contains("runs"), "{commands:?}");
    (flags, commands)
}

fn is_flag(word: &str) -> bool {
    let letters = |c: char| c.is_ascii_lowercase() || c == '-';
    word.strip_prefix("--").is_some_and(|name| !name.is_empty() && name.chars().all(letters))
}

/// The source files of the libraries, without their tests.
fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = Vec::new();
    for entry in fs::read_dir(&crates).expect("the crates' directory") {
        let path = entry.expect("a crate").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("towpath-")) {
            collect(&path.join("src"), &mut found);
        }
    }
    found.sort();
    found
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            collect(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The string literals of a Rust text, without those in comments and in its tests.
fn literals(source: &str) -> Vec<&str> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        let before = &rest[..at];
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix('"') {
            let hashes = before.len() - before.trim_end_matches('#').len();
            let raw = before.trim_end_matches('#').ends_with('r');
            let length = match raw {
                true => inside.find(&format!("\"{}", "#".repeat(hashes))),
                false => end_of_string(inside),
            };
            let length = length.expect("a string ends");
            found.push(&inside[..length]);
            length + 2
        } else {
            character(rest)
        };
        rest = &rest[end..];
    }
    found
}

fn end_of_string(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// The length of a character literal; of a lifetime or a division sign one byte.
fn character(text: &str) -> usize {
    let mut inside = text.char_indices().skip(1);
    match inside.next() {
        Some((_, '\\')) if text.starts_with('\'') => {
            inside.next();
            inside.find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 1)
        }
        Some(_) if text.starts_with('\'') => match inside.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        _ => 1,
    }
}

/// What of our own a text names.
fn named(text: &str, flags: &BTreeSet<String>, commands: &BTreeSet<String>) -> Vec<String> {
    let letters = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    let words = text.split(letters).filter(|word| flags.contains(*word)).map(str::to_owned);
    let called = text.split("towpath ").skip(1).filter_map(|after| {
        let word = after.split(|c: char| !c.is_ascii_lowercase()).next()?;
        commands.contains(word).then(|| format!("towpath {word}"))
    });
    words.chain(called).collect()
}

#[test]
fn no_library_names_a_flag_or_a_command_of_ours() {
    let (flags, commands) = own_words();
    let mut met = BTreeSet::new();
    let mut wrong = Vec::new();
    for path in sources() {
        let source = fs::read_to_string(&path).expect("a source is text");
        let shown = path.to_string_lossy();
        let row = ALLOWED.iter().find(|(start, _)| shown.contains(start));
        for text in literals(&source) {
            let names = named(text, &flags, &commands);
            match row {
                Some((start, _)) if !names.is_empty() => drop(met.insert(*start)),
                _ => wrong.extend(names.iter().map(|name| format!("{shown}: {name} in {text:?}"))),
            }
        }
    }
    assert!(wrong.is_empty(), "these texts belong into the binary:\n{}", wrong.join("\n"));
    let stale: Vec<&str> =
        ALLOWED.iter().map(|(start, _)| *start).filter(|start| !met.contains(start)).collect();
    assert!(stale.is_empty(), "these name nothing of ours any more, take them out: {stale:?}");
}

#[test]
fn texts_are_found_and_comments_are_not() {
    let source = "//! \"a\"\nlet x = '\"'; // \"b\"\nlet y: &'static str = \"c \\\" d\";\n\
                  let z = r#\"e \" f\"#;\nlet q = '\\'';\nlet w = \"g\" / 2;\n\
                  #[cfg(test)]\nmod tests {\n\"h\"";
    assert_eq!(literals(source), ["c \\\" d", "e \" f", "g"]);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let (flags, commands) = (words(&["--set"]), words(&["runs"]));
    let text = "give --set x=1, not --setup; `towpath runs` or towpath itself";
    assert_eq!(named(text, &flags, &commands), ["--set", "towpath runs"]);
}
