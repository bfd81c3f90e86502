//! The rows of the design's table of contexts, each with the real bash.

#[allow(dead_code)]
use crate::run_filled_text_in_bash::{bash, fill};
use towpath_shell::{PlaceholderKind, ShellText};

const NASTY: &str = "a  b'\"$(touch pwned)`touch pwned`\\n*?[x]{1,2}~ #;&|<>\n\ttail\\";

/// Each text prints the value between brackets, or a line of its own.
const PRINTS: &[(&str, PlaceholderKind)] = &[
    ("printf '[%s]' {{v}}", PlaceholderKind::Word),
    ("printf '[%s%s]' '' {{v}}", PlaceholderKind::Word),
    ("x={{v}}; printf '[%s]' \"$x\"", PlaceholderKind::Word),
    ("x=(1 {{v}}); printf '[%s]' \"${x[1]}\"", PlaceholderKind::Word),
    ("x+=([3]={{v}}); printf '[%s]' \"${x[3]}\"", PlaceholderKind::Word),
    ("for x in {{v}}; do printf '[%s]' \"$x\"; done", PlaceholderKind::Word),
    ("select x in {{v}}; do printf '[%s]' \"$x\"; break; done <<<1 2>&-", PlaceholderKind::Word),
    ("f() { printf '[%s]' {{v}}; }; f", PlaceholderKind::Word),
    ("f() (printf '[%s]' \"$1\"); f {{v}}", PlaceholderKind::Word),
    ("coproc { printf '[%s]' {{v}}; }; cat <&\"${COPROC[0]}\"", PlaceholderKind::Word),
    ("printf '[%s]' \"{{v}}\"", PlaceholderKind::DoubleQuoted),
    ("printf '[%s]' '{{v}}'", PlaceholderKind::SingleQuoted),
    ("printf '[%s]' $'{{v}}'", PlaceholderKind::AnsiQuoted),
    ("printf '[%s]' $\"{{v}}\"", PlaceholderKind::DoubleQuoted),
    ("printf %s \"$(printf '[%s]' {{v}})\"", PlaceholderKind::Word),
    ("printf %s \"`printf '[%s]' {{v}}`\"", PlaceholderKind::Word),
    ("printf %s \"`printf '[%s]' \\\"{{v}}\\\"`\"", PlaceholderKind::DoubleQuoted),
    ("printf %s \"`printf '[%s]' '{{v}}'`\"", PlaceholderKind::SingleQuoted),
    (
        "x=`printf '[%s]' \"\\`printf %s '{{v}}'\\`\"`; printf %s \"$x\"",
        PlaceholderKind::SingleQuoted,
    ),
    ("cat <(printf '[%s]' {{v}})", PlaceholderKind::Word),
    ("printf '[%s]' ${u:-{{v}}}", PlaceholderKind::Word),
    ("printf '[%s]' \"${u:-{{v}}}\"", PlaceholderKind::DoubleQuoted),
    ("printf '[%s]' \"${u:-\"{{v}}\"}\"", PlaceholderKind::DoubleQuoted),
    ("printf '[%s]' ${u:-'{{v}}'}", PlaceholderKind::SingleQuoted),
    ("printf '[%s]' \"${u:-`printf %s {{v}}`}\"", PlaceholderKind::Word),
    ("x=; : ${x:={{v}}}; printf '[%s]' \"$x\"", PlaceholderKind::DoubleQuoted),
    ("x=X; printf '[%s]' \"${x/X/{{v}}}\"", PlaceholderKind::Pattern),
    ("x=X; printf '[%s]' \"${x/X/'{{v}}'}\"", PlaceholderKind::SingleQuoted),
    ("x=[X]; printf %s \"${x//X/{{v}}}\"", PlaceholderKind::Pattern),
    ("declare -A m; m[{{v}}]=1; printf '[%s]' \"${!m[@]}\"", PlaceholderKind::Key),
    ("declare -A m=([{{v}}]=1); printf '[%s]' \"${!m[@]}\"", PlaceholderKind::Key),
    ("printf '[%s]' \\\n {{v}}", PlaceholderKind::Word),
    ("if true; then printf '[%s]' {{v}}; fi", PlaceholderKind::Word),
    ("case x in x) printf '[%s]' {{v}};; esac", PlaceholderKind::Word),
    ("printf %s \"$(case x in x) printf '[%s]' {{v}};; esac)\"", PlaceholderKind::Word),
    ("while printf '[%s]' {{v}}; do break; done", PlaceholderKind::Word),
    ("{ printf '[%s]' {{v}}; } | cat", PlaceholderKind::Word),
    ("true && ! printf '[%s]' {{v}}", PlaceholderKind::Word),
    ("time printf '[%s]' {{v}} 2>&-", PlaceholderKind::Word),
    ("printf '[%s]' {{v}} &\nwait", PlaceholderKind::Word),
    ("export x={{v}}; printf '[%s]' \"$x\"", PlaceholderKind::Word),
    ("export \"x={{v}}\"; printf '[%s]' \"$x\"", PlaceholderKind::DoubleQuoted),
    ("f() { local x={{v}}; printf '[%s]' \"$x\"; }; f", PlaceholderKind::Word),
    ("readonly x={{v}}; printf '[%s]' \"$x\"", PlaceholderKind::Word),
    ("x={{v}} bash -c 'printf \"[%s]\" \"$x\"'", PlaceholderKind::Word),
    ("declare -A m; m+=([{{v}}]=1); printf '[%s]' \"${!m[@]}\"", PlaceholderKind::Key),
    (
        "declare -A m; m[x{{v}}]='[z]'; echo \"${m[x{{v}}]}\" >f; printf '[%s]' {{v}}",
        PlaceholderKind::Key,
    ),
    ("f() { printf '[%s]' \"$1\"; }; f <<EOF {{v}}\nx {{v}}\nEOF", PlaceholderKind::Word),
    ("declare -A m; m[k]={{v}}; printf '[%s]' \"${m[k]}\"", PlaceholderKind::Word),
];

#[test]
fn the_value_arrives_exactly() {
    for (text, kind) in PRINTS {
        let parsed = ShellText::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(parsed.placeholders()[0].kind, *kind, "{text}");
        let filled = fill(text, &[("v", NASTY)]);
        let ran = bash(&filled);
        let expected = format!("[{NASTY}]");
        let stdout = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(stdout, expected, "{text}\n{}\n{}", filled.script, ran.stderr);
        assert!(!ran.pwned, "{text}");
    }
}

#[test]
fn here_documents_take_the_text() {
    let value = "x'\"$(touch pwned)`id`\\\n\tEOF\nEOF\ntouch pwned\n";
    for (text, expected) in [
        ("cat <<EOF\n{{v}}|$((1+1))\nEOF", format!("{value}|2\n")),
        (
            "cat <<'EOF'\n{{v}}|$((1+1)) `id` \\\nx\\\\\nEOF\n",
            format!("{value}|$((1+1)) `id` \\\nx\\\\\n"),
        ),
        (
            "cat <<-\\EOF\n\t\t{{v}}\t|\\\n\t\"$HOME\"\n\tEOF\n",
            format!("{value}\t|\\\n\"$HOME\"\n"),
        ),
        ("printf '%s\\n' \"$(cat <<'EOF'\n) it's {{v}}|\nEOF\n)\"", format!(") it's {value}|\n")),
        ("printf '%s\\n' \"`cat <<'EOF'\n\\$x \\\\ {{v}}|\nEOF\n`\"", format!("$x \\ {value}|\n")),
        (
            "cat <<A <<-'B'; cat <<C\na\nA\n\tb $x {{v}}\n\tB\n{{v}}c\nC\n",
            format!("b $x {value}\n{value}c\n"),
        ),
        ("cat <<EOF\n${u:-{{v}}}$(printf %s {{v}}.)\nEOF", format!("{value}{value}.\n")),
        ("if true; then cat <<'EOF'; fi\n{{v}}$\nEOF", format!("{value}$\n")),
    ] {
        let filled = fill(text, &[("v", value)]);
        let ran = bash(&filled);
        let stdout = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(stdout, expected, "{text}\n{}\n{}", filled.script, ran.stderr);
        assert!(!ran.pwned, "{text}");
    }
}

/// What the parser library takes for other quoting than bash does.
#[test]
fn quoting_that_is_easily_misread() {
    let value = "x'\"$(touch pwned)`id` \\ é";
    for (text, expected) in [
        (r#"a=($'\'' 'x {{v}}'); printf %s "${a[1]}""#, "x V"),
        (r#"a=($'\'' "x {{v}}" $'\''); printf %s "${a[1]}""#, "x V"),
        (r#"U=u; printf %s "{\"u\": \"$U {{v}}\"}""#, r#"{"u": "u V"}"#),
        (r#"printf %s "{\"t\": \"$(echo t)\"}" {{v}}"#, r#"{"t": "t"}V"#),
        (r#"U=a/b; p=${U//\//_}; printf %s $p{{v}}"#, "a_bV"),
        (r#"x='"a"'; x="${x%\"}"; printf %s "$x{{v}}${x#\"}""#, "\"aVa"),
        (r#"printf '%s.' \{} \; {{v}}"#, "{}.;.V."),
        (r#"printf '%s.' \{{{v}}\}"#, "{V}."),
        ("cat <<A - <<B\na {{v}}\nA\nb {{v}} $((1+1))\nB\n", "b V 2\n"),
        ("x=1; cat <<A; cat <<B\n$x {{v}}\nA\n$x {{v}} ${x%\\\"}\nB\n", "1 V\n1 V 1\n"),
        ("cat <<'END-X'\n$x {{v}}\nEND-X\necho {{v}}", "$x V\nV\n"),
        ("cat <<-\"a b\"\n\t$x {{v}} END\n\ta b\necho {{v}}", "$x V END\nV\n"),
        ("cat <<E\\-X\n$x {{v}}\nE-X\n", "$x V\n"),
        ("x=1; cat <<E-X\n$x {{v}}\nE-X\n", "1 V\n"),
        ("cat <(case x in x) printf %s {{v}};; esac)", "V"),
        ("cat <(cat <<E\n\"' {{v}}\nE\n)", "\"' V\n"),
        ("a=(1 # it's {{v}}\n{{v}})\nprintf %s \"${a[@]}\"", "1V"),
        ("(printf %s {{v}} # '{{v}}\n)", "V"),
        ("if [[ x =~ ^(a|x')')$ || 1 ]]; then printf %s {{v}}; fi", "V"),
    ] {
        let filled = fill(text, &[("v", value)]);
        let ran = bash(&filled);
        let stdout = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(
            stdout,
            expected.replace('V', value),
            "{text}\n{}\n{}",
            filled.script,
            ran.stderr
        );
        assert!(!ran.pwned, "{text}");
    }
}

/// Each of these, with `a[$(touch pwned)]`: refused, or the value does not run and is not lost.
#[test]
fn quoting_that_is_not_certain_is_refused() {
    for text in [
        r"a=($'it\'s' [{{v}}]=x)",
        r"a=(1 $'it\'s' [{{v}}]=x $'it\'s')",
        r"a+=($'\'' [{{v}}]+=x)",
        "echo \"$\\\n{{v}}\"",
        "echo $\\\n\\\n{{v}}",
        "echo {a,b}$'{{v}}\\t'",
        "cat <<E\n$\\\n{{v}}\nE\n",
        "echo \"$$(echo {{v}})\"",
        "echo $(cat <<E)\n{{v}}\nE",
        "cat <<E $(echo\n) {{v}}\nE",
    ] {
        let Ok(parsed) = ShellText::parse(text) else { continue };
        let filled = parsed.fill(&mut |_| Some("a[$(touch pwned)]".into()));
        assert!(filled.is_err(), "{text}\n{filled:?}");
    }
}

/// What has no placeholder need not be understood, and does not count against any limit.
#[test]
fn other_parts_do_not_matter() {
    let deep = |open: &str, close: &str| open.repeat(150) + "echo x" + &close.repeat(150);
    for other in [
        "shopt -s expand_aliases\nalias ll='ls -l' echo=': '\n".to_owned(),
        "> f case if\n".to_owned(),
        "echo a\n".repeat(60_000),
        "# it's\n\n".repeat(60_000),
        deep("{ ", "; }") + "\n",
        deep("$(", ")") + "\n",
        format!("echo {}\n", "{".repeat(700)),
        format!("f() {{\n> f case if\n{}}}\n", "echo a\n".repeat(60_000)),
        format!("cat <<'E'\n{}\nE\n", "it's `${\n".repeat(50_000)),
    ] {
        let shown: String = other.chars().take(60).collect();
        for text in [format!("{other}echo {{{{v}}}}\n"), format!("echo {{{{v}}}}\n{other}")] {
            let parsed = ShellText::parse(&text).unwrap_or_else(|e| panic!("{shown}: {e:?}"));
            assert_eq!(parsed.placeholders()[0].kind, PlaceholderKind::Word, "{shown}");
        }
    }
}

/// Declarations in a part that is not understood are asked of bash.
#[test]
fn attributes_in_other_parts_count() {
    for text in [
        "declare -i n; > f case if\nn={{v}}",
        "f() {\ndeclare -ig n; > f case if\n}\nf; n={{v}}",
        "declare -i n; x=\"{\\\"u\\\": \\\"$U\\\"}\"\nn={{v}}",
        "f() { echo {{v}}; }\nx=\"{\\\"t\\\": \\\"$(declare -f f)\\\"}\"\nbash <<<\"$(declare -f f); f\"",
    ] {
        let Ok(parsed) = ShellText::parse(text) else { continue };
        let Ok(filled) = parsed.fill(&mut |_| Some("a[$(touch pwned)]".into())) else { continue };
        let ran = bash(&filled);
        assert!(!ran.pwned && ran.code != Some(0), "{text}\n{}\n{}", filled.script, ran.stderr);
    }
}

#[test]
fn patterns_are_literal() {
    for value in ["*", "a?c", "[a-c]", "a.c", "(", "\\", "#", "%x", "/", "+(a)", "^a", "a$", "&"] {
        for text in [
            "case {{v}} in {{v}}) echo y;; *) echo n;; esac; case abc in {{v}}) echo y;; *) echo n;; esac",
            "case a{{v}} in a{{v}}) echo y;; *) echo n;; esac; case abc in ({{v}}) echo y;; *) echo n;; esac",
            "[[ {{v}} == {{v}} ]] && echo y; [[ abc == {{v}} ]] || echo n",
            "[[ x{{v}} == x{{v}} ]] && echo y; [[ abc != {{v}} ]] && echo n",
            "[[ {{v}} =~ ^{{v}}$ ]] && echo y; [[ abc =~ ^{{v}}$ ]] || echo n",
            "[[ {{v}} =~ ^({{v}}|q)$ ]] && echo y; [[ abc =~ ^'{{v}}'$ ]] || echo n",
            "s={{v}}T; [[ \"${s#{{v}}}\" = T ]] && echo y; s=abc; [[ ${s#{{v}}} = abc ]] && echo n",
            "s=T{{v}}; [[ \"${s%{{v}}}\" = T ]] && echo y; s=abc; [[ ${s%%{{v}}} = abc ]] && echo n",
            "s={{v}}T; [[ \"${s/{{v}}/}\" = T ]] && echo y; s=abc; [[ ${s/{{v}}/} = abc ]] && echo n",
            "s={{v}}T; [[ \"${s/#{{v}}/}\" = T ]] && echo y; s=abc; [[ ${s//{{v}}} = abc ]] && echo n",
            "[[ {{v}} == @(q|{{v}}) ]] && echo y; [[ abc == @({{v}}) ]] || echo n",
            "s={{v}}T; cat <<E | grep -qx T && echo y; echo n\n${s#{{v}}}\nE",
        ] {
            let filled = fill(text, &[("v", value)]);
            let ran = bash(&filled);
            let stdout = String::from_utf8(ran.stdout).unwrap();
            assert_eq!(stdout, "y\nn\n", "{value} {text}\n{}\n{}", filled.script, ran.stderr);
        }
    }
}

#[test]
fn integers_only_where_bash_calculates() {
    for (text, expected) in [
        ("echo $(( 1 - {{v}} ))", "6"),
        ("echo $[1-{{v}}]", "6"),
        ("(( x = 2*{{v}} )); echo $x", "-10"),
        ("[[ {{v}} -eq -5 && -5 -eq \"{{v}}\" ]] && echo y", "y"),
        ("s=abcdefg; echo ${s:{{v}}:1}", "c"),
        ("s=abcdefg; echo \"${s: {{v}}:1}\"", "c"),
        ("a=(1 2 3 4 5 6); echo ${a[{{v}}]}", "2"),
        ("a=(1 2 3 4 5 6); echo \"${a[{{v}}+1]}\"", "3"),
        ("a=(1 2 3 4 5 6); a[{{v}}]=x; echo ${a[1]}", "x"),
        ("a=(1 2 3 4 5 6); a[1-{{v}}]=x; echo ${a[6]}", "x"),
        ("a=([5+{{v}}]=x); echo ${a[0]}", "x"),
        ("for ((i={{v}}; i<{{v}}+2; i++)); do printf %s $i; done", "-5-4"),
        ("declare -i n={{v}}; echo $n", "-5"),
        ("declare -i n; n={{v}}*2; echo $n", "-10"),
        ("let x={{v}}+1 'y={{v}}'; echo $x$y", "-4-5"),
        ("echo \"$(( $(printf %s {{v}}) + 1 ))\"", "-4"),
        ("echo `echo $(( {{v}} + 1 ))`", "-4"),
        ("cat <<E\n$(( {{v}} + 1 ))\nE", "-4"),
    ] {
        let ran = bash(&fill(text, &[("v", "-05")]));
        let stdout = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(stdout.trim_end(), expected, "{text}\n{}", ran.stderr);
        let parsed = ShellText::parse(text).unwrap();
        if text.contains("printf %s {{v}}") {
            continue;
        }
        for bad in ["", "x", "1+1", "a[$(touch pwned)]", "1.5", "9223372036854775808"] {
            let error = parsed.fill(&mut |_| Some(bad.into())).unwrap_err();
            assert_eq!(&text[error.range], "{{v}}");
        }
    }
}

#[test]
fn what_cannot_take_a_value_is_refused() {
    for text in [
        "{{v}}=1",
        "a{{v}}=1 cmd",
        "{{v}}[0]=1",
        "{{v}}() { :; }",
        "function {{v}} { :; }",
        "for {{v}} in a; do :; done",
        "select {{v}} in a; do :; done",
        "cat <<{{v}}\nx\nEOF",
        "cat <<'E{{v}}'\nx\nEOF",
        "export {{v}}",
        "export {{v}}=1",
        "declare -n r={{v}}",
        "declare -n r; r={{v}}",
        "declare -a x={{v}}",
        "readonly -a x={{v}}",
        "declare \"{{v}}=1\"",
        "declare -a \"x={{v}}\"",
        "builtin declare -a x={{v}}",
        "\\declare -a x={{v}}",
        "[[ -v {{v}} ]]",
        "[[ -v a[{{v}}] ]]",
        "echo ${{{v}}}",
        "echo ${#{{v}}}",
        "echo ${!{{v}}}",
        "echo {1..{{v}}}",
        "echo $(( 1{{v}} ))",
        "echo $(( ${{v}} ))",
        "echo $(( x{{v}} ))",
        "echo $(( ${u:-{{v}}} ))",
        "echo $((echo {{v}}) | cat)",
        "((echo {{v}}); ls)",
        "[[ a =~ [{{v}}] ]]",
        "case a in [{{v}}]) ;; esac",
        "declare -A m; (( m[{{v}}]++ ))",
        "echo {{v}} 'open",
        "echo {{v}} )",
        "cat <<EOF\n{{v}}\n",
        "echo `echo \\\\{{v}}`",
        "echo $'\\c{{v}}'",
        "echo \"${u:-'$x{{v}}'}\"",
        "[[ a {{v}} b ]]",
        "exec {a[{{v}}]}>f",
        "echo ${x@{{v}}}",
    ] {
        match ShellText::parse(text) {
            Ok(parsed) => panic!("{text}: accepted as {:?}", parsed.placeholders()),
            Err(error) => {
                assert!(text.get(error.range.clone()).is_some(), "{text}: {error:?}");
                assert!(!error.message.is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn text_without_placeholders_runs_as_written() {
    for text in ["echo 'open", "if true; then", "echo $(", "echo \\{{x}} \"", ")"] {
        let parsed = ShellText::parse(text).unwrap();
        assert_eq!(parsed.warnings().len(), 1, "{text}");
        assert_eq!(parsed.warnings()[0].code, "bash-syntax");
        let filled = parsed.fill(&mut |_| None).unwrap();
        assert_eq!(filled.command("/f"), text.replace("\\{{", "{{"));
    }
    let parsed = ShellText::parse("echo '{{.Names}}' # don't").unwrap();
    assert!(parsed.warnings().is_empty() && parsed.placeholders().is_empty());
    assert!(ShellText::parse(&"echo a\n".repeat(100_000)).unwrap().warnings().is_empty());
}

#[test]
fn comments_are_harmless() {
    let text = "echo a # {{v}}\n# {{v}}\nx=$(echo b # {{v}}\n); echo $x\n{ # {{v}}\n:; }\n";
    let filled = fill(text, &[("v", "\ntouch pwned")]);
    assert_eq!(filled.values, Vec::<String>::new());
    let ran = bash(&filled);
    assert_eq!(ran.stdout, b"a\nb\n");
    assert!(!ran.pwned);
}

#[test]
fn one_value_is_one_variable_and_lines_stay_true() {
    let text = "echo {{a}} $LINENO\necho '{{b}}' \"{{a}}\" $LINENO";
    let filled = fill(text, &[("a", "1"), ("b", "2")]);
    assert_eq!(filled.values, ["1", "2"]);
    assert_eq!(filled.script.lines().count(), 2);
    assert_eq!(bash(&filled).stdout, b"1 1\n2 1 2\n");
}

#[test]
fn the_script_does_not_run_without_its_values() {
    let filled = fill("echo ran {{v}}", &[("v", "x")]);
    let ran = crate::run_filled_text_in_bash::plain(&filled.command("/nonexistent/values"));
    assert_eq!((ran.code, ran.stdout.as_slice()), (Some(125), &b""[..]));
}

#[test]
fn values_are_not_exported() {
    let ran = bash(&fill("x={{v}}; env", &[("v", "secret")]));
    assert!(!String::from_utf8_lossy(&ran.stdout).contains("secret"));
}

#[test]
fn limits_give_clean_errors() {
    for (size, limit) in [(200_000, "256 kB"), (2_000_000, "4 MB")] {
        let long = format!("echo {{{{v}}}}{}", " ab".repeat(size));
        let error = ShellText::parse(&long).unwrap_err();
        assert!(error.message.contains(limit), "{}", error.message);
        assert_eq!(&long[error.range], "{{v}}");
    }
    for (open, close, times) in [
        ("$(echo ", ")", 5_000),
        ("(", ")", 5_000),
        ("{ ", "; }", 5_000),
        ("${x:-", "}", 5_000),
        ("\"$(echo ", ")\"", 2_000),
        ("`echo ", "`", 3),
        ("if true; then ", "; fi", 2_000),
        ("[[ ( ", " ) ]]", 1_000),
        ("$((", "))", 2_000),
        ("a | ", "", 20_000),
        ("a && ", "", 5_000),
        ("f() { ", "; }", 2_000),
        ("\n", "", 100_000),
        ("cat <<E\n", "\nE\n", 1_000),
        ("$(( 1 + ", " ))", 1_000),
        ("${x:-", "", 40_000),
        ("${a[", "", 40_000),
        ("{a,", "", 40_000),
    ] {
        let text = format!("{}echo {{{{v}}}}{}", open.repeat(times), close.repeat(times));
        for text in
            [text.clone(), text.replace("{{v}}", "v"), format!("{{{{v}}}} {}", open.repeat(times))]
        {
            if let Ok(parsed) = ShellText::parse(&text) {
                parsed.fill(&mut |_| Some("1".into())).unwrap();
            }
        }
    }
}
