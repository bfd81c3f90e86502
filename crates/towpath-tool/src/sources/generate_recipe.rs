//! A recipe from what a source has. It begins with the usual check, `NAME --version`; whether the tool
//! accepts that is found out when it is verified.

use super::archive_url;
use super::candidate::Candidate;
use super::installed_programs::is_program_name;
use super::source_context::SourceContext;
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef};
use crate::tool_recipe::{Action, InstallStep, Metadata, ToolRecipe, VersionSource};
use crate::verify_section::VerifySection;

/// The recipe for a candidate. The file of a release or of a URL is fetched and looked into, because
/// its recipe needs the checksum and the paths of its programs; nothing else is fetched here.
pub fn generate(
    candidate: &Candidate,
    context: &mut SourceContext<'_>,
) -> Result<ToolRecipe, SourceError> {
    let source = &candidate.source;
    let package = source.name().to_owned();
    let (version, action) = match source.kind() {
        SourceKind::Cargo => (
            VersionSource::Cargo { package: package.clone() },
            Some(Action::CargoInstall { package, features: Vec::new() }),
        ),
        SourceKind::Npm => {
            (VersionSource::Npm { package: package.clone() }, Some(Action::NpmInstall { package }))
        }
        SourceKind::Pypi => (
            VersionSource::Pypi { package: package.clone() },
            Some(Action::PipInstall { package, extras: Vec::new() }),
        ),
        SourceKind::GitHub => {
            let tag_prefix = candidate.tag_prefix.clone();
            (VersionSource::GitHub { repository: package, tag_prefix }, None)
        }
        SourceKind::Url => (VersionSource::Url { version: candidate.version.clone() }, None),
    };
    let mut recipe = ToolRecipe {
        metadata: metadata(candidate),
        version,
        steps: action.map(|action| InstallStep { action, when: None }).into_iter().collect(),
        verify: VerifySection::by_version(""),
        provenance: None,
    };
    if recipe.steps.is_empty() {
        archive_url::add_steps(&mut recipe, candidate, context)?;
    }
    recipe.verify = VerifySection::by_version(recipe.main_binary());
    Ok(recipe)
}

fn metadata(candidate: &Candidate) -> Metadata {
    let name = tool_name(&candidate.source);
    let mut binaries: Vec<String> =
        candidate.binaries.iter().filter(|program| is_program_name(program)).cloned().collect();
    // The tool's own program decides whether it works.
    binaries.sort_by_key(|program| *program != name);
    Metadata {
        name,
        description: candidate.description.clone(),
        homepage: candidate.homepage.clone(),
        license: candidate.license.clone(),
        binaries,
        aliases: Vec::new(),
    }
}

/// What a tool is called if the user does not decide: the package's name without scope or owner.
fn tool_name(source: &SourceRef) -> String {
    let name = match source.kind() {
        SourceKind::Url => archive_url::tool_name(source.name()),
        _ => source.name().rsplit('/').next().unwrap_or_default(),
    };
    name.to_owned()
}
