//! The recipes that a name can mean, in the order in which `run` looks for them.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::called_as::CalledAs;
use crate::session::project_settings::settings_for;
use crate::session::recipe_search_path::{search_path, working_directory};
use crate::session::trust;
use crate::terminal::out;
use crate::terminal::report::wrapped;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use crate::terminal::table::{Cell, Table};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use towpath_core::Map;
use towpath_recipe::{
    Listed, Origin, Request, RunOptions, SearchPath, builtin, list_in, list_in_working_directory,
    resolve,
};
use towpath_shell::bash::quote;
use towpath_store::Store;
use towpath_view::foreign_text::{escaped, first_line};
pub use towpath_view::origin_word;
use unicode_width::UnicodeWidthStr as _;

/// A recipe, and whether a run would use it.
pub struct Entry {
    pub recipe: Listed,
    /// Found in the working tree, and not trusted.
    pub untrusted: bool,
    /// The name means another one: what is found first, and, but for `recipe-runner-rs`, never what is
    /// not trusted while there is a built-in of that name.
    pub shadowed: bool,
}

pub fn entries(
    env: &Environment,
    directory: Option<&Path>,
    recipe_dirs: &[PathBuf],
    called_as: CalledAs,
) -> Result<Vec<Entry>, CommandError> {
    let directory = working_directory(env, directory)?;
    let settings = settings_for(env, &directory)?;
    let search = search_path(env, &settings, recipe_dirs, &directory)?;
    let store = env.journal()?;
    let mut recipes = list_in(&search, called_as.dialect());
    // The lists of other programs' names are as those programs print them.
    if called_as == CalledAs::Towpath {
        let here = list_in_working_directory(&directory, called_as.dialect());
        let listed: HashSet<_> = recipes.iter().map(|recipe| recipe.path.clone()).collect();
        recipes.extend(here.into_iter().filter(|recipe| !listed.contains(&recipe.path)));
    }
    entries_of(recipes, &directory, &search, store.as_ref(), called_as)
}

/// Prints them as `towpath list` does.
pub fn print(entries: &[Entry], env: &Environment, json: bool) {
    match json {
        true => print_json(entries.iter()),
        false => print_table(entries, env),
    }
}

pub fn print_json<'a>(entries: impl Iterator<Item = &'a Entry>) {
    let recipes: Vec<serde_json::Value> = entries.map(as_json).collect();
    out::json(&serde_json::json!({ "schema": 1, "recipes": recipes }));
}

/// The recipes of a search path, for a run in this directory.
pub fn entries_in(
    directory: &Path,
    search: &SearchPath,
    store: Option<&Store>,
    called_as: CalledAs,
) -> Result<Vec<Entry>, CommandError> {
    entries_of(list_in(search, called_as.dialect()), directory, search, store, called_as)
}

fn entries_of(
    recipes: Vec<Listed>,
    directory: &Path,
    search: &SearchPath,
    store: Option<&Store>,
    called_as: CalledAs,
) -> Result<Vec<Entry>, CommandError> {
    let mut taken = HashSet::new();
    let mut entries = Vec::new();
    for recipe in recipes {
        let untrusted =
            recipe.origin == Origin::Project && !is_trusted(&recipe, directory, search, store)?;
        let powerless =
            untrusted && called_as != CalledAs::RecipeRunner && builtin(&recipe.name).is_some();
        let shadowed = powerless || !taken.insert(recipe.name.clone());
        entries.push(Entry { recipe, untrusted, shadowed });
    }
    Ok(entries)
}

fn is_trusted(
    recipe: &Listed,
    directory: &Path,
    search: &SearchPath,
    store: Option<&Store>,
) -> Result<bool, CommandError> {
    let Some(path) = recipe.path.as_ref().filter(|_| recipe.broken.is_none()) else {
        return Ok(false);
    };
    let request = Request {
        reference: path.to_string_lossy().into_owned(),
        working_dir: directory.to_owned(),
        search: search.clone(),
        inputs: Map::new(),
        run_options: RunOptions::default(),
    };
    let program = resolve(&request).program;
    program.map_or(Ok(false), |program| trust::is_trusted(store, &program))
}

/// A description that gets fewer columns than this has a line of its own.
const DESCRIPTION: usize = 40;

fn print_table(entries: &[Entry], env: &Environment) {
    let screen = Screen::new(env);
    match Columns::that_fit(entries, env, screen.width) {
        Some(columns) => columns.print(entries, env, &screen),
        None => print_below_names(entries, &screen),
    }
    let untrusted = || entries.iter().filter(|e| e.untrusted && e.recipe.broken.is_none());
    if untrusted().next().is_some() {
        // `towpath trust` alone shows those that have a name.
        let is_loose = |e: &Entry| {
            e.recipe.path.as_ref().is_some_and(|p| p.parent() == Some(env.current.as_path()))
        };
        let paths = match untrusted().all(is_loose) {
            true => untrusted().filter_map(|e| e.recipe.path.as_ref()).collect(),
            false => Vec::new(),
        };
        let paths: Vec<String> = paths.iter().map(|p| quote(&shown_path(p, env))).collect();
        let line = [vec!["towpath trust".to_owned()], paths].concat().join(" ");
        out::note(format!("untrusted recipes do not run; to see what they would run: {line}"));
    }
}

/// The columns beside a recipe's name and description, which are always there. Names are never cut.
#[derive(Clone, Copy)]
struct Columns {
    numbers: bool,
    origin: bool,
}

impl Columns {
    /// As many columns as leave the description its room.
    fn that_fit(entries: &[Entry], env: &Environment, width: Option<usize>) -> Option<Columns> {
        let all = Columns { numbers: true, origin: true };
        let Some(width) = width else { return Some(all) };
        let widest = |text: &dyn Fn(&Entry) -> usize| entries.iter().map(text).max().unwrap_or(0);
        let name = widest(&|entry| entry.recipe.name.width());
        let version = widest(&|entry| entry.recipe.version.width()).max("VERSION".len());
        let from = widest(&|entry| from(entry, env).width());
        let wanted = widest(&|entry| description(entry).width()).min(DESCRIPTION);
        let narrower = [
            all,
            Columns { numbers: false, origin: true },
            Columns { numbers: false, origin: false },
        ];
        narrower.into_iter().find(|columns| {
            let numbers = if columns.numbers { version + 2 + "STEPS".len() + 2 } else { 0 };
            let origin = if columns.origin { from + 2 } else { 0 };
            name + 2 + numbers + wanted + origin <= width
        })
    }

    fn print(self, entries: &[Entry], env: &Environment, screen: &Screen) {
        let mut header = vec!["NAME"];
        header.extend(self.numbers.then_some(["VERSION", "STEPS"]).into_iter().flatten());
        let description_column = header.len();
        header.push("DESCRIPTION");
        header.extend(self.origin.then_some("FROM"));
        let mut table = Table::new(&header).cut_only(description_column);
        for entry in entries {
            let Entry { recipe, .. } = entry;
            let dim = if entry.shadowed { Tint::Dim } else { Tint::None };
            let mut cells = vec![Cell::tinted(&recipe.name, dim)];
            if self.numbers {
                let sound = recipe.broken.is_none();
                cells.push(Cell::tinted(&recipe.version, dim));
                cells.push(if sound { recipe.steps.to_string() } else { String::new() }.into());
            }
            cells.push(description(entry));
            cells.extend(self.origin.then(|| Cell::tinted(from(entry, env), dim)));
            table.row(cells);
        }
        table.print(screen);
    }
}

fn from(entry: &Entry, env: &Environment) -> String {
    entry.recipe.path.as_ref().map_or("built-in".to_owned(), |path| shown_path(path, env))
}

/// For a narrow terminal: each name, and its description wrapped below it.
fn print_below_names(entries: &[Entry], screen: &Screen) {
    const INDENT: &str = "  ";
    for entry in entries {
        out::line(screen.paint(Tint::None, &first_line(&entry.recipe.name)));
        let room = screen.width.unwrap_or(usize::MAX).saturating_sub(INDENT.len());
        let (text, tint) = description(entry).into_parts();
        for line in wrapped(&text, room).iter().filter(|line| !line.is_empty()) {
            out::line(format!("{INDENT}{}", screen.paint(tint, line)));
        }
    }
}

/// What the user must know of a recipe comes before its own description.
fn description(entry: &Entry) -> Cell {
    if let Some(problem) = &entry.recipe.broken {
        return Cell::tinted(format!("broken: {problem}"), Tint::Bad);
    }
    let description = match &entry.recipe.label {
        Some(label) => first_line(&format!("{label}: {}", entry.recipe.description)),
        None => first_line(&entry.recipe.description),
    };
    let marks = [(entry.shadowed, "shadowed"), (entry.untrusted, "not trusted")];
    let marks: Vec<&str> = marks.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
    match (marks.is_empty(), description.is_empty()) {
        (true, _) => description.into(),
        (false, true) => Cell::tinted(marks.join(", "), Tint::Attention),
        (false, false) => {
            Cell::tinted(format!("{}: {description}", marks.join(", ")), Tint::Attention)
        }
    }
}

fn as_json(entry: &Entry) -> serde_json::Value {
    let recipe = &entry.recipe;
    serde_json::json!({
        "name": recipe.name,
        "kind": recipe.label.as_ref().map_or("steps", |_| "machine"),
        "label": recipe.label,
        "version": recipe.version,
        "steps": recipe.steps,
        "description": recipe.description,
        "path": recipe.path.as_deref().map(escaped),
        "origin": origin_word(recipe.origin),
        "trusted": !entry.untrusted,
        "shadowed": entry.shadowed,
        "error": recipe.broken,
    })
}
