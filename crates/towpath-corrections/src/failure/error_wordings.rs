//! How programs report something that does not exist: one row for each wording. A new argument
//! parser is a new row and a recorded sample in `tests/samples/error_texts.jsonl`.

use regex::{Regex, RegexSet};
use std::sync::LazyLock;

/// What a wording is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Tool,
    /// In the shell's own words.
    Command,
    /// In the words of a program that starts others: with exit code 127 only.
    StartedCommand,
    Subcommand,
    Flag,
}

impl Unknown {
    pub fn name(self) -> &'static str {
        match self {
            Unknown::Tool => "tool",
            Unknown::Command | Unknown::StartedCommand => "command",
            Unknown::Subcommand => "subcommand",
            Unknown::Flag => "flag",
        }
    }
}

pub(super) struct Parser {
    /// Who writes so: a library, or a program with a parser of its own.
    pub name: &'static str,
    pub unknown: Unknown,
    /// A line. `@` is what does not exist, in any quotes; `%` is the names of programs before it.
    pattern: &'static str,
}

const fn row(name: &'static str, unknown: Unknown, pattern: &'static str) -> Parser {
    Parser { name, unknown, pattern }
}

use Unknown::{Command, Flag, StartedCommand, Subcommand, Tool};

/// The first row that fits wins, so that what is more special comes first.
pub(super) const PARSERS: &[Parser] = &[
    // What each host shows its model, observed in the real programs.
    row("claude-code", Tool, r"No such tool available: @"),
    row("codex", Tool, r"unsupported call: @"),
    row("gemini", Tool, r"Tool @ not found"),
    row("copilot", Tool, r"Tool @ does not exist"),
    row(
        "opencode",
        Tool,
        r"(?:The arguments provided to the tool are invalid: )?Model tried to call unavailable tool @",
    ),
    row("bash", Command, r"%(?:line \d+: )?@: command not found$"),
    row("zsh", Command, r"\S+:\d+: command not found: @$"),
    row("dash", Command, r"\S*sh: (?:\d+: )?@: not found$"),
    row("ksh", Command, r"(?:\S*/)?ksh\d*: @: not found$"),
    row("mksh", Command, r"%@: inaccessible or not found$"),
    row("yash", Command, r"%no such command @$"),
    row("fish", Command, r"fish: Unknown command: @$"),
    row("tcsh", Command, r"@: Command not found\.$"),
    row("env", StartedCommand, r"%@: No such file or directory$"),
    row("timeout", StartedCommand, r"%failed to run command @: No such file or directory$"),
    row("busybox", Subcommand, r"@: applet not found"),
    row("git", Subcommand, r"git: @ is not a git command"),
    row("git parse-options", Subcommand, r"error: unknown subcommand: @"),
    row("cobra", Subcommand, r#"%unknown command "@" for ""#),
    row("docker", Subcommand, r"docker: unknown command: (?P<t>docker .+)$"),
    row("podman", Subcommand, r"%unrecognized command `(?P<t>[^`]+)`"),
    row("clap", Subcommand, r"error: unrecognized subcommand @"),
    row("cargo", Subcommand, r"error: no such command: @"),
    row("rustup", Subcommand, r#"error: .*"@" is not a valid subcommand"#),
    row("pnpm", Subcommand, r#"[^\w]*Command "@" not found"#),
    row("pip", Subcommand, r#"ERROR: unknown command "@""#),
    row("mercurial", Subcommand, r"hg: unknown command @"),
    row("commander", Subcommand, r"error: unknown command @"),
    row("npm", Subcommand, r#"Unknown command: "@""#),
    row("django", Subcommand, r"Unknown command: '@'"),
    row("subversion", Subcommand, r"Unknown subcommand: @"),
    row("rubygems", Subcommand, r"\s*Unknown command @$"),
    row("bundler", Subcommand, r#"Could not find command "@""#),
    row("tmux", Subcommand, r"unknown command: @"),
    row("go", Subcommand, r"go (?P<t>\S+): unknown command"),
    row("click", Subcommand, r"Error: No such command @"),
    // A wrong value of an option is worded the same, with the option's name.
    row("argparse", Subcommand, r"%argument [^-\s:]\S*: invalid choice: @"),
    row("aws", Subcommand, r"Invalid choice: @, maybe you meant"),
    row("gcloud", Subcommand, r"ERROR: \(gcloud\S*\) Invalid choice: @"),
    row("cleo", Subcommand, r"The requested command @ does not exist"),
    row("apt", Subcommand, r"E: Invalid operation @"),
    row("systemd", Subcommand, r"Unknown command verb @"),
    row("iproute2", Subcommand, r#"Object "@" is unknown"#),
    row("openssl", Subcommand, r"Invalid command @"),
    row("terraform", Subcommand, r"Terraform has no command named @"),
    row("yargs", Subcommand, r"Unknown argument: @"),
    row("getopt_long", Flag, r"%unrecognized option @"),
    row("getopt_long (short)", Flag, r"%(?:invalid|unknown) option -- @"),
    row("getopt_long (ambiguous)", Flag, r"%option @ is ambiguous"),
    row("bash", Flag, r"%@: invalid option$"),
    row("popt", Flag, r"%@: unknown option$"),
    row("git parse-options", Flag, r"error: unknown (?:option|switch) @"),
    row("git revisions", Flag, r"fatal: unrecognized argument: @"),
    row("git", Flag, r"unknown option: @"),
    row("clap", Flag, r"error: unexpected argument @ found"),
    row("clap 3", Flag, r"error: Found argument @ which wasn't expected"),
    row("pflag", Flag, r"%unknown flag: @"),
    row("pflag (short)", Flag, r"%unknown shorthand flag: @ in "),
    row("go flag", Flag, r"[│\s]*flag provided but not defined: @"),
    row("argparse", Flag, r"(?:%|\w+: \w+\| |\s+)unrecognized arguments: (?P<t>.+)$"),
    row("click", Flag, r"Error: No such option:? @"),
    row("optparse", Flag, r"%no such option: @"),
    row("python getopt", Flag, r"%option @ not recognized"),
    row("python", Flag, r"unknown option @"),
    row("aws", Flag, r"Unknown options: (?P<t>.+)$"),
    row("curl", Flag, r"curl: option @: is unknown"),
    row("findutils", Flag, r"find: unknown predicate @"),
    row("mawk", Flag, r"\S*awk: not an option: @"),
    row("gcc", Flag, r"%unrecognized command-line option @"),
    row("clang", Flag, r"%(?:unsupported option|unknown argument:?) @"),
    row("sqlite", Flag, r"%unknown option: @"),
    row("perl", Flag, r"Unrecognized switch: @"),
    row("subversion", Flag, r"%invalid option: @"),
    row("ruby optparse", Flag, r"\s+invalid option: @"),
    row("ruby", Flag, r"ruby\S*: invalid option @"),
    row("rust getopts", Flag, r"error: Unrecognized option: @"),
    row("java", Flag, r"%(?:Unable to parse command line options: )?Unrecognized option: @"),
    row("javac", Flag, r"error: invalid flag: @"),
    row("node", Flag, r"%bad option: @"),
    row("typescript", Flag, r"error TS\d+: Unknown compiler option @"),
    row("optionator", Flag, r"Invalid option @"),
    row("webpack", Flag, r"\[\S+\]\W*Error: Unknown option @"),
    row("cac", Flag, r"CACError: Unknown option @"),
    row("jest", Flag, r#"\s+Unrecognized option "@""#),
    row("yargs", Flag, r"Unknown arguments?: (?P<t>.+)$"),
    row("prettier", Flag, r"\[warn\] Ignored unknown option @"),
    row("invoke", Flag, r"No idea what @ is!"),
    row("pylint", Flag, r"%Unrecognized option found: @"),
    row("apt", Flag, r"E: Command line option @ is not understood"),
    row("dpkg", Flag, r"dpkg\S*: error: unknown option @"),
    row("iproute2", Flag, r#"Option "@" is unknown"#),
    row("procps", Flag, r"error: unknown gnu long option(?P<t>)$"),
    row("tmux", Flag, r"command \S+: unknown flag @"),
    row("gnupg", Flag, r#"(?:gpg\S*: )?invalid option "@""#),
    row("jq", Flag, r"jq: Unknown option @"),
    row("cleo", Flag, r#"The option "@" does not exist"#),
    row("php", Flag, r"Error in argument \d+, char \d+: option not found @"),
    row("vim", Flag, r#"Unknown option argument: "@""#),
];

static PATTERNS: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let sources: Vec<String> = PARSERS.iter().map(|row| expanded(row.pattern)).collect();
    let compiled = sources.iter().map(|s| Regex::new(s).expect("a test compiles every row"));
    (RegexSet::new(&sources).expect("a test compiles every row"), compiled.collect())
});

fn expanded(pattern: &str) -> String {
    let token = "[`'\"‘“]?(?P<t>[^\\s`'\"’”;,]*[^\\s`'\"’”;,.:!])[`'\"’”]?";
    let programs = r"(?:[^\s:]+(?: [a-z][\w-]*)?: )*(?:(?i:error): )?";
    let end = |pattern: &str| match pattern.strip_suffix('$') {
        Some(start) => format!(r"{start}\s*$"),
        None => pattern.to_owned(),
    };
    format!("(?m)^(?:{})", end(pattern).replace('%', programs).replace('@', token))
}

/// The rows that fit a text, in their order, with what each names.
pub(super) fn found(text: &str) -> impl Iterator<Item = (&'static Parser, &str)> {
    let (set, compiled) = &*PATTERNS;
    set.matches(text).into_iter().flat_map(move |at| {
        let named = compiled[at].captures_iter(text).filter_map(|c| c.name("t"));
        named.map(move |name| (&PARSERS[at], name.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_compiles() {
        for parser in PARSERS {
            let pattern = expanded(parser.pattern);
            assert!(Regex::new(&pattern).is_ok(), "{}: {pattern}", parser.name);
        }
    }

    #[test]
    fn what_does_not_exist_is_named_without_its_quotes() {
        let named = |text: &'static str| found(text).next().map(|(row, name)| (row.name, name));
        let row = "error: unexpected argument '--relase' found";
        assert_eq!(named(row), Some(("clap", "--relase")));
        assert_eq!(named("bash: line 1: gti: command not found"), Some(("bash", "gti")));
        assert_eq!(named("test a ... FAILED"), None);
    }
}
