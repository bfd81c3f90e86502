//! A recipe from what a source has. It begins with the usual check, `NAME --version`; whether the tool
//! accepts that is found out when it is verified.

use super::archive_url;
use super::artifact_cache::ArtifactCache;
use super::candidate::Candidate;
use super::fetch_plan::FetchPlan;
use super::host_platform::HostPlatform;
use super::installed_programs::is_program_name;
use super::source_context::SourceContext;
use super::source_error::SourceError;
use super::source_ref::SourceKind;
use crate::tool_recipe::{Action, InstallStep, Metadata, ToolRecipe, VersionKeys};
use crate::verify_section::VerifySection;

/// The recipe for a candidate. The file of a release or of a URL is fetched and looked into, because
/// its recipe needs the paths of its programs; nothing else is fetched here.
pub fn generate(
    candidate: &Candidate,
    context: &mut SourceContext<'_>,
) -> Result<ToolRecipe, SourceError> {
    let source = &candidate.source;
    let name = match source.kind() {
        SourceKind::Url => archive_url::tool_name(source.name()),
        // The package's name without scope or owner.
        _ => source.name().rsplit('/').next().unwrap_or_default(),
    };
    let mut binaries: Vec<String> =
        candidate.binaries.iter().filter(|program| is_program_name(program)).cloned().collect();
    let (package, executables) = (source.name().to_owned(), Vec::new());
    let mut version = VersionKeys::default();
    let mut fetched = None;
    let none = Vec::new();
    let actions = match source.kind() {
        SourceKind::Cargo => vec![Action::CargoInstall { package, features: none, executables }],
        SourceKind::Npm => vec![Action::NpmInstall { package, executables }],
        SourceKind::Pypi => vec![Action::PipxInstall { package, extras: none, executables }],
        kind => {
            match kind {
                SourceKind::Url => version.version = Some(candidate.version.clone()),
                _ => version.tag_prefix.clone_from(&candidate.tag_prefix),
            }
            let mut partial = ArtifactCache::new(&context.cache).begin()?;
            let (actions, programs) =
                archive_url::steps_for(candidate, name, &mut partial, context)?;
            binaries = programs;
            fetched = Some(partial);
            actions
        }
    };
    // The tool's own program decides whether it works.
    binaries.sort_by_key(|program| program != name);
    let mut recipe = ToolRecipe {
        metadata: Metadata {
            name: name.to_owned(),
            description: candidate.description.clone(),
            homepage: candidate.homepage.clone(),
            license: candidate.license.clone(),
            binaries,
            aliases: Vec::new(),
        },
        version,
        steps: actions.into_iter().map(|action| InstallStep { action, when: None }).collect(),
        verify: VerifySection::by_version(""),
        provenance: None,
    };
    recipe.verify = VerifySection::by_version(recipe.main_binary());
    if let Some(partial) = fetched {
        // The same request that installing the recipe makes, so that nothing is fetched twice.
        let plan = FetchPlan::new(&recipe, &candidate.version, &HostPlatform::current())?;
        ArtifactCache::new(&context.cache).publish(&plan.request, partial)?;
    }
    Ok(recipe)
}
