//! From what a person asked for to a plan: every recipe that can be reached, found and read, with
//! the problems of all of them at once. It reads files and starts nothing. Whether a recipe that
//! was found in a working tree may run is not decided here; the origin says who vouches for it.

use crate::calls;
use crate::discover::{Found, NotFound, Origin, Place, SearchDir, SearchPath, find, nearest_name};
use crate::files::{self, EXTENSIONS};
use crate::model::{Recursion, Work};
use crate::outline::Outline;
use crate::plan::{Plan, PlannedRecipe, Program};
use crate::{Read, Recipe, builtin, scope};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Diagnostic, Map, Source, Span, nearest};

/// What a person asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// A path or a name.
    pub reference: String,
    pub working_dir: PathBuf,
    pub search: SearchPath,
    /// What the person set.
    pub inputs: Map,
}

#[derive(Debug)]
pub struct Resolved {
    /// None when one of the problems is an error.
    pub plan: Option<Plan>,
    pub program: Option<Program>,
    /// Who vouches for the whole plan: `Named` when the person named the file, for that covers all
    /// it reaches in its own tree; `Project` when anything else in it was found in a working tree.
    pub origin: Origin,
    /// The recipes found in the working tree that took the place of a built-in.
    pub shadowed_built_ins: Vec<ShadowedBuiltIn>,
    pub problems: Vec<Diagnostic>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowedBuiltIn {
    pub name: String,
    pub path: PathBuf,
}

/// Finds and reads a recipe and all that it calls.
pub fn resolve(request: &Request) -> Resolved {
    let mut resolver = Resolver {
        request,
        loaded: Vec::new(),
        indices: HashMap::new(),
        shadowed: Vec::new(),
        problems: Vec::new(),
    };
    if let Err(problem) = resolver.root() {
        resolver.problems.push(problem);
    }
    let mut next = 0;
    while next < resolver.loaded.len() {
        resolver.follow_calls(next);
        next += 1;
    }
    resolver.finish()
}

/// Whether a reference means a file rather than a name.
pub fn is_file_reference(reference: &str) -> bool {
    reference.starts_with(['.', '/', '~'])
        || has_recipe_ending(reference)
        || (reference.contains('/') && Path::new(reference).exists())
}

fn has_recipe_ending(reference: &str) -> bool {
    let extension = Path::new(reference).extension();
    extension.is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known))
}

/// One recipe that was found, with what came of reading it.
pub(crate) struct Loaded {
    pub source: Arc<Source>,
    pub place: Place,
    pub origin: Origin,
    pub recipe: Option<Arc<Recipe>>,
    pub outline: Outline,
    pub calls: BTreeMap<String, usize>,
}

struct Resolver<'a> {
    request: &'a Request,
    loaded: Vec<Loaded>,
    indices: HashMap<String, usize>,
    shadowed: Vec<ShadowedBuiltIn>,
    problems: Vec<Diagnostic>,
}

impl Resolver<'_> {
    fn root(&mut self) -> Result<(), Diagnostic> {
        let reference = &self.request.reference;
        if is_file_reference(reference) {
            let path = self.named_file(reference)?;
            // A pipe has no path of its own to resolve.
            let real = path.canonicalize().unwrap_or(path);
            self.load(Place::File(real), Origin::Named, reference.clone())?;
            return Ok(());
        }
        let search = &self.request.search;
        let found = find(reference, None, search, &self.request.working_dir)
            .map_err(|why| not_found(reference, why))?;
        self.load_found(reference, found)?;
        Ok(())
    }

    /// The path as it was typed, or below the working directory.
    fn named_file(&self, reference: &str) -> Result<PathBuf, Diagnostic> {
        let typed = PathBuf::from(reference);
        let below = self.request.working_dir.join(reference);
        let found = [&typed, &below].into_iter().find(|p| p.symlink_metadata().is_ok());
        found.cloned().ok_or_else(|| no_such_file(reference, &typed))
    }

    fn load_found(&mut self, name: &str, found: Found) -> Result<usize, Diagnostic> {
        let shown = match &found.place {
            Place::BuiltIn(name) => format!("built-in {name}"),
            Place::File(path) => shown_path(path, &self.request.working_dir),
        };
        if let (Place::File(path), Origin::Project, Some(_)) =
            (&found.place, found.origin, builtin(name))
        {
            let shadow = ShadowedBuiltIn { name: name.to_owned(), path: path.clone() };
            if !self.shadowed.contains(&shadow) {
                self.shadowed.push(shadow);
            }
        }
        self.load(found.place, found.origin, shown)
    }

    /// Reads a recipe once, however often it is called.
    fn load(&mut self, place: Place, origin: Origin, shown: String) -> Result<usize, Diagnostic> {
        let key = match &place {
            Place::File(path) => path.to_string_lossy().into_owned(),
            Place::BuiltIn(name) => format!("built-in {name}"),
        };
        if let Some(index) = self.indices.get(&key) {
            return Ok(*index);
        }
        let source = match &place {
            Place::File(path) => files::load(path, &shown)?,
            Place::BuiltIn(name) => Source::new(shown, builtin(name).unwrap_or_default()),
        };
        let Read { recipe, problems, outline } = crate::read(&source);
        self.problems.extend(problems);
        let index = self.loaded.len();
        self.indices.insert(key, index);
        let recipe = recipe.map(Arc::new);
        let calls = BTreeMap::new();
        self.loaded.push(Loaded { source, place, origin, recipe, outline, calls });
        Ok(index)
    }

    fn follow_calls(&mut self, caller: usize) {
        let Some(recipe) = self.loaded[caller].recipe.clone() else { return };
        let directory = self.directory_of(caller);
        for step in &recipe.steps {
            let Work::Recipe { name, name_span } = &step.work else { continue };
            if self.loaded[caller].calls.contains_key(name) {
                continue;
            }
            match self.callee(name, directory.as_ref()) {
                Ok(index) => drop(self.loaded[caller].calls.insert(name.clone(), index)),
                Err(problem) => {
                    self.loaded[caller].outline.open = true;
                    self.problems.push(placed(problem, &recipe.source, *name_span));
                }
            }
        }
    }

    fn callee(&mut self, name: &str, directory: Option<&SearchDir>) -> Result<usize, Diagnostic> {
        let found = find(name, directory, &self.request.search, &self.request.working_dir);
        self.load_found(name, found.map_err(|why| not_found(name, why))?)
    }

    /// What a recipe's own directory holds is vouched for as the recipe itself is.
    fn directory_of(&self, index: usize) -> Option<SearchDir> {
        let loaded = &self.loaded[index];
        match &loaded.place {
            Place::File(path) => {
                Some(SearchDir { path: path.parent()?.to_owned(), origin: loaded.origin })
            }
            Place::BuiltIn(_) => None,
        }
    }

    fn finish(mut self) -> Resolved {
        let origin = self.origin();
        self.problems.extend(calls::endless(&self.loaded));
        self.problems.extend(self.loaded.first().and_then(more_than_its_limit));
        self.problems.extend(scope::unset_variables(&self.loaded, &self.request.inputs));
        let broken = self.problems.iter().any(Diagnostic::is_error);
        let recipes: Option<Vec<Arc<Recipe>>> =
            self.loaded.iter().map(|l| l.recipe.clone()).collect();
        let (plan, program) = match recipes {
            Some(recipes) if !broken => {
                self.problems.extend(scope::unread_inputs(&self.loaded, &self.request.inputs));
                let plan = self.plan();
                let program = Program { plan: Arc::new(plan.clone()), recipes };
                (Some(plan), Some(program))
            }
            _ => (None, None),
        };
        let shadowed_built_ins = self.shadowed;
        Resolved { plan, program, origin, shadowed_built_ins, problems: self.problems }
    }

    fn origin(&self) -> Origin {
        let root = self.loaded.first().map_or(Origin::Named, |l| l.origin);
        let mut project = self.loaded.iter().filter(|l| l.origin == Origin::Project);
        let uncovered = match root {
            Origin::Named => project.any(|l| !self.in_the_named_files_tree(l)),
            _ => project.next().is_some(),
        };
        if uncovered { Origin::Project } else { root }
    }

    /// Naming a file vouches for the tree it lies in, not for one that happens to be worked in.
    fn in_the_named_files_tree(&self, found: &Loaded) -> bool {
        let (Some(Place::File(named)), Place::File(found)) =
            (self.loaded.first().map(|l| &l.place), &found.place)
        else {
            return false;
        };
        // What both lie below is the tree: its recipes' folders are found from below its top.
        let both = |top: &&Path| found.starts_with(top);
        self.request.working_dir.ancestors().find(both).is_some_and(|tree| named.starts_with(tree))
    }

    fn plan(&self) -> Plan {
        let recipes = self.loaded.iter().map(|loaded| PlannedRecipe {
            source: loaded.source.name.clone(),
            path: match &loaded.place {
                Place::File(path) if path.is_file() => Some(path.to_string_lossy().into_owned()),
                _ => None,
            },
            text: loaded.source.text.clone(),
            calls: loaded.calls.clone(),
        });
        Plan { recipes: recipes.collect(), inputs: self.request.inputs.clone() }
    }
}

/// A recipe whose steps that always run are more than it may have would fail on its way.
fn more_than_its_limit(root: &Loaded) -> Option<Diagnostic> {
    let recipe = root.recipe.as_ref()?;
    let stated = recipe.recursion.max_total_steps;
    let limit = stated.unwrap_or(Recursion::DEFAULT_MAX_TOTAL_STEPS);
    let mut always = recipe.steps.iter().filter(|step| step.condition.is_none());
    let first_over = always.nth(limit as usize)?;
    let whose = if stated.is_some() { "its `max_total_steps`" } else { "the default limit" };
    let message = format!("the recipe has more steps than {whose} of {limit} lets run");
    let problem = Diagnostic::error("too-many-steps", message);
    let help = "set `recursion:` with a higher `max_total_steps:`";
    Some(problem.at(&root.source, first_over.span, "the first one too many").help(help))
}

/// A path as a person in the working directory would type it.
fn shown_path(path: &Path, working_dir: &Path) -> String {
    let base = working_dir.canonicalize().unwrap_or_else(|_| working_dir.to_owned());
    path.strip_prefix(&base).unwrap_or(path).display().to_string()
}

fn not_found(name: &str, why: NotFound) -> Diagnostic {
    match why {
        NotFound::Refused(problem) => problem,
        NotFound::BadName => {
            Diagnostic::error("bad-recipe-name", format!("`{name}` is not a recipe's name"))
                .help("a name has letters, digits, `_` and `-`, and `/` between its parts")
        }
        NotFound::Nowhere(looked) => {
            let near = nearest_name(name, &looked);
            let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
            let places: Vec<&str> = looked.iter().map(|l| l.what.as_str()).collect();
            Diagnostic::error("recipe-not-found", format!("there is no recipe `{name}`"))
                .help(format!("{near}looked in {}", places.join(", ")))
        }
    }
}

/// The problem of a call points at the call first.
fn placed(mut problem: Diagnostic, source: &Arc<Source>, span: Span) -> Diagnostic {
    let own = std::mem::take(&mut problem.labels);
    let mut problem = problem.at(source, span, "called here");
    problem.labels.extend(own);
    problem
}

fn no_such_file(reference: &str, typed: &Path) -> Diagnostic {
    let problem = Diagnostic::error("unreadable", format!("cannot read {reference}: no such file"));
    let directory = typed.parent().filter(|p| !p.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(directory.unwrap_or(Path::new("."))) else {
        return problem;
    };
    let names: Vec<String> = entries
        .filter_map(|e| e.ok()?.file_name().into_string().ok())
        .filter(|name| has_recipe_ending(name))
        .collect();
    let file = typed.file_name().and_then(|n| n.to_str()).unwrap_or(reference);
    match nearest(file, names.iter().map(String::as_str)) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}
