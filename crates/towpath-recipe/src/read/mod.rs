//! From the text of a file to a recipe, with all its problems at once. A recipe with an error has
//! no value of type `Recipe`; warnings and notes come beside it. Nothing is looked at but the text
//! and the files that a machine includes, which the caller hands over: which recipes the names mean
//! is found out by `resolver`.

mod machine;
mod prompt_document;
mod section;
mod shell_text;
mod step;

pub(crate) use machine::WORK;
pub use machine::is_kebab_case;
pub(crate) use prompt_document::load_document;

use crate::across_steps;
use crate::context_rule::{ContextRule, RULES};
use crate::dialect::Dialect;
use crate::draft::Draft;
use crate::field_table::{FieldType, NO_STEPS, RECIPE_FILE, Section};
use crate::other_tools;
use crate::recipe::{Hooks, Named, Recipe, RecipeFields, Recursion};
use crate::text_map::TextMap;
use crate::yaml;
use section::{FieldMap, Part, Text};
use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FileKind, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Map, Source, Span, Template, VarPath};

/// The result of reading a text.
#[derive(Debug)]
pub struct Read {
    /// None when one of the problems is an error.
    pub recipe: Option<Recipe>,
    pub problems: Vec<Diagnostic>,
}

/// The code of the problem of a file that machines include.
pub(crate) const STEPS_FILE: &str = "steps-file";

/// Gives the text of a file by its path from the recipe's directory.
pub type FileProvider<'a> = &'a dyn Fn(&str) -> Result<Arc<Source>, Diagnostic>;

/// Everything beside the text that its meaning depends on.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)]
pub struct ReadContext<'a> {
    pub files: FileProvider<'a>,
    /// The values that the user set: in a machine, these names are placeholders too.
    pub inputs: &'a Map,
    /// The recipe's directory, absolute; none where the recipe is no file.
    pub directory: Option<&'a str>,
    /// The user's home directory.
    pub home: Option<&'a str>,
    pub dialect: Dialect,
}

impl<'a> ReadContext<'a> {
    /// For a recipe in no directory.
    pub fn of_files(files: FileProvider<'a>, inputs: &'a Map) -> ReadContext<'a> {
        ReadContext { files, inputs, directory: None, home: None, dialect: Dialect::default() }
    }
}

/// Reads and checks the text of one recipe that includes no files.
pub fn read(source: &Arc<Source>) -> Read {
    read_in_context(source, &ReadContext::of_files(&no_files, &Map::new()))
}

fn no_files(path: &str) -> Result<Arc<Source>, Diagnostic> {
    let message = format!("cannot read {path}: the recipe is in no directory");
    Err(Diagnostic::error("unreadable", message))
}

/// Reads and checks the text of one recipe with the files it includes.
pub fn read_in_context(source: &Arc<Source>, context: &ReadContext<'_>) -> Read {
    let (draft, problems) = draft_in_context(source, context);
    Read { recipe: draft.recipe(), problems }
}

/// The same, as a draft that others can still extend.
pub(crate) fn draft_in_context(
    source: &Arc<Source>,
    context: &ReadContext<'_>,
) -> (Draft, Vec<Diagnostic>) {
    let (mut draft, problems) = untidy(source, context);
    let problems = tidy(problems);
    draft.broken = problems.iter().any(Diagnostic::is_error);
    (draft, problems)
}

fn untidy(source: &Arc<Source>, context: &ReadContext<'_>) -> (Draft, Vec<Diagnostic>) {
    let tree = yaml::parse(source, RECIPE_FILE);
    let misread = other_tools::recognised(source, tree.root.as_ref())
        .or_else(|| machine::steps_meant_as_list(source, tree.root.as_ref()?));
    let (own, dialect) = (Arc::clone(source), context.dialect);
    let fields = Arc::new(RecipeFields { source: own, dialect, ..RecipeFields::default() });
    let mut draft = Draft { fields, ..Draft::default() };
    if let Some(problem) = misread {
        draft.open = true;
        return (draft, vec![problem]);
    }
    draft.open = !tree.problems.is_empty();
    if let Some(root) = tree.root.as_ref().filter(|root| machine::is_machine(root)) {
        return machine::read(source, root, draft, tree.problems, context);
    }
    let mut reader = Reader::new(source, draft, tree.problems, context);
    if let Some(root) = &tree.root {
        reader.recipe(root);
    }
    (reader.draft, reader.fields.problems)
}

/// In the order of the file, each reported once: a merged map is read wherever it is merged.
fn tidy(mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    problems.retain(|p| seen.insert((p.code, p.message.clone(), first_location(p))));
    let mut files: Vec<*const Source> = Vec::new();
    for (file, _) in problems.iter().filter_map(first_location) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let order = |p: &Diagnostic| {
        let (file, span) = first_location(p)?;
        Some((files.iter().position(|known| *known == file), span.start))
    };
    problems.sort_by_cached_key(order);
    problems
}

fn first_location(problem: &Diagnostic) -> Option<(*const Source, Span)> {
    problem.labels.first().map(|label| (Arc::as_ptr(&label.source), label.span))
}

/// Whether a name can be read back as `{{name}}` without being taken for a path.
pub(crate) fn is_variable_name(name: &str) -> bool {
    VarPath::new(name).is_some() && !name.contains('.')
}

/// A field reader that also remembers what is known of the recipe so far.
struct Reader<'a> {
    fields: FieldReader<'a>,
    /// The files beside the recipe.
    files: FileProvider<'a>,
    directory: Option<&'a str>,
    home: Option<&'a str>,
    dialect: Dialect,
    draft: Draft,
    /// The step of a machine that is being read: its problems name it.
    step: Option<String>,
    /// The names that are placeholders; every name is when there is none.
    known: Option<HashSet<String>>,
    /// More names that are placeholders in the step that is being read.
    known_here: Vec<String>,
}

impl<'a> Deref for Reader<'a> {
    type Target = FieldReader<'a>;

    fn deref(&self) -> &FieldReader<'a> {
        &self.fields
    }
}

impl<'a> DerefMut for Reader<'a> {
    fn deref_mut(&mut self) -> &mut FieldReader<'a> {
        &mut self.fields
    }
}

impl<'a> Reader<'a> {
    fn new(
        source: &'a Arc<Source>,
        draft: Draft,
        problems: Vec<Diagnostic>,
        context: &ReadContext<'a>,
    ) -> Reader<'a> {
        // A JSON file whose top level is not a map.
        let json = source.text.trim_start().starts_with(['[', '"']);
        let map = if json { "an object" } else { RECIPE_FILE.map };
        let fields = FieldReader::new(source, FileKind { map, ..RECIPE_FILE }, problems);
        let ReadContext { files, directory, home, dialect, .. } = *context;
        let (step, known, known_here) = (None, None, Vec::new());
        Reader { fields, files, directory, home, dialect, draft, step, known, known_here }
    }

    /// Reads the value of a field, if it is there, in the file that it is written in.
    fn value<T>(
        &mut self,
        part: Option<Part<'a>>,
        read: impl FnOnce(&mut Self, &'a Entry) -> Option<T>,
    ) -> Option<T> {
        let part = part?;
        let before = self.problems.len();
        let value = self.within(part, |reader| read(reader, part.entry));
        if let Some(step) = &self.step {
            for problem in &mut self.fields.problems[before..] {
                problem.message = format!("Step '{step}': {}", problem.message);
            }
        }
        value
    }

    /// Reads something in the file it is written in.
    fn within<T>(&mut self, part: Part<'a>, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.fields.source, part.source);
        let value = read(self);
        self.fields.source = before;
        value
    }

    fn problem(&mut self, problem: Diagnostic) {
        self.fields.problem(problem);
    }

    /// Whether `{{path}}` is to be filled.
    fn is_placeholder(&self, path: &VarPath) -> bool {
        let Some(known) = &self.known else { return true };
        let names = [path.root(), path.as_str()];
        let here = |name: &str| self.known_here.iter().any(|known| known == name);
        names.iter().any(|name| known.contains(*name) || here(name))
    }

    fn recipe(&mut self, root: &'a Node) {
        if root.is_null() {
            return;
        }
        if machine::is_steps_file(root) {
            let message = "this is a file of steps for state machines to include, not a recipe";
            let span = self.source.line_from(root.span.start);
            self.error(STEPS_FILE, message, span, "");
            return;
        }
        let Some(fields) = self.section(root, Section::Recipe, Subject::Noun("recipe")) else {
            return;
        };
        self.draft.open |=
            ["context", "steps", "extends"].iter().any(|name| fields.has_misspelt(name));
        self.draft.name = self.name(&fields);
        let version = self.optional_text(fields.get("version")).unwrap_or_else(|| "1.0".to_owned());
        let description = self.optional_text(fields.get("description")).unwrap_or_default();
        let author = self.optional_text(fields.get("author")).unwrap_or_default();
        let tags = self.text_list(fields.get("tags")).unwrap_or_default();
        let context = self.context(&fields);
        let recursion = self.recursion(&fields);
        let hooks = self.hooks(&fields);
        let required_context = self.required_context(&fields);
        self.draft.aliases = self.context_aliases(&fields);
        self.draft.rules = self.context_validation(&fields);
        let requires = self.requirements(fields.get("requires"));
        let options = self.step_options(&fields);
        let extends = self.fixed_text(fields.get("extends")).map(|name| self.named(&name));
        self.draft.open |= extends.is_none() && fields.has("extends");
        self.steps(&fields);
        let extends_one = extends.is_some();
        self.draft.fields = Arc::new(RecipeFields {
            source: Arc::clone(self.source),
            version,
            description,
            author,
            tags,
            context,
            extends,
            required_context,
            requires,
            options,
            dialect: self.dialect,
            recursion,
            hooks,
        });
        let same_ids = across_steps::same_ids(&self.draft.steps);
        self.fields.problems.extend(same_ids);
        // With a parent's steps among them, the steps are looked at once those are known.
        if !extends_one {
            self.fields.problems.extend(across_steps::across_steps(&self.draft));
        }
    }

    fn name(&mut self, fields: &FieldMap<'a>) -> Option<String> {
        let entry = fields.get("name")?.entry;
        let text = match entry.is_null() {
            true => None,
            false => Some(self.located_text(entry)?),
        };
        let Some(text) = text.filter(|text| !text.text.trim().is_empty()) else {
            let span = if entry.is_null() { entry.key_defined } else { entry.value.defined };
            self.error("empty-name", "the recipe's name is empty", span, "");
            return None;
        };
        Some(text.text)
    }

    fn context(&mut self, fields: &FieldMap<'a>) -> Map {
        let Some(Part { entry, .. }) = fields.get("context") else { return Map::new() };
        let Some(entries) = self.map(entry, FieldType::Map) else {
            self.draft.open |= !entry.is_null();
            return Map::new();
        };
        for entry in entries {
            self.variable_name(&entry.key, entry.key_defined, "context key");
            self.note_unfilled(&entry.value);
        }
        entries.iter().map(|e| (e.key.clone(), e.value.value())).collect()
    }

    /// Values of the context are data: a placeholder in them is never filled.
    fn note_unfilled(&mut self, node: &Node) {
        match &node.kind {
            Kind::Text(text) => {
                let template = Template::parse(text);
                let Some(placeholder) = template.placeholders().next() else { return };
                let span = TextMap::of(node, self.source, text).locate(placeholder.range.clone());
                self.problem(
                    Diagnostic::note("unfilled-place", "a default value is not filled")
                        .at(self.source, span, "this stays as it is written")
                        .help("use the variable where the value is used, in a step"),
                );
            }
            Kind::List(items) => items.iter().for_each(|i| self.note_unfilled(i)),
            Kind::Map(entries) => entries.iter().for_each(|e| self.note_unfilled(&e.value)),
            _ => {}
        }
    }

    fn variable_name(&mut self, name: &str, span: Span, what: &str) {
        if !is_variable_name(name) {
            self.problem(
                Diagnostic::error("bad-name", format!("`{name}` cannot be a {what}"))
                    .at(self.source, span, "not a name")
                    .help("use letters, digits, `_` and `-`; begin with a letter, a digit or `_`"),
            );
        }
    }

    fn required_context(&mut self, fields: &FieldMap<'a>) -> Vec<String> {
        let names = self.text_list(fields.get("required_context")).unwrap_or_default();
        if let Some(Part { entry, .. }) = fields.get("required_context") {
            for name in &names {
                self.variable_name(name, entry.value.defined, "variable");
            }
        }
        names
    }

    fn context_aliases(&mut self, fields: &FieldMap<'a>) -> Vec<(String, String)> {
        let Some(Part { entry, .. }) = fields.get("context_aliases") else { return Vec::new() };
        let entries = self.map(entry, FieldType::TextMap).unwrap_or_default();
        let mut aliases = Vec::new();
        for entry in entries {
            self.variable_name(&entry.key, entry.key_defined, "variable");
            if let Some(variable) = self.text(entry) {
                self.variable_name(&variable, entry.value.defined, "variable");
                aliases.push((entry.key.clone(), variable));
            }
        }
        aliases
    }

    fn context_validation(&mut self, fields: &FieldMap<'a>) -> Vec<ContextRule> {
        let Some(Part { entry, .. }) = fields.get("context_validation") else { return Vec::new() };
        let entries = self.map(entry, FieldType::ChoiceMap(RULES)).unwrap_or_default();
        let mut rules = Vec::new();
        for entry in entries {
            self.variable_name(&entry.key, entry.key_defined, "variable");
            let before = self.problems.len();
            let Some(rule) = self.choice(entry, RULES) else {
                let severity = self.dialect.severity();
                self.fields.problems[before..].iter_mut().for_each(|p| p.severity = severity);
                continue;
            };
            let (variable, source) = (entry.key.clone(), Arc::clone(self.source));
            rules.push(ContextRule { variable, rule, source, span: entry.value.defined });
        }
        rules
    }

    fn recursion(&mut self, fields: &FieldMap<'a>) -> Recursion {
        let section = self.subsection(fields, "recursion", Section::Recursion);
        let Some(limits) = section else { return Recursion::default() };
        Recursion {
            max_depth: self.value(limits.get("max_depth"), |r, entry| r.count_or_zero(entry)),
            max_total_steps: self.value(limits.get("max_total_steps"), |r, entry| r.count(entry)),
        }
    }

    fn hooks(&mut self, fields: &FieldMap<'a>) -> Hooks {
        let Some(hooks) = self.subsection(fields, "hooks", Section::Hooks) else {
            return Hooks::default();
        };
        let mut uses = Vec::new();
        let mut hook = |name: &'static str| {
            let (shell, found) = self.hook(hooks.get(name)?.entry, name)?;
            uses.extend(found);
            Some(shell)
        };
        let (pre_step, post_step, on_error) =
            (hook("pre_step"), hook("post_step"), hook("on_error"));
        Hooks { pre_step, post_step, on_error, uses }
    }

    fn steps(&mut self, fields: &FieldMap<'a>) {
        let Some(Part { entry, .. }) = fields.get("steps") else { return };
        let items = match &entry.value.kind {
            Kind::List(items) if !items.is_empty() => items,
            Kind::List(_) | Kind::Null if fields.has("extends") => return,
            Kind::List(_) | Kind::Null => {
                let message = "the recipe has no steps";
                self.error(NO_STEPS, message, entry.key_defined, "nothing is listed here");
                return;
            }
            _ => {
                self.wrong_type(entry, FieldType::ListOf("steps"));
                self.draft.open = true;
                return;
            }
        };
        for item in items {
            self.step(item);
        }
    }

    fn named(&self, name: &Text) -> Named {
        let source = Arc::clone(self.source);
        Named { name: name.text.trim().to_owned(), source, span: name.span }
    }
}
