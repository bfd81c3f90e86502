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
}

impl Program {
    pub fn add_valued(&mut self, letters: &str) {
        self.known |= !letters.is_empty();
        self.valued.push_str(letters);
    }
}

/// What is known of a command's program; its subcommand counts.
pub(super) fn program(command: &SimpleCommand) -> Program {
    let name = command.name().unwrap_or_default();
    let base = name.rsplit('/').next().unwrap_or(name);
    if SINGLE_DASH.contains(&base) {
        return Program { known: true, clusters: false, valued: String::new(), optional: "" };
    }
    let subcommand = command.words.get(1).and_then(|word| word.fixed()).unwrap_or_default();
    let row = |name: &str| VALUED.iter().find(|(names, ..)| names.contains(&name));
    let found = row(&format!("{base} {subcommand}")).or_else(|| row(base));
    match found {
        Some((_, valued, optional)) => {
            Program { known: true, clusters: true, valued: (*valued).to_owned(), optional }
        }
        None => Program { known: false, clusters: true, valued: String::new(), optional: "" },
    }
}

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
