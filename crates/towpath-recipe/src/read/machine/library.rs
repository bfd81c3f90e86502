//! The files a machine is made of: its own, and every file that an `$include` or a `$ref` names,
//! each loaded once. Nothing is joined here, and the disk is not known: the texts come from whoever
//! asked for the reading. Paths in `$include` and `$ref` are written from the file they are in, kept as
//! paths from the recipe's directory, and never lead out of it.

use crate::field_table::RECIPE_FILE;
use crate::read::FileProvider;
use crate::read::section::Part;
use crate::yaml;
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Source, Span};

pub(super) const INCLUDE: &str = "$include";
pub(super) const REF: &str = "$ref";
const SCHEMA: &str = "$schema";

/// Whether a key belongs to editors and other programs, in every map whose names are not variables.
pub(super) fn is_of_others(key: &str) -> bool {
    key == SCHEMA || key.starts_with(OTHERS)
}

pub(super) const OTHERS: &str = "x-";

/// A machine is written by people: more files are a mistake, or an attack on the reader.
const MAX_FILES: usize = 100;

/// One file with the steps in it.
pub(super) struct File {
    /// From the recipe's directory; empty for the recipe itself.
    pub path: String,
    pub source: Arc<Source>,
    /// Whether it could be read as a map of steps, without an error.
    pub sound: bool,
    root: Option<Node>,
}

/// Where one file names another.
struct Reference<'n> {
    written: &'n str,
    span: Span,
}

pub(super) struct Library {
    pub files: Vec<File>,
    /// The target of each reference, by the file it is in and its span there.
    links: HashMap<(usize, Span), usize>,
    pub problems: Vec<Diagnostic>,
}

impl Library {
    /// The recipe's own file is the first.
    pub fn load(source: &Arc<Source>, root: &Node, files: FileProvider<'_>) -> Library {
        let own = File {
            path: String::new(),
            source: Arc::clone(source),
            sound: true,
            root: Some(root.clone()),
        };
        let mut library = Library { files: vec![own], links: HashMap::new(), problems: Vec::new() };
        let mut loaded: HashMap<String, Option<usize>> = HashMap::new();
        let mut next = 0;
        while next < library.files.len() {
            library.follow(next, &mut loaded, files);
            next += 1;
        }
        library
    }

    /// Loads what one file names.
    fn follow(
        &mut self,
        from: usize,
        loaded: &mut HashMap<String, Option<usize>>,
        files: FileProvider<'_>,
    ) {
        let mut wanted: Vec<(String, Span)> = Vec::new();
        let mut refused = Vec::new();
        let file = &self.files[from];
        for reference in references(self.entries(from)) {
            match beside(&file.path, reference.written) {
                Ok(path) => wanted.push((path, reference.span)),
                Err(problem) => refused.push(problem.at(&file.source, reference.span, "")),
            }
        }
        self.problems.extend(refused);
        for (path, span) in wanted {
            let known = loaded.get(&path).copied();
            let target = match known {
                Some(target) => target,
                None => {
                    let target = self.add(from, &path, span, files);
                    loaded.insert(path.clone(), target);
                    target
                }
            };
            if let Some(target) = target {
                self.links.insert((from, span), target);
            }
        }
    }

    fn add(
        &mut self,
        from: usize,
        path: &str,
        span: Span,
        files: FileProvider<'_>,
    ) -> Option<usize> {
        let source_from = Arc::clone(&self.files[from].source);
        if self.files.len() > MAX_FILES {
            let message = format!("a state machine can have at most {MAX_FILES} files");
            self.problems.push(Diagnostic::error("too-many-files", message).at(
                &source_from,
                span,
                "",
            ));
            return None;
        }
        let source = match files(path) {
            Ok(source) => source,
            Err(mut problem) => {
                let own = std::mem::take(&mut problem.labels);
                let mut problem = problem.at(&source_from, span, "");
                problem.labels.extend(own);
                self.problems.push(problem);
                return None;
            }
        };
        let tree = yaml::parse(&source, RECIPE_FILE);
        let read = !tree.problems.iter().any(Diagnostic::is_error);
        self.problems.extend(tree.problems);
        let root = tree.root.filter(|root| self.is_map_of_steps(path, &source, root));
        let sound = read && root.is_some();
        self.files.push(File { path: path.to_owned(), source, sound, root });
        Some(self.files.len() - 1)
    }

    fn is_map_of_steps(&mut self, path: &str, source: &Arc<Source>, root: &Node) -> bool {
        let message = match &root.kind {
            Kind::Null => return false,
            Kind::Map(entries) if entries.iter().any(is_of_a_recipe) => {
                format!("{path} is a whole recipe: an included file is an object of steps")
            }
            Kind::Map(_) => return true,
            _ => format!("{path} must be an object of steps, this is {}", root.describe()),
        };
        let span = source.line_from(root.span.start);
        self.problems.push(Diagnostic::error("not-steps", message).at(source, span, ""));
        false
    }

    pub fn part<'l>(&'l self, file: usize, entry: &'l Entry) -> Part<'l> {
        Part { file, source: &self.files[file].source, entry }
    }

    /// A file's steps, in its order.
    pub fn entries(&self, file: usize) -> &[Entry] {
        let Some(root) = &self.files[file].root else { return &[] };
        match (file, root.get("steps")) {
            (0, steps) => steps.map_or(&[], |steps| steps.value.entries()),
            _ => root.entries(),
        }
    }

    /// The file that a reference means; none when it could not be loaded, which has been reported.
    pub fn link(&self, from: usize, span: Span) -> Option<usize> {
        self.links.get(&(from, span)).copied()
    }
}

/// The paths of an `$include`, with their spans; none where it has another shape.
pub(super) fn included(entry: &Entry) -> Option<Vec<(&str, Span)>> {
    let path = |node| Some((Node::text(node)?, node.defined));
    match &entry.value.kind {
        Kind::List(items) => items.iter().map(path).collect(),
        _ => Some(vec![path(&entry.value)?]),
    }
}

/// A recipe has such fields, a step is never a string.
fn is_of_a_recipe(entry: &Entry) -> bool {
    let names = ["id", "name", "label", "initialStep"];
    names.contains(&entry.key.as_str()) && matches!(entry.value.kind, Kind::Text(_))
}

/// The `$ref` of a step, if it is a string.
pub(super) fn reference(step: &Entry) -> Option<(&str, Span)> {
    let value = &step.value.get(REF)?.value;
    Some((value.text()?, value.defined))
}

/// The file and the step that a `$ref` names.
pub(super) fn split(reference: &str) -> Option<(&str, &str)> {
    let (file, step) = reference.split_once("#/")?;
    (!file.is_empty() && !step.is_empty()).then_some((file, step))
}

fn references(entries: &[Entry]) -> Vec<Reference<'_>> {
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| !is_of_others(&entry.key)) {
        if entry.key == INCLUDE {
            let paths = included(entry).unwrap_or_default();
            found.extend(paths.into_iter().map(|(written, span)| Reference { written, span }));
        } else if let Some((text, span)) = reference(entry)
            && let Some((written, _)) = split(text)
        {
            found.push(Reference { written, span });
        }
    }
    found
}

/// The path from the recipe's directory that `written` in the file `holder` means.
fn beside(holder: &str, written: &str) -> Result<String, Diagnostic> {
    let refused = |why: &str| {
        let message = format!("'{written}' {why}");
        let help = "write a path from this file to one in the recipe's directory or below it";
        Err(Diagnostic::error("bad-path", message).help(help))
    };
    if written.is_empty() {
        return refused("is no path");
    }
    if written.starts_with(['/', '\\', '~']) {
        return refused("is no path beside this file");
    }
    if written.contains(['\\', '\0']) || written.chars().any(char::is_control) {
        return refused("is no path: write `/` between its parts");
    }
    let mut parts: Vec<&str> = holder.split('/').collect();
    parts.pop();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return refused("leads out of the recipe's directory"),
            ".." => {}
            part => parts.push(part),
        }
    }
    if parts.is_empty() || written.ends_with('/') {
        return refused("is a directory");
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn paths_are_read_from_the_file_they_are_in() {
        for (holder, written, path) in [
            ("", "shared/a.json", "shared/a.json"),
            ("", "./a.json", "a.json"),
            ("shared/a.json", "b.json", "shared/b.json"),
            ("shared/a.json", "../b.json", "b.json"),
            ("shared/a.json", "deep//c.json", "shared/deep/c.json"),
        ] {
            assert_eq!(beside(holder, written).unwrap(), path, "{written} in {holder}");
        }
    }

    #[test]
    fn no_path_leaves_the_recipes_directory() {
        for (holder, written) in [
            ("", "../a.json"),
            ("", "/etc/hostname"),
            ("", "~/a.json"),
            ("", "shared/../../a.json"),
            ("shared/a.json", "../../a.json"),
            ("", "a\\..\\b.json"),
            ("", "a\0b"),
            ("", ""),
            ("", "."),
            ("shared/a.json", ".."),
            ("", "shared/"),
        ] {
            let problem = beside(holder, written).unwrap_err();
            assert!(problem.message.contains(written), "{written}: {}", problem.message);
        }
    }
}
