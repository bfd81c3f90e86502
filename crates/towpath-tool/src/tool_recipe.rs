//! A tool recipe: what the tool is, where its versions come from, how it is installed and how it is
//! verified. A value of [`ToolRecipe`] has passed all checks of the reader; changing its verify section
//! makes another value, and the original stays as it is.

use crate::recipe_provenance::Provenance;
use crate::verify_section::VerifySection;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolRecipe {
    pub metadata: Metadata,
    pub version: VersionSource,
    pub steps: Vec<InstallStep>,
    pub verify: VerifySection,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

impl ToolRecipe {
    /// The same recipe with another verify section.
    #[must_use]
    pub fn with_verify(&self, verify: VerifySection) -> ToolRecipe {
        ToolRecipe { verify, ..self.clone() }
    }

    /// The same recipe for the programs that an install really has. Where the tool's name is not one of
    /// them, as `rg` of ripgrep, the first one is verified.
    #[must_use]
    pub fn with_programs(&self, programs: &[(String, PathBuf)]) -> ToolRecipe {
        let mut recipe = self.clone();
        let mut names: Vec<String> = programs.iter().map(|(name, _)| name.clone()).collect();
        if let Some(main) = self.main_of(&names) {
            names[..=main].rotate_right(1);
        }
        if let Some(first) = names.first().filter(|first| *first != self.main_binary()) {
            recipe.verify = VerifySection::by_version(first);
        }
        recipe.metadata.binaries = names;
        recipe
    }

    /// The same recipe for a tool that the user calls otherwise than its source does.
    #[must_use]
    pub fn with_name(&self, name: &str) -> ToolRecipe {
        let mut recipe = self.clone();
        name.clone_into(&mut recipe.metadata.name);
        if self.verify == VerifySection::by_version(self.main_binary()) {
            recipe.verify = VerifySection::by_version(recipe.main_binary());
        }
        recipe
    }

    /// Which of an install's programs decides: the one with the tool's name, else `tesseract` of
    /// `tesseract-ocr`.
    fn main_of(&self, programs: &[String]) -> Option<usize> {
        let package = self.version.package().unwrap_or_default();
        let wanted = [self.main_binary(), &self.metadata.name, package];
        let same = wanted.iter().find_map(|name| programs.iter().position(|p| p == name));
        let begins = |program: &&String| {
            let mut rests = wanted.iter().filter_map(|name| name.strip_prefix(program.as_str()));
            rests.any(|rest| rest.starts_with(['-', '_']))
        };
        let longest = programs.iter().filter(begins).max_by_key(|program| program.len());
        same.or_else(|| programs.iter().position(|program| Some(program) == longest))
    }

    /// The program that decides whether the tool works: the first of its binaries, else its name.
    pub fn main_binary(&self) -> &str {
        self.metadata.binaries.first().unwrap_or(&self.metadata.name)
    }
}

/// `[metadata]`
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Metadata {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// The programs that an install provides; empty is the one with the recipe's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binaries: Vec<String>,
    /// Other names that the tool prints of itself, such as that of its suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

/// `[version]`: where the versions of the tool come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub enum VersionSource {
    Cargo {
        package: String,
    },
    Npm {
        package: String,
    },
    Pypi {
        package: String,
    },
    GitHub {
        repository: String,
        /// What a release's tag has before the version.
        #[serde(skip_serializing_if = "Option::is_none")]
        tag_prefix: Option<String>,
    },
    /// A plain archive: the version is written in the recipe.
    Url {
        version: String,
    },
}

impl VersionSource {
    /// The name of the package or repository, where there is one.
    pub fn package(&self) -> Option<&str> {
        match self {
            VersionSource::Cargo { package }
            | VersionSource::Npm { package }
            | VersionSource::Pypi { package } => Some(package),
            VersionSource::GitHub { repository, .. } => repository.rsplit('/').next(),
            VersionSource::Url { .. } => None,
        }
    }
}

/// One row of `[[steps]]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InstallStep {
    #[serde(flatten)]
    pub action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Platform>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    Download {
        url: String,
        sha256: String,
        /// The name of the file; by default the last part of the URL.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    Extract {
        file: String,
        /// How many leading directories of each path are left out.
        #[serde(skip_serializing_if = "is_zero")]
        strip: u32,
    },
    InstallBinaries {
        /// Paths inside of what was extracted.
        binaries: Vec<String>,
        /// The names that they are installed by, one for each; by default those of the files.
        #[serde(rename = "as", skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
    CargoInstall {
        package: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        features: Vec<String>,
    },
    NpmInstall {
        package: String,
    },
    PipInstall {
        package: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        extras: Vec<String>,
    },
    Run {
        /// The program and its arguments; no shell reads them.
        command: Vec<String>,
        #[serde(skip_serializing_if = "is_false")]
        network: bool,
    },
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

/// `when`: the platforms that a step is for. What is left out is any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Platform {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arch: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libc: Option<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_decides_is_the_one_most_like_the_tool() {
        let rows: &[(&str, &str, &[&str], &str)] = &[
            ("tesseract", "tesseract-ocr", &["ambiguous_words", "tesseract"], "tesseract"),
            ("tesseract-ocr", "tesseract-ocr", &["ambiguous_words", "tesseract"], "tesseract"),
            ("mtr", "mtr-tiny", &["mtr-packet", "mtr"], "mtr"),
            ("ripgrep", "ripgrep", &["rg"], "rg"),
            ("fortunes", "fortune-mod", &["strfile", "fortune"], "fortune"),
        ];
        for (name, package, programs, expected) in rows {
            let recipe = ToolRecipe {
                metadata: Metadata { name: (*package).to_owned(), ..Metadata::default() },
                version: VersionSource::Pypi { package: (*package).to_owned() },
                steps: Vec::new(),
                verify: VerifySection::by_version(package),
                provenance: None,
            };
            let programs: Vec<_> =
                programs.iter().map(|name| ((*name).to_owned(), PathBuf::from(name))).collect();
            let recipe = recipe.with_name(name).with_programs(&programs);
            assert_eq!(recipe.main_binary(), *expected, "{name}");
            assert_eq!(recipe.verify.command, format!("{expected} --version"), "{name}");
        }
    }
}
