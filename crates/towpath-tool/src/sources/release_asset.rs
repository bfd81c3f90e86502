//! Which file of a release is for this machine. File names of releases have no standard, but few
//! words: systems, processors, libraries, formats. A file for another machine is never chosen; among
//! those that fit, an archive is better than a bare program, and the usual library better than another.

use super::host_platform::HostPlatform;
use serde::Deserialize;
use std::str::Split;
use towpath_core::data_rows;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReleaseAsset {
    #[serde(rename = "name")]
    pub file: String,
    #[serde(rename = "browser_download_url")]
    pub url: String,
    /// In bytes, as the source has it.
    pub size: Option<u64>,
    /// As the source has published it.
    #[serde(rename = "digest")]
    pub sha256: Option<String>,
}

/// The rows of one kind of word: what each means, and its spellings.
fn rows(kind: &str) -> impl Iterator<Item = (&'static str, Split<'static, char>)> {
    let rows = data_rows(include_str!("release_words.txt"));
    let own = rows.filter(move |[known, _, _]| *known == kind);
    own.map(|[_, of, words]: [&str; 3]| (of, words.split(' ')))
}

fn spellings(kind: &str) -> impl Iterator<Item = &'static str> {
    rows(kind).flat_map(|(_, spellings)| spellings)
}

/// The meaning of the words of a name, of one kind: its first row that has one of them.
fn meaning(kind: &str, words: &[String]) -> Option<&'static str> {
    let is_there = |spelling: &str| words.iter().any(|word| word == spelling);
    rows(kind).find(|(_, spellings)| spellings.clone().any(is_there)).map(|(of, _)| of)
}

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
    let formats: Vec<&str> = spellings("format").collect();
    let format = formats.iter().position(|suffix| lower.ends_with(suffix));
    let stem = format.map_or(lower.as_str(), |at| &lower[..lower.len() - formats[at].len()]);
    let words = words(stem);
    let suffix = stem.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    let is_other = spellings("other suffix").any(|other| other == suffix);
    if (format.is_none() || suffix != "1") && is_other || meaning("other word", &words).is_some() {
        return None;
    }
    let system = meaning("system", &words);
    let mut score = match system {
        Some(system) if system == platform.os => 40,
        // Neither system nor processor: it may run everywhere. A bare file is more likely a document.
        None if format.is_some() => 0,
        _ => return None,
    };
    score += match (meaning("processor", &words), meaning("extent", &words)) {
        (Some(processor), _) if processor != platform.arch => return None,
        (Some(_), Some("newer")) => 5,
        (Some(_), _) => 20,
        (None, Some("any")) => 10,
        // What has no processor in its name is for the usual one.
        (None, _) if system.is_some() && platform.arch != "x86-64" => return None,
        (None, _) => 0,
    };
    score += match (platform.libc, meaning("library", &words)) {
        (Some("musl"), Some("glibc")) => return None,
        // Almost always linked statically, so it runs; yet the other one is what its authors test.
        (Some("glibc"), Some("musl")) => 3,
        (Some(_), Some(_)) => 5,
        _ => 4,
    };
    let tool = tool.to_ascii_lowercase();
    if stem == tool
        || stem.strip_prefix(&tool).is_some_and(|rest| rest.starts_with(['-', '_', '.']))
    {
        score += 10;
    }
    let format = format.unwrap_or(formats.len());
    Some(3 * score - i32::try_from(format).unwrap_or(i32::MAX))
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
        let word = [word.to_owned()];
        ["system", "processor", "tail"].iter().any(|kind| meaning(kind, &word).is_some())
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
    let stem = spellings("format").find_map(|suffix| lower.strip_suffix(suffix));
    let stem = stem.unwrap_or(&lower);
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
    let file = file.to_ascii_lowercase();
    let find = |kind: &str, is_list: &dyn Fn(&str, &str) -> bool| {
        assets.iter().find(|asset| {
            let name = asset.file.to_ascii_lowercase();
            spellings(kind).any(|spelling| is_list(&name, spelling))
        })
    };
    find("list of one", &|name, suffix| name.strip_suffix(suffix) == Some(&file))
        .or_else(|| find("list name", &|name, spelling| name == spelling))
        .or_else(|| find("list suffix", &|name, suffix| name.ends_with(suffix)))
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
