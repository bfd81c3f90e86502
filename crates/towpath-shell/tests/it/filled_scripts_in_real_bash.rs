//! Random scripts against the real bash. With a harmless value, what is filled prints what plain bash
//! prints with the value pasted in. With a hostile value, a canary file never appears.

#![allow(clippy::print_stdout, reason = "the share of accepted scripts is meant to be read")]

#[allow(dead_code)]
pub mod random_scripts;

use crate::seeded_random::Dice;
use random_scripts::Generator;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use towpath_shell::{Filled, PlaceholderKind, ShellText};

const SCRIPTS: u64 = 20_000;
/// Scripts that one bash runs, each in a subshell of its own.
const BATCH: u64 = 200;

const HARMLESS: &[&str] = &["q", "7", "ab.c", "x-y", "é_"];

const HOSTILE: &[&str] = &[
    "a[$(touch $D/PWN)]",
    "$(touch $D/PWN)",
    "`touch $D/PWN`",
    "';touch $D/PWN;'",
    "\";touch $D/PWN;\"",
    "x; touch $D/PWN; #",
    ")\ntouch $D/PWN\n(",
    "}; touch $D/PWN; {",
    "\nE\ntouch $D/PWN\ncat <<E\n",
    "\nB\ntouch $D/PWN\n\ta b\ntouch $D/PWN\n",
    "]]; touch $D/PWN; [[ x",
    "($(touch $D/PWN))",
    "x\\",
    "\\'; touch $D/PWN #",
    "-n",
    "*",
    "{{x}}",
    "{a,b}$(touch $D/PWN)",
    "x]=1 $(touch $D/PWN) a[0",
    "${x:=$(touch $D/PWN)}",
    ">(touch $D/PWN)",
    "<(touch $D/PWN)",
    "'\"`$(touch $D/PWN)`\"'",
    "\u{e000}$(touch $D/PWN)",
];

/// Most scripts print with `cat`. As a function it costs no process.
const CAT: &str = r#"cat() {
  if (($#)); then command cat "$@"; return; fi
  local line
  while IFS= read -r line; do printf '%s\n' "$line"; done
  printf %s "$line"
}
"#;

/// One script in the three forms that run.
struct Trial {
    seed: u64,
    text: String,
    pasted: String,
    ours: Filled,
    hostile: Option<Filled>,
}

fn trial(seed: u64) -> Option<Trial> {
    let mut generator = Generator { dice: Dice(seed) };
    let text = generator.script();
    let harmless = generator.pick(HARMLESS);
    let any = generator.pick(HOSTILE);
    // Only such a value can run in a subscript.
    let hostile = if text.contains("[{{v}}]") { HOSTILE[0] } else { any };
    let parsed = ShellText::parse(&text).ok()?;
    let counts = |name: &str| {
        parsed
            .placeholders()
            .iter()
            .any(|p| p.path.as_str() == name && p.kind == PlaceholderKind::Integer)
    };
    let harmless = if counts("v") { "7" } else { harmless };
    let value = |path: &str, v: &str| if path == "n" { "7".to_owned() } else { v.to_owned() };
    let fill = |v: &str| parsed.fill(&mut |path| Some(value(path.as_str(), v)));
    let mut pasted = String::new();
    let mut at = 0;
    for placeholder in parsed.placeholders() {
        pasted.push_str(&text[at..placeholder.range.start]);
        pasted.push_str(&value(placeholder.path.as_str(), harmless));
        at = placeholder.range.end;
    }
    pasted.push_str(&text[at..]);
    let ours = fill(harmless).expect("a number fits where bash calculates");
    // Where bash calculates, a hostile value is an error before bash starts.
    Some(Trial { seed, pasted, ours, hostile: fill(hostile).ok(), text })
}

/// Writes the three forms, and the lines that run them.
fn prepare(trial: &Trial, at: &Path, driver: &mut String) {
    let number = trial.seed;
    let plain = Filled::plain(trial.pasted.clone());
    let forms = [("p", Some(&plain)), ("o", Some(&trial.ours)), ("h", trial.hostile.as_ref())];
    for (form, filled) in forms {
        let Some(filled) = filled else { continue };
        let name = format!("{form}{number}");
        std::fs::create_dir(at.join(&name)).unwrap();
        std::fs::write(at.join(format!("{name}.sh")), filled.command(&format!("../{name}.v")))
            .unwrap();
        std::fs::write(at.join(format!("{name}.v")), filled.values_bytes()).unwrap();
        let _ = writeln!(
            driver,
            "( cd {name} && D=. && . ../{name}.sh ) >{name}.out 2>{name}.err </dev/null; echo $? >>{name}.out"
        );
    }
}

/// How many scripts of a batch were accepted.
fn batch(first: u64) -> usize {
    let at = tempfile::tempdir().unwrap();
    let trials: Vec<Trial> = (first..first + BATCH).filter_map(trial).collect();
    let mut driver = CAT.to_owned();
    for trial in &trials {
        prepare(trial, at.path(), &mut driver);
    }
    std::fs::write(at.path().join("driver"), driver).unwrap();
    // A script that waits for ever would be a fault of the generator.
    let ran = Command::new("timeout")
        .args(["600", "/bin/bash", "driver"])
        .current_dir(at.path())
        .env_clear()
        .envs([("HOME", "/h"), ("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_ne!(ran.code(), Some(124), "scripts from seed {first} do not end");
    for trial in &trials {
        check(trial, at.path());
    }
    trials.len()
}

fn check(trial: &Trial, at: &Path) {
    let Trial { seed, text, .. } = trial;
    let printed = |form: &str| {
        let out = std::fs::read(at.join(format!("{form}{seed}.out"))).unwrap();
        String::from_utf8_lossy(&out).into_owned()
    };
    let errors = |form: &str| {
        std::fs::read_to_string(at.join(format!("{form}{seed}.err"))).unwrap_or_default()
    };
    assert_eq!(
        printed("o"),
        printed("p"),
        "seed {seed}\n{text}\n--- became\n{}\n--- errors\n{}",
        trial.ours.script,
        errors("o")
    );
    if let Some(hostile) = &trial.hostile {
        let canary = at.join(format!("h{seed}")).join("PWN").exists();
        assert!(
            !canary,
            "seed {seed}: {:?} ran\n{text}\n--- became\n{}",
            hostile.values, hostile.script
        );
    }
}

/// Tests that share the scripts, so that each is done in minutes on a busy machine.
const PARTS: u64 = 10;

fn filled_scripts_do_what_pasted_ones_do_and_no_value_runs(part: u64) {
    let scripts = std::env::var("TOWPATH_SCRIPTS").ok().and_then(|n| n.parse().ok());
    let batches = scripts.unwrap_or(SCRIPTS).div_ceil(BATCH * PARTS);
    let first = part * batches;
    let accepted: usize = (first..first + batches).map(|number| batch(number * BATCH)).sum();
    let made = (batches * BATCH) as usize;
    println!("{accepted} of {made} scripts were accepted");
    assert!(accepted * 10 >= made * 7, "only {accepted} of {made} scripts were accepted");
}

macro_rules! parts {
    ($($name:ident: $part:literal),*) => {
        $(
            #[test]
            fn $name() {
                filled_scripts_do_what_pasted_ones_do_and_no_value_runs($part);
            }
        )*
    };
}

parts! {
    part_0: 0, part_1: 1, part_2: 2, part_3: 3, part_4: 4,
    part_5: 5, part_6: 6, part_7: 7, part_8: 8, part_9: 9
}
