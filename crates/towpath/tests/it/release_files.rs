//! The files around a release fit together: the action passes what its script reads, the workflow builds
//! with the script that `./test` tries, and each script describes itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn yaml(name: &str) -> serde_json::Value {
    let source = towpath_core::Source::new(name, read(name));
    let kind = towpath_core::fields::FileKind {
        name: "a file",
        needs: "nothing",
        field: "field",
        unknown_code: "unknown-field",
        empty_code: "empty-field",
        map: "a map",
        or: " or ",
        shows_written: false,
    };
    let tree = towpath_recipe::parse_yaml(&source, kind);
    assert!(tree.problems.is_empty(), "{name}: {:?}", tree.problems);
    tree.root.expect("a file with something in it").value()
}

#[test]
fn the_action_passes_every_input_to_its_script() {
    let action = yaml("action.yml");
    let inputs: BTreeSet<&String> = action["inputs"].as_object().expect("inputs").keys().collect();
    let [step] = &action["runs"]["steps"].as_array().expect("steps")[..] else {
        panic!("{action}")
    };
    let script = step["run"].as_str().expect("a command").trim_matches('"');
    let script = read(script.strip_prefix("$ACTION/").expect("a script of ours"));
    let mut passed = BTreeSet::new();
    for (name, value) in step["env"].as_object().expect("variables") {
        let value = value.as_str().expect("an expression");
        if let Some(input) = value.strip_prefix("${{ inputs.").and_then(|v| v.strip_suffix(" }}")) {
            assert!(script.contains(&format!("${name}")), "the script does not read {name}");
            passed.insert(inputs.get(&input.to_owned()).copied().expect("an input"));
        }
    }
    assert_eq!(passed, inputs);
    // An input is data: it never becomes a part of the script's text.
    assert!(!step["run"].as_str().expect("a command").contains("${{"), "{step}");
}

#[test]
fn the_release_workflow_builds_and_tries_what_the_test_does() {
    let workflow = yaml(".github/workflows/release.yml");
    let steps = workflow["jobs"]["release"]["steps"].as_array().expect("steps");
    let commands: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    for script in ["tools/release", "tools/try-release"] {
        assert!(commands.contains(&script), "{commands:?}");
        assert!(read("test").contains(script), "{script}");
    }
}

#[test]
fn the_scripts_describe_themselves() {
    for (script, described) in [
        ("release", "Builds everything that users install"),
        ("try-release", "Installs what tools/release built"),
        ("try-crates", "Packages all crates"),
        ("sbom", "Prints the crates"),
    ] {
        let path = root().join("tools").join(script);
        let output =
            Command::new(path).arg("--help").stdin(Stdio::null()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{script}");
        let printed = String::from_utf8(output.stdout).expect("text");
        assert!(printed.starts_with(described), "{script}: {printed}");
        assert!(!printed.contains("set -euo"), "{printed}");
    }
}
