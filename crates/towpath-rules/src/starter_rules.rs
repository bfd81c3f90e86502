//! Rules to begin with: mistakes that agents really make on Linux. None is active until a user chooses
//! it, for some are wrong on some machines. Each has lines that show what it does and what it leaves
//! alone; a test tries all of them.

use crate::check_new_rule::NewRule;
use crate::rule::RuleKind;
use crate::tool_call::DEFAULT_HOST;

/// A rule that a user may choose.
#[derive(Debug, Clone, Copy)]
pub struct StarterRule {
    /// What it is chosen by.
    pub name: &'static str,
    kind: StarterKind,
    /// The same mistake in other spellings, each a rule of its own.
    near: &'static [StarterKind],
    /// Written for the agent.
    pub message: &'static str,
    /// Lines that the rules change, before and after; of a rule that refuses, before only.
    pub changed: &'static [(&'static str, &'static str)],
    /// Lines that look alike and must stay.
    pub unchanged: &'static [&'static str],
}

#[derive(Debug, Clone, Copy)]
enum StarterKind {
    ToolName(&'static str, &'static str),
    Command(&'static str, &'static str),
    /// The command, the option and what it becomes.
    Flag(&'static str, &'static str, &'static str),
    Refuse(&'static str),
}

impl StarterRule {
    /// The rule and those for near spellings, which can be created as they are.
    pub fn rules(&self) -> Vec<NewRule> {
        let message = || Some(self.message.to_owned());
        let rule = |kind: &StarterKind| NewRule {
            kind: kind.rule_kind(),
            message: message(),
            directory: None,
        };
        std::iter::once(&self.kind).chain(self.near).map(rule).collect()
    }
}

impl StarterKind {
    fn rule_kind(self) -> RuleKind {
        match self {
            StarterKind::ToolName(from, to) => RuleKind::ToolName {
                from: from.to_owned(),
                to: to.to_owned(),
                host: DEFAULT_HOST.to_owned(),
            },
            StarterKind::Command(from, to) => {
                RuleKind::Command { from: from.to_owned(), to: to.to_owned() }
            }
            StarterKind::Flag(command, from, to) => RuleKind::Flag {
                command: command.to_owned(),
                from: from.to_owned(),
                to: to.to_owned(),
                valued: String::new(),
            },
            StarterKind::Refuse(from) => {
                RuleKind::Refuse { from: from.to_owned(), option: String::new() }
            }
        }
    }
}

use StarterKind::{Command, Flag, Refuse, ToolName};

/// The set, in the order in which it is shown.
pub const STARTER: &[StarterRule] = &[
    StarterRule {
        name: "rg-rn",
        kind: Command("rg -rn", "rg -n"),
        near: &[Command("rg -rni", "rg -ni"), Command("rg -rin", "rg -in")],
        message: "rg searches directories by itself; -r n would replace every match by n",
        changed: &[
            ("rg -rn TODO src | head", "rg -n TODO src | head"),
            ("rg -rni todo", "rg -ni todo"),
            ("rg -rin todo src", "rg -in todo src"),
        ],
        unchanged: &["rg -n TODO", "rg TODO -r n", "grep -rn TODO src", "echo 'rg -rn x'"],
    },
    StarterRule {
        name: "rg-rl",
        kind: Command("rg -rl", "rg -l"),
        near: &[Command("rg -rli", "rg -li"), Command("rg -ril", "rg -il")],
        message: "rg searches directories by itself; -r l would replace every match by l",
        changed: &[("cd a && rg -rl TODO", "cd a && rg -l TODO"), ("rg -rli todo", "rg -li todo")],
        unchanged: &["rg -l TODO", "grep -rl TODO ."],
    },
    StarterRule {
        name: "sed-i",
        kind: Command("sed -i ''", "sed -i"),
        near: &[Command("sed -E -i ''", "sed -E -i")],
        message: "GNU sed takes no suffix after -i: '' would be read as the script",
        changed: &[
            ("sed -i '' 's/a/b/' f", "sed -i  's/a/b/' f"),
            ("sed -i \"\" -e 's/a/b/' f", "sed -i  -e 's/a/b/' f"),
            ("sed -E -i '' 's/a/b/' f", "sed -E -i  's/a/b/' f"),
        ],
        unchanged: &["sed -i 's/a/b/' f", "sed -i.bak '' f", "sed 's/a//' f"],
    },
    StarterRule {
        name: "git-diff-no-pager",
        kind: Flag("git diff", "--no-pager", ""),
        near: &[],
        message: "--no-pager is an option of git itself, and no pager runs without a terminal",
        changed: &[("git diff --no-pager --stat", "git diff --stat")],
        unchanged: &["git --no-pager diff", "git diff -- --no-pager", "git diff --no-patch"],
    },
    StarterRule {
        name: "git-log-no-pager",
        kind: Flag("git log", "--no-pager", ""),
        near: &[],
        message: "--no-pager is an option of git itself, and no pager runs without a terminal",
        changed: &[("git log --no-pager -3", "git log -3")],
        unchanged: &["git --no-pager log -3", "git log -n 3"],
    },
    StarterRule {
        name: "git-show-no-pager",
        kind: Flag("git show", "--no-pager", ""),
        near: &[],
        message: "--no-pager is an option of git itself, and no pager runs without a terminal",
        changed: &[("git show --no-pager HEAD", "git show HEAD")],
        unchanged: &["git --no-pager show HEAD"],
    },
    StarterRule {
        name: "git-status-no-pager",
        kind: Flag("git status", "--no-pager", ""),
        near: &[
            Flag("git branch", "--no-pager", ""),
            Flag("git blame", "--no-pager", ""),
            Flag("git tag", "--no-pager", ""),
        ],
        message: "--no-pager is an option of git itself, and no pager runs without a terminal",
        changed: &[
            ("git status --no-pager -s", "git status -s"),
            ("git branch --no-pager -a", "git branch -a"),
        ],
        unchanged: &["git --no-pager branch -a", "git branch -a"],
    },
    StarterRule {
        name: "git-commit-hooks",
        kind: Flag("git commit", "--no-verify", ""),
        near: &[Flag("git commit", "-n", "")],
        message: "the repository's hooks run before every commit: fix what they report",
        changed: &[
            ("git commit --no-verify -m 'x'", "git commit -m 'x'"),
            ("git commit -n -m x", "git commit -m x"),
            ("git commit -anm x", "git commit -am x"),
        ],
        unchanged: &["git commit -m '--no-verify'", "git commit -m x", "git push --no-verify"],
    },
    StarterRule {
        name: "git-push-lease",
        kind: Flag("git push", "--force", "--force-with-lease"),
        near: &[Flag("git push", "-f", "--force-with-lease")],
        message: "a forced push must not overwrite what others have pushed meanwhile",
        changed: &[
            ("git push --force origin x", "git push --force-with-lease origin x"),
            ("git push -f", "git push --force-with-lease"),
        ],
        unchanged: &["git push --force-with-lease", "git push origin x", "git fetch --force"],
    },
    StarterRule {
        name: "git-rebase-editor",
        kind: Refuse("git rebase -i"),
        near: &[Refuse("git rebase --interactive")],
        message: "`git rebase -i` opens an editor, and there is no terminal: use `git rebase \
                  --onto`, `git commit --fixup` with `git -c sequence.editor=true rebase \
                  --autosquash`, or `git reset --soft`",
        changed: &[("git rebase -i HEAD~3", ""), ("git rebase --interactive HEAD~3", "")],
        unchanged: &["git rebase main", "git rebase --continue", "git log --grep 'rebase -i'"],
    },
    StarterRule {
        name: "git-add-patch",
        kind: Refuse("git add -p"),
        near: &[Refuse("git add --patch"), Refuse("git add -i"), Refuse("git add --interactive")],
        message: "`git add -p` asks questions, and there is no terminal: name the files, or use \
                  `git apply --cached` with a patch",
        changed: &[
            ("git add -p src && git commit -m x", ""),
            ("git add --patch", ""),
            ("git add -i", ""),
        ],
        unchanged: &["git add .", "git add path"],
    },
    StarterRule {
        name: "docker-compose",
        kind: Command("docker-compose", "docker compose"),
        near: &[],
        message: "docker-compose is now a subcommand of docker",
        changed: &[("docker-compose up -d", "docker compose up -d")],
        unchanged: &["docker compose up", "cat docker-compose.yml", "ls docker-compose"],
    },
    StarterRule {
        name: "docker-exec-it",
        kind: Command("docker exec -it", "docker exec -i"),
        near: &[
            Command("docker exec -ti", "docker exec -i"),
            Command("docker exec -i -t", "docker exec -i"),
        ],
        message: "there is no terminal: -t fails with \"the input device is not a TTY\"",
        changed: &[
            ("docker exec -it db psql -c 'select 1'", "docker exec -i db psql -c 'select 1'"),
            ("docker exec -ti db ls", "docker exec -i db ls"),
            ("docker exec -i -t db ls", "docker exec -i  db ls"),
        ],
        unchanged: &["docker exec db ls -t", "docker exec -i db ls -it"],
    },
    StarterRule {
        name: "docker-run-it",
        kind: Command("docker run -it", "docker run -i"),
        near: &[
            Command("docker run -ti", "docker run -i"),
            Command("docker run --rm -it", "docker run --rm -i"),
            Command("docker run --rm -ti", "docker run --rm -i"),
        ],
        message: "there is no terminal: -t fails with \"the input device is not a TTY\"",
        changed: &[
            ("docker run -it --rm alpine ls", "docker run -i --rm alpine ls"),
            ("docker run -ti alpine ls", "docker run -i alpine ls"),
            ("docker run --rm -it alpine ls", "docker run --rm -i alpine ls"),
            ("docker run --rm -ti alpine ls", "docker run --rm -i alpine ls"),
        ],
        unchanged: &["docker run --rm alpine ls -it"],
    },
    StarterRule {
        name: "python3",
        kind: Command("python", "python3"),
        near: &[],
        message: "this machine has python3 and no python",
        changed: &[("cd a; python -m pytest -q", "cd a; python3 -m pytest -q")],
        unchanged: &["python3 x.py", "which python", ".venv/bin/python x.py", "ls python"],
    },
    StarterRule {
        name: "sudo-pip",
        kind: Refuse("sudo pip install"),
        near: &[
            Refuse("sudo pip3 install"),
            Refuse("sudo -H pip install"),
            Refuse("sudo -H pip3 install"),
            Refuse("sudo python3 -m pip install"),
        ],
        message: "the system's Python belongs to the system: make an environment with `python3 -m \
                  venv .venv` and install with `.venv/bin/pip install`",
        changed: &[
            ("sudo pip install requests", ""),
            ("sudo pip3 install requests", ""),
            ("sudo -H pip3 install requests", ""),
            ("sudo python3 -m pip install x", ""),
        ],
        unchanged: &[
            "pip install requests",
            ".venv/bin/pip install requests",
            "sudo apt-get update",
        ],
    },
    StarterRule {
        name: "brew",
        kind: Refuse("brew install"),
        near: &[Refuse("brew upgrade"), Refuse("brew update"), Refuse("brew tap")],
        message: "there is no Homebrew on this machine: use the package manager of the distribution",
        changed: &[("brew install jq", ""), ("brew update && brew upgrade", "")],
        unchanged: &["apt-get install -y jq", "command -v brew"],
    },
    StarterRule {
        name: "fdfind",
        kind: Command("fd", "fdfind"),
        near: &[],
        message: "Debian and Ubuntu install fd as fdfind",
        changed: &[("fd -e rs | wc -l", "fdfind -e rs | wc -l")],
        unchanged: &["fdfind x", "ls fd", "fdisk -l"],
    },
    StarterRule {
        name: "base64-decode",
        kind: Flag("base64", "-D", "-d"),
        near: &[],
        message: "GNU base64 decodes with -d",
        changed: &[("echo aGk= | base64 -D", "echo aGk= | base64 -d")],
        unchanged: &["base64 -d f", "base64 -w0 f", "echo 'base64 -D'"],
    },
    StarterRule {
        name: "stat-size",
        kind: Command("stat -f %z", "stat -c %s"),
        near: &[Command("stat -f%z", "stat -c %s")],
        message: "GNU stat prints the size with -c %s; -f is about file systems",
        changed: &[
            ("size=$(stat -f %z f)", "size=$(stat -c %s f)"),
            ("stat -f%z f", "stat -c %s f"),
            ("stat -f '%z' f", "stat -c %s f"),
        ],
        unchanged: &["stat -f /", "stat -c %s f"],
    },
    StarterRule {
        name: "nproc",
        kind: Command("sysctl -n hw.ncpu", "nproc"),
        near: &[
            Command("sysctl -n hw.logicalcpu", "nproc"),
            Command("sysctl -n hw.physicalcpu", "nproc"),
        ],
        message: "Linux counts processors with nproc",
        changed: &[
            ("make -j$(sysctl -n hw.ncpu)", "make -j$(nproc)"),
            ("sysctl -n hw.logicalcpu", "nproc"),
        ],
        unchanged: &["sysctl -n vm.swappiness", "nproc"],
    },
    StarterRule {
        name: "ss",
        kind: Command("netstat -tulpn", "ss -tulpn"),
        near: &[
            Command("netstat -tulnp", "ss -tulnp"),
            Command("netstat -tlnp", "ss -tlnp"),
            Command("netstat -tnlp", "ss -tnlp"),
            Command("netstat -tuln", "ss -tuln"),
            Command("netstat -tln", "ss -tln"),
        ],
        message: "netstat is not installed by default any more; ss has the same options here",
        changed: &[
            ("netstat -tulpn | grep :8080", "ss -tulpn | grep :8080"),
            ("netstat -tlnp", "ss -tlnp"),
            ("sudo netstat -tulnp", "sudo ss -tulnp"),
        ],
        unchanged: &["netstat -r", "ss -tulpn"],
    },
    StarterRule {
        name: "egrep",
        kind: Command("egrep", "grep -E"),
        near: &[Command("fgrep", "grep -F")],
        message: "egrep and fgrep are obsolescent and print a warning",
        changed: &[
            ("ls | egrep -v 'a|b'", "ls | grep -E -v 'a|b'"),
            ("fgrep a.b f", "grep -F a.b f"),
        ],
        unchanged: &["grep -E 'a|b'", "echo egrep"],
    },
    StarterRule {
        name: "read-file",
        kind: ToolName("read_file", "Read"),
        near: &[
            ToolName("ReadFile", "Read"),
            ToolName("readFile", "Read"),
            ToolName("read", "Read"),
        ],
        message: "The tool is called Read, with the parameter file_path",
        changed: &[("read_file", "Read"), ("ReadFile", "Read"), ("read", "Read")],
        unchanged: &["Read", "Read_file"],
    },
    StarterRule {
        name: "write-file",
        kind: ToolName("write_file", "Write"),
        near: &[
            ToolName("WriteFile", "Write"),
            ToolName("writeFile", "Write"),
            ToolName("write", "Write"),
            ToolName("create_file", "Write"),
        ],
        message: "The tool is called Write, with the parameters file_path and content",
        changed: &[("write_file", "Write"), ("create_file", "Write")],
        unchanged: &["Write"],
    },
    StarterRule {
        name: "edit-file",
        kind: ToolName("edit_file", "Edit"),
        near: &[
            ToolName("EditFile", "Edit"),
            ToolName("editFile", "Edit"),
            ToolName("edit", "Edit"),
            ToolName("str_replace", "Edit"),
        ],
        message: "The tool is called Edit, with the parameters file_path, old_string and new_string",
        changed: &[("edit_file", "Edit"), ("str_replace", "Edit")],
        unchanged: &["Edit"],
    },
    StarterRule {
        name: "run-command",
        kind: ToolName("run_command", "Bash"),
        near: &[
            ToolName("execute_command", "Bash"),
            ToolName("run_shell_command", "Bash"),
            ToolName("run_terminal_cmd", "Bash"),
            ToolName("bash", "Bash"),
            ToolName("shell", "Bash"),
        ],
        message: "The tool is called Bash, with the parameter command",
        changed: &[("run_command", "Bash"), ("bash", "Bash"), ("run_shell_command", "Bash")],
        unchanged: &["Bash"],
    },
];
