//! Every reference of a document and its imports, with its location; and those that nothing in them
//! defines.

use crate::definition_scope::positional;
use crate::directive::{DataValue, DirectiveKind, Invocation, ShellCommand, TextValue};
use crate::document::{Document, NodeKind, RegionText};
use crate::document_with_imports::DocumentSet;
use crate::interpolated::{Interpolated, Piece};
use std::collections::BTreeSet;
use std::sync::Arc;
use towpath_core::{Source, Span, VarPath};

/// A use of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentReference {
    pub path: VarPath,
    pub source: Arc<Source>,
    pub span: Span,
    /// It is in prose, where an undefined one stays as it is written.
    pub in_prose: bool,
}

impl DocumentSet {
    /// Every name that something in the documents reads.
    pub fn names_read(&self) -> BTreeSet<String> {
        let mut names: BTreeSet<String> =
            self.references().iter().map(|found| found.path.root().to_owned()).collect();
        let nodes = self.files.iter().flat_map(|file| &file.document.nodes);
        names.extend(nodes.filter_map(|node| match &node.kind {
            NodeKind::Region(region) => match &region.shows {
                RegionText::Name(name) => Some(name.clone()),
                RegionText::Directive(_) => None,
            },
            _ => None,
        }));
        names
    }

    /// The references to names that must come from outside.
    pub fn free_references(&self) -> Vec<DocumentReference> {
        let defined = self.defined();
        let mut found = self.references();
        found.retain(|reference| !defined.contains(reference.path.root()));
        found
    }

    fn references(&self) -> Vec<DocumentReference> {
        let mut found = Vec::new();
        for (index, file) in self.files.iter().enumerate() {
            let mut collect = Collect { document: &file.document, found: &mut found };
            for node in &file.document.nodes {
                match &node.kind {
                    // The prose of an import is not part of the document.
                    NodeKind::Reference { path, backslashes }
                        if index == 0 && backslashes % 2 == 0 =>
                    {
                        let start = node.range.start + backslashes;
                        collect.add(path, Span { start, end: node.range.end }, true);
                    }
                    NodeKind::Directive(directive) => collect.directive(&directive.kind),
                    NodeKind::Region(region) => {
                        if let RegionText::Directive(kind) = &region.shows {
                            collect.directive(kind);
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn defined(&self) -> BTreeSet<String> {
        let directives = self.files.iter().flat_map(|file| file.document.directives());
        let mut names = BTreeSet::new();
        for directive in directives {
            names.extend(directive.kind.variable().map(str::to_owned));
            if let DirectiveKind::Import(import) = &directive.kind {
                let here = import.names.iter().flatten().map(|(_, here)| here.clone());
                names.extend(here);
            }
        }
        names
    }
}

struct Collect<'a> {
    document: &'a Document,
    found: &'a mut Vec<DocumentReference>,
}

impl Collect<'_> {
    fn add(&mut self, path: &VarPath, span: Span, in_prose: bool) {
        if positional(path).is_none() {
            let source = Arc::clone(&self.document.source);
            self.found.push(DocumentReference { path: path.clone(), source, span, in_prose });
        }
    }

    fn directive(&mut self, kind: &DirectiveKind) {
        match kind {
            DirectiveKind::Run(run)
            | DirectiveKind::Text { value: TextValue::Run(run), .. }
            | DirectiveKind::Data { value: DataValue::Run(run), .. } => self.invocation(run, &[]),
            DirectiveKind::Define(definition) => {
                let parameters = definition.parameters.as_deref().unwrap_or_default();
                self.invocation(&definition.body, parameters);
            }
            DirectiveKind::Text { value: TextValue::Written(text), .. }
            | DirectiveKind::EmbedValue(text)
            | DirectiveKind::Path { value: text, .. } => self.text(text, &[]),
            DirectiveKind::Data { value: DataValue::Template(template), .. } => {
                template.texts().iter().for_each(|text| self.text(text, &[]));
            }
            DirectiveKind::Embed(file)
            | DirectiveKind::Text { value: TextValue::Embed(file), .. }
            | DirectiveKind::Data { value: DataValue::Embed(file), .. } => {
                self.path(&file.path);
                file.heading.iter().for_each(|heading| self.text(heading, &[]));
            }
            DirectiveKind::Import(import) => self.path(&import.path),
            DirectiveKind::Data { value: DataValue::Written(_), .. } | DirectiveKind::Broken(_) => {
            }
        }
    }

    fn invocation(&mut self, run: &Invocation, parameters: &[String]) {
        match run {
            Invocation::Shell(command) | Invocation::CallOrShell(_, command) => {
                self.shell(command, parameters);
            }
            Invocation::Call(call) => {
                call.arguments.iter().for_each(|argument| self.text(argument, parameters));
            }
        }
    }

    fn shell(&mut self, command: &ShellCommand, parameters: &[String]) {
        for placeholder in command.text.placeholders() {
            if !parameters.iter().any(|name| name == placeholder.path.root()) {
                self.add(&placeholder.path, command.locate(placeholder.range.clone()), false);
            }
        }
    }

    fn text(&mut self, text: &Interpolated, parameters: &[String]) {
        for piece in &text.pieces {
            if let Piece::Reference { path, span } = piece
                && !parameters.iter().any(|name| name == path.root())
            {
                self.add(path, *span, false);
            }
        }
    }

    /// A path may begin with a variable: `$name/file`.
    fn path(&mut self, path: &Interpolated) {
        self.text(path, &[]);
        if let Some(Piece::Text(head)) = path.pieces.first()
            && let Some(rest) = head.strip_prefix('$')
            && let Some(name) = rest.split('/').next().and_then(VarPath::new)
            && !matches!(name.as_str(), "PROJECTPATH" | "HOMEPATH")
        {
            self.add(&name, path.span, false);
        }
    }
}
