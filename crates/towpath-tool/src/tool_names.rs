//! The names that a tool may print of itself, and where they are in a line. Programs print their name in
//! another case, with blanks for hyphens, without the digits at its end, or as part of a longer word
//! (`OpenSSH` for `ssh`).

use std::ops::Range;

#[derive(Debug, Clone)]
pub(crate) struct ToolNames {
    /// In lower case, the most exact first.
    names: Vec<String>,
}

/// Endings that a script's file has and its messages may not.
const SCRIPT_ENDINGS: &[&str] = &[".py", ".sh", ".pl", ".rb", ".js", ".mjs", ".cjs", ".bin"];

/// Shorter names are found only as words: `w` is in every text.
const SHORTEST_PART: usize = 3;

/// Shorter names are not recognised as an abbreviation of the words in a line.
const SHORTEST_ABBREVIATION: usize = 4;

impl ToolNames {
    pub fn new<'a>(tool: &'a str, others: impl Iterator<Item = &'a str>) -> ToolNames {
        let mut names: Vec<String> = Vec::new();
        for name in [tool].into_iter().chain(others) {
            let base = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
            let ending = SCRIPT_ENDINGS.iter().find_map(|ending| base.strip_suffix(ending));
            let stem = ending.unwrap_or(&base).to_owned();
            let spaced = stem.replace('-', " ");
            let command = stem.replacen('-', " ", 1);
            // `pydoc3` of `pydoc3.11`
            let major = stem.split('.').next().unwrap_or(&stem);
            let minor = &stem[major.len()..];
            let major = match minor.chars().all(|c| c.is_ascii_digit() || c == '.') {
                true => major,
                false => &stem,
            };
            // `x86_64-linux-gnu-strip`
            let native = stem.rsplit("-linux-gnu-").next().unwrap_or(&stem);
            let local = without_platform(&stem);
            let plain = [stem.as_str(), native, local].map(without_version);
            let whole = [base.as_str(), stem.as_str(), &spaced, &command, native, local, major];
            for spelling in whole.into_iter().chain(plain) {
                if !spelling.is_empty() && !names.iter().any(|known| known == spelling) {
                    names.push(spelling.to_owned());
                }
            }
        }
        ToolNames { names }
    }

    /// Everywhere that a line has a name as a word of its own, the most exact name first.
    pub fn words_in(&self, lower: &str) -> impl Iterator<Item = Range<usize>> {
        self.names.iter().flat_map(move |name| {
            let found = lower.match_indices(name.as_str());
            let found = found.filter(|(at, _)| is_word(lower, *at, name.len()));
            found.map(|(at, name)| at..at + name.len())
        })
    }

    /// Where a line has one of the names as a word of its own. `jq-1.6` has `jq`, `jq-utils` has not.
    pub fn word_in(&self, lower: &str) -> Option<Range<usize>> {
        self.words_in(lower).next()
    }

    /// Where a line has a longer word of letters that contains one of the names: `OpenSSH`.
    pub fn part_in(&self, lower: &str) -> Option<Range<usize>> {
        let names = self.names.iter().filter(|name| name.len() >= SHORTEST_PART);
        names.into_iter().find_map(|name| {
            let mut found = lower.match_indices(name.as_str());
            found.find(|(at, _)| is_part(lower, *at, name.len())).map(|(at, _)| at..at + name.len())
        })
    }

    pub fn is_in(&self, lower: &str) -> bool {
        self.word_in(lower).is_some() || self.part_in(lower).is_some()
    }

    /// Whether a word is one of the names.
    pub fn is_name(&self, word: &str) -> bool {
        self.names.iter().any(|name| name.eq_ignore_ascii_case(word))
    }

    /// Whether a line begins with one of the names and what follows makes it a synopsis.
    pub fn begins_synopsis(&self, lower: &str) -> bool {
        let line = lower.trim_start();
        let line = line.strip_prefix("or: ").unwrap_or(line);
        let first = line.split([' ', '\t']).next().unwrap_or("");
        let base_start = first.rfind('/').map_or(0, |at| at + 1);
        let line = &line[base_start..];
        self.names.iter().any(|name| {
            let rest = line.strip_prefix(name.as_str()).unwrap_or("");
            // `tool-3.0 [options]`
            let versioned = rest.strip_prefix('-').unwrap_or(rest);
            let versioned = versioned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            if versioned.starts_with(" [o") || versioned.starts_with(" [-") {
                return true;
            }
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            let word = rest.trim_start();
            let option = word.trim_start_matches('-');
            let option = option.len() < word.len() && option.starts_with(char::is_alphanumeric);
            rest.starts_with([' ', '\t']) && (option || word.starts_with(['[', '<', '{']))
        })
    }

    /// Whether the words of a line are what the tool's name abbreviates: `gcloud` of `Google Cloud SDK`.
    pub fn abbreviates(&self, lower: &str) -> bool {
        let starts: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphabetic()).collect();
        let words = |name: &str| {
            let first = starts.iter().position(|word| word.starts_with(&name[..1]));
            let rest = first.map(|at| starts[at..].concat()).unwrap_or_default();
            let mut letters = rest.chars();
            name.chars().all(|wanted| letters.any(|letter| letter == wanted))
        };
        let letters = |name: &&String| {
            name.len() >= SHORTEST_ABBREVIATION && name.bytes().all(|b| b.is_ascii_lowercase())
        };
        self.names.iter().filter(letters).any(|name| words(name))
    }

    /// The names that contain digits, which are no version.
    pub fn with_digits(&self) -> impl Iterator<Item = &str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| name.contains(|c: char| c.is_ascii_digit()))
    }
}

/// `perl5.36` of `perl5.36-x86_64-linux-gnu`.
fn without_platform(stem: &str) -> &str {
    let Some(before) = stem.strip_suffix("-linux-gnu") else { return stem };
    before.rsplit_once('-').map_or(stem, |(name, _)| name)
}

/// `gcov` of `gcov-12`; what is then very short may be any word.
fn without_version(stem: &str) -> &str {
    let plain = stem.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if plain.len() >= SHORTEST_PART { plain } else { stem }
}

/// Whether a name is continued by what only its file has: `tool.jar`.
fn is_file_ending(after: &str) -> bool {
    let ending = SCRIPT_ENDINGS.iter().chain(&[".jar"]).find_map(|end| after.strip_prefix(end));
    ending.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c)))
}

/// Neither letters nor digits around, and not one half of a name with a hyphen.
fn is_word(text: &str, at: usize, length: usize) -> bool {
    let before = text[..at].chars().next_back();
    let mut after = text[at + length..].chars();
    let (next, second) = (after.next(), after.next());
    let joined = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let hyphen = !is_file_ending(&text[at + length..])
        && next.is_some_and(|c| c == '-' || c == '.')
        && second.is_some_and(char::is_alphabetic)
        && second != Some('v');
    let glued = next.is_some_and(char::is_alphabetic) || next.is_some_and(|c| c.is_ascii_digit());
    !joined(before) && before != Some('-') && before != Some('.') && !glued && !hyphen
}

/// Inside of a word of letters that no hyphen continues.
fn is_part(text: &str, at: usize, length: usize) -> bool {
    let before = text[..at].trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let after = text[at + length..].trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let mut next = after.chars();
    let hyphen = next.next() == Some('-') && next.next().is_some_and(char::is_alphabetic);
    !before.ends_with(['-', '/', '.']) && !hyphen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tool: &str) -> ToolNames {
        ToolNames::new(tool, std::iter::empty())
    }

    #[test]
    fn a_name_is_found_as_a_word_or_inside_of_one() {
        assert_eq!(names("jq").word_in("jq-1.6"), Some(0..2));
        assert_eq!(names("gcloud").word_in("gcloud-crc32c 1.0.0"), None);
        assert!(!names("gcloud").is_in("gke-gcloud-auth-plugin 0.5.10"));
        assert_eq!(names("ssh").part_in("openssh_9.2p1 debian"), Some(4..7));
        assert!(names("git-receive-pack").is_in("usage: git receive-pack <git-dir>"));
        assert!(names("w").word_in("a word").is_none() && !names("w").is_in("words"));
    }

    #[test]
    fn abbreviations_and_synopses_are_recognised() {
        assert!(names("gcloud").abbreviates("google cloud sdk 528.0.0"));
        assert!(names("zstd").abbreviates("*** zstandard cli (64-bit) v1.5.4"));
        assert!(!names("java").abbreviates("openjdk 17.0.15"));
        assert!(names("piconv").begins_synopsis("piconv [-f from]"));
        assert!(names("ptar").begins_synopsis("    ptar -c [-v]"));
        assert!(!names("strace").begins_synopsis("strace -- version 6.1"));
        assert!(!names("ptar").begins_synopsis("ptar is a small program"));
    }
}
