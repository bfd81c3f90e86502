//! From the files of a machine to its steps: included steps come where they are included, a step of the
//! recipe wins over an included one, and the fields beside a `$ref` win over those of the step it names.
//! What the fields mean is not looked at here.

use super::library::{INCLUDE, Library, REF, included, is_of_others, reference, split};
use crate::field_table::{Section, find_field};
use crate::read::section::Part;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use towpath_core::spanned_tree::Entry;
use towpath_core::{Diagnostic, Span, nearest};

/// A longer chain is a mistake, or an attack on the reader.
const MAX_LEVELS: usize = 32;

/// The transitions that one level of a step writes.
#[derive(Clone, Copy)]
pub(super) struct OnOutcome<'l> {
    pub part: Part<'l>,
    /// It is beside a `$ref`, so that null takes a transition away.
    pub beside_ref: bool,
}

/// A step put together from all that is written about it.
pub(super) struct StepParts<'l> {
    /// The step's name with its own value: where it is in the recipe, or in an included file.
    pub site: Part<'l>,
    /// The steps it is made from, by their names and values: its own first.
    pub made_from: Vec<Part<'l>>,
    /// Its fields but `$ref` and `onOutcome`.
    pub fields: Vec<Part<'l>>,
    /// Every `onOutcome` it is made of, the one that wins last.
    pub on_outcome: Vec<OnOutcome<'l>>,
    /// The step that it refers to could not be found, which has been reported.
    pub broken: bool,
}

pub(super) struct Composed<'l> {
    /// In their order, also those that cannot be read.
    pub steps: Vec<StepParts<'l>>,
    /// Whether every file that is included could be read: else steps may be missing.
    pub complete: bool,
    pub problems: Vec<Diagnostic>,
}

/// The steps of the machine.
pub(super) fn compose(library: &Library) -> Composed<'_> {
    let mut composer = Composer {
        library,
        expanded: HashMap::new(),
        including: Vec::new(),
        lacking: HashSet::new(),
        problems: Vec::new(),
    };
    let sites = composer.expand(0);
    let complete = composer.lacking.is_empty();
    let steps = sites.iter().map(|site| composer.step(site.part)).collect();
    Composed { steps, complete, problems: composer.problems }
}

#[derive(Clone, Copy)]
struct Site<'l> {
    part: Part<'l>,
    included: bool,
}

struct Composer<'l> {
    library: &'l Library,
    expanded: HashMap<usize, Rc<Vec<Site<'l>>>>,
    /// The files whose includes are being followed, outermost first.
    including: Vec<usize>,
    /// The files of which an include, at any depth, brought nothing, which has been reported.
    lacking: HashSet<usize>,
    problems: Vec<Diagnostic>,
}

impl<'l> Composer<'l> {
    fn error(&mut self, code: &'static str, message: String, file: usize, span: Span) {
        let source = &self.library.files[file].source;
        self.problems.push(Diagnostic::error(code, message).at(source, span, ""));
    }

    /// The steps of a file, with those that it includes.
    fn expand(&mut self, file: usize) -> Rc<Vec<Site<'l>>> {
        if let Some(known) = self.expanded.get(&file) {
            return Rc::clone(known);
        }
        self.including.push(file);
        let mut steps = Ordered::default();
        for entry in self.library.entries(file) {
            match entry.key.as_str() {
                key if is_of_others(key) => {}
                INCLUDE => self.include(file, entry, &mut steps),
                _ => steps.put(Site { part: self.library.part(file, entry), included: false }),
            }
        }
        self.including.pop();
        let steps = Rc::new(steps.sites);
        self.expanded.insert(file, Rc::clone(&steps));
        steps
    }

    fn include(&mut self, file: usize, entry: &'l Entry, steps: &mut Ordered<'l>) {
        let Some(paths) = included(entry) else {
            let message = format!("'{INCLUDE}' must be a path or an array of paths");
            self.error("wrong-type", message, file, entry.value.defined);
            self.lacking.insert(file);
            return;
        };
        let mut seen: Vec<usize> = Vec::new();
        for (written, span) in paths {
            let Some(target) = self.library.link(file, span) else {
                self.lacking.insert(file);
                continue;
            };
            if !self.library.files[target].sound {
                self.lacking.insert(file);
            }
            if seen.contains(&target) {
                let message = format!("'{written}' is included twice");
                self.error("included-twice", message, file, span);
            } else if self.including.contains(&target) {
                self.lacking.insert(file);
                self.include_cycle(file, target, span);
            } else if self.including.len() > MAX_LEVELS {
                let message = format!("files that include each other over {MAX_LEVELS} levels");
                self.lacking.insert(file);
                self.error("include-deep", message, file, span);
            } else {
                let sites = self.expand(target);
                if self.lacking.contains(&target) {
                    self.lacking.insert(file);
                }
                sites.iter().for_each(|site| steps.put(Site { included: true, ..*site }));
            }
            seen.push(target);
        }
    }

    fn include_cycle(&mut self, file: usize, target: usize, span: Span) {
        let begin = self.including.iter().position(|at| *at == target).unwrap_or(0);
        let circle = self.including[begin..].iter().chain([&target]);
        let names: Vec<&str> = circle.map(|at| self.library.files[*at].path.as_str()).collect();
        let message = format!("these files include each other in a cycle: {}", names.join(" → "));
        self.error("include-cycle", message, file, span);
    }

    fn step(&mut self, site: Part<'l>) -> StepParts<'l> {
        let (made_from, broken) = self.made_from(site);
        let mut step =
            StepParts { site, made_from, fields: Vec::new(), on_outcome: Vec::new(), broken };
        // From what it is made from to its own: what comes later wins.
        for level in step.made_from.clone().into_iter().rev() {
            step.overlay(level);
        }
        step
    }

    /// A step and those that it refers to, one after the other.
    fn made_from(&mut self, site: Part<'l>) -> (Vec<Part<'l>>, bool) {
        let mut chain = vec![site];
        while let Some(last) = chain.last().copied() {
            if last.entry.value.get(REF).is_none() {
                break;
            }
            let Some(next) = self.referred(last) else { return (chain, true) };
            let span = reference(last.entry).map_or(Span::default(), |(_, span)| span);
            let same = |part: &Part<'_>| std::ptr::eq(part.entry, next.entry);
            if let Some(begin) = chain.iter().position(same) {
                let circle = chain[begin..].iter().chain([&next]);
                let names: Vec<String> = circle.map(|part| self.path_of(*part)).collect();
                let message =
                    format!("these steps refer to each other in a cycle: {}", names.join(" → "));
                self.error("ref-cycle", message, last.file, span);
                return (chain, true);
            }
            if chain.len() > MAX_LEVELS {
                let message = format!("steps that refer to each other over {MAX_LEVELS} levels");
                self.error("ref-deep", message, last.file, span);
                return (chain, true);
            }
            chain.push(next);
        }
        (chain, false)
    }

    fn path_of(&self, part: Part<'_>) -> String {
        format!("{}#/{}", self.library.files[part.file].path, part.entry.key)
    }

    /// The step that another one refers to.
    fn referred(&mut self, step: Part<'l>) -> Option<Part<'l>> {
        let name = &step.entry.key;
        let written = reference(step.entry);
        let Some(((_, wanted), span)) = written.and_then(|(text, at)| Some((split(text)?, at)))
        else {
            let message =
                format!("Step '{name}': '{REF}' must name a file and a step: 'FILE#/STEP'");
            let at = step.entry.value.get(REF);
            let span = at.map_or(step.entry.key_defined, |field| field.value.defined);
            self.error("bad-ref", message, step.file, span);
            return None;
        };
        let target = self.library.link(step.file, span)?;
        let sites = self.expand(target);
        if let Some(found) = sites.iter().find(|site| site.part.entry.key == wanted) {
            return Some(found.part);
        }
        let file = &self.library.files[target].path;
        // A file that is no map of steps, or does not get what it includes, has been reported.
        if !self.library.entries(target).is_empty() && !self.lacking.contains(&target) {
            let message = format!("Step '{name}': there is no step '{wanted}' in {file}");
            let source = &self.library.files[step.file].source;
            let known = sites.iter().map(|site| site.part.entry.key.as_str());
            let label =
                nearest(wanted, known).map_or(String::new(), |n| format!("did you mean '{n}'?"));
            self.problems.push(Diagnostic::error("bad-ref", message).at(source, span, label));
        }
        None
    }
}

impl<'l> StepParts<'l> {
    /// The fields of one level replace those of the levels below it.
    fn overlay(&mut self, level: Part<'l>) {
        let refers = level.entry.value.get(REF).is_some();
        for entry in level.entry.value.entries() {
            let part = Part { entry, ..level };
            // Beside a `$ref`, null takes a field away; an unknown one is reported as ever.
            let known = find_field(Section::MachineStep, &entry.key).is_some();
            let removes = refers && known && entry.is_null();
            match entry.key.as_str() {
                REF => {}
                "onOutcome" if removes => self.on_outcome.clear(),
                "onOutcome" => self.on_outcome.push(OnOutcome { part, beside_ref: refers }),
                key => {
                    let at = self.fields.iter().position(|field| field.entry.key == key);
                    match (at, removes) {
                        (Some(at), true) => drop(self.fields.remove(at)),
                        (Some(at), false) => self.fields[at] = part,
                        (None, true) => {}
                        (None, false) => self.fields.push(part),
                    }
                }
            }
        }
    }
}

/// Steps in the order in which their names first come.
#[derive(Default)]
struct Ordered<'l> {
    sites: Vec<Site<'l>>,
    indices: HashMap<&'l str, usize>,
}

impl<'l> Ordered<'l> {
    fn put(&mut self, site: Site<'l>) {
        let name = site.part.entry.key.as_str();
        match self.indices.get(name) {
            None => {
                self.indices.insert(name, self.sites.len());
                self.sites.push(site);
            }
            Some(at) if site.included && !self.sites[*at].included => {}
            Some(at) => self.sites[*at] = site,
        }
    }
}
