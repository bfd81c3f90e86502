//! Which letters of common programs take a value. A new program is a new line.

use towpath_shell::bash::SimpleCommand;

/// How a program reads its options.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// It is in the table, or a rule names its letters.
    pub known: bool,
    /// Several letters may share one dash.
    pub clusters: bool,
    /// Letters whose value is the rest of the word, or else the next word.
    pub valued: String,
    /// Letters whose value, if there is one, is the rest of the word.
    pub optional: &'static str,
    /// What comes after the first operand belongs to another program.
    pub ends_at_operand: bool,
}

impl Program {
    pub fn add_valued(&mut self, letters: &str) {
        self.known |= !letters.is_empty();
        self.valued.push_str(letters);
    }

    /// The letters of a word that has one dash. `None`: it is not known to be letters.
    pub fn cluster(&self, value: &str) -> Option<Cluster> {
        let letters = value.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        if !self.clusters && letters.len() > 1 || !self.known && letters.len() > 3 {
            return None;
        }
        for (at, letter) in letters.char_indices() {
            if !letter.is_ascii_alphabetic() {
                return None;
            }
            let rest = at + 1;
            let takes = self.valued.contains(letter);
            // An optional value is the rest of the word.
            if takes || self.optional.contains(letter) && rest < letters.len() {
                let takes_next = takes && rest == letters.len();
                return Some(Cluster {
                    letters: letters[..rest].to_owned(),
                    valued: true,
                    takes_next,
                });
            }
        }
        Some(Cluster { letters: letters.to_owned(), valued: false, takes_next: false })
    }
}

/// Letters behind one dash.
pub(super) struct Cluster {
    /// Up to the one that takes a value.
    pub letters: String,
    /// The last letter takes a value.
    pub valued: bool,
    /// The value is the next word.
    pub takes_next: bool,
}

/// What is known of a command's program; its subcommand counts.
pub(super) fn program_of(command: &SimpleCommand) -> Program {
    let subcommand = command.words.get(1).and_then(|word| word.fixed()).unwrap_or_default();
    program(command.name().unwrap_or_default(), subcommand)
}

/// The known options of a program with this subcommand.
pub(super) fn program(name: &str, subcommand: &str) -> Program {
    let base = name.rsplit('/').next().unwrap_or(name);
    let ends_at_operand = STARTS_ANOTHER.contains(&base)
        || STARTS_ANOTHER.contains(&format!("{base} {subcommand}").as_str());
    if SINGLE_DASH.contains(&base) {
        let (valued, optional) = (String::new(), "");
        return Program { known: true, clusters: false, valued, optional, ends_at_operand };
    }
    let row = |name: &str| VALUED.iter().find(|(names, ..)| names.contains(&name));
    let found = row(&format!("{base} {subcommand}")).or_else(|| row(base));
    match found {
        Some((_, valued, optional)) => {
            let valued = (*valued).to_owned();
            Program { known: true, clusters: true, valued, optional, ends_at_operand }
        }
        None => {
            let (valued, optional) = (String::new(), "");
            Program { known: false, clusters: true, valued, optional, ends_at_operand }
        }
    }
}

/// Programs that give what comes after their first operand to another one.
const STARTS_ANOTHER: &[&str] = &[
    "bash",
    "sh",
    "dash",
    "zsh",
    "ksh",
    "ssh",
    "python",
    "python3",
    "node",
    "ruby",
    "perl",
    "php",
    "npx",
    "uvx",
    "docker run",
    "docker exec",
    "podman run",
    "podman exec",
    "kubectl exec",
];

/// Programs that write long options with one dash.
const SINGLE_DASH: &[&str] = &[
    "find",
    "go",
    "java",
    "javac",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "ld",
    "openssl",
    "terraform",
    "ffmpeg",
    "ffprobe",
    "convert",
    "magick",
    "xrandr",
    "7z",
    "erl",
    "X",
    "qemu",
];

/// Names, letters that take a value, letters that may have one attached.
type Row = (&'static [&'static str], &'static str, &'static str);

const VALUED: &[Row] = &[
    (&["scp"], "cDFiJloPSX", ""),
    (&["sftp"], "BbcDFiJloPRSsX", ""),
    (&["ssh"], "BbcDEeFIiJLlmOopQRSWw", ""),
    (&["rsync"], "eBTfM@", ""),
    (&["grep", "egrep", "fgrep", "zgrep"], "efmABCDd", ""),
    // `-r` means `--replace` here, but who types `-rn` means what grep does.
    (&["rg"], "efgtTmABCjMEd", ""),
    (&["ag"], "ABCGgmpW", ""),
    (&["sed", "gsed"], "efl", "iE"),
    (&["awk", "gawk", "mawk"], "Fvfie", ""),
    (&["head"], "nc", ""),
    (&["tail"], "ncs", ""),
    (&["tar", "bsdtar"], "fCTXbgHVNKLIF", ""),
    (&["curl"], "AbcCdDeEFhHKmMoPQrtTuUwxXyYz", ""),
    (&["wget"], "oaeiBtOTwQPUlADIX", ""),
    (&["sort"], "koStT", ""),
    (&["uniq"], "fsw", ""),
    (&["cut"], "bcdf", ""),
    (&["xargs"], "IadEnLPsJRS", "iel"),
    (&["du"], "dBtX", ""),
    (&["df"], "Bxt", ""),
    (&["ps"], "CGgNopqstuU", ""),
    (&["kill", "pkill", "pgrep"], "sgGPtuUF", ""),
    (&["cp", "mv", "ln"], "St", ""),
    (&["install"], "gmoSt", ""),
    (&["mkdir"], "mZ", ""),
    (&["rm", "rmdir", "chmod", "chown", "cat", "tee", "tr", "wc", "diff3", "env"], "", ""),
    (&["ls"], "IwT", ""),
    (&["diff"], "CUIxXSDFW", "uc"),
    (&["patch"], "pdiorzVBYgF", ""),
    (&["make", "gmake"], "CfIoW", "jl"),
    (&["touch"], "drt", ""),
    (&["date"], "dfrs", "I"),
    (&["stat"], "cf", ""),
    (&["ping"], "cIitWswmMQ", ""),
    (&["nc", "ncat"], "eghiIMmOPpqsTVWwXx", ""),
    (&["dig"], "bcfkpqtxy", ""),
    (&["jq"], "fL", ""),
    (&["less"], "bhjkoOpPtTxyz#", ""),
    (&["tree"], "LPIoHT", ""),
    (&["unzip"], "dxP", ""),
    (&["zip"], "nxibtP", ""),
    (&["gzip", "xz", "bzip2", "zstd"], "STo", ""),
    (&["strace"], "aeEIoOpPsSuUX", ""),
    (&["psql"], "cdfhLopPRTUv", "F"),
    (&["mysql", "mariadb"], "uhPDeS", "p"),
    (&["sqlite3"], "", ""),
    (&["python", "python3"], "cmWX", ""),
    (&["node"], "erCp", ""),
    (&["perl"], "eEIMmF", "i0lxCD"),
    (&["ruby"], "eIrCEF", "i0x"),
    (&["pip", "pip3"], "rcetfi", ""),
    (&["pytest"], "kmcnprWo", ""),
    (&["npm", "pnpm", "yarn"], "CwF", ""),
    (&["cargo"], "pFjZC", ""),
    (&["docker run", "docker create", "podman run", "podman create"], "acehlmpuvw", ""),
    (&["docker build", "podman build"], "ftmcoq", ""),
    (&["docker exec", "podman exec"], "euw", ""),
    (&["docker ps", "docker images", "podman ps"], "fn", ""),
    (&["docker logs", "podman logs"], "n", ""),
    (&["docker", "podman"], "cHlfnoptuvwem", ""),
    (&["docker-compose"], "fpH", ""),
    (&["kubectl", "oc"], "nfloscLkv", ""),
    (&["helm"], "fnok", ""),
    (&["gh"], "RtbBlamFHqLSXjfoTPnderswuvck", ""),
    (&["git commit"], "mFcCt", "Su"),
    (&["git log", "git show", "git rev-list"], "nLSGO", "CMBU"),
    (&["git diff"], "SGOL", "CMBUX"),
    (&["git checkout"], "bB", ""),
    (&["git switch"], "cC", ""),
    (&["git tag"], "mFu", "n"),
    (&["git push"], "o", ""),
    (&["git merge"], "mXsF", "S"),
    (&["git rebase"], "xsXC", "S"),
    (&["git stash"], "m", ""),
    (&["git branch"], "u", ""),
    (&["git add"], "", ""),
    (&["git grep"], "efmABCO", ""),
    (&["git clone"], "boujc", ""),
    (&["git blame"], "LS", "CM"),
    (&["git clean"], "e", ""),
    (&["git status"], "", "u"),
    (&["git fetch", "git pull"], "ojXs", ""),
    (&["git"], "mFcCbBnX", ""),
];
