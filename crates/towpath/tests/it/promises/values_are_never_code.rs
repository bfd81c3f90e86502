//! Values: an output is the text that was printed, a placeholder takes it as it is, and nothing of it is
//! ever code or part of the environment.

use super::runner;
use crate::support::User;

#[test]
fn an_output_is_the_text_that_was_printed() {
    let texts = ["1.10", "1e3", "12345678901234567890123", "\"quoted\"", "null", "true", "  lead"];
    let mut recipe = "name: r\nsteps:\n".to_owned();
    for (index, text) in texts.iter().chain(&["{\"b\":1,\"a\":2}"]).enumerate() {
        recipe.push_str(&format!("  - id: v{index}\n    command: printf '%s\\n\\n' '{text}'\n"));
    }
    recipe.push_str(
        "  - id: all\n    command: printf '[%s]' {{v0}} {{v1}} {{v2}} {{v3}} {{v4}} {{v5}} {{v6}} {{v7}}\n",
    );
    let user = User::new().file("r.yaml", &recipe);
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    let all: String = texts.iter().map(|text| format!("[{text}]")).collect();
    assert!(printed.stdout.ends_with(&format!("{all}[{{\"b\":1,\"a\":2}}]")), "{}", printed.stdout);
}

#[test]
fn what_is_set_on_the_command_line_keeps_its_text() {
    let user = User::new()
        .file("r.yaml", "name: r\ncontext: {n: 0}\nsteps:\n  - {id: a, command: 'echo [{{n}}]'}\n");
    for text in ["007", "+5", " 5", "1.10", "null", "TRUE", "", "a=b", "it's \"$HOME\""] {
        let printed = runner(&user, &["r.yaml", "--set", &format!("n={text}")]).exits(0);
        assert!(printed.stdout.contains(&format!("\n[{text}]\n")), "{text}: {}", printed.stdout);
    }
    runner(&user, &["r.yaml", "--set", "=x"]).exits(2).reports("has no name before `=`");
}

#[test]
fn a_value_never_runs_wherever_it_is() {
    let recipe = r#"name: r
context:
  v: placeholder
steps:
  - id: heredoc
    command: |
      cat <<'EOF'
      {{v}}
      EOF
  - id: single
    command: echo '{{v}}'
  - id: double
    command: echo "{{v}}"
  - id: bare
    command: echo {{v}}
  - id: shift
    command: |
      n=2; echo $((1<<n))
      cat <<<"see <<EOF"
      echo {{v}}
  - id: number
    continue_on_error: true
    command: echo $(( {{v}} + 1 ))
"#;
    let user = User::new().file("r.yaml", recipe);
    let value = "x\nEOF\ntouch pwned\n$(touch pwned)`touch pwned`'\"; touch pwned #";
    let printed = user.towpath(&["run", "r.yaml", "--set", &format!("v={value}")]).exits(0);
    assert_eq!(printed.stdout.matches(value).count(), 5, "{}", printed.stdout);
    assert!(!user.path("work/pwned").exists());
    let printed = user.towpath(&["run", "r.yaml", "--set", "v=a[$(touch pwned)]"]).exits(0);
    assert!(printed.stderr.contains("must be an integer"), "{}", printed.stderr);
    assert!(!user.path("work/pwned").exists());
}

#[test]
fn nothing_of_the_context_is_in_the_environment_of_a_step() {
    let recipe = "name: r
context: {bash_env: ./startup.sh, BASH_ENV: ./startup.sh, ld_preload: /nowhere.so, git_dir: /nowhere,
  node_options: hushed, a-b: one, a_b: two, a__b: four, a: {b: three}}
steps:
  - id: look
    command: env | grep -cE 'startup|nowhere|hushed' || echo {{a-b}} {{a_b}} {{a.b}} {{a__b}}
  - id: foreign
    command: echo '{{.Names}}' '{{ .Names }}' \\{{a_b}}
";
    let user = User::new().file("r.yaml", recipe).file("startup.sh", "touch pwned\n");
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    assert_eq!(printed.stdout, "0\none two three four\n{{.Names}} {{ .Names }} {{a_b}}\n");
    assert!(!user.path("work/pwned").exists());
}

#[test]
fn a_failed_step_that_is_tolerated_leaves_what_it_printed_and_opens_no_gate() {
    let recipe = "name: r
steps:
  - {id: first, command: echo PASS, output: verdict}
  - {id: second, command: 'echo broken; exit 1', output: verdict, continue_on_error: true}
  - {id: gate, condition: \"'PASS' in verdict\", command: touch shipped}
  - {id: print, command: 'echo it was {{verdict}}, {{steps.second.exit_code}}'}
";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(0).shows("it was broken, 1\n");
    assert!(!user.path("work/shipped").exists());
}
