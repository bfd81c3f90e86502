//! Runs filled text with the real bash, in an empty directory, as a step would.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};
use towpath_shell::{Filled, ShellText};

pub struct Ran {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub code: Option<i32>,
    /// Text of a value ran: the canary file exists.
    pub pwned: bool,
}

/// Runs one text with bash and nothing but `HOME` and `PATH` in its environment.
pub fn bash(filled: &Filled) -> Ran {
    let work = tempfile::tempdir().unwrap();
    let aside = tempfile::tempdir().unwrap();
    let values = aside.path().join("the values'");
    std::fs::write(&values, filled.values_bytes()).unwrap();
    let script = aside.path().join("script");
    std::fs::write(&script, filled.command(values.to_str().unwrap())).unwrap();
    run(Command::new("/bin/bash").arg(script), work.path())
}

/// Runs a text as it is.
pub fn plain(script: &str) -> Ran {
    let work = tempfile::tempdir().unwrap();
    run(Command::new("/bin/bash").arg("-c").arg(script), work.path())
}

fn run(command: &mut Command, work: &Path) -> Ran {
    let output = command
        .current_dir(work)
        .env_clear()
        .env("HOME", "/h")
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ran {
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
        pwned: work.join("pwned").exists(),
    }
}

/// Parses and fills with these values.
pub fn fill(text: &str, values: &[(&str, &str)]) -> Filled {
    let parsed = ShellText::parse(text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
    let values: HashMap<&str, &str> = values.iter().copied().collect();
    parsed
        .fill(&mut |path| values.get(path.as_str()).map(std::string::ToString::to_string))
        .unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}
