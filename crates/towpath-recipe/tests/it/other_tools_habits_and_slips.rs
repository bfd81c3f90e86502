//! Recipes as users of other tools write them at first, and the usual slips: each gets an answer that
//! names the right form.

use crate::temporary_project::Project;
use towpath_recipe::Dialect;

/// What is wrong, the recipe, and what its answer contains: words of the message, the label and the help.
struct Wrong(&'static str, &'static str, &'static [&'static str]);

/// A step of a recipe that is sound otherwise.
macro_rules! step {
    ($fields:literal) => {
        concat!("name: r\ncontext: {a: x, n: 1}\nsteps:\n  - id: s\n", $fields)
    };
}

/// A state machine with one step; what follows its outcome comes last.
macro_rules! machine {
    ($transitions:literal) => {
        concat!(
            "id: m\nlabel: M\ndescription: d\ninitialStep: a\nguardrails: {}\nsteps:\n  a:\n",
            "    prompt: hi\n    outcomes: [done]\n    onOutcome:\n",
            $transitions
        )
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
    // Of agents.
    Wrong("agent: claude", step!("    agent: claude\n    prompt: hi\n"), &["no instructions for an agent `claude`", "the setting `backend`"]),
    Wrong("backend of a step", step!("    backend: claude-code\n    prompt: hi\n"), &["unknown field `backend`", "the setting `backend`"]),
    Wrong("backend of a recipe", recipe!("backend: claude-code\n"), &["unknown field `backend`", "the setting `backend`"]),
    Wrong("model of a recipe", recipe!("model: opus\n"), &["a step has its `model`", "`models.BACKEND.default`"]),
    Wrong("agent of a recipe", recipe!("agent: reviewer\n"), &["a step has its `agent`"]),
    Wrong("concurrency", recipe!("concurrency: 4\n"), &["`parallel_group`", "`max_agents`"]),
    Wrong("session", step!("    session: plan\n    prompt: hi\n"), &["each prompt is a new conversation"]),
    Wrong("delay", step!("    delay: 5\n    command: make\n"), &["write `command: sleep 5`"]),
    Wrong("a variable of the environment", step!("    condition: $CI\n    command: make\n"), &["let a step print it", "`command: echo \"$CI\"`"]),
    Wrong("env.HOME", step!("    command: echo {{env.HOME}}\n"), &["which nothing sets", "the shell has it: write `$HOME`"]),
    Wrong("a comment that was meant", step!("    command: echo issue #42\n"), &["`command` ends before this `#`"]),
    Wrong("a colon in a command", step!("    command: git commit -m \"fix: x\"\n"), &["put quotes around the whole value: 'git commit -m \"fix: x\"'"]),
    // Of task, just and mise.
    Wrong("cmds", step!("    cmds: [make]\n"), &["unknown field `cmds`", "did you mean `command`?"]),
    Wrong("dir", step!("    command: make\n    dir: src\n"), &["did you mean `working_dir`?"]),
    Wrong("deps", step!("    command: make\n    deps: [build]\n"), &["unknown field `deps`", "in the order they are written", "`parallel_group`"]),
    Wrong("sources", step!("    command: make\n    sources: ['*.c']\n"), &["unknown field `sources`", "`[ -e out ] || make out`"]),
    Wrong("confirm", step!("    command: make\n    confirm: Sure?\n"), &["unknown field `confirm`", "`condition: confirmed == 'yes'`"]),
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
    // What YAML reads in its own way.
    Wrong("! with a space", step!("    command: make\n    condition: ! a\n"), &["r.yaml:6:16", "YAML drops a `!`", "write `not a`"]),
    Wrong("! in a command", step!("    command: ! grep -q TODO x\n"), &["r.yaml:5:14", "YAML drops a `!`", "'! grep -q TODO x'"]),
    Wrong("! in a flow map", "name: r\ncontext: {a: x}\nsteps:\n  - {id: s, command: make, condition: ! a}\n", &["YAML drops a `!`", "write `not a`"]),
    Wrong("! without a space", step!("    command: make\n    condition: !a\n"), &["r.yaml:6:16", "as a tag", "write `not a`"]),
    Wrong("a cut prompt", step!("    prompt: Fix issue #12 in the code\n"), &["warning", "r.yaml:5:23", "`prompt` ends before this `#`", "put quotes around the whole `prompt`"]),
    Wrong("a cut command", step!("    command: echo \"issue #12\"\n"), &["unterminated double quote", "put quotes around the whole `command`"]),
    Wrong("a cut condition", step!("    command: make\n    condition: a == 'x # y'\n"), &["YAML ends a text at ` #`", "put quotes around the whole `condition`"]),
    Wrong("a placeholder in a condition", step!("    command: make\n    condition: {{a}} == 'x'\n"), &["must be quoted", "write `a == 'x'`"]),
    Wrong("a condition that begins with a quote", step!("    command: make\n    condition: 'x' in a\n"), &["invalid trailing content", "\"'x' in a\""]),
    Wrong("a condition of bash", step!("    command: make\n    condition: \"$a\" == \"x\"\n"), &["invalid trailing content", "write `a == \"x\"`"]),
    Wrong("a bracket of bash", step!("    command: make\n    condition: [ -f x ]\n"), &["`condition` must be a string, this is a list", "`command: test -f FILE && echo yes || true`"]),
    Wrong("is defined", step!("    command: make\n    condition: a is defined\n"), &["not `is`", "write `a`: a variable without a value is null"]),
    Wrong("is not defined", step!("    command: make\n    condition: a is not defined\n"), &["write `not a`: a variable without a value is null"]),
    Wrong("quotes in quotes", step!("    command: \"echo \"hi\"\"\n"), &["invalid trailing content", "'echo \"hi\"'"]),
    Wrong("a backtick", step!("    command: `date`\n"), &["unexpected character", "'`date`'"]),
    Wrong("a star", step!("    command: *foo\n"), &["unknown anchor", "'*foo'"]),
    Wrong("an open quote", step!("    command: \"echo hi\n    output: x\n"), &["r.yaml:5:14", "is not closed", "end it with `\"`"]),
    Wrong("an open quote at the end", step!("    command: 'echo hi\n"), &["r.yaml:5:14", "is not closed", "end it with `'`"]),
    Wrong("a dash without a space", "name: r\nsteps:\n  -id: a\n   command: make\n", &["r.yaml:3:3", "a space is missing after this `-`", "write `- id: a`"]),
    Wrong("only a dash without a space", "name: r\nsteps:\n  -id: a\n", &["a space is missing after the `-`: write `- id: …`"]),
    Wrong("one step without a dash", "name: r\nsteps:\n  id: a\n  command: make\n", &["`steps` is a map", "begin each step with a `-`: write `- id: …`"]),
    Wrong("commands as steps", "name: r\nsteps: [make]\n", &["a step must be a map of fields, this is a string", "`- id: make` and below it `command: make`"]),
    Wrong("a comment in JSON", "{\"name\": \"r\", // build\n \"steps\": [{\"id\": \"a\", \"command\": \"x\"}]}\n", &["r.yaml:1:15", "JSON has no comments"]),
    Wrong("a comment above JSON", "// build\n{\"name\": \"r\", \"steps\": []}\n", &["r.yaml:1:1", "JSON has no comments"]),
    Wrong("CircleCI", "version: 2.1\njobs:\n  build:\n    docker: [{image: a}]\n    steps: [checkout]\n", &["this is a configuration of CircleCI", "a list of `steps`"]),
    Wrong("GitLab CI", "stages: [build]\nbuild:\n  stage: build\n  script: [make]\n", &["this is a configuration of GitLab CI", "a list of `steps`"]),
    // State machines.
    Wrong("an exit in one word", machine!("      done: exit\n"), &["Transition must be an object", "write `{action: exit, reason: WHY}`"]),
    Wrong("a step in one word", machine!("      done: a\n"), &["Transition must be an object", "write `{nextStep: a}`"]),
    Wrong("goto", machine!("      done: {goto: a}\n"), &["Unknown field 'goto'", "did you mean 'nextStep'?"]),
    Wrong("a condition in a machine", machine!("      done: {action: exit, reason: x}\n    condition: x\n"), &["Unknown field 'condition'", "under 'onOutcome'"]),
    Wrong("max_visits", "id: m\nlabel: M\ndescription: d\ninitialStep: a\nguardrails: {max_visits: 3}\nsteps:\n  a:\n    prompt: hi\n    outcomes: [done]\n    onOutcome:\n      done: {action: exit, reason: x}\n", &["Unknown field 'max_visits'", "did you mean 'maxStepVisits'?"]),
    Wrong("a list in a machine", "id: m\nlabel: M\ndescription: d\ninitialStep: a\nguardrails: {}\nsteps:\n  - id: a\n    prompt: hi\n", &["'steps' must be an object", "write each step as `NAME:`"]),
    Wrong("goto in a list", step!("    command: make\n    goto: b\n"), &["unknown field `goto`", "only a state machine"]),
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

/// A comment stays one, wherever YAML allows it.
#[test]
fn ordinary_comments_are_left_alone() {
    for fields in [
        "    command: make # builds\n",
        "    prompt: Fix it # soon\n",
        "    prompt: Fix it ## soon\n",
        "    prompt: 'Fix issue #12'\n",
        "    prompt: |\n      Fix issue #12\n",
        "    prompt: Fix C#-code\n",
        "    command: '! grep -q x y'\n",
        "    command: make # now !\n    output: x\n",
        "    command: |\n      ! grep -q x y\n",
    ] {
        let text = format!("name: r\nsteps:\n  - id: s\n{fields}");
        let project = Project::new(&[("r.yaml", &text)]);
        assert_eq!(project.report(&project.named("r.yaml")), "", "{text}");
    }
}

#[test]
fn fields_that_are_far_from_ours_are_not_taken_for_them() {
    for field in ["expect", "effort", "extent"] {
        let text = format!("name: r\nsteps:\n  - {{id: s, command: make, {field}: x}}\n");
        let project = Project::new(&[("r.yaml", &text)]);
        let report = project.report(&project.named("r.yaml"));
        assert!(report.contains(field) && !report.contains("did you mean"), "{report}");
    }
}

#[test]
fn keys_of_other_programs_are_left_alone() {
    let text = "name: r\nx-shared: &shared {timeout: 5}\nsteps:\n  - {<<: *shared, id: s, command: make}\n";
    let project = Project::new(&[("r.yaml", text)]);
    assert_eq!(project.report(&project.named("r.yaml")), "");
}

#[test]
fn a_step_of_recipe_runner_with_a_name_and_no_id_is_refused() {
    let text = "name: r\nsteps:\n  - name: x\n    command: echo\n  - {id: b, command: echo}\n";
    let mut project = Project::new(&[("r.yaml", text)]);
    project.run_options.dialect = Dialect::RecipeRunner;
    let resolved = project.named("r.yaml");
    let report = project.report(&resolved);
    assert!(resolved.plan.is_none() && report.contains("the step has no `id`"), "{report}");
}
