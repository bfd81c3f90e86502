//! Programs that only start another one, each with its options: `sudo -u www grep a` runs `grep a`.
//!
//! An option that is not in a table may take the next word as its argument, so what is started after
//! one is a guess: it is given, but marked as not certain.

use super::command_words::CommandWords;
use std::ops::Range;

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
    long: &'static [&'static str],
    /// Options with which no program is started, in both spellings.
    stops: &'static [&'static str],
    /// Words of its own before the program.
    operands: usize,
    /// `NAME=value` words may come before the program.
    assigns: bool,
    /// Its words are joined by blanks and read by a shell, unless this option is given.
    joins_unless: Option<char>,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    valued: "",
    optional: "",
    flags: "",
    long: &[],
    stops: &[],
    operands: 0,
    assigns: false,
    joins_unless: None,
};

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "env",
        valued: "uCa",
        flags: "i0v",
        long: &[
            "-",
            "--unset=",
            "--chdir=",
            "--argv0=",
            "--ignore-environment",
            "--null",
            "--debug",
            "--block-signal",
            "--default-signal",
            "--ignore-signal",
            "--list-signal-handling",
        ],
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        name: "sudo",
        valued: "CDghpRrtTuU",
        flags: "ABbEHiknPsSN",
        long: &[
            "--close-from=",
            "--chdir=",
            "--group=",
            "--host=",
            "--prompt=",
            "--chroot=",
            "--role=",
            "--type=",
            "--command-timeout=",
            "--user=",
            "--other-user=",
            "--askpass",
            "--bell",
            "--background",
            "--preserve-env",
            "--set-home",
            "--login",
            "--reset-timestamp",
            "--non-interactive",
            "--no-update",
            "--preserve-groups",
            "--stdin",
            "--shell",
        ],
        stops: &[
            "-e",
            "-K",
            "-l",
            "-v",
            "-V",
            "--edit",
            "--remove-timestamp",
            "--list",
            "--validate",
            "--version",
            "--help",
        ],
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "doas", valued: "uC", flags: "ns", stops: &["-C", "-L"], ..PLAIN },
    Wrapper {
        name: "timeout",
        valued: "ks",
        flags: "fpv",
        long: &["--kill-after=", "--signal=", "--foreground", "--preserve-status", "--verbose"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "nice", valued: "n", flags: "0123456789", long: &["--adjustment="], ..PLAIN },
    Wrapper {
        name: "ionice",
        valued: "cnpPu",
        flags: "t",
        long: &["--class=", "--classdata=", "--ignore"],
        stops: &["-p", "-P", "-u", "--pid", "--pgid", "--uid"],
        ..PLAIN
    },
    Wrapper { name: "nohup", stops: &["--help", "--version"], ..PLAIN },
    Wrapper { name: "setsid", flags: "cfw", long: &["--ctty", "--fork", "--wait"], ..PLAIN },
    Wrapper {
        name: "stdbuf",
        valued: "ioe",
        long: &["--input=", "--output=", "--error="],
        ..PLAIN
    },
    Wrapper {
        name: "time",
        valued: "fo",
        flags: "apqv",
        long: &["--format=", "--output=", "--append", "--portability", "--quiet", "--verbose"],
        stops: &["-V", "--version", "--help"],
        ..PLAIN
    },
    Wrapper { name: "command", flags: "p", stops: &["-v", "-V"], ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "exec", valued: "a", flags: "cl", ..PLAIN },
    Wrapper { name: "busybox", stops: &["--list", "--list-full", "--install"], ..PLAIN },
    Wrapper {
        name: "chroot",
        long: &["--groups=", "--userspec=", "--skip-chdir"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "flock",
        valued: "wE",
        flags: "enosuxFv",
        long: &[
            "--timeout=",
            "--wait=",
            "--conflict-exit-code=",
            "--shared",
            "--exclusive",
            "--unlock",
            "--nonblock",
            "--nb",
            "--close",
            "--no-fork",
            "--verbose",
        ],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "gosu", operands: 1, ..PLAIN },
    Wrapper { name: "su-exec", operands: 1, ..PLAIN },
    Wrapper {
        name: "xargs",
        valued: "IadEnLPsJRS",
        optional: "iel",
        flags: "0oprtx",
        long: &[
            "--arg-file=",
            "--delimiter=",
            "--max-args=",
            "--max-procs=",
            "--max-chars=",
            "--process-slot-var=",
            "--replace",
            "--eof",
            "--max-lines",
            "--null",
            "--no-run-if-empty",
            "--interactive",
            "--verbose",
            "--exit",
            "--open-tty",
            "--show-limits",
        ],
        ..PLAIN
    },
    Wrapper {
        name: "watch",
        valued: "nq",
        optional: "d",
        flags: "bcegprtwxC",
        long: &[
            "--interval=",
            "--equexit=",
            "--differences",
            "--beep",
            "--color",
            "--no-color",
            "--errexit",
            "--chgexit",
            "--no-rerun",
            "--precise",
            "--no-title",
            "--no-wrap",
            "--exec",
        ],
        stops: &["-h", "-v", "--help", "--version"],
        joins_unless: Some('x'),
        ..PLAIN
    },
];

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
