//! What a directive defines, and the values of its texts and paths.

use super::{Evaluation, Next, Target};
use crate::definition_scope::{Computed, DefinedCommand};
use crate::directive::{DataValue, Defines, Definition, Directive, DirectiveKind, TextValue};
use crate::document::{Document, Node};
use crate::interpolated::{Interpolated, Piece};
use crate::location::Location;
use crate::resolve_command::Values;
use crate::roots::{expand_root, plain_path};
use std::sync::Arc;
use towpath_core::{Value, VarPath, text_of};

impl Evaluation {
    pub(super) fn directive(
        &mut self,
        document: &Arc<Document>,
        node: &Node,
        directive: &Directive,
    ) -> Option<Next> {
        let (source, span) = (Arc::clone(&document.source), directive.head);
        let location = Location { source, span, line: directive.line };
        match &directive.kind {
            DirectiveKind::Run(_) | DirectiveKind::Embed(_) | DirectiveKind::EmbedValue(_) => {
                // An imported file only defines.
                if !self.in_entry() {
                    return None;
                }
                self.shown(&directive.kind, Target::Document, location)
            }
            DirectiveKind::Text { name, .. } | DirectiveKind::Data { name, .. }
                if self.inputs.override_definitions && self.inputs.values.contains_key(name) =>
            {
                self.keep(document, node, name);
                None
            }
            DirectiveKind::Define(definition) => {
                self.define(definition);
                self.keep(document, node, &definition.name);
                None
            }
            DirectiveKind::Text { name, value } => {
                let next = self.text_directive(name, value, &location);
                self.keep_if_settled(next.is_some(), document, node, name);
                next
            }
            DirectiveKind::Data { name, value } => {
                let next = self.data_directive(name, value, &location);
                self.keep_if_settled(next.is_some(), document, node, name);
                next
            }
            DirectiveKind::Path { name, value } => {
                let path = self.path_value(value, &location).map(Value::String);
                match path {
                    Computed::Unknown => self.leave_as_written(),
                    Computed::Known(_) => self.keep(document, node, name),
                }
                self.set_text(name, path);
                None
            }
            DirectiveKind::Import(import) => self.import(import, location),
            DirectiveKind::Broken(defines) => {
                self.broken(defines);
                None
            }
        }
    }

    pub(super) fn define(&mut self, definition: &Arc<Definition>) {
        let command = DefinedCommand::Known(Arc::clone(definition));
        self.frame().scope.define(&definition.name, command);
    }

    pub(super) fn broken(&mut self, defines: &Defines) {
        let scope = &mut self.frame().scope;
        match defines {
            Defines::Nothing => {}
            Defines::Variable(name) => scope.set(name, Computed::Unknown),
            Defines::Command(name) => scope.define(name, DefinedCommand::Broken),
        }
    }

    pub(super) fn text_directive(
        &mut self,
        name: &str,
        value: &TextValue,
        location: &Location,
    ) -> Option<Next> {
        match value {
            TextValue::Written(text) => {
                self.left_if_unknown(text);
                let text = self.text(text, location).map(Value::String);
                if text == Computed::Unknown {
                    self.leave_as_written();
                }
                self.set_text(name, text);
                None
            }
            TextValue::Run(run) => self.run(run, Target::Text(name.to_owned()), location.clone()),
            TextValue::Embed(file) => {
                self.embed(file, Target::Text(name.to_owned()), location.clone())
            }
        }
    }

    pub(super) fn data_directive(
        &mut self,
        name: &str,
        value: &DataValue,
        location: &Location,
    ) -> Option<Next> {
        match value {
            DataValue::Written(value) => {
                self.set_variable(name, Computed::Known(value.clone()));
                None
            }
            DataValue::Template(template) => {
                for text in template.texts() {
                    self.left_if_unknown(&text);
                }
                let scope = &self.frames.last().expect("a frame is open").scope;
                let values = Values { scope, location: location.clone(), limits: &self.limits };
                let value = values.data(template).unwrap_or_else(|problem| {
                    self.problem(*problem);
                    Computed::Unknown
                });
                if value == Computed::Unknown {
                    self.leave_as_written();
                }
                self.set_variable(name, value);
                None
            }
            DataValue::Run(run) => self.run(run, Target::Data(name.to_owned()), location.clone()),
            DataValue::Embed(file) => {
                self.embed(file, Target::Data(name.to_owned()), location.clone())
            }
        }
    }

    pub(super) fn set_variable(&mut self, name: &str, value: Computed<Value>) {
        self.frame().scope.set(name, value);
    }

    pub(super) fn set_text(&mut self, name: &str, text: Computed<Value>) {
        match text {
            Computed::Unknown => self.frame().scope.set_unknown_text(name),
            known @ Computed::Known(_) => self.set_variable(name, known),
        }
    }

    /// Leaves a definition as it is written, where something that was left reads it.
    pub(super) fn keep(&mut self, document: &Document, node: &Node, name: &str) {
        if self.in_entry() && self.kept.contains(name) {
            self.copy(document, node.range.clone());
        }
    }

    pub(super) fn keep_if_settled(
        &mut self,
        pending: bool,
        document: &Document,
        node: &Node,
        name: &str,
    ) {
        if !pending {
            self.keep(document, node, name);
        }
    }

    /// A text with its values. A problem is noted, and the text is then not known.
    pub(super) fn text(&mut self, text: &Interpolated, location: &Location) -> Computed<String> {
        let scope = &self.frames.last().expect("a frame is open").scope;
        let values = Values { scope, location: location.clone(), limits: &self.limits };
        match values.text(text, None, None) {
            Ok(text) => text,
            Err(problem) => {
                self.problem(*problem);
                Computed::Unknown
            }
        }
    }

    /// A text that depends on a command stays as it is written, and so does what it reads.
    pub(super) fn left_if_unknown(&mut self, text: &Interpolated) {
        let scope = &self.frames.last().expect("a frame is open").scope;
        let unknown = |path: &&VarPath| scope.find(path, None) == Ok(Computed::Unknown);
        if self.foresees && text.references().any(|path| unknown(&path)) {
            let names = text.references().map(|path| path.root().to_owned());
            self.left.extend(names.collect::<Vec<_>>());
        }
    }

    /// A path: its beginning may name a root, and a relative one belongs to its file.
    pub(super) fn path_value(
        &mut self,
        path: &Interpolated,
        location: &Location,
    ) -> Computed<String> {
        let Computed::Known(text) = self.text(path, location) else { return Computed::Unknown };
        let head = match path.pieces.first() {
            Some(Piece::Text(head)) => head.clone(),
            _ => String::new(),
        };
        let scope = &self.frames.last().expect("a frame is open").scope;
        let variable = |name: &str| {
            let path = VarPath::new(name)?;
            match scope.find(&path, None) {
                Ok(Computed::Known(value)) => Some(text_of(&value)),
                _ => None,
            }
        };
        let joined = match expand_root(&head, &self.roots, variable) {
            Some((root, rest)) => format!("{root}{}", &text[head.len() - rest.len()..]),
            None if text.starts_with('/') => text,
            None => {
                let file = self.frames.last().map_or(0, |frame| frame.file);
                format!("{}{text}", self.set.files[file].directory)
            }
        };
        Computed::Known(plain_path(&joined))
    }
}
