//! The machine that a tool is installed on, in the words of recipes and in those of file names of
//! releases.

use crate::tool_recipe::{Platform, PlatformWords};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostPlatform {
    /// `linux` or `macos`; other systems are named as Rust names them.
    pub os: &'static str,
    /// `x86-64` or `aarch64`; others as Rust names them.
    pub arch: &'static str,
    /// `glibc` or `musl`, where there is a choice.
    pub libc: Option<&'static str>,
}

/// The loaders of glibc; a system with musl may have one too, for programs of others.
const GLIBC: &[&str] = &["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];

/// Other words for systems and processors, those of recipes first.
const OTHER_WORDS: &[(&str, &str)] =
    &[("macos", "darwin"), ("x86-64", "amd64"), ("aarch64", "arm64")];

fn word_of_recipes(own: &'static str) -> &'static str {
    OTHER_WORDS.iter().find(|(known, _)| *known == own).map_or(own, |(_, word)| *word)
}

impl HostPlatform {
    pub fn current() -> HostPlatform {
        let arch = match std::env::consts::ARCH {
            "x86_64" => "x86-64",
            other => other,
        };
        let os = std::env::consts::OS;
        let glibc = GLIBC.iter().any(|loader| Path::new(loader).exists());
        let libc = (os == "linux").then_some(if glibc { "glibc" } else { "musl" });
        HostPlatform { os, arch, libc }
    }

    /// Whether a step is for this machine.
    pub fn matches(&self, when: Option<&Platform>) -> bool {
        let Some(when) = when else { return true };
        let is = |wanted: &[String], own: &str| {
            wanted.is_empty() || wanted.iter().any(|word| word == own)
        };
        let either = |wanted: &[String], own: &'static str| {
            is(wanted, own) || is(wanted, word_of_recipes(own))
        };
        let both = format!("{}/{}", word_of_recipes(self.os), word_of_recipes(self.arch));
        either(&when.os, self.os)
            && either(&when.arch, self.arch)
            && is(&when.libc, self.libc.unwrap_or_default())
            && is(&when.platform, &both)
    }

    /// `{version}`, `{os}` and `{arch}` filled in.
    pub fn fill(&self, text: &str, version: &str, words: &PlatformWords) -> String {
        let (os, arch) = (word_of_recipes(self.os), word_of_recipes(self.arch));
        let os = words.os_mapping.get(os).map_or(os, String::as_str);
        let arch = words.arch_mapping.get(arch).map_or(arch, String::as_str);
        text.replace("{version}", version).replace("{os}", os).replace("{arch}", arch)
    }

    /// `linux-x86-64-glibc`
    pub fn word(&self) -> String {
        let words = [Some(self.os), Some(self.arch), self.libc];
        words.into_iter().flatten().collect::<Vec<_>>().join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: HostPlatform = HostPlatform { os: "linux", arch: "x86-64", libc: Some("glibc") };
    const MAC: HostPlatform = HostPlatform { os: "macos", arch: "aarch64", libc: None };

    #[test]
    fn steps_are_for_some_machines() {
        let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let when = |os: &[&str], arch: &[&str], libc: &[&str], platform: &[&str]| Platform {
            os: list(os),
            arch: list(arch),
            libc: list(libc),
            platform: list(platform),
        };
        assert!(LINUX.matches(None) && LINUX.matches(Some(&Platform::default())));
        for (fits, platform) in [
            (true, when(&["linux"], &["x86-64"], &["glibc"], &[])),
            (true, when(&["darwin", "linux"], &["amd64"], &["musl", "glibc"], &[])),
            (true, when(&[], &[], &[], &["linux/arm64", "linux/amd64"])),
            (false, when(&["macos"], &[], &[], &[])),
            (false, when(&[], &["arm64"], &[], &[])),
            (false, when(&[], &[], &["musl"], &[])),
            (false, when(&[], &[], &[], &["darwin/arm64"])),
        ] {
            assert_eq!(LINUX.matches(Some(&platform)), fits, "{platform:?}");
        }
        assert!(MAC.matches(Some(&when(&["darwin"], &["aarch64"], &[], &["darwin/arm64"]))));
        assert!(!MAC.matches(Some(&when(&[], &[], &["glibc"], &[]))));
    }

    #[test]
    fn placeholders_are_filled_as_file_names_have_them() {
        let mut words = PlatformWords::default();
        let fill = |words: &PlatformWords| LINUX.fill("a-{version}-{os}-{arch}.zip", "1.2", words);
        assert_eq!(fill(&words), "a-1.2-linux-amd64.zip");
        words.arch_mapping.insert("amd64".to_owned(), "x86_64".to_owned());
        words.os_mapping.insert("darwin".to_owned(), "mac".to_owned());
        assert_eq!(fill(&words), "a-1.2-linux-x86_64.zip");
        assert_eq!(MAC.fill("{os}-{arch}", "1", &words), "mac-arm64");
        assert_eq!(LINUX.word(), "linux-x86-64-glibc");
    }
}
