//! Stops aimed at the moment in which the answer is printed. What the program has printed is paid
//! for: the model is asked no more than in an unbroken run, whatever is stopped and by what.

use super::{dice, kill_agents};
use crate::set_up_real_program::model_server::{Answer, ModelServer};
use crate::set_up_real_program::{CLAUDE_CODE, nothing_is_left};
use crate::support::{Signal, User, signal, until};
use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const RECIPE: &str = "
name: aimed
steps:
  - {id: ask, prompt: Write made.txt, output: answer}
  - {id: check, command: 'cat made.txt; echo {{answer}}'}
";

/// A tool call, and the answer.
const REQUESTS: usize = 2;

#[derive(Debug, Clone, Copy)]
enum Stop {
    Signal(Signal),
    Timeout,
    KillRunner,
    KillAgent,
    KillBoth,
}

const STOPS: [Stop; 7] = [
    Stop::Signal(Signal::INT),
    Stop::Signal(Signal::TERM),
    Stop::Signal(Signal::HUP),
    Stop::Timeout,
    Stop::KillRunner,
    Stop::KillAgent,
    Stop::KillBoth,
];

/// Answers as a steady model does, and counts.
fn model() -> (ModelServer, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let server = ModelServer::by(move |request| {
        count.fetch_add(1, Ordering::SeqCst);
        match request["messages"].to_string().contains("tool_result") {
            true => {
                // Time for a stop between the request and its answer.
                std::thread::sleep(Duration::from_millis(100));
                Answer::Text("all done")
            }
            false => CLAUDE_CODE.tool("echo by claude > made.txt"),
        }
    });
    (server, requests)
}

/// The real program, with a copy of what has left it for us: that much is printed for certain.
fn watched(user: &User) -> String {
    let text = format!(
        "#!/bin/bash\nset -o pipefail\n'{}' \"$@\" | (trap '' INT TERM HUP; exec tee -a '{}')\n",
        CLAUDE_CODE.path().display(),
        user.path("seen").display()
    );
    user.program("watched", &text).to_str().expect("a plain path").to_owned()
}

/// Whether a good result has been printed whole.
fn is_complete(user: &User) -> bool {
    let seen = fs::read_to_string(user.path("seen")).unwrap_or_default();
    let mut lines = seen.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    lines.any(|line| line.contains(r#""type":"result""#) && line.contains(r#""is_error":false"#))
}

fn start(user: &User, server: &ModelServer, limit: f64) -> Child {
    let (program, limit) = (watched(user), limit.to_string());
    let run = ["run", "aimed.yaml", "--agent-path", &program, "--step-timeout", &limit];
    let mut command = CLAUDE_CODE.command(user, server, &run);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("towpath starts")
}

/// Waits for the moment, then stops what is to be stopped.
fn stop(how: Stop, user: &User, runner: &mut Child, after: Duration) {
    std::thread::sleep(after);
    if runner.try_wait().expect("the runner is ours").is_some() {
        return;
    }
    match how {
        Stop::Timeout => {}
        Stop::KillAgent => kill_agents(user),
        Stop::KillRunner => runner.kill().expect("the runner can be killed"),
        Stop::KillBoth => {
            runner.kill().expect("the runner can be killed");
            kill_agents(user);
        }
        Stop::Signal(sent) => signal(runner, sent),
    }
}

/// One stop; whether the answer was complete when it came. `usual` is the time of an unbroken call.
fn one(number: u64, usual: Duration) -> bool {
    let mut dice = dice(number);
    let how = STOPS[number as usize % STOPS.len()];
    let user = User::new().file("aimed.yaml", RECIPE);
    let (server, requests) = model();
    let shift = Duration::from_millis(dice(200));
    let before = dice(2) == 0;
    let limit = match (how, before) {
        (Stop::Timeout, true) => usual.saturating_sub(shift),
        (Stop::Timeout, false) => usual + shift,
        _ => Duration::from_secs(600),
    };
    let mut runner = start(&user, &server, limit.as_secs_f64());
    // Before: from the last request on, since the answer follows it. After: from the result on.
    until("the moment", || {
        let over = runner.try_wait().expect("the runner is ours").is_some();
        let asked = before && requests.load(Ordering::SeqCst) >= REQUESTS;
        over || asked || is_complete(&user)
    });
    stop(how, &user, &mut runner, shift);
    let code = runner.wait().expect("the runner ends").code();
    nothing_is_left(&user);
    let complete = is_complete(&user);
    if code != Some(0) {
        let resume = ["resume", "--last", "--step-timeout", "600"];
        let printed = CLAUDE_CODE.run(&user, &server, &resume);
        assert_eq!(printed.code, Some(0), "{number} {how:?} {code:?}: {}", printed.stderr);
    }
    assert_eq!(user.read("made.txt"), "by claude\n", "{number} {how:?}");
    let asked = requests.load(Ordering::SeqCst);
    if complete {
        assert_eq!(
            asked, REQUESTS,
            "{number} {how:?} after {shift:?}, before: {before}: paid again"
        );
    }
    complete
}

#[test]
#[expect(clippy::print_stdout, reason = "how many stops were of which kind is meant to be read")]
fn a_complete_answer_is_paid_once_wherever_it_is_stopped() {
    let many = std::env::var("TOWPATH_AGENT_STOPS").ok().and_then(|text| text.parse().ok());
    let many: u64 = many.unwrap_or(20);
    let user = User::new().file("aimed.yaml", RECIPE);
    let (server, requests) = model();
    let mut runner = start(&user, &server, 600.0);
    let began = Instant::now();
    until("an answer", || is_complete(&user));
    let usual = began.elapsed();
    assert!(runner.wait().expect("it ends").success());
    assert_eq!(requests.load(Ordering::SeqCst), REQUESTS);
    let first: u64 = std::process::id().into();
    let complete = (first..first + many).filter(|number| one(*number, usual)).count();
    println!("{many} stops, {complete} of them with a complete answer");
    assert!(complete > 0, "no stop came after an answer");
}
