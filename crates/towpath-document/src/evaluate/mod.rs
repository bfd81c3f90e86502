//! Evaluates a document from top to bottom. What it needs from outside, a command or a file, it asks
//! for and then waits: the caller answers, and asks for what is next. It never asks twice.

mod deliver;
mod evaluate_directive;
mod included_files;
mod prose_references;
mod replace_region;
mod run_command;

use crate::definition_scope::{Inputs, Scope};
use crate::directive::ImportedNames;
use crate::document::{Document, Node, NodeKind};
use crate::document_command::Command;
use crate::document_with_imports::DocumentSet;
use crate::evaluation_limits::EvaluationLimits;
use crate::location::Location;
use crate::roots::Roots;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use towpath_core::Diagnostic;

/// How many imports may be inside of each other.
const DEEPEST_IMPORT: usize = 64;

/// What an evaluation needs next.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Answer with [`Evaluation::command_ended`].
    Run(Box<Command>),
    /// A file to embed, and as [`Command::number`] the line that needs it. Answer with [`Evaluation::embedded`] or [`Evaluation::not_embedded`].
    Embed {
        path: String,
        number: u32,
    },
    /// A file to import. Answer with [`Evaluation::imported`].
    Import {
        path: String,
    },
    Done,
}

#[derive(Debug, Clone)]
pub struct Evaluation {
    pub(crate) set: DocumentSet,
    roots: Roots,
    inputs: Inputs,
    /// Variables may be defined outside that are not known yet.
    open: bool,
    /// Nothing runs: it warns, and what depends on a command is left as it is written.
    foresees: bool,
    /// Commands are left in the document.
    kept_commands: bool,
    /// The definitions of these names are left as they are written.
    kept: HashSet<String>,
    frames: Vec<Frame>,
    /// What imported files define, once they are evaluated.
    finished: HashMap<usize, Scope>,
    pending: Option<Pending>,
    output: Vec<u8>,
    /// Where the output of each node of the entry begins.
    starts: Vec<usize>,
    /// The commands, with the node of the entry that ran them.
    commands: Vec<(usize, Command)>,
    pub(crate) problems: Vec<Diagnostic>,
    failed: bool,
    /// A failing command does not end the evaluation.
    keeps_going: bool,
    /// Undefined names in prose are reported, each once.
    warns_of_undefined: bool,
    undefined: HashSet<String>,
    limits: EvaluationLimits,
    /// The names that something reads which was left as it is written.
    pub(crate) left: HashSet<String>,
}

/// A file that is being evaluated.
#[derive(Debug, Clone)]
struct Frame {
    file: usize,
    next: usize,
    scope: Scope,
    /// The `@import` that led here, and the names that it takes.
    import: Option<(Location, ImportedNames)>,
}

/// What the caller was asked for.
#[derive(Debug, Clone)]
struct Pending {
    target: Target,
    location: Location,
    /// For an embedded file.
    path: String,
    heading: Option<String>,
    /// For an import.
    names: ImportedNames,
}

/// Where the text of a command or a file goes.
#[derive(Debug, Clone)]
enum Target {
    Document,
    Text(String),
    Data(String),
    Region,
    /// An import goes nowhere by itself.
    Scope,
}

impl Evaluation {
    /// `inputs`: variables that are defined before the first line.
    pub fn new(set: DocumentSet, roots: Roots, inputs: impl Into<Inputs>) -> Evaluation {
        let inputs = inputs.into();
        let scope = Scope::of_inputs(&inputs);
        let limits = EvaluationLimits::new(set.most_text);
        Evaluation {
            set,
            roots,
            inputs,
            open: false,
            foresees: false,
            kept_commands: false,
            kept: HashSet::new(),
            frames: vec![Frame { file: 0, next: 0, scope, import: None }],
            finished: HashMap::new(),
            pending: None,
            output: Vec::new(),
            starts: Vec::new(),
            commands: Vec::new(),
            problems: Vec::new(),
            failed: false,
            keeps_going: false,
            warns_of_undefined: false,
            undefined: HashSet::new(),
            limits,
            left: HashSet::new(),
        }
    }

    /// An evaluation in which nothing runs; `kept` are names whose definitions stay.
    pub(crate) fn foreseeing(mut self, kept: HashSet<String>, leaves_commands: bool) -> Evaluation {
        self.foresees = true;
        self.warns_of_undefined = !self.inputs.values.is_empty() || self.set.entry().is_rendered();
        self.kept = kept;
        self.kept_commands = leaves_commands;
        for file in 0..self.set.files.len() {
            self.report_read(file);
        }
        self
    }

    /// Commands that fail leave a message in the document, and the rest of it is evaluated.
    pub fn keep_going(mut self) -> Evaluation {
        self.keeps_going = true;
        self
    }

    /// A name that is not defined may be defined later, outside.
    pub(crate) fn with_open_scope(mut self) -> Evaluation {
        self.open = true;
        self.frames[0].scope = Scope::open();
        self
    }

    /// Continues until something is needed. After an error nothing more is.
    pub fn advance(&mut self) -> Next {
        debug_assert!(self.pending.is_none(), "what was asked for has not been answered");
        loop {
            if !self.foresees && !self.keeps_going && self.failed() {
                return Next::Done;
            }
            let Some(frame) = self.frames.last_mut() else { return Next::Done };
            let document = Arc::clone(&self.set.files[frame.file].document);
            let Some(node) = document.nodes.get(frame.next) else {
                if self.frames.len() == 1 {
                    return Next::Done;
                }
                self.end_import();
                continue;
            };
            frame.next += 1;
            if let Some(next) = self.node(&document, node) {
                return next;
            }
        }
    }

    pub fn failed(&self) -> bool {
        self.failed
    }

    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// What was written so far: the whole document, once it is done.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    pub fn into_output(self) -> Vec<u8> {
        self.output
    }

    pub fn set(&self) -> &DocumentSet {
        &self.set
    }

    /// The output of a node of the entry.
    pub(crate) fn output_of(&self, node: usize) -> Range<usize> {
        let start = self.starts.get(node).copied().unwrap_or(self.output.len());
        start..self.starts.get(node + 1).copied().unwrap_or(self.output.len())
    }

    /// The commands that ran, or would run, with the node of the entry that has them.
    pub fn commands(&self) -> &[(usize, Command)] {
        &self.commands
    }

    fn in_entry(&self) -> bool {
        self.frames.len() == 1
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the entry's frame stays until the evaluation is dropped")
    }

    fn node(&mut self, document: &Arc<Document>, node: &Node) -> Option<Next> {
        if self.in_entry() {
            self.starts.push(self.output.len());
        }
        match &node.kind {
            NodeKind::Directive(directive) => self.directive(document, node, directive),
            _ if !self.in_entry() => None,
            NodeKind::Text => {
                self.copy(document, node.range.clone());
                None
            }
            NodeKind::Reference { path, backslashes } => {
                self.reference(document, node, path, *backslashes);
                None
            }
            // Beside commands that are left, what is no directive must stay none.
            NodeKind::Escape if self.leaves_commands() => {
                self.copy(document, node.range.clone());
                None
            }
            NodeKind::Escape | NodeKind::Comment => None,
            NodeKind::Region(region) => self.region(document, node, region),
        }
    }

    /// Whether commands are left in the document: only then names are kept.
    pub(super) fn leaves_commands(&self) -> bool {
        self.foresees && self.kept_commands
    }

    fn copy(&mut self, document: &Document, range: Range<usize>) {
        self.output.extend_from_slice(&document.bytes()[range]);
    }

    /// The node of the entry that is being evaluated.
    fn entry_node<'d>(&self, document: &'d Document) -> Option<&'d Node> {
        document.nodes.get(self.frames[0].next.checked_sub(1)?)
    }

    /// Notes a problem; one in an imported file also with where that is imported.
    fn problem(&mut self, mut problem: Diagnostic) {
        for frame in self.frames.iter().rev() {
            if let Some((location, _)) = &frame.import {
                problem = problem.at(&location.source, location.span, "imported here");
            }
        }
        self.note(problem);
    }

    fn note(&mut self, problem: Diagnostic) {
        self.failed |= problem.is_error();
        self.problems.push(problem);
    }
}

impl Pending {
    fn new(target: Target, location: Location) -> Pending {
        Pending { target, location, path: String::new(), heading: None, names: None }
    }
}
