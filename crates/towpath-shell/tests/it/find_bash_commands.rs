//! The simple commands of bash text: all of them, with exact ranges, and nothing that bash refuses.

use crate::filled_scripts_in_real_bash::random_scripts::Generator;
use crate::random_text::{bash_accepts, endless, framed};
use crate::run_filled_text_in_bash::plain;
use crate::seeded_random::{Dice, scale};
use proptest::prelude::*;
use towpath_shell::bash::{self, LONGEST, Nesting, Reason, Script, SimpleCommand, parse, tokenize};

fn parsed(text: &str) -> Script {
    parse(text).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
}

/// The words of a command as they are written, joined by `·`.
fn written(text: &str, command: &SimpleCommand) -> String {
    let words: Vec<&str> = command.words.iter().map(|w| &text[w.range.clone()]).collect();
    words.join("·")
}

fn commands(text: &str) -> Vec<String> {
    parsed(text).commands().iter().map(|c| written(text, c)).collect()
}

#[test]
fn every_command_is_found_with_its_words() {
    let cases: &[(&str, &[&str])] = &[
        ("grep  'a  b'   f", &["grep·'a  b'·f"]),
        ("grep a\\;rm f", &["grep·a\\;rm·f"]),
        ("gr\\\nep a \\\n  f", &["gr\\\nep·a·f"]),
        ("echo a\\\n;ls", &["echo·a", "ls"]),
        ("a && b || c; d & e", &["a", "b", "c", "d", "e"]),
        ("! a | b |& c", &["a", "b", "c"]),
        ("time -p grep x; coproc ls a", &["grep·x", "ls·a"]),
        ("FOO=$(date) BAR='x y' grep a", &["grep·a", "date"]),
        (">out grep a 2>&1 b <<<\"x $(id)\" c", &["grep·a·b·c", "id"]),
        ("x=1; export A=1 -r B=\"$(id)\" c", &["", "export·A=1·-r·B=\"$(id)\"·c", "id"]),
        ("{ a; }; (b; c && d)", &["a", "b", "c", "d"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("for f in *.c $(ls); do grep \"$f\"; done", &["ls", "grep·\"$f\""]),
        ("while read -r l; do a $l; done < <(ls)", &["read·-r·l", "a·$l", "ls"]),
        ("for ((i=0;i<3;i++)); do ls; done; select x in a; do b; done", &["ls", "b"]),
        ("case $x in a|b) grep q;; (c) ls;; *) : ;; esac", &["grep·q", "ls", ":"]),
        ("grep() { rg \"$1\"; }; function g { ls; }", &["rg·\"$1\"", "ls"]),
        (
            "echo $(a $(b \"$(c)\"))",
            &["echo·$(a $(b \"$(c)\"))", "a·$(b \"$(c)\")", "b·\"$(c)\"", "c"],
        ),
        ("echo `a \"b c\" f` \"`d`\"", &["echo·`a \"b c\" f`·\"`d`\"", "a·\"b c\"·f", "d"]),
        ("echo `a \\`b\\` f`", &["echo·`a \\`b\\` f`", "a·\\`b\\`·f", "b"]),
        ("diff <(a) >(b x)", &["diff·<(a)·>(b x)", "a", "b·x"]),
        ("echo $((1 + $(nproc))) ${x:-$(y)}", &["echo·$((1 + $(nproc)))·${x:-$(y)}", "nproc", "y"]),
        ("echo \"${a[$(b)]}\" ${c/$(d)/e}", &["echo·\"${a[$(b)]}\"·${c/$(d)/e}", "b", "d"]),
        ("[[ -n $(id) ]] && a; (( $(b) > 3 ))", &["id", "a", "b"]),
        ("cat <<E && a\n$(b c) `d` ; no\nE\ne", &["cat", "a", "b·c", "d", "e"]),
        ("cat <<'E' | a\n$(no)\nE", &["cat", "a"]),
        ("cat <<A <<B; a\n1\nA\n2\nB\nb", &["cat", "a", "b"]),
        ("x=\"put \\\"$y\\\"\" a \"\\$\" # b", &["a·\"\\$\""]),
        (
            "return 1; A=1 exit 2 >f; break; >f continue",
            &["return·1", "exit·2", "break", "continue"],
        ),
        ("echo 'é日本' && a 'ü' # ž", &["echo·'é日本'", "a·'ü'"]),
        ("# a\n\techo a#b\t", &["echo·a#b"]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(commands(text), *expected, "{text}");
    }
}

#[test]
fn wrappers_start_another_command() {
    for (text, inner) in [
        ("sudo -nu www -- grep a", "grep·a"),
        ("sudo --user=www A=1 grep a", "grep·a"),
        ("doas -u x grep a", "grep·a"),
        ("env -i -u X LC_ALL=C grep a", "grep·a"),
        ("env - grep a", "grep·a"),
        ("command -p grep a", "grep·a"),
        ("exec -a name grep a", "grep·a"),
        ("nohup grep a &", "grep·a"),
        ("nice -n 5 grep a", "grep·a"),
        ("nice -10 grep a", "grep·a"),
        ("ionice -c3 grep a", "grep·a"),
        ("\\time -f %e grep a", "grep·a"),
        ("timeout -k 1 -s TERM 5 grep a", "grep·a"),
        ("timeout --signal TERM 5s grep a", "grep·a"),
        ("stdbuf -oL grep a", "grep·a"),
        ("setsid -f grep a", "grep·a"),
        ("xargs -0 -n 1 -I{} grep a {}", "grep·a·{}"),
        ("xargs -i grep a", "grep·a"),
        ("watch -n 2 grep a", "grep·a"),
        ("watch -x grep 'a b'", "grep·'a b'"),
        ("watch 'grep a'", "grep·a"),
        ("find . -name '*.c' -exec grep a {} +", "grep·a·{}"),
        ("find . -ok grep a {} \\; -print", "grep·a·{}"),
        ("sudo env A=1 nice grep a", "grep·a"),
        ("bash -c 'grep a'", "grep·a"),
        ("sh -xc \"grep a\" _ b", "grep·a"),
        ("sudo bash -o pipefail -c 'grep a | b'", "grep·a"),
        ("bash -c \"echo \\\"\\$x\\\"; grep a\"", "grep·a"),
        ("/usr/bin/env grep a", "grep·a"),
        ("sudo -u \"$user\" grep a", "grep·a"),
    ] {
        let found = commands(text);
        assert!(found.iter().any(|c| c == inner), "{text}: {found:?}");
    }
    let text = "find . -exec a {} \\; -exec b {} +";
    let starts = parsed(text).commands()[0].starts.clone();
    assert_eq!((commands(text).len(), starts), (3, vec![3..5, 7..9]));
}

#[test]
fn what_a_wrapper_starts_is_not_guessed() {
    for text in [
        "command -v grep",
        "sudo -l grep",
        "sudo -e grep",
        "sudo --unknown grep a",
        "sudo -u $user grep a",
        "env -S 'grep a'",
        "xargs $options grep a",
        "timeout $(t) grep a",
        "ionice -p 1 grep",
        "watch grep 'a b'",
        "watch \"$x\"",
        "find . -exec grep a",
        "bash -c \"grep $x\"",
        "bash -c 'gr'ep\\ a",
        "bash $options -c 'grep a'",
        "bash script grep a",
        "ssh host 'grep a'",
        "docker exec c sh -c 'grep a'",
        "zsh -c 'grep a'",
    ] {
        let found = commands(text);
        assert!(!found.iter().any(|c| c.starts_with("grep")), "{text}: {found:?}");
    }
}

/// `grep` is in each text once, in these constructs.
#[test]
fn a_command_knows_what_it_is_part_of() {
    use Nesting::*;
    let and_or = |right| AndOr { right };
    for (text, nesting) in [
        ("a; grep x; b", vec![]),
        ("grep x > log", vec![]),
        ("grep x &", vec![Background]),
        ("! grep x", vec![Negated]),
        ("time grep x", vec![Timed]),
        ("grep x | b", vec![Pipeline]),
        ("a | grep x && b", vec![and_or(false), Pipeline]),
        ("a && b | grep x", vec![and_or(true), Pipeline]),
        ("a || grep x", vec![and_or(true)]),
        ("{ (grep x); }", vec![Group, Subshell]),
        ("if grep x; then a; fi", vec![Condition]),
        ("if a; then b; else grep x; fi", vec![Branch]),
        ("case a in b) grep x;; esac", vec![Branch]),
        ("until grep x; do a; done", vec![Loop, Condition]),
        ("while a; do grep x; done", vec![Loop]),
        ("f() { grep x; }", vec![Function, Group]),
        ("a && sudo grep x", vec![and_or(true), Wrapper("sudo")]),
    ] {
        let script = parsed(text);
        let mut found = script.commands().iter().filter(|c| c.name() == Some("grep"));
        let command = found.next().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(command.nesting, nesting, "{text}");
        let alone = nesting.last().is_none_or(Nesting::is_list);
        assert_eq!((command.is_alone(), found.next()), (alone, None), "{text}");
    }
    let text = "cat <<E\n\"$(bash -c 'grep x')\"\nE";
    let script = parsed(text);
    let nesting = &script.commands().last().unwrap().nesting;
    assert!(matches!(nesting[0], HereDocument), "{nesting:?}");
    assert!(matches!(nesting[1], Substitution { quoted: false, .. }), "{nesting:?}");
    let [.., ShellCode { word }] = nesting.as_slice() else { panic!("{nesting:?}") };
    assert_eq!(&text[word.clone()], "'grep x'");
}

#[test]
fn a_word_knows_whether_bash_expands_it() {
    for (word, fixed) in [
        ("a", Some("a")),
        ("'a b'\"c\"d\\ e", Some("a bcd e")),
        ("$'a\\'b'", Some("a'b")),
        ("{}", Some("{}")),
        ("a{b}", Some("a{b}")),
        ("[", Some("[")),
        ("a~b", Some("a~b")),
        ("\\*", Some("*")),
        ("'*'", Some("*")),
        ("--x=1", Some("--x=1")),
        ("*.c", None),
        ("a?", None),
        ("[ab]", None),
        ("{a,b}", None),
        ("{1..3}", None),
        ("~/x", None),
        ("$x", None),
        ("\"$x\"", None),
        ("`a`", None),
    ] {
        let text = format!("echo {word}");
        let script = parsed(&text);
        assert_eq!(script.commands()[0].words[1].fixed(), fixed, "{word}");
    }
    for (word, one) in [("\"$x\"", true), ("a\"$x\"'b'", true), ("$x", false), ("\"$@\"", false)] {
        let text = format!("echo {word}");
        assert_eq!(parsed(&text).commands()[0].words[1].one_word, one, "{word}");
    }
}

#[test]
fn words_that_a_program_reads_as_code_are_found() {
    for (text, code) in [
        ("bash -c 'a' _ b", vec![2]),
        ("sudo sh -xc a", vec![3]),
        ("eval a b", vec![1, 2]),
        ("ssh h a", vec![2]),
        ("grep a b", vec![]),
    ] {
        let script = parsed(text);
        let found = towpath_shell::read_as(&script.commands()[0], text, &|_| false);
        assert_eq!(found, code, "{text}");
    }
}

#[test]
fn what_is_no_bash_is_refused() {
    for text in [
        "echo 'open",
        "echo $(ls",
        "if true; then",
        "ls; }",
        "a &&",
        "a && ;",
        "ls )",
        "echo `a",
        "case x in",
        "a ;; b",
        "for do",
        "x=(1",
        "echo \"$(\"",
        "f() ",
        "[[ a ]",
        "a | | b",
        "[[ a == b c ]]",
        "[[ a -foo b ]]",
        "[[ -n ]]",
        "[[ 1<b ]]",
        "[[ a\n]]",
        "[[ @(a|b) == c ]]",
        "[[ (a == b ]]",
        "]] a",
        "echo $(]])",
        "echo $(f() export y=)",
        "f() echo a",
        "coproc",
        "(coproc )",
        "coproc ! a",
        "coproc a b[ c",
        "cat <(while done)",
        "echo $(if a; fi)",
        "( ! )",
        "a | ! b",
        "echo a=(b)",
        "command declare a=(b)",
        "a=(b=(c))",
        "a=(b@(c))",
        "x=@(c)",
        "for i in @(a); do :; done",
        "case a in ) b;; esac",
        "case a in b| ) c;; esac",
        "echo <<<2>f",
        "cat <<<\\",
        "echo $(h=(\\'); printf '|')",
        "((a)\\\n)",
        "((>#a ) )",
        "((<<<#a ); b)",
        "coproc a }",
        "coproc $ } <<E\na\nE",
        "coproc 'a' in b",
        "coproc a ! b",
        "[[ a ]] { b; }",
        "((1)) coproc a",
        "(a) time b",
        "{ a; } for i in b; do c; done",
        "if ((1))while a; do b; done; then c; fi",
        "{ (a) >f }",
        "if ((1)) 2>&1 then a; fi",
        "f() (a)<& -nt",
        "(a 2>&-#b )",
        "(time -p\\\n )",
        "case a in b) ! time;; esac",
        "case a in (b)time esac",
        "! ! in a",
        "declare <<<a b=(c)",
        "a=1 >f b=(c)",
        "while >do do a; done",
        "for \n do do a; done",
        "shopt -s extglob\necho @(a)",
    ] {
        assert!(!bash_accepts(text), "{text}");
        assert!(parse(text).is_err(), "{text}");
    }
    let long = format!("echo {}", "a".repeat(LONGEST));
    assert_eq!(parse(&long).unwrap_err().reason, Reason::TooLong);
    assert!(parse(&long[..LONGEST]).is_ok());
    assert!(parse("echo a\0b").is_err());
}

/// What is close to the texts above, and bash.
#[test]
fn what_is_bash_is_not_refused() {
    for text in [
        "[[ a == @(b|c)*d && ! -e $f ]]",
        "[[ (a && b) || ! (c < d) ]]",
        "[[ a -eq 1\n&& -n $b ]]",
        "[[ $a =~ ^(b|c)+$ ]]",
        "[[ -v x[1] || $a -nt b ]]",
        "x=1 ]] a",
        "f() [[ a ]]",
        "f()\n{ a; }",
        "function f { a; } >f",
        "coproc a; coproc N { a; }",
        "a && ! b; time ! c",
        "declare -a a=(b) c=(d); A=1 export b=(c)",
        "a=(b) c=(d) e",
        "echo <<<2 >f",
        "echo $(h=(a 'b' \"c\" $d))",
        "case a in (b) c;; d|e) f;; esac",
        "( (a) && b); ((a) && b); ((1)); echo $( (a) )",
        "coproc a b }; coproc A=1 a in",
        "if [[ a ]] then (b) fi; while ((1)) do { a; } done",
        "{ (a) >f; }; { { a; } }",
        "a 2>&- #b",
        "a >&1-; a <& -",
        "time -p\\\n a; ! b",
        "declare a=(b) >f; a=(b) >f",
    ] {
        assert!(bash_accepts(text), "{text}");
        parsed(text);
    }
}

/// Bash accepts these. Each is refused because the second reading that it needs is not certain.
#[test]
fn what_is_refused_though_it_is_bash() {
    for (text, why) in [
        ("echo {a,\"b\"}", "the parser library does not show quotes in braces"),
        ("((a <<E\nx\nE\n); b)", "bash looks for `))` first, past the here-document"),
        ("((a \\\nb); c)", "the same, past the end of the line"),
        ("echo $((a) ; b)", "bash does not check the commands in it before it runs them"),
        (">f a=(b)", "after other redirections bash refuses an array"),
    ] {
        assert!(bash_accepts(text), "{text}");
        assert!(parse(text).is_err(), "{text}: {why}");
    }
}

#[test]
fn deep_nesting_is_an_answer() {
    for (open, close) in [
        ("(", ")"),
        ("$(echo ", ")"),
        ("\"$(a ", ")\""),
        ("{ ", "; }"),
        ("${x:-", "}"),
        ("[[ (", ""),
    ] {
        for depth in [10, 60, 150, 1_000, 5_000] {
            let text = format!("echo {}a{}", open.repeat(depth), close.repeat(depth));
            let _ = parse(&text);
        }
    }
    let _ = parse(&"bash -c '".repeat(3_000));
    let _ = parse(&"sudo ".repeat(10_000));
    let _ = parse(&"a | ".repeat(10_000));
    // A stack that overflows would end the whole program.
    for prefix in [
        "time ",
        "time\n",
        "time -p ",
        "time ! ",
        "time >f ",
        "\\\ntime ",
        "coproc time ",
        "coproc 2>&1 ",
        "2>&1 coproc ",
        "time coproc >f ",
    ] {
        for times in [7, 50, 100, 500, 5_000] {
            let _ = parse(&prefix.repeat(times));
        }
    }
}

#[test]
fn tokens_are_words_as_written() {
    let words = ["--timeout", "30", "\"a b\"", "c\\ d", "'$(x)'", "if", "A=1"];
    assert_eq!(tokenize(&words.join("  ")).unwrap(), words);
    assert_eq!(tokenize("").unwrap(), [""; 0]);
    for text in ["a; b", "a | b", "a > f", "a 'b", "a # b", "a\nb", "a &"] {
        assert!(tokenize(text).is_err(), "{text}");
    }
}

/// Every range is inside the text, on character borders, and inside what it is part of.
fn check_ranges(script: &Script) {
    let text = script.text();
    for command in script.commands() {
        assert!(text.get(command.range.clone()).is_some(), "{command:?}");
        let mut at = command.range.start;
        for word in &command.words {
            assert!(at <= word.range.start && word.range.end <= command.range.end, "{command:?}");
            assert!(word.range.start < word.range.end, "{command:?}");
            text.get(word.range.clone()).unwrap_or_else(|| panic!("{word:?}"));
            at = word.range.end;
        }
        for range in &command.starts {
            assert!(command.words.get(range.clone()).is_some_and(|w| !w.is_empty()), "{command:?}");
        }
    }
}

/// Random tokens, without placeholders.
pub fn random(seed: u64) -> String {
    framed(seed).replace("{{v}}", "v").replace("{{ w }}", "w")
}

/// Corrections edit what was parsed: nothing that bash refuses is ever taken for understood.
#[test]
fn what_bash_refuses_is_refused() {
    let mut accepted = 0;
    for seed in 3_000_000..3_000_000 + scale(6_000) {
        let text = random(seed);
        let Ok(script) = parse(&text) else { continue };
        check_ranges(&script);
        assert!(bash_accepts(&text), "seed {seed}\n{text}\n{:?}", script.commands());
        accepted += 1;
    }
    assert!(accepted > 300, "only {accepted} were accepted: the random text is too thin");
}

/// The commands that a test renames: what prints in the generated scripts.
const PRINTS: [&str; 2] = ["echo", "printf"];

/// The text with `z` before every such name that was found, or `None` if nothing was.
fn renamed(script: &Script) -> Option<String> {
    let named = |c: &&SimpleCommand| {
        // What another program starts is no function of this shell.
        let by_bash = |n: &Nesting| !matches!(n, Nesting::Wrapper(_) | Nesting::ShellCode { .. });
        c.name().is_some_and(|name| PRINTS.contains(&name)) && c.nesting.iter().all(by_bash)
    };
    let mut at: Vec<usize> =
        script.commands().iter().filter(named).map(|c| c.words[0].range.start).collect();
    at.sort_unstable();
    let mut text = script.text().to_owned();
    at.iter().rev().for_each(|at| text.insert(*at, 'z'));
    (!at.is_empty()).then_some(text)
}

/// Renames every `echo` and `printf` by its range alone. The script prints what it did before, so
/// nothing else was touched; a command that was missed would print something else.
#[test]
fn commands_are_found_where_bash_runs_them() {
    let functions = "zecho() { builtin echo \"$@\"; }; zprintf() { builtin printf \"$@\"; }\n";
    let same = "echo() { builtin echo \"$@\"; }; printf() { builtin printf \"$@\"; }\n";
    let missed = "echo() { builtin echo MISSED; }; printf() { builtin echo MISSED; }\n";
    let mut compared = 0;
    for seed in 0..scale(900) {
        let generated = Generator { dice: Dice(seed) }.script();
        let text = match seed % 2 {
            0 => random(seed + 4_000_000),
            _ => generated.replace("{{v}}", "7").replace("{{n}}", "7"),
        };
        let differs =
            ["$$", "$!", "{{", "command", "builtin", "sh -c", "BASH", "LINENO", "declare -f"];
        if differs.iter().any(|t| text.contains(t)) || endless(&text) {
            continue;
        }
        let Some(renamed) = parse(&text).ok().as_ref().and_then(renamed) else { continue };
        let before = plain(&format!("{functions}{same}{text}"));
        let after = plain(&format!("{functions}{missed}{renamed}"));
        let shown = |out: &[u8]| {
            String::from_utf8_lossy(out).replace("zecho", "echo").replace("zprintf", "printf")
        };
        assert_eq!(
            shown(&before.stdout),
            shown(&after.stdout),
            "seed {seed}\n{text}\n--- became\n{renamed}"
        );
        compared += 1;
    }
    assert!(compared > 100, "only {compared} were compared");
}

#[test]
fn real_scripts_are_understood() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut read = 0;
    for directory in ["", "tools", "bench", "fuzz", "tests/agents"] {
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let Some(text) = path.is_file().then(|| std::fs::read_to_string(&path).ok()).flatten()
            else {
                continue;
            };
            let first = text.lines().next().unwrap_or_default();
            if !first.starts_with("#!") || !first.ends_with("sh") {
                continue;
            }
            let script = parse(&text).unwrap_or_else(|e| panic!("{path:?}\n{e:?}"));
            check_ranges(&script);
            assert!(!script.commands().is_empty(), "{path:?}");
            read += 1;
        }
    }
    assert!(read >= 2, "only {read} scripts were found");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_an_answer(text in "[\\PC\n\t]{0,60}") {
        match bash::parse(&text) {
            Ok(script) => check_ranges(&script),
            Err(error) => prop_assert!(text.get(error.range.clone()).is_some(), "{:?}", error),
        }
    }
}
