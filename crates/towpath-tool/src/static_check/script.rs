//! Scripts: the kernel reads the `#!` line, and `env` looks for the word after it.

use super::{FileQuestions, check_interpreter};
use crate::static_file_facts::FileFacts;

/// As much of the first line as a kernel reads.
const LONGEST_LINE: usize = 256;

pub(super) fn check(bytes: &[u8], questions: &dyn FileQuestions, depth: usize) -> FileFacts {
    let line = &bytes[2..bytes.len().min(LONGEST_LINE)];
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
    if line.ends_with(b"\r") {
        return FileFacts::faulty("script", "CR in #! line");
    }
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t']);
    let (interpreter, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let kind = format!("script #!{}", line.replace(", ", ","));
    if interpreter.is_empty() || !questions.exists(interpreter) {
        let name = if interpreter.is_empty() { "interpreter" } else { interpreter };
        return FileFacts::faulty(&kind, format!("{name} missing"));
    }
    if interpreter.rsplit('/').next() == Some("env") {
        return match env_program(argument.trim()) {
            Some(program) if !questions.is_on_path(&program) => {
                FileFacts::faulty(&kind, format!("{program} not on PATH"))
            }
            _ => FileFacts::sound(kind),
        };
    }
    match check_interpreter(interpreter, questions, depth) {
        Some(fault) => FileFacts::faulty(&kind, fault),
        None => FileFacts::sound(kind),
    }
}

/// The program that `env` would start. Without `-S` everything after it is one word.
fn env_program(argument: &str) -> Option<String> {
    let split = argument.strip_prefix("-S").or_else(|| argument.strip_prefix("--split-string="));
    let split = split.or_else(|| argument.strip_prefix("-vS"));
    let Some(words) = split else {
        return (!argument.is_empty() && !argument.starts_with('-')).then(|| argument.to_owned());
    };
    let mut words = words.split_whitespace().skip_while(|w| w.starts_with('-') || w.contains('='));
    words.next().map(str::to_owned)
}
