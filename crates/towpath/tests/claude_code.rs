//! The real Claude Code inside a real run, answered by a scripted model server on loopback.
//! `./test` installs the program and names it in `TOWPATH_TEST_CLAUDE`.

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use support::{Person, Said, kill_hard, lives, until};

/// A model server with its script; it ends when this value is dropped or the test dies.
struct Model {
    server: Child,
    port: String,
    _alive: ChildStdin,
}

impl Model {
    fn new(person: &Person, script: &str) -> Model {
        person.write("script.jsonl", script);
        let server =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support/model_server.py");
        let mut server = Command::new("python3")
            .arg(server)
            .arg(person.path("work/script.jsonl"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs the model server");
        let mut port = String::new();
        let out = server.stdout.take().expect("the server's output");
        BufReader::new(out).read_line(&mut port).expect("the server prints its port");
        let alive = server.stdin.take().expect("the server's input");
        Model { server, port: port.trim().to_owned(), _alive: alive }
    }

    /// A command of a person who has set the program up for this model.
    fn command(&self, person: &Person, arguments: &[&str]) -> Command {
        let program = std::env::var_os("TOWPATH_TEST_CLAUDE");
        let program = program.expect("TOWPATH_TEST_CLAUDE names no program: run ./test");
        let mut command = person.command(arguments);
        command
            .env("CLAUDE_CLI_PATH", program)
            .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", self.port))
            .env("ANTHROPIC_API_KEY", "not-a-key")
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("IS_SANDBOX", "1")
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .env("NO_PROXY", "127.0.0.1");
        command
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const RECIPE: &str = "
name: real
steps:
  - id: ask
    prompt: Write made.txt
    output: answer
  - id: check
    command: cat made.txt; echo \"it said {{answer}}\"
";

#[test]
fn the_real_program_does_a_step_and_its_answer_is_a_value() {
    let person = Person::new().file("real.yaml", RECIPE);
    let tool =
        r#"{"tool":"Bash","input":{"command":"echo by claude > made.txt","description":"d"}}"#;
    let model = Model::new(&person, &format!("{tool}\n{{\"text\":\"all \\\"done\\\"\"}}\n"));
    let mut command =
        model.command(&person, &["run", "real.yaml", "--json", "--backend", "claude-code"]);
    let said = Said::from(command.output().expect("towpath starts")).exits(0);
    let result = said.json();
    assert_eq!(result["steps"][1]["output"], "by claude\nit said all \"done\"");
    assert!(result["summary"]["cost_usd"].as_f64().is_some_and(|c| c > 0.0), "{result}");
}

#[test]
fn what_the_real_programs_tools_left_behind_dies_with_the_runner() {
    let person = Person::new().file("real.yaml", RECIPE);
    let tool = r#"{"tool":"Bash","input":{"command":"nohup sleep 600 > /dev/null 2>&1 & echo $! > bg.pid; echo $$ > fg.pid; sleep 599","description":"d"}}"#;
    let model = Model::new(&person, &format!("{tool}\n{{\"text\":\"done\"}}\n"));
    let mut command = model.command(&person, &["run", "real.yaml", "--backend", "claude-code"]);
    let mut runner =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("towpath starts");
    until("the tool runs", || person.read("fg.pid").ends_with('\n'));
    kill_hard(&mut runner);
    until("all is gone", || !lives(&person.read("fg.pid")) && !lives(&person.read("bg.pid")));
}

#[test]
fn a_fault_of_the_program_is_told_and_is_exit_4() {
    let person = Person::new().file("real.yaml", RECIPE);
    let model = Model::new(&person, "{\"error\":403,\"message\":\"no\"}\n");
    let mut command = model.command(&person, &["run", "real.yaml", "--backend", "claude-code"]);
    Said::from(command.output().expect("towpath starts")).exits(4).says("auth");
}
