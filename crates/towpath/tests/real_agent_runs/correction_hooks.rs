//! Our hooks in the real agent programs, installed as a user installs them: one conversation each, in
//! which the model types what does not exist. What a program cannot do is part of its test.

mod claude_code;

use crate::set_up_real_program::model_server::{Answer, ModelServer};
use crate::set_up_real_program::{
    Agent, CLAUDE_CODE, CODEX, COPILOT, GEMINI, OPENCODE, finish, programs,
};
use crate::support::{Printed, User};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use towpath_store::{ToolCallFilter, ToolCallRow};

const RULES: &[&[&str]] = &[
    &["command", "ehco", "echo", "--message", "ehco is no program"],
    &["recipe", "gt wait", "echo waited > recipe.txt", "--message", "gt cannot wait"],
    &["refuse", "touch forbidden", "--message", "write allowed.txt instead"],
];
const CONTEXT: &str = "Corrected: ehco → echo (ehco is no program)";
const RECIPE_CONTEXT: &str = "Corrected: gt wait → [recipe] (gt cannot wait)";

/// Codex runs hooks only after a user has trusted them in its own screen, or with a flag.
const CODEX_ARGUMENTS: &[&str] = &[
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    "--dangerously-bypass-hook-trust",
    "-",
];

/// An agent program that has our hooks, and a user with rules.
struct Hooked {
    user: User,
    server: ModelServer,
    host: &'static str,
    /// A command of ours with the environment of the agent.
    towpath: Command,
}

impl Hooked {
    /// Adds the rules, and one for a tool, and installs the hooks.
    fn new(agent: &Agent, host: &'static str, tool: Option<(&str, &str)>) -> Hooked {
        let hooked = Hooked::without_hooks(agent, host, tool);
        hooked.towpath(&["init", host]).exits(0);
        hooked
    }

    fn without_hooks(agent: &Agent, host: &'static str, tool: Option<(&str, &str)>) -> Hooked {
        let user = User::new();
        fs::create_dir(user.path("bin")).expect("a directory");
        symlink(env!("CARGO_BIN_EXE_towpath"), user.path("bin/towpath")).expect("a link");
        let server = ModelServer::new(Vec::new());
        let mut towpath = agent.command(&user, &server, &[]);
        let path = std::env::var("PATH").expect("a PATH");
        towpath.env("PATH", format!("{}:{path}", user.path("bin").display()));
        let hooked = Hooked { user, server, host, towpath };
        for rule in RULES {
            hooked.towpath(&[&["rules", "add"], *rule].concat()).exits(0);
        }
        if let Some((wrong, right)) = tool {
            hooked.towpath(&["rules", "add", "tool", wrong, right, "--host", host]).exits(0);
        }
        hooked
    }

    /// A program in the environment of the agent.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        let work = self.user.path("work");
        // One program takes this for where it is.
        command.args(arguments).current_dir(&work).env("PWD", work);
        for (name, value) in self.towpath.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn towpath(&self, arguments: &[&str]) -> Printed {
        finish(self.command(env!("CARGO_BIN_EXE_towpath"), arguments))
    }

    /// A conversation with the agent's own program, whose model answers this.
    fn talk(&self, program: Command, answers: Vec<Answer>) -> Printed {
        self.server.now(answers);
        finish(with_prompt(program, &self.user))
    }

    /// What the model was shown in the last request: the conversation, without its instructions.
    fn shown(&self) -> String {
        let requests = self.server.requests();
        let last = requests.last().expect("a request");
        let turns = ["messages", "input", "contents"].iter().find_map(|key| last[*key].as_array());
        let turns =
            turns.expect("a conversation").iter().skip_while(|turn| turn["role"] == "system");
        turns.flat_map(texts).collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn is_shown(&self, text: &str) {
        let shown = self.shown();
        assert!(shown.contains(text), "{}: no {text:?} in:\n{shown}", self.host);
    }

    /// What was corrected, oldest first: the decision, the line before and the one that ran.
    fn corrections(&self) -> Vec<Value> {
        let log = self.towpath(&["rules", "log", "--json"]).exits(0).json();
        let mut all = log["corrections"].as_array().expect("corrections").clone();
        all.sort_by_key(|correction| correction["at"].to_string());
        all
    }

    /// Exactly this call was recorded as failed, and as one of this host.
    #[track_caller]
    fn recorded_a_failure_of(&self, command: &str) {
        let failed = self.failed_commands();
        assert_eq!(failed.len(), 1, "{failed:#?}");
        assert!(failed[0].input.contains(command), "{failed:#?}");
        let error = failed[0].error.as_deref().unwrap_or_default();
        assert!(error.contains("command not found"), "{failed:#?}");
        assert_eq!(failed[0].host, self.host);
    }

    fn failed_commands(&self) -> Vec<ToolCallRow> {
        // What hooks have noted is in the journal after that.
        self.corrections();
        let failed = ToolCallFilter { failed_only: true, ..ToolCallFilter::default() };
        let failed = self.user.store().tool_calls(&failed).expect("calls");
        failed.into_iter().filter(|call| call.program.is_some()).collect()
    }

    #[track_caller]
    fn no_error_in_the_hook(&self) {
        let errors = fs::read_to_string(self.user.path("home/state/hooks/errors.log"));
        assert!(errors.is_err(), "{}: {errors:?}", self.host);
    }

    fn file(&self, name: &str) -> String {
        self.user.read(name)
    }
}

/// Gives the prompt by standard input, from a file.
fn with_prompt(mut program: Command, user: &User) -> Command {
    let path = user.path("prompt");
    let mut file = fs::File::create(&path).expect("a file");
    file.write_all(b"Do it.").expect("a prompt");
    program.stdin(fs::File::open(path).expect("a prompt"));
    program
}

/// Every string in a request.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// The calls of every conversation: a wrong command, a recipe, a refused command, a tool that does not
/// exist and a command that fails.
fn calls(agent: &Agent) -> Vec<Answer> {
    vec![
        agent.tool("ehco hello > corrected.txt"),
        agent.tool("gt wait"),
        agent.tool("touch forbidden"),
        Answer::Tool("read_fil", json!({"path": "corrected.txt"})),
        agent.tool("nosuchprogram --flag"),
        Answer::Text("Done."),
    ]
}

/// What every program that rewrites must have done in that conversation.
fn has_corrected(hooked: &Hooked) {
    assert_eq!(hooked.file("corrected.txt"), "hello\n", "{}", hooked.shown());
    assert_eq!(hooked.file("recipe.txt"), "waited\n", "{}", hooked.shown());
    assert!(!hooked.user.path("work/forbidden").exists());
    hooked.is_shown("write allowed.txt instead");
    hooked.recorded_a_failure_of("nosuchprogram --flag");
    hooked.no_error_in_the_hook();
}

#[test]
fn codex_corrects_what_rules_vouch_for_and_suggests_the_rest() {
    let hooked = Hooked::new(&CODEX, "codex", None);
    let program = hooked.command(CODEX.path(), CODEX_ARGUMENTS);
    let mut answers = calls(&CODEX);
    // It rewrites only what is allowed with it. So the agent is shown the right line, and types it.
    answers.insert(1, CODEX.tool("echo hello > corrected.txt"));
    hooked.talk(program, answers).exits(0);
    has_corrected(&hooked);
    hooked.is_shown("echo hello > corrected.txt");
    hooked.is_shown(RECIPE_CONTEXT);
    // No hook sees a tool that does not exist.
    hooked.is_shown("unsupported call: read_fil");
}

#[test]
fn gemini_corrects_commands_and_shows_why_after_them() {
    let hooked = Hooked::new(&GEMINI, "gemini", None);
    let program = hooked.command(GEMINI.path(), &["-o", "stream-json", "--yolo", "--skip-trust"]);
    hooked.talk(program, calls(&GEMINI)).exits(0);
    has_corrected(&hooked);
    hooked.is_shown(CONTEXT);
    hooked.is_shown(RECIPE_CONTEXT);
    // No hook sees a tool that does not exist.
    hooked.is_shown("Tool \"read_fil\" not found");
}

#[test]
fn copilot_corrects_commands_and_names_the_right_tool() {
    let hooked = Hooked::new(&COPILOT, "copilot", Some(("read_fil", "view")));
    let arguments = ["--output-format", "json", "--allow-all", "--no-ask-user"];
    let program = hooked.command(COPILOT.path(), &arguments);
    hooked.talk(program, calls(&COPILOT)).exits(0);
    has_corrected(&hooked);
    hooked.is_shown(CONTEXT);
    hooked.is_shown(RECIPE_CONTEXT);
    hooked.is_shown("There is no tool \"read_fil\". Use \"view\" instead.");
}

/// In a trusted folder Copilot runs a project's hooks for Claude Code beside its own, each with what the
/// other has rewritten: the line is corrected once, and recorded once.
#[test]
fn copilot_corrects_once_with_the_hooks_of_two_programs() {
    let hooked = Hooked::without_hooks(&COPILOT, "copilot", None);
    hooked.towpath(&["rules", "add", "command", "echo", "printf"]).exits(0);
    hooked.towpath(&["init", "claude-code", "--project"]).exits(0);
    let arguments = ["--output-format", "json", "--allow-all", "--no-ask-user", "--trust-folder"];
    let program = || hooked.command(COPILOT.path(), &arguments);
    let answers = |file: &str| {
        let wrong = COPILOT.tool(&format!("ehco hello > {file}"));
        vec![wrong, COPILOT.tool("nosuchprogram --flag"), Answer::Text("Done.")]
    };
    hooked.talk(program(), answers("alone.txt")).exits(0);
    assert_eq!(hooked.file("alone.txt"), "hello\n", "{}", hooked.shown());
    hooked.recorded_a_failure_of("nosuchprogram --flag");

    hooked.towpath(&["init", "copilot", "--project"]).exits(0);
    hooked.talk(program(), answers("both.txt")).exits(0);
    assert_eq!(hooked.file("both.txt"), "hello\n", "{}", hooked.shown());
    let corrections = hooked.corrections();
    assert_eq!(corrections.len(), 2, "{corrections:#?}");
    assert_eq!(hooked.failed_commands().len(), 2);
    hooked.no_error_in_the_hook();
}

/// A project's hooks on a machine without towpath: the calls run as they are.
#[test]
fn a_projects_hooks_change_nothing_where_towpath_is_missing() {
    let ways: [(&'static Agent, &'static str, &[&str]); 3] = [
        (&CLAUDE_CODE, "claude-code", &["-p", "--dangerously-skip-permissions"]),
        (&CODEX, "codex", CODEX_ARGUMENTS),
        (&COPILOT, "copilot", &["--allow-all", "--no-ask-user", "--trust-folder"]),
    ];
    for (agent, host, arguments) in ways {
        let hooked = Hooked::without_hooks(agent, host, None);
        hooked.towpath(&["init", host, "--project"]).exits(0);
        fs::remove_file(hooked.user.path("bin/towpath")).expect("removed");
        let call = agent.tool("command -v towpath || echo hello > plain.txt");
        let program = hooked.command(agent.path(), arguments);
        hooked.talk(program, vec![call, Answer::Text("Done.")]).exits(0);
        assert_eq!(hooked.file("plain.txt"), "hello\n", "{host}: {}", hooked.shown());
    }
}

#[test]
fn opencode_corrects_commands_by_its_plugin() {
    let hooked = Hooked::new(&OPENCODE, "opencode", Some(("read_fil", "read")));
    // As after `npm install` there.
    let beside = hooked.user.path(".config/opencode");
    symlink(programs().join(".."), beside.join("node_modules")).expect("a link");
    let named = json!({"": {"dependencies": {"@opencode-ai/plugin": "latest"}}});
    let lock = json!({"lockfileVersion": 3, "packages": named});
    fs::write(beside.join("package-lock.json"), lock.to_string()).expect("a file");
    let program = hooked.command(OPENCODE.path(), &["run", "--format", "json", "--title", "T"]);
    hooked.talk(program, calls(&OPENCODE)).exits(0);
    has_corrected(&hooked);
    hooked.is_shown(CONTEXT);
    hooked.is_shown(RECIPE_CONTEXT);
    hooked.is_shown("There is no tool \"read_fil\". Use \"read\" instead.");
}
