//! Code for another shell: a value in it arrives there as one piece, whatever its quoting inside and
//! outside, and nothing of it runs. With the real bash and the real dash.

use crate::run_filled_text_in_bash::{bash, fill};
use towpath_shell::ShellText;

const NASTY: &[&str] = &[
    "a  b'\"$(touch pwned)`touch pwned`\\n*?[x]{1,2}~ #;&|<>\n\ttail\\",
    "x; touch pwned; #",
    "'; touch pwned; '",
    "\"; touch pwned; \"",
    "'\\''; touch pwned; '\\''",
    "$(touch pwned)",
    "a\nE\ntouch pwned\nE\n",
    "-n",
    "__towpath_0",
    "",
];

/// Texts for a POSIX shell that print the value between brackets.
const INNER: &[&str] = &[
    "printf \"[%s]\" {{v}}",
    "printf \"[%s]\" \"{{v}}\"",
    "x={{v}}; printf \"[%s]\" \"$x\"",
    "for x in {{v}}; do printf \"[%s]\" \"$x\"; done",
    "f() { printf \"[%s]\" {{v}}; }; f",
    "printf \"[%s]\" ${u:-{{v}}}",
    "printf \"[%s]\" \"${u:-{{v}}}\"",
    "printf \"[%s]\" ${u:={{v}}}",
    "s=T{{v}}; [ \"${s%{{v}}}\" = T ] && printf \"[%s]\" {{v}}",
    "case {{v}} in {{v}}) printf \"[%s]\" {{v}};; esac",
    "printf \"[%s]\" {{v}} >f-x; cat f-x",
    "x=$(printf \"%sx\" {{v}}); printf \"[%s]\" \"${x%x}\"",
    "printf \"[%s\" \"`printf \"%s]\" {{v}}`\"",
    "(printf \"[%s]\" {{v}}) | cat",
    "cat <<E\n[{{v}}]\nE\n",
    "cat <<\"E\"\n[{{v}}]\nE\n",
    "cat <<-E\n\t[{{v}}]\n\tE\n",
    "# {{v}}\nprintf \"[%s]\" {{v}} # {{v}}",
    "export x={{v}}; sh -c \"printf \\\"[%s]\\\" \\\"\\$x\\\"\"",
    "cd . && if true; then printf \"[%s]\" {{v}}; fi",
    "sh -c \"printf \\\"[%s]\\\" {{v}}\"",
];

fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '\\' | '"' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out + "\""
}

fn bare(text: &str) -> String {
    let escaped = |part: &str| -> String {
        let plain = |c: char| c.is_ascii_alphanumeric();
        part.chars().map(|c| if plain(c) { c.to_string() } else { format!("\\{c}") }).collect()
    };
    text.split("{{v}}").map(escaped).collect::<Vec<_>>().join("{{v}}")
}

/// Runs a text with a value, and expects the value between brackets.
fn arrives(text: &str, value: &str) {
    let others = [("n", "1"), ("s", "TERM"), ("l", "L"), ("u", "name")];
    let filled = fill(text, &[&[("v", value)], &others[..]].concat());
    let ran = bash(&filled);
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let printed = stdout.strip_suffix('\n').unwrap_or(&stdout);
    assert_eq!(printed, format!("[{value}]"), "{text}\n{}\n{:#?}", ran.stderr, filled);
    assert!(!ran.pwned, "{text}\n{value}");
}

#[test]
fn a_value_arrives_in_another_shell() {
    let mut refused = 0;
    for (row, inner) in INNER.iter().enumerate() {
        for (shell, outer) in [("bash", 0), ("dash", 0), ("bash", 1), ("dash", 2)] {
            let word = match outer {
                0 => format!("'{inner}'"),
                1 => double_quoted(inner),
                _ if inner.contains('\n') || inner.contains("${") => continue,
                _ => bare(inner),
            };
            let text = format!("{shell} -c {word}");
            match ShellText::parse(&text) {
                Ok(_) => arrives(&text, NASTY[(row + outer) % NASTY.len()]),
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused <= 3, "{refused} texts were not understood");
}

#[test]
fn every_value_arrives_in_every_inner_quoting() {
    for value in NASTY {
        for text in [
            "sh -c 'printf \"[%s]\" {{v}}'",
            "sh -c \"printf '[%s]' '{{v}}'\"",
            "bash -c \"printf '[%s]' \\\"{{v}}\\\"\"",
            "bash -c 'printf \"[%s]\" $'\"'{{v}}'\"",
            "bash -c 'declare -A m; m[k{{v}}]={{v}}; printf \"[%s]\" \"${m[k{{v}}]}\"'",
            "bash -c 'printf \"[%s]\" {{v}} >& \"f-{{v}}.log\"; cat f*'",
            "sh -c \"bash -c 'sh -c \\\"printf [%s] {{v}}\\\"'\"",
            "bash -c 'cat <<E\n[{{v}}]\nE'",
            "x=$(bash -c 'printf \"[%sx\" {{v}}'); printf '%s]' \"${x%x}\"",
            "x=`bash -c 'printf \"[%sx\" {{v}}'`; printf '%s]' \"${x%x}\"",
            "printf '[%s]' \"$(sh -c 'printf %sx {{v}}' | sed '$s/x$//'; echo x)\" | sed -z 's/\\nx]$/]/; s/x]$/]/'",
        ] {
            if value.ends_with('\n') && text.contains("sed") {
                continue;
            }
            arrives(text, value);
        }
    }
}

#[test]
fn a_shell_is_found_behind_options_and_other_programs() {
    let value = NASTY[0];
    for text in [
        "bash -euo pipefail -c 'printf \"[%s]\" {{v}}'",
        "bash -eu -o pipefail -c 'printf \"[%s]\" {{v}}'",
        "bash --norc --rcfile f -c 'printf \"[%s]\" {{v}}'",
        "bash +o pipefail -O extglob -ec 'printf \"[%s]\" {{v}}'",
        "bash -ceuo pipefail 'printf \"[%s]\" {{v}}'",
        "bash -oe pipefail -c 'printf \"[%s]\" {{v}}'",
        "bash -c -o pipefail -x 'printf \"[%s]\" {{v}}' 2>&-",
        "bash -c -- 'printf \"[%s]\" {{v}}'",
        "/bin/sh -c 'printf \"[%s]\" {{v}}' name argument",
        "\\bash -c 'printf \"[%s]\" {{v}}'",
        "env -i X=1 PATH=\"$PATH\" bash -c 'printf \"[%s]\" {{v}}'",
        "X={{v}} exec bash -c 'printf \"[%s]\" {{v}}'",
        "timeout 60 nice -n 1 dash -c 'printf \"[%s]\" {{v}}'",
        "command env bash -c 'printf \"[%s]\" {{v}}' >f 2>&1; cat f",
        "sh -c 'printf \"[%s]\" \"$1\"' _ {{v}}",
        "sh -c 'printf \"[%s%s]\" \"$1\" {{v}}' _ ''",
        "nohup bash -c 'printf \"[%s]\" {{v}}' 2>&-",
        "timeout --signal={{s}} 60 sh -c 'printf \"[%s]\" {{v}}'",
        "timeout -k{{n}} 60 sh -c 'printf \"[%s]\" {{v}}'",
        "nice -n{{n}} bash -c 'printf \"[%s]\" {{v}}'",
        "nice --adjustment={{n}} bash -c 'printf \"[%s]\" {{v}}'",
        "stdbuf -o{{l}} bash -c 'printf \"[%s]\" {{v}}'",
        "flock -w{{n}} f bash -c 'printf \"[%s]\" {{v}}'",
        "flock f -c 'printf \"[%s]\" {{v}}'",
        "flock -w 9 f --command 'printf \"[%s]\" {{v}}'",
        "script -qec 'printf \"[%s]\" {{v}}' /dev/null | tr -d '\\r'",
        "(exec -a{{u}} bash -c 'printf \"[%s]\" {{v}}')",
    ] {
        arrives(text, value);
    }
}

/// What `ssh` does: its words after the host, joined by blanks, are code for the shell over there.
const SSH: &str = "ssh() { while [[ $1 == -* ]]; do case $1 in -[poi]) shift;; esac; shift; done; \
                   shift; [[ $1 == -t ]] && shift; dash -c \"$*\"; }\n";

#[test]
fn a_value_arrives_behind_ssh() {
    for value in NASTY {
        for command in [
            "ssh host \"printf '[%s]' {{v}}\"",
            "ssh -p 22 -o X=y user@host 'printf \"[%s]\" {{v}}'",
            "ssh -p{{host}} -oPort={{host}} -l{{host}} host 'printf \"[%s]\" {{v}}'",
            "ssh host printf '[%s]' {{v}}",
            "ssh host printf \"'[%s]'\" \"{{v}}\"",
            "ssh host -t \"cd . && printf '[%s]' '{{v}}'\"",
            "ssh \"$H\" x={{v}}';' printf '\"[%s]\"' '\"$x\"'",
            "ssh $H 'printf \"[%s]\" {{v}}'",
            "ssh {{host}} \"sh -c 'printf \\\"[%s]\\\" {{v}}'\"",
        ] {
            let text = format!("{SSH}H=host; {command}");
            let filled = fill(&text, &[("v", value), ("host", "h")]);
            let ran = bash(&filled);
            let stdout = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(stdout, format!("[{value}]"), "{command}\n{}\n{filled:#?}", ran.stderr);
            assert!(!ran.pwned, "{command}\n{value}");
        }
    }
}

#[test]
fn integers_are_checked_in_another_shell() {
    for text in ["sh -c 'echo $(( {{v}} + 1 ))'", "bash -c 'declare -i n; n={{v}}+1; echo $n'"] {
        let ran = bash(&fill(text, &[("v", "5")]));
        assert_eq!(ran.stdout, b"6\n", "{text}");
        let parsed = ShellText::parse(text).unwrap();
        let error = parsed.fill(&mut |_| Some("a[$(touch pwned)]".into())).unwrap_err();
        assert_eq!(&text[error.range], "{{v}}", "{text}");
    }
}

#[test]
fn what_another_shell_cannot_take_is_refused() {
    for text in [
        "bash -c '{{v}}=1'",
        "bash -c 'declare -n r={{v}}'",
        "bash -c 'echo {{v}} \"open'",
        "sh -c \"echo {{v}} 'open\"",
        "sh -c 'echo a >& f-{{v}}'",
        "sh -c \"echo $'{{v}}'\"",
        "ssh host \"echo $'{{v}}'\"",
        "zsh -c 'exit {{v}}'",
        "zsh -c 'f() { return {{v}}; }; f'",
        "zsh -c 'shift {{v}}'",
        "zsh -c 'while :; do break {{v}}; done'",
        "zsh -c 'printf %d {{v}}'",
        "zsh -c 'read -t {{v}} x'",
        "zsh -c 'test {{v}} -eq 1'",
        "zsh -c 'integer n; n={{v}}'",
        "zsh -c 'float n; n={{v}}'",
        "zsh -c 'typeset -F n; n={{v}}'",
        "ksh -c 'typeset -i n; m={{v}}'",
        "ssh host 'echo a >& f-{{v}}'",
        "ssh host echo {{v}} \"'\"",
        "declare -i n; read n < <(bash -c 'echo {{v}}')",
        "bash -c 'declare -i n; read n <<<{{v}}'",
        "bash -c \"sh -c \\\"{{v}}() { :; }\\\"\"",
    ] {
        let error = ShellText::parse(text).map(|p| p.placeholders().to_vec()).expect_err(text);
        assert!(text.get(error.range.clone()).is_some(), "{text}: {error:?}");
    }
}

#[test]
fn shells_in_shells_are_bounded() {
    let mut text = "echo {{v}}".to_owned();
    for _ in 0..4 {
        text = format!("sh -c {}", double_quoted(&text));
    }
    ShellText::parse(&text).unwrap();
    let deeper = format!("sh -c {}", double_quoted(&text));
    assert!(ShellText::parse(&deeper).unwrap_err().message.contains("too many shells"));
}

#[test]
fn a_value_that_is_the_code_stays_code() {
    for text in ["bash -c {{v}}", "sh -c \"{{v}}\"", "bash -c '{{v}}' x"] {
        let ran = bash(&fill(text, &[("v", "echo a; echo b")]));
        assert_eq!(ran.stdout, b"a\nb\n", "{text}");
    }
}
