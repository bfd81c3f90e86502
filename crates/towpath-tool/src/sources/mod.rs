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

mod artifact_cache;
mod building;
mod candidate;
mod cargo;
mod client_sandbox;
mod fetch_plan;
mod generate;
mod github;
mod host_platform;
mod look_up;
mod npm;
mod pypi;
mod registry;
mod release_asset;
mod remote_file;
mod source_context;
mod source_error;
mod source_ref;
mod tool_names;

pub use artifact_cache::{Artifact, Locks};
pub use candidate::{Candidate, Unusable};
pub use generate::generate;
pub use host_platform::HostPlatform;
pub use look_up::{Found, look_up, search};
pub use release_asset::ReleaseAsset;
pub use remote_file::can_be_replaced;
pub use source_context::{Progress, SourceContext, TimeLimits, Unit};
pub use source_error::SourceError;
pub use source_ref::{SourceKind, SourceRef, SourceRefError, check_version};
pub use tool_names::{KnownTool, known_tool, known_tools};

use crate::file_hash::without_special_bits;
use crate::tool_recipe::ToolRecipe;
use artifact_cache::{ArtifactCache, FetchRequest, PartialArtifact};
use building::{Building, refuse_links};
use fetch_plan::{FetchPlan, Work};
use source_error::{AtPath as _, Result};
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

/// A fetch on its way.
struct Fetching<'f> {
    /// Exactly this is fetched; where it has nothing, the clients choose.
    locks: &'f Locks,
    partial: PartialArtifact,
    context: &'f SourceContext<'f>,
}

/// Fetches everything that an offline build of a version needs, exactly as it is locked where it is. What was
/// fetched before and is unchanged is used again, without network and without the source's client.
pub fn fetch(
    recipe: &ToolRecipe,
    version: &str,
    locks: &Locks,
    context: &SourceContext<'_>,
) -> Result<Artifact> {
    let plan = FetchPlan::new(recipe, version, &HostPlatform::current())?;
    let cache = ArtifactCache::new(&context.cache);
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
    context.progress().phase("fetch");
    let mut work = Fetching { locks, partial: cache.begin()?, context };
    for step in &plan.works {
        match step {
            Work::Package(package) => package.fetch(&mut work)?,
            Work::Download(file) => drop(file.fetch(&mut work)?),
            Work::Extract { .. } | Work::Programs(_) | Work::Run { .. } => {}
        }
    }
    cache.publish(&locked, work.partial)
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
    context: &SourceContext<'_>,
) -> Result<Built> {
    let plan = FetchPlan::new(recipe, version, &HostPlatform::current())?;
    context.progress().phase("build");
    let (artifact, built) = (artifact.directory.as_path(), Built::default());
    let mut work = Building { artifact, install, built, context };
    for step in &plan.works {
        match step {
            Work::Package(package) => package.build(&mut work)?,
            Work::Download(_) => {}
            Work::Extract { archive, strip } => work.extract(archive, *strip)?,
            Work::Programs(programs) => work.install_programs(programs)?,
            Work::Run { command, network } => work.run(command, *network)?,
        }
    }
    refuse_links(install)?;
    without_special_bits(install).at(install)?;
    // A command of the recipe may have made programs itself.
    if install.join("bin").is_dir() {
        work.add_programs("bin")?;
    }
    let (mut built, main) = (work.built, recipe.main_binary());
    built.binaries.sort_by_key(|(name, _)| name != main && *name != recipe.metadata.name);
    Ok(built)
}
