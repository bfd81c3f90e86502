//! Files that a document embeds or imports.

use super::{DEEPEST_IMPORT, Evaluation, Frame, Next, Pending, Target};
use crate::definition_scope::{Computed, Scope};
use crate::directive::{FileTarget, Import, ImportedNames};
use crate::document::FileKind;
use crate::document_with_imports::Found;
use crate::interpolated::Interpolated;
use crate::location::Location;
use crate::problem_codes::{
    CIRCULAR_REFERENCE, FILE_NOT_FOUND, RESOLUTION_FAILED, SECTION_NOT_FOUND, VALIDATION_FAILED,
    VARIABLE_NOT_FOUND,
};
use crate::read::read;
use crate::section::section;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Evaluation {
    pub(super) fn embed(
        &mut self,
        file: &FileTarget,
        target: Target,
        location: Location,
    ) -> Option<Next> {
        let path = self.path_value(&file.path, &location);
        let heading = file.heading.as_ref().map(|heading| self.text(heading, &location));
        match (path, heading) {
            (Computed::Unknown, _) | (_, Some(Computed::Unknown)) => {
                let names = file.texts().flat_map(Interpolated::references);
                self.left.extend(names.map(|path| path.root().to_owned()));
                self.deliver(&target, &location, Computed::Unknown);
                None
            }
            (Computed::Known(path), heading) => {
                let number = self.number_of(&location);
                let mut pending = Pending::new(target, location);
                pending.heading = heading.and_then(Computed::known);
                pending.path.clone_from(&path);
                self.pending = Some(pending);
                Some(Next::Embed { path, number })
            }
        }
    }

    /// The file that was asked for, or why there is none.
    pub fn embedded(&mut self, file: Result<Vec<u8>, String>) {
        let Some(pending) = self.pending.take() else { return };
        let Pending { target, location, path, heading, .. } = pending;
        let too_much = file.as_ref().ok().and_then(|bytes| self.limits.take(bytes.len()).err());
        let found = match (file, &heading) {
            _ if too_much.is_some() => {
                Err(location.error(RESOLUTION_FAILED, too_much.unwrap_or_default()))
            }
            (Err(why), _) => {
                Err(location.error(FILE_NOT_FOUND, format!("cannot embed {path}: {why}")))
            }
            (Ok(bytes), None) => Ok(bytes),
            (Ok(bytes), Some(heading)) => {
                section(&bytes, heading).map(<[u8]>::to_vec).ok_or_else(|| {
                    location.error(SECTION_NOT_FOUND, format!("{path} has no section `{heading}`"))
                })
            }
        };
        match found {
            Ok(bytes) => self.deliver(&target, &location, Computed::Known(bytes)),
            Err(problem) => {
                self.problem(problem);
                self.deliver(&target, &location, Computed::Unknown);
            }
        }
    }

    /// The file cannot be read before the commands above it have run.
    pub fn not_embedded(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        self.deliver(&pending.target, &pending.location, Computed::Unknown);
    }

    pub(super) fn import(&mut self, import: &Import, location: Location) -> Option<Next> {
        let Computed::Known(path) = self.path_value(&import.path, &location) else {
            // A problem was noted, unless the path depends on a command.
            if !self.failed() {
                let message = "the path of an import cannot depend on a command's output";
                self.problem(location.error(VALIDATION_FAILED, message));
            }
            return None;
        };
        if let Some(file) = self.set.imported(&path) {
            self.begin_import(file, location, import.names.clone());
            return None;
        }
        let mut pending = Pending::new(Target::Scope, location);
        pending.names.clone_from(&import.names);
        pending.path.clone_from(&path);
        self.pending = Some(pending);
        Some(Next::Import { path })
    }

    /// The file that was asked for, or why there is none.
    pub fn imported(&mut self, file: Result<Found, String>) {
        let Some(Pending { location, path, names, .. }) = self.pending.take() else { return };
        match file {
            Err(why) => {
                let problem =
                    location.error(FILE_NOT_FOUND, format!("cannot import {path}: {why}"));
                self.problem(problem);
            }
            Ok(found) => {
                let known = self.set.files.len();
                // A document of Meld imports others, whatever they are called.
                let kind = match self.set.entry().kind {
                    FileKind::Meld => FileKind::Meld,
                    FileKind::Markdown => FileKind::of(&found.name),
                };
                let document = read(&found.name, found.bytes, kind);
                let file = self.set.add(&path, &found.identity, document);
                if file == known && self.foresees {
                    self.report_read(file);
                }
                self.begin_import(file, location, names);
            }
        }
    }

    /// Reports what was found while a file was read.
    pub(super) fn report_read(&mut self, file: usize) {
        let document = Arc::clone(&self.set.files[file].document);
        for problem in &document.problems {
            self.note(problem.clone());
        }
    }

    pub(super) fn begin_import(&mut self, file: usize, location: Location, names: ImportedNames) {
        let name = |file: usize| self.set.files[file].document.source.name.clone();
        if let Some(at) = self.frames.iter().position(|frame| frame.file == file) {
            let mut chain: Vec<String> =
                self.frames[at..].iter().map(|frame| name(frame.file)).collect();
            chain.push(name(file));
            let message = format!("Circular import: {}", chain.join(" -> "));
            return self.problem(location.error(CIRCULAR_REFERENCE, message));
        }
        if self.frames.len() > DEEPEST_IMPORT {
            let message = format!("more than {DEEPEST_IMPORT} files import each other");
            return self.problem(location.error(CIRCULAR_REFERENCE, message));
        }
        if let Some(finished) = self.finished.remove(&file) {
            self.take_names(&finished, &location, names.as_deref());
            self.finished.insert(file, finished);
            return;
        }
        let scope = if self.open { Scope::open() } else { Scope::of_inputs(&self.inputs) };
        self.frames.push(Frame { file, next: 0, scope, import: Some((location, names)) });
    }

    pub(super) fn end_import(&mut self) {
        let Some(Frame { file, scope, import: Some((location, names)), .. }) = self.frames.pop()
        else {
            return;
        };
        self.take_names(&scope, &location, names.as_deref());
        self.finished.insert(file, scope);
    }

    pub(super) fn take_names(
        &mut self,
        scope: &Scope,
        location: &Location,
        names: Option<&[(String, String)]>,
    ) {
        let missing: BTreeSet<String> =
            self.frame().scope.import(scope, names).into_iter().collect();
        if !missing.is_empty() {
            let shown: Vec<String> = missing.iter().take(10).map(|n| format!("`{n}`")).collect();
            let more = if missing.len() > shown.len() { ", …" } else { "" };
            let message = format!("the imported file does not define {}{more}", shown.join(", "));
            self.problem(location.error(VARIABLE_NOT_FOUND, message));
        }
        if self.kept.iter().any(|name| scope.is_variable(name) || scope.command(name).is_some()) {
            self.leave_as_written();
        }
    }
}
