//! Programs that only start another one, each with its options: `sudo -u www grep a` runs `grep a`.
//!
//! An option that is not in a table may take the next word as its argument, so what is started after
//! one is a guess: it is given, but marked as not certain.

use super::code_programs::CONTAINERS;
use super::command_words::CommandWords;
use std::ops::Range;
use std::sync::LazyLock;
use towpath_core::data_rows;

/// A program that runs the program named in its arguments.
pub struct Wrapper {
    pub name: &'static str,
    /// Letters whose argument is the rest of the word, or else the next word.
    valued: &'static str,
    /// Letters whose argument, if there is one, is the rest of the word.
    optional: &'static str,
    /// Letters that take no argument.
    flags: &'static str,
    /// Long options, `=` at the end of those that take an argument.
    long: Vec<&'static str>,
    /// Options with which no program is started, in both spellings.
    stops: Vec<&'static str>,
    /// Words of its own before the program.
    operands: usize,
    /// `NAME=value` words may come before the program.
    assigns: bool,
    /// Its words are joined by blanks and read by a shell, unless this option is given.
    joins_unless: Option<char>,
}

static WRAPPERS: LazyLock<Vec<Wrapper>> = LazyLock::new(|| {
    let words = |column: &'static str| column.split_whitespace().collect::<Vec<_>>();
    let wrapper = |row: [&'static str; 8]| {
        let [name, valued, optional, flags, operands, marks, long, stops] = row;
        Wrapper {
            name,
            valued,
            optional,
            flags,
            long: words(long),
            stops: words(stops),
            operands: operands.parse().expect("a number of words"),
            assigns: words(marks).contains(&"assigns"),
            joins_unless: marks
                .strip_prefix("joins-unless=")
                .and_then(|letter| letter.chars().next()),
        }
    };
    data_rows(include_str!("wrapper_programs.txt")).map(wrapper).collect()
});

/// What a wrapper starts.
#[derive(Debug, PartialEq, Eq)]
pub struct Started {
    pub wrapper: &'static str,
    /// The index of the program's name.
    pub program: usize,
    /// No option is unknown, and no word before the program may become several words or none.
    pub certain: bool,
    /// With these options it starts nothing.
    pub stopped: bool,
    /// A shell reads the words again, joined by blanks.
    pub joined: bool,
}

/// Whether a program starts another one that is among its words.
pub fn starts_programs(name: &str) -> bool {
    const OTHERS: [&str; 9] = [
        "runuser",
        "unshare",
        "nsenter",
        "chrt",
        "taskset",
        "strace",
        "systemd-run",
        "bwrap",
        "firejail",
    ];
    let known = WRAPPERS.iter().any(|wrapper| wrapper.name == name);
    known || CONTAINERS.contains(&name) || OTHERS.contains(&name)
}

/// What the program at `at` starts, if it is a wrapper.
pub fn started(words: &CommandWords, at: usize) -> Option<Started> {
    let name = words.base(at)?;
    let wrapper = WRAPPERS.iter().find(|w| w.name == name)?;
    let mut reader = OptionReader { wrapper, at: at + 1, certain: true, stopped: false };
    let mut joined = wrapper.joins_unless.is_some();
    while let Some(option) = words.option(reader.at).filter(|t| reader.is_option(t)) {
        joined &= !wrapper.joins_unless.is_some_and(|letter| is_given(option, letter));
        if option == "--" {
            reader.at += 1;
            break;
        }
        reader.option(option);
    }
    while wrapper.assigns && words.source(reader.at).contains('=') {
        reader.at += 1;
    }
    reader.at += wrapper.operands;
    let OptionReader { at: program, stopped, .. } = reader;
    let certain = reader.certain
        && words.get(at + 1..program).is_some_and(|words| words.iter().all(|w| w.one_word))
        && words.text(program).is_none_or(|name| !name.starts_with('-'));
    Some(Started { wrapper: wrapper.name, program, certain, stopped, joined })
}

fn is_given(option: &str, letter: char) -> bool {
    option == "--exec" || !option.starts_with("--") && option.contains(letter)
}

struct OptionReader {
    wrapper: &'static Wrapper,
    at: usize,
    certain: bool,
    stopped: bool,
}

impl OptionReader {
    fn is_option(&self, text: &str) -> bool {
        text.starts_with('-') && (text.len() > 1 || self.wrapper.long.contains(&text))
    }

    fn option(&mut self, option: &str) {
        self.at += 1;
        if option.starts_with("--") || option == "-" {
            self.long(option);
        } else {
            self.cluster(&option[1..]);
        }
    }

    fn long(&mut self, option: &str) {
        let (name, given) = match option.split_once('=') {
            Some((name, _)) => (name, true),
            None => (option, false),
        };
        self.stopped |= self.wrapper.stops.contains(&name);
        let takes = |long: &&str| long.strip_suffix('=') == Some(name);
        if self.wrapper.long.iter().any(takes) {
            self.at += usize::from(!given);
        } else if !self.wrapper.long.contains(&name) && !self.stopped {
            self.certain = false;
        }
    }

    fn cluster(&mut self, letters: &str) {
        for (index, letter) in letters.char_indices() {
            let stop = format!("-{letter}");
            self.stopped |= self.wrapper.stops.contains(&stop.as_str());
            let last = index + letter.len_utf8() == letters.len();
            if self.wrapper.valued.contains(letter) {
                self.at += usize::from(last);
                return;
            }
            if self.wrapper.optional.contains(letter) {
                return;
            }
            if !self.wrapper.flags.contains(letter) && !self.stopped {
                self.certain = false;
            }
        }
    }
}

/// The commands that `find` starts: the words after `-exec` and its like, up to `;` or `{} +`.
pub fn executed_by_find(words: &CommandWords, program: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = program + 1;
    while at < words.words.len() {
        let executes = ["-exec", "-execdir", "-ok", "-okdir"];
        let starts = words.text(at).is_some_and(|text| executes.contains(&text));
        at += 1;
        if !starts {
            continue;
        }
        let ends = |i: &usize| match words.text(*i) {
            Some(";") => true,
            Some("+") => words.text(i - 1) == Some("{}"),
            _ => false,
        };
        let Some(end) = (at..words.words.len()).find(ends) else { break };
        if end > at {
            found.push(at..end);
        }
        at = end + 1;
    }
    found
}
