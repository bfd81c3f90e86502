//! The version of a tool to install: as a source has it, as a recipe in a file has it. Nothing of the tool
//! runs here.

use super::tool_session::{ToolSession, setup};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::terminal::diagnostics;
use crate::terminal::format::clean;
use crate::terminal::out;
use std::io::ErrorKind as IoError;
use std::path::{Path, PathBuf};
use towpath_core::files;
use towpath_core::{Source, Version, nearest};
use towpath_tool::install::{InstallRecord, InstalledTool, InstalledTools, WantedLinks};
use towpath_tool::sources::{
    Candidate, Locks, SourceKind, SourceRef, can_be_replaced, check_version, fetched_version,
    generate, known_tool, look_up,
};
use towpath_tool::{Origin, ToolRecipe, ToolRequest, ToolSource, read_recipe, write_recipe};

/// More than this is no recipe.
const MOST_RECIPE: u64 = 1 << 20;

/// A version of a tool to install.
#[derive(Debug, Clone)]
pub struct WantedTool {
    pub recipe: ToolRecipe,
    /// Only a generated recipe may be repaired.
    pub origin: Origin,
    pub from: SourceRef,
    pub version: String,
    /// Contents of a lock file for it.
    pub locks: Locks,
    /// Where the version was not asked for, nothing younger is taken with it.
    pub released_before: Option<String>,
    /// Which of its programs `bin/` is to have.
    pub links: WantedLinks,
}

impl WantedTool {
    fn new(recipe: ToolRecipe, origin: Origin, from: SourceRef, version: String) -> WantedTool {
        let (locks, links) = (Locks::new(), WantedLinks::OWN);
        WantedTool { recipe, origin, from, version, locks, links, released_before: None }
    }

    /// A tool as a source has it, with a line that explains the source.
    pub fn from_source(
        session: &ToolSession<'_>,
        request: &ToolRequest,
        from: &SourceRef,
    ) -> Result<(WantedTool, String), CommandError> {
        let ToolRequest { name, version, sha256, .. } = request;
        refuse_users_recipe(session, name)?;
        let is_address = from.kind() == SourceKind::Url;
        if is_address && sha256.is_none() && can_be_replaced(from.name()) {
            return Err(CommandError::bad_input(format!(
                "{from}: anybody between you and an http address can replace the file; use https, or \
                 give the file's hash: towpath tool create {name} --from {from} --sha256 HEX"
            )));
        }
        let mut candidate = look_up_one(session, from, version.as_deref())?;
        // The bytes that an address had before are those that it must have.
        let saved = recipe_named(session, name)?.filter(|file| file.recipe.source() == *from);
        let saved = saved.and_then(|file| file.recipe.downloaded_hash().map(str::to_owned));
        if let (Some(asset), Some(hash)) =
            (&mut candidate.asset, sha256.as_ref().or(saved.as_ref()))
        {
            asset.sha256 = Some(hash.clone());
        }
        let reviewed = known_tool(name).filter(|tool| tool.from == *from);
        let reviewed = reviewed.map(|tool| tool.description.to_owned());
        let description = reviewed.or_else(|| candidate.description.clone());
        let description = description.map_or(String::new(), |text| format!(" · {text}"));
        let newer = candidate.newer.as_ref().map_or(String::new(), |newer| {
            format!(" · {newer} was published too recently; --now takes it")
        });
        let version_taken = &candidate.version;
        let explained = clean(&format!("{from} {version_taken}{description}{newer}"));
        let recipe = session.with_sources(|context| generate(&candidate, context))?.with_name(name);
        if is_address && sha256.is_none() && session.shows_progress {
            let hash = recipe.downloaded_hash().unwrap_or_default();
            out::note(format!("no --sha256: the hash of this download is recorded, sha256:{hash}"));
        }
        let released_before = session.released_before.clone().filter(|_| version.is_none());
        let (from, version) = (candidate.source, candidate.version);
        let wanted = WantedTool::new(recipe, Origin::Generated, from, version);
        Ok((WantedTool { released_before, ..wanted }, explained))
    }

    /// A tool by its recipe, `NAME`, `NAME@VERSION` or a path. Without a version the one that is there is
    /// enough, or was fetched; `update` looks for a newer one.
    pub fn from_recipe(session: &ToolSession<'_>, text: &str) -> Result<WantedTool, CommandError> {
        let (wanted, version) = SourceRef::split_version(text);
        if let Some(version) = version {
            check_version(version).map_err(CommandError::bad_input)?;
        }
        let RecipeFile { recipe, origin, .. } = find_recipe(session, wanted)?;
        let (name, from) = (&recipe.metadata.name, recipe.source());
        // The one version of a plain download is in its recipe.
        let version = match version.or(recipe.version.version.as_deref()) {
            Some(version) => version.to_owned(),
            None => {
                let installed = InstalledTools::of(&session.directories, name).map_err(setup)?;
                let mut same =
                    installed.tools.into_iter().filter(|tool| tool.record.from == from.to_string());
                let here = same.next().map(|tool| tool.record.version);
                match here.or_else(|| fetched_version(&from, &session.directories.artifacts())) {
                    Some(version) => version,
                    None => look_up_one(session, &from, None)?.version,
                }
            }
        };
        Ok(WantedTool::new(recipe, origin, from, version))
    }

    /// The newest version of an installed tool, by the user's own recipe if there is one.
    pub fn newest(
        session: &ToolSession<'_>,
        record: &InstallRecord,
    ) -> Result<WantedTool, CommandError> {
        let (name, from) = (&record.tool, source_of(record)?);
        let own = recipe_named(session, name)?.filter(|file| {
            // The recipe of an address has its only version, with the hash of its file.
            file.is_users() || from.kind() == SourceKind::Url
        });
        let Some(RecipeFile { recipe, origin, .. }) = own else {
            let newest = newest_version(session, record)?;
            let version = Some(newest).filter(|newest| *newest == record.version);
            let source = ToolSource::Package(from.clone());
            let request = ToolRequest { name: name.clone(), from: source, version, sha256: None };
            return Ok(WantedTool::from_source(session, &request, &from)?.0);
        };
        let from = recipe.source();
        let version = match &recipe.version.version {
            Some(version) => version.clone(),
            None => look_up_one(session, &from, None)?.version,
        };
        Ok(WantedTool::new(recipe, origin, from, version))
    }

    /// Writes the recipe of a tool that is installed already, with the check that has passed, unless
    /// there is one.
    pub fn save_if_missing(
        &self,
        session: &ToolSession<'_>,
        tool: &InstalledTool,
    ) -> Result<(), CommandError> {
        if recipe_named(session, &self.recipe.metadata.name)?.is_some() {
            return Ok(());
        }
        let record = &tool.record;
        let recipe = self.recipe.with_programs(&record.relative_programs());
        let recipe = recipe.with_verify(record.verify.clone());
        save_recipe(session, &recipe.generated(&record.from, record.repair_metadata.clone()))
    }
}

/// The newest version at the source of an installed tool.
pub fn newest_version(
    session: &ToolSession<'_>,
    record: &InstallRecord,
) -> Result<String, CommandError> {
    let found = look_up_one(session, &source_of(record)?, None)?.version;
    Ok(if is_older(&found, &record.version) { record.version.clone() } else { found })
}

/// A version that was taken with --now is not given up for one that is old enough.
fn is_older(found: &str, installed: &str) -> bool {
    let versions = (found.parse::<Version>(), installed.parse::<Version>());
    matches!(versions, (Ok(found), Ok(installed)) if found < installed)
}

fn source_of(record: &InstallRecord) -> Result<SourceRef, CommandError> {
    let InstallRecord { tool, from, .. } = record;
    from.parse().map_err(|_| setup(format_args!("{tool}: its source `{from}` is not known")))
}

/// Asks one source for that name.
fn look_up_one(
    session: &ToolSession<'_>,
    from: &SourceRef,
    version: Option<&str>,
) -> Result<Candidate, CommandError> {
    let found = session.with_sources(|context| look_up(from, version, context))?;
    let candidate = found.ok_or_else(|| {
        let version = version.map_or(String::new(), |version| format!(" {version}"));
        CommandError::not_found(format!("{from}{version}: not found"))
    })?;
    if let Some(note) = &candidate.note {
        out::note(note);
    }
    match &candidate.unusable {
        None => Ok(candidate),
        Some(why) => {
            let message = format!("{from} cannot be used: {why}");
            Err(CommandError::new(Exit::Failed, ErrorKind::Source, message))
        }
    }
}

/// A recipe that the user wrote stays as it is.
pub fn refuse_users_recipe(session: &ToolSession<'_>, name: &str) -> Result<(), CommandError> {
    match recipe_named(session, name)?.filter(RecipeFile::is_users) {
        None => Ok(()),
        Some(file) => Err(CommandError::bad_input(format!(
            "{} is your own recipe and stays as it is; to use it: towpath tool install {name}",
            file.path.display()
        ))),
    }
}

/// A recipe in a file.
struct RecipeFile {
    path: PathBuf,
    recipe: ToolRecipe,
    origin: Origin,
}

impl RecipeFile {
    fn is_users(&self) -> bool {
        self.origin == Origin::User
    }
}

/// The recipe that a user means: a path with a `/` or the ending `.toml`, or a name.
fn find_recipe(session: &ToolSession<'_>, wanted: &str) -> Result<RecipeFile, CommandError> {
    if wanted.contains('/') || wanted.ends_with(".toml") {
        let path = session.env.current.join(session.env.expand_home(Path::new(wanted)));
        let missing = || CommandError::not_found(format!("{}: not found", path.display()));
        return read_file(&path, session.env.color)?.ok_or_else(missing);
    }
    recipe_named(session, wanted)?.ok_or_else(|| {
        let entries = std::fs::read_dir(session.directories.recipes()).into_iter().flatten();
        let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let known: Vec<String> =
            files.filter_map(|file| file.strip_suffix(".toml").map(str::to_owned)).collect();
        let hint = match nearest(wanted, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("to make one: towpath tool create {wanted}"),
        };
        CommandError::not_found(format!("no tool recipe `{wanted}`: not found; {hint}"))
    })
}

/// The user's recipe of that name.
fn recipe_named(session: &ToolSession<'_>, name: &str) -> Result<Option<RecipeFile>, CommandError> {
    read_file(&session.directories.recipe(name), session.env.color)
}

/// Reads a recipe; what is wrong with it is drawn. None if there is no file.
fn read_file(path: &Path, color: bool) -> Result<Option<RecipeFile>, CommandError> {
    let Some(text) = read_optional(path, MOST_RECIPE)? else { return Ok(None) };
    let source = Source::new(path.display().to_string(), text.as_str());
    let recipe = read_recipe(&source).map_err(|problems| {
        diagnostics::refuse_file(&problems, color, Exit::BadInput, ErrorKind::BadRecipe)
    })?;
    let origin = Origin::of(&recipe, &text);
    Ok(Some(RecipeFile { path: path.to_owned(), recipe, origin }))
}

/// The text of a file, if there is one.
pub fn read_optional(path: &Path, most: u64) -> Result<Option<String>, CommandError> {
    match files::read_text(path, most) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == IoError::NotFound => Ok(None),
        Err(error) => Err(CommandError::bad_input(format!("{}: {error}", path.display()))),
    }
}

/// Writes the recipe that was proven to work.
pub fn save_recipe(session: &ToolSession<'_>, recipe: &ToolRecipe) -> Result<(), CommandError> {
    write(&session.directories.recipe(&recipe.metadata.name), &write_recipe(recipe))
}

/// Gives a file new contents.
pub fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    files::write(path, text.as_bytes())
        .map_err(|error| setup(format_args!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_safe_without_encryption() {
        for url in ["http://example.com/x", "http://127.0.0.1@example.com/x", "http://localhost.x/"]
        {
            assert!(can_be_replaced(url), "{url}");
        }
        let safe = ["https://example.com/x", "http://127.0.0.1:80/x", "http://[::1]:8080/x?y"];
        for url in safe.into_iter().chain(["http://localhost/x", "http://me:a@localhost:1/x"]) {
            assert!(!can_be_replaced(url), "{url}");
        }
    }
}
