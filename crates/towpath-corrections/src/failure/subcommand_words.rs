//! Which words of a command name what is run: `git remote add` of `git remote add a b`.

use towpath_shell::bash::tree::Word;
use towpath_shell::bash::{self, SimpleCommand};

/// Programs whose first word is a subcommand, and the subcommands that have some of their own.
/// `*` means all of them.
const WITH_SUBCOMMANDS: &[(&[&str], &[&str])] = &[
    (&["git"], &["bisect", "bundle", "lfs", "notes", "reflog", "remote", "stash", "submodule"]),
    (&["git"], &["sparse-checkout", "worktree"]),
    (&["jj"], &["bookmark", "config", "file", "git", "op", "workspace"]),
    (&["hg", "svn", "bzr"], &[]),
    (&["docker", "podman", "nerdctl"], &["buildx", "builder", "compose", "container", "context"]),
    (&["docker", "podman", "nerdctl"], &["image", "machine", "manifest", "network", "plugin"]),
    (&["docker", "podman", "nerdctl"], &["pod", "service", "stack", "swarm", "system", "volume"]),
    (&["docker-compose"], &[]),
    (&["kubectl", "oc"], &["auth", "certificate", "config", "rollout", "set", "top"]),
    (&["helm"], &["dependency", "get", "plugin", "repo", "show"]),
    (&["gh", "glab", "aws", "az"], &["*"]),
    (&["bd", "gt"], &[]),
    (&["gcloud"], &["*"]),
    (&["terraform", "tofu"], &["providers", "state", "workspace"]),
    (&["cargo"], &["nextest"]),
    (&["rustup"], &["component", "override", "target", "toolchain"]),
    (&["go"], &["mod", "tool", "work"]),
    (&["npm", "pnpm", "yarn", "bun"], &["run"]),
    (&["deno", "npx", "nx", "vite", "ng"], &[]),
    (&["pip", "pip3", "pipx", "ruff", "pre-commit", "twine", "flask", "sqlfluff"], &[]),
    (&["poetry"], &["cache", "env", "self", "source"]),
    (&["uv"], &["pip", "python", "tool"]),
    (&["conda", "mamba"], &["env"]),
    (&["ansible-galaxy"], &["collection", "role"]),
    (&["gem", "bundle", "bundler", "composer", "rails"], &[]),
    (&["dotnet"], &["nuget", "sln", "tool"]),
    (&["apt", "apt-get", "apt-cache", "brew", "dnf", "yum", "apk", "snap", "pacman"], &[]),
    (&["systemctl", "loginctl", "hostnamectl", "timedatectl"], &[]),
    (&["openssl", "ip", "tmux", "busybox", "restic", "rclone", "caddy", "hugo"], &[]),
    (&["towpath"], &["failures", "recipes", "rules", "runs", "settings", "trust"]),
];

/// Programs that run a script of the next word.
const INTERPRETERS: &[&str] =
    &["bash", "sh", "python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "tsx"];

/// How many of a command's words name it, the program included, as the table or what the program
/// printed about its usage has it.
pub(super) fn length<'w>(words: &[Option<&'w str>], printed: &str) -> usize {
    let named = |(at, word): (usize, &Option<&'w str>)| word.filter(|w| is_name(w, at == 0));
    let names: Vec<&str> = words.iter().enumerate().map_while(named).collect();
    match names.first() {
        None => usize::from(!words.is_empty()),
        Some(_) => by_table(&names).max(by_usage(&names, printed)),
    }
}

/// The program of a line and its subcommand, as calls are recorded by them: of the first command that
/// is more than a preparation.
pub fn program_and_subcommand(line: &str) -> Option<(String, Option<String>)> {
    let script = bash::parse(line).ok()?;
    let named = || script.commands().iter().filter(|command| command.name().is_some());
    let prepares = |command: &&SimpleCommand| command.name().is_some_and(|n| PREPARE.contains(&n));
    let command = named().find(|c| !prepares(c)).or_else(|| named().next())?;
    let words: Vec<Option<&str>> = command.words.iter().map(Word::fixed).collect();
    let path: Vec<&str> = words[..length(&words, "")].iter().copied().flatten().collect();
    let (program, rest) = path.split_first()?;
    Some(((*program).to_owned(), (!rest.is_empty()).then(|| rest.join(" "))))
}

/// What is written before the command that is meant.
const PREPARE: &[&str] = &[
    "cd", "pushd", "popd", "export", "set", "source", ".", "echo", "true", ":", "sleep", "sudo",
    "env", "time", "timeout", "nohup", "nice",
];

/// A number or a path may be a program, but no subcommand.
fn is_name(word: &str, program: bool) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.:/+".contains(&b);
    let first = |b: u8| if program { b != b'-' } else { b.is_ascii_alphabetic() };
    word.bytes().all(inner) && word.bytes().next().is_some_and(first)
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn by_table(names: &[&str]) -> usize {
    if INTERPRETERS.contains(&base(names[0])) {
        return names.len().min(2);
    }
    let rows = || WITH_SUBCOMMANDS.iter().filter(|(p, _)| p.contains(&base(names[0])));
    let groups = |word: &&str| rows().any(|(_, g)| g.contains(&"*") || g.contains(word));
    match names.get(1) {
        Some(word) if rows().next().is_some() => {
            if names.len() > 2 && groups(word) {
                3
            } else {
                2
            }
        }
        _ => 1,
    }
}

/// As in `Usage: gh pr list [flags]` or `See 'kubectl get --help'`.
fn by_usage(names: &[&str], printed: &str) -> usize {
    let first = usize::from(INTERPRETERS.contains(&base(names[0])) && names.len() > 1);
    let shown = |line: &&str| {
        let lower = line.to_ascii_lowercase();
        ["usage", "help", " -h"].iter().any(|word| lower.contains(word))
    };
    let lines: Vec<&str> = printed.lines().filter(shown).collect();
    let is_shown = |end: &usize| {
        let mut written = names[first..*end].to_vec();
        written[0] = base(written[0]);
        let written = written.join(" ");
        lines.iter().any(|line| contains_words(line, &written))
    };
    (first + 1..=names.len()).rev().find(is_shown).unwrap_or(0)
}

fn contains_words(line: &str, words: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || "-_".contains(c);
    line.match_indices(words)
        .any(|(at, _)| !line[..at].ends_with(inner) && !line[at + words.len()..].starts_with(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(line: &str, printed: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let known: Vec<Option<&str>> = words.iter().copied().map(Some).collect();
        words[..length(&known, printed)].join(" ")
    }

    #[test]
    fn the_table_knows_subcommands_and_the_usage_knows_better() {
        for (line, printed, expected) in [
            ("grep --x a b", "", "grep"),
            ("grep a --x", "Usage: grep [OPTION]... PATTERNS [FILE]...", "grep"),
            ("git log --limit=3", "", "git log"),
            ("git remote add a b", "", "git remote add"),
            ("kubectl get pods --all", "See 'kubectl get --help' for usage.", "kubectl get"),
            ("gh pr list --status x", "Usage:  gh pr list [flags]", "gh pr list"),
            ("mytool a b --x", "Usage: mytool a b [OPTIONS]", "mytool a b"),
            ("python3 app.py greet --x", "Usage: app.py greet [OPTIONS]", "python3 app.py greet"),
            ("/usr/bin/git -C x log", "", "/usr/bin/git"),
        ] {
            assert_eq!(path(line, printed), expected);
        }
    }

    #[test]
    fn calls_are_recorded_by_what_they_are_about() {
        for (line, program, subcommand) in [
            ("cd shop && git remote add a b", "git", Some("remote add")),
            ("LANG=C cargo test 2>&1 | tail", "cargo", Some("test")),
            ("sudo systemctl restart nginx", "systemctl", Some("restart")),
            ("ls", "ls", None),
            ("cd shop", "cd", None),
        ] {
            let expected = (program.to_owned(), subcommand.map(str::to_owned));
            assert_eq!(program_and_subcommand(line), Some(expected), "{line}");
        }
        assert_eq!(program_and_subcommand("echo \"unterminated"), None);
    }
}
