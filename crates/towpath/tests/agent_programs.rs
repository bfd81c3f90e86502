//! The real OpenCode and Copilot inside real runs, answered by a scripted model server on loopback.
//! The programs are those in `TOWPATH_TEST_AGENTS`, where `tests/agents/install` puts them.

#[path = "../../../tests/support/chat_server.rs"]
mod chat_server;
mod support;

use chat_server::{Answer, ChatServer};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{Person, Said, lives, signal, until};

const RECIPE: &str = "
name: real
steps:
  - id: ask
    prompt: Write made.txt
    output: answer
  - id: check
    command: cat made.txt; echo \"it said {{answer}}\"
";

/// Far beyond what a program needs to begin on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

struct Agent {
    backend: &'static str,
    program: &'static str,
    variable: &'static str,
    /// Sets the program up for a model's address, as its user would.
    set_up: fn(&Person, &str, &mut Command),
}

const AGENTS: &[Agent] = &[
    Agent {
        backend: "opencode",
        program: "opencode",
        variable: "OPENCODE_CLI_PATH",
        set_up: |person, url, command| {
            let options = json!({"baseURL": url, "apiKey": "not-a-real-key"});
            let models = json!({"scripted": {"cost": {"input": 1, "output": 2}}});
            let provider = json!({"npm": "@ai-sdk/openai-compatible", "options": options,
                                  "models": models});
            let settings = json!({"model": "fake/scripted", "share": "disabled",
                                  "autoupdate": false, "provider": {"fake": provider}});
            let place = person.path(".config/opencode");
            fs::create_dir_all(&place).expect("a folder");
            fs::write(place.join("opencode.json"), settings.to_string()).expect("a file");
            command.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
        },
    },
    Agent {
        backend: "github-copilot",
        program: "copilot",
        variable: "COPILOT_CLI_PATH",
        set_up: |_, url, command| {
            command
                .env("COPILOT_PROVIDER_BASE_URL", url)
                .env("COPILOT_PROVIDER_API_KEY", "not-a-real-key")
                .env("COPILOT_MODEL", "scripted")
                .env("COPILOT_OFFLINE", "true")
                .env("COPILOT_AUTO_UPDATE", "false");
        },
    },
];

impl Agent {
    fn command(&self, person: &Person, server: &ChatServer, arguments: &[&str]) -> Command {
        let mut command = person.command(arguments);
        command
            .args(["--backend", self.backend])
            .env(self.variable, programs().join(self.program))
            .env("XDG_CACHE_HOME", programs().join("../../cache"))
            .env_remove("XDG_CONFIG_HOME")
            .env("HTTP_PROXY", "http://127.0.0.1:9")
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .env("NO_PROXY", "127.0.0.1");
        (self.set_up)(person, &server.url(), &mut command);
        command
    }
}

fn programs() -> PathBuf {
    let named = std::env::var_os("TOWPATH_TEST_AGENTS").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set"));
    named.unwrap_or_else(|| home().join(".cache/towpath-test/agents/node_modules/.bin"))
}

fn tool(command: &str) -> Answer {
    Answer::Tool("bash", json!({"command": command, "description": "d"}))
}

/// Processes that belong to a person: their home is in the environment.
fn of(person: &Person) -> Vec<String> {
    let home = person.path("home").to_str().expect("a plain path").to_owned();
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let living = processes.filter(|process| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&home)
    });
    living.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_real_program_does_a_step_and_its_answer_is_a_value() {
    for agent in AGENTS {
        let person = Person::new().file("real.yaml", RECIPE);
        let script = vec![tool("echo by an agent > made.txt"), Answer::Text("all \"done\"")];
        let server = ChatServer::new(script);
        let mut command = agent.command(&person, &server, &["run", "real.yaml", "--json"]);
        let result = Said::from(command.output().expect("towpath starts")).exits(0).json();
        let output = &result["steps"][1]["output"];
        assert_eq!(output, "by an agent\nit said all \"done\"", "{}", agent.backend);
        until("all is gone", || of(&person).is_empty());
    }
}

#[test]
fn a_fault_of_a_program_is_told_and_is_exit_4() {
    for agent in AGENTS {
        let person = Person::new().file("real.yaml", RECIPE);
        let server = ChatServer::always(Answer::Error(401, &[], "bad key"));
        let mut command = agent.command(&person, &server, &["run", "real.yaml"]);
        Said::from(command.output().expect("towpath starts")).exits(4).says("auth");
    }
}

#[test]
fn a_cancelled_run_leaves_no_process_of_a_program_or_its_tools() {
    for agent in AGENTS {
        let person = Person::new().file("real.yaml", RECIPE);
        let server = ChatServer::new(vec![tool(
            "nohup setsid sleep 600 > /dev/null 2>&1 & echo $! > bg.pid; echo $$ > fg.pid; sleep 599",
        )]);
        let mut command = agent.command(&person, &server, &["run", "real.yaml"]);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut runner = command.spawn().expect("towpath starts");
        let began = Instant::now();
        while !person.read("fg.pid").ends_with('\n') {
            let ended = runner.try_wait().expect("the runner is ours");
            assert!(ended.is_none(), "{} ended before its tool ran", agent.backend);
            assert!(began.elapsed() < PATIENCE, "the tool of {} never ran", agent.backend);
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(lives(&person.read("fg.pid")) && lives(&person.read("bg.pid")));
        signal(&runner, "-TERM");
        let ended = runner.wait().expect("the runner ends");
        assert_eq!(ended.code(), Some(143), "{}", agent.backend);
        until("all is gone", || of(&person).is_empty());
        assert!(!lives(&person.read("fg.pid")) && !lives(&person.read("bg.pid")));
    }
}
