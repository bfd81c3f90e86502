//! Where tools come from: the registries of Cargo, npm and PyPI, Debian's archive, releases on GitHub,
//! files at a URL. Each source is looked up by name, gives a recipe, is fetched with everything that an
//! offline build needs, and is built in the sandbox.
//!
//! | step | network | configuration | foreign code |
//! |---|---|---|---|
//! | [`look_up`], [`search`], [`choose`], [`generate`] | yes | the user's | none |
//! | [`fetch`] | yes, unless it is in the cache | the user's | none |
//! | [`build`] | none, unless a step declares it | none | in the sandbox |
//!
//! The registries' own clients do the work, so that mirrors, proxies and credentials of the machine
//! count; they are found on the PATH that the caller gives.

mod archive_url;
mod artifact_cache;
mod build_sandbox;
mod candidate;
mod cargo;
mod choose_source;
mod copy_tree;
mod debian;
mod download_extract_and_install_steps;
mod fetch_plan;
mod generate_recipe;
mod github;
mod host_platform;
mod installed_programs;
mod look_up_name;
mod npm;
mod pypi;
mod registry_clients;
mod release_asset;
mod source_context;
mod source_error;
mod source_ref;
mod tree_hash;

pub use artifact_cache::Artifact;
pub use candidate::{Candidate, Unusable};
pub use choose_source::{Choice, Found, choose};
pub use generate_recipe::generate;
pub use host_platform::HostPlatform;
pub use look_up_name::{look_up, search};
pub use release_asset::ReleaseAsset;
pub use source_context::{NoProgress, Progress, SourceContext, Unit};
pub use source_error::SourceError;
pub use source_ref::{SourceKind, SourceRef, SourceRefError, check_version};
pub(crate) use tree_hash::sorted_tree;

use crate::tool_recipe::{Action, ToolRecipe};
use artifact_cache::{ArtifactCache, PartialArtifact};
use build_sandbox::without_special_bits;
use fetch_plan::{FetchPlan, PlannedStep};
use installed_programs::{add_directory, refuse_links};
use std::path::{Path, PathBuf};

/// What a build has made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Built {
    /// The programs by name, with their path inside of the install; the tool's own first.
    pub binaries: Vec<(String, PathBuf)>,
    /// Directories outside of the install and of the system that its programs need, such as those of an
    /// interpreter; each has its programs in `bin/`.
    pub runtime: Vec<PathBuf>,
    /// Directories that a program expects outside of the install, where they are not: by program.
    pub missing_outside: Vec<(String, PathBuf)>,
}

/// What the build of one step works with.
#[derive(Debug)]
struct BuildStep<'s> {
    /// What was fetched for it.
    fetched: PathBuf,
    install: &'s Path,
    version: &'s str,
}

/// Fetches everything that an offline build of a version needs. What was fetched before and is unchanged
/// is used again, without network and without the source's client.
pub fn fetch(
    recipe: &ToolRecipe,
    version: &str,
    context: &mut SourceContext<'_>,
) -> Result<Artifact, SourceError> {
    let plan = FetchPlan::new(recipe, version, &HostPlatform::current())?;
    let directory = context.cache.clone();
    let cache = ArtifactCache::new(&directory);
    if let Some(artifact) = cache.find(&plan.request) {
        if artifact.made_for.is_none() || pypi::is_for_this_python(&artifact, context) {
            return Ok(artifact);
        }
        cache.discard(&plan.request);
    }
    context.progress.phase("fetch");
    let mut partial = cache.begin()?;
    for step in &plan.steps {
        fetch_step(step, version, &mut partial, context)?;
    }
    cache.publish(&plan.request, partial)
}

fn fetch_step(
    step: &PlannedStep<'_>,
    version: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let part = step.part.as_str();
    match step.action {
        Action::CargoInstall { package, .. } => {
            cargo::fetch(package, version, part, partial, context)
        }
        Action::NpmInstall { package } => npm::fetch(package, version, part, partial, context),
        Action::PipInstall { package, extras } => {
            pypi::fetch(package, extras, version, part, partial, context)
        }
        Action::DebInstall { packages } => debian::fetch(packages, version, part, partial, context),
        Action::Download { url, sha256, file } => download_extract_and_install_steps::download(
            url,
            sha256,
            file.as_deref(),
            version,
            partial,
            context,
        ),
        Action::Extract { .. } | Action::InstallBinaries { .. } | Action::Run { .. } => Ok(()),
    }
}

/// Builds what was fetched into `install`, an empty directory that is never moved afterwards: what is
/// built may contain its path. Foreign code runs in the sandbox, with the artifact read-only.
pub fn build(
    recipe: &ToolRecipe,
    version: &str,
    artifact: &Artifact,
    install: &Path,
    context: &mut SourceContext<'_>,
) -> Result<Built, SourceError> {
    let plan = FetchPlan::new(recipe, version, &HostPlatform::current())?;
    context.progress.phase("build");
    let mut built = Built::default();
    for step in &plan.steps {
        let files = BuildStep { fetched: artifact.directory.join(&step.part), install, version };
        build_step(step.action, &files, &mut built, context)?;
    }
    refuse_links(install)?;
    without_special_bits(install)?;
    // A command of the recipe may have made programs itself.
    if install.join("bin").is_dir() {
        add_directory(&mut built, install, "bin")?;
    }
    let main = recipe.main_binary();
    built.binaries.sort_by_key(|(name, _)| name != main && *name != recipe.metadata.name);
    Ok(built)
}

fn build_step(
    action: &Action,
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    match action {
        Action::CargoInstall { features, .. } => cargo::build(features, step, built, context),
        Action::NpmInstall { package } => npm::build(package, step, built, context),
        Action::PipInstall { package, extras } => {
            pypi::build(package, extras, step, built, context)
        }
        Action::DebInstall { packages } => debian::build(packages, step, built, context),
        Action::Download { .. } => Ok(()),
        Action::Extract { file, strip } => {
            download_extract_and_install_steps::extract(file, *strip, step)
        }
        Action::InstallBinaries { binaries, names } => {
            download_extract_and_install_steps::install_binaries(binaries, names, step, built)
        }
        Action::Run { command, network } => {
            download_extract_and_install_steps::run(command, *network, step, context)
        }
    }
}
