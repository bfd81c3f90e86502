//! What a source has under a name. All text in it comes from strangers: it is shortened to one line
//! without control characters before it gets here.

use super::release_asset::ReleaseAsset;
use super::source_ref::SourceRef;
use crate::printed_text::clean_text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub source: SourceRef,
    pub version: String,
    pub description: Option<String>,
    /// A URL of the project.
    pub homepage: Option<String>,
    /// Who publishes it, in the registry's words.
    pub owner: Option<String>,
    /// When this version was, where the registry has it: `2026-01-31T…`.
    pub published: Option<String>,
    /// A newer version that was published too recently to be taken.
    pub newer: Option<String>,
    /// What a user should know before taking it.
    pub note: Option<String>,
    pub license: Option<String>,
    /// The programs it has; empty where that is not known before it is fetched.
    pub binaries: Vec<String>,
    pub unusable: Option<Unusable>,
    /// The file of a release that is for this machine.
    pub asset: Option<ReleaseAsset>,
    /// What the release's tag has before the version.
    pub tag_prefix: Option<String>,
}

/// Why nothing can be installed from a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("a library, no programs")]
    Library,
    /// Building foreign code is not an option here.
    #[error("no wheel for this Python and this machine")]
    NoWheel,
    #[error("its release has no file for this machine")]
    NoAsset,
    #[error("no release")]
    NoRelease,
    #[error("it needs something from outside of the registry")]
    DirectReference,
    #[error("its publisher has withdrawn this version")]
    Yanked,
    #[error("its registry has no hash for something that it needs")]
    NoHash,
    #[error("it was published too recently; --now takes it all the same")]
    TooYoung,
    #[error("it is for another version of Node than this machine has")]
    OtherNode,
}

impl Candidate {
    pub(super) fn new(source: SourceRef, version: &str) -> Candidate {
        Candidate {
            source,
            version: version.to_owned(),
            description: None,
            homepage: None,
            owner: None,
            published: None,
            newer: None,
            note: None,
            license: None,
            binaries: Vec::new(),
            unusable: None,
            asset: None,
            tag_prefix: None,
        }
    }

    pub(super) fn described(
        mut self,
        description: Option<&str>,
        homepage: Option<&str>,
        license: Option<&str>,
    ) -> Candidate {
        self.description = description.and_then(|text| one_line(text, LONGEST_DESCRIPTION));
        // As npm writes repositories.
        let page = homepage.map(|page| page.trim_start_matches("git+").trim_end_matches(".git"));
        self.homepage = page.and_then(web_page);
        // Some packages put the whole text of their licence there.
        let license = license.filter(|text| !text.trim().contains('\n'));
        self.license = license.and_then(|text| one_line(text, LONGEST_LICENSE));
        self
    }
}

const LONGEST_DESCRIPTION: usize = 200;
const LONGEST_LICENSE: usize = 80;

/// A text of a stranger as one line, shortened.
fn one_line(text: &str, longest: usize) -> Option<String> {
    let line = clean_text(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || line.eq_ignore_ascii_case("unknown") {
        return None;
    }
    match line.char_indices().nth(longest) {
        Some((end, _)) => Some(format!("{}…", line[..end].trim_end())),
        None => Some(line),
    }
}

fn web_page(text: &str) -> Option<String> {
    let text = text.trim();
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let ordinary = |c: char| c.is_ascii_graphic() && !"\"'`<>{}\\".contains(c);
    (!rest.is_empty() && text.len() <= 300 && rest.chars().all(ordinary)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceKind;

    #[test]
    fn text_of_strangers_becomes_one_line() {
        let source = SourceRef::new(SourceKind::Cargo, "x").unwrap();
        let described = |description: &str, homepage: &str, license: &str| {
            let candidate = Candidate::new(source.clone(), "1");
            let made = candidate.described(Some(description), Some(homepage), Some(license));
            (made.description, made.homepage, made.license)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            described("a\n  b\u{1b}[31mc\r\n", " https://x.y/z ", "MIT"),
            (some("a bc"), some("https://x.y/z"), some("MIT"))
        );
        assert_eq!(described(" ", "javascript:x", "unknown"), (None, None, None));
        assert_eq!(described("x", "https://a b", "MIT\n\nCopyright"), (some("x"), None, None));
        let long = described(&"é".repeat(300), "https://", "UNKNOWN").0.unwrap();
        assert_eq!(long.chars().count(), 201);
    }
}
