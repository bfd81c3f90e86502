//! Finds the words of a command that the program it starts reads as code, and what to tell the
//! author about them. Looks through programs that only start another one.

use crate::bash::tree::{Part, Word};
use crate::program_table::{CONTAINERS, Code, NAMERS, Options, PROGRAMS, WRAPPERS};
use crate::region::Region;
use std::ops::Range;

/// The words of a simple command, with the text they were parsed from.
pub struct Words<'a> {
    pub words: &'a [Word],
    pub region: &'a Region,
}

impl Words<'_> {
    /// A word that is known without the values.
    fn text(&self, index: usize) -> Option<&str> {
        let word = self.words.get(index)?;
        word.text.as_deref().filter(|_| !self.region.has_mark(&word.range))
    }

    fn source(&self, index: usize) -> &str {
        self.words.get(index).map_or("", |w| &self.region.text[w.range.clone()])
    }

    fn base(&self, index: usize) -> Option<&str> {
        self.text(index).map(|name| name.rsplit('/').next().unwrap_or(name))
    }
}

/// A word that some program reads as code.
pub struct Finding {
    pub word: usize,
    pub reader: &'static str,
    pub reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// All of the code.
    Code,
    /// A part of the code.
    PartOfCode,
    /// The name of a variable.
    Name,
    /// A number to calculate with.
    Integer,
}

/// The index of the program that a command starts in the end, seen through its wrappers.
pub fn resolve(words: &Words) -> Option<usize> {
    let mut at = 0;
    while let Some(wrapper) = words.base(at).and_then(|n| WRAPPERS.iter().find(|w| w.name == n)) {
        at = skip_options(words, at + 1, |option| wrapper.takes.contains(&option).into());
        while wrapper.sets && words.source(at).contains('=') {
            at += 1;
        }
        at += wrapper.own;
    }
    (at < words.words.len()).then_some(at)
}

/// The first word from `at` on that is neither an option nor the argument of one.
fn skip_options(words: &Words, mut at: usize, takes: impl Fn(&str) -> usize) -> usize {
    while let Some(option) = words.text(at).filter(|t| t.starts_with('-') && t.len() > 1) {
        if option == "--" {
            return at + 1;
        }
        at += 1 + takes(option);
    }
    at
}

pub fn code_words(words: &Words, program: usize) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(name) = words.base(program) else { return unknown_shell(words, program) };
    for entry in PROGRAMS {
        if let Some(reader) = entry.names.iter().find(|n| **n == name) {
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
fn unknown_shell(words: &Words, program: usize) -> Vec<Finding> {
    let is_code =
        |text: &str| text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
    let option = (program + 1..words.words.len()).find(|at| words.text(*at).is_some_and(is_code));
    let code = option.map(|at| at + 1).filter(|at| *at < words.words.len());
    findings(code.into_iter().collect(), "sh").collect()
}

/// The words that another shell gets as its code, exactly as they are, and which shell that is.
pub fn shell_code(words: &Words) -> Option<(Range<usize>, &'static str)> {
    let program = resolve(words)?;
    // `xargs` changes the words that it hands on.
    if (0..program).any(|at| words.base(at) == Some("xargs")) {
        return None;
    }
    let shells = &PROGRAMS[0];
    let at = match words.base(program)? {
        name if CONTAINERS.contains(&name) => (program + 1..words.words.len())
            .find(|at| words.base(*at).is_some_and(|name| shells.names.contains(&name)))?,
        _ => program,
    };
    let name = words.base(at)?;
    let entry = PROGRAMS.iter().find(|p| p.shell && p.names.contains(&name))?;
    let found = code_indexes(words, at, &entry.code);
    let (first, last) = (*found.first()?, *found.last()?);
    let joined = matches!(entry.code, Code::Rest { .. });
    // `su --command=…`: the option is in the same word.
    if !joined && (first != last || words.source(first).starts_with('-')) {
        return None;
    }
    // `ssh $x y z`: an unquoted expansion could be options as well as the host.
    let quoted = |p: &Part| matches!(p, Part::Literal(_) | Part::Single(_) | Part::Double { .. });
    let unsure = words.words[at + 1..first].iter().any(|w| !w.parts.iter().all(quoted));
    if joined && first != last && unsure {
        return None;
    }
    let shell = entry.names.iter().find(|n| **n == name)?;
    Some((first..last + 1, shell))
}

/// `docker exec c sh -c "…"`, `find … -exec sh -c "…"`: a shell among another program's arguments.
fn started_shell(words: &Words, program: usize, found: &mut Vec<Finding>) {
    let shell = &PROGRAMS[0];
    for at in program + 1..words.words.len() {
        let name = words.base(at).and_then(|n| shell.names.iter().find(|s| **s == n));
        if let Some(reader) = name {
            found.extend(findings(code_indexes(words, at, &shell.code), reader));
        }
    }
}

fn findings(words: Vec<usize>, reader: &'static str) -> impl Iterator<Item = Finding> {
    let reading = if words.len() == 1 { Reading::Code } else { Reading::PartOfCode };
    words.into_iter().map(move |word| Finding { word, reader, reading })
}

fn names_read(words: &Words, program: usize, name: &str, found: &mut Vec<Finding>) {
    let arguments = program + 1..words.words.len();
    let after = |option: &str| -> Vec<usize> {
        arguments.clone().filter(|i| words.text(*i) == Some(option)).map(|i| i + 1).collect()
    };
    let (reader, indexes, reading): (_, Vec<usize>, _) = match name {
        "printf" => ("printf -v", after("-v"), Reading::Name),
        "test" | "[" => ("test -v", [after("-v"), after("-R")].concat(), Reading::Name),
        "wait" => ("wait -p", after("-p"), Reading::Name),
        "getopts" => ("getopts", vec![program + 2], Reading::Name),
        "let" => ("let", arguments.collect(), Reading::Integer),
        _ => match NAMERS.iter().find(|n| **n == name) {
            Some(reader) => (*reader, name_arguments(words, program), Reading::Name),
            None => return,
        },
    };
    let inside = indexes.into_iter().filter(|i| *i < words.words.len());
    found.extend(inside.map(|word| Finding { word, reader, reading }));
}

/// The arguments of `read` and its like that are names: not the arguments of their options.
fn name_arguments(words: &Words, program: usize) -> Vec<usize> {
    let takes = ["-d", "-i", "-n", "-N", "-p", "-t", "-u", "-s", "-O", "-C", "-c"];
    let read_only = words.base(program) == Some("read");
    let start = skip_options(words, program + 1, |option| {
        // `read -s` and `read -rp TEXT`: a cluster whose last letter takes an argument.
        let last: String = option.chars().last().into_iter().collect();
        let taken = takes.contains(&format!("-{last}").as_str());
        usize::from(taken && !(read_only && last == "s"))
    });
    (start..words.words.len()).collect()
}

fn code_indexes(words: &Words, program: usize, code: &Code) -> Vec<usize> {
    let end = words.words.len();
    match code {
        Code::All => (program + 1..end).collect(),
        Code::Option(options) => after_options(words, program, options),
        Code::First { takes, unless } => {
            let given = (program + 1..end).filter_map(|i| words.text(i));
            if given.clone().any(|t| unless.iter().any(|u| t.starts_with(u))) {
                return Vec::new();
            }
            let takes = |option: &str| {
                takes.iter().find(|(name, _)| *name == option).map_or(0, |(_, count)| *count)
            };
            let at = skip_options(words, program + 1, takes);
            (at < end).then_some(at).into_iter().collect()
        }
        Code::Rest { takes } => {
            let takes = |option: &str| takes.contains(&option).into();
            let host = skip_options(words, program + 1, takes);
            // Options may stand after the host too.
            (skip_options(words, host + 1, takes)..end).collect()
        }
    }
}

fn after_options(words: &Words, program: usize, options: &Options) -> Vec<usize> {
    let end = words.words.len();
    let mut found = Vec::new();
    let mut at = program + 1;
    while at < end {
        let source = words.source(at);
        if let Some(name) = options.long.iter().find(|l| source.starts_with(**l)) {
            found.push(if source[name.len()..].starts_with('=') { at } else { at + 1 });
        } else if options.arguments.iter().any(|name| words.text(at) == Some(*name)) {
            at += 1;
        } else if source.starts_with(['-', '+']) && !source.starts_with("--") {
            match words.text(at) {
                Some(cluster)
                    if cluster.starts_with('-')
                        && cluster.contains(|c| options.letters.contains(c)) =>
                {
                    at = skip_flags(words, at, options);
                    found.push(at);
                }
                Some(cluster) => at += options.taken(cluster),
                // `-e's/{{v}}/x/'`: the code is in the same word.
                None if source[1..].starts_with(|c| options.letters.contains(c)) => found.push(at),
                None => {}
            }
        } else if options.file && !source.starts_with(['-', '+']) {
            break;
        }
        // After its code an interpreter takes the code's arguments.
        if options.file && !found.is_empty() {
            break;
        }
        at += 1;
    }
    found.retain(|i| *i < end);
    found
}

/// `bash -c -x CODE`, `bash -co pipefail CODE`: further options may stand before the code.
fn skip_flags(words: &Words, mut at: usize, options: &Options) -> usize {
    while let Some(flag) = words.text(at).filter(|t| t.starts_with(['-', '+'])) {
        at += 1 + options.taken(flag);
    }
    at
}

/// The program's name, if it runs a file that is named in its arguments: `source <(echo …)`.
pub fn reads_code_from_file(words: &Words, program: usize) -> Option<&'static str> {
    let name = words.base(program)?;
    let shells = PROGRAMS.iter().filter(|p| p.stdin).flat_map(|p| p.names);
    ["source", "."].iter().chain(shells).find(|n| **n == name).copied().filter(|n| *n != "ssh")
}

/// The program's name, if it has no code and no file among its arguments.
pub fn reads_code_from_stdin(words: &Words, program: usize) -> Option<&'static str> {
    let name = words.base(program)?;
    let streams = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    if words.text(program + 1).is_some_and(|file| streams.contains(&file)) {
        return reads_code_from_file(words, program);
    }
    let entry = PROGRAMS.iter().find(|p| p.stdin && p.names.contains(&name))?;
    let reader = entry.names.iter().find(|n| **n == name)?;
    let plain = match entry.code {
        Code::Rest { .. } => true,
        _ => {
            let takes = match &entry.code {
                Code::Option(options) => options.takes,
                _ => "",
            };
            let rest = skip_options(words, program + 1, |option| {
                option.ends_with(|c| takes.contains(c)).into()
            });
            let by_stdin = rest >= words.words.len() || words.text(rest) == Some("-");
            let forced = (program + 1..words.words.len()).any(|i| words.text(i) == Some("-s"));
            (by_stdin || forced) && code_indexes(words, program, &entry.code).is_empty()
        }
    };
    plain.then_some(*reader)
}

/// What to tell the author.
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
