//! The program under its other name `dp`: its verbs, texts, validation and exit codes, and the tests
//! that its seed lists by their names.

use crate::support::{Printed, User};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use towpath_store::{Store, ToolCallRow};

const LOOP: &str = "while true; do
  status=$(gt mol status 2>&1)
  echo \"$status\"
  if echo \"$status\" | grep -q \"signaled\"; then break; fi
  sleep 5
done";

fn dp(user: &User, arguments: &[&str]) -> Printed {
    user.towpath(&[&["as", "dp"], arguments].concat())
}

fn aliases(user: &User) -> Vec<Value> {
    dp(user, &["aliases", "--json"]).exits(0).json().as_array().expect("a list").clone()
}

/// Rows of the table, without the times.
fn rows(user: &User) -> Vec<String> {
    let printed = dp(user, &["aliases"]).exits(0);
    let timeless = |line: &str| match line.len().checked_sub(19) {
        Some(at) if line.as_bytes()[at..].first() == Some(&b'2') => {
            line[..at].trim_end().to_owned()
        }
        _ => line.to_owned(),
    };
    printed.stdout.lines().map(timeless).collect()
}

/// TestAliasCmdRecipe: creation, deletion, validation.
#[test]
fn alias_cmd_recipe() {
    let user = User::new();
    let message = "Poll gt mol status in a loop";
    dp(&user, &["alias", "--recipe", "gt await-signal", LOOP, "--message", message])
        .exits(0)
        .prints(
            "Rule set: gt gt await-signal -> while true; do   status=$(gt mol stat... (recipe)\n",
        );
    let alias = &aliases(&user)[0];
    for (key, value) in [
        ("from", "gt await-signal"),
        ("to", LOOP),
        ("tool", "Bash"),
        ("param", "command"),
        ("command", "gt"),
        ("match_kind", "recipe"),
        ("message", message),
    ] {
        assert_eq!(alias[key], value);
    }
    dp(&user, &["alias", "--delete", "--recipe", "gt await-signal"])
        .exits(0)
        .prints("Alias deleted: gt await-signal\n");
    assert_eq!(aliases(&user).len(), 0);
    dp(&user, &["alias", "--delete", "--recipe", "gt await-signal"])
        .exits(1)
        .reports("alias \"gt await-signal\" not found");
    let combined = "--recipe cannot be combined with --cmd, --tool, --param, --flag, --replace, or \
                    --regex";
    for (arguments, error) in [
        (&["--recipe", "gt x"][..], "--recipe requires two arguments: FROM SCRIPT"),
        (&["--recipe", "a", "b", "c"], "--recipe requires two arguments: FROM SCRIPT"),
        (
            &["--delete", "--recipe", "a", "b"],
            "--delete --recipe requires one argument: the FROM pattern",
        ),
        (&["--recipe", "--cmd", "gt", "a", "b"], combined),
        (&["--recipe", "--tool", "Bash", "--param", "command", "a", "b"], combined),
        (&["--recipe", "--flag", "a", "b", "c", "d"], combined),
        (&["--recipe", "--replace", "gt", "a", "b"], combined),
        (&["--recipe", "--regex", "a", "b"], combined),
        (&["--recipe", " ", "x"], "is empty"),
        (&["--recipe", "gt x", " "], "is empty"),
        (&["--recipe", "gt x", "gt x"], "already what it would become"),
        (&["--recipe", "gt x", "{{.Nope}}"], "add --no-template"),
        (&["--recipe", "gt x", "while true; do"], "add --force"),
        (&["--recipe", "gt x", "--file", "none.sh"], "none.sh"),
    ] {
        dp(&user, &[&["alias"], arguments].concat()).exits(1).reports(error);
    }
    assert_eq!(aliases(&user).len(), 0);
}

#[test]
fn every_mode_of_alias_sets_its_rule() {
    let user = User::new().file("recipe.sh", "bd list |\n  grep -i gated\n");
    for (arguments, line) in [
        (&["read_file", "Read"][..], "Alias set: read_file -> Read"),
        (&["--cmd", "scp", "--flag", "r", "R"], "Rule set: scp r -> R (flag)"),
        (&["--cmd", "rg", "--flag", "r,", "--valued", "eg"], "Rule set: rg r ->  (flag)"),
        (
            &["--cmd", "bd", "--flag", "--assign", "--assignee"],
            "Rule set: bd --assign -> --assignee (flag)",
        ),
        (&["--cmd", "grep", "--replace", "rg"], "Rule set: grep grep -> rg (command)"),
        (
            &["--cmd", "scp", "user@host:", "user@new:"],
            "Rule set: scp user@host: -> user@new: (literal)",
        ),
        (
            &["--tool", "mcp__x", "--param", "path", "/old", "/new"],
            "Rule set: /old -> /new (literal)",
        ),
        (
            &["--tool", "Bash", "--param", "command", "--regex", "curl -k", "curl"],
            "Rule set: curl -k -> curl (regex)",
        ),
        (
            &["--recipe", "bd --gated", "--file", "recipe.sh"],
            "Rule set: bd bd --gated -> bd list |   grep -i gated (recipe)",
        ),
        (
            &["--recipe", "dps", "docker ps --format '{{.Names}}'", "--no-template"],
            "Rule set: dps dps -> docker ps --format '{{.Names}}' (recipe)",
        ),
        (
            &["--recipe-tool", "await_signal", "gt mol status"],
            "Rule set: await_signal -> gt mol status (recipe-tool)",
        ),
    ] {
        let printed = dp(&user, &[&["alias"], arguments].concat()).exits(0);
        assert_eq!(printed.stdout.trim_end(), line);
        assert!(printed.stderr.lines().all(|line| line.starts_with("warning: ")), "{printed:?}");
    }
    let found = rows(&user);
    assert_eq!(
        found[..3],
        [
            "FROM          TO                               TYPE         COMMAND  CREATED",
            "await_signal  gt mol status                    recipe-tool",
            "read_file     Read                             alias",
        ]
    );
    assert_eq!(found.len(), 12);
    let gated = aliases(&user).into_iter().find(|alias| alias["from"] == "bd --gated");
    assert_eq!(gated.expect("an alias")["to"], "bd list |\n  grep -i gated");
    for arguments in [
        &["read_file"][..],
        &["--cmd", "scp", "--flag", "-r"],
        &["--cmd", "grep", "--replace", "rg"],
        &["--cmd", "scp", "user@host:"],
        &["--tool", "mcp__x", "--param", "path", "/old"],
        &["--tool", "Bash", "--param", "command", "--regex", "curl -k"],
        &["--recipe-tool", "await_signal"],
    ] {
        dp(&user, &[&["alias", "--delete"], arguments].concat()).exits(0).shows("Alias deleted: ");
    }
    assert_eq!(aliases(&user).len(), 4);
}

#[test]
fn alias_cmd_validation() {
    let user = User::new();
    for (arguments, error) in [
        (&["a"][..], "requires exactly two arguments: dp alias <from> <to>"),
        (&["--delete"], "--delete requires exactly one argument: dp alias --delete <from>"),
        (&["--delete", "a"], "alias \"a\" not found"),
        (&["--cmd", "a", "--tool", "b", "--param", "c", "d", "e"], "mutually exclusive"),
        (&["--flag", "r", "R"], "--flag requires --cmd"),
        (&["--cmd", "scp", "--flag", "r"], "--flag requires exactly two values: OLD,NEW (got 1)"),
        (&["--replace", "rg"], "--replace requires --cmd"),
        (&["--regex", "a", "b"], "--regex requires --tool/--param"),
        (&["--tool", "Bash", "a", "b"], "--tool and --param must be used together"),
        (
            &["--cmd", "a", "--flag", "r", "R", "--replace", "b"],
            "--flag and --replace are mutually",
        ),
        (&["--cmd", "scp", "a"], "--cmd requires two positional arguments: FROM TO"),
        (&["--tool", "T", "--param", "p", "a"], "--tool/--param requires two positional arguments"),
        (&["--tool", "T", "--param", "p", "--regex", "(bad", "x"], "no regular expression"),
        (&["a", "a"], "already what it would become"),
        (&["", "a"], "is empty"),
        (&["a", "b", "--timeout", "5"], "--timeout requires --recipe"),
        (&["a", "b", "--file", "f"], "--file requires --recipe"),
        (&["a", "b", "--timeout", "0"], "--timeout"),
        (&["--nonsense"], "--nonsense"),
    ] {
        let printed = dp(&user, &[&["alias"], arguments].concat()).exits(1).reports(error);
        assert_eq!(printed.stdout, "");
    }
    assert_eq!(aliases(&user).len(), 0);
}

#[test]
fn the_same_alias_again_replaces_and_reports_it() {
    let user = User::new();
    dp(&user, &["alias", "read_file", "Read"]).exits(0);
    dp(&user, &["alias", "read_file", "Open"])
        .exits(0)
        .shows("Alias set: read_file -> Open")
        .reports("it replaces rule 1, which was: Read");
    let json = dp(&user, &["alias", "read_file", "View", "--json"]).exits(0).json();
    assert_eq!(json, serde_json::json!({ "action": "set", "from": "read_file", "to": "View" }));
    assert_eq!((aliases(&user).len(), &aliases(&user)[0]["to"]), (1, &Value::from("View")));
    let json = dp(&user, &["--json", "alias", "--delete", "read_file"]).exits(0).json();
    assert_eq!(json, serde_json::json!({ "action": "deleted", "from": "read_file" }));
    user.towpath(&["rules", "add", "refuse", "gt x", "--message", "no"]).exits(0);
    dp(&user, &["alias", "--delete", "gt x"]).exits(1).reports("towpath rules remove 2");
}

#[test]
fn dry_run_saves_nothing_and_test_shows_the_change() {
    let user = User::new();
    let recipe = ["alias", "--recipe", "bd list --wisp", "bd list {{.Args}} | grep -i wisp"];
    dp(&user, &[&recipe[..], &["--dry-run", "--test", "bd list --wisp --limit 3"]].concat())
        .exits(0)
        .shows("Rule can be set: bd bd list --wisp -> ")
        .shows("  - bd list --wisp --limit 3\n  + bd list --limit 3 | grep -i wisp\n");
    assert_eq!(aliases(&user).len(), 0);
    dp(&user, &["alias", "--recipe", "gt x", "cd /tmp; ls", "--test", "ls"])
        .exits(0)
        .shows("no rule changes this command")
        .reports("warning: the recipe calls `cd`");
    assert_eq!(aliases(&user).len(), 1);
}

#[test]
fn an_empty_list_and_unknown_verbs() {
    let user = User::new();
    let printed = dp(&user, &["aliases"]).exits(0).reports("No aliases configured.");
    assert_eq!(printed.stdout, "");
    dp(&user, &["aliases", "--json"]).exits(0).prints("[]\n");
    dp(&user, &["version"]).exits(0).shows("dp ");
    for verb in ["map", "mappings", "recoveries", "serve", "struggling", "turns", "completion"] {
        dp(&user, &[verb, "x", "--since", "7d"]).exits(1).reports("is not supported; ");
    }
    dp(&user, &["nonsense"]).exits(1).reports("unknown command \"nonsense\" for \"dp\"");
    dp(&user, &["pave"]).exits(1).reports("specify --hook or --agents-md (or both)");
}

/// TestAgentsMDWithRecipes, at the command line.
#[test]
fn agents_md_with_recipes() {
    let user = User::new().file("AGENTS.md", "# Our rules\n");
    dp(&user, &["pave", "--agents-md"]).exits(0).reports("No aliases configured.");
    dp(&user, &["alias", "read_file", "Read"]).exits(0);
    dp(&user, &["alias", "--recipe", "gt await-signal", LOOP, "--message", "Poll"]).exits(0);
    let text = "# Tool Name Corrections

The following tool names are INCORRECT. Use the correct names instead:

- Do NOT call `read_file`. Use `Read` instead.

# Command Corrections

## gt (recipes)

- Do NOT use `gt await-signal`. It will be expanded to: `while true; do   status=$(gt mol status 2>&1)   echo \"$st...` (Poll)

";
    dp(&user, &["pave", "--agents-md"]).exits(0).prints(text);
    let json = dp(&user, &["pave", "--agents-md", "--json"]).exits(0).json();
    assert_eq!((&json["status"], &json["count"]), (&"generated".into(), &2.into()));
    let append = ["pave", "--agents-md", "--append", "AGENTS.md"];
    dp(&user, &append).exits(0).shows("Appended 2 rules to AGENTS.md");
    let once = user.read("AGENTS.md");
    assert!(once.starts_with("# Our rules\n\n") && once.contains(text.trim_end()), "{once}");
    dp(&user, &append).exits(0).shows("already has these 2 rules");
    assert_eq!(user.read("AGENTS.md"), once);
    symlink("AGENTS.md", user.path("work/CLAUDE.md")).expect("a link");
    dp(&user, &["alias", "--delete", "read_file"]).exits(0);
    dp(&user, &["pave", "--agents-md", "--append", "CLAUDE.md"]).exits(0).shows("Appended 1 rules");
    assert!(!user.read("AGENTS.md").contains("read_file"));
    assert!(user.path("work/CLAUDE.md").symlink_metadata().expect("a file").is_symlink());
    user.write(
        "AGENTS.md",
        &once.replacen("begin", "begin -->\n<!-- towpath corrections: begin", 1),
    );
    dp(&user, &append).exits(1).reports("AGENTS.md: the lines");
}

#[test]
fn rules_travel_in_a_file() {
    let user = User::new();
    dp(&user, &["alias", "--recipe", "gt await-signal", LOOP]).exits(0);
    dp(&user, &["alias", "--cmd", "scp", "--flag", "r", "R"]).exits(0);
    let text = dp(&user, &["aliases", "export", "--name", "crew"]).exits(0).stdout;
    assert!(text.starts_with("[meta]\nname = \"crew\"\nversion = 1\nexported_at = 2"), "{text}");
    assert!(text.contains("\n[[aliases]]\nfrom = \"gt await-signal\"\n"), "{text}");
    assert!(text.contains(&format!("to = '''\n{LOOP}'''")), "{text}");
    assert!(text.contains("command = \"scp\"\nmatch_kind = \"flag\""), "{text}");
    dp(&user, &["aliases", "export", "-o", "out/rules.json", "--format", "JSON"])
        .exits(0)
        .reports("Exported 2 aliases to out/rules.json");
    dp(&user, &["aliases", "export", "--format", "xml"]).exits(1).reports("unsupported format");
    dp(&user, &["aliases", "import", "out/rules.json"])
        .exits(0)
        .reports("Imported 0, skipped 2, overwritten 0 (total: 2)");
    let before = aliases(&user);
    let other = ["--db", "other.db"];
    dp(&user, &[&other[..], &["aliases", "import", "out/rules.json", "--dry-run"]].concat())
        .exits(0)
        .reports("  import: gt await-signal -> while true; do")
        .reports("Dry run: 2 would import, 0 would skip, 0 would overwrite (total: 2)");
    dp(&user, &[&["aliases", "import", "out/rules.json"], &other[..]].concat())
        .exits(0)
        .reports("Imported 2");
    let moved = dp(&user, &[&["aliases", "--json"], &other[..]].concat()).exits(0).json();
    assert_eq!(moved[0]["to"], before[0]["to"]);
    dp(&user, &["aliases", "import", "out/rules.json", "--conflict", "overwrite"])
        .exits(0)
        .reports("Imported 0, skipped 0, overwritten 2 (total: 2)");
    user.write("bad.toml", "[[rule]]\nkind = \"flag\"\nfrom = \"r\"\nto = \"R\"\n");
    dp(&user, &["aliases", "import", "bad.toml"])
        .exits(1)
        .reports("the flag rule has no `command`")
        .reports("nothing was imported");
    let limited = "[[rule]]\nkind = \"command\"\nfrom = \"a\"\nto = \"b\"\ndirectory = \"web\"\n";
    user.write("limited.toml", limited);
    dp(&user, &["--db", "limited.db", "aliases", "import", "limited.toml"]).exits(0);
    dp(&user, &["--db", "limited.db", "aliases", "export"])
        .exits(0)
        .reports("1 of 1 rules have no counterpart in dp and are left out");
    dp(&user, &["aliases", "import", "none.toml"]).exits(1).reports("none.toml");
}

#[test]
fn a_database_of_dp_is_imported() {
    let user = User::new();
    let database = user.path("work/desires.db");
    let conn = rusqlite::Connection::open(&database).expect("a database");
    conn.execute_batch(
        "CREATE TABLE aliases (from_name TEXT, to_name TEXT, tool TEXT, param TEXT, command TEXT,
            match_kind TEXT, message TEXT, created_at TEXT);
         INSERT INTO aliases VALUES
            ('read_file', 'Read', '', '', '', '', '', 'x'),
            ('r', 'R', 'Bash', 'command', 'scp', 'flag', 'why', 'x'),
            ('(bad', 'x', 'Bash', 'command', '', 'regex', '', 'x'),
            ('gt wait', 'id={{.Arg 1}}; gt status \"$id\"', 'Bash', 'command', 'gt', 'recipe', '', 'x'),
            ('a', 'b', 'Bash', 'command', 'c', 'fuzzy', '', 'x');",
    )
    .expect("aliases");
    drop(conn);
    let before = fs::read(&database).expect("the database");
    dp(&user, &["aliases", "import", "desires.db"])
        .exits(0)
        .reports("  invalid, skipped: \"(bad\": ")
        .reports("  invalid, skipped: \"a\": unknown kind of alias `fuzzy`")
        .reports("Imported 3, skipped 0, overwritten 0 (total: 3)");
    assert_eq!(fs::read(&database).expect("the database"), before);
    assert_eq!(aliases(&user).len(), 3);
    for verb in [&["aliases"][..], &["list"], &["paths"], &["stats"], &["export"], &["env-needs"]] {
        dp(&user, &[&["--db", "desires.db"], verb].concat())
            .exits(1)
            .reports("dp aliases import desires.db");
    }
    assert_eq!(fs::read(&database).expect("the database"), before);
}

#[test]
fn init_and_pave_install_hooks_once() {
    let user = User::new().file("settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let init = ["init", "--source", "claude-code", "--settings", "settings.json"];
    dp(&user, &init).exits(0).shows("Source \"claude-code\" integration configured!");
    let once = user.read("settings.json");
    assert!(once.contains("PostToolUse\"") && !once.contains("PreToolUse"), "{once}");
    assert!(once.contains("PostToolUseFailure\""), "{once}");
    dp(&user, &init).exits(0).prints("hooks already configured for claude-code\n");
    let pave = ["pave", "--hook", "--settings", "settings.json"];
    dp(&user, &pave).exits(0).shows("PreToolUse intercept hook installed!");
    let both = user.read("settings.json");
    assert!(both.contains("PreToolUse") && both.contains("\"model\": \"opus\""), "{both}");
    dp(&user, &pave).exits(0).prints("PreToolUse hook already installed.\n");
    let json = dp(&user, &[&pave[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(json["status"], "already_configured");
    assert_eq!(user.read("settings.json"), both);
    dp(&user, &["init"])
        .exits(1)
        .reports("specify a source with --source NAME (available: claude-");
    dp(&user, &["init", "--source", "vim"]).exits(1).reports("unknown source \"vim\"");
    user.write("settings.json", "{ \"hooks\": ");
    dp(&user, &pave).exits(1).reports("settings.json");
    assert_eq!(user.read("settings.json"), "{ \"hooks\": ");
}

/// Calls as hooks record them, at fixed times.
fn recorded() -> User {
    let user = User::new();
    let call =
        |n: i64, tool: &str, program: Option<&str>, input: &str, error: Option<&str>| ToolCallRow {
            id: format!("call-{n}"),
            at_ms: 1_770_000_000_000 + n * 3_600_000,
            host: if n % 4 == 3 { "codex" } else { "claude-code" }.to_owned(),
            session: Some(format!("s{}", n % 2)),
            directory: Some("/shop".to_owned()),
            tool: tool.to_owned(),
            program: program.map(str::to_owned),
            input: input.to_owned(),
            failed: error.is_some(),
            exit_code: error.is_some_and(|e| e.contains("command not found")).then_some(127),
            error: error.map(str::to_owned),
            ..ToolCallRow::default()
        };
    let calls = [
        call(
            1,
            "read_file",
            None,
            r#"{"path":"a.txt"}"#,
            Some("No such tool available: read_file"),
        ),
        call(2, "Bash", Some("gt"), "gt await-signal", Some("unknown command \"await-signal\"")),
        call(3, "Bash", Some("fd"), "fd x", Some("bash: fd: command not found")),
        call(30, "Bash", Some("gt"), "gt await-signal", Some("unknown command \"await-signal\"")),
        call(31, "Bash", Some("ls"), "ls", None),
    ];
    let mut store = Store::open(&user.path("home/state")).expect("a journal");
    store.tool_calls_add(&calls).expect("recorded");
    user
}

fn in_utc(user: &User, arguments: &[&str]) -> Printed {
    let mut command = user.command(&[&["as", "dp"], arguments].concat());
    Printed::from(command.env("TZ", "UTC").output().expect("it starts"))
}

#[test]
fn what_was_recorded_is_listed() {
    let user = recorded();
    in_utc(&user, &["list"]).exits(0).prints(
        "TIMESTAMP            SOURCE       TOOL       ERROR
2026-02-03 08:40:00  claude-code  Bash       unknown command \"await-signal\"
2026-02-02 05:40:00  codex        Bash       bash: fd: command not found
2026-02-02 04:40:00  claude-code  Bash       unknown command \"await-signal\"
2026-02-02 03:40:00  claude-code  read_file  No such tool available: read_file
",
    );
    let json = in_utc(&user, &["list", "--category", "env-need", "--json"]).exits(0).json();
    assert_eq!(
        (json.as_array().map(Vec::len), &json[0]["tool_input"]["command"]),
        (Some(1), &"fd x".into())
    );
    in_utc(&user, &["list", "--tool", "Nope"]).exits(0).reports("No desires found.");
    in_utc(&user, &["list", "--since", "soon"]).exits(1).reports("invalid --since value \"soon\"");
    dp(&user, &["alias", "read_file", "Read"]).exits(0);
    in_utc(&user, &["paths"]).exits(0).prints(
        "RANK  PATTERN    COUNT  FIRST_SEEN            LAST_SEEN             ALIAS
1     Bash       3      2026-02-02T04:40:00Z  2026-02-03T08:40:00Z
2     read_file  1      2026-02-02T03:40:00Z  2026-02-02T03:40:00Z  Read
",
    );
    in_utc(&user, &["inspect", "Ba%"]).exits(0).prints(
        "Pattern:    Ba%
Total:      3
First seen: 2026-02-02T04:40:00Z
Last seen:  2026-02-03T08:40:00Z

Frequency:
  2026-02-02  ######################################## 2
  2026-02-03  #################### 1

Top inputs:
     2  gt await-signal
     1  fd x

Top errors:
     2  unknown command \"await-signal\"
     1  bash: fd: command not found
",
    );
    in_utc(&user, &["inspect", "x"]).exits(0).shows("No desires found for this pattern.");
    in_utc(&user, &["stats", "--invocations"]).exits(0).prints(
        "Total invocations:  5
Unique tools:       2

Date range:         2026-02-02 to 2026-02-03

Last 24h:           0
Last 7d:            0
Last 30d:           0

Top sources:
  claude-code          3
  codex                2

Top tools:
  Bash                 4
  read_file            1
",
    );
    let json = in_utc(&user, &["stats", "--json"]).exits(0).json();
    assert_eq!((&json["total_desires"], &json["unique_paths"]), (&4.into(), &2.into()));
    let csv = in_utc(&user, &["export", "--type", "invocations", "--format", "csv"]).exits(0);
    assert_eq!(csv.stdout.lines().count(), 6);
    assert!(csv.stdout.contains("\"unknown command \"\"await-signal\"\"\""), "{}", csv.stdout);
    let lines = in_utc(&user, &["export"]).exits(0).stdout;
    assert_eq!(lines.lines().count(), 4);
    in_utc(&user, &["export", "--type", "x"]).exits(1).reports("unsupported --type \"x\"");
    in_utc(&user, &["export", "--format", "x"]).exits(1).reports("unsupported format \"x\"");
}

#[test]
fn without_records_nothing_is_created() {
    let user = User::new();
    for verb in ["list", "paths", "stats", "export"] {
        dp(&user, &[verb]).exits(0);
    }
    assert!(!user.has_journal());
}

/// A program with its input; `dp` is a link on PATH.
fn bash(user: &User, script: &str) -> Printed {
    let bin = user.path("bin");
    if !bin.exists() {
        fs::create_dir(&bin).expect("a directory");
        symlink(env!("CARGO_BIN_EXE_towpath"), bin.join("dp")).expect("a link");
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).current_dir(user.path("work")).env("PATH", path);
    bash.env("TOWPATH_HOME", user.path("home")).env("HOME", user.path("."));
    Printed::from(bash.output().expect("bash starts"))
}

fn pave_check(user: &User, payload: &str) -> Printed {
    bash(user, &format!("cat <<'EOF' | dp pave-check\n{payload}\nEOF\n"))
}

/// The command that the host is to run, and the answer around it.
fn updated(printed: Printed) -> (String, Value) {
    let answer = printed.exits(0).json()["hookSpecificOutput"].clone();
    assert_eq!(answer["hookEventName"], "PreToolUse");
    let command = answer["updatedInput"]["command"].as_str().expect("a command").to_owned();
    (command, answer)
}

/// The commands of the seed's section "Verification", as they are written there.
#[test]
fn verification() {
    let user = User::new();
    bash(
        &user,
        r#"# Create a recipe
dp alias --recipe "gt await-signal" 'while true; do
  status=$(gt mol status 2>&1)
  echo "$status"
  if echo "$status" | grep -q "signaled"; then break; fi
  sleep 5
done' --message "Poll gt mol status in a loop""#,
    )
    .exits(0);
    bash(&user, "dp aliases").exits(0).shows("gt await-signal").shows("recipe  gt");
    let (command, answer) = updated(bash(
        &user,
        r#"echo '{"tool_name":"Bash","tool_input":{"command":"gt await-signal"}}' | dp pave-check"#,
    ));
    assert_eq!(command, LOOP);
    assert_eq!(answer["permissionDecision"], "allow");
    let context = "Corrected: gt await-signal → [recipe] (Poll gt mol status in a loop)";
    assert_eq!(answer["additionalContext"], context);
    let (command, answer) = updated(bash(
        &user,
        r#"echo '{"tool_name":"Bash","tool_input":{"command":"gt await-signal --verbose"}}' | dp pave-check"#,
    ));
    assert_eq!(command, LOOP);
    assert!(answer["additionalContext"].as_str().is_some_and(|c| c.contains("Dropped: --verbose")));
    bash(&user, "dp pave --agents-md")
        .exits(0)
        .shows("## gt (recipes)")
        .shows("- Do NOT use `gt await-signal`. It will be expanded to: ");
    let (command, answer) = updated(bash(
        &user,
        r#"echo '{"tool_name":"Bash","tool_input":{"command":"echo start && gt await-signal"}}' | dp pave-check"#,
    ));
    // A single compound command needs no braces.
    assert_eq!(command, format!("echo start && {LOOP}"));
    assert_eq!(answer["permissionDecision"], Value::Null, "`echo start` is the agent's own");
    bash(&user, r#"dp alias --delete --recipe "gt await-signal""#).exits(0);
    bash(&user, "dp alias --cmd scp --flag r R").exits(0);
    let (command, _) = updated(bash(
        &user,
        r#"echo '{"tool_name":"Bash","tool_input":{"command":"scp -r file host:/"}}' | dp pave-check"#,
    ));
    assert_eq!(command, "scp -R file host:/");
}

/// TestRecipeEndToEnd: a recipe is created, a hook's payload comes, the script is in the answer.
#[test]
fn recipe_end_to_end() {
    let user = User::new().file("recipe.sh", "bd list |\n  grep -i wisp\n");
    bash(&user, "dp alias --recipe 'bd list --wisp' \"$(cat recipe.sh)\"").exits(0);
    let payload = r#"{"session_id":"s","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash",
        "tool_input":{"command":"bd list --wisp","description":"wisps","timeout":5000},"tool_use_id":"t"}"#;
    let (command, answer) = updated(pave_check(&user, payload));
    assert_eq!(command, "bd list |\n  grep -i wisp");
    assert_eq!(answer["updatedInput"]["description"], "wisps");
    assert_eq!(answer["updatedInput"]["timeout"], 5000);
    let other = payload.replace("bd list --wisp", "bd list --wispy").replace("\"t\"", "\"u\"");
    pave_check(&user, &other).exits(0).prints("");
}

/// TestRecipeWithArguments: template variables are filled with the agent's words.
#[test]
fn recipe_with_arguments() {
    let user = User::new();
    let script = "id={{.Arg 1}}; gt convoy status \"$id\" {{.Args}}";
    dp(&user, &["alias", "--recipe", "gt convoy wait", script]).exits(0);
    let call = |command: &str| {
        let input =
            serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": command } });
        pave_check(&user, &input.to_string())
    };
    let (command, answer) = updated(call("gt convoy wait abc123"));
    assert_eq!(command, "id=abc123; gt convoy status \"$id\" abc123");
    assert_eq!(answer["permissionDecision"], Value::Null, "`abc123` is the agent's own");
    assert_eq!(updated(call("gt convoy wait 'a b'")).0, "id='a b'; gt convoy status \"$id\" 'a b'");
    // A word that would be expanded twice is left to the agent.
    call("gt convoy wait $(next)").exits(0).prints("");
}

#[test]
fn pave_check_blocks_tools_and_never_fails() {
    let user = User::new();
    dp(&user, &["alias", "read_file", "Read"]).exits(0);
    dp(&user, &["alias", "--recipe-tool", "await_signal", "gt mol status"]).exits(0);
    user.towpath(&["rules", "add", "refuse", "gt deacon", "--message", "Use gt mol."]).exits(0);
    let blocked = pave_check(&user, r#"{"tool_name":"read_file","tool_input":{"path":"a"}}"#);
    assert!(blocked.stderr.contains("Read") && blocked.stdout.is_empty(), "{blocked:?}");
    blocked.exits(2);
    pave_check(&user, r#"{"tool_name":"await_signal","tool_input":{}}"#)
        .exits(2)
        .reports("gt mol status");
    let refused = r#"{"tool_name":"Bash","tool_input":{"command":"ls; gt deacon x"}}"#;
    let answer = pave_check(&user, refused).exits(0).json()["hookSpecificOutput"].clone();
    assert_eq!(answer["permissionDecision"], "deny");
    assert_eq!(answer["permissionDecisionReason"], "`gt deacon x` is refused: Use gt mol.");
    for payload in ["", "no json", "{}", r#"{"tool_name":""}"#, r#"{"tool_name":"Read"}"#] {
        pave_check(&user, payload).exits(0).prints("");
    }
    let other = "echo '{\"tool_name\":\"read_file\"}' | dp --db other.db pave-check";
    bash(&user, other).exits(0).prints("");
    dp(&user, &["--db", "other.db", "alias", "read_file", "Open"]).exits(0);
    bash(&user, other).exits(2).reports("Open");
}

#[test]
fn a_call_is_recorded_without_secrets() {
    let user = User::new();
    let failed = r#"{"tool_name":"Bash","session_id":"s1","cwd":"/tmp","tool_input":{"command":"gt wait --token ghp_0123456789abcdefghijABCDEFGHIJ012345"},"error":"Exit code 1\nunknown command \"wait\" for \"gt\""}"#;
    let ingest = |payload: &str, verb: &str| {
        bash(&user, &format!("cat <<'EOF' | dp {verb}\n{payload}\nEOF\n"))
    };
    ingest(failed, "ingest --source claude-code")
        .exits(0)
        .reports("Ingested invocation: ")
        .reports(" (source: claude-code, tool: Bash)");
    ingest(r#"{"tool_name":"Read","session_id":"s1"}"#, "record --source claude-code")
        .exits(0)
        .reports("Recorded invocation: ");
    let listed = dp(&user, &["list", "--json"]).exits(0);
    assert!(!listed.stdout.contains("ghp_0123456789"), "{}", listed.stdout);
    for verb in [&["list"][..], &["inspect", "Bash"]] {
        let shown = dp(&user, verb).exits(0).shows("unknown command \"wait\" for \"gt\"");
        assert!(!shown.stdout.contains("Exit code 1"), "{}", shown.stdout);
    }
    let listed = listed.json();
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["tool_name"]),
        (Some(1), &"Bash".into())
    );
    dp(&user, &["stats", "--invocations"]).exits(0).shows("Total invocations:  2");
    let json = ingest(failed, "ingest --source cursor --json --db other.db").exits(0).json();
    assert_eq!((&json["is_error"], &json["source"]), (&true.into(), &"cursor".into()));
    dp(&user, &["--db", "other.db", "stats"]).exits(0).shows("Total desires:      1");
    for (payload, verb, error) in [
        (failed, "ingest", "--source flag is required (available: claude-code"),
        (failed, "ingest --source vim", "unknown source \"vim\""),
        ("{}", "ingest --source claude-code", "extracting fields: the payload names no tool"),
        ("x", "ingest --source claude-code", "extracting fields: "),
    ] {
        ingest(payload, verb).exits(1).reports(error);
    }
}

#[test]
fn similar_names_are_found() {
    let user = User::new();
    dp(&user, &["similar", "read_file"]).exits(0).shows("RANK  TOOL").shows("1     Read");
    dp(&user, &["similar", "zzz"]).exits(0).prints("No suggestions found for \"zzz\"\n");
    let json =
        dp(&user, &["similar", "WriteFile", "--known", "Open, Write", "--json"]).exits(0).json();
    assert_eq!(json["suggestions"][0]["name"], "Write");
    dp(&user, &["alias", "read_file", "Read"]).exits(0);
    dp(&user, &["similar", "read_file"]).exits(0).prints("Alias: \"read_file\" → \"Read\"\n");
}

#[test]
fn mistakes_lead_to_suggestions() {
    let user = User::new();
    dp(&user, &["suggest"]).exits(0).reports("No suggestions.");
    let mut calls = Vec::new();
    for session in 0..3 {
        let call = |n: i64, input: &str, error: Option<&str>| ToolCallRow {
            id: format!("{session}-{n}"),
            at_ms: 1_770_000_000_000 + session * 60_000 + n,
            host: "claude-code".to_owned(),
            session: Some(format!("s{session}")),
            tool: "Bash".to_owned(),
            program: Some("git".to_owned()),
            input: input.to_owned(),
            failed: error.is_some(),
            exit_code: error.map(|_| 1),
            error: error.map(str::to_owned),
            ..ToolCallRow::default()
        };
        let wrong = "git: 'comit' is not a git command. See 'git --help'.";
        calls.push(call(1, "git comit -m x", Some(wrong)));
        calls.push(call(2, "git commit -m x", None));
    }
    let mut store = Store::open(&user.path("home/state")).expect("a journal");
    store.tool_calls_add(&calls).expect("recorded");
    drop(store);
    dp(&user, &["suggest"]).exits(0).shows("git comit").shows("git commit");
    let json = dp(&user, &["suggest", "--json"]).exits(0).json();
    assert_eq!(json[0]["rule"]["from"], "git comit");
    dp(&user, &["suggest", "--tool", "Read"]).exits(0).reports("No suggestions.");
}

#[test]
fn under_its_own_name_hooks_are_written_by_that_name() {
    let user = User::new();
    fs::create_dir_all(user.path("bin")).expect("a directory");
    symlink(env!("CARGO_BIN_EXE_towpath"), user.path("bin/dp")).expect("a link");
    let named = |arguments: &[&str]| {
        let mut command = user.command(arguments);
        let path = format!("{}:/usr/bin:/bin", user.path("bin").display());
        command.env("PATH", path);
        Printed::from(command.output().expect("towpath starts"))
    };
    for _ in 0..2 {
        named(&["as", "dp", "init", "--source", "claude-code"]).exits(0);
        named(&["as", "dp", "pave", "--hook"]).exits(0);
    }
    let read = || -> Value {
        let text = fs::read_to_string(user.path(".claude/settings.json")).expect("settings");
        serde_json::from_str(&text).expect("JSON")
    };
    let settings = read();
    for (event, command) in [
        ("PreToolUse", "dp pave-check"),
        ("PostToolUse", "dp ingest --source claude-code"),
        ("PostToolUseFailure", "dp ingest --source claude-code"),
    ] {
        let entries = settings["hooks"][event].as_array().expect(event);
        assert_eq!(entries.len(), 1, "{settings:#}");
        assert_eq!(entries[0]["hooks"][0]["command"], command);
    }
    named(&["init", "claude-code"]).exits(0);
    let text = read().to_string();
    assert!(text.contains(" hook pre --host claude-code") && !text.contains("dp pave"), "{text}");
    named(&["init", "claude-code", "--remove"]).exits(0);
    assert!(!user.path(".claude/settings.json").exists());
}

#[test]
fn its_settings_file_counts_or_is_an_error() {
    let user = User::new();
    dp(&user, &["config", "default_format", "json"]).exits(0);
    dp(&user, &["list"]).exits(0).prints("[]\n");
    dp(&user, &["config", "known_tools", "Read,Look"]).exits(0);
    dp(&user, &["config", "known_tools"]).exits(0).prints("Read,Look\n");
    let similar = dp(&user, &["similar", "look"]).exits(0).json();
    assert_eq!(similar["suggestions"][0]["name"], "Look");
    let all = dp(&user, &["config"]).exits(0).json();
    assert_eq!(all, serde_json::json!({ "default_format": "json", "known_tools": "Read,Look" }));
    dp(&user, &["config", "default_format", "xml"]).exits(1).reports("table or json");
    dp(&user, &["config", "colour"]).exits(1).reports("keys: db_path, default_format");
    dp(&user, &["config", "store_mode", "remote"]).exits(0);
    dp(&user, &["list"]).exits(1).reports("remote_url is not set");
    dp(&user, &["config", "store_mode", "local"]).exits(0);
    dp(&user, &["config", "db_path", "/tmp/x.db"]).exits(0);
    dp(&user, &["list"]).exits(0).prints("[]\n").reports("note: db_path is not used");
    fs::write(user.path(".dp/config.toml"), "default_format = ").expect("written");
    dp(&user, &["list"]).exits(1).reports("cannot parse");
}

#[test]
fn programs_that_are_not_found_and_sources_are_listed() {
    let user = User::new();
    let call = r#"{"tool_name":"Bash","tool_input":{"command":"jqq ."},"session_id":"s","error":"Exit code 127\nbash: line 1: jqq: command not found"}"#;
    let mut command = user.command(&["as", "dp", "ingest", "--source", "claude-code"]);
    crate::hook_command::fed(&mut command, call).exits(0);
    dp(&user, &["env-needs"]).exits(0).shows("Install jqq");
    dp(&user, &["sources"]).exits(0).shows("claude-code").shows("Cursor hooks");
    dp(&user, &["help", "alias"]).exits(0).shows("--recipe-tool");
}
