//! The keys of a recipe's tables. An action or a version source is one row with its own keys, so that
//! an unknown key is reported with those that this one has.

use towpath_core::fields::Key;

pub(super) const FILE: &[Key] = &[
    Key::required("metadata"),
    Key::required("version"),
    Key::required("steps"),
    Key::required("verify"),
    Key::optional("provenance"),
];

pub(super) const METADATA: &[Key] = &[
    Key::required("name"),
    Key::optional("description"),
    Key::optional("homepage"),
    Key::optional("license"),
    Key::optional("binaries"),
    Key::optional("aliases"),
];

pub(super) const VERIFY: &[Key] = &[
    Key::required("command"),
    Key::optional("pattern"),
    Key::optional("mode"),
    Key::optional("exit_code"),
    Key::optional("reason"),
];

pub(super) const PROVENANCE: &[Key] =
    &[Key::required("generated_from"), Key::required("hash"), Key::optional("repair")];

pub(super) const REPAIR: &[Key] = &[
    Key::required("type"),
    Key::required("original"),
    Key::required("repaired"),
    Key::required("method"),
    Key::required("exit_code"),
];

pub(super) const WHEN: &[Key] =
    &[Key::optional("os"), Key::optional("arch"), Key::optional("libc")];
pub(super) const OS: &[&str] = &["linux", "macos"];
pub(super) const ARCH: &[&str] = &["x86-64", "aarch64"];
pub(super) const LIBC: &[&str] = &["glibc", "musl"];

/// A table whose keys depend on one of its words: `action` of a step, `source` of a version.
pub(super) struct KindRow {
    pub word: &'static str,
    /// What messages call such a table.
    pub noun: &'static str,
    pub keys: &'static [Key],
}

macro_rules! source {
    ($word:literal, $($key:expr),*) => {
        KindRow {
            word: $word,
            noun: concat!($word, " version source"),
            keys: &[Key::required("source"), $($key),*],
        }
    };
}

pub(super) const SOURCES: &[KindRow] = &[
    source!("cargo", Key::required("package")),
    source!("npm", Key::required("package")),
    source!("pypi", Key::required("package")),
    source!("github", Key::required("repository"), Key::optional("tag_prefix")),
    source!("url", Key::required("version")),
];
pub(super) const SOURCE_WORDS: &[&str] = &["cargo", "npm", "pypi", "github", "url"];
/// The keys of a version source whose kind is not known.
pub(super) const ANY_SOURCE: &[Key] = &[
    Key::required("source"),
    Key::optional("package"),
    Key::optional("repository"),
    Key::optional("tag_prefix"),
    Key::optional("version"),
];

macro_rules! action {
    ($word:literal, $($key:expr),*) => {
        KindRow {
            word: $word,
            noun: concat!($word, " step"),
            keys: &[Key::required("action"), $($key,)* Key::optional("when")],
        }
    };
}

pub(super) const ACTIONS: &[KindRow] = &[
    action!("download", Key::required("url"), Key::required("sha256"), Key::optional("file")),
    action!("extract", Key::required("file"), Key::optional("strip")),
    action!("install_binaries", Key::required("binaries"), Key::optional("as")),
    action!("cargo_install", Key::required("package"), Key::optional("features")),
    action!("npm_install", Key::required("package")),
    action!("pip_install", Key::required("package"), Key::optional("extras")),
    action!("run", Key::required("command"), Key::optional("network")),
];
pub(super) const ACTION_WORDS: &[&str] = &[
    "download",
    "extract",
    "install_binaries",
    "cargo_install",
    "npm_install",
    "pip_install",
    "run",
];
/// The keys of a step whose action is not known.
pub(super) const ANY_ACTION: &[Key] = &[
    Key::required("action"),
    Key::optional("url"),
    Key::optional("sha256"),
    Key::optional("file"),
    Key::optional("strip"),
    Key::optional("binaries"),
    Key::optional("as"),
    Key::optional("package"),
    Key::optional("packages"),
    Key::optional("features"),
    Key::optional("extras"),
    Key::optional("command"),
    Key::optional("network"),
    Key::optional("when"),
];
