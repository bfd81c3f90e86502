//! The ranges of commands and words: exact to the byte in every construct, so that an edit by range
//! changes what it names and nothing else.

use crate::filled_scripts_in_real_bash::random_scripts::Generator;
use crate::find_bash_commands::random;
use crate::run_filled_text_in_bash::plain;
use crate::seeded_random::{Dice, scale};
use std::ops::Range;
use towpath_shell::bash::{Nesting, Script, SimpleCommand, parse};

fn parsed(text: &str) -> Script {
    parse(text).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

#[test]
fn every_command_has_its_exact_range() {
    let cases: &[(&str, &[&str])] = &[
        ("a b | c\t'd e' |& f", &["a b", "c\t'd e'", "f"]),
        (" a 1;b 2 && ! c 3 || d & e", &["a 1", "b 2", "c 3", "d", "e"]),
        ("{ a 1; b; }; (c 2;d)", &["a 1", "b", "c 2", "d"]),
        ("X=1 Y='2 3' a b >f <g", &["X=1 Y='2 3' a b >f <g"]),
        ("2>f a b 3>&1", &["2>f a b 3>&1"]),
        ("for i in a b; do c $i; done", &["c $i"]),
        ("while a 1; do b 2; done; until c; do d; done", &["a 1", "b 2", "c", "d"]),
        ("if a x; then b y; elif c; then d; else e; fi", &["a x", "b y", "c", "d", "e"]),
        ("f() { a \"$1\"; }; function g { b; }", &["a \"$1\"", "b"]),
        ("case $x in a) b c;; (d|e) f g;; esac", &["b c", "f g"]),
        ("a $(b $(c d) e) f", &["a $(b $(c d) e) f", "b $(c d) e", "c d"]),
        ("a `b \\`c d\\` e`", &["a `b \\`c d\\` e`", "b \\`c d\\` e", "c d"]),
        ("a <(b c) >(d e)", &["a <(b c) >(d e)", "b c", "d e"]),
        ("a \"x $(b 'c d') y\" z", &["a \"x $(b 'c d') y\" z", "b 'c d'"]),
        ("a \\\n  b \\\n  c\nd", &["a \\\n  b \\\n  c", "d"]),
        ("sudo -u root env A=1 b c", &["sudo -u root env A=1 b c", "env A=1 b c", "b c"]),
        ("bash -c 'a b; c'", &["bash -c 'a b; c'", "a b", "c"]),
        (
            "find . -exec a b {} \\; -exec c {} +",
            &["find . -exec a b {} \\; -exec c {} +", "a b {}", "c {}"],
        ),
        ("é ü; \"日本\" 'ž' # x", &["é ü", "\"日本\" 'ž'"]),
    ];
    for (text, expected) in cases {
        let script = parsed(text);
        let found: Vec<&str> = script.commands().iter().map(|c| &text[c.range.clone()]).collect();
        assert_eq!(found, *expected, "{text}");
        check_spans(&script);
    }
}

/// The command of a here-document ends on its own line; its body belongs to nobody else.
#[test]
fn here_documents_do_not_move_ranges() {
    for text in [
        "cat <<E | a b\n$(c d) `e f`\nE\ng h",
        "cat <<'E' x\nno $(c)\nE\ng h",
        "{ cat <<-E; a b\n\tx\n\tE\n}; g h",
        "cat <<A <<B; a b\n1\nA\n2\nB\ng h",
    ] {
        let script = parsed(text);
        check_spans(&script);
        let last = script.commands().last().expect("a command");
        assert_eq!(&text[last.range.clone()], "g h", "{text}");
        for word in script.commands().iter().flat_map(|c| &c.words) {
            assert!(!text[word.range.clone()].contains('\n'), "{text}: {word:?}");
        }
    }
}

/// Everything of a command that has a range of its own.
fn spans(command: &SimpleCommand) -> impl Iterator<Item = Range<usize>> {
    let words = command.words.iter().map(|w| w.range.clone());
    let assignments = command.assignments.iter().map(|a| a.range.clone());
    words.chain(assignments).chain(command.redirects.iter().map(|r| r.range.clone()))
}

/// The spans of a script are nested or apart, and with the text between them they are the text. Inside
/// of a command nothing but blanks is between them.
fn check_spans(script: &Script) {
    let text = script.text();
    let mut all: Vec<Range<usize>> = script.commands().iter().flat_map(spans).collect();
    all.sort_by_key(|r| (r.start, std::cmp::Reverse(r.end)));
    all.dedup();
    let mut rebuilt = String::new();
    let mut open: Vec<usize> = Vec::new();
    for span in &all {
        open.retain(|end| *end > span.start);
        assert!(open.last().is_none_or(|end| span.end <= *end), "{span:?} crosses another\n{text}");
        if open.is_empty() {
            rebuilt.push_str(&text[rebuilt.len()..span.start]);
            rebuilt.push_str(&text[span.clone()]);
        }
        open.push(span.end);
    }
    rebuilt.push_str(&text[rebuilt.len()..]);
    assert_eq!(rebuilt, text);
    for command in script.commands() {
        let mut at = command.range.start;
        for span in
            all.iter().filter(|s| command.range.start <= s.start && s.end <= command.range.end)
        {
            if at < span.start {
                let gap = text[at..span.start].replace("\\\n", "");
                assert!(
                    gap.chars().all(|c| c == ' ' || c == '\t'),
                    "{gap:?} in {command:?}\n{text}"
                );
            }
            at = at.max(span.end);
        }
        assert_eq!(at, command.range.end.max(command.range.start), "{command:?}\n{text}");
    }
}

fn generated(seed: u64) -> String {
    let script = || Generator { dice: Dice(seed) }.script();
    match seed % 2 {
        0 => random(seed + 5_000_000),
        _ => script().replace("{{v}}", "7").replace("{{n}}", "7").replace("{{ v }}", "7"),
    }
}

#[test]
fn spans_and_gaps_are_the_source() {
    let mut checked = 0;
    for seed in 0..scale(4_000) {
        if let Ok(script) = parse(&generated(seed)) {
            check_spans(&script);
            checked += script.commands().len();
        }
    }
    assert!(checked > 2_000, "only {checked} commands");
}

/// A word that the tree takes for one fixed word is that word for bash as well, cut out by its range.
#[test]
fn fixed_words_are_what_bash_reads() {
    let mut words: Vec<(String, String)> = Vec::new();
    for seed in 0..scale(1_500) {
        let Ok(script) = parse(&generated(seed)) else { continue };
        for command in script.commands() {
            // Code in a word is written for two readers.
            let twice = |n: &Nesting| match n {
                Nesting::ShellCode { .. } => true,
                Nesting::Substitution { range, .. } => {
                    script.text()[range.clone()].starts_with('`')
                }
                _ => false,
            };
            if command.nesting.iter().any(twice) {
                continue;
            }
            for word in &command.words {
                if let Some(fixed) = word.fixed() {
                    let source = script.text()[word.range.clone()].to_owned();
                    words.push((source, fixed.to_owned()));
                }
            }
        }
    }
    words.sort();
    words.dedup();
    assert!(words.len() > 200, "only {} words", words.len());
    for chunk in words.chunks(200) {
        let sources: Vec<&str> = chunk.iter().map(|(source, _)| source.as_str()).collect();
        let output = plain(&format!("printf '%s\\0' {}", sources.join(" "))).stdout;
        let read: Vec<&[u8]> = output.split(|b| *b == 0).collect();
        for ((source, fixed), read) in chunk.iter().zip(read) {
            assert_eq!(String::from_utf8_lossy(read), *fixed, "{source}");
        }
    }
}
