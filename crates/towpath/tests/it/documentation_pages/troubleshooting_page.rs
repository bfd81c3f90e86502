//! The page about problems has every exit code, every kind of error, every fault of an agent and every
//! code of a problem, and none that does not exist: they are read from the sources that define them.

use super::{page, root, rows_below};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/troubleshooting.md";

/// Words of these crates that are written like a code and are none.
const NO_CODES: &[&str] = &[
    "agent-path",
    "claude-code",
    "code-reviewer",
    "docker-compose",
    "github-copilot",
    "kebab-case",
    "max-total-steps",
    "restart-new-session",
    "su-exec",
];

/// The words of the first cells of a section's tables.
fn words_below(heading: &str) -> Vec<String> {
    let rows = rows_below(&page(PAGE), heading);
    let is_head = |cell: &str| ["code", "kind", "fault"].contains(&cell);
    let words = rows.iter().filter(|cell| !is_head(cell)).flat_map(|cell| cell.split(", "));
    words.map(str::to_owned).collect()
}

#[track_caller]
fn are_the_same(written: Vec<String>, defined: BTreeSet<String>) {
    let all: BTreeSet<String> = written.iter().cloned().collect();
    assert_eq!(all.len(), written.len(), "a word is there twice: {written:?}");
    let missing: Vec<&String> = defined.difference(&all).collect();
    let unknown: Vec<&String> = all.difference(&defined).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing {missing:?}, unknown {unknown:?}");
}

/// The rows of a table that a macro of a source has, each by what is between two texts.
fn rows_of_macro(source: &str, start: &str, (before, after): (&str, &str)) -> BTreeSet<String> {
    let source = page(source);
    let (_, table) = source.split_once(start).expect("the table is there");
    let (table, _) = table.split_once("\n}").expect("the table ends");
    let between = |line: &str| Some(line.split_once(before)?.1.split_once(after)?.0.to_owned());
    table.lines().filter_map(between).collect()
}

#[test]
fn it_has_every_exit_code_kind_of_error_and_fault() {
    let exit = "crates/towpath/src/exit.rs";
    let codes = rows_of_macro(exit, "\nexit_codes! {", (" = ", ", severity "));
    are_the_same(words_below("Exit codes"), codes);
    let kinds = rows_of_macro(exit, "\nerror_kinds! {", (" = \"", "\";"));
    are_the_same(words_below("Errors of commands"), kinds);
    let faults = "crates/towpath-core/src/fault_kind.rs";
    let faults = rows_of_macro(faults, "match self {", ("=> \"", "\","));
    assert!(faults.len() > 5, "{faults:?}");
    are_the_same(words_below("Faults of agents"), faults);
}

#[test]
fn it_has_every_code_of_a_problem() {
    let documents = page("crates/towpath-document/src/problem_codes.rs");
    let code = |line: &str| Some(line.strip_prefix("pub const ")?.split_once(':')?.0.to_owned());
    let documents: BTreeSet<String> = documents.lines().filter_map(code).collect();
    are_the_same(words_below("Problems in documents"), documents);
    let codes = codes_in_sources();
    assert!(codes.len() > 100, "{codes:?}");
    are_the_same(words_below("Problems in recipes"), codes);
}

/// Codes are the words that problems are made with, and all words with a hyphen in crates that read
/// files, where codes are also passed on by other names.
fn codes_in_sources() -> BTreeSet<String> {
    let hyphenated = regex::Regex::new(r#""([a-z]+(?:-[a-z0-9]+)+)""#).expect("a pattern");
    let given = r#"(?:Diagnostic::(?:error|warning|note)\(|\.error\(|_code:)\s*"([a-z0-9-]+)""#;
    let given = regex::Regex::new(given).expect("a pattern");
    let mut sources = Vec::new();
    collect(&root().join("crates"), &mut sources);
    let mut codes = BTreeSet::new();
    for (path, text) in &sources {
        let path = path.to_str().expect("our paths are text");
        let reads = ["towpath-core", "towpath-recipe", "towpath-shell", "towpath-testing"];
        let reads = reads.iter().any(|name| path.contains(&format!("/{name}/src/")));
        // Names of recipes, and programs whose arguments we know.
        let names = ["builtin_recipes.rs", "/bash/", "/command_path.rs"];
        let names = names.iter().any(|part| path.contains(part));
        if (reads || text.contains("Diagnostic::new(")) && !names {
            codes.extend(hyphenated.captures_iter(text).map(|found| found[1].to_owned()));
        }
        codes.extend(given.captures_iter(text).map(|found| found[1].to_owned()));
    }
    codes.retain(|code| !NO_CODES.contains(&code.as_str()));
    codes
}

/// The sources of all crates, without what only their own tests use.
fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(directory).expect("a directory can be read") {
        let path = entry.expect("an entry can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "tests" && name != "target" {
                collect(&path, found);
            }
        } else if name.ends_with(".rs")
            && name != "tests.rs"
            && path.to_string_lossy().contains("/src/")
        {
            let text = std::fs::read_to_string(&path).expect("a source is text");
            let own = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(&text).to_owned();
            found.push((path, own));
        }
    }
}
