//! Random text and random shell tokens: parsing never panics, what it accepts stays valid bash once
//! filled, and no value runs, however the tokens fall.

#[allow(dead_code)]
use crate::seeded_random::Dice;
use proptest::prelude::*;
use std::process::{Command, Stdio};
use towpath_shell::{Filled, PlaceholderKind, ShellText};

const TOKENS: &[&str] = &[
    "{{v}}",
    "{{v}}",
    "{{v}}",
    "{{ w }}",
    "\"{{v}}\"",
    "'{{v}}'",
    "\\{{v}}",
    "${{v}}",
    "echo",
    "printf %s",
    ":",
    "true",
    "x",
    "a b",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "!",
    "(",
    ")",
    "{",
    "}",
    "((",
    "))",
    "$(",
    "`",
    "\\`",
    "$((",
    "$[",
    "]",
    "[",
    "[[",
    "]]",
    "==",
    "=~",
    "-eq",
    "-n",
    "${u:-",
    "\"${u:-",
    "${s#",
    "${s/X/",
    "/",
    "${s:",
    "${a[",
    "}",
    "}\"",
    "\"",
    "'",
    "$'",
    "$\"",
    "\\",
    "\\\n",
    "$x",
    "$",
    "x=",
    "a=(",
    "a[",
    "]=",
    "declare x=",
    "export y=",
    "declare -A m;",
    "-A",
    "-a",
    "-i",
    "m",
    "f()",
    "if",
    "then",
    "else",
    "fi",
    "for i in",
    "do",
    "done",
    "while",
    "case x in",
    "x)",
    ";;",
    "esac",
    "<<EOF\n",
    "<<'EOF'\n",
    "<<-EOF\n",
    "\nEOF\n",
    "<<<",
    ">f",
    "2>f",
    "<(",
    "#",
    "*",
    "?",
    "@(",
    "{a,",
    "{1..",
    "~",
    "+",
    "-",
    "1",
    "time",
    "coproc",
    "select i in",
    "function f",
];

fn soup(seed: u64) -> String {
    let mut dice = Dice(seed);
    let count = 2 + dice.below(14);
    let mut text = String::new();
    for _ in 0..count {
        text.push_str(TOKENS[dice.below(TOKENS.len())]);
        text.push_str(["", " "][dice.below(2)]);
    }
    text
}

/// Random tokens are rarely bash: a frame that closes what is opened makes them so more often.
pub fn framed(seed: u64) -> String {
    let mut dice = Dice(seed ^ 0x5eed);
    let inner = soup(seed);
    let frames = [
        ("echo ", ""),
        ("echo \"", "\""),
        ("echo $(", ")"),
        ("echo \"$(", ")\""),
        ("echo `", "`"),
        ("echo \"`", "`\""),
        ("echo ${u:-", "}"),
        ("echo \"${u:-", "}\""),
        ("s=X; echo \"${s/X/", "}\""),
        ("echo ${s#", "}"),
        ("echo $((", "))"),
        ("((", "))"),
        ("[[ a == ", " ]]"),
        ("[[ a =~ ", " ]]"),
        ("[[ 1 -eq ", " ]]"),
        ("a=(", ")"),
        ("x=", ""),
        ("a[", "]=1"),
        ("declare -A m; m[", "]=1; echo ${m[1]}"),
        ("declare x=", ""),
        ("cat <<EOF\n", "\nEOF\n"),
        ("cat <<'EOF'\n", "\nEOF\n"),
        ("cat <<-EOF\n\t", "\n\tEOF\n"),
        ("echo $(cat <<EOF\n", "\nEOF\n)"),
        ("case ", " in *) echo y;; esac"),
        ("case x in ", ") echo y;; esac"),
        ("for i in ", "; do echo $i; done"),
        ("f() { ", "\n}; f"),
        ("if ", "\nthen echo y; fi"),
        ("cat <(", ")"),
        ("echo '", "'"),
        ("echo $'", "'"),
        ("", ""),
    ];
    let (open, close) = frames[dice.below(frames.len())];
    format!("{open}{inner}{close}")
}

pub fn bash_accepts(text: &str) -> bool {
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), text).unwrap();
    let output = Command::new("/bin/bash")
        .arg("-n")
        .arg(script.path())
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // Some syntax errors leave the status 0. A here-document without its end is a warning, and fine
    // with `bash -c` as well.
    let errors = String::from_utf8_lossy(&output.stderr);
    output.status.success() && errors.lines().all(|line| line.contains("here-document"))
}

fn pasted(parsed: &ShellText, value: &str) -> String {
    let text = parsed.text();
    let mut out = String::new();
    let mut at = 0;
    for placeholder in parsed.placeholders() {
        out.push_str(&text[at..placeholder.range.start]);
        out.push_str(value);
        at = placeholder.range.end;
    }
    out + &text[at..]
}

#[test]
fn what_is_accepted_stays_bash() {
    let mut accepted = 0;
    for seed in 0..crate::seeded_random::scale(6_000) {
        let text = framed(seed);
        let Ok(parsed) = ShellText::parse(&text) else { continue };
        if parsed.placeholders().is_empty() || text.contains("\\{{") {
            continue;
        }
        let filled = parsed.fill(&mut |_| Some("1".into())).unwrap();
        let ours = bash_accepts(&filled.script);
        if !ours && bash_accepts(&pasted(&parsed, "x")) {
            panic!("seed {seed}\n{text}\n--- became\n{}", filled.script);
        }
        accepted += 1;
    }
    assert!(accepted > 300, "only {accepted} were accepted: the soup is too thin");
}

/// Commands that a value may reach here only print, so a file `pwned` means that a value ran.
#[test]
fn no_value_runs() {
    let values = [
        "a[$(touch pwned)]",
        "$(touch pwned)",
        "`touch pwned`",
        "x; touch pwned; #",
        "'; touch pwned; '",
        "\"; touch pwned; \"",
        ")\ntouch pwned\n(",
        "}; touch pwned; {",
        "\nEOF\ntouch pwned\ncat <<EOF\n",
        "]]; touch pwned; [[ x",
        "($(touch pwned))",
    ];
    let mut ran = 0;
    for seed in 0..crate::seeded_random::scale(2_500) {
        let text = framed(seed + 1_000_000);
        let Ok(parsed) = ShellText::parse(&text) else { continue };
        if parsed.placeholders().is_empty() || endless(&text) {
            continue;
        }
        let mut dice = Dice(seed);
        let calculated = parsed.placeholders().iter().any(|p| p.kind == PlaceholderKind::Integer);
        let value = if calculated { "1" } else { values[dice.below(values.len())] };
        let filled = parsed.fill(&mut |_| Some(value.into())).unwrap();
        let result = crate::run_filled_text_in_bash::bash(&filled);
        assert!(!result.pwned, "seed {seed}: {value:?}\n{text}\n--- became\n{}", filled.script);
        ran += 1;
    }
    assert!(ran > 100, "only {ran} were run: the soup is too thin");
}

/// A plain word means the same pasted, unless it joins a name or becomes that of an array.
#[test]
fn a_plain_word_is_the_same_pasted() {
    let mut compared = 0;
    for seed in 0..crate::seeded_random::scale(3_500) {
        let text = framed(seed + 2_000_000);
        let Ok(parsed) = ShellText::parse(&text) else { continue };
        let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let plain = parsed.placeholders().iter().all(|placeholder| {
            placeholder.kind != PlaceholderKind::Integer
                && !text[..placeholder.range.start].ends_with(joins)
                && !text[placeholder.range.end..].starts_with('[')
        });
        // Process numbers differ, and an escaped placeholder loses its backslash only here.
        let differs = ["$$", "$!", "\\{{"].iter().any(|t| text.contains(t));
        if parsed.placeholders().is_empty() || !plain || endless(&text) || differs {
            continue;
        }
        let filled = parsed.fill(&mut |_| Some("q".into())).unwrap();
        let plain = Filled::plain(pasted(&parsed, "q"));
        let (ours, theirs) = (
            crate::run_filled_text_in_bash::bash(&filled),
            crate::run_filled_text_in_bash::bash(&plain),
        );
        let shown = |out: &[u8]| String::from_utf8_lossy(out).into_owned();
        assert_eq!(
            shown(&ours.stdout),
            shown(&theirs.stdout),
            "seed {seed}\n{text}\n--- became\n{}",
            filled.script
        );
        compared += 1;
    }
    assert!(compared > 100, "only {compared} were compared: the soup is too thin");
}

/// Loops that may not end, and functions that may call themselves.
pub fn endless(text: &str) -> bool {
    ["while", "until", "((;", "f()", "function", "coproc", "select"]
        .iter()
        .any(|t| text.contains(t))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_never_panics(text in "[\\PC\n\t]{0,60}") {
        if let Ok(parsed) = ShellText::parse(&text) {
            for placeholder in parsed.placeholders() {
                prop_assert!(text.get(placeholder.range.clone()).is_some());
            }
        }
    }

    #[test]
    fn ranges_are_true_in_token_soups(seed in any::<u64>()) {
        let text = soup(seed);
        match ShellText::parse(&text) {
            Ok(parsed) => {
                for placeholder in parsed.placeholders() {
                    prop_assert!(text[placeholder.range.clone()].starts_with("{{"));
                }
                for warning in parsed.warnings() {
                    prop_assert!(text.get(warning.range.clone()).is_some());
                }
            }
            Err(error) => prop_assert!(text.get(error.range).is_some()),
        }
    }
}
