//! From a name to a recipe: the table of tools has its source, or the user names one, and a recipe is
//! generated from what that reports. Nothing of the tool runs here.

use super::find_tool_recipe;
use super::install_tool::{WantedTool, source_error};
use super::tool_session::ToolSession;
use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::files;
use crate::terminal::format::clean;
use towpath_tool::install::{InstalledTool, WantedLinks};
use towpath_tool::sources::{Candidate, Locks, SourceRef, generate, known_tool, look_up, search};
use towpath_tool::{Origin, ToolRecipe, write_recipe};

/// A recipe to prove, and why it was made from this source.
#[derive(Debug)]
pub struct GeneratedTool {
    pub wanted: WantedTool,
    /// In a line each, for the user.
    pub explained: Vec<String>,
}

/// Generates a recipe for a tool. A recipe that the user wrote stays as it is.
pub fn generate_recipe(
    session: &ToolSession<'_>,
    name: &str,
    from: Option<&SourceRef>,
    version: Option<&str>,
) -> Result<GeneratedTool, CommandError> {
    if let Some(file) = find_tool_recipe::named(session, name)?
        && file.origin == Origin::User
    {
        let message = format!(
            "{} is your own recipe and stays as it is; to use it: towpath tool install {name}",
            file.path.display()
        );
        return Err(CommandError::new(Exit::BadInput, ErrorKind::BadInput, message));
    }
    let (candidate, explained) = match from {
        Some(from) => {
            let candidate = look_up_one(session, from, version)?;
            let line = explained_candidate(&candidate);
            (candidate, vec![line])
        }
        None => known_source(session, name)?,
    };
    let recipe = session.with_sources(|context| generate(&candidate, context));
    let recipe = recipe.map_err(|error| source_error(&error))?.with_name(name);
    let wanted = WantedTool {
        recipe,
        origin: Origin::Generated,
        from: candidate.source.clone(),
        version: candidate.version,
        locks: Locks::new(),
        links: WantedLinks::OWN,
    };
    Ok(GeneratedTool { wanted, explained })
}

fn explained_candidate(candidate: &Candidate) -> String {
    let description = candidate.description.as_deref().map_or(String::new(), |d| format!(" · {d}"));
    clean(&format!("{} {}{description}", candidate.source, candidate.version))
}

/// What one source has under that name.
pub fn look_up_one(
    session: &ToolSession<'_>,
    from: &SourceRef,
    version: Option<&str>,
) -> Result<Candidate, CommandError> {
    let found = session.with_sources(|context| look_up(from, version, context));
    let candidate = found.map_err(|error| source_error(&error))?.ok_or_else(|| {
        let version = version.map_or(String::new(), |version| format!(" {version}"));
        let message = format!("{from}{version}: not found");
        CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
    })?;
    match &candidate.unusable {
        None => Ok(candidate),
        Some(why) => {
            let message = format!("{from} cannot be used: {why}");
            Err(CommandError::new(Exit::Failed, ErrorKind::Source, message))
        }
    }
}

/// The candidate of a known tool. Any other name is a question: registries have whatever
/// anybody has published under it.
fn known_source(
    session: &ToolSession<'_>,
    name: &str,
) -> Result<(Candidate, Vec<String>), CommandError> {
    if let Some(tool) = known_tool(name) {
        let candidate = look_up_one(session, &tool.from, None)?;
        let line = format!("{} {} · {}", tool.from, candidate.version, tool.description);
        return Ok((candidate, vec![clean(&line)]));
    }
    let found = session.with_sources(|context| search(name, context));
    let mut lines = Vec::new();
    for (kind, answer) in &found {
        match answer {
            Ok(Some(candidate)) if candidate.unusable.is_none() => {
                lines.push(format!("towpath tool create {name} --from {}", candidate.source));
                lines.push(format!("  {}", described(candidate)));
            }
            Ok(_) => {}
            Err(error) => lines.push(format!("{}: {error}", kind.title())),
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("\n  {}", clean(line))).collect();
    let packages = package_manager(session.env).map_or(String::new(), |manager| {
        format!("\n  {manager} install {name}\n    if the system has it")
    });
    let message = format!(
        "`{name}` is not in the table of known tools, and anybody can publish under a free name; choose \
         where it comes from:{}{packages}",
        lines.concat()
    );
    Err(CommandError::new(Exit::Decide, ErrorKind::NotFound, message))
}

fn described(candidate: &Candidate) -> String {
    let Candidate { version, description, owner, published, homepage, .. } = candidate;
    let by = owner.as_ref().map(|owner| format!("by {owner}"));
    let parts =
        [Some(version.clone()), description.clone(), by, published.clone(), homepage.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The package manager of this machine.
pub fn package_manager(env: &Environment) -> Option<&'static str> {
    const MANAGERS: [&str; 6] = ["apt-get", "dnf", "brew", "pacman", "apk", "zypper"];
    MANAGERS.into_iter().find(|manager| env.on_path(manager).is_some())
}

/// Writes the recipe that was proven to work.
pub fn save_recipe(session: &ToolSession<'_>, recipe: &ToolRecipe) -> Result<(), CommandError> {
    let path = session.directories.recipe(&recipe.metadata.name);
    files::write(&path, write_recipe(recipe).as_bytes())
        .map_err(|error| CommandError::setup(format!("{}: {error}", path.display())))
}

/// Writes the recipe of a tool that is installed already, with the check that has passed, unless there
/// is one.
pub fn save_if_missing(
    session: &ToolSession<'_>,
    wanted: &WantedTool,
    tool: &InstalledTool,
) -> Result<(), CommandError> {
    if find_tool_recipe::named(session, &wanted.recipe.metadata.name)?.is_some() {
        return Ok(());
    }
    let record = &tool.record;
    let recipe = wanted.recipe.with_programs(&record.relative_programs());
    let recipe = recipe.with_verify(record.verify.clone());
    save_recipe(session, &recipe.generated(&record.from, record.repair_metadata.clone()))
}
