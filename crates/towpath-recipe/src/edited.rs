//! What became of a plan's files since it was stored. A run continues with its plan whatever
//! they contain now; this only reports it.

use crate::include_files::IncludeFiles;
use crate::plan::{Plan, PlannedRecipe};
use crate::read::{ReadContext, read_in_context};
use crate::recipe::{Recipe, Step, Work};
use crate::recipe_file;
use std::path::Path;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source};

/// A recipe of a plan whose file is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedRecipe {
    /// The index in the plan.
    pub index: usize,
    pub source: String,
    pub edit: Edit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// The file cannot be read any more; why.
    Gone(String),
    /// The file is no sound recipe now; its first error.
    Broken(String),
    /// The ids of the steps that differ. All empty when the change is elsewhere in the file.
    Steps { changed: Vec<String>, added: Vec<String>, removed: Vec<String> },
}

/// Compares a plan's texts with the files they came from. Built-ins are not compared.
pub fn edited(plan: &Plan) -> Vec<EditedRecipe> {
    let mut found = Vec::new();
    for (index, planned) in plan.recipes.iter().enumerate() {
        let Some(path) = &planned.path else { continue };
        let (path, name) = (Path::new(path), &planned.source);
        // Reading a pipe that replaced the file could wait for ever.
        let edit = if path.metadata().is_ok_and(|m| !m.is_file()) {
            Some(Edit::Gone(format!("{name} is no file any more")))
        } else {
            match recipe_file::load(path, name) {
                Ok(now) => changed(plan, planned, path, &now),
                Err(problem) => Some(Edit::Gone(problem.message)),
            }
        };
        found.extend(edit.map(|edit| EditedRecipe { index, source: name.clone(), edit }));
    }
    found
}

/// The changes in a recipe or in a file that it includes, if there are any.
fn changed(plan: &Plan, planned: &PlannedRecipe, path: &Path, now: &Arc<Source>) -> Option<Edit> {
    let files = IncludeFiles::of_file(path, &planned.source);
    let same =
        |(path, text): (&String, &String)| files.file(path).is_ok_and(|file| file.text == *text);
    if now.text == planned.text && planned.files.iter().all(same) {
        return None;
    }
    let before = Source::new(&planned.source, &planned.text);
    let before = read_with(plan, &before, &planned.include_files()).recipe;
    Some(compare(before, read_with(plan, now, &files)))
}

fn read_with(plan: &Plan, source: &Arc<Source>, files: &IncludeFiles<'_>) -> crate::Read {
    let files = |path: &str| files.file(path);
    let context = ReadContext::of_files(&files, &plan.inputs);
    read_in_context(source, &ReadContext { dialect: plan.dialect, ..context })
}

fn compare(before: Option<Recipe>, read: crate::Read) -> Edit {
    let Some(now) = read.recipe else {
        let error = read.problems.into_iter().find(Diagnostic::is_error);
        return Edit::Broken(error.map_or(String::new(), |e| e.message));
    };
    let Some(before) = before else {
        return Edit::Steps { changed: Vec::new(), added: ids(&now), removed: Vec::new() };
    };
    let text = |recipe: &Recipe, id: &str| {
        recipe.step_index(id).map(|index| written(recipe, &recipe.steps[index]))
    };
    let (mut changed, mut removed) = (Vec::new(), Vec::new());
    for id in ids(&before) {
        match text(&now, &id) {
            None => removed.push(id),
            Some(new) if text(&before, &id).is_some_and(|old| old != new) => changed.push(id),
            Some(_) => {}
        }
    }
    let added = ids(&now).into_iter().filter(|id| before.step_index(id).is_none()).collect();
    Edit::Steps { changed, added, removed }
}

fn ids(recipe: &Recipe) -> Vec<String> {
    recipe.steps.iter().map(|step| step.id.clone()).collect()
}

/// All that is written about a step, wherever.
fn written(recipe: &Recipe, step: &Step) -> Vec<String> {
    let also = step.also.iter().map(|(source, span)| source.text.get(span.range()).unwrap_or(""));
    let document = match &step.work {
        Work::Agent(agent) => agent.document.as_ref(),
        _ => None,
    };
    let documents = document.iter().flat_map(|document| &document.set.files);
    let documents = documents.map(|file| file.document.source.text.as_str());
    std::iter::once(recipe.step_text(step))
        .chain(also)
        .chain(documents)
        .map(str::to_owned)
        .collect()
}
