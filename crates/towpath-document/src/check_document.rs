//! Everything that can be known of a document before anything runs: its imports, its problems, and the
//! commands that it would run.

use crate::definition_scope::Inputs;
use crate::document::NodeKind;
use crate::document_command::{Command, CommandEnd};
use crate::document_with_imports::{DocumentSet, Files, Found};
use crate::evaluate::{Evaluation, Next};
use crate::roots::Roots;
use std::collections::HashSet;
use towpath_core::{Diagnostic, Map};

/// A document that was evaluated without running anything.
#[derive(Debug)]
pub struct Checked {
    /// With every file that it imports.
    pub set: DocumentSet,
    pub problems: Vec<Diagnostic>,
    /// In the order in which they would run.
    pub commands: Vec<Command>,
    left: HashSet<String>,
    /// `None`: as it is written.
    output: Option<Vec<u8>>,
}

impl Checked {
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(Diagnostic::is_error)
    }

    /// The document, where it runs no command.
    pub fn output(&self) -> Option<&[u8]> {
        self.commands.is_empty().then(|| self.known_output())
    }

    /// The document in which everything that depends on a command is as it was written, together
    /// with the definitions that it reads.
    pub fn without_running(self, roots: &Roots, inputs: &Inputs, files: &dyn Files) -> Vec<u8> {
        if self.commands.is_empty() {
            return self.known_output().to_vec();
        }
        foresee(self.set, roots, inputs, files, self.left, true).known_output().to_vec()
    }

    fn known_output(&self) -> &[u8] {
        self.output.as_deref().unwrap_or_else(|| self.set.entry().bytes())
    }
}

/// Evaluates a document without running anything.
pub fn check(set: DocumentSet, roots: &Roots, inputs: &Inputs, files: &dyn Files) -> Checked {
    let document = set.entry();
    // Most documents of any size are only text: they need no copy.
    if document.nodes.iter().all(|node| matches!(node.kind, NodeKind::Text)) {
        let (problems, left) = (document.problems.clone(), HashSet::new());
        return Checked { set, problems, commands: Vec::new(), left, output: None };
    }
    foresee(set, roots, inputs, files, HashSet::new(), false)
}

/// Likewise, for a document whose variables are defined later. Files to embed are not looked at.
pub fn check_open(set: DocumentSet, roots: &Roots, files: &dyn Files) -> Checked {
    let evaluation =
        Evaluation::new(set, roots.clone(), Map::new()).foreseeing(HashSet::new(), false);
    finished(evaluation.with_open_scope(), files, false)
}

/// Likewise, for a document whose imports are known. Files to embed are not looked at.
pub fn check_loaded(set: DocumentSet, roots: &Roots, inputs: &Inputs) -> Checked {
    let evaluation = Evaluation::new(set, roots.clone(), inputs.clone());
    finished(evaluation.foreseeing(HashSet::new(), false), &NoFiles, false)
}

/// Every file that a document imports is known already.
struct NoFiles;

impl Files for NoFiles {
    fn import(&self, path: &str) -> Result<Found, String> {
        Err(format!("{path} is not known"))
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("{path} is not known"))
    }
}

fn foresee(
    set: DocumentSet,
    roots: &Roots,
    inputs: &Inputs,
    files: &dyn Files,
    kept: HashSet<String>,
    leaves_commands: bool,
) -> Checked {
    let evaluation = Evaluation::new(set, roots.clone(), inputs.clone());
    finished(evaluation.foreseeing(kept, leaves_commands), files, true)
}

fn finished(mut evaluation: Evaluation, files: &dyn Files, reads_embedded: bool) -> Checked {
    loop {
        match evaluation.advance() {
            Next::Done => break,
            Next::Run(_) => evaluation.command_ended(CommandEnd::NotRun),
            Next::Import { path } => evaluation.imported(files.import(&path)),
            Next::Embed { path, .. } if !reads_embedded || !files.may_embed(&path) => {
                evaluation.not_embedded();
            }
            Next::Embed { path, .. } => match files.embed(&path) {
                // A command above it may write the file.
                Err(_) if !evaluation.commands().is_empty() => evaluation.not_embedded(),
                found => evaluation.embedded(found),
            },
        }
    }
    // As a user reads the file; what has no location, or is in an import, comes after it.
    let entry = evaluation.set.entry().source.clone();
    evaluation.problems.sort_by_key(|problem| {
        let label = problem.labels.first().filter(|label| label.source == entry);
        label.map_or(usize::MAX, |label| label.span.start)
    });
    let commands = evaluation.commands().iter().map(|(_, command)| command.clone()).collect();
    Checked {
        set: evaluation.set.clone(),
        problems: std::mem::take(&mut evaluation.problems),
        commands,
        left: std::mem::take(&mut evaluation.left),
        output: Some(evaluation.into_output()),
    }
}
