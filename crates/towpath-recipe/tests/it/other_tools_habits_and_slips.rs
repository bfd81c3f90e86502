//! Recipes as users of other tools write them at first, and the usual slips: each gets an answer that
//! names the right form.

use crate::temporary_project::Project;

/// What is wrong, the recipe, and what its answer contains: words of the message, the label and the help.
struct Wrong(&'static str, &'static str, &'static [&'static str]);

/// A step of a recipe that is sound otherwise.
macro_rules! step {
    ($fields:literal) => {
        concat!("name: r\ncontext: {a: x, n: 1}\nsteps:\n  - id: s\n", $fields)
    };
}

/// A recipe with one more field.
macro_rules! recipe {
    ($fields:literal) => {
        concat!("name: r\n", $fields, "steps:\n  - {id: s, command: make}\n")
    };
}

#[rustfmt::skip]
const WRONG: &[Wrong] = &[
    // Fields of GitHub Actions.
    Wrong("if", step!("    if: a\n    command: make\n"), &["unknown field `if`", "did you mean `condition`?"]),
    Wrong("run", step!("    run: make\n"), &["unknown field `run`", "did you mean `command`?"]),
    Wrong("name of a step", "name: r\nsteps:\n  - name: Build it\n    command: make\n", &["unknown field `name`", "by its `id`"]),
    Wrong("uses", step!("    uses: actions/checkout@v4\n"), &["unknown field `uses`", "`command`", "`recipe`"]),
    Wrong("with", step!("    recipe: r\n    with: {x: 1}\n"), &["unknown field `with`", "`context`"]),
    Wrong("working-directory", step!("    command: make\n    working-directory: src\n"), &["did you mean `working_dir`?"]),
    Wrong("timeout-minutes", step!("    command: make\n    timeout-minutes: 5\n"), &["write `timeout: 5m`"]),
    Wrong("continue-on-error", step!("    command: make\n    continue-on-error: true\n"), &["did you mean `continue_on_error`?"]),
    Wrong("strategy and matrix", step!("    command: make\n    strategy: {matrix: {os: [a]}}\n"), &["unknown field `strategy`", "loop inside its `command`"]),
    Wrong("env", recipe!("env: {A: b}\n"), &["unknown field `env`", "`context`", "NAME=… command"]),
    Wrong("on", recipe!("on: push\n"), &["unknown field `on`", "cron, a git hook or CI"]),
    Wrong("a whole workflow", "name: CI\non: [push]\njobs:\n  build:\n    runs-on: x\n    steps: [{run: make}]\n", &["this is a GitHub Actions workflow", "a list of `steps`"]),
    // Of task, just and mise.
    Wrong("cmds", step!("    cmds: [make]\n"), &["unknown field `cmds`", "did you mean `command`?"]),
    Wrong("dir", step!("    command: make\n    dir: src\n"), &["did you mean `working_dir`?"]),
    Wrong("deps", step!("    command: make\n    deps: [build]\n"), &["unknown field `deps`", "in the order they are written", "`parallel_group`"]),
    Wrong("sources", step!("    command: make\n    sources: ['*.c']\n"), &["unknown field `sources`", "`[ -e out ] || make out`"]),
    Wrong("confirm", step!("    command: make\n    confirm: Sure?\n"), &["unknown field `confirm`", "`condition: confirmed`"]),
    Wrong("vars", recipe!("vars: {A: b}\n"), &["unknown field `vars`", "`context`"]),
    Wrong("desc", recipe!("desc: builds\n"), &["did you mean `description`?"]),
    Wrong("a whole Taskfile", "version: '3'\ntasks:\n  build:\n    cmds: [make]\n", &["this is a Taskfile", "a list of `steps`"]),
    Wrong("a whole justfile", "set shell := [\"bash\", \"-c\"]\n\nbuild:\n    make\n", &["this is a justfile", "a list of `steps`"]),
    Wrong("a file of mise", "[tasks.build]\nrun = \"make\"\n", &["this is a file of mise", "a list of `steps`"]),
    // Of Ansible.
    Wrong("when", step!("    when: a\n    command: make\n"), &["unknown field `when`", "did you mean `condition`?"]),
    Wrong("shell", step!("    shell: make\n"), &["unknown field `shell`", "did you mean `command`?"]),
    Wrong("register", step!("    command: make\n    register: out\n"), &["did you mean `output`?"]),
    Wrong("retries", step!("    command: make\n    retries: 3\n"), &["unknown field `retries`", "for try in 1 2 3"]),
    Wrong("a whole playbook", "- hosts: all\n  tasks: [{name: x, shell: make}]\n", &["this is an Ansible playbook", "a list of `steps`"]),
    // Of Archon and conductor.
    Wrong("depends_on", step!("    prompt: hi\n    depends_on: [a]\n"), &["unknown field `depends_on`", "in the order they are written"]),
    Wrong("for_each", step!("    prompt: hi\n    for_each: [a]\n"), &["unknown field `for_each`", "a state machine"]),
    Wrong("system_prompt", step!("    prompt: hi\n    system_prompt: be brief\n"), &["unknown field `system_prompt`", "`agent: NAME`"]),
    Wrong("input", recipe!("inputs: {topic: {type: string}}\n"), &["unknown field `inputs`", "`context`", "`required_context`"]),
    Wrong("a whole Archon workflow", "name: w\nnodes:\n  - {id: a, prompt: hi}\n", &["this is an Archon workflow", "a list of `steps`"]),
    Wrong("a whole conductor workflow", "workflow: {name: w, entry_point: a}\nagents:\n  - {name: a, prompt: hi}\n", &["this is a conductor workflow", "a list of `steps`"]),
    // Slips.
    Wrong("a misspelt field", step!("    comand: make\n"), &["unknown field `comand`", "did you mean `command`?"]),
    Wrong("a field of the recipe in a step", step!("    command: make\n    hooks: {}\n"), &["this belongs to the recipe itself"]),
    Wrong("steps as a map", "name: r\nsteps:\n  build:\n    command: make\n", &["`steps` is a map: did you mean a list?", "`- id: build`"]),
    // Values of a wrong type.
    Wrong("a list of commands", step!("    command: [make, test]\n"), &["`command` must be a string, this is a list", "`command: |`"]),
    Wrong("a timeout in days", step!("    command: make\n    timeout: 5d\n"), &["`timeout` must be seconds above 0, such as `30` or `5m`"]),
    Wrong("yes", step!("    command: make\n    continue_on_error: yes\n"), &["must be true or false", "write `true`, without quotes"]),
    Wrong("tags in one string", recipe!("tags: a\n"), &["a list of strings", "write `[a]`"]),
    // Conditions.
    Wrong("a regular expression", step!("    command: make\n    condition: a =~ 'x.*'\n"), &["no regular expressions", "`'part' in whole`"]),
    Wrong("a single =", step!("    command: make\n    condition: a = 'x'\n"), &["`=` does not compare", "write `==`"]),
    Wrong("is", step!("    command: make\n    condition: a is 'x'\n"), &["an operator is expected here, not `is`", "write `==`"]),
    Wrong("a missing quote", step!("    command: make\n    condition: a == prod\n"), &["reads `prod`, which nothing sets", "did you mean 'prod'?"]),
    Wrong("a test of bash", step!("    command: make\n    condition: '[ -f x ]'\n"), &["is a test of bash", "`command: test -f FILE && echo yes || true`"]),
    Wrong("a function of GitHub", step!("    command: make\n    condition: contains(a, 'x')\n"), &["there is no function `contains`", "`'part' in whole`"]),
    Wrong("${{ }}", step!("    command: make\n    condition: ${{ a == 'x' }}\n"), &["no `{{…}}` placeholders", "without `${{` and `}}`"]),
    Wrong("${{ }} in a command", "name: r\ncontext: {version: 2}\nsteps:\n  - {id: s, command: 'echo v${{ version }}'}\n", &["the `$` stays before the value", "write {{version}}, without `$`"]),
    Wrong("always()", step!("    command: make\n    condition: always()\n"), &["there is no function `always`", "`continue_on_error: true`"]),
    // Indentation.
    Wrong("a field too far left", step!("    command: make\n   output: x\n"), &["begins at column 4, where column 5 is expected"]),
    Wrong("a field too far right", step!("     command: make\n"), &["begins at column 6, where column 5 is expected"]),
    Wrong("a field beside its dash", step!("  command: make\n"), &["begins at column 3, where column 5 is expected"]),
    Wrong("an item too far left", step!("    command: make\n - id: t\n   command: make\n"), &["begins at column 2, where column 3 is expected"]),
    Wrong("a text beside its field", step!("    command: |\n    make\n"), &["begins at column 5, where column 7 is expected", "`command`"]),
    Wrong("a field below the name", "name: r\n  description: x\nsteps:\n  - {id: s, command: make}\n", &["begins at column 3, where column 1 is expected"]),
    Wrong("a tab", "name: r\nsteps:\n\t- id: s\n\t  command: make\n", &["indent with spaces"]),
    Wrong("a tab below a value", step!("\tcommand: make\n"), &["r.yaml:5:1", "indent with spaces"]),
];

#[test]
fn each_wrong_recipe_is_answered_with_the_right_form() {
    assert!(WRONG.len() >= 45, "{}", WRONG.len());
    let mut unanswered = Vec::new();
    for Wrong(what, text, words) in WRONG {
        let project = Project::new(&[("r.yaml", text)]);
        let report = project.report(&project.named("r.yaml"));
        // The first problem is read first: it has to be the one that helps.
        let first = report.lines().next().unwrap_or("");
        if !words.iter().all(|word| first.contains(word)) {
            unanswered.push(format!("{what}: {words:?}\n{report}"));
        }
    }
    assert!(unanswered.is_empty(), "{}", unanswered.join("\n"));
}

/// What was meant is not reported as missing, too.
#[test]
fn one_wrong_field_is_one_problem() {
    let alone = [
        "if",
        "run",
        "name of a step",
        "uses",
        "cmds",
        "shell",
        "desc",
        "steps as a map",
        "a whole workflow",
        "a whole Taskfile",
        "a whole justfile",
        "a whole playbook",
        "a whole Archon workflow",
        "a whole conductor workflow",
        "a field too far left",
    ];
    for Wrong(what, text, _) in WRONG.iter().filter(|wrong| alone.contains(&wrong.0)) {
        let project = Project::new(&[("r.yaml", text)]);
        let report = project.report(&project.named("r.yaml"));
        assert_eq!(report.lines().count(), 1, "{what}: {report}");
    }
}

#[test]
fn files_of_other_tools_are_known_by_their_names() {
    for (file, what) in [("justfile", "a justfile"), ("sub/Makefile", "a makefile")] {
        let project = Project::new(&[(file, "build:\n    make\ntest: build\n    make test\n")]);
        let report = project.report(&project.named(file));
        assert!(report.contains(&format!("this is {what}, not a recipe")), "{report}");
    }
}

/// Unknown recipes and agents are reported with the rest, also those of steps that have another problem.
#[test]
fn all_problems_come_at_once() {
    let text = "name: r
steps:
  - {id: a, comand: x}
  - {id: b, recipe: no-recipe}
  - {id: c, agent: no-agent, prompt: hi}
  - {id: d, agent: no-agent-either, promt: hi}
  - {id: e, recipe: no-recipe-either, condition: a =~ 'x'}
";
    let project = Project::new(&[("r.yaml", text)]);
    let report = project.report(&project.named("r.yaml"));
    for words in [
        "unknown field `comand`",
        "there is no recipe `no-recipe`",
        "there is no agent `no-agent`",
        "unknown field `promt`",
        "there is no agent `no-agent-either`",
        "no regular expressions",
        "there is no recipe `no-recipe-either`",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    assert_eq!(report.lines().count(), 7, "{report}");
}

#[test]
fn a_machines_step_knows_fields_of_other_tools_too() {
    let text = "id: r
label: R
description: r
initialStep: a
guardrails: {}
steps:
  a:
    run: make
    outcomes: [success, failure]
    onOutcome:
      success: {action: exit, reason: done}
      failure: {action: exit, reason: failed}
";
    let project = Project::new(&[("r.yaml", text)]);
    let report = project.report(&project.named("r.yaml"));
    assert!(
        report.contains("Unknown field 'run' in step 'a' | did you mean 'command'?"),
        "{report}"
    );
    assert_eq!(report.lines().count(), 1, "{report}");
}

#[test]
fn a_time_has_a_unit_or_is_in_seconds() {
    let timeout = |written: &str| {
        let text = format!("name: r\nsteps:\n  - {{id: s, command: make, timeout: {written}}}\n");
        let project = Project::new(&[("r.yaml", &text)]);
        project.named("r.yaml").program.and_then(|program| program.root().steps[0].timeout)
    };
    for (written, seconds) in
        [("30", 30.0), ("0.5", 0.5), ("90s", 90.0), ("5m", 300.0), ("2h", 7200.0), ("1.5h", 5400.0)]
    {
        assert_eq!(timeout(written).map(|t| t.as_secs_f64()), Some(seconds), "{written}");
    }
    for written in ["0m", "5d", "m", ".5m", "5.m", "-5m", "5 m", "1e3s", "9999999999999h", "'30'"] {
        assert_eq!(timeout(written), None, "{written}");
    }
}
