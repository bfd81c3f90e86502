//! What is written is true: the sessions of README and docs are typed into a real terminal, the
//! recipes in them are read, the tables are compared with the code, every path and link is
//! followed, and every example runs by the command on its top, with its real effects.
//!
//! `TOWPATH_DOCUMENTS=write` writes into the pages what the terminal showed, to be read and kept.

mod example_files_run;
mod markdown_blocks_and_links;
mod readme_picture;
mod rendered_pages;
mod tmux_terminal;
mod troubleshooting_page;

use markdown_blocks_and_links::{Block, blocks, code_words, first_cells, links};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tmux_terminal::{Terminal, settled};
use towpath_agent::BACKENDS;
use towpath_core::Source;
use towpath_corrections::host::{ContextChannel, HookEvent, Host, Rewrites};
use towpath_corrections::{RulesFormat, read_rules};
use towpath_recipe::field_table::{FIELDS, Section};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is there")
}

fn page(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The pages of the book, as SUMMARY.md lists them.
fn chapters() -> Vec<String> {
    let listed = links(&page("docs/SUMMARY.md"));
    listed.into_iter().map(|link| format!("docs/{link}")).collect()
}

fn pages() -> Vec<String> {
    let own = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "AGENTS.md",
        "CHANGELOG.md",
    ];
    own.into_iter().map(str::to_owned).chain(chapters()).collect()
}

/// The commands of a session, each with what the page shows it shows.
fn session(block: &Block) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, shown))) => {
                shown.push_str(line);
                shown.push('\n');
            }
            (None, None) => panic!("a session begins with `$ `, not with {line:?}"),
        }
    }
    commands
}

/// Plays a page from top to bottom; gives the page as it should be, and what differed.
fn played(name: &str) -> (String, Vec<String>) {
    let text = page(name);
    let mut terminal = Terminal::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut moved, mut wrong) = (0_isize, Vec::new());
    for block in blocks(&text) {
        if let Some(file) = block.file() {
            terminal.write(file, &block.text);
        }
        if block.kind != "console" {
            continue;
        }
        let mut shown = String::new();
        for (command, expected) in session(&block) {
            let screen = terminal.types(&command);
            let same = settled(&screen) == settled(&expected);
            let kept = if same { expected.trim_end() } else { screen.trim_end() };
            shown.push_str(&format!("$ {command}\n"));
            if !kept.is_empty() {
                let blank = if same && expected.ends_with("\n\n") { "\n" } else { "" };
                shown.push_str(&format!("{kept}\n{blank}"));
            }
            if !same {
                let line = block.line;
                wrong.push(format!(
                    "{name}:{line}: $ {command}\n{screen}\n-- but the page has\n{expected}"
                ));
            }
        }
        let begin = (block.line as isize - 1 + moved) as usize;
        let old = block.text.lines().count();
        let new: Vec<String> = shown.lines().map(|l| l.trim_end().to_owned()).collect();
        moved += new.len() as isize - old as isize;
        lines.splice(begin..begin + old, new);
    }
    (lines.join("\n") + "\n", wrong)
}

#[track_caller]
fn plays(name: &str) {
    let (now, wrong) = played(name);
    if std::env::var("TOWPATH_DOCUMENTS").is_ok_and(|v| v == "write") {
        fs::write(root().join(name), now).expect("the page can be written");
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}

macro_rules! sessions {
    ($($test:ident: $page:literal,)*) => {
        $(#[test] fn $test() { plays($page); })*

        /// A page with a session and without a test would not be played.
        #[test]
        fn every_page_with_a_session_has_a_test() {
            let played = BTreeSet::from([$($page.to_owned()),*]);
            let has_session = |name: &String| {
                blocks(&page(name)).iter().any(|block| block.kind == "console")
            };
            let written: BTreeSet<String> = pages().into_iter().filter(has_session).collect();
            assert_eq!(played, written);
        }
    };
}

sessions! {
    the_readme_is_played: "README.md",
    getting_started_is_played: "docs/getting-started.md",
    installing_is_played: "docs/install.md",
    recipes_are_played: "docs/recipes.md",
    machines_are_played: "docs/machines.md",
    the_machine_format_is_played: "docs/machine-format.md",
    the_catalogue_is_played: "docs/catalogue.md",
    agent_recipes_are_played: "docs/agent-recipes.md",
    writing_is_played: "docs/writing.md",
    sharing_is_played: "docs/sharing.md",
    values_are_played: "docs/values.md",
    conditions_are_played: "docs/conditions.md",
    running_is_played: "docs/running.md",
    processes_are_played: "docs/processes.md",
    worktrees_are_played: "docs/worktrees.md",
    agents_are_played: "docs/agents.md",
    corrections_are_played: "docs/corrections.md",
    the_name_dp_is_played: "docs/dp.md",
    the_name_meld_is_played: "docs/meld.md",
    testing_is_played: "docs/testing.md",
    looking_is_played: "docs/looking.md",
    trust_is_played: "docs/trust.md",
    secrets_are_played: "docs/secrets.md",
    settings_are_played: "docs/settings.md",
    exit_codes_are_played: "docs/exit-codes.md",
    json_is_played: "docs/json.md",
    coming_over_is_played: "docs/recipe-runner.md",
    coming_from_other_tools_is_played: "docs/coming-from.md",
    in_ci_is_played: "docs/ci.md",
    the_skill_is_played: "docs/skill.md",
}

/// A whole recipe out of a piece of one.
fn completed(text: &str) -> String {
    let has = |field: &str| text.lines().any(|line| line.starts_with(field));
    let step = "steps:\n  - id: nothing\n    command: 'true'\n";
    if text.starts_with("- id:") {
        let steps = text.lines().map(|line| format!("  {line}\n")).collect::<String>();
        return format!("name: piece\nsteps:\n{steps}");
    }
    if has("initialStep:") {
        return text.to_owned();
    }
    let name = if has("name:") { "" } else { "name: piece\n" };
    format!("{name}{text}\n{}", if has("steps:") { "" } else { step })
}

#[test]
fn every_recipe_on_a_page_is_valid() {
    let mut read = 0;
    for name in pages() {
        // Test files are played by the sessions of their page.
        let is_test = |b: &Block| b.file().is_some_and(|file| file.ends_with(".test.yaml"));
        let yaml = |b: &Block| b.kind == "yaml" && !is_test(b);
        for block in blocks(&page(&name)).into_iter().filter(yaml) {
            let source = Source::new(format!("{name}:{}", block.line), completed(&block.text));
            let found = towpath_recipe::read(&source);
            let errors: Vec<_> = found.problems.iter().filter(|p| p.is_error()).collect();
            assert_eq!(block.is_wrong(), !errors.is_empty(), "{name}:{}: {errors:?}", block.line);
            read += 1;
        }
    }
    assert!(read > 20, "{read} recipes");
}

#[test]
fn every_rules_file_on_a_page_is_valid() {
    let text = page("docs/corrections.md");
    let mut read = 0;
    for block in blocks(&text).into_iter().filter(|block| block.kind == "toml") {
        let source = Source::new(format!("docs/corrections.md:{}", block.line), block.text);
        let found = read_rules(&source, RulesFormat::Toml).expect("these rules are valid");
        read += found.rules.len();
    }
    assert!(read > 2, "{read} rules");
}

#[test]
fn the_page_of_corrections_has_every_key_of_a_rule() {
    let text = page("docs/corrections.md");
    let quoted = |text: &str| -> BTreeSet<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let below = text.split("\n| key | of | meaning |\n").nth(1).expect("the table of keys");
    let rows: Vec<&str> = below.lines().take_while(|line| line.starts_with('|')).collect();
    let cell = |row: &&str, at: usize| row.split('|').nth(at).map(quoted).unwrap_or_default();
    let written: BTreeSet<String> = rows.iter().flat_map(|row| cell(row, 1)).collect();
    let mut known = BTreeSet::new();
    for kind in cell(&rows[1], 3) {
        // What a rule of a kind may have is listed where it has something else.
        let source = Source::new("x.toml", format!("[[rule]]\nkind = \"{kind}\"\nzzzzzzzz = 1\n"));
        let problems = read_rules(&source, RulesFormat::Toml).expect_err("it is no key");
        known.extend(problems.iter().filter_map(|p| p.help.as_deref()).flat_map(quoted));
    }
    assert_eq!(written, known);
}

#[test]
fn every_example_of_a_rule_can_be_added() {
    let user = crate::support::User::new();
    let text = page("docs/corrections.md");
    let mut tried = 0;
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let Some((_, example)) = line.split_once("`towpath rules add ") else { continue };
        let example = example.split('`').next().unwrap_or(example);
        let towpath = env!("CARGO_BIN_EXE_towpath");
        let script = format!("{towpath} rules add {example} --dry-run");
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &script]).env("TOWPATH_HOME", user.path("home"));
        let printed = crate::support::Printed::from(bash.output().expect("bash starts"));
        printed.exits(0).shows("this rule can be added");
        tried += 1;
    }
    assert_eq!(tried, 8, "every kind has an example");
}

#[test]
fn the_page_of_corrections_has_every_host_as_it_is() {
    let text = page("docs/corrections.md");
    let rows: Vec<Vec<String>> = text
        .split("\n## ")
        .filter(|section| section.starts_with("What each host can do\n"))
        .flat_map(|section| section.lines().filter(|line| line.starts_with("| `")))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect();
    let expected = Host::ALL.map(|host| {
        let can = host.capabilities();
        let runs = match can.rewrites {
            Rewrites::WithoutDecision => "under the host's own permissions",
            Rewrites::OnlyAllowed => "only if it is allowed at once",
        };
        let context = match can.context {
            ContextChannel::Before => "with the result",
            ContextChannel::After => "after the call",
        };
        let unknown = match can.unknown_tools {
            None => "no hook runs",
            Some(HookEvent::Pre) => "answered before the call",
            Some(_) => "answered after the call",
        };
        let recorded = if can.reports_failure { "yes" } else { "known mistakes only" };
        let cells = [&format!("`{}`", host.name()), runs, context, unknown, recorded];
        cells.map(str::to_owned).to_vec()
    });
    assert_eq!(rows, expected);
}

/// The rows of the table below a heading, by their first cells.
fn rows_below(page: &str, heading: &str) -> Vec<String> {
    let (_, below) = page.split_once(&format!("\n## {heading}\n")).expect("the heading is there");
    let below = below.split("\n## ").next().unwrap_or(below);
    first_cells(below)
}

#[test]
fn the_page_of_fields_has_every_field_and_no_other() {
    let text = page("docs/recipes.md");
    let sections = [
        (Section::Recipe, "Fields of a recipe"),
        (Section::Recursion, "Fields of `recursion`"),
        (Section::Hooks, "Fields of `hooks`"),
        (Section::Step, "Fields of a step"),
    ];
    for (section, heading) in sections {
        let names = FIELDS.iter().filter(|f| f.section == section).map(|f| f.name.to_owned());
        let mut rows = rows_below(&text, heading);
        assert_eq!(rows.remove(0), "field", "{heading}");
        assert_eq!(rows, names.collect::<Vec<_>>(), "{heading}");
    }
}

#[test]
fn the_page_of_machines_has_every_field_and_no_other() {
    let text = page("docs/machine-format.md");
    for (section, heading) in [
        (Section::Machine, "Fields of a machine"),
        (Section::Guardrails, "Fields of `guardrails`"),
        (Section::MachineStep, "Fields of a machine's step"),
        (Section::Transition, "Fields of a transition"),
    ] {
        let names = FIELDS.iter().filter(|f| f.section == section).map(|f| f.name.to_owned());
        assert_eq!(rows_below(&text, heading)[1..], names.collect::<Vec<_>>(), "{heading}");
    }
}

#[test]
fn the_page_of_exit_codes_has_every_code_and_no_other() {
    let source = page("crates/towpath/src/exit.rs");
    let (_, table) = source.split_once("\nexit_codes! {").expect("the table is there");
    let (table, _) = table.split_once("\n}").expect("the table ends");
    let code = |line: &str| Some(line.split_once(" = ")?.1.split_once(", severity ")?.0.to_owned());
    let codes: Vec<String> = table.lines().filter_map(code).collect();
    let rows = rows_below(&page("docs/exit-codes.md"), "The codes");
    assert_eq!(rows[1..], codes);
}

/// The keys in the first column of the table that begins with this cell.
fn keys_of(page: &str, head: &str) -> BTreeSet<String> {
    let (_, table) = page.split_once(&format!("\n| {head} | meaning |\n")).expect("the table");
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(1);
    rows.flat_map(|row| code_words(row.split('|').nth(1).unwrap_or_default())).collect()
}

fn keys(object: &serde_json::Value) -> BTreeSet<String> {
    let keys = object.as_object().expect("an object").keys().cloned();
    // Every object has it, and the page reports it once.
    keys.filter(|key| key != "schema").collect()
}

#[test]
fn the_page_of_json_has_every_key_of_a_result_and_of_a_dry_run() {
    let called = "name: called\nsteps:\n  - {id: a, command: echo a}\n";
    let recipe = "name: r\nsteps:\n  - {id: call, recipe: called}\n  - {id: off, condition: '1 == 2', command: echo}\n  - {id: bad, command: exit 3}\n";
    let user = crate::support::User::new().file("called.yaml", called).file("r.yaml", recipe);
    let page = page("docs/json.md");
    let dry = user.towpath(&["run", "r.yaml", "--dry-run", "--json"]).exits(0).json();
    assert_eq!(keys(&dry), keys_of(&page, "key of a dry run"));
    assert_eq!(keys(&dry["steps"][0]), keys_of(&page, "key of a step that would run"));
    let reported = page.lines().find(|line| line.starts_with("| `summary` | `total`"));
    for key in keys(&dry["summary"]) {
        assert!(
            reported.is_some_and(|row| row.contains(&format!("`{key}`"))),
            "{key} is not described"
        );
    }
    let result = user.towpath(&["run", "r.yaml", "--json", "--with-context"]).exits(1).json();
    let known = keys_of(&page, "key of a run's result");
    assert!(keys(&result).is_subset(&known), "{:?} and {known:?}", keys(&result));
    let known = keys_of(&page, "key of a step");
    for step in result["steps"].as_array().expect("steps") {
        assert!(keys(step).is_subset(&known), "{:?} and {known:?}", keys(step));
    }
}

/// The commands that a help text lists.
fn commands_in(help: &str) -> Vec<String> {
    let listed = help.split("\nCommands:\n").nth(1).and_then(|t| t.split("\nOptions:").next());
    // A line that continues is indented further.
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = listed.into_iter().flat_map(str::lines).filter(is_name);
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_command_and_flag_that_is_named_exists() {
    let user = crate::support::User::new();
    let mut known = user.towpath(&["--help"]).exits(0).stdout;
    let commands = commands_in(&known);
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands.iter().filter(|c| *c != "as") {
        let help = user.towpath(&[command, "--help"]).exits(0).stdout;
        for inner in commands_in(&help) {
            let help = user.towpath(&[command, &inner, "--help"]).exits(0).stdout;
            for kind in commands_in(&help) {
                let words = [command, inner.as_str(), &kind, "--help"];
                known.push_str(&user.towpath(&words).exits(0).stdout);
            }
            known.push_str(&help);
        }
        known.push_str(&help);
    }
    known.push_str(&user.towpath(&["runs", "prune", "--help"]).exits(0).stdout);
    let all: String = pages().iter().map(|name| page(name)).collect();
    for command in &commands {
        assert!(all.contains(&format!("towpath {command}")), "no word about towpath {command}");
    }
    let other_names =
        ["docs/recipe-runner.md", "docs/agent-recipes.md", "docs/dp.md", "docs/meld.md"];
    for name in chapters().iter().filter(|name| !other_names.contains(&name.as_str())) {
        let ours = |w: &String| w.starts_with("--") || w.starts_with("towpath ");
        for word in code_words(&page(name)).into_iter().filter(ours) {
            for flag in word.split([' ', '=']).filter(|w| w.starts_with("--") && w.len() > 2) {
                assert!(known.contains(flag), "{name}: {flag}");
            }
            if let Some(command) = word.strip_prefix("towpath ") {
                let command = command.split(' ').next().unwrap_or(command);
                let is_flag = command.starts_with('-');
                assert!(is_flag || commands.iter().any(|c| c == command), "{name}: {word}");
            }
        }
    }
}

#[test]
fn the_page_of_agent_recipes_has_every_flag_and_no_other() {
    let user = crate::support::User::new();
    let help = user.towpath(&["as", "agent-recipes", "--help"]).exits(0).stdout;
    let flag = |line: &str| {
        let at = line.trim_start().find("--")?;
        let words = &line.trim_start()[at..];
        (line.starts_with("      --") || line.starts_with("  -"))
            .then(|| words.split([' ', ',']).next().unwrap_or(words).to_owned())
    };
    let ours = ["--help", "--version"];
    let known: BTreeSet<String> =
        help.lines().filter_map(flag).filter(|f| !ours.contains(&f.as_str())).collect();
    let text = page("docs/agent-recipes.md");
    let (_, table) = text.split_once("\n| flag | what it does |\n").expect("the table");
    let rows = table.lines().take_while(|line| line.starts_with('|')).skip(1);
    let reported = rows.map(|row| code_words(row.split('|').nth(1).unwrap_or_default()).remove(0));
    let reported: BTreeSet<String> =
        reported.map(|word| word.split(' ').next().unwrap_or_default().to_owned()).collect();
    assert_eq!(reported, known);
}

#[test]
fn the_page_of_machines_has_every_event_and_every_field() {
    let text = page("docs/machines.md");
    let user = crate::support::User::new();
    let answer = |text: &str| format!("{}\n", serde_json::Value::from(text));
    let report = |outcome: &str| answer(&format!("{{\"outcome\": \"{outcome}\"}}"));
    let answers = [answer("no"), report("complete"), report("no-issues"), report("committed")];
    user.write("answers.jsonl", &answers.concat());
    let flags = ["--script", "answers.jsonl", "--events-file", "events.jsonl", "--json"];
    let result = user.towpath(&[&["run", "implement-and-review"], &flags[..]].concat());
    let result = result.exits(0).json();
    let mut types = BTreeSet::from(["type".to_owned(), "session_locked".to_owned()]);
    let fields = rows_below(&text, "Events");
    for line in user.read("events.jsonl").lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        types.insert(event["type"].as_str().expect("a type").to_owned());
        for key in keys(&event) {
            assert!(text.contains(&format!("`{key}`")), "no word about {key} of an event");
        }
    }
    let of_types: BTreeSet<String> =
        fields.iter().take_while(|cell| *cell != "field").cloned().collect();
    assert_eq!(of_types, types);
    for key in keys(&result["machine"]) {
        assert!(text.contains(&format!("`{key}`")), "no word about {key} of a machine");
    }
    let known = keys_of(&page("docs/json.md"), "key of a step");
    for step in result["steps"].as_array().expect("steps") {
        assert!(keys(step).is_subset(&known), "{:?} and {known:?}", keys(step));
    }
    assert!(keys(&result).is_subset(&keys_of(&page("docs/json.md"), "key of a run's result")));
}

#[test]
fn every_link_leads_somewhere() {
    let mut followed = 0;
    for name in pages() {
        let folder = root().join(&name).parent().expect("a page has a folder").to_owned();
        for link in links(&page(&name)).iter().filter(|l| !l.starts_with("http")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { root().join(&name) } else { folder.join(file) };
            assert!(target.exists(), "{name}: {link}");
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).expect("a page");
                let headings = text.lines().filter(|line| line.starts_with('#'));
                assert!(headings.map(anchor_of).any(|a| a == anchor), "{name}: {link}");
            }
            followed += 1;
        }
    }
    assert!(followed > 20, "{followed} links");
}

/// The anchor that renderers give a heading.
fn anchor_of(heading: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let text: String =
        heading.trim_start_matches('#').trim().chars().filter(|c| kept(*c)).collect();
    text.to_lowercase().replace(' ', "-")
}

/// The map for agents: every page of the book with a few words about it, in the book's order.
#[test]
fn the_map_for_agents_has_every_page_of_the_book() {
    let map = page("llms.txt");
    let lines: Vec<&str> = map.lines().filter(|line| line.starts_with("- [")).collect();
    let listed: Vec<String> = lines.iter().flat_map(|line| links(line)).collect();
    let of_book: Vec<String> =
        listed.iter().filter(|link| link.starts_with("docs/")).cloned().collect();
    assert_eq!(of_book, chapters());
    for (line, link) in lines.iter().zip(&listed) {
        assert!(root().join(link).exists(), "{link}");
        assert!(line.split_once("): ").is_some_and(|(_, about)| !about.is_empty()), "{line}");
    }
    assert!(map.starts_with("# Towpath\n\n> "), "a title and a summary come first");
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let listed: BTreeSet<String> = chapters().into_iter().collect();
    let in_folder = |folder: &str| {
        let files = fs::read_dir(root().join(folder)).expect("a folder of the book");
        let names = files.map(|f| f.expect("a file").file_name().to_string_lossy().into_owned());
        let pages = names.filter(|n| n.ends_with(".md") && n != "SUMMARY.md");
        pages.map(|n| format!("{folder}/{n}")).collect::<BTreeSet<String>>()
    };
    let there = &in_folder("docs") | &in_folder("docs/agents");
    assert_eq!(there, listed);
}

#[test]
fn every_agents_program_has_a_page_that_agrees_with_the_table() {
    let ids: Vec<String> = BACKENDS.iter().map(|row| row.id.to_owned()).collect();
    let mut rows = rows_below(&page("docs/agents.md"), "Backends");
    assert_eq!(rows.remove(0), "backend");
    assert_eq!(rows, ids);
    for row in BACKENDS.iter().filter(|row| row.id != "scripted") {
        let text = page(&format!("docs/agents/{}.md", row.id));
        let reports = |word: &str| text.contains(&format!("`{}`", word.replace('|', "\\|")));
        assert!(text.starts_with(&format!("# {}\n", row.title)), "{}", row.id);
        assert!(reports(row.install), "{}: {}", row.id, row.install);
        assert!(text.contains(&format!("`--backend {}`", row.id)), "{}", row.id);
        let looked_for = row.variable.iter().chain(row.programs).chain(row.known);
        let modes = row.can.modes.into_iter().flatten();
        for word in looked_for.chain(modes) {
            assert!(reports(word), "{}: {word}", row.id);
        }
    }
}

#[test]
fn the_architecture_names_only_what_exists_and_every_crate() {
    let text = page("ARCHITECTURE.md");
    let is_path = |word: &String| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        plain && word.contains('/') && !word.starts_with('/')
    };
    let is_from_root =
        |word: &String| ["crates/", "tests/", "docs/"].iter().any(|at| word.starts_with(at));
    let paths: Vec<String> =
        code_words(&text).into_iter().filter(is_path).filter(is_from_root).collect();
    assert!(paths.len() > 30, "{paths:?}");
    for path in paths {
        assert!(root().join(&path).exists(), "{path} does not exist");
    }
    let rows = rows_below(&text, "The crates");
    for entry in fs::read_dir(root().join("crates")).expect("the crates' folder") {
        let name = entry.expect("a folder").file_name().to_string_lossy().into_owned();
        assert!(rows.contains(&name), "{name} is not in the table");
    }
}

#[test]
fn the_page_of_examples_names_each_of_them() {
    let mut rows = first_cells(&page("docs/examples.md"));
    rows.remove(0);
    let named: BTreeSet<String> = rows.into_iter().collect();
    assert_eq!(named, example_files_run::all_examples().into_iter().collect());
}

/// Commands for a shell are not typed by these tests, since they build the program. Each is here
/// because something else proves it.
const PROVEN_ELSEWHERE: &[&str] = &[
    "cargo run --release -- run demo", // the two tests below
    "cargo install --path crates/towpath",
    "towpath run demo",
    "./test", // is what runs this
    "RUSTFLAGS=\"-C target-feature=+crt-static -C relocation-model=static\" cargo build --release --target x86_64-unknown-linux-gnu",
];

#[test]
fn the_commands_that_build_fit_the_workspace() {
    for name in ["README.md", "docs/getting-started.md"] {
        for block in blocks(&page(name)).iter().filter(|b| b.kind == "sh") {
            for line in block.text.lines() {
                assert!(PROVEN_ELSEWHERE.contains(&line), "{name}: nothing proves {line}");
            }
        }
    }
    let workspace: toml::Table = page("Cargo.toml").parse().expect("a manifest");
    let default = &workspace["workspace"]["default-members"];
    assert_eq!(default.as_array().map(Vec::len), Some(1), "`cargo run` has one program to run");
    assert_eq!(default[0].as_str(), Some("crates/towpath"));
}

#[test]
fn the_demo_runs_in_an_empty_home_and_asks_nothing() {
    let user = crate::support::User::new();
    let printed = user.towpath(&["run", "demo"]).exits(0);
    let end = "-tr ' ' '\\n' < \"$1\" | wc -l | tr -d ' '\n\
               +wc -w < \"$1\" | tr -d ' '\n\
               \n\
               before:  FAIL: it says 10 words, there are 9\n\
               agent:   two spaces in a row counted as a word; wc -w counts words\n\
               after:   PASS: 9 words\n";
    assert!(printed.stdout.ends_with(end), "{}", printed.stdout);
    assert!(printed.stderr.contains("7 of 8 steps ran"), "{}", printed.stderr);
    let script = user.path("home/cache/demo/wordcount/count-words.sh");
    let script = fs::read_to_string(script).expect("the demo's script");
    assert!(script.contains("wc -w"), "the agent has changed it: {script}");
    assert_eq!(fs::read_dir(user.path("work")).expect("a folder").count(), 0, "nothing else");
}
