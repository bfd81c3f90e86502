//! Which file of a release is for this machine. File names of releases have no standard, but few
//! words: systems, processors, libraries, formats. A file for another machine is never chosen; among
//! those that fit, an archive is better than a bare program, and the usual library better than another.

use super::host_platform::HostPlatform;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseAsset {
    pub file: String,
    pub url: String,
    /// In bytes, as the source has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// As the source has published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Archives and compressed files, best first.
const FORMATS: &[&str] = &[
    ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.bz2", ".tbz", ".tbz2", ".zip",
    ".gz", ".xz", ".zst", ".bz2",
];

/// Packages of systems, checksums, signatures, documents: nothing to unpack and run.
const OTHER_SUFFIXES: &[&str] = &[
    "sha256",
    "sha256sum",
    "sha512",
    "sha512sum",
    "sha1",
    "md5",
    "b3",
    "sum",
    "sums",
    "asc",
    "sig",
    "minisig",
    "sigstore",
    "pem",
    "crt",
    "cert",
    "pub",
    "sbom",
    "spdx",
    "json",
    "jsonl",
    "yml",
    "yaml",
    "toml",
    "txt",
    "md",
    "html",
    "pdf",
    "deb",
    "rpm",
    "apk",
    "msi",
    "exe",
    "dmg",
    "pkg",
    "appimage",
    "zsync",
    "whl",
    "gem",
    "nupkg",
    "snap",
    "flatpak",
    "vsix",
    "jar",
    "rb",
    "rs",
    "js",
    "ps1",
    "fish",
    "bash",
    "zsh",
    "1",
    "att",
    "bundle",
    "patch",
    "diff",
    "intoto",
    "provenance",
    "img",
    "iso",
    "wasm",
    "so",
    "dylib",
    "dll",
    "a",
    "lib",
];

const OTHER_WORDS: &[&str] = &[
    "source", "src", "sources", "vendor", "vendored", "debug", "dbg", "symbols", "dsym", "docs",
    "man",
];

const SYSTEMS: &[(&str, &[&str])] = &[
    ("linux", &["linux", "linux64", "linux32", "unknownlinux", "linuxmusl", "linuxgnu"]),
    ("macos", &["macos", "darwin", "apple", "osx", "mac", "macosx", "macos64", "darwin64"]),
    ("windows", &["windows", "win", "win32", "win64", "windows64", "windows32", "msvc", "mingw"]),
    ("freebsd", &["freebsd", "freebsd64"]),
    (
        "other",
        &[
            "netbsd",
            "openbsd",
            "dragonfly",
            "android",
            "illumos",
            "solaris",
            "sunos",
            "aix",
            "wasi",
            "wasm32",
            "plan9",
            "ios",
            "haiku",
        ],
    ),
];

const PROCESSORS: &[(&str, &[&str])] = &[
    ("x86-64", &["amd64", "x64", "64bit", "linux64", "win64", "macos64", "darwin64", "64"]),
    ("aarch64", &["aarch64", "arm64", "armv8", "arm64v8", "aarch64be"]),
    ("x86", &["x86", "i386", "i486", "i586", "i686", "386", "32bit", "linux32", "win32", "ia32"]),
    (
        "arm",
        &[
            "arm",
            "armhf",
            "armv5",
            "armv6",
            "armv7",
            "armv6l",
            "armv7l",
            "arm32",
            "armv6hf",
            "armv7hf",
            "armel",
            "arm7",
            "arm6",
            "arm5",
            "armv5te",
            "thumbv7neon",
            "gnueabihf",
            "gnueabi",
            "musleabihf",
            "musleabi",
        ],
    ),
    (
        "other",
        &[
            "ppc64",
            "ppc64le",
            "powerpc64",
            "powerpc64le",
            "powerpc",
            "s390x",
            "riscv64",
            "riscv64gc",
            "mips",
            "mips64",
            "mips64le",
            "mipsle",
            "mipsel",
            "loongarch64",
            "loong64",
            "sparc64",
            "wasm32",
        ],
    ),
];

/// Processors newer than the oldest of their kind: a program for them may not run here.
const NEWER: &[&str] = &["v2", "v3", "v4", "avx2", "avx512", "modern"];

/// The file for a machine; `tool` decides between the programs of one release.
pub(super) fn choose_asset<'a>(
    assets: &'a [ReleaseAsset],
    platform: &HostPlatform,
    tool: &str,
) -> Option<&'a ReleaseAsset> {
    let fitting =
        assets.iter().filter_map(|asset| Some((fitness(&asset.file, platform, tool)?, asset)));
    let best = fitting.max_by(|(one, a), (two, b)| {
        one.cmp(two).then_with(|| b.file.len().cmp(&a.file.len())).then_with(|| b.file.cmp(&a.file))
    });
    best.map(|(_, asset)| asset)
}

/// How well a file fits; none if it is for another machine, or nothing that can be installed.
fn fitness(file: &str, platform: &HostPlatform, tool: &str) -> Option<i32> {
    let lower = file.to_ascii_lowercase();
    let format = FORMATS.iter().position(|suffix| lower.ends_with(suffix));
    let stem = format.map_or(lower.as_str(), |at| &lower[..lower.len() - FORMATS[at].len()]);
    let words = words(stem);
    let suffix = stem.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if (format.is_none() || suffix != "1") && OTHER_SUFFIXES.contains(&suffix) || has(OTHER_WORDS) {
        return None;
    }
    let mut score = 0;
    let system = SYSTEMS.iter().find(|(_, list)| has(list)).map(|(system, _)| *system);
    let processor = PROCESSORS.iter().find(|(_, list)| has(list)).map(|(processor, _)| *processor);
    match system {
        Some(system) if system != platform.os => return None,
        Some(_) => score += 40,
        // Neither system nor processor: it may run everywhere. A bare file is more likely a document.
        None if format.is_none() => return None,
        None => {}
    }
    match processor {
        Some(processor) if processor != platform.arch => return None,
        Some(_) => score += 20,
        None if has(&["universal", "universal2", "all"]) => score += 10,
        // What has no processor in its name is for the usual one.
        None if system.is_some() && platform.arch != "x86-64" => return None,
        None => {}
    }
    score += libc_fitness(&words, platform.libc)?;
    if has(NEWER) && processor.is_some() {
        score -= 15;
    }
    let tool = tool.to_ascii_lowercase();
    if stem == tool
        || stem.strip_prefix(&tool).is_some_and(|rest| rest.starts_with(['-', '_', '.']))
    {
        score += 10;
    }
    let format = format.unwrap_or(FORMATS.len());
    Some(3 * score - i32::try_from(format).unwrap_or(i32::MAX))
}

fn libc_fitness(words: &[String], libc: Option<&str>) -> Option<i32> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let musl = has(&["musl", "linuxmusl", "musleabi", "musleabihf", "alpine"]);
    let glibc = has(&["gnu", "glibc", "linuxgnu"]);
    match libc {
        Some("musl") if glibc => None,
        Some("musl") if musl => Some(5),
        // Almost always linked statically, so it runs; yet the other one is what its authors test.
        Some("glibc") if musl => Some(3),
        Some("glibc") if glibc => Some(5),
        _ => Some(4),
    }
}

/// The words of a file name. `x86_64` is one, and has three spellings.
fn words(stem: &str) -> Vec<String> {
    let joined =
        stem.replace("x86_64", "amd64").replace("x86-64", "amd64").replace("x8664", "amd64");
    joined
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A program's name without the version and the machine that releases add to it: `jq-linux-amd64` is
/// `jq`.
pub(super) fn plain_program_name(file: &str) -> &str {
    let lower = file.to_ascii_lowercase();
    let machine = |word: &str| {
        SYSTEMS.iter().chain(PROCESSORS).any(|(_, list)| list.contains(&word))
            || matches!(word, "x86" | "unknown" | "pc" | "gnu" | "musl" | "static" | "release")
    };
    let version = |word: &str| {
        let digits = word.strip_prefix('v').unwrap_or(word);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut end = file.len();
    for (at, _) in lower.match_indices(['-', '_', '.']) {
        let word = lower[at + 1..].split(['-', '_', '.']).next().unwrap_or_default();
        if at > 0 && (machine(word) || version(word)) {
            end = at;
            break;
        }
    }
    &file[..end]
}

/// The version in a file name: the first word of numbers and points after a separator.
pub(super) fn version_in_name(file: &str) -> Option<&str> {
    let lower = file.to_ascii_lowercase();
    let stem = FORMATS.iter().find_map(|suffix| lower.strip_suffix(suffix)).unwrap_or(&lower);
    let file = &file[..stem.len()];
    let starts = file.match_indices(['-', '_']).map(|(at, _)| at + 1);
    starts.into_iter().find_map(|start| {
        let text = file[start..].strip_prefix(['v', 'V']).unwrap_or(&file[start..]);
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let version = text[..end].trim_end_matches('.');
        // `x86_64` and `v2` are none.
        let numbers = version.split('.').filter(|part| !part.is_empty()).count();
        (numbers >= 2).then_some(version)
    })
}

/// The file of a release that has the checksum of another.
pub(super) fn checksum_asset<'a>(
    assets: &'a [ReleaseAsset],
    file: &str,
) -> Option<&'a ReleaseAsset> {
    let own = [".sha256", ".sha256sum", ".sha256.txt"].map(|suffix| format!("{file}{suffix}"));
    let all = [
        "sha256sums",
        "sha256sums.txt",
        "sha256sum.txt",
        "sha256.txt",
        "checksums.txt",
        "checksums.sha256",
        "checksums_sha256.txt",
        "sha256",
    ];
    let named = |names: &[&str], asset: &&ReleaseAsset| {
        names.iter().any(|name| asset.file.eq_ignore_ascii_case(name))
    };
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let suffixed = |asset: &&ReleaseAsset| {
        let lower = asset.file.to_ascii_lowercase();
        lower.ends_with("_checksums.txt")
            || lower.ends_with("-checksums.txt")
            || lower.ends_with("_sha256sums")
    };
    let find = |wanted: &dyn Fn(&&ReleaseAsset) -> bool| assets.iter().find(|asset| wanted(asset));
    find(&|asset| named(&own, asset))
        .or_else(|| find(&|asset| named(&all, asset)))
        .or_else(|| find(&suffixed))
}

/// The SHA-256 of a file in the text of a checksum file: alone, or beside the file's name.
pub(super) fn listed_sha256(text: &str, file: &str) -> Option<String> {
    let is_sha256 = |word: &&str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let named = lines.iter().find_map(|words| {
        let names = words.iter().any(|word| {
            word.trim_start_matches(['*', '.', '/', '(']).trim_end_matches(')') == file
        });
        names.then(|| words.iter().find(|word| is_sha256(word))).flatten()
    });
    let alone = || match &lines[..] {
        [words] if words.len() == 1 => words.first().filter(|word| is_sha256(word)),
        _ => None,
    };
    named.or_else(alone).map(|sha256| sha256.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLIBC: HostPlatform = HostPlatform { os: "linux", arch: "x86-64", libc: Some("glibc") };
    const MUSL: HostPlatform = HostPlatform { libc: Some("musl"), ..GLIBC };
    const ARM: HostPlatform = HostPlatform { arch: "aarch64", ..GLIBC };
    const MAC: HostPlatform = HostPlatform { os: "macos", arch: "aarch64", libc: None };

    fn assets(names: &str) -> Vec<ReleaseAsset> {
        let asset = |file: &str| ReleaseAsset {
            file: file.to_owned(),
            url: format!("https://example.com/{file}"),
            size: None,
            sha256: None,
        };
        names.split_whitespace().map(asset).collect()
    }

    /// Names of real releases.
    const RIPGREP: &str = "ripgrep-14.1.1-aarch64-apple-darwin.tar.gz \
        ripgrep-14.1.1-aarch64-apple-darwin.tar.gz.sha256 ripgrep-14.1.1-aarch64-unknown-linux-gnu.tar.gz \
        ripgrep-14.1.1-armv7-unknown-linux-gnueabihf.tar.gz ripgrep-14.1.1-i686-pc-windows-msvc.zip \
        ripgrep-14.1.1-i686-unknown-linux-gnu.tar.gz ripgrep-14.1.1-x86_64-apple-darwin.tar.gz \
        ripgrep-14.1.1-x86_64-pc-windows-gnu.zip ripgrep-14.1.1-x86_64-unknown-linux-musl.tar.gz \
        ripgrep-14.1.1-x86_64-unknown-linux-musl.tar.gz.sha256 ripgrep_14.1.1-1_amd64.deb \
        ripgrep_14.1.1-1_amd64.deb.sha256";
    const JQ: &str = "jq-1.7.1.tar.gz jq-1.7.1.zip jq-linux-amd64 jq-linux-arm64 jq-linux-armel jq-linux-i386 \
        jq-linux64 jq-macos-amd64 jq-macos-arm64 jq-osx-amd64 jq-win64.exe jq-windows-amd64.exe sha256sum.txt";
    const HEXYL: &str = "hexyl-v0.16.0-x86_64-unknown-linux-gnu.tar.gz hexyl-v0.16.0-x86_64-unknown-linux-musl.tar.gz \
        hexyl-musl_0.16.0_amd64.deb hexyl_0.16.0_amd64.deb hexyl-v0.16.0-x86_64-apple-darwin.tar.gz";
    const GH: &str = "gh_2.62.0_checksums.txt gh_2.62.0_linux_386.tar.gz gh_2.62.0_linux_amd64.deb \
        gh_2.62.0_linux_amd64.rpm gh_2.62.0_linux_amd64.tar.gz gh_2.62.0_linux_arm64.tar.gz \
        gh_2.62.0_linux_armv6.tar.gz gh_2.62.0_macOS_amd64.zip gh_2.62.0_macOS_arm64.zip \
        gh_2.62.0_macOS_universal.pkg gh_2.62.0_windows_amd64.msi gh_2.62.0_windows_amd64.zip";
    const DENO: &str = "deno-aarch64-apple-darwin.zip deno-aarch64-unknown-linux-gnu.zip deno-x86_64-pc-windows-msvc.zip \
        deno-x86_64-unknown-linux-gnu.zip deno_src.tar.gz denort-x86_64-unknown-linux-gnu.zip lib.deno.d.ts";
    const ZOLA: &str = "analyzer-aarch64-unknown-linux-gnu.gz analyzer-x86_64-unknown-linux-gnu.gz \
        analyzer-x86_64-unknown-linux-musl.gz analyzer-alpine-x64.vsix analyzer-linux-x64.vsix";

    #[test]
    fn files_of_real_releases_are_chosen_by_machine() {
        let cases: &[(&str, &str, HostPlatform, Option<&str>)] = &[
            (RIPGREP, "ripgrep", GLIBC, Some("ripgrep-14.1.1-x86_64-unknown-linux-musl.tar.gz")),
            (RIPGREP, "ripgrep", ARM, Some("ripgrep-14.1.1-aarch64-unknown-linux-gnu.tar.gz")),
            (RIPGREP, "ripgrep", MAC, Some("ripgrep-14.1.1-aarch64-apple-darwin.tar.gz")),
            (JQ, "jq", GLIBC, Some("jq-linux64")),
            (JQ, "jq", ARM, Some("jq-linux-arm64")),
            (JQ, "jq", MAC, Some("jq-macos-arm64")),
            (HEXYL, "hexyl", GLIBC, Some("hexyl-v0.16.0-x86_64-unknown-linux-gnu.tar.gz")),
            (HEXYL, "hexyl", MUSL, Some("hexyl-v0.16.0-x86_64-unknown-linux-musl.tar.gz")),
            (HEXYL, "hexyl", ARM, None),
            (GH, "gh", GLIBC, Some("gh_2.62.0_linux_amd64.tar.gz")),
            (GH, "gh", MAC, Some("gh_2.62.0_macOS_arm64.zip")),
            (DENO, "deno", GLIBC, Some("deno-x86_64-unknown-linux-gnu.zip")),
            (DENO, "denort", GLIBC, Some("denort-x86_64-unknown-linux-gnu.zip")),
            (ZOLA, "analyzer", GLIBC, Some("analyzer-x86_64-unknown-linux-gnu.gz")),
            ("tool-1.0.tar.gz tool-1.0-src.tar.gz", "tool", GLIBC, Some("tool-1.0.tar.gz")),
            ("tool.exe tool.dmg checksums.txt", "tool", GLIBC, None),
            (
                "tool-x86_64-v3-linux.tar.gz tool-x86_64-linux.tar.gz",
                "tool",
                GLIBC,
                Some("tool-x86_64-linux.tar.gz"),
            ),
            ("", "tool", GLIBC, None),
        ];
        for (names, tool, platform, expected) in cases {
            let assets = assets(names);
            let found = choose_asset(&assets, platform, tool).map(|asset| asset.file.as_str());
            assert_eq!(found, *expected, "{tool} for {}", platform.word());
        }
    }

    #[test]
    fn names_and_versions_are_read_from_file_names() {
        let cases = [
            ("jq-linux-amd64", "jq", None),
            ("yq_linux_amd64", "yq", None),
            ("hexyl-v0.16.0-x86_64-unknown-linux-gnu.tar.gz", "hexyl", Some("0.16.0")),
            ("gh_2.62.0_linux_amd64.tar.gz", "gh", Some("2.62.0")),
            ("git-lfs", "git-lfs", None),
            ("clang-format-18.1.8-linux", "clang-format", Some("18.1.8")),
            ("tool-x86_64.zip", "tool", None),
            ("tool-1.2.tar.gz", "tool", Some("1.2")),
            ("tool.tar.gz", "tool.tar.gz", None),
            ("-1", "-1", None),
        ];
        for (file, name, version) in cases {
            assert_eq!(
                (plain_program_name(file), version_in_name(file)),
                (name, version),
                "{file}"
            );
        }
    }

    #[test]
    fn checksums_are_found_and_read() {
        let found = |names: &str, file: &str| {
            checksum_asset(&assets(names), file).map(|asset| asset.file.clone())
        };
        assert_eq!(
            found(RIPGREP, "ripgrep-14.1.1-x86_64-unknown-linux-musl.tar.gz").as_deref(),
            Some("ripgrep-14.1.1-x86_64-unknown-linux-musl.tar.gz.sha256")
        );
        assert_eq!(
            found(GH, "gh_2.62.0_linux_amd64.tar.gz").as_deref(),
            Some("gh_2.62.0_checksums.txt")
        );
        assert_eq!(found(JQ, "jq-linux-amd64").as_deref(), Some("sha256sum.txt"));
        assert_eq!(found(DENO, "deno-x86_64-unknown-linux-gnu.zip"), None);
        let (a, b) = ("A".repeat(64), "b".repeat(64));
        let text = format!("{a}  x.zip\n{b} *y.zip\nSHA256 (./z.zip) = {b}\n");
        assert_eq!(listed_sha256(&text, "x.zip"), Some("a".repeat(64)));
        assert_eq!(listed_sha256(&text, "y.zip"), Some(b.clone()));
        assert_eq!(listed_sha256(&text, "z.zip"), Some(b.clone()));
        assert_eq!(listed_sha256(&text, "w.zip"), None);
        assert_eq!(listed_sha256(&format!("{b}\n"), "any"), Some(b));
        assert_eq!(listed_sha256("abc  x.zip", "x.zip"), None);
    }
}
