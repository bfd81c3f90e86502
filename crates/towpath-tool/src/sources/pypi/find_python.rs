//! The user's Python: not the name on PATH, which may be a script of a version manager, but the program
//! itself, and what it needs to run where nothing else of the home is visible.

use super::super::registry_clients::Clients;
use super::super::source_error::SourceError;
use serde::Deserialize;
use std::path::{Path, PathBuf};

const PYTHON: &str = "python3";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Python {
    pub program: PathBuf,
    /// What it was installed into, and what that was made from if it is a virtual environment.
    pub prefixes: Vec<PathBuf>,
    /// The directory that has pip.
    pub pip: Option<PathBuf>,
    /// What wheels are made for: `cpython-3.11-linux-x86_64`.
    pub tag: String,
}

const QUESTION: &str = "\
import sys, json, os, sysconfig
try:
    import pip
    pip = os.path.dirname(os.path.dirname(os.path.abspath(pip.__file__)))
except ImportError:
    pip = None
tag = '%s-%d.%d-%s' % (sys.implementation.name, *sys.version_info[:2], sysconfig.get_platform())
print(json.dumps({'program': sys.executable, 'prefixes': sorted({sys.prefix, sys.base_prefix}), 'pip': pip, 'tag': tag}))
";

impl Python {
    pub fn find(clients: &Clients<'_>, directory: &Path) -> Result<Python, SourceError> {
        let call = clients.call(PYTHON, directory, &["-c", QUESTION])?;
        let output = clients.run(call, &mut |_| {})?.success(PYTHON)?;
        let answer = output.stdout.lines().last().unwrap_or_default();
        let python: Python =
            serde_json::from_str(answer).map_err(|error| SourceError::output(PYTHON, error))?;
        match python.pip {
            Some(_) => Ok(python),
            None => Err(SourceError::MissingClient(super::PIP)),
        }
    }
}
