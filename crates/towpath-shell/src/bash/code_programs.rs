//! Programs that read code, and where in their arguments it is. A table, so that a new program is a
//! new line.

/// Where a program's code is.
pub enum Code {
    /// After an option with one of these letters or long names.
    Option(Options),
    /// The first word that is no option, unless one of the options in `unless` was given.
    First { takes: &'static [(&'static str, usize)], unless: &'static [&'static str] },
    /// Every argument.
    All,
    /// Every word after the first that is no option.
    Rest { takes: &'static [&'static str] },
}

pub struct Options {
    pub letters: &'static str,
    pub long: &'static [&'static str],
    /// Letters of other options whose argument is the next word.
    pub takes: &'static str,
    /// Long options whose argument is the next word.
    pub arguments: &'static [&'static str],
    /// The first word that is no option is a file, and the rest are its arguments.
    pub file: bool,
}

impl Options {
    /// How many of the next words are arguments of these letters. A shell's `o` takes one wherever it
    /// is; elsewhere what follows a letter is its argument.
    pub fn taken(&self, cluster: &str) -> usize {
        match self.takes {
            "oO" if !cluster.starts_with("--") => cluster.matches(['o', 'O']).count(),
            takes => cluster.ends_with(|c| takes.contains(c)).into(),
        }
    }
}

pub struct Program {
    pub names: &'static [&'static str],
    pub code: Code,
    /// Reads code from its standard input when it gets none in its arguments.
    pub stdin: bool,
    /// Its code is for a shell.
    pub shell: bool,
}

impl Program {
    /// Its own spelling of `name`, which may end in a version: `python3.11`.
    pub fn named(&self, name: &str) -> Option<&'static str> {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let with = |wanted: &str| self.names.iter().find(|n| **n == wanted).copied();
        with(name).or_else(|| with(plain))
    }
}

/// Runs a file, or the code after an option, or its standard input.
const fn interpreter(
    names: &'static [&'static str],
    letters: &'static str,
    long: &'static [&'static str],
    takes: &'static str,
) -> Program {
    let options = Options { letters, long, takes, arguments: &[], file: true };
    Program { names, code: Code::Option(options), stdin: true, shell: false }
}

const fn by_option(
    names: &'static [&'static str],
    letters: &'static str,
    long: &'static [&'static str],
) -> Program {
    let options = Options { letters, long, takes: "", arguments: &[], file: false };
    Program { names, code: Code::Option(options), stdin: false, shell: false }
}

const fn first(
    names: &'static [&'static str],
    takes: &'static [(&'static str, usize)],
    unless: &'static [&'static str],
) -> Program {
    Program { names, code: Code::First { takes, unless }, stdin: false, shell: false }
}

const fn all(names: &'static [&'static str]) -> Program {
    Program { names, code: Code::All, stdin: false, shell: false }
}

const SED: &[&str] = &["-e", "-f", "--expression", "--file"];

pub const PROGRAMS: &[Program] = &[
    Program {
        names: &[
            "bash", "sh", "dash", "ash", "zsh", "ksh", "rbash", "mksh", "lksh", "ksh93", "yash",
        ],
        code: Code::Option(Options {
            letters: "c",
            long: &[],
            takes: "oO",
            arguments: &["--rcfile", "--init-file"],
            file: true,
        }),
        stdin: true,
        shell: true,
    },
    interpreter(&["python", "python3", "python2"], "c", &[], "WX"),
    interpreter(&["perl"], "eE", &[], "I"),
    interpreter(&["ruby", "lua"], "e", &[], "rI"),
    interpreter(&["fish", "csh", "tcsh"], "c", &[], ""),
    interpreter(&["tclsh", "wish", "ed", "ex"], "", &[], ""),
    interpreter(&["node", "nodejs", "bun", "deno"], "ep", &["--eval", "--print"], "r"),
    interpreter(&["php"], "r", &[], "d"),
    by_option(&["psql"], "c", &["--command"]),
    by_option(&["mysql", "mariadb"], "e", &["--execute"]),
    Program { shell: true, ..by_option(&["su", "runuser"], "c", &["--command"]) },
    by_option(&["osascript", "Rscript"], "e", &[]),
    Program { shell: true, ..by_option(&["script", "flock"], "c", &["--command"]) },
    by_option(&["env"], "S", &["--split-string"]),
    by_option(&["npx", "npm"], "c", &["--call"]),
    all(&["tmux", "screen"]),
    by_option(&["sed", "gsed"], "e", &["--expression"]),
    first(&["sed", "gsed"], &[("-l", 1)], SED),
    first(&["awk", "gawk", "mawk", "nawk"], &[("-F", 1), ("-v", 1)], &["-f", "--file"]),
    first(
        &["jq", "yq"],
        &[
            ("--arg", 2),
            ("--argjson", 2),
            ("--slurpfile", 2),
            ("--rawfile", 2),
            ("--indent", 1),
            ("-L", 1),
        ],
        &["-f", "--from-file"],
    ),
    first(&["trap"], &[], &["-l", "-p"]),
    first(&["parallel"], &[("-j", 1), ("-P", 1), ("-I", 1), ("-a", 1)], &[]),
    all(&["eval", "alias", "compgen", "complete", "watch"]),
    Program {
        names: &["ssh"],
        code: Code::Rest {
            takes: &[
                "-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-W", "-b", "-c", "-E", "-e",
                "-I", "-m", "-O", "-Q", "-S", "-w", "-B",
            ],
        },
        stdin: true,
        shell: true,
    },
    by_option(&["mapfile", "readarray"], "C", &[]),
    by_option(&["vim", "vi", "nvim"], "c", &["--cmd"]),
    by_option(&["gdb"], "", &["-ex", "--ex", "--eval-command"]),
    by_option(&["tar"], "I", &["--use-compress-program", "--checkpoint-action"]),
    all(&["socat"]),
];

/// Programs that hand a shell among their arguments on as it is written.
pub const CONTAINERS: &[&str] =
    &["docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "lxc", "incus"];
