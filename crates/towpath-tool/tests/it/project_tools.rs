//! The tools of a project: what `tools.toml` may contain, and that the lock file is read as it was written.

use proptest::prelude::*;
use towpath_core::Source;
use towpath_tool::project_tools::{LockFile, LockedTool, read_tools_file};
use towpath_tool::self_repair::read_proposal;
use towpath_tool::sources::SourceRef;
use towpath_tool::{ToolSource, write_recipe};

const RECIPE: &str = r#"[metadata]
name = "kibi"

[[steps]]
action = "cargo_install"
crate = "kibi"

[verify]
command = "kibi --version"
"#;

fn locked(version: &str, part: &str, lock: &str) -> LockedTool {
    let from: SourceRef = "cargo:kibi".parse().expect("a source");
    let locks = [(part.to_owned(), lock.to_owned())].into();
    LockedTool::new("kibi", &from, version, RECIPE.to_owned(), locks)
}

#[test]
fn both_forms_of_a_tool_are_read() {
    let text = "[tools]\nkibi = \"cargo:kibi@0.2.2\"\njq = { from = \"github:jqlang/jq\", version = \"1.6\" }\n\
                prettier = \"npm:@scope/prettier\"\n";
    let tools = read_tools_file(&Source::new("tools.toml", text)).expect("it is right");
    let shown: Vec<(String, String, Option<String>)> =
        tools.into_iter().map(|tool| (tool.name, tool.from.to_string(), tool.version)).collect();
    let row = |name: &str, from: &str, version: Option<&str>| {
        (name.to_owned(), from.to_owned(), version.map(str::to_owned))
    };
    assert_eq!(
        shown,
        [
            row("kibi", "cargo:kibi", Some("0.2.2")),
            row("jq", "github:jqlang/jq", Some("1.6")),
            row("prettier", "npm:@scope/prettier", None),
        ]
    );
}

#[test]
fn a_program_of_the_system_and_a_hash_are_read() {
    let hash = "Ab".repeat(32);
    let text = format!(
        "[tools]\njq = \"system\"\nx = {{ from = \"url:http://a.example/x-1.0.tar.gz\", sha256 = \"{hash}\" }}\n"
    );
    let tools = read_tools_file(&Source::new("tools.toml", text)).expect("it is right");
    assert_eq!(tools[0].from, ToolSource::System);
    assert_eq!(tools[1].sha256, Some(hash.to_lowercase()));
    let text = "[tools]\na = \"system@1.6\"\nb = { from = \"npm:b\", sha256 = \"00\" }\n\
                c = \"url:http://a.example/c.tar.gz\"\nd = { from = \"system\", version = \"1\" }\n";
    let problems = read_tools_file(&Source::new("tools.toml", text)).expect_err("all are wrong");
    let messages: Vec<String> = problems.into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 4, "{messages:?}");
    assert!(messages[0].contains("of the system is what it is"), "{messages:?}");
    assert!(messages[1].contains("64 hexadecimal digits"), "{messages:?}");
    assert!(messages[2].contains("use https, or give the file's sha256"), "{messages:?}");
}

#[test]
fn a_lock_file_is_read_as_it_was_written() {
    let mut file = LockFile::default();
    let lock = "# sha256 of the crate: aa\n[[package]]\nname = '''x'''\n";
    file.put(locked("0.2.2", "cargo-0", lock));
    file.put(LockedTool::of_system("jq", Some("1.6")));
    file.put(LockedTool::of_system("less", None));
    let read = LockFile::read(&file.write()).expect("it is ours");
    assert_eq!(read, file);
    let tool = read.find("kibi").expect("it is there");
    assert_eq!(write_recipe(&tool.recipe().expect("a recipe")), RECIPE);
    assert_eq!(tool.locks["cargo-0"], lock);
}

#[test]
fn what_another_platform_fetched_of_the_same_version_stays() {
    let mut file = LockFile::default();
    file.put(locked("0.2.2", "pypi-0 cpython-3.11-linux-riscv", "a"));
    file.put(locked("0.2.2", "pypi-0 cpython-3.12-linux-x86_64", "b"));
    assert_eq!(file.find("kibi").expect("it is there").locks.len(), 2);
    file.put(locked("0.3.0", "pypi-0 cpython-3.12-linux-x86_64", "c"));
    assert_eq!(file.find("kibi").expect("it is there").locks.len(), 1);
}

#[test]
fn a_newer_or_damaged_lock_file_is_refused() {
    for form in [2, 4] {
        let error = LockFile::read(&format!("form = {form}\n")).expect_err("another form");
        assert!(error.to_string().contains("another version"), "{error}");
    }
    let mut file = LockFile::default();
    file.put(locked("0.2.2", "cargo-0", ""));
    let text = file.write().replace("[metadata]", "[metdata]");
    assert!(LockFile::read(&text).expect_err("damaged").to_string().contains("kibi"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), toml in "[\\[\\]a-z=\"@:.{}\n ]{0,120}") {
        for text in [text, toml] {
            let _ = read_tools_file(&Source::new("tools.toml", text.as_str()));
            let _ = LockFile::read(&text);
            let _ = read_proposal(&text, &[("x".to_owned(), "/x".into())]);
            let _ = SourceRef::split_version(&text);
            let _ = text.parse::<SourceRef>();
        }
    }
}
