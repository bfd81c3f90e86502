//! A directory with recipe files, for tests.

use crate::problems_as_lines::render;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use towpath_core::{Map, parse_set};
use towpath_recipe::{Origin, Request, Resolved, RunOptions, SearchDir, SearchPath, resolve};

/// A directory with recipe files; directories named in `search` are searched in order.
pub struct Project {
    root: TempDir,
    search: Vec<(&'static str, Origin)>,
    agents: Vec<(&'static str, Origin)>,
    inputs: Map,
    pub run_options: RunOptions,
}

impl Project {
    pub fn new(files: &[(&str, &str)]) -> Project {
        let root = tempfile::tempdir().unwrap();
        let project = Project {
            root,
            search: Vec::new(),
            agents: Vec::new(),
            inputs: Map::new(),
            run_options: RunOptions::default(),
        };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub fn search(mut self, directory: &'static str, origin: Origin) -> Project {
        self.search.push((directory, origin));
        self
    }

    pub fn agents(mut self, directory: &'static str, origin: Origin) -> Project {
        self.agents.push((directory, origin));
        self
    }

    pub fn set(mut self, argument: &str) -> Project {
        let (name, value) = parse_set(argument).unwrap();
        self.inputs.insert(name, value);
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn search_path(&self) -> SearchPath {
        let directories = |names: &[(&'static str, Origin)]| {
            let directory = |(name, origin): &(&'static str, Origin)| SearchDir {
                path: self.path(name),
                origin: *origin,
            };
            names.iter().map(directory).collect()
        };
        SearchPath { directories: directories(&self.search), agents: directories(&self.agents) }
    }

    pub fn resolve(&self, reference: &str) -> Resolved {
        resolve(&Request {
            reference: reference.to_owned(),
            working_dir: self.path("work"),
            search: self.search_path(),
            inputs: self.inputs.clone(),
            run_options: self.run_options.clone(),
        })
    }

    /// Resolves a file by its path.
    pub fn named(&self, name: &str) -> Resolved {
        self.resolve(self.path(name).to_str().unwrap())
    }

    /// The problems, with the directory's own path taken out.
    pub fn report(&self, resolved: &Resolved) -> String {
        let root = self.path(".");
        let root = root.to_str().unwrap().trim_end_matches("/.");
        render(&resolved.problems).replace(root, "@")
    }
}

pub fn shell(name: &str, command: &str) -> String {
    format!("name: {name}\nsteps:\n  - id: run\n    command: {command}\n")
}

pub fn calls(name: &str, callee: &str) -> String {
    format!("name: {name}\nsteps:\n  - id: go\n    recipe: {callee}\n")
}
