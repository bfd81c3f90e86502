//! A document with all files that it imports.

use crate::document::Document;
use std::collections::HashMap;
use std::sync::Arc;

/// Gives the files that documents name. A relative path is one in the entry document's directory.
pub trait Files {
    /// A file to import, or why there is none.
    fn import(&self, path: &str) -> Result<Found, String>;

    /// The bytes of a file to embed, or why there are none.
    fn embed(&self, path: &str) -> Result<Vec<u8>, String>;

    /// Whether a file may be embedded before the commands run. One that may not is not known.
    fn may_embed(&self, _path: &str) -> bool {
        true
    }
}

/// A file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The same for every path that leads to it.
    pub identity: String,
    /// As the user knows it.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The files of a document. The first is the document itself.
#[derive(Debug, Clone)]
pub struct DocumentSet {
    pub files: Vec<LoadedFile>,
    /// Which file each path of an `@import` is.
    paths: HashMap<String, usize>,
    /// How many bytes all references may give. Each line of `@text a = "{{a}}{{a}}"` doubles a text:
    /// forty of them must not fill the memory.
    pub most_text: usize,
}

const MOST_TEXT: usize = 256 << 20;

#[derive(Debug, Clone)]
pub struct LoadedFile {
    pub identity: String,
    /// What its relative paths begin with: nothing, or a directory with `/`.
    pub directory: String,
    pub document: Arc<Document>,
}

impl DocumentSet {
    /// `identity`: as [`Found::identity`].
    pub fn new(identity: &str, document: Document) -> DocumentSet {
        let (identity, directory) = (identity.to_owned(), String::new());
        let entry = LoadedFile { identity, directory, document: Arc::new(document) };
        DocumentSet { files: vec![entry], paths: HashMap::new(), most_text: MOST_TEXT }
    }

    pub fn entry(&self) -> &Arc<Document> {
        &self.files[0].document
    }

    /// The file of a path that was imported before.
    pub fn imported(&self, path: &str) -> Option<usize> {
        self.paths.get(path).copied()
    }

    /// Adds a file, unless another path has led to it.
    pub(crate) fn add(&mut self, path: &str, identity: &str, document: Document) -> usize {
        let known = self.files.iter().position(|file| file.identity == identity);
        let index = known.unwrap_or(self.files.len());
        if known.is_none() {
            let directory = path.rfind('/').map_or("", |slash| &path[..=slash]).to_owned();
            let identity = identity.to_owned();
            self.files.push(LoadedFile { identity, directory, document: Arc::new(document) });
        }
        self.paths.insert(path.to_owned(), index);
        index
    }

    /// How many lines all files have.
    pub fn lines(&self) -> usize {
        self.files.iter().map(|file| file.document.lines()).sum()
    }

    /// Whether all files have the same text.
    pub fn is_same_text(&self, other: &DocumentSet) -> bool {
        let texts = |set: &DocumentSet| {
            let bytes = set.files.iter().map(|file| file.document.bytes().to_vec());
            bytes.collect::<Vec<_>>()
        };
        texts(self) == texts(other)
    }

    /// The file and the line of a [`line_number`](DocumentSet::line_number).
    pub fn located(&self, number: u32) -> Option<(&str, usize)> {
        let mut left = number as usize;
        for file in &self.files {
            let lines = file.document.lines();
            if left <= lines {
                return Some((&file.document.source.name, left));
            }
            left -= lines;
        }
        None
    }

    /// A number for a line that no other line of the set has: the entry's lines, then those of the
    /// first import, and so forth.
    pub fn line_number(&self, file: usize, line: usize) -> u32 {
        let before: usize = self.files[..file].iter().map(|file| file.document.lines()).sum();
        u32::try_from(before + line).unwrap_or(u32::MAX)
    }
}
