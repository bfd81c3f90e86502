//! What of a recipe is for this machine, and what of that has to be fetched. A recipe whose names are no
//! names of their source is refused here, before they are arguments of a client.

use super::artifact_cache::{FetchRequest, Locks};
use super::host_platform::HostPlatform;
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use crate::tool_recipe::{Action, ToolRecipe};

/// The part of an artifact that has plain files.
pub(super) const FILES: &str = "files";

#[derive(Debug)]
pub(super) struct FetchPlan<'r> {
    pub request: FetchRequest,
    pub steps: Vec<PlannedStep<'r>>,
}

#[derive(Debug)]
pub(super) struct PlannedStep<'r> {
    pub action: &'r Action,
    /// The part of the artifact that belongs to it.
    pub part: String,
}

impl<'r> FetchPlan<'r> {
    pub fn new(
        recipe: &'r ToolRecipe,
        version: &str,
        platform: &HostPlatform,
    ) -> Result<FetchPlan<'r>, SourceError> {
        check_version(version).map_err(|_| SourceError::Version(version.to_owned()))?;
        let here = recipe.steps.iter().filter(|step| platform.matches(step.when.as_ref()));
        let planned = here.enumerate().map(|(number, step)| PlannedStep {
            action: &step.action,
            part: part_of(&step.action, number),
        });
        let steps: Vec<PlannedStep<'_>> = planned.collect();
        if steps.is_empty() {
            return Err(SourceError::NoSteps);
        }
        for step in &steps {
            check_packages(step.action)?;
        }
        let fetching = steps.iter().map(|step| step.action).filter(|action| fetches(action));
        let fetching: Vec<&Action> = fetching.collect();
        let request = FetchRequest {
            source: SourceRef::of_recipe(recipe),
            version: version.to_owned(),
            steps: serde_json::to_value(fetching).expect("actions are JSON"),
            platform: platform.word(),
            locks: Locks::new(),
        };
        Ok(FetchPlan { request, steps })
    }
}

fn fetches(action: &Action) -> bool {
    !matches!(action, Action::Extract { .. } | Action::InstallBinaries { .. } | Action::Run { .. })
}

fn part_of(action: &Action, number: usize) -> String {
    match action {
        Action::CargoInstall { .. } => format!("cargo-{number}"),
        Action::NpmInstall { .. } => format!("npm-{number}"),
        Action::PipInstall { .. } => format!("pypi-{number}"),
        _ => FILES.to_owned(),
    }
}

fn check_packages(action: &Action) -> Result<(), SourceError> {
    let check =
        |kind, name: &str| SourceRef::new(kind, name).map(|_| ()).map_err(SourceError::from);
    match action {
        Action::CargoInstall { package, .. } => check(SourceKind::Cargo, package),
        Action::NpmInstall { package } => check(SourceKind::Npm, package),
        Action::PipInstall { package, extras } => {
            check(SourceKind::Pypi, package)?;
            extras.iter().try_for_each(|extra| check(SourceKind::Pypi, extra))
        }
        _ => Ok(()),
    }
}
