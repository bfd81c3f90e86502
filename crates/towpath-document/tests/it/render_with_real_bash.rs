//! Renders documents in a directory of their own, each command with a real bash.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use towpath_core::{Diagnostic, Map};
use towpath_document::{
    CommandEnd, DocumentSet, Evaluation, FileKind, Files, Found, Next, Printed, Roots, check, read,
};
use towpath_shell::Filled;

/// The files of one directory.
pub struct Directory(pub PathBuf);

impl Files for Directory {
    fn import(&self, path: &str) -> Result<Found, String> {
        let bytes = self.embed(path)?;
        Ok(Found { identity: self.identity(path), name: path.to_owned(), bytes })
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.0.join(path)).map_err(|error| error.to_string())
    }
}

impl Directory {
    pub fn identity(&self, path: &str) -> String {
        let path = self.0.join(path).canonicalize();
        path.map_or_else(|error| error.to_string(), |path| path.display().to_string())
    }

    pub fn roots(&self) -> Roots {
        Roots { project: self.0.display().to_string(), home: "/nowhere".to_owned() }
    }

    /// A document and what it prints, or its errors.
    pub fn render(&self, name: &str, inputs: &Map) -> Result<Vec<u8>, Vec<Diagnostic>> {
        let bytes = std::fs::read(self.0.join(name)).expect("the document");
        let document = read(name, bytes, FileKind::of(name));
        let set = DocumentSet::new(&self.identity(name), document);
        let checked = check(set, &self.roots(), &inputs.clone().into(), self);
        if checked.has_errors() {
            return Err(errors(checked.problems));
        }
        let mut evaluation = Evaluation::new(checked.set, self.roots(), inputs.clone());
        loop {
            match evaluation.advance() {
                Next::Done if evaluation.failed() => {
                    return Err(errors(evaluation.problems().to_vec()));
                }
                Next::Done => return Ok(evaluation.into_output()),
                Next::Run(command) => {
                    let filled = command.filled.expect("every value is known");
                    evaluation.command_ended(bash(&filled, &self.0));
                }
                Next::Embed { path, .. } => evaluation.embedded(self.embed(&path)),
                Next::Import { path } => evaluation.imported(self.import(&path)),
            }
        }
    }
}

fn errors(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    problems.into_iter().filter(Diagnostic::is_error).collect()
}

pub fn bash(filled: &Filled, directory: &Path) -> CommandEnd {
    use std::os::unix::process::ExitStatusExt as _;
    let values = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&values, filled.values_bytes()).expect("write");
    let output = Command::new("bash")
        .args(["-c", &filled.command(&values.path().to_string_lossy())])
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .expect("bash starts");
    let printed = Printed {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    match (output.status.code(), output.status.signal()) {
        (Some(0), _) => CommandEnd::Succeeded(output.stdout),
        (Some(code), _) => CommandEnd::Exited { code, printed },
        (None, signal) => CommandEnd::Signalled { signal: signal.unwrap_or_default(), printed },
    }
}
