//! Which of several sources of one name a user means, and why. Anybody can publish under a free name, so
//! a name proves little: that two sources describe the same project proves more, and so does Debian's
//! archive, whose packages are chosen by hand. Pure: what was found in, a ranking out.

use super::candidate::Candidate;
use super::source_error::SourceError;
use super::source_ref::SourceKind;
use std::cmp::{Ordering, Reverse};

/// What was chosen, and why, in a line for each source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    pub chosen: Option<Candidate>,
    /// The other usable ones, best first.
    pub others: Vec<Candidate>,
    pub explained: Vec<String>,
}

/// A source and its answer.
pub type Found = (SourceKind, Result<Option<Candidate>, SourceError>);

pub fn choose(name: &str, found: Vec<Found>) -> Choice {
    let (mut usable, mut refused) = (Vec::new(), Vec::new());
    for (kind, answer) in found {
        match answer {
            Err(error) => refused.push(format!("{}: {error}", kind.title())),
            Ok(None) => refused.push(format!("{}: not found", kind.title())),
            Ok(Some(candidate)) => match refusal(&candidate, name) {
                Some(reason) => refused.push(format!("{}: {reason}", label(&candidate))),
                None => usable.push(candidate),
            },
        }
    }
    let mut ranked: Vec<(Rank, Candidate)> = usable
        .iter()
        .map(|candidate| (Rank::of(candidate, &usable, name), candidate.clone()))
        .collect();
    ranked.sort_by(|(one, a), (two, b)| one.compare(two, a, b));
    let explain = |(index, (rank, candidate)): (usize, &(Rank, Candidate))| {
        let first = ranked.first().filter(|_| index > 0).map(|(_, first)| first);
        format!("{}: {}", label(candidate), rank.reasons(candidate, first).join("; "))
    };
    let mut explained: Vec<String> = ranked.iter().enumerate().map(explain).collect();
    explained.extend(refused);
    let mut candidates = ranked.into_iter().map(|(_, candidate)| candidate);
    let chosen = candidates.next();
    Choice { chosen, others: candidates.collect(), explained }
}

fn label(candidate: &Candidate) -> String {
    format!("{} {}", candidate.source, candidate.version)
}

fn refusal(candidate: &Candidate, name: &str) -> Option<String> {
    if !candidate.exact {
        return Some(format!("another name than `{name}`"));
    }
    candidate.unusable.map(|unusable| unusable.to_string())
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rank {
    /// Other sources with the same project page.
    agrees_with: Vec<String>,
    is_debian: bool,
    /// Another project than Debian's package of this name.
    unlike_debian: bool,
    programs: Programs,
    /// A version like 0.0.1: names are reserved with them.
    is_reserved: bool,
    /// Its page is named after it.
    has_page: bool,
}

/// Whether a program with the name is known to be in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Programs {
    Other,
    Unknown,
    Named,
}

/// Without Debian, and where nothing else decides: in which registry a name is most likely the tool.
const USUAL: &[SourceKind] =
    &[SourceKind::Cargo, SourceKind::Pypi, SourceKind::Npm, SourceKind::Deb];
/// Among sources of one project: what needs no compiler and depends least on the system.
const CHEAP: &[SourceKind] =
    &[SourceKind::Npm, SourceKind::Pypi, SourceKind::Cargo, SourceKind::Deb];

impl Rank {
    fn of(candidate: &Candidate, all: &[Candidate], name: &str) -> Rank {
        let pages = projects_of(candidate);
        let others = all.iter().filter(|other| other.source != candidate.source);
        let same = |other: &&Candidate| projects_of(other).iter().any(|page| pages.contains(page));
        let agrees_with: Vec<String> =
            others.clone().filter(same).map(|other| other.source.to_string()).collect();
        let is_debian = candidate.source.kind() == SourceKind::Deb;
        let debian = others.clone().any(|other| other.source.kind() == SourceKind::Deb);
        let programs = match &candidate.binaries[..] {
            [] => Programs::Unknown,
            list if list.iter().any(|program| program == name) => Programs::Named,
            _ => Programs::Other,
        };
        let unlike_debian =
            debian && !agrees_with.iter().any(|other| other.starts_with(SourceKind::Deb.word()));
        let numbers = numbers_of(&candidate.version);
        let is_reserved = numbers.len() >= 3 && numbers.starts_with(&[0, 0]);
        let has_page = pages.iter().any(|page| is_named(page, name));
        Rank { agrees_with, is_debian, unlike_debian, programs, is_reserved, has_page }
    }

    /// Best first.
    fn compare(&self, other: &Rank, own: &Candidate, others: &Candidate) -> Ordering {
        let one_project =
            !self.agrees_with.is_empty() && self.agrees_with.contains(&others.source.to_string());
        if one_project {
            let newest = compare_versions(&others.version, &own.version);
            return newest.then_with(|| position(CHEAP, own).cmp(&position(CHEAP, others)));
        }
        let key = |rank: &Rank, candidate: &Candidate| {
            let good = [
                !rank.is_reserved,
                !rank.unlike_debian,
                !rank.agrees_with.is_empty(),
                rank.is_debian,
            ];
            (
                Reverse(good),
                Reverse(rank.programs),
                Reverse(rank.has_page),
                position(USUAL, candidate),
            )
        };
        key(self, own).cmp(&key(other, others))
    }

    fn reasons(&self, candidate: &Candidate, chosen: Option<&Candidate>) -> Vec<String> {
        let mut reasons = Vec::new();
        if !self.agrees_with.is_empty() {
            reasons.push(format!("the same project as {}", self.agrees_with.join(", ")));
        }
        if let Some(chosen) = chosen {
            let same = self.agrees_with.contains(&chosen.source.to_string());
            if same && compare_versions(&candidate.version, &chosen.version) == Ordering::Less {
                reasons.push("older".to_owned());
            }
        }
        if self.unlike_debian {
            reasons.push("not the project that Debian has under this name".to_owned());
        }
        if self.is_reserved {
            reasons.push("perhaps only a reserved name".to_owned());
        }
        if self.is_debian {
            reasons.push("in Debian's archive".to_owned());
        }
        reasons.push(match self.programs {
            Programs::Named => "has a program of this name".to_owned(),
            Programs::Unknown => "its programs are known after fetching".to_owned(),
            Programs::Other => format!("has {}", candidate.binaries.join(", ")),
        });
        reasons
    }
}

fn position(order: &[SourceKind], candidate: &Candidate) -> usize {
    order.iter().position(|kind| *kind == candidate.source.kind()).unwrap_or(order.len())
}

/// The pages of a candidate, to be compared.
fn projects_of(candidate: &Candidate) -> Vec<String> {
    let pages = [&candidate.homepage, &candidate.repository];
    pages.into_iter().flatten().filter_map(|page| project_of(page)).collect()
}

/// `prettier.io` and `github.com/owner/prettier` are named `prettier`.
fn is_named(page: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let (host, path) = page.split_once('/').unwrap_or((page, ""));
    host.split('.').next() == Some(&name) || path.rsplit('/').next() == Some(&name)
}

/// A project's page without what its spellings differ in; of a repository only owner and name.
fn project_of(page: &str) -> Option<String> {
    let page = page.split_once("://").map_or(page, |(_, rest)| rest).to_ascii_lowercase();
    let page = page.split(['?', '#']).next()?.trim_start_matches("www.").trim_end_matches('/');
    let parts: Vec<&str> = page.split('/').collect();
    let is_forge = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "sr.ht"];
    let page = match &parts[..] {
        [host, owner, name, ..] if is_forge.contains(host) => format!("{host}/{owner}/{name}"),
        // A forge's own page, or one of an owner, is no project's.
        [host, ..] if is_forge.contains(host) => return None,
        _ => page.to_owned(),
    };
    let page = page.trim_end_matches(".git");
    (!page.is_empty()).then(|| page.to_owned())
}

fn compare_versions(one: &str, two: &str) -> Ordering {
    numbers_of(one).cmp(&numbers_of(two))
}

/// The numbers of a version, without Debian's epoch and revision.
fn numbers_of(version: &str) -> Vec<u64> {
    let version = version.split_once(':').map_or(version, |(_, rest)| rest);
    let upstream = version.split(['-', '+', '~']).next().unwrap_or(version);
    let parts = upstream.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{SourceRef, Unusable};

    struct Row(&'static str, &'static str, Option<&'static str>, &'static [&'static str]);

    fn candidate(Row(source, version, page, programs): &Row) -> Candidate {
        let mut candidate = Candidate::new(source.parse::<SourceRef>().unwrap(), version);
        candidate.homepage = page.map(str::to_owned);
        candidate.binaries = programs.iter().map(|program| (*program).to_owned()).collect();
        candidate
    }

    fn chosen(name: &str, rows: &[Row]) -> Vec<String> {
        let found = rows.iter().map(candidate).map(|c| (c.source.kind(), Ok(Some(c)))).collect();
        let choice = choose(name, found);
        choice.chosen.iter().chain(&choice.others).map(|c| c.source.to_string()).collect()
    }

    const RIPGREP: Option<&str> = Some("https://github.com/BurntSushi/ripgrep");

    #[test]
    fn the_project_that_two_sources_have_is_chosen_in_its_newest_version() {
        let rows = [
            Row(
                "npm:ripgrep",
                "0.3.1",
                Some("https://github.com/alexlafroscia/ripgrep-js"),
                &["ripgrep"],
            ),
            Row(
                "deb:ripgrep",
                "13.0.0-4+b2",
                Some("http://www.github.com/burntsushi/ripgrep/"),
                &[],
            ),
            Row("cargo:ripgrep", "14.1.1", RIPGREP, &["rg"]),
        ];
        assert_eq!(chosen("ripgrep", &rows), ["cargo:ripgrep", "deb:ripgrep", "npm:ripgrep"]);
    }

    #[test]
    fn debian_decides_between_projects() {
        let rows = [
            Row("npm:jq", "1.7.2", Some("https://github.com/someone/jq"), &["jq"]),
            Row("pypi:jq", "1.8.0", Some("https://github.com/mwilliamson/jq.py"), &[]),
            Row("deb:jq", "1.6-2.1", Some("https://github.com/stedolan/jq"), &[]),
        ];
        assert_eq!(chosen("jq", &rows), ["deb:jq", "npm:jq", "pypi:jq"]);
        // Two sources that agree with each other, but not with Debian, are another project.
        let rows = [
            Row("npm:x", "2", Some("https://x.dev"), &["x"]),
            Row("pypi:x", "2", Some("https://x.dev/"), &[]),
            Row("deb:x", "1", Some("https://x.org"), &[]),
        ];
        assert_eq!(chosen("x", &rows), ["deb:x", "npm:x", "pypi:x"]);
    }

    #[test]
    fn without_debian_a_known_program_and_then_the_usual_registry_decide() {
        let plugin = Some("https://github.com/jinxdash/prettier-plugin-rust");
        let rows = [
            Row("cargo:prettier", "0.1.5", plugin, &["prettier"]),
            Row("pypi:prettier", "0.0.7", None, &[]),
            Row("npm:prettier", "3.4.1", Some("https://prettier.io"), &["prettier"]),
        ];
        assert_eq!(chosen("prettier", &rows), ["npm:prettier", "cargo:prettier", "pypi:prettier"]);
        let rows = [
            Row("npm:kibi", "1.0.0", None, &["kibi"]),
            Row("cargo:kibi", "0.3.3", None, &["kibi"]),
        ];
        assert_eq!(chosen("kibi", &rows), ["cargo:kibi", "npm:kibi"]);
        let rows = [
            Row("cargo:pnpm", "0.0.0", None, &["pnpm"]),
            Row("pypi:pnpm", "1.0.14", None, &[]),
            Row("npm:pnpm", "12.18.0", Some("https://pnpm.io"), &["pnpm"]),
        ];
        assert_eq!(chosen("pnpm", &rows), ["npm:pnpm", "pypi:pnpm", "cargo:pnpm"]);
    }

    #[test]
    fn every_source_is_explained() {
        let mut library = candidate(&Row("npm:yamllint", "1.0.0", None, &[]));
        library.unusable = Some(Unusable::Library);
        let page = Some("https://github.com/adrienverge/yamllint");
        let found: Vec<Found> = vec![
            (SourceKind::Npm, Ok(Some(library))),
            (SourceKind::Cargo, Ok(None)),
            (SourceKind::Deb, Ok(Some(candidate(&Row("deb:yamllint", "1.29.0-1", page, &[]))))),
            (SourceKind::Pypi, Ok(Some(candidate(&Row("pypi:yamllint", "1.38.0", page, &[]))))),
            (SourceKind::GitHub, Err(SourceError::MissingClient("git"))),
        ];
        let choice = choose("yamllint", found);
        assert_eq!(choice.chosen.unwrap().source.to_string(), "pypi:yamllint");
        assert_eq!(
            choice.explained,
            [
                "pypi:yamllint 1.38.0: the same project as deb:yamllint; its programs are known after fetching",
                "deb:yamllint 1.29.0-1: the same project as pypi:yamllint; older; in Debian's archive; its programs are known after fetching",
                "npm:yamllint 1.0.0: a library, no programs",
                "Cargo: not found",
                "GitHub: `git` is not installed",
            ]
        );
        assert_eq!(choose("x", Vec::new()), Choice::default());
    }

    #[test]
    fn pages_of_projects_are_compared_without_their_spelling() {
        let same = |one, two| project_of(one).is_some() && project_of(one) == project_of(two);
        assert!(same("https://github.com/A/B", "http://github.com/a/b.git"));
        assert!(same("https://github.com/A/B#readme", "https://github.com/a/b/tree/main/x"));
        assert!(same("https://www.x.org/", "http://x.org"));
        assert!(!same("https://github.com/a", "https://github.com/a"));
        assert!(!same("https://a.org", "https://b.org"));
        assert!(
            is_named("prettier.io", "prettier") && is_named("github.com/x/prettier", "Prettier")
        );
        assert!(!is_named("github.com/prettier/x", "prettier"));
        assert_eq!(compare_versions("1:2.10-1", "2.9.9"), Ordering::Greater);
        assert_eq!(compare_versions("13.0.0-4+b2", "13.0.0"), Ordering::Equal);
    }
}
