//! Finds the words of a command that the program it starts reads as code, as a name or as a number,
//! and how to describe that to the author. Looks through programs that only start another one.

use crate::bash::SimpleCommand;
use crate::bash::code_programs::PROGRAMS;
use crate::bash::command_words::CommandWords;
use crate::bash::shell_code::{self, code_indexes};
use crate::builtin_calls;
use std::ops::Range;

/// Builtins whose arguments are names of variables, in which bash evaluates a subscript.
pub const NAMERS: &[&str] = &["read", "unset", "mapfile", "readarray"];

/// A word that some program reads as code.
pub struct Finding {
    pub word: usize,
    pub reader: &'static str,
    pub read_as: ReadAs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs {
    /// All of the code.
    Code,
    /// A part of the code.
    PartOfCode,
    /// The name of a variable.
    Name,
    /// A number to calculate with.
    Integer,
}

/// The words of a command that the program it starts reads as code. A stretch of the text that is
/// only known later is `open`.
pub fn read_as(
    command: &SimpleCommand,
    text: &str,
    open: &dyn Fn(&Range<usize>) -> bool,
) -> Vec<usize> {
    let words = CommandWords { words: &command.words, source: text, open };
    let Some(program) = shell_code::resolve(&words) else { return Vec::new() };
    code_words(&words, program).into_iter().map(|finding| finding.word).collect()
}

pub fn code_words(words: &CommandWords, program: usize) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(name) = words.base(program) else { return unknown_shell(words, program) };
    for entry in PROGRAMS {
        if let Some(reader) = entry.named(name) {
            found.extend(findings(code_indexes(words, program, &entry.code), reader));
        }
    }
    names_read(words, program, name, &mut found);
    let starts_others = !matches!(name, "echo" | "printf" | "grep" | "cat");
    if found.is_empty() && starts_others {
        started_shell(words, program, &mut found);
    }
    found
}

/// `$SHELL -c "…"`: whatever it is, it gets code.
fn unknown_shell(words: &CommandWords, program: usize) -> Vec<Finding> {
    let is_code =
        |text: &str| text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
    let option = (program + 1..words.words.len()).find(|at| words.text(*at).is_some_and(is_code));
    let code = option.map(|at| at + 1).filter(|at| *at < words.words.len());
    findings(code.into_iter().collect(), "sh").collect()
}

/// `docker exec c sh -c "…"`, `find … -exec sh -c "…"`: a shell among another program's arguments.
fn started_shell(words: &CommandWords, program: usize, found: &mut Vec<Finding>) {
    let shell = &PROGRAMS[0];
    for at in program + 1..words.words.len() {
        let name = words.base(at).and_then(|n| shell.named(n));
        if let Some(reader) = name {
            found.extend(findings(code_indexes(words, at, &shell.code), reader));
        }
    }
}

fn findings(words: Vec<usize>, reader: &'static str) -> impl Iterator<Item = Finding> {
    let read_as = if words.len() == 1 { ReadAs::Code } else { ReadAs::PartOfCode };
    words.into_iter().map(move |word| Finding { word, reader, read_as })
}

fn names_read(words: &CommandWords, program: usize, name: &str, found: &mut Vec<Finding>) {
    let arguments = program + 1..words.words.len();
    let after = |option: &str| -> Vec<usize> {
        arguments.clone().filter(|i| words.text(*i) == Some(option)).map(|i| i + 1).collect()
    };
    // `-p{{v}}`: the name is in the same word.
    let joined = |option: &str| -> Vec<usize> {
        let open = |i: &usize| words.text(*i).is_none() && words.source(*i).starts_with(option);
        arguments.clone().filter(open).collect()
    };
    let (reader, indexes, read_as): (_, Vec<usize>, _) = match name {
        "printf" => {
            let first = joined("-v").into_iter().filter(|i| *i == program + 1);
            ("printf -v", after("-v").into_iter().chain(first).collect(), ReadAs::Name)
        }
        "test" | "[" => ("test -v", [after("-v"), after("-R")].concat(), ReadAs::Name),
        "wait" => ("wait -p", [after("-p"), joined("-p")].concat(), ReadAs::Name),
        "getopts" => ("getopts", vec![program + 2], ReadAs::Name),
        "let" => ("let", arguments.collect(), ReadAs::Integer),
        _ => match NAMERS.iter().find(|n| **n == name) {
            Some(reader) => {
                let names = builtin_calls::name_indexes(name, arguments, |i| words.text(i));
                (*reader, names, ReadAs::Name)
            }
            None => return,
        },
    };
    let inside = indexes.into_iter().filter(|i| *i < words.words.len());
    found.extend(inside.map(|word| Finding { word, reader, read_as }));
}

/// The message for the author, and the help.
pub fn advice(reader: &str, note: bool) -> (String, Option<String>) {
    let shell = PROGRAMS[0].names.contains(&reader);
    match reader {
        "let" | "declare -i" => {
            (format!("`{reader}` calculates: only an integer is accepted here"), None)
        }
        _ if note => (format!("`{reader}` runs this value as code"), None),
        "printf -v" | "test -v" | "wait -p" => name_advice(reader),
        _ if NAMERS.contains(&reader) => name_advice(reader),
        _ => {
            let help = match reader {
                _ if shell => format!("pass it as an argument: {reader} -c '… \"$1\"' _ {{{{v}}}}"),
                "ssh" => "quote it for the other side: ssh host \"cmd ${x@Q}\" with x={{v}}".into(),
                "awk" | "gawk" | "mawk" | "nawk" => {
                    format!("pass it in the environment: V={{{{v}}}} {reader} '… ENVIRON[\"V\"] …'")
                }
                "jq" => "pass it as an argument: jq --arg v {{v}} '… $v …'".into(),
                "python" | "python2" | "python3" => {
                    format!("pass it as an argument: {reader} -c '… sys.argv[1] …' {{{{v}}}}")
                }
                "perl" | "ruby" => {
                    format!("pass it as an argument: {reader} -e '… ARGV[0] …' {{{{v}}}}")
                }
                "node" => "pass it as an argument: node -e '… process.argv[1] …' {{v}}".into(),
                "eval" | "trap" => "use a function with the value in it instead of a string".into(),
                _ => "pass it as an argument or in the environment".into(),
            };
            (format!("`{reader}` reads this value as code"), Some(help))
        }
    }
}

fn name_advice(reader: &str) -> (String, Option<String>) {
    let message = format!("`{reader}` takes a name here, and runs code in a value like `a[$(…)]`");
    (message, Some("write the name itself".into()))
}
