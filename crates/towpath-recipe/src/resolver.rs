//! From what the user asked for to a plan: every recipe that can be reached, found and read, with
//! the problems of all of them at once. It reads files and starts nothing. Whether a recipe that
//! was found in a working tree may run is not decided here; the origin is who vouches for it.

use crate::call_cycles;
use crate::dialect::Dialect;
use crate::draft::{Draft, MAX_LEVELS, Restart};
use crate::find_agent::{self, FoundAgent, find_agent_as};
use crate::hidden_failures::hidden_failures;
use crate::include_files::{BUILT_IN, IncludeFiles};
use crate::loaded::Loaded;
use crate::machine_analysis::machine_findings;
use crate::plan::{Plan, PlannedRecipe, Program};
use crate::read::{ReadContext, draft_in_context};
use crate::recipe::{Named, Recursion};
use crate::recipe_file::{self, EXTENSIONS, RecipeFile};
use crate::recipe_search::{Found, NotFound, Origin, SearchDir, find, nearest_name};
use crate::request::Request;
use crate::variable_flow::VariableFlow;
use crate::{PlannedAgent, Recipe, across_steps, builtin, inputs, lints, loaded, unset_variables};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Diagnostic, Hint, Source, Value, nearest};

#[derive(Debug)]
pub struct Resolved {
    /// None when one of the problems is an error.
    pub plan: Option<Plan>,
    pub program: Option<Program>,
    /// Who vouches for the whole plan: `Named` when the user named the file, for that covers all
    /// it reaches in its own tree; `Project` when anything else in it was found in a working tree.
    pub origin: Origin,
    /// The recipes found in the working tree that replace a built-in.
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
        agents: BTreeMap::new(),
        extending: Vec::new(),
        indices: HashMap::new(),
        shadowed: Vec::new(),
        problems: Vec::new(),
    };
    if let Err(problem) = resolver.root() {
        resolver.problems.push(problem);
    }
    if let Some(renamed) = resolver.without_aliases() {
        return resolve(&renamed);
    }
    let mut next = 0;
    while next < resolver.loaded.len() {
        if resolver.loaded[next].is_called {
            resolver.follow_calls(next);
            resolver.find_agents(next);
        }
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

struct Resolver<'a> {
    request: &'a Request,
    loaded: Vec<Loaded>,
    agents: BTreeMap<String, FoundAgent>,
    /// The recipes whose parents are being read, outermost first.
    extending: Vec<usize>,
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
            let root = self.load(RecipeFile::OnDisk(real), Origin::Named, reference.clone())?;
            self.loaded[root].is_called = true;
            return Ok(());
        }
        let search = &self.request.search;
        let found = find(reference, None, search, &self.request.working_dir)
            .map_err(|why| not_found(reference, Some(&self.request.working_dir), why))?;
        let root = self.load_found(reference, found)?;
        self.loaded[root].is_called = true;
        Ok(())
    }

    /// The request with the variables' own names, where the user set some by another name that the
    /// recipe has for them. A variable that is set by its own name, too, keeps that value.
    fn without_aliases(&self) -> Option<Request> {
        let mut inputs = self.request.inputs.clone();
        for (alias, variable) in &self.loaded.first()?.draft.aliases {
            if inputs.get(variable).is_none_or(Value::is_null)
                && let Some(value) = inputs.remove(alias)
            {
                inputs.insert(variable.clone(), value);
            }
        }
        let is_renamed = inputs != self.request.inputs;
        is_renamed.then(|| Request { inputs, ..self.request.clone() })
    }

    /// The path as it was typed, or below the working directory.
    fn named_file(&self, reference: &str) -> Result<PathBuf, Diagnostic> {
        let typed = PathBuf::from(reference);
        let below = self.request.working_dir.join(reference);
        let found = [&typed, &below].into_iter().find(|p| p.symlink_metadata().is_ok());
        found.cloned().ok_or_else(|| no_such_file(reference, &typed))
    }

    fn load_found(&mut self, name: &str, found: Found) -> Result<usize, Diagnostic> {
        let shown = match &found.file {
            RecipeFile::BuiltIn(name) => format!("{BUILT_IN}{name}"),
            RecipeFile::OnDisk(path) => shown_path(path, &self.request.working_dir),
        };
        if let (RecipeFile::OnDisk(path), Origin::Project, Some(_)) =
            (&found.file, found.origin, builtin(name))
        {
            let shadow = ShadowedBuiltIn { name: name.to_owned(), path: path.clone() };
            if !self.shadowed.contains(&shadow) {
                self.shadowed.push(shadow);
            }
        }
        self.load(found.file, found.origin, shown)
    }

    /// Reads a recipe once, however often it is called.
    fn load(
        &mut self,
        file: RecipeFile,
        origin: Origin,
        shown: String,
    ) -> Result<usize, Diagnostic> {
        let key = match &file {
            RecipeFile::OnDisk(path) => path.to_string_lossy().into_owned(),
            RecipeFile::BuiltIn(name) => format!("built-in {name}"),
        };
        if let Some(index) = self.indices.get(&key) {
            return Ok(*index);
        }
        let source = match &file {
            RecipeFile::OnDisk(path) => recipe_file::load(path, &shown)?,
            RecipeFile::BuiltIn(name) => Source::new(shown, builtin(name).unwrap_or_default()),
        };
        let (draft, problems, files) = self.read(&source, &file);
        self.problems.extend(problems);
        self.problems.extend(other_name(&file, &draft));
        let index = self.loaded.len();
        self.indices.insert(key, index);
        let (calls, extends, recipe, is_called) = (BTreeMap::new(), None, None, false);
        self.loaded.push(Loaded { file, origin, recipe, draft, calls, extends, is_called, files });
        self.join_parent(index);
        self.loaded[index].recipe = self.loaded[index].draft.recipe().map(Arc::new);
        Ok(index)
    }

    /// Reads a text with the files beside it, and keeps those.
    fn read(
        &self,
        source: &Arc<Source>,
        file: &RecipeFile,
    ) -> (Draft, Vec<Diagnostic>, BTreeMap<String, String>) {
        let files = IncludeFiles::beside(file, &source.name);
        let kept = RefCell::new(BTreeMap::new());
        let files = |path: &str| {
            let file = files.file(path)?;
            kept.borrow_mut().insert(path.to_owned(), file.text.clone());
            Ok(file)
        };
        let inputs = &self.request.inputs;
        let directory = match file {
            RecipeFile::OnDisk(path) => path.parent().and_then(Path::to_str),
            RecipeFile::BuiltIn(_) => None,
        };
        let dialect = self.request.run_options.dialect;
        let home = self.request.run_options.home.as_deref();
        let context = ReadContext { files: &files, inputs, directory, home, dialect };
        let (draft, problems) = draft_in_context(source, &context);
        (draft, problems, kept.into_inner())
    }

    /// Reads what a recipe extends and makes both one.
    fn join_parent(&mut self, child: usize) {
        let Some(extends) = self.loaded[child].draft.extends.clone() else { return };
        self.extending.push(child);
        let parent = self.parent(child, &extends.name);
        self.extending.pop();
        let parent = match parent {
            Ok(parent) => parent,
            Err(problem) => {
                self.problems.push(at_call(problem, &extends, "extended here"));
                self.loaded[child].draft.open = true;
                return;
            }
        };
        let draft = self.loaded[child].draft.extending(&self.loaded[parent].draft);
        self.problems.extend(across_steps::across_steps(&draft));
        self.loaded[child].draft = draft;
        self.loaded[child].extends = Some(parent);
    }

    fn parent(&mut self, child: usize, name: &str) -> Result<usize, Diagnostic> {
        let parent = self.beside(child, name)?;
        if self.extending.contains(&parent) {
            let begin = self.extending.iter().position(|at| *at == parent).unwrap_or(0);
            let circle = self.extending[begin..].iter().chain([&parent]);
            let names: Vec<&str> =
                circle.map(|at| self.loaded[*at].draft.source.name.as_str()).collect();
            let message = format!("these recipes extend each other: {}", names.join(" → "));
            return Err(Diagnostic::error("extends-circle", message));
        }
        if self.extending.len() > MAX_LEVELS {
            let message = format!("recipes that extend each other over {MAX_LEVELS} levels");
            return Err(Diagnostic::error("extends-deep", message));
        }
        if self.loaded[parent].draft.is_machine {
            let message = format!("`{name}` is a state machine, which cannot be extended");
            let help = "let a step call it: `recipe: NAME`; a machine's own steps are shared by `$include`";
            return Err(Diagnostic::error("extends-machine", message).help(help));
        }
        Ok(parent)
    }

    /// Finds a recipe as seen from another one.
    fn beside(&mut self, index: usize, name: &str) -> Result<usize, Diagnostic> {
        let directory = self.directory_of(index);
        self.callee(name, directory.as_ref())
    }

    fn follow_calls(&mut self, caller: usize) {
        self.follow_restarts(caller);
        let steps = self.loaded[caller].draft.steps.iter();
        let calls: Vec<Named> = steps.filter_map(|step| step.calls().cloned()).collect();
        for call in calls {
            if self.loaded[caller].calls.contains_key(&call.name) {
                continue;
            }
            match self.callee_of(caller, &call.name) {
                Ok(index) => {
                    self.loaded[index].is_called = true;
                    self.loaded[caller].calls.insert(call.name, index);
                }
                Err(problem) => self.problems.push(at_call(problem, &call, "called here")),
            }
        }
    }

    /// Finds the machines that a machine may restart. Its own id means itself.
    fn follow_restarts(&mut self, caller: usize) {
        let draft = &self.loaded[caller].draft;
        let own = draft.name.clone().filter(|_| draft.is_machine);
        for restart in self.loaded[caller].draft.restarts.clone() {
            let Restart { named, spot } = &restart;
            let name = &named.name;
            if Some(name) == own.as_ref() {
                self.loaded[caller].calls.insert(name.clone(), caller);
            }
            if self.loaded[caller].calls.contains_key(name) {
                continue;
            }
            match self.beside(caller, name) {
                Ok(index) if self.loaded[index].draft.is_machine => {
                    self.loaded[index].is_called = true;
                    self.loaded[caller].calls.insert(name.clone(), index);
                }
                Ok(_) => {
                    let message = format!("Restart recipe '{name}' is no state machine {spot}");
                    let problem = Diagnostic::error("restart-not-machine", message);
                    let label = "a step recipe has no sessions";
                    self.problems.push(problem.at(&named.source, named.span, label));
                }
                Err(mut problem) => {
                    if problem.labels.is_empty() {
                        problem.message = format!("Restart recipe '{name}' not found {spot}");
                    }
                    self.problems.push(at_call(problem, named, ""));
                }
            }
        }
    }

    /// A name means the same in a whole recipe: as seen from its own file, or else from that of
    /// what it extends.
    fn callee_of(&mut self, caller: usize, name: &str) -> Result<usize, Diagnostic> {
        let problem = match self.beside(caller, name) {
            Ok(index) => return Ok(index),
            Err(problem) => problem,
        };
        let mut at = self.loaded[caller].extends;
        while let Some(parent) = at {
            if let Ok(index) = self.beside(parent, name) {
                return Ok(index);
            }
            at = self.loaded[parent].extends;
        }
        Err(problem)
    }

    /// Finds the agents that a recipe's steps name.
    fn find_agents(&mut self, index: usize) {
        for step in &self.loaded[index].draft.steps {
            let Some(agent) = step.agent() else { continue };
            if self.agents.contains_key(&agent.name) {
                continue;
            }
            let working_dir = &self.request.working_dir;
            let shown = |path: &Path| shown_path(path, working_dir);
            let Request { search, run_options, .. } = self.request;
            match find_agent_as(run_options.dialect, &agent.name, &search.agents, shown) {
                Ok(found) => drop(self.agents.insert(agent.name.clone(), found)),
                Err(problem) => {
                    let problem = without_instructions(problem, run_options.dialect);
                    self.problems.push(at_call(problem, agent, "named here"));
                }
            }
        }
    }

    fn callee(&mut self, name: &str, directory: Option<&SearchDir>) -> Result<usize, Diagnostic> {
        let found = find(name, directory, &self.request.search, &self.request.working_dir);
        self.load_found(name, found.map_err(|why| not_found(name, None, why))?)
    }

    /// The directory of a recipe, whose files are vouched for as the recipe itself is.
    fn directory_of(&self, index: usize) -> Option<SearchDir> {
        let loaded = &self.loaded[index];
        match &loaded.file {
            RecipeFile::OnDisk(path) => {
                Some(SearchDir { path: path.parent()?.to_owned(), origin: loaded.origin })
            }
            RecipeFile::BuiltIn(_) => None,
        }
    }

    fn finish(mut self) -> Resolved {
        let origin = self.origin();
        self.problems.extend(call_cycles::endless(&self.loaded));
        self.problems.extend(self.loaded.first().and_then(more_than_its_limit));
        let Request { inputs, run_options, .. } = self.request;
        let flow = VariableFlow::new(&self.loaded, inputs, run_options.dialect);
        self.problems.extend(unset_variables::unset_variables(&flow));
        self.problems.extend(lints::lints(&flow));
        self.problems.extend(hidden_failures(&self.loaded));
        self.problems.extend(inputs::missing_in_calls(&flow, inputs, run_options));
        self.problems.extend(loaded::unknown_tags(&self.loaded, &run_options.tags));
        self.problems.extend(inputs::wrong_inputs(&self.loaded, self.request));
        let broken = self.problems.iter().any(Diagnostic::is_error);
        let recipes: Option<Vec<Arc<Recipe>>> =
            self.loaded.iter().map(|l| l.recipe.clone()).collect();
        let (plan, program) = match recipes {
            Some(recipes) if !broken => {
                self.problems.extend(inputs::unread_inputs(&self.loaded, &self.request.inputs));
                let plan = self.plan();
                let program = Program::new(plan.clone(), recipes);
                self.problems.extend(machine_findings(&program, &plan.machine));
                (Some(plan), Some(program))
            }
            _ => (None, None),
        };
        let shadowed_built_ins = self.shadowed_built_ins();
        Resolved { plan, program, origin, shadowed_built_ins, problems: self.problems }
    }

    fn origin(&self) -> Origin {
        let root = self.loaded.first().map_or(Origin::Named, |l| l.origin);
        let recipes = self.loaded.iter().filter(|l| l.origin == Origin::Project);
        let recipes = recipes.map(|l| match &l.file {
            RecipeFile::OnDisk(path) => path.as_path(),
            RecipeFile::BuiltIn(_) => Path::new(""),
        });
        let agents = self.agents.values().filter(|a| a.origin == Origin::Project);
        let agents = agents.map(|a| Path::new(a.agent.path.as_deref().unwrap_or_default()));
        let mut project = recipes.chain(agents);
        let uncovered = match root {
            Origin::Named => project.any(|path| !self.in_the_named_files_tree(path)),
            _ => project.next().is_some(),
        };
        if uncovered { Origin::Project } else { root }
    }

    /// The recipes and agents that replace a built-in one.
    fn shadowed_built_ins(&self) -> Vec<ShadowedBuiltIn> {
        let mut shadowed = self.shadowed.clone();
        for (name, found) in &self.agents {
            if let (true, Origin::Project, Some(path)) =
                (found.shadows, found.origin, &found.agent.path)
            {
                shadowed.push(ShadowedBuiltIn { name: name.clone(), path: PathBuf::from(path) });
            }
        }
        shadowed
    }

    /// Naming a file vouches for the tree it lies in, not for one that happens to be worked in.
    fn in_the_named_files_tree(&self, found: &Path) -> bool {
        let Some(RecipeFile::OnDisk(named)) = self.loaded.first().map(|l| &l.file) else {
            return false;
        };
        // What both lie below is the tree: its recipes' folders are found from below its top.
        let both = |top: &&Path| found.starts_with(top);
        self.request.working_dir.ancestors().find(both).is_some_and(|tree| named.starts_with(tree))
    }

    fn plan(&self) -> Plan {
        let recipes = self.loaded.iter().map(|loaded| PlannedRecipe {
            source: loaded.draft.source.name.clone(),
            path: match &loaded.file {
                RecipeFile::OnDisk(path) if path.is_file() => {
                    Some(path.to_string_lossy().into_owned())
                }
                _ => None,
            },
            text: loaded.draft.source.text.clone(),
            calls: loaded.calls.clone(),
            extends: loaded.extends,
            files: loaded.files.clone(),
        });
        let agent = |(name, found): (&String, &FoundAgent)| (name.clone(), found.agent.clone());
        Plan {
            recipes: recipes.collect(),
            inputs: self.request.inputs.clone(),
            agents: self.agents.iter().map(agent).collect::<BTreeMap<String, PlannedAgent>>(),
            tags: self.request.run_options.tags.clone(),
            no_auto_stage: self.request.run_options.no_auto_stage,
            machine: self.request.run_options.machine.clone(),
            step_timeout: self.request.run_options.step_timeout,
            dialect: self.request.run_options.dialect,
            home: self.request.run_options.home.clone(),
        }
    }
}

/// A recipe whose steps that always run are more than it may have would fail on its way.
fn more_than_its_limit(root: &Loaded) -> Option<Diagnostic> {
    if root.draft.is_machine {
        return None;
    }
    let stated = root.draft.recursion.max_total_steps;
    let limit = stated.unwrap_or(Recursion::DEFAULT_MAX_TOTAL_STEPS);
    let steps = root.draft.steps.iter();
    let mut always = steps.filter(|step| step.gate.is_always() && step.when_tags.is_empty());
    let first_over = always.nth(limit as usize)?;
    let whose = if stated.is_some() { "its `max_total_steps`" } else { "the default limit" };
    let message = format!("the recipe has more steps than {whose} of {limit} lets run");
    let problem = Diagnostic::error("too-many-steps", message);
    let help = "set `recursion:` with a higher `max_total_steps:`";
    Some(problem.at(&first_over.source, first_over.span, "the first one too many").help(help))
}

/// A machine is found by its file's name, whatever its own id is.
fn other_name(file: &RecipeFile, draft: &Draft) -> Option<Diagnostic> {
    let (id, span) = (draft.name.as_ref()?, draft.id?);
    let RecipeFile::OnDisk(path) = file else { return None };
    let stem = path.file_stem()?.to_str().filter(|_| has_recipe_ending(&path.to_string_lossy()))?;
    (stem != id).then(|| {
        let message =
            format!("the recipe's id is '{id}', but it is found by its file's name, '{stem}'");
        let problem = Diagnostic::warning("other-name", message).at(&draft.source, span, "");
        problem.help(format!("name the file after the id, or write the id '{stem}'"))
    })
}

/// A path as the user would type it in the working directory.
fn shown_path(path: &Path, working_dir: &Path) -> String {
    let base = working_dir.canonicalize().unwrap_or_else(|_| working_dir.to_owned());
    path.strip_prefix(&base).unwrap_or(path).display().to_string()
}

/// `directory`: where a file would have been found by its path.
fn not_found(name: &str, directory: Option<&Path>, why: NotFound) -> Diagnostic {
    let is_file = |directory: &Path| !name.contains('/') && directory.join(name).is_file();
    match why {
        NotFound::Refused(problem) => problem,
        NotFound::BadName if directory.is_some_and(is_file) => {
            let problem = |what: &str| {
                Diagnostic::error(
                    "bad-recipe-name",
                    format!("`{name}` is {what}, not a recipe's name"),
                )
            };
            match Path::new(name).extension().is_some_and(|ending| ending == "md") {
                true => problem("a document").help(name).hint(Hint::RenderDocument),
                false => problem("a file").help(format!("a file is named by its path: ./{name}")),
            }
        }
        NotFound::BadName => {
            Diagnostic::error("bad-recipe-name", format!("`{name}` is not a recipe's name"))
                .help("a name has letters, digits, `_` and `-`, and `/` between its parts")
        }
        NotFound::Nowhere(looked) => {
            let near = nearest_name(name, &looked);
            let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
            let directories: Vec<&str> = looked.iter().map(|l| l.what.as_str()).collect();
            Diagnostic::error("recipe-not-found", format!("there is no recipe `{name}`"))
                .help(format!("{near}looked in {}", directories.join(", ")))
        }
    }
}

/// A dialect may let an agent that nobody has described work without instructions.
fn without_instructions(problem: Diagnostic, dialect: Dialect) -> Diagnostic {
    let absent = [find_agent::NOT_FOUND, "bad-agent-name"].contains(&problem.code);
    match absent && dialect == Dialect::RecipeRunner {
        true => {
            let message = format!("{}: it works without instructions", problem.message);
            Diagnostic { severity: dialect.severity(), message, ..problem }
        }
        false => problem,
    }
}

/// The problem of a call points at the call first.
fn at_call(mut problem: Diagnostic, call: &Named, label: &str) -> Diagnostic {
    let own = std::mem::take(&mut problem.labels);
    let mut problem = problem.at(&call.source, call.span, label);
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
