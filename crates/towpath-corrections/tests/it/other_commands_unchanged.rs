//! Generated lines and rules, run by the real bash with programs that only record their arguments:
//! every command that no rule names gets the same arguments before and after.

use crate::seeded_random::Dice;
use crate::support::*;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use towpath_corrections::{Correction, RuleIndex, RuleKind, correct};
use towpath_shell::bash;

/// Lines in a normal run; `TOWPATH_LINES` asks for more.
const LINES: u64 = 3_000;
/// Lines that one bash runs, each in a subshell.
const BATCH: usize = 500;

/// Programs that no rule names.
const FREE: &[&str] = &["foo", "bar", "ls", "date"];
/// Programs that rules name or write.
const NAMED: &[&str] = &["grep", "rg", "scp", "node", "bun", "gt", "bd", "old", "new"];

const WORDS: &[&str] = &[
    "a",
    "b",
    "-r",
    "-rP",
    "-q",
    "--",
    "--flat",
    "--help",
    "-n",
    "--timeout",
    "30",
    "host:/x",
    "'a b'",
    "\"a b\"",
    "c\\ d",
    "a\\;foo",
    "\"$x\"",
    "$x",
    "\"$id\"",
    "$id",
    "\"${id}\"z",
    "*.c",
    "{p,q}",
    "~",
    "$'i\\'s'",
    "'x; foo y'",
    "\"$(foo 1)\"",
    "$(ls 2)",
    "`bar 3`",
    "$((1 + 2))",
    "'gt x'",
    "nodex",
    "\"it's\"",
    "''",
    "a#b",
    "\"\\$x\"",
    "${y:-w}",
    "\"a\\\"b\"",
    "é",
    "$@",
    "\"${z:=9}\"",
    "[a]",
    "=",
    "x=1",
    "'-r'",
    "\\*",
    "\"`date 4`\"",
    "\"n $(grep m) o\"",
];

struct Generator(Dice);

impl Generator {
    fn words(&mut self) -> String {
        let count = self.0.below(4);
        (0..count).fold(String::new(), |text, _| format!("{text} {}", self.0.pick(WORDS)))
    }

    fn simple(&mut self) -> String {
        let starts = [
            "foo",
            "bar",
            "ls",
            "foo",
            "grep",
            "grep -e",
            "scp",
            "scp -P 22",
            "node",
            "gt x",
            "gt x",
            "gt wait",
            "bd list",
            "bd list --wisp",
            "old sub",
            "command grep",
            "env A=1 gt x",
            "A=\"$id\" foo",
            "A=1 gt mail",
            "gt mail",
            "gt cat",
            "gt leave",
            "gt loop",
            "gt here",
            "gt quoted",
            "gt if",
            "bash -c 'foo 1; grep q'",
            "gt  x",
            "gt \\\n x",
            "\\grep",
            "'gt' x",
            "time gt x",
            "time -p gt wait",
            "eval 'foo 1; grep q'",
            "bash <<< 'foo 1; grep q'",
        ];
        let start = self.0.pick(&starts);
        let mut text = format!("{start}{}", self.words());
        if self.0.below(8) == 0 {
            text.push_str(self.0.pick(&[" >f", " 2>&1", " >f 2>&1", " <a.c", ">f"]));
        }
        text
    }

    fn statement(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple();
        }
        let deeper = depth - 1;
        match self.0.below(19) {
            0 => format!("{} && {}", self.statement(deeper), self.statement(deeper)),
            1 => format!("{} || {}", self.simple(), self.statement(deeper)),
            2 => format!("{} | {}", self.simple(), self.simple()),
            3 => format!("! {}", self.simple()),
            4 => format!("{{ {}; }}", self.statement(deeper)),
            5 => format!("( {} )", self.statement(deeper)),
            6 => {
                let (a, b, c) = (self.simple(), self.statement(deeper), self.statement(deeper));
                format!("if {a}; then {b}; else {c}; fi")
            }
            7 => format!("for v in 1 2; do {}; done", self.statement(deeper)),
            8 => format!("case a in a) {};; *) {};; esac", self.simple(), self.simple()),
            9 => format!("{} &", self.simple()),
            10 => format!("f() {{ {}; }}; f 1 2", self.statement(deeper)),
            11 => format!("foo \"$({})\"", self.statement(deeper)),
            12 => format!("cat <({}) >f", self.simple()),
            13 => format!("cat <<E >f\n$({}) gt x\nE", self.simple()),
            14 => format!("cat <<'E' >f\n{}\nE", self.simple()),
            15 => format!("id={}; foo \"$id\"", self.0.below(5)),
            16 => format!("{} # gt x; grep", self.simple()),
            17 => format!("foo `{}`", self.simple()),
            _ => self.simple(),
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::from("x='1 2' id=7 y=");
        for _ in 0..1 + self.0.below(3) {
            line.push_str(if line.ends_with('&') { " " } else { self.0.pick(&["; ", "\n"]) });
            if line.trim_end().ends_with("&;") {
                line.truncate(line.trim_end().len() - 1);
                line.push(' ');
            }
            let depth = self.0.below(3);
            line.push_str(&self.statement(depth));
        }
        // A comment or a document must not take the rest of the line.
        line.replace("E; ", "E\n").replace("grep; ", "grep\n")
    }

    fn rules(&mut self) -> Vec<RuleKind> {
        let all = [
            command("grep", "rg"),
            command("grep", "rg --glob '!x'"),
            command("old sub", "new"),
            flag("scp", "r", "R"),
            flag("scp", "q", ""),
            flag("scp", "r", "recursive"),
            literal("scp", "host:", "new host:"),
            literal("grep", "a", "b'c"),
            literal("gt x", "a", "$id"),
            regex(r"\bnode\b", "bun"),
            recipe("gt x", "gt y {{.Args}}"),
            recipe("gt x", "id={{.Arg 1}}; gt y \"$id\""),
            recipe("gt x", "gt y \"{{.Arg 1}}\"; gt z"),
            recipe("gt wait", "gt a; exit 0"),
            recipe("gt wait", "for i in {{.Args}}; do gt w \"$i\"; done"),
            recipe("bd list --wisp", "bd ls | bd grep '{{.Raw}}'"),
            recipe("bd list", "bd list --flat {{.Args}}"),
            recipe("gt mail", "gt inbox pre{{.Arg 1}}post # gone"),
            recipe("gt cat", "gt b <<E\n{{.Arg 1}} $x\nE"),
            recipe("gt leave", "cd /; gt y {{.Args}}"),
            recipe("gt loop", "while gt t; do gt u \"{{.Args}}\"; break; done"),
            recipe("gt here", "gt b '{{.Arg 1}}' && gt c {{.Arg 2}}"),
            recipe("gt quoted", "gt b \"<{{.Args}}>\" {{.Matched}} '{{.Full}}'"),
            recipe("gt if", "gt b{{if .Args}} {{.Args}}{{else}} none{{end}} &"),
        ];
        let count = 1 + self.0.below(8);
        (0..count).map(|_| all[self.0.below(all.len())].clone()).collect()
    }
}

/// A line, the line afterwards.
struct Pair {
    seed: u64,
    before: String,
    after: String,
}

/// Runs each text in a subshell and returns what its programs were called with, sorted.
fn run(directory: &Path, texts: &[&str]) -> Vec<Vec<String>> {
    let mut script = String::from("set --\n");
    for name in FREE.iter().chain(NAMED) {
        let prints = if FREE.contains(name) { "echo k" } else { ":" };
        let _ = writeln!(
            script,
            "{name}() {{ local l; printf -v l '<%q>' {name} \"$@\"; printf '%s\\n' \"$l\" >>\"$LOG\"; {prints}; }}"
        );
    }
    for (at, text) in texts.iter().enumerate() {
        let path = directory.join(format!("line{at}"));
        std::fs::write(path, text).unwrap();
        let _ = writeln!(
            script,
            "( export LOG=\"$PWD/../log{at}\"; eval \"$(</proc/self/cwd/../line{at})\"; wait ) </dev/null >/dev/null 2>&1"
        );
    }
    let work = directory.join("work");
    let ended = Command::new("/bin/bash")
        .arg("-c")
        .arg(script)
        .current_dir(&work)
        .env_clear()
        .env("PATH", directory.join("bin"))
        .env("HOME", "/h")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    let read = |at: usize| {
        let path = directory.join(format!("log{at}"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        let named = |call: &&str| NAMED.iter().any(|name| call.starts_with(&format!("<{name}>")));
        let mut calls: Vec<String> =
            text.split_inclusive(">\n").filter(|call| !named(call)).map(str::to_owned).collect();
        calls.sort();
        calls
    };
    (0..texts.len()).map(read).collect()
}

/// Programs for what bash does not start as a function.
fn programs(directory: &Path) {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let bin = directory.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(directory.join("work")).unwrap();
    for file in ["a.c", "b.c"] {
        std::fs::write(directory.join("work").join(file), "").unwrap();
    }
    for name in FREE.iter().chain(NAMED) {
        let path = bin.join(name);
        let text = format!(
            "#!/bin/bash\nprintf -v l '<%q>' {name} \"$@\"; printf '%s\\n' \"$l\" >>\"$LOG\"; {}\n",
            if FREE.contains(name) { "echo k" } else { ":" }
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for real in ["env", "cat", "bash"] {
        symlink(format!("/usr/bin/{real}"), bin.join(real)).unwrap();
    }
}

#[test]
fn commands_that_no_rule_names_run_as_before() {
    let lines = std::env::var("TOWPATH_LINES").ok().and_then(|n| n.parse().ok()).unwrap_or(LINES);
    let mut pairs = Vec::new();
    for seed in 0..lines {
        let mut generator = Generator(Dice(seed));
        let line = generator.line();
        let rules = RuleIndex::new(numbered(&generator.rules()));
        if let Correction::Rewritten(rewrite) = correct(&bash_call(&line), &rules) {
            check_edits(&rewrite.before, &rewrite.after, &rewrite.edits);
            assert!(bash::parse(&rewrite.after).is_ok(), "{}", rewrite.after);
            pairs.push(Pair { seed, before: line, after: rewrite.after });
        }
    }
    assert!(pairs.len() as u64 > lines / 5, "only {} of {lines} were corrected", pairs.len());
    let directory = tempfile::tempdir().unwrap();
    programs(directory.path());
    let mut recorded = 0;
    for batch in pairs.chunks(BATCH) {
        let before: Vec<&str> = batch.iter().map(|pair| pair.before.as_str()).collect();
        let after: Vec<&str> = batch.iter().map(|pair| pair.after.as_str()).collect();
        let (before, after) = (run(directory.path(), &before), run(directory.path(), &after));
        for ((pair, before), after) in batch.iter().zip(before).zip(after) {
            recorded += before.len();
            assert_eq!(
                before, after,
                "seed {}\n{}\n--- became\n{}",
                pair.seed, pair.before, pair.after
            );
        }
    }
    assert!(recorded > pairs.len() / 2, "only {recorded} calls were recorded");
}
