//! Where tools come from: the registries of npm, PyPI and Cargo, releases on GitHub, files at a URL. Each
//! source is looked up by name, gives a recipe, is fetched with everything that an offline build needs, and
//! is built.
//!
//! | step | network | configuration | confined |
//! |---|---|---|---|
//! | [`look_up`], [`search`], [`generate`] | yes | the user's for that registry | yes |
//! | [`fetch`] | yes, unless it is in the cache | the user's for that registry | yes |
//! | [`build`] | none, unless a step declares it | none | yes |
//!
//! The registries' own clients do the work, so that mirrors, proxies and credentials of the machine
//! count; they are found on the PATH that the caller gives. Files of releases and URLs are downloaded and
//! unpacked by this program itself.

mod archive_url;
mod artifact_cache;
mod candidate;
mod cargo;
mod client_sandbox;
mod copy_tree;
mod fetch_plan;
mod generate_recipe;
mod github;
mod host_platform;
mod installed_programs;
mod look_up_name;
mod npm;
mod plain_files;
mod pypi;
mod registry;
mod release_asset;
mod source_context;
mod source_error;
mod source_ref;
mod tool_names;

pub use archive_url::can_be_replaced;
pub use artifact_cache::{Artifact, Locks};
pub use candidate::{Candidate, Unusable};
pub use generate_recipe::generate;
pub use host_platform::HostPlatform;
pub use look_up_name::{Found, look_up, search};
pub use release_asset::ReleaseAsset;
pub use source_context::{NoProgress, Progress, SourceContext, Unit};
pub use source_error::SourceError;
pub use source_ref::{SourceKind, SourceRef, SourceRefError, check_version};
pub use tool_names::{KnownTool, known_tool, known_tools};

use crate::tool_recipe::ToolRecipe;
use artifact_cache::{ArtifactCache, FetchRequest};
use client_sandbox::without_special_bits;
use fetch_plan::{FetchPlan, Work};
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
}

/// What the build of one step works with.
#[derive(Debug)]
struct BuildStep<'s> {
    /// What was fetched for it.
    fetched: PathBuf,
    install: &'s Path,
}

/// Fetches everything that an offline build of a version needs, exactly as it is locked where it is. What was
/// fetched before and is unchanged is used again, without network and without the source's client.
pub fn fetch(
    recipe: &ToolRecipe,
    version: &str,
    locks: &Locks,
    context: &mut SourceContext<'_>,
) -> Result<Artifact, SourceError> {
    let plan = FetchPlan::new(recipe, version, &HostPlatform::current())?;
    let directory = context.cache.clone();
    let cache = ArtifactCache::new(&directory);
    let locked = FetchRequest { locks: locks.clone(), ..plan.request.clone() };
    for request in [&locked, &plan.request] {
        let Some(artifact) = cache.find(request) else { continue };
        let other =
            artifact.locks.iter().any(|(part, lock)| locks.get(part).is_some_and(|l| l != lock));
        if !other && (artifact.made_for.is_none() || pypi::is_for_this_python(&artifact, context)) {
            return Ok(artifact);
        }
    }
    cache.discard(&locked);
    context.progress.phase("fetch");
    let mut partial = cache.begin()?;
    for work in &plan.works {
        if let Some(package) = work.package(version) {
            registry::fetch(&package, locks, &mut partial, context)?;
        } else if let Work::Download(file) = work {
            plain_files::download(file, version, locks, &mut partial, context)?;
        }
    }
    cache.publish(&locked, partial)
}

/// The version of a source that was fetched last, and can be installed without a network.
pub fn fetched_version(source: &SourceRef, cache: &Path) -> Option<String> {
    ArtifactCache::new(cache).newest_version(source)
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
    let step = BuildStep { fetched: artifact.directory.join(plain_files::FILES), install };
    for work in &plan.works {
        match work {
            Work::Package { part, .. } => {
                let package = work.package(version).expect("it is a package");
                let fetched = artifact.directory.join(part);
                registry::build(&package, fetched, install, &mut built, context)?;
            }
            Work::Download(_) => {}
            Work::Extract { archive, strip } => plain_files::extract(archive, *strip, &step)?,
            Work::Programs(programs) => {
                plain_files::install_programs(programs, &step, &mut built)?;
            }
            Work::Run { command, network } => plain_files::run(command, *network, &step, context)?,
        }
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
