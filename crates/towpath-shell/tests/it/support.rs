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

/// How many random cases: the `CASES` variable multiplies them, for a long search by hand.
pub fn scale(cases: u64) -> u64 {
    let times = std::env::var("CASES").ok().and_then(|t| t.parse().ok()).unwrap_or(1);
    cases * times
}

/// Repeatable chance (SplitMix64): a failing seed is its own recipe.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// A value made of everything that means something to bash.
    pub fn value(&mut self) -> String {
        let parts = 1 + self.below(8);
        match self.below(12) {
            0 => String::new(),
            1 => ["-n", "{{v0}}", "a[$(touch pwned)]", "EOF", "~", "\n", "\\", "$", "#"]
                [self.below(9)]
            .to_owned(),
            _ => (0..parts).map(|_| PIECES[self.below(PIECES.len())]).collect(),
        }
    }
}

const PIECES: &[&str] = &[
    "a",
    "b c",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "'",
    "\"",
    "`",
    "\\",
    "\\\\",
    "$",
    "$x",
    "${HOME}",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned; ",
    "\ntouch pwned\n",
    "' ; touch pwned '",
    "\" ; touch pwned \"",
    ")",
    "(",
    "}",
    "{",
    "{a,b}",
    "*",
    "?",
    "[a-z]",
    "]",
    "!",
    "#",
    " #",
    "~",
    "&",
    "|",
    "<",
    ">",
    "%",
    "/",
    "=",
    "é",
    "日本",
    "\u{202e}",
    "\r\n",
    "\nEOF\n",
    "\n\tEOF\n",
    "{{v0}}",
    "-n",
    "^",
    "+",
    ".",
    "@",
    "\u{e000}",
    "\\n",
    "$'",
    "$\"",
    "a[$(touch pwned)]",
];
