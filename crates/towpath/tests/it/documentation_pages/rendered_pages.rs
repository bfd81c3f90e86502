//! Pages that Towpath itself renders are up to date: `docs/documents.md` with its own regions, and
//! `docs/cli.md` from a document that asks every command for its help.

use super::{commands_in, page, root};
use crate::support::{Printed, User};
use std::collections::BTreeSet;
use std::path::Path;

/// Renders in the repository, where `towpath` is the program under test.
fn render(user: &User, arguments: &[&str]) -> Printed {
    let bin = Path::new(env!("CARGO_BIN_EXE_towpath")).parent().expect("a folder");
    let path = std::env::var("PATH").expect("a PATH");
    let mut towpath = user.command(&[&["render"], arguments].concat());
    towpath.current_dir(root()).env("PATH", format!("{}:{path}", bin.display()));
    Printed::from(towpath.output().expect("towpath starts"))
}

#[track_caller]
fn is_up_to_date(check: &[&str], write: &[&str]) {
    let user = User::new();
    let writes = std::env::var("TOWPATH_DOCUMENTS").is_ok_and(|v| v == "write");
    let printed = render(&user, if writes { write } else { check });
    let command = write.join(" ");
    assert_eq!(
        printed.code,
        Some(0),
        "towpath render {command}\n{}{}",
        printed.stdout,
        printed.stderr
    );
}

#[test]
fn the_page_of_documents_is_up_to_date() {
    let name = "docs/documents.md";
    is_up_to_date(&[name, "--in-place", "--strict", "--check", name], &[name, "--in-place"]);
}

#[test]
fn the_page_of_commands_is_up_to_date() {
    let (source, name) = ("docs/cli.mld", "docs/cli.md");
    is_up_to_date(&[source, "--strict", "--check", name], &[source, "-o", name]);
}

#[test]
fn the_page_of_commands_has_every_command() {
    let text = page("docs/cli.md");
    let mut listed = BTreeSet::new();
    let mut described = BTreeSet::new();
    for section in format!("# `towpath`\n{text}").split("# `").skip(1) {
        let (command, help) = section.split_once("`\n").expect("a heading");
        listed.extend(commands_in(help).into_iter().map(|name| format!("{command} {name}")));
        described.insert(command.to_owned());
    }
    assert!(described.remove("towpath") && described.len() > 40, "{described:?}");
    assert_eq!(described, listed);
}

#[test]
fn the_page_of_documents_has_every_key_of_its_json() {
    let text = page("docs/documents.md");
    let user =
        User::new().file("a.mld", ">> c\n@define f(x) = @run [echo {{x}}]\n{{no}}\n@run $f(1)\n");
    let json = user.towpath(&["render", "a.mld", "--format", "json"]).exits(0).json();
    let mut known = BTreeSet::new();
    keys_within(&json, &mut known);
    assert!(known.len() > 15, "{known:?}");
    for key in known {
        assert!(text.contains(&format!("`{key}`")), "no word about {key}");
    }
    let codes = page("crates/towpath-document/src/problem_codes.rs");
    for code in codes.lines().filter_map(|line| line.strip_prefix("pub const ")) {
        let code = code.split(':').next().unwrap_or(code);
        assert!(text.contains(&format!("`{code}`")), "no word about {code}");
    }
}

fn keys_within(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                found.insert(key.clone());
                keys_within(value, found);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|v| keys_within(v, found)),
        _ => {}
    }
}
