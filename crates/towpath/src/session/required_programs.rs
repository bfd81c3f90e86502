//! The programs that a recipe requires. A requirement is met by a tool that towpath has installed, else by
//! a program on PATH or in a directory of the system; a run that was begun with one continues with it while it is there. What is
//! missing is reported with its location in the recipe and the command that installs it, or installed
//! first where the user asks for it.

use super::request_flags::SharedFlags;
use super::secret_flag;
use super::tools_meeting_requirement::{
    InstalledVersion, installed, locked_tools, system_program, tools_subject,
};
use super::trust::ConsentStatus;
use crate::environment::{Environment, own_program};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::query_program_version::tool_version;
use crate::terminal::shown_path::shown_path;
use crate::terminal::{diagnostics, out};
use serde_json::json;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use towpath_core::{Diagnostic, Secrets, Severity, Version};
use towpath_engine::{
    FoundProgram, MetRequirements, RequirementChecker, Unmet, UnmetRequirement, UnmetRequirements,
    check_requirements,
};
use towpath_recipe::{PlanRequirement, Program};
use towpath_tool::project_tools::TOOLS_FILE;

/// How what a run requires is found.
#[derive(Debug)]
pub struct RequiredPrograms<'a> {
    pub env: &'a Environment,
    pub flags: &'a SharedFlags,
    /// Masked in what an installation prints.
    pub secrets: &'a Secrets,
    /// The program was called by its own name, which has a flag for it.
    pub offers_install: bool,
}

impl RequiredPrograms<'_> {
    /// Finds what a program requires, and refuses the run with all that is missing. `earlier` is what
    /// the run was last driven with.
    pub fn find(
        &self,
        program: &Program,
        earlier: &MetRequirements,
    ) -> Result<MetRequirements, CommandError> {
        let checker = ToolsAndPath { env: self.env, asks_versions: true };
        let mut found = check_requirements(program, &checker, earlier);
        if let (true, Err(UnmetRequirements(missing))) = (self.flags.install_missing, &found) {
            missing.iter().try_for_each(|unmet| self.install(&unmet.requirement.name))?;
            found = check_requirements(program, &checker, earlier);
        }
        let met = found.map_err(|UnmetRequirements(missing)| self.refused(&missing, earlier))?;
        let met = self.with_project_tools(met, earlier)?;
        if !self.flags.quiet {
            note_replaced(self.env, &met, earlier);
        }
        Ok(met)
    }

    /// Adds the tools that the project has locked, as far as they are installed, behind what is required.
    /// The lock file was found in a working tree, so that it counts once the user has trusted it.
    fn with_project_tools(
        &self,
        met: MetRequirements,
        earlier: &MetRequirements,
    ) -> Result<MetRequirements, CommandError> {
        let env = self.env;
        let locked = locked_tools(env);
        let subject = tools_subject(&env.project_root(&env.current));
        let Some(subject) = subject.filter(|_| !locked.is_empty()) else { return Ok(met) };
        if subject.status(env.journal()?.as_ref())? != ConsentStatus::Trusted {
            let file = subject.argument(env);
            self.note(format!(
                "note: the tools of {TOOLS_FILE} are not used, because it is not trusted; to see it: \
                 towpath trust {file}"
            ));
            return Ok(met);
        }
        let (mut added, mut missing) = (Vec::new(), Vec::new());
        for tool in locked.iter().filter(|tool| met.of(&tool.name).is_none()) {
            // A run that was begun with another version continues with it.
            let versions = installed(env, &tool.name);
            let found = || versions.iter().filter_map(|version| version.found(&tool.name));
            let same = found().find(|found| earlier.of(&tool.name) == Some(found));
            let found = same.or_else(|| match tool.is_of_system() {
                true => of_system(env, &tool.name),
                false => {
                    let is_it = |one: &&InstalledVersion| {
                        one.is_locked && one.tool.record.tool == tool.name
                    };
                    versions.iter().find(is_it)?.found(&tool.name)
                }
            });
            match found {
                Some(found) => added.push((tool.name.as_str(), found)),
                None => missing.push(format!("{} {}", tool.name, tool.version).trim().to_owned()),
            }
        }
        if !missing.is_empty() {
            let missing = missing.join(", ");
            self.note(format!(
                "note: the project's tools are not all installed: {missing} (towpath tool install)"
            ));
        }
        Ok(with_programs(met, &added))
    }

    fn note(&self, text: String) {
        if !self.flags.quiet {
            out::note_once(text);
        }
    }

    /// Installs a tool in a process of its own. Whether it helped is looked at afterwards.
    fn install(&self, name: &str) -> Result<(), CommandError> {
        let shown = install_command(self.env, name);
        let cannot =
            |why: std::io::Error| CommandError::setup(format!("{shown} cannot be started: {why}"));
        out::note(format!("{name} is missing: {shown}"));
        // Its output must not be among that of the run.
        let stderr = std::io::stderr().as_fd().try_clone_to_owned().map_err(cannot)?;
        let mut command = Command::new(own_program()?);
        command.args(install_arguments(self.env, name)).current_dir(&self.env.current);
        command.env_clear().envs(secret_flag::environment(self.env, self.secrets));
        command.stdin(Stdio::null()).stdout(stderr);
        let status = command.status().map_err(cannot)?;
        if !status.success() {
            out::note(format!("{name} was not installed ({status})"));
        }
        Ok(())
    }

    /// Draws what is missing, and names the commands that install it.
    fn refused(&self, missing: &[UnmetRequirement], earlier: &MetRequirements) -> CommandError {
        let env = self.env;
        let drawn = missing.iter().map(|unmet| {
            let problem = problem(unmet, Severity::Error);
            match earlier.of(&unmet.requirement.name) {
                Some(used) => problem.help(format!("the run has used {}", shown(env, used))),
                None => problem,
            }
        });
        diagnostics::draw(&drawn.collect::<Vec<_>>(), env.color);
        let commands = missing.iter().map(|UnmetRequirement { requirement, .. }| {
            format!("{requirement} ({})", install_command(env, &requirement.name))
        });
        let listed = commands.collect::<Vec<_>>().join(", ");
        let offers = self.offers_install && !self.flags.install_missing;
        let offer = if offers { "; --install-missing installs them first" } else { "" };
        let message =
            format!("required programs are missing, and nothing was run: {listed}{offer}");
        CommandError::new(Exit::Setup, ErrorKind::MissingProgram, message)
    }
}

/// Adds programs to those that were found, as a run's record has them.
fn with_programs(met: MetRequirements, added: &[(&str, FoundProgram)]) -> MetRequirements {
    let mut stored = json!(met);
    for (name, found) in added {
        let mut program = json!(found);
        program["name"] = json!(name);
        stored.as_array_mut().into_iter().for_each(|list| list.push(program.clone()));
    }
    serde_json::from_value(stored).unwrap_or(met)
}

/// Checks the requirements without starting a process: programs that are missing, and
/// versions that were not checked.
pub fn foreseen(env: &Environment, program: &Program, missing: Severity) -> Vec<Diagnostic> {
    let checker = ToolsAndPath { env, asks_versions: false };
    let found = check_requirements(program, &checker, &MetRequirements::default());
    let Err(UnmetRequirements(unmet)) = found else { return Vec::new() };
    let described = unmet.iter().map(|unmet| match &unmet.why {
        Unmet::VersionNotChecked { .. } => problem(unmet, Severity::Note),
        _ => {
            let command = install_command(env, &unmet.requirement.name);
            problem(unmet, missing).help(format!("to install it: {command}"))
        }
    });
    described.collect()
}

/// A requirement that is not met, at its locations.
fn problem(unmet: &UnmetRequirement, severity: Severity) -> Diagnostic {
    let UnmetRequirement { requirement, why } = unmet;
    let (code, message) = match why {
        Unmet::VersionNotChecked { program } => {
            let program = program.display();
            (
                "unchecked-version",
                format!("`{requirement}`: the version of {program} was not checked"),
            )
        }
        why => ("missing-program", format!("`{requirement}` is missing: {why}")),
    };
    let by = requirement.required_by.iter();
    by.fold(Diagnostic::new(severity, code, message), |problem, by| {
        problem.at(&by.program.source, by.program.span, "required here")
    })
}

/// Tools of ours, then programs on PATH.
#[derive(Debug)]
struct ToolsAndPath<'a> {
    env: &'a Environment,
    /// Programs on PATH may be started to ask for their version.
    asks_versions: bool,
}

impl RequirementChecker for ToolsAndPath<'_> {
    fn find(
        &self,
        wanted: &PlanRequirement,
        earlier: Option<&FoundProgram>,
    ) -> Result<FoundProgram, Unmet> {
        let (met, other) = self.tools(wanted);
        let mut same = met.iter().filter(|found| Some(*found) == earlier);
        if let Some(same) = same.next() {
            return Ok(same.clone());
        }
        let on_path = |other| self.on_path(wanted, other);
        match (met.into_iter().next(), earlier) {
            (Some(tool), Some(earlier)) if !earlier.directory_first => {
                Ok(on_path(other).ok().filter(|found| found == earlier).unwrap_or(tool))
            }
            (Some(tool), _) => Ok(tool),
            (None, _) => on_path(other),
        }
    }
}

impl ToolsAndPath<'_> {
    /// The installed versions that meet a requirement, and those that do not: first the one that the project
    /// has locked, then the newest.
    fn tools(&self, wanted: &PlanRequirement) -> (Vec<FoundProgram>, Vec<FoundProgram>) {
        let mut tools: Vec<(bool, Option<Version>, FoundProgram)> = Vec::new();
        for tool in installed(self.env, &wanted.name) {
            if let Some(found) = tool.found(&wanted.name) {
                let version = tool.tool.record.version.parse().ok();
                tools.push((tool.is_locked, version, found));
            }
        }
        tools.sort_by(|(locked, a, _), (other_locked, b, _)| {
            other_locked.cmp(locked).then_with(|| b.cmp(a))
        });
        let meets = |version: &Option<Version>| match version {
            Some(version) => wanted.is_met_by(version),
            None => wanted.constraints.is_empty(),
        };
        let (met, other): (Vec<_>, Vec<_>) = tools.into_iter().partition(|(_, own, _)| meets(own));
        let found =
            |tools: Vec<(_, _, FoundProgram)>| tools.into_iter().map(|(.., tool)| tool).collect();
        (found(met), found(other))
    }

    /// The program on PATH, if it meets the requirement; `other` are the tools that do not.
    fn on_path(
        &self,
        wanted: &PlanRequirement,
        mut other: Vec<FoundProgram>,
    ) -> Result<FoundProgram, Unmet> {
        let Some(found) = of_system(self.env, &wanted.name) else {
            return Err(if other.is_empty() {
                Unmet::NotFound
            } else {
                Unmet::OtherVersion { found: other }
            });
        };
        if wanted.constraints.is_empty() {
            return Ok(found);
        }
        let program = found.program.clone();
        if !self.asks_versions {
            return Err(Unmet::VersionNotChecked { program });
        }
        let printed = tool_version(&wanted.name, &program);
        let version = printed.and_then(|text| {
            let version = text.parse::<Version>();
            version.map_err(|_| format!("`{text}` cannot be compared"))
        });
        match version {
            Ok(version) => {
                let found = FoundProgram { version: Some(version.to_string()), ..found };
                if wanted.is_met_by(&version) {
                    return Ok(found);
                }
                other.push(found);
                Err(Unmet::OtherVersion { found: other })
            }
            Err(reason) => Err(Unmet::VersionUnknown { program, reason }),
        }
    }
}

/// A program on PATH, else in a directory of the system.
fn of_system(env: &Environment, name: &str) -> Option<FoundProgram> {
    let on_path = env.on_path(name);
    let directory_first = on_path.is_none();
    let program = on_path.or_else(|| system_program(name))?;
    // Steps find one that PATH does not lead to.
    let readable = files_outside_of_system(&program);
    Some(FoundProgram { readable, program, version: None, directory_first })
}

/// Where every sandbox shows what is there.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store"];

/// The file of a program that is not part of the system, and what it leads to.
fn files_outside_of_system(program: &Path) -> Vec<PathBuf> {
    let real = program.canonicalize().ok();
    let mut files: Vec<PathBuf> = [Some(program.to_owned()), real].into_iter().flatten().collect();
    files
        .retain(|file| file.is_absolute() && !SYSTEM.iter().any(|system| file.starts_with(system)));
    files.dedup();
    files
}

/// The arguments of the command that installs a tool: from its recipe, or from a source that has it.
fn install_arguments(env: &Environment, name: &str) -> [String; 3] {
    let word = match env.tools().recipe(name).is_file() {
        // An installed version does not meet the requirement.
        _ if installed(env, name).iter().any(|one| one.tool.record.tool == name) => "update",
        true => "install",
        false => "create",
    };
    ["tool", word, name].map(str::to_owned)
}

fn install_command(env: &Environment, name: &str) -> String {
    format!("towpath {}", install_arguments(env, name).join(" "))
}

/// Reports the programs that a run continues with instead of what it has used.
fn note_replaced(env: &Environment, met: &MetRequirements, earlier: &MetRequirements) {
    for met in met.iter() {
        let Some(used) = earlier.of(met.name()).filter(|used| *used != met.found()) else {
            continue;
        };
        let (used, now) = (shown(env, used), shown(env, met.found()));
        out::note(format!("note: the run has used {used}, which is gone; it continues with {now}"));
    }
}

/// `jq 1.7.1 (~/…/bin/jq)`
fn shown(env: &Environment, found: &FoundProgram) -> String {
    let name = found.program.file_name().map(PathBuf::from).unwrap_or_default();
    let version = found.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
    format!("{}{version} ({})", name.display(), shown_path(&found.program, env))
}
