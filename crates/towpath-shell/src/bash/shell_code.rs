//! Which program a command starts in the end, and which of its words that program reads as code.

use super::code_programs::{CONTAINERS, Code, Options, PROGRAMS};
use super::command_words::CommandWords;
use super::tree::Part;
use super::wrapper_programs::{self, Started};
use std::ops::Range;

/// The index of the program that a command starts in the end, seen through its wrappers.
pub fn resolve(words: &CommandWords) -> Option<usize> {
    let mut at = 0;
    // `flock FILE -c CODE`: what begins with `-` is no program.
    let starts = |started: &Started| {
        let program = words.text(started.program);
        !started.joined && !started.stopped && program.is_none_or(|name| !name.starts_with('-'))
    };
    while let Some(started) = wrapper_programs::started(words, at).filter(starts) {
        at = started.program;
    }
    (at < words.words.len()).then_some(at)
}

/// The first word from `at` on that is neither an option nor the argument of one.
fn skip_options(words: &CommandWords, mut at: usize, takes: impl Fn(&str) -> usize) -> usize {
    while let Some(option) = words.option(at).filter(|t| t.len() > 1) {
        if option == "--" {
            return at + 1;
        }
        at += 1 + takes(option);
    }
    at
}

/// The words that another shell gets as its code, exactly as they are, and which shell that is.
pub fn shell_code(words: &CommandWords) -> Option<(Range<usize>, &'static str)> {
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

pub fn code_indexes(words: &CommandWords, program: usize, code: &Code) -> Vec<usize> {
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
            // Options may follow the host too.
            (skip_options(words, host + 1, takes)..end).collect()
        }
    }
}

fn after_options(words: &CommandWords, program: usize, options: &Options) -> Vec<usize> {
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

/// `bash -c -x CODE`, `bash -co pipefail CODE`: further options may come before the code.
fn skip_flags(words: &CommandWords, mut at: usize, options: &Options) -> usize {
    while let Some(flag) = words.text(at).filter(|t| t.starts_with(['-', '+'])) {
        at += 1 + options.taken(flag);
    }
    at
}

/// The program's name, if it runs a file that is named in its arguments: `source <(echo …)`.
pub fn reads_code_from_file(words: &CommandWords, program: usize) -> Option<&'static str> {
    let name = words.base(program)?;
    let shells = PROGRAMS.iter().filter(|p| p.stdin).flat_map(|p| p.names);
    ["source", "."].iter().chain(shells).find(|n| **n == name).copied().filter(|n| *n != "ssh")
}

/// The program's name, if it has no code and no file among its arguments.
pub fn reads_code_from_stdin(words: &CommandWords, program: usize) -> Option<&'static str> {
    let name = words.base(program)?;
    let streams = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    if words.text(program + 1).is_some_and(|file| streams.contains(&file)) {
        return reads_code_from_file(words, program);
    }
    let entry = PROGRAMS.iter().find(|p| p.stdin && p.named(name).is_some())?;
    let reader = entry.named(name)?;
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
    plain.then_some(reader)
}
