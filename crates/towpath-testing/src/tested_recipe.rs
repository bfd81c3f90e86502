//! A test file with the recipe that it tests: found, and checked before any case runs.

use crate::calling_program_trait::Host;
use crate::suite::Suite;
use crate::test_file_paths::recipe_of;
use std::path::{Path, PathBuf};
use towpath_core::{Diagnostic, Map};
use towpath_recipe::{
    Origin, Program, Request, Resolved, RunOptions, SearchDir, SearchPath, is_file_reference,
    resolve,
};

#[derive(Debug)]
pub struct TestedRecipe {
    pub suite: Suite,
    /// The recipe as a run is given it: a file's absolute path, or a name.
    pub reference: String,
    /// Where recipes of the project are found by name.
    pub search: Vec<PathBuf>,
    /// The recipe and all it calls, where every call is found outside of the cases' own files.
    pub program: Option<Program>,
}

impl TestedRecipe {
    /// `search` are the recipe directories of the project around the test file. What is wrong with
    /// the recipe comes back as problems.
    pub fn new(
        host: &dyn Host,
        suite: Suite,
        search: Vec<PathBuf>,
    ) -> Result<TestedRecipe, Vec<Diagnostic>> {
        let beside = suite.directory().to_owned();
        let reference = reference(host, &suite).map_err(|problem| vec![*problem])?;
        let mut subject = TestedRecipe { suite, reference, search, program: None };
        let mut inputs = Map::new();
        for case in &subject.suite.cases {
            inputs.extend(case.set.clone());
        }
        // Problems are shown with the path that a user here would type.
        let below = Path::new(&subject.reference).strip_prefix(host.current_directory());
        let typed = below.map_or(subject.reference.clone(), |path| path.display().to_string());
        let resolved = resolved(&typed, &beside, &subject.search, &inputs);
        // A recipe that is called may be among the files of a case.
        let fatal = |p: &&Diagnostic| p.is_error() && p.code != "recipe-not-found";
        let problems: Vec<Diagnostic> = resolved.problems.iter().filter(fatal).cloned().collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        subject.program = resolved.program;
        Ok(subject)
    }

    /// The recipe as a run in a directory would see it.
    pub(crate) fn resolve(&self, directory: &Path, search: &[PathBuf], inputs: &Map) -> Resolved {
        resolved(&self.reference, directory, search, inputs)
    }

    /// The name of the recipe.
    pub fn recipe(&self) -> String {
        let name = self.program.as_ref().map(|program| program.root().name.clone());
        name.unwrap_or_else(|| self.reference.clone())
    }

    pub fn is_machine(&self) -> bool {
        self.program.as_ref().is_some_and(|program| program.root().machine().is_some())
    }
}

fn resolved(reference: &str, directory: &Path, search: &[PathBuf], inputs: &Map) -> Resolved {
    let given = |path: &PathBuf| SearchDir { path: path.clone(), origin: Origin::Given };
    resolve(&Request {
        reference: reference.to_owned(),
        working_dir: directory.to_owned(),
        search: SearchPath { directories: search.iter().map(given).collect(), agents: Vec::new() },
        inputs: inputs.clone(),
        run_options: RunOptions::default(),
    })
}

fn reference(host: &dyn Host, suite: &Suite) -> Result<String, Box<Diagnostic>> {
    let Some(name) = &suite.recipe else {
        let found = recipe_of(&suite.path);
        return found.map(|path| path.to_string_lossy().into_owned()).ok_or_else(|| {
            let message = format!("{} has no recipe of its name beside it", suite.source.name);
            let help = "name the recipe: `recipe: FILE`, from the test file's own directory";
            Box::new(Diagnostic::error("no-recipe", message).help(help))
        });
    };
    let path = suite.directory().join(host.expand_home(Path::new(&name.text)));
    if path.is_file() {
        return Ok(path.to_string_lossy().into_owned());
    }
    if is_file_reference(&name.text) {
        let shown = host.shown(&path);
        let problem = Diagnostic::error("no-recipe", format!("there is no recipe {shown}"));
        return Err(Box::new(problem.at(&suite.source, name.span, "no such file")));
    }
    Ok(name.text.clone())
}
