//! Recipes as files: what is read, what is refused and where, and that writing is the reverse of reading.

use proptest::prelude::*;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source};
use towpath_tool::sources::SourceKind;
use towpath_tool::{
    Action, Binary, InstallStep, Metadata, Origin, Platform, PlatformWords, RepairMetadata,
    RepairMethod, ToolRecipe, VerifyMode, VerifySection, VersionKeys, read_recipe, write_recipe,
};

const HEXYL: &str = r#"[metadata]
name = "hexyl"
description = "A hex viewer"
binaries = ["hexyl"]

[version]
github_repo = "sharkdp/hexyl"
tag_prefix = "v"

[[steps]]
action = "download"
url = "https://example.com/hexyl-{version}-{arch}.tar.gz"
sha256 = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
dest = "hexyl.tar.gz"
when = { os = "linux", arch = ["amd64", "arm64"] }

[[steps]]
action = "extract"
archive = "hexyl.tar.gz"
strip_dirs = 1

[[steps]]
action = "install_binaries"
binaries = ["hexyl", { src = "bin/x", dest = "bin/hex" }]

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
    assert_eq!(recipe.source().to_string(), "github:sharkdp/hexyl");
    assert_eq!(recipe.steps.len(), 3);
    let when = recipe.steps[0].when.as_ref().expect("it has a condition");
    assert_eq!(
        (&when.os[..], &when.arch[..]),
        (&["linux".into()][..], &["amd64".into(), "arm64".into()][..])
    );
    let words = PlatformWords::default();
    let archive = "hexyl.tar.gz".into();
    assert_eq!(recipe.steps[1].action, Action::Extract { archive, strip_dirs: 1, words });
    let Action::InstallBinaries { binaries } = &recipe.steps[2].action else { panic!() };
    let parts: Vec<_> = binaries.iter().map(Binary::parts).collect();
    assert_eq!(parts, [("hexyl", "hexyl"), ("bin/x", "hex")]);
    assert_eq!((recipe.verify.mode, recipe.verify.exit_code), (VerifyMode::Output, 1));
    assert_eq!(read(&write_recipe(&recipe)), recipe);
}

#[test]
fn every_problem_is_reported_at_its_location() {
    let text = HEXYL
        .replace("description =", "desciption =")
        .replace("github_repo", "source = \"githab\"\ngithub_repo")
        .replace("{arch}", "{architecture}")
        .replace("aaaa\"\n", "a\"\n")
        .replace("strip_dirs = 1", "strip_dirs = \"1\"")
        .replace("exit_code = 1", "exit_code = 300")
        .replace("hexyl --help", "hexyl --help | head")
        .replace("reason = \"no version is printed\"\n", "");
    let found = refused(&text);
    assert_eq!(
        found,
        [
            "3: unknown key `desciption` (did you mean `description`?)",
            "7: `source` must be `cargo`, `npm`, `pypi`, `github`, `github_releases`, `url`, not `githab` \
             (did you mean `github`?)",
            "13: `url`: unknown placeholder `{architecture}`: known are `{version}`, `{os}`, `{arch}`",
            "14: `sha256`: a SHA-256 is 64 hexadecimal digits in lower case",
            "21: `strip_dirs` must be a whole number, not `\"1\"`",
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
    for name in ["steps", "verify"] {
        assert!(all.contains(&format!("the tool recipe has no `{name}`")), "{all}");
    }
    for (from, to) in [
        ("name = \"hexyl\"", "name = \"../x\""),
        ("dest = \"hexyl.tar.gz\"", "dest = \"../hexyl.tar.gz\""),
        ("[\"hexyl\", {", "[\"/bin/sh\", {"),
        ("dest = \"bin/hex\"", "dest = \"../hex\""),
        ("https://", "file://"),
        ("\"Usage: hexyl \"", "\"/(/\""),
        ("sharkdp/hexyl", "hexyl"),
        ("action = \"extract\"", "action = \"extractt\""),
        ("action = \"extract\"\n", ""),
        ("os = \"linux\"", "os = \"linus\""),
        ("os = \"linux\"", "gpu = \"nvidia\""),
    ] {
        let text = HEXYL.replacen(from, to, 1);
        assert_ne!(text, HEXYL);
        assert_eq!(refused(&text).len(), 1, "{to}: {:?}", refused(&text));
    }
}

/// As tsuku writes its recipes: empty strings for what is left open, keys of its own, steps of other sources.
const FOREIGN: &str = r#"
[metadata]
  name = "shade"
  description = "Paints"
  homepage = "https://example.com/#readme"
  version_format = ""
  requires_sudo = false
  tier = 0
  curated = true
  supported_libc = ["glibc"]

[version]
  source = ""
  tap = ""
  tag_prefix = "v"

[[steps]]
  action = "github_archive"
  when = { os = ["linux"], libc = ["glibc", "musl"] }
  repo = "us/shade"
  asset_pattern = "shade-{version}-{arch}.tar.gz"
  strip_dirs = 1
  binaries = ["bin/shade"]
  arch_mapping = { amd64 = "x86_64", arm64 = "aarch64" }

[[steps]]
  action = "homebrew"
  when = { os = ["darwin"] }
  formula = "shade"

[verify]
  command = "shade --version"
  pattern = ""
"#;

#[test]
fn recipes_of_tsuku_are_read() {
    let recipe = read(FOREIGN);
    assert_eq!(recipe.source().to_string(), "github:us/shade");
    assert_eq!(
        (recipe.verify.pattern.as_deref(), recipe.metadata.license.as_deref()),
        (None, None)
    );
    assert_eq!(recipe.steps[1].action, Action::Foreign { name: "homebrew".into() });
    assert_eq!(read(&write_recipe(&recipe)), recipe);
    for (action, from) in [
        ("action = \"npm_install\"\npackage = \"@a/b\"\nexecutables = [\"c\"]", "npm:@a/b"),
        ("action = \"cargo_install\"\ncrate = \"b\"\nexecutables = [\"c\"]", "cargo:b"),
        ("action = \"pipx_install\"\npackage = \"b.c\"\nexecutables = [\"c\"]", "pypi:b.c"),
        ("action = \"github_file\"\nrepo = \"a/b\"\nasset_pattern = \"x-{os}\"", "github:a/b"),
        (
            "action = \"download_archive\"\nurl = \"https://x/y.zip\"\nbinaries = [\"y\"]",
            "url:https://x/y.zip",
        ),
    ] {
        let rest = "[metadata]\nname = \"t\"\n[verify]\ncommand = \"t -V\"\n";
        let recipe = read(&format!("{rest}[[steps]]\n{action}\n"));
        assert_eq!(recipe.source().to_string(), from);
        let named = if recipe.source().kind() <= SourceKind::Pypi { "c" } else { "t" };
        assert_eq!(recipe.main_binary(), named, "{action}");
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

/// `ncu` of `npm-check-updates`.
#[test]
fn a_tool_that_is_named_after_one_of_its_programs_is_that_program() {
    let text = HEXYL.replace("binaries = [\"hexyl\"]", "binaries = [\"hexyl\", \"hex\"]");
    assert_eq!(read(&text).with_name("hex").main_binary(), "hex");
    assert_eq!(read(&text).with_name("other").main_binary(), "hexyl");
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
    let name = "[a-z]([a-z0-9]|[._+-][a-z0-9]){0,5}";
    let line = "[^\\pC\\s]([^\\pC]{0,12}[^\\pC\\s])?";
    let names = || prop::collection::vec(name, 0..3);
    let words = || {
        prop::collection::btree_map(name, "[a-z0-9_]{1,6}", 0..3)
            .prop_map(|arch_mapping| PlatformWords { arch_mapping, ..PlatformWords::default() })
    };
    let binary = prop_oneof![
        name.prop_map(Binary::Path),
        (name, name).prop_map(|(src, dest)| Binary::Renamed { src, dest }),
    ];
    let binaries = prop::collection::vec(binary, 1..3);
    let step = prop_oneof![
        (name, names(), names()).prop_map(|(package, features, executables)| {
            Action::CargoInstall {
                package: package.replace(['.', '+'], "-"),
                features: features.iter().map(|f| f.replace(['.', '+'], "-")).collect(),
                executables,
            }
        }),
        (names())
            .prop_map(|executables| Action::NpmInstall { package: "@a/b".into(), executables }),
        (prop::collection::vec("[^\\x00{]{1,12}", 1..4), any::<bool>())
            .prop_map(|(command, network)| Action::Run { command, network }),
        (name, 0..9_u32, words()).prop_map(|(archive, strip_dirs, words)| Action::Extract {
            archive,
            strip_dirs,
            words
        }),
        (name, 0..9_u32, binaries.clone(), words()).prop_map(
            |(asset_pattern, strip_dirs, binaries, words)| {
                Action::GithubArchive {
                    repo: "a/b".into(),
                    asset_pattern,
                    strip_dirs,
                    binaries,
                    words,
                }
            }
        ),
        binaries.prop_map(|binaries| Action::InstallBinaries { binaries }),
        Just(Action::Foreign { name: "homebrew".into() }),
    ];
    let when = prop::option::of(
        prop::collection::vec(Just("linux".to_owned()), 1..2)
            .prop_map(|os| Platform { os, ..Platform::default() }),
    );
    let step = (step, when).prop_map(|(action, when)| InstallStep { action, when });
    let metadata = (name, prop::option::of(line), prop::collection::vec(name, 0..3));
    let verify = (prop::option::of("[a-zé' \"=.]{1,9}x"), 0..256_i32, prop::option::of(line));
    (metadata, prop::collection::vec(step, 1..4), verify).prop_map(|(metadata, steps, verify)| {
        let (name, description, binaries) = metadata;
        let (pattern, exit_code, reason) = verify;
        let verify =
            VerifySection { pattern, exit_code, reason, ..VerifySection::by_version(&name) };
        let version = VersionKeys::default();
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
