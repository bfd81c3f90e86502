//! Where a value would be read as code after all: warned about, and only there.

use towpath_shell::ShellText;

/// Warnings that are more than notes, and notes.
fn counts(text: &str) -> (usize, usize) {
    let parsed = ShellText::parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let notes = parsed.warnings().iter().filter(|w| w.note).count();
    for warning in parsed.warnings() {
        assert!(
            text[warning.range.clone()].contains("{{") || text.starts_with("n={{v}}"),
            "{text}: {warning:?}"
        );
        assert_eq!(warning.code, "value-as-code");
    }
    (parsed.warnings().len() - notes, notes)
}

#[test]
fn code_with_a_value_in_it() {
    for text in [
        "bash -c \"cd $d; echo {{v}}\"",
        "/bin/sh -c \"echo $x{{v}}\"",
        "bash -x -c \"echo `pwd` {{v}}\"",
        "bash -ec $'echo {{v}}'",
        "bash --rcfile f -c \"echo $x {{v}}\"",
        "bash +o pipefail -c \"echo $x {{v}}\"",
        "bash -c echo*{{v}}",
        "su --command=\"echo {{v}}\" me",
        "ssh $x -t host ls {{v}}",
        "bash -c {a,b}{{v}}",
        "zsh -c \"echo {{v}} >(\" x",
        "sudo -u me bash -c \"$x; echo {{v}}\"",
        "env A=1 B={{v}} sh -c \"$x {{v}}\"",
        "timeout -k 5 10 bash -c \"$x {{v}}\"",
        "nice -n 5 nohup time bash -c \"$x {{v}}\"",
        "bash -c 'eval \"echo {{v}}\"'",
        "wrap sh -c 'echo {{v}}'",
        "xargs -I{} sh -c 'echo {} {{v}}'",
        "find . -exec sh -c 'echo {{v}}' \\;",
        "docker exec box sh -c \"echo $x {{v}}\"",
        "command eval \"echo {{v}}\"",
        "exec bash -c \"echo $x {{v}}\"",
        "eval \"echo {{v}}\"",
        "eval echo {{v}}",
        "trap 'echo {{v}}' EXIT",
        "alias x='echo {{v}}'",
        "python3 -c 'print(\"{{v}}\")'",
        "perl -ne 'print \"{{v}}\"' f",
        "perl -e'print \"{{v}}\"'",
        "ruby -e 'puts \"{{v}}\"'",
        "node --eval='console.log(\"{{v}}\")'",
        "node -e 'console.log(\"{{v}}\")'",
        "awk -F: '/{{v}}/ {print $1}' f",
        "sed 's/x/{{v}}/' f",
        "sed -n -e 's/x/{{v}}/p' f",
        "sed -e's/x/{{v}}/p' f",
        "jq -r '.{{v}}' f",
        "jq --arg a b '.{{v}}' f",
        "ssh -p 22 host ls $x {{v}}",
        "ssh host ls >f {{v}}",
        "ssh $x host ls {{v}}",
        "ssh host \"ls $x {{v}}\"",
        "bash <<EOF\necho {{v}}\nEOF",
        "python3 - <<EOF\nprint('{{v}}')\nEOF",
        "ssh host <<'EOF'\nls {{v}}\nEOF",
        "bash <<< \"echo {{v}}\"",
        "bash -s x <<EOF\necho {{v}}\nEOF",
        "echo \"echo {{v}}\" | bash",
        "cat <<EOF | sh\necho {{v}}\nEOF",
        "x=$(bash -c \"echo $x {{v}}\")",
        "x=`bash -c \"echo $x {{v}}\"`",
        "f() { if true; then eval \"a {{v}}\"; fi; }",
        "$SHELL -c 'echo {{v}}'",
        "\"$BASH\" -euc 'echo {{v}}'",
        "${SHELL:-sh} -c \"echo {{v}}\"",
        "env -S \"sh -c 'echo {{v}}'\"",
        "n={{v}}; echo $((n + 1))",
        "n={{v}}\n((n++))",
        "n={{v}}; [[ $n -gt 1 ]]",
        "n={{v}}; echo ${a[$n]} ${s:n}",
        "n={{v}}; echo ${!n}",
        "n={{v}}; echo \"${n@P}\"",
        "echo $(( $(echo {{v}}) + 1 ))",
        "env BASH_ENV={{v}} bash -c :",
        "psql -c \"select '{{v}}'\"",
        "watch \"ls {{v}}\"",
        "python3.11 -c 'print(\"{{v}}\")'",
        "nodejs -e 'f(\"{{v}}\")'",
        "fish -c 'echo {{v}}'",
        "tcsh -c 'echo {{v}}'",
        "vim -c 'edit {{v}}' f",
        "gdb -ex 'run {{v}}' f",
        "socat - 'EXEC:ls {{v}}'",
    ] {
        let (warnings, _) = counts(text);
        assert!(warnings > 0, "{text}: no warning");
    }
}

#[test]
fn a_value_that_is_the_code_is_only_noted() {
    for text in [
        "eval {{v}}",
        "eval \"{{v}}\"",
        "bash -c {{v}}",
        "bash -c '{{v}}'",
        "sudo sh -c \"{{v}}\" x",
        "python3 -c {{v}}",
        "sed {{v}} f",
        "jq {{v}} f",
        "ssh host {{v}}",
        "echo {{v}} | bash",
        "trap {{v}} EXIT",
        "let x={{v}}",
        "declare -i n={{v}}",
    ] {
        assert_eq!(counts(text), (0, 1), "{text}");
    }
}

#[test]
fn data_is_not_warned_about() {
    for text in [
        "bash -c 'echo \"$1\"' _ {{v}}",
        "env X={{v}} bash -c 'echo \"$X\"'",
        "X={{v}} sh -c 'echo \"$X\"'",
        "bash script.sh {{v}}",
        "bash -x script.sh -c {{v}}x",
        "bash < {{v}}",
        "source {{v}}",
        "python3 script.py -c {{v}}",
        "python3 -c 'import sys; print(sys.argv[1])' {{v}}",
        "python3 -m json.tool {{v}}",
        "awk -v x={{v}} '{print x}' {{v}}",
        "awk -f prog.awk {{v}}",
        "sed 's/a/b/' {{v}}",
        "sed -i.bak -e 's/a/b/' {{v}}",
        "sed -f script {{v}}",
        "jq --arg v {{v}} '.[$v]' f",
        "jq '.a' {{v}}",
        "ssh {{host}} uptime",
        "ssh -i {{key}} host uptime",
        "grep -e {{v}} f",
        "echo bash -c {{v}}x",
        "git commit -m \"bash -c {{v}}\"",
        "cat <<EOF\n{{v}}\nEOF",
        "bash script.sh <<EOF\n{{v}}\nEOF",
        "python3 script.py <<< {{v}}",
        "echo {{v}} | bash script.sh",
        "echo {{v}} | cat",
        "bash -c \"$(cat {{v}})\"",
        "printf '%s' {{v}}",
        "read -r x <<< {{v}}",
        "read -rp {{v}} x",
        "test -n {{v}}",
        "echo $(( {{v}} + 1 ))",
        "perl script.pl {{v}}",
        "declare x={{v}}",
        "timeout {{v}} bash run.sh",
        "psql -f {{v}}",
        "bash -c 'echo {{v}}'",
        "sudo sh -c \"echo {{v}}\"",
        "docker exec box sh -c \"echo {{v}}\"",
        "ssh host \"ls {{v}}\"",
        "ssh $host \"ls {{v}}\"",
        "ssh -p 22 host -t ls {{v}}",
        "su - me -c 'echo {{v}}'",
        "echo $(( $(wc -l <{{v}}) + 1 ))",
        "getopts {{v}} o {{v}}",
        "printf '%s' n {{v}}; ((n++))",
    ] {
        assert_eq!(counts(text), (0, 0), "{text}");
    }
}

#[test]
fn the_safe_form_is_taught() {
    let parsed = ShellText::parse("bash -c \"echo $x {{v}}\"").unwrap();
    let help = parsed.warnings()[0].help.as_deref().unwrap();
    assert!(help.contains("bash -c '… \"$1\"' _ {{v}}"), "{help}");
}
