//! Recipes as files: what is read, what is refused and where, and that writing is the reverse of reading.

use proptest::prelude::*;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source};
use towpath_tool::{
    Action, InstallStep, Metadata, Origin, Platform, RepairMetadata, RepairMethod, ToolRecipe,
    VerifyMode, VerifySection, VersionSource, read_recipe, write_recipe,
};

const HEXYL: &str = r#"[metadata]
name = "hexyl"
description = "A hex viewer"
binaries = ["hexyl"]

[version]
source = "github"
repository = "sharkdp/hexyl"
tag_prefix = "v"

[[steps]]
action = "download"
url = "https://example.com/hexyl-{version}-{arch}.tar.gz"
sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
file = "hexyl.tar.gz"
when = { os = "linux", arch = "x86-64" }

[[steps]]
action = "extract"
file = "hexyl.tar.gz"
strip = 1

[[steps]]
action = "install_binaries"
binaries = ["hexyl"]

[verify]
command = "hexyl --help"
pattern = "Usage: hexyl "
mode = "output"
exit_code = 1
reason = "no version is printed"
"#;

fn source(text: &str) -> Arc<Source> {
    Source::new("tool.toml", text)
}

fn read(text: &str) -> ToolRecipe {
    read_recipe(&source(text)).unwrap_or_else(|problems| panic!("{:?}", messages(&problems)))
}

fn messages(problems: &[Diagnostic]) -> Vec<String> {
    let line = |problem: &Diagnostic| {
        let label = problem.labels.first().expect("every problem has a location");
        let (line, _) = label.source.line_column(label.span.start);
        match label.text.as_str() {
            "" => format!("{line}: {}", problem.message),
            text => format!("{line}: {} ({text})", problem.message),
        }
    };
    problems.iter().map(line).collect()
}

fn refused(text: &str) -> Vec<String> {
    messages(&read_recipe(&source(text)).expect_err("it is refused"))
}

#[test]
fn all_fields_are_read() {
    let recipe = read(HEXYL);
    assert_eq!(recipe.main_binary(), "hexyl");
    assert_eq!(recipe.steps.len(), 3);
    let when = recipe.steps[0].when.as_ref().expect("it has a condition");
    assert_eq!((when.os, when.arch, when.libc), (Some("linux"), Some("x86-64"), None));
    assert_eq!(recipe.steps[1].action, Action::Extract { file: "hexyl.tar.gz".into(), strip: 1 });
    assert_eq!((recipe.verify.mode, recipe.verify.exit_code), (VerifyMode::Output, 1));
    assert_eq!(read(&write_recipe(&recipe)), recipe);
}

#[test]
fn every_problem_is_reported_at_its_location() {
    let text = HEXYL
        .replace("description =", "desciption =")
        .replace("source = \"github\"", "source = \"githab\"")
        .replace("{arch}", "{architecture}")
        .replace("aaaa\"\n", "a\"\n")
        .replace("strip = 1", "strip = \"1\"")
        .replace("exit_code = 1", "exit_code = 300")
        .replace("hexyl --help", "hexyl --help | head")
        .replace("reason = \"no version is printed\"\n", "");
    let found = refused(&text);
    assert_eq!(
        found,
        [
            "3: unknown key `desciption` (did you mean `description`?)",
            "7: `source` must be `cargo`, `npm`, `pypi`, `github`, `url`, not `githab` \
             (did you mean `github`?)",
            "13: `url`: unknown placeholder `{architecture}`: known are `{version}`, `{os}`, `{arch}`",
            "14: `sha256`: a SHA-256 is 64 hexadecimal digits in lower case",
            "21: `strip` must be a whole number above 0, not `\"1\"`",
            "28: `command`: no shell runs this command, so `|` has no meaning",
            "30: `mode = \"output\"` needs a `reason` (add `reason`)",
            "31: `exit_code` must be an exit code from 0 to 255, not `300`",
        ]
    );
}

#[test]
fn what_is_missing_or_dangerous_is_refused() {
    let missing = refused("[metadata]\nname = \"x\"\n");
    let all = missing.join("\n");
    for name in ["version", "steps", "verify"] {
        assert!(all.contains(&format!("the tool recipe has no `{name}`")), "{all}");
    }
    for (from, to) in [
        ("name = \"hexyl\"", "name = \"../x\""),
        ("file = \"hexyl.tar.gz\"", "file = \"../hexyl.tar.gz\""),
        ("binaries = [\"hexyl\"]\n\n[verify]", "binaries = [\"/bin/sh\"]\n\n[verify]"),
        ("[\"hexyl\"]\n\n[verify]", "[\"hexyl\"]\nas = [\"../x\"]\n\n[verify]"),
        ("[\"hexyl\"]\n\n[verify]", "[\"hexyl\"]\nas = [\"x\", \"y\"]\n\n[verify]"),
        ("https://", "file://"),
        ("\"Usage: hexyl \"", "\"\""),
        ("\"Usage: hexyl \"", "\"/(/\""),
        ("sharkdp/hexyl", "hexyl"),
        ("action = \"extract\"", "action = \"extractt\""),
    ] {
        let text = HEXYL.replacen(from, to, 1);
        assert_ne!(text, HEXYL);
        assert_eq!(refused(&text).len(), 1, "{to}: {:?}", refused(&text));
    }
}

#[test]
fn the_original_stays_as_it_is_when_its_check_is_repaired() {
    let recipe = read(HEXYL);
    let before = recipe.clone();
    let verify = VerifySection::by_version("hexyl");
    let repaired = recipe.with_verify(verify.clone());
    assert_eq!(recipe, before);
    assert_eq!((&repaired.verify, &repaired.steps), (&verify, &recipe.steps));
}

#[test]
fn an_edited_file_is_the_users() {
    let recipe = read(HEXYL);
    assert_eq!(Origin::of(&recipe, HEXYL), Origin::User);
    let repair = RepairMetadata::new(
        &VerifySection::by_version("hexyl"),
        &recipe.verify,
        RepairMethod::FallbackHelp,
    );
    let generated = recipe.generated("github:sharkdp/hexyl", Some(repair));
    let text = write_recipe(&generated);
    assert_eq!(read(&text), generated);
    assert_eq!(Origin::of(&read(&text), &text), Origin::Generated);
    for edited in [
        text.replace("exit_code = 1\nreason", "exit_code = 2\nreason"),
        text.replace("A hex viewer", "My hex viewer"),
        format!("# mine\n{text}"),
        text.replace("fallback_help", "fallback_h"),
    ] {
        assert_ne!(edited, text);
        assert_eq!(Origin::of(&read(&edited), &edited), Origin::User, "{edited}");
    }
}

#[test]
fn what_a_repair_did_has_the_fields_of_the_design() {
    let repaired =
        VerifySection { command: "x -h".into(), exit_code: 2, ..VerifySection::by_version("x") };
    let original = VerifySection::by_version("x");
    let method = RepairMethod::of_commands(&original.command, &repaired.command);
    let json = serde_json::to_string(&RepairMetadata::new(&original, &repaired, method)).unwrap();
    let expected = r#"{"type":"verification_self_repair","original":"x --version","repaired":"x -h","method":"fallback_h","exit_code":2}"#;
    assert_eq!(json, expected);
}

fn recipes() -> impl Strategy<Value = ToolRecipe> {
    let name = "[a-z_]([a-z0-9]|[._+-][a-z0-9]){0,5}";
    let line = "[^\\pC\\s]([^\\pC]{0,12}[^\\pC\\s])?";
    let step = prop_oneof![
        (name, prop::collection::vec(name, 0..3))
            .prop_map(|(package, features)| Action::CargoInstall { package, features }),
        (name).prop_map(|package: String| Action::NpmInstall { package }),
        (prop::collection::vec("[^\\x00{]{0,12}", 1..4), any::<bool>())
            .prop_map(|(command, network)| Action::Run { command, network }),
        (name, 0..9_u32).prop_map(|(file, strip)| Action::Extract { file, strip }),
        (prop::collection::vec((name, name), 1..3), any::<bool>()).prop_map(|(pairs, renamed)| {
            let (binaries, names): (_, Vec<String>) = pairs.into_iter().unzip();
            Action::InstallBinaries { binaries, names: if renamed { names } else { Vec::new() } }
        }),
    ];
    let when = prop::option::of(
        prop::option::of(Just("linux")).prop_map(|os| Platform { os, ..Platform::default() }),
    );
    let step = (step, when).prop_map(|(action, when)| InstallStep { action, when });
    let metadata = (name, prop::option::of(line), prop::collection::vec(name, 0..3));
    let verify = (prop::option::of("[a-zé' \"=.]{1,9}x"), 0..256_i32, prop::option::of(line));
    (metadata, prop::collection::vec(step, 1..4), verify).prop_map(|(metadata, steps, verify)| {
        let (name, description, binaries) = metadata;
        let (pattern, exit_code, reason) = verify;
        let verify =
            VerifySection { pattern, exit_code, reason, ..VerifySection::by_version(&name) };
        let version = VersionSource::Cargo { package: name.clone() };
        let metadata = Metadata { name, description, binaries, ..Metadata::default() };
        ToolRecipe { metadata, version, steps, verify, provenance: None }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_as_the_same_recipe(recipe in recipes()) {
        let generated = recipe.generated("cargo:x", None);
        let text = write_recipe(&generated);
        prop_assert_eq!(&read(&text), &generated);
        prop_assert_eq!(Origin::of(&generated, &text), Origin::Generated);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}", at in 0..600_usize) {
        let _ = read_recipe(&source(&text));
        let mut edited = HEXYL.to_owned();
        let at = at.min(edited.len());
        edited.insert_str(at, &text);
        let _ = read_recipe(&source(&edited));
    }
}
