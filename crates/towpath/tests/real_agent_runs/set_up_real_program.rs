//! The real agent programs of a user who has set each up for a scripted model on loopback. They
//! are those in `TOWPATH_TEST_AGENTS`, where `tests/agents/install` puts them.

#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../../../../tests/support/model_server/mod.rs"]
pub mod model_server;

use crate::support::{Printed, Signal, User, lives, signal, signal_to, until};
use model_server::{Answer, ModelServer};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Far beyond what a program needs on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A machine of one step.
pub const ONE: &str = "
id: one
label: One
description: One step
initialStep: edit
guardrails: {}
steps:
  edit:
    prompt: Write made.txt, first of all.
    outcomes: [edited]
    onOutcome: {edited: {action: exit, reason: edited}}
";

pub struct Agent {
    pub backend: &'static str,
    program: &'static str,
    variable: &'static str,
    /// Its tool for commands, and the name of that tool's input.
    shell: (&'static str, &'static str),
    /// Sets the program up for a model, as its user would.
    set_up: fn(&User, &ModelServer, &mut Command),
}

pub const CLAUDE_CODE: Agent = Agent {
    backend: "claude-code",
    program: "claude",
    variable: "CLAUDE_CLI_PATH",
    shell: ("Bash", "command"),
    set_up: |_, server, command| {
        command
            .env("ANTHROPIC_BASE_URL", server.root())
            .env("ANTHROPIC_API_KEY", "not-a-real-key")
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            // As root the program works unattended only where a user shows this.
            .env("IS_SANDBOX", "1");
    },
};

pub const OPENCODE: Agent = Agent {
    backend: "opencode",
    program: "opencode",
    variable: "OPENCODE_CLI_PATH",
    shell: ("bash", "command"),
    set_up: |user, server, command| {
        let options = json!({"baseURL": server.url(), "apiKey": "not-a-real-key"});
        let models = json!({"scripted": {"cost": {"input": 1, "output": 2}}, "small": {}});
        let provider =
            json!({"npm": "@ai-sdk/openai-compatible", "options": options, "models": models});
        let settings = json!({"model": "fake/scripted", "share": "disabled",
                              "autoupdate": false, "provider": {"fake": provider}});
        configure(user, ".config/opencode/opencode.json", &settings.to_string());
        command.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    },
};

pub const COPILOT: Agent = Agent {
    backend: "github-copilot",
    program: "copilot",
    variable: "COPILOT_CLI_PATH",
    shell: ("bash", "command"),
    set_up: |_, server, command| {
        command
            .env("COPILOT_PROVIDER_BASE_URL", server.url())
            .env("COPILOT_PROVIDER_API_KEY", "not-a-real-key")
            .env("COPILOT_MODEL", "scripted")
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_AUTO_UPDATE", "false");
    },
};

pub const CODEX: Agent = Agent {
    backend: "codex",
    program: "codex",
    variable: "CODEX_CLI_PATH",
    shell: ("exec_command", "cmd"),
    set_up: |user, server, command| {
        let settings = format!(
            "model = 'scripted'\nmodel_provider = 'fake'\ncheck_for_update_on_startup = false\n\
             [analytics]\nenabled = false\n[features]\nplugins = false\napps = false\n\
             [model_providers.fake]\nname = 'fake'\nbase_url = '{}'\nenv_key = 'FAKE_KEY'\n\
             wire_api = 'responses'\nrequest_max_retries = 0\nstream_max_retries = 0\n",
            server.url()
        );
        configure(user, ".codex/config.toml", &settings);
        command.env("FAKE_KEY", "not-a-real-key");
    },
};

pub const GEMINI: Agent = Agent {
    backend: "gemini",
    program: "gemini",
    variable: "GEMINI_CLI_PATH",
    shell: ("run_shell_command", "command"),
    set_up: |user, server, command| {
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "general": {"enableAutoUpdate": false, "maxAttempts": 1},
            // Without one it asks a model which model to ask.
            "model": {"name": "gemini-2.5-pro"},
        });
        configure(user, ".gemini/settings.json", &settings.to_string());
        command
            .env("GEMINI_API_KEY", "not-a-real-key")
            .env("GOOGLE_GEMINI_BASE_URL", server.root())
            // It writes reports of failed requests there.
            .env("TMPDIR", user.path("work"));
    },
};

/// Writes a settings file below the user's home.
fn configure(user: &User, name: &str, text: &str) {
    let file = user.path(name);
    fs::create_dir_all(file.parent().expect("a file has a folder")).expect("a folder");
    fs::write(file, text).expect("a file");
}

impl Agent {
    /// A command of a user who has this agent.
    pub fn command(&self, user: &User, server: &ModelServer, arguments: &[&str]) -> Command {
        let mut command = user.command(arguments);
        command
            .env("TOWPATH_BACKEND", self.backend)
            .env(self.variable, self.path())
            // One program unpacks itself there, which need not be done for each test.
            .env("XDG_CACHE_HOME", programs().join("../../cache"))
            .env_remove("XDG_CONFIG_HOME")
            // Whatever does not keep to the model's address finds a closed door.
            .env("HTTP_PROXY", "http://127.0.0.1:9")
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .env("NO_PROXY", "127.0.0.1");
        (self.set_up)(user, server, &mut command);
        command
    }

    /// Where its program is.
    pub fn path(&self) -> PathBuf {
        let program = programs().join(self.program);
        assert!(program.exists(), "{} is not there: run tests/agents/install", program.display());
        program
    }

    pub fn run(&self, user: &User, server: &ModelServer, arguments: &[&str]) -> Printed {
        finish(self.command(user, server, arguments))
    }

    /// The model's wish that a command be run.
    pub fn tool(&self, command: &str) -> Answer {
        let (tool, input) = self.shell;
        Answer::Tool(tool, json!({input: command, "description": "d"}))
    }

    /// Starts a run and waits until a tool of its agent has noted itself in `fg.pid`.
    pub fn in_a_tool(&self, user: &User, server: &ModelServer, arguments: &[&str]) -> Child {
        let mut command = self.command(user, server, arguments);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut runner = command.spawn().expect("towpath starts");
        until(&format!("a tool of {}", self.backend), || {
            let ended = runner.try_wait().expect("the runner is ours");
            assert!(ended.is_none(), "{} ended before its tool ran", self.backend);
            user.read("fg.pid").ends_with('\n')
        });
        assert!(lives(&user.read("fg.pid")));
        runner
    }
}

/// What a command shows until it ends; one that does not end by itself is killed.
pub fn finish(mut command: Command) -> Printed {
    let child = command.spawn().expect("towpath starts");
    let id = child.id();
    let (ended, waits) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        if waits.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            signal_to(id, Signal::KILL);
        }
    });
    let printed = Printed::from(child.wait_with_output().expect("it is ours"));
    drop(ended);
    printed
}

/// Stays until it is ended, and leaves something behind that is in no group of ours.
pub const STAY: &str =
    "nohup setsid sleep 600 > /dev/null 2>&1 & echo $! > bg.pid; echo $$ > fg.pid; sleep 599";

/// Interrupts a runner as Ctrl-C does, and gives its exit code.
pub fn interrupt(mut runner: Child) -> Option<i32> {
    signal(&runner, Signal::INT);
    runner.wait().expect("the runner ends").code()
}

pub fn programs() -> PathBuf {
    let named = std::env::var_os("TOWPATH_TEST_AGENTS").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set"));
    named.unwrap_or_else(|| home().join(".cache/towpath-test/agents/node_modules/.bin"))
}

/// Processes that belong to a user: their home is in the environment.
pub fn of(user: &User) -> Vec<String> {
    let home = user.path("home").to_str().expect("a plain path").to_owned();
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let living = processes.filter(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&home)
    });
    living.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

#[track_caller]
pub fn nothing_is_left(user: &User) {
    until("all processes are gone", || of(user).is_empty());
}
