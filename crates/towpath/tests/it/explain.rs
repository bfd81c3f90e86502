//! `towpath explain`: machines and sequences, in every format.

use crate::support::User;
use serde_json::{Value, json};

const BUILT_IN: [&str; 8] = [
    "review-and-commit",
    "document-design",
    "break-down-tasks",
    "implement-and-review",
    "implement-and-review-all",
    "rebase",
    "retrospective",
    "refine-design",
];

pub const SHIP: &str = r#"id: ship
label: Ship
description: Tests, fixes and ships
initialStep: test
guardrails: {maxStepVisits: 2}
model: opus
steps:
  test:
    command: make test
    outcomes: [success, failure]
    onOutcome:
      success: {nextStep: ship}
      failure: {nextStep: fix}
  fix:
    prompt: Fix what the tests found.
    outcomes: [complete, stuck, other]
    onOutcome:
      complete: {nextStep: test}
      stuck: {action: exit, reason: needs-help}
      other: {action: exit, reason: user-provided-other}
  ship:
    prompt: Ship it.
    model: haiku
    outcomes: [shipped, next, other]
    onOutcome:
      shipped: {action: exit, reason: shipped}
      next: {action: restart-new-session, recipeId: ship}
      other: {action: exit, reason: user-provided-other}
"#;

fn explained(user: &User, recipe: &str, format: &str) -> String {
    user.towpath(&["explain", recipe, "--format", format]).exits(0).stdout
}

#[test]
fn a_machine_in_a_pipe_is_one_line_for_each_transition() {
    let user = User::new().file("ship.yaml", SHIP);
    let printed = user.towpath(&["explain", "ship.yaml"]).exits(0);
    assert_eq!(
        printed.stdout,
        "ship: Tests, fixes and ships

  test  success   → ship
  test  failure   → fix
  fix   complete  → test
  fix   stuck     → exit needs-help
  ship  shipped   → exit shipped
  ship  next      → restart ship

  at most 4 steps, 4 agent calls in each session · restarts without end · every agent step also fails on `other` · each step at most 2 times

ends
  needs-help                     2 steps  test, fix
  shipped                        2 steps  test, ship
  restart ship                   2 steps  test, ship
  fail user-provided-other                on `other`
  max-step-visits-exceeded:test  limit    after fix
"
    );
}

#[test]
fn programs_are_reported_transitions_limits_and_ways_out() {
    let user = User::new().file("ship.yaml", SHIP);
    let json = user.towpath(&["explain", "ship.yaml", "--format", "json"]).exits(0).json();
    assert_eq!(json["schema"], 1);
    let ship = &json["recipes"][0];
    assert_eq!(ship["steps"][0]["outcomes"][1], json!({ "name": "failure", "next": "fix" }));
    assert_eq!(
        ship["steps"][1]["outcomes"][1],
        json!({ "name": "stuck", "exit": "needs-help", "success": true })
    );
    assert_eq!(ship["steps"][2]["outcomes"][1], json!({ "name": "next", "restart": "ship" }));
    let machine = &ship["machine"];
    assert_eq!(
        machine["bounds"],
        json!({
            "steps_per_session": 4,
            "agent_calls_per_session": 4,
            "exact": true,
            "restarts": Value::Null,
        })
    );
    assert_eq!(machine["guardrails"]["max_step_visits"], 2);
    assert_eq!(machine["guardrail_reasons"], json!(["max-step-visits-exceeded:test"]));
    let first = json!({
        "exit": "needs-help",
        "success": true,
        "steps": [
            { "step": "test", "outcome": "failure" },
            { "step": "fix", "outcome": "stuck" },
        ],
    });
    assert_eq!(machine["paths"][0], first);
    let same = user.towpath(&["explain", "ship.yaml", "--json"]).exits(0).json();
    assert_eq!(same, json);
    user.towpath(&["explain", "ship.yaml", "--json", "--format", "svg"]).exits(2);
}

#[test]
fn only_limits_that_apply_are_shown() {
    let user = User::new()
        .file("ship.yaml", SHIP)
        .file("list.yaml", "name: list\nsteps:\n  - {id: call, recipe: ship}\n")
        .file("plain.yaml", "name: plain\nsteps:\n  - {id: a, command: echo}\n")
        .file(
            "bound.yaml",
            "name: bound\nrecursion: {max_total_steps: 1}\nsteps:\n  - {id: call, recipe: ship}\n",
        );
    let last = |recipe: &str| {
        let printed = user.towpath(&["explain", recipe]).exits(0).stdout;
        printed.lines().last().expect("a line").to_owned()
    };
    assert_eq!(
        last("list.yaml"),
        "at most 200 steps besides those of state machines, recipes at most 6 deep. Nothing was run."
    );
    assert_eq!(last("plain.yaml"), "at most 200 steps, recipes at most 6 deep. Nothing was run.");
    assert_eq!(last("bound.yaml"), "at most 1 step, recipes at most 6 deep. Nothing was run.");

    let json = user.towpath(&["explain", "ship.yaml", "--json"]).exits(0).json();
    let none = json!({ "max_depth": 6, "max_total_steps": null, "counts_machines": false });
    assert_eq!(json["limits"], none, "its guardrails bound a session");
    assert_eq!(
        json["recipes"][0]["steps"][1]["output"],
        Value::Null,
        "a machine keeps only what is named"
    );

    let all = ["explain", "implement-and-review-all", "--max-restarts", "0"];
    user.towpath(&all).exits(0).shows("max-restarts-exceeded");
    let json = user.towpath(&[&all[..], &["--json"]].concat()).exits(0).json();
    let reasons = json["recipes"][0]["machine"]["guardrail_reasons"].as_array().expect("a list");
    assert!(reasons.contains(&json!("max-restarts-exceeded")), "{reasons:?}");

    let raised =
        ["explain", "ship.yaml", "--max-visits", "5", "--max-steps", "7", "--max-restarts", "1"];
    let printed = user.towpath(&raised).exits(0).stdout;
    assert!(
        printed.contains("at most 7 steps, 6 agent calls in each session · at most 1 restart ·"),
        "{printed}"
    );
    assert!(printed.contains("each step at most 5 times"), "{printed}");
    let json = user.towpath(&[&raised[..], &["--json"]].concat()).exits(0).json();
    let guardrails = &json["recipes"][0]["machine"]["guardrails"];
    assert_eq!(
        (&guardrails["max_step_visits"], &guardrails["max_total_steps"]),
        (&json!(5), &json!(7))
    );
    user.towpath(&["explain", "plain.yaml", "--max-visits", "5"])
        .exits(2)
        .reports("--max-visits is for state machines, and plain is a step recipe");
}

#[test]
fn the_built_in_machines_have_every_format_and_their_bounds() {
    let user = User::new();
    let text = include_str!("../../../../tests/cases/builtin-machines.json");
    let known: Value = serde_json::from_str(text).unwrap();
    for name in BUILT_IN {
        let json: Value = serde_json::from_str(&explained(&user, name, "json")).unwrap();
        let (bounds, known) = (&json["recipes"][0]["machine"]["bounds"], &known["bounds"][name]);
        assert_eq!(bounds["steps_per_session"], known["max_steps_per_session"], "{name}");
        assert_eq!(bounds["agent_calls_per_session"], known["max_agent_calls_per_session"]);
        assert_eq!(bounds["restarts"].is_null(), known["restarts"] == "unbounded", "{name}");
        assert!(explained(&user, name, "mermaid").starts_with("flowchart TD\n"));
        let svg = explained(&user, name, "svg");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
        assert_eq!(
            svg.matches("<rect class=\"card").count() as u64,
            known["steps"].as_u64().unwrap()
        );
    }
}

#[test]
fn a_sequence_is_drawn_with_its_groups_conditions_and_calls() {
    let build = "name: build
steps:
  - {id: compile, command: make}
  - {id: lint, command: make lint, parallel_group: checks}
  - {id: test, command: make test, parallel_group: checks}
  - {id: deploy, recipe: ./ship.yaml, condition: \"mode == 'go' and a < b\", when_tags: [release]}
context: {mode: '', a: 1, b: 2}
";
    let user = User::new().file("build.yaml", build).file("ship.yaml", SHIP);
    assert_eq!(
        explained(&user, "build.yaml", "mermaid"),
        r#"flowchart TD
  subgraph p0["build"]
  p0s0[/"compile · command"/]
  p0s1[/"lint · command"/]
  p0s2[/"test · command"/]
  p0s3[["deploy · recipe · .#47;ship.yaml · left out#58; needs tag release"]]
  subgraph p0g1["checks"]
    p0s1
    p0s2
  end
  p0c2{"if mode #61;#61; #39;go#39; and a #60; b"}
  p0s0 --> p0g1
  p0g1 --> p0c2
  p0c2 -->|yes| p0s3
  p0c2 -->|no| p0end(( ))
  p0s3 --> p0end(( ))
  end
  subgraph p1["ship"]
  %% at most 4 steps, 4 agent calls in each session · restarts without end · every agent step also fails on `other` · each step at most 2 times
  p1s0[/"test · command"/]
  p1s1["fix · opus"]
  p1s2["ship · haiku"]
  p1begin(( )) --> p1s0
  p1s0 -->|"success"| p1s2
  p1s0 -->|"failure"| p1s1
  p1s1 -->|"complete"| p1s0
  p1e0(["exit needs-help"])
  p1s1 -->|"stuck"| p1e0
  p1e1(["exit shipped"])
  p1s2 -->|"shipped"| p1e1
  p1e2(["restart ship"])
  p1s2 -->|"next"| p1e2
  end
  p0s3 -.-> p1
  classDef idle stroke-dasharray: 4 3, opacity: 0.6
  class p0s3 idle
"#
    );
}

/// The image in the book is the one that the program draws.
#[test]
fn the_books_image_is_what_is_drawn() {
    let svg = explained(&User::new(), "review-and-commit", "svg");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images/review-and-commit.svg");
    if std::env::var("TOWPATH_DOCUMENTS").is_ok_and(|v| v == "write") {
        std::fs::write(path, &svg).expect("the image can be written");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), svg);
}

/// Names are what a user wrote; a chart shows them and never obeys them.
#[test]
fn names_that_look_like_markup_stay_names() {
    let build = r#"name: build
steps:
  - id: a
    command: echo "</text><script>alert(1)</script>"
"#;
    let user = User::new().file("build.yaml", build);
    let svg = explained(&user, "build.yaml", "svg");
    assert!(svg.contains("&lt;script&gt;") && !svg.contains("<script>"), "{svg}");
}

#[test]
fn explain_shows_what_the_tags_leave_out_and_where_steps_come_from() {
    let user = User::new()
        .file("base.yaml", "name: base\nsteps:\n  - { id: prepare, command: echo base }\n")
        .file(
            "ci.yaml",
            "name: ci\nextends: base\nsteps:\n  - { id: fast, command: echo, when_tags: [fast] }\n  \
             - { id: slow, command: echo, when_tags: [slow] }\n",
        );
    let printed = user.towpath(&["explain", "ci.yaml", "--include-tags", "fast"]).exits(0);
    for text in ["extends base.yaml", "from base.yaml", "tag fast", "left out: needs tag slow"] {
        assert!(printed.stdout.contains(text), "no {text:?} in\n{}", printed.stdout);
    }
    let json =
        user.towpath(&["explain", "ci.yaml", "--include-tags", "fast", "--json"]).exits(0).json();
    let steps = &json["recipes"][0]["steps"];
    assert_eq!(steps[1]["left_out"], json!(null));
    assert_eq!(steps[2]["left_out"], "needs tag slow");
    assert_eq!(steps[0]["from"], "base.yaml");
}

#[test]
fn a_step_recipe_shows_what_follows_when_a_step_is_skipped() {
    let recipe = "\
name: gate
steps:
  - {id: test, command: make test}
  - {id: fix, condition: \"'FAIL' in test\", prompt: Fix it}
  - {id: unit, condition: fix, parallel_group: both, command: a}
  - {id: style, parallel_group: both, command: b}
  - {id: again, condition: fix, command: c}
  - {id: last, condition: not fix, command: d}
";
    let user = User::new().file("gate.yaml", recipe);
    let text = explained(&user, "gate.yaml", "text");
    let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("      ")).collect();
    let expected = [
        "      if 'FAIL' in test, else → group both",
        "      group both: these run at the same time · if fix",
        "      if fix, else → last",
        "      if not fix, else → end",
    ];
    assert_eq!(notes, expected, "{text}");
    assert_eq!(explained(&user, "gate.yaml", "svg").matches(">else</text>").count(), 3);
}

#[test]
fn nothing_is_padded_in_a_pipe() {
    let long = "x".repeat(300);
    let recipe = format!(
        "name: long\ncontext: {{a: {long}, b: '', c: 1}}\nrequired_context: [d]\n\
         steps:\n  - {{id: a, command: 'echo {long}'}}\n  - {{id: b, condition: c, command: echo}}\n"
    );
    let user = User::new().file("long.yaml", &recipe).file("ship.yaml", SHIP);
    let inputs = "inputs\n  a  default   x";
    let text = explained(&user, "long.yaml", "text");
    assert!(text.contains(inputs), "a value pushes nothing away: {text}");
    assert!(text.contains("\n  c  default   1\n  d  required\n"), "{text}");
    let names = ["long.yaml", "ship.yaml", "demo", "default-workflow"];
    for recipe in names.into_iter().chain(BUILT_IN) {
        for format in ["text", "mermaid", "svg", "json"] {
            let printed = explained(&user, recipe, format);
            let padded = printed.lines().find(|line| line.ends_with(' '));
            assert_eq!(padded, None, "{recipe} as {format}");
        }
    }
}
