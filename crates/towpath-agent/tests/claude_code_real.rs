//! The real Claude Code program, answered by a scripted model server on the loopback interface.
//! `./test` installs the program and names it in `TOWPATH_TEST_CLAUDE`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use towpath_agent::{Backend, Call, ClaudeCode, End, Exit, Reply, Sign};
use towpath_core::{FaultKind, Usage};

/// Far beyond what a call takes, and far below what a person waits.
const PATIENCE: Duration = Duration::from_secs(60);

/// A private home, a project directory and a model server with its own script.
struct Desk {
    dir: TempDir,
    port: u16,
    server: Child,
    /// The server ends when this closes, also if the test is killed.
    _alive: ChildStdin,
}

impl Desk {
    fn new(script: &[&str]) -> Desk {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "project", "private"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("script.jsonl"), script.join("\n")).unwrap();
        let support = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/support");
        let mut server = Command::new("python3")
            .arg(support.join("model_server.py"))
            .arg(dir.path().join("script.jsonl"))
            .arg("--log")
            .arg(dir.path().join("requests.jsonl"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 runs the model server");
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let alive = server.stdin.take().unwrap();
        Desk { dir, port: port.trim().parse().expect("a port"), server, _alive: alive }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn call(&self, prompt: &str) -> Call {
        Call {
            prompt: prompt.into(),
            model: None,
            session: Some(uuid::Uuid::new_v4().to_string()),
            resume: false,
            directory: self.path("project"),
            private: self.path("private"),
            ..Call::default()
        }
    }

    /// The environment of a person who has set up the program, and nothing else of ours.
    fn environment(&self) -> Vec<(String, String)> {
        let home = self.path("home").to_str().unwrap().to_owned();
        let url = format!("http://127.0.0.1:{}", self.port);
        let path = std::env::var("PATH").unwrap();
        let mut all = vec![("HOME".into(), home), ("ANTHROPIC_BASE_URL".into(), url)];
        all.push(("PATH".into(), path));
        for (name, value) in [
            ("ANTHROPIC_API_KEY", "not-a-key"),
            ("CLAUDE_CODE_MAX_RETRIES", "0"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("DISABLE_TELEMETRY", "1"),
            // As root the program works unattended only where a person says this.
            ("IS_SANDBOX", "1"),
            // Whatever does not obey the base URL finds a closed door.
            ("HTTP_PROXY", "http://127.0.0.1:9"),
            ("HTTPS_PROXY", "http://127.0.0.1:9"),
            ("NO_PROXY", "127.0.0.1"),
        ] {
            all.push((name.into(), value.into()));
        }
        all
    }

    fn run(&self, call: &Call) -> (Vec<Sign>, Reply) {
        self.run_in(call, self.environment())
    }

    fn run_in(&self, call: &Call, environment: Vec<(String, String)>) -> (Vec<Sign>, Reply) {
        let backend = ClaudeCode::new(program());
        let made = backend.invocation(call);
        fs::write(self.path("stdin"), &made.stdin).unwrap();
        for file in &made.writes {
            fs::write(call.private.join(file.name), &file.contents).unwrap();
        }
        let mut child = Command::new(&made.program)
            .args(&made.arguments)
            .env_clear()
            .envs(environment.into_iter().filter(|(name, _)| backend.keeps(name)))
            .envs(made.set)
            .current_dir(&call.directory)
            .stdin(File::open(self.path("stdin")).unwrap())
            .stdout(File::create(self.path("stdout")).unwrap())
            .stderr(File::create(self.path("stderr")).unwrap())
            .spawn()
            .expect("the program starts");
        let exit = wait(&mut child);
        let stderr = fs::read_to_string(self.path("stderr")).unwrap();
        let mut reader = backend.reader();
        let output = fs::read(self.path("stdout")).unwrap();
        let lines = output.split_inclusive(|&byte| byte == b'\n');
        let signs = lines.flat_map(|line| reader.line(line)).collect();
        (signs, reader.end(&End::new(exit, &stderr)))
    }

    /// The requests so far: the script line each took, and its body.
    fn requests(&self) -> Vec<(Option<u64>, serde_json::Value)> {
        let log = fs::read_to_string(self.path("requests.jsonl")).unwrap_or_default();
        let record = |line: &str| -> (Option<u64>, serde_json::Value) {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            (record["line"].as_u64(), record["body"].take())
        };
        log.lines().map(record).collect()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn program() -> PathBuf {
    let named = std::env::var_os("TOWPATH_TEST_CLAUDE");
    named.expect("TOWPATH_TEST_CLAUDE names no program: run these tests with ./test").into()
}

fn wait(child: &mut Child) -> Exit {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            use std::os::unix::process::ExitStatusExt;
            return Exit { code: status.code(), signal: status.signal() };
        }
        if Instant::now() > end {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the program did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_session_is_opened_used_and_resumed() {
    let desk = Desk::new(&[
        r#"{"tool": "Bash", "input": {"command": "echo made > here", "description": "d"}}"#,
        r#"{"text": "first\n{\"outcome\": \"ok\"}", "usage": {"cache_read_input_tokens": 100}}"#,
        r#"{"text": "second"}"#,
    ]);
    let call = Call { model: Some("haiku".into()), ..desk.call("- begin ünicode") };
    let (signs, reply) = desk.run(&call);
    assert_eq!(reply.result.as_deref(), Ok("first\n{\"outcome\": \"ok\"}"));
    assert_eq!(reply.session, call.session);
    let session = Sign::Session(call.session.clone().unwrap());
    let [tool, text] =
        ["Bash echo made > here", "{\"outcome\": \"ok\"}"].map(|t| Sign::Doing(t.into()));
    assert_eq!(signs, [session, tool, text, Sign::Complete]);
    assert_eq!(fs::read_to_string(desk.path("project/here")).unwrap(), "made\n");
    let Usage { input_tokens, output_tokens, cost_usd } = reply.usage.unwrap();
    assert_eq!((input_tokens, output_tokens), (Some(122), Some(14)));
    let first_cost = cost_usd.filter(|cost| *cost > 0.0).expect("a cost");

    let again = Call { prompt: "go on".into(), resume: true, ..call.clone() };
    let (_, reply) = desk.run(&again);
    assert_eq!(reply.result.as_deref(), Ok("second"));
    assert_eq!(reply.session, call.session);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(11), Some(7)));
    assert!(usage.cost_usd.is_some_and(|cost| cost > 0.0 && cost < first_cost), "{usage:?}");

    let requests = desk.requests();
    let lines: Vec<_> = requests.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [Some(1), Some(2), Some(3)], "one request a turn, and no others");
    assert!(requests[0].1["model"].as_str().unwrap().contains("haiku"));
    assert!(requests[0].1["messages"].to_string().contains("- begin ünicode"));
    let history = requests[2].1["messages"].to_string();
    assert!(history.contains("begin ünicode") && history.contains("go on"), "{history}");
}

#[test]
fn a_large_prompt_arrives_whole() {
    let desk = Desk::new(&[r#"{"text": "read"}"#]);
    let prompt = "0123456789 \"quoted\"\n".repeat(15_000) + "the very end";
    let (_, reply) = desk.run(&desk.call(&prompt));
    assert_eq!(reply.result.as_deref(), Ok("read"));
    let (_, body) = desk.requests().remove(0);
    let texts = body["messages"][0]["content"].as_array().unwrap();
    let sent = texts.iter().find_map(|t| t["text"].as_str().filter(|t| t.contains("very end")));
    assert_eq!(sent.map(str::trim), Some(prompt.as_str()));
}

#[test]
fn instructions_of_any_size_arrive() {
    for system in ["- Be brief. The very end".to_owned(), "word ".repeat(40_000) + "The very end"] {
        let desk = Desk::new(&[r#"{"text": "read"}"#]);
        let call = Call { system: Some(system), ..desk.call("begin") };
        assert_eq!(desk.run(&call).1.result.as_deref(), Ok("read"));
        let (_, body) = desk.requests().remove(0);
        assert!(body["system"].to_string().contains("The very end"));
    }
}

#[test]
fn failures_of_the_service_are_told_apart() {
    for (error, kind) in [
        (r#"{"error": 401}"#, FaultKind::Auth),
        (r#"{"error": 403}"#, FaultKind::Auth),
        (r#"{"error": 429, "message": "slow down"}"#, FaultKind::Limit),
        (r#"{"error": 529}"#, FaultKind::Overloaded),
        (r#"{"error": 500}"#, FaultKind::Overloaded),
    ] {
        let desk = Desk::new(&[error, r#"{"text": "recovered"}"#]);
        let call = desk.call("begin");
        let (_, reply) = desk.run(&call);
        let fault = reply.result.expect_err(error);
        assert_eq!((fault.kind, fault.until_ms), (kind, None), "{error}: {}", fault.message);
        assert_eq!(reply.session, call.session, "{error}");
        assert_eq!(reply.usage.and_then(|usage| usage.input_tokens), Some(0), "{error}");

        // The session exists although its first call failed.
        let (_, reply) = desk.run(&Call { resume: true, ..call });
        assert_eq!(reply.result.as_deref(), Ok("recovered"), "{error}");
    }
}

#[test]
fn a_request_that_cannot_work_is_a_bad_request() {
    // The program tries such a request several times over before it gives up.
    for error in [r#"{"error": 400}"#, r#"{"error": 404, "message": "model: none"}"#] {
        let desk = Desk::new(&[error; 10]);
        let fault = desk.run(&desk.call("begin")).1.result.expect_err(error);
        assert_eq!(fault.kind, FaultKind::BadRequest, "{error}: {}", fault.message);
    }
}

#[test]
fn without_a_login_it_is_an_auth_fault() {
    let desk = Desk::new(&[]);
    let mut environment = desk.environment();
    environment.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
    let fault = desk.run_in(&desk.call("begin"), environment).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Auth, "{}", fault.message);
    assert_eq!(desk.requests(), []);
}

#[test]
fn a_server_that_is_not_there_is_overloaded() {
    let desk = Desk::new(&[]);
    let mut environment = desk.environment();
    environment.retain(|(name, _)| name != "ANTHROPIC_BASE_URL");
    environment.push(("ANTHROPIC_BASE_URL".into(), "http://127.0.0.1:9".into()));
    let fault = desk.run_in(&desk.call("begin"), environment).1.result.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Overloaded, "{}", fault.message);
}

#[test]
fn a_subscriptions_limit_tells_when_it_is_over() {
    let error = r#"{"error": 429, "headers": {"anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": "4070908800", "retry-after": "7200",
        "anthropic-ratelimit-unified-representative-claim": "five_hour"}}"#;
    let desk = Desk::new(&[&error.replace('\n', "")]);
    let mut environment = desk.environment();
    environment.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
    environment.push(("CLAUDE_CODE_OAUTH_TOKEN".into(), "sk-ant-oat01-not-a-token".into()));
    let fault = desk.run_in(&desk.call("begin"), environment).1.result.unwrap_err();
    assert_eq!((fault.kind, fault.until_ms), (FaultKind::Limit, Some(4_070_908_800_000)));
}

#[test]
fn usage_errors_come_with_the_programs_words() {
    let desk = Desk::new(&[r#"{"text": "taken"}"#]);
    let call = desk.call("begin");
    desk.run(&call).1.result.unwrap();
    for (call, kind, words) in [
        (call.clone(), FaultKind::Crash, "already in use"),
        (
            Call { resume: true, ..desk.call("begin") },
            FaultKind::UnknownSession,
            "No conversation found",
        ),
        (desk.call(""), FaultKind::Crash, "Input must be provided"),
    ] {
        let fault = desk.run(&call).1.result.unwrap_err();
        assert_eq!(fault.kind, kind);
        assert!(fault.message.contains(words), "{}", fault.message);
    }
}

/// What the program adds to its children's environment must never reach an agent below it.
#[test]
fn every_mark_the_program_sets_is_taken_out() {
    let desk = Desk::new(&[
        r#"{"tool": "Bash", "input": {"command": "env -0 > names", "description": "d"}}"#,
        r#"{"text": "done"}"#,
    ]);
    desk.run(&desk.call("begin")).1.result.unwrap();
    let names = fs::read_to_string(desk.path("project/names")).unwrap();
    let names: BTreeSet<&str> =
        names.split('\0').filter_map(|v| Some(v.split_once('=')?.0)).collect();
    let ours: BTreeSet<String> = desk.environment().into_iter().map(|(name, _)| name).collect();
    let backend = ClaudeCode::new(program());
    let set = backend.invocation(&desk.call("x")).set;
    let set_by_us = |name: &str| set.iter().any(|(set, _)| set == name);
    let marks: Vec<&str> = names
        .into_iter()
        .filter(|name| name.contains("CLAUDE") || *name == "AI_AGENT")
        .filter(|name| !ours.contains(*name) && !set_by_us(name))
        .collect();
    assert!(
        marks.contains(&"CLAUDECODE") && marks.contains(&"CLAUDE_CODE_SESSION_ID"),
        "{marks:?}"
    );
    let kept: Vec<&&str> = marks.iter().filter(|name| backend.keeps(name)).collect();
    assert!(kept.is_empty(), "{kept:?}");
}
