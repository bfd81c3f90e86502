//! The machine that a tool is installed on, in the words of recipes and in those of file names of
//! releases.

use crate::tool_recipe::Platform;
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
        let is = |wanted: Option<&str>, own: Option<&str>| wanted.is_none() || wanted == own;
        is(when.os, Some(self.os)) && is(when.arch, Some(self.arch)) && is(when.libc, self.libc)
    }

    /// `{version}`, `{os}` and `{arch}` filled in. The processor is named as in most file names:
    /// `x86_64`.
    pub fn fill(&self, text: &str, version: &str) -> String {
        let arch = if self.arch == "x86-64" { "x86_64" } else { self.arch };
        text.replace("{version}", version).replace("{os}", self.os).replace("{arch}", arch)
    }

    /// `linux-x86-64-glibc`
    pub fn word(&self) -> String {
        [Some(self.os), Some(self.arch), self.libc]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: HostPlatform = HostPlatform { os: "linux", arch: "x86-64", libc: Some("glibc") };

    #[test]
    fn steps_are_for_some_machines() {
        let when = |os, arch, libc| LINUX.matches(Some(&Platform { os, arch, libc }));
        assert!(LINUX.matches(None));
        assert!(when(None, None, None));
        assert!(when(Some("linux"), Some("x86-64"), Some("glibc")));
        assert!(!when(Some("macos"), None, None));
        assert!(!when(None, Some("aarch64"), None));
        assert!(!when(None, None, Some("musl")));
    }

    #[test]
    fn placeholders_are_filled_as_file_names_have_them() {
        assert_eq!(LINUX.fill("a-{version}-{os}-{arch}.zip", "1.2"), "a-1.2-linux-x86_64.zip");
        assert_eq!(LINUX.word(), "linux-x86-64-glibc");
    }
}
