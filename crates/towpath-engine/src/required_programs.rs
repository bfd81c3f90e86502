//! The programs that a plan requires, found before anything of a run is recorded. What was found is
//! recorded with the run, so that a resume uses the same, and its directories come first on the PATH of
//! the run's children. Where programs are looked for, and how their versions are known, is a
//! [`RequirementChecker`]'s business. No run begins or continues with a requirement that none has met.

use crate::error::EngineError;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use towpath_core::VersionConstraint;
use towpath_recipe::{PlanRequirement, Program};

/// Finds the programs that plans require.
pub trait RequirementChecker: fmt::Debug {
    /// Finds a program that meets all that is required of it. `earlier` met it when the run was last
    /// driven, and is preferred if it still does.
    fn find(
        &self,
        wanted: &PlanRequirement,
        earlier: Option<&FoundProgram>,
    ) -> Result<FoundProgram, Unmet>;
}

/// A program that meets a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundProgram {
    #[serde(with = "towpath_core::os_text")]
    pub program: PathBuf,
    /// None where no version was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The program is found because this directory comes first on the PATH of the run's children.
    /// Otherwise it is on their PATH already.
    #[serde(default)]
    pub directory_first: bool,
    /// What a sandboxed step must be able to read to use it, beside the system's own directories.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "towpath_core::os_text::list")]
    pub readable: Vec<PathBuf>,
}

impl FoundProgram {
    /// The directory that must come first on PATH.
    pub fn directory(&self) -> Option<&Path> {
        self.program.parent().filter(|_| self.directory_first)
    }
}

/// Why a requirement is not met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unmet {
    #[error("not found")]
    NotFound,
    #[error("there is {}", listed(.found))]
    OtherVersion { found: Vec<FoundProgram> },
    #[error("the version of {} is not known: {reason}", program.display())]
    VersionUnknown { program: PathBuf, reason: String },
    /// Nobody has looked for it.
    #[error("not checked")]
    NotChecked,
    /// There is a program, and whether it meets the requirement was not found out.
    #[error("the version of {} was not checked", program.display())]
    VersionNotChecked { program: PathBuf },
    #[error("{} cannot be on PATH: it has a `:`", directory.display())]
    NotForPath { directory: PathBuf },
}

fn listed(found: &[FoundProgram]) -> String {
    let one = |found: &FoundProgram| {
        let version = found.version.as_deref().unwrap_or("an unknown version");
        format!("{version} ({})", found.program.display())
    };
    found.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A requirement that is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetRequirement {
    pub requirement: PlanRequirement,
    pub why: Unmet,
}

/// `jq>=1.6 (step a of build): not found`
impl fmt::Display for UnmetRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by: Vec<String> =
            self.requirement.required_by.iter().map(ToString::to_string).collect();
        write!(f, "{} ({}): {}", self.requirement, by.join(", "), self.why)
    }
}

/// All the requirements of a plan that are not met. Nothing was run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("required programs are missing: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct UnmetRequirements(pub Vec<UnmetRequirement>);

/// What meets the requirements of a plan: what [`check_requirements`] has found, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MetRequirements(Vec<MetRequirement>);

/// A requirement and the program that meets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetRequirement {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<VersionConstraint>,
    #[serde(flatten)]
    found: FoundProgram,
}

impl MetRequirement {
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn found(&self) -> &FoundProgram {
        &self.found
    }
}

/// Finds every program that a plan requires, or reports all that are missing. `earlier` is what the
/// run was last driven with.
pub fn check_requirements(
    program: &Program,
    checker: &dyn RequirementChecker,
    earlier: &MetRequirements,
) -> Result<MetRequirements, UnmetRequirements> {
    let (mut met, mut unmet) = (Vec::new(), Vec::new());
    for requirement in program.requirements() {
        match checker.find(&requirement, earlier.of(&requirement.name)).and_then(for_path) {
            Ok(found) => {
                let PlanRequirement { name, constraints, .. } = requirement;
                met.push(MetRequirement { name, constraints, found });
            }
            Err(why) => unmet.push(UnmetRequirement { requirement, why }),
        }
    }
    if unmet.is_empty() { Ok(MetRequirements(met)) } else { Err(UnmetRequirements(unmet)) }
}

/// A program whose directory can be one of PATH, if it must be.
fn for_path(found: FoundProgram) -> Result<FoundProgram, Unmet> {
    match found.directory() {
        Some(directory) if directory.as_os_str().as_bytes().contains(&b':') => {
            Err(Unmet::NotForPath { directory: directory.to_owned() })
        }
        _ => Ok(found),
    }
}

impl MetRequirements {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &MetRequirement> {
        self.0.iter()
    }

    /// What meets the requirement of that name.
    pub fn of(&self, name: &str) -> Option<&FoundProgram> {
        self.0.iter().find(|met| met.name == name).map(|met| &met.found)
    }

    /// Refuses a program that requires more than was checked.
    pub(crate) fn refuse_unchecked(&self, program: &Program) -> Result<(), EngineError> {
        let is_checked = |wanted: &PlanRequirement| {
            self.0
                .iter()
                .any(|met| met.name == wanted.name && met.constraints == wanted.constraints)
        };
        let unchecked = program.requirements().into_iter().filter(|wanted| !is_checked(wanted));
        let unmet: Vec<UnmetRequirement> = unchecked
            .map(|requirement| UnmetRequirement { requirement, why: Unmet::NotChecked })
            .collect();
        if unmet.is_empty() { Ok(()) } else { Err(UnmetRequirements(unmet).into()) }
    }

    /// The environment of the children, with the directories of what was found first on their PATH.
    pub(crate) fn environment(
        &self,
        mut environment: Vec<(OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let mut first: Vec<&Path> = Vec::new();
        for directory in self.0.iter().filter_map(|met| met.found.directory()) {
            if !first.contains(&directory) {
                first.push(directory);
            }
        }
        if first.is_empty() {
            return environment;
        }
        let at = environment.iter().position(|(name, _)| name == PATH);
        let own = at.map_or(OsString::from(DEFAULT_PATH), |at| environment.remove(at).1);
        let mut path = OsString::new();
        for directory in first {
            path.push(directory);
            path.push(":");
        }
        path.push(own);
        environment.push((PATH.into(), path));
        environment
    }
}

const PATH: &str = "PATH";
/// Where programs are looked for when there is no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The programs of a PATH. It starts nothing, so that the version of a program is not known: a
/// requirement with a version is met by a checker of the embedder's alone.
#[derive(Debug, Clone)]
pub struct ProgramsOnPath {
    path: OsString,
}

impl ProgramsOnPath {
    /// Of the PATH in an environment.
    pub fn of(environment: &[(OsString, OsString)]) -> ProgramsOnPath {
        let path = environment.iter().find(|(name, _)| name == PATH).map(|(_, path)| path);
        ProgramsOnPath { path: path.cloned().unwrap_or_else(|| DEFAULT_PATH.into()) }
    }

    /// The file that is run by this name.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let directories = self.path.as_bytes().split(|byte| *byte == b':').map(OsStr::from_bytes);
        directories
            .map(|directory| Path::new(directory).join(name))
            .find(|file| is_executable(file))
    }
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

impl RequirementChecker for ProgramsOnPath {
    fn find(
        &self,
        wanted: &PlanRequirement,
        _: Option<&FoundProgram>,
    ) -> Result<FoundProgram, Unmet> {
        let program = self.file(&wanted.name).ok_or(Unmet::NotFound)?;
        match wanted.constraints.is_empty() {
            true => Ok(FoundProgram {
                program,
                version: None,
                directory_first: false,
                readable: Vec::new(),
            }),
            false => Err(Unmet::VersionNotChecked { program }),
        }
    }
}
