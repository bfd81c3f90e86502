//! What a listener hears, and in which order.

use crate::support::{Fake, Workspace};
use std::io::Write;
use std::sync::{Arc, Mutex};
use towpath_engine::{Listener, StepReport, WriterListener};

const RECIPE: &str = r#"
name: heard
steps:
  - id: two-lines
    command: "printf 'one\ntwo'"
  - id: off
    condition: "1 == 2"
    command: "true"
  - id: ask
    prompt: "{{off}}?"
  - id: sub
    recipe: inner
    continue_on_error: true
"#;
const INNER: &str = "name: inner\nsteps:\n  - {id: fails, command: 'echo so >&2; exit 3'}\n";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl Listener for Log {
    fn on_step_start(&mut self, step_id: &str, step_type: &str) {
        self.add(format!("start {step_id} {step_type}"));
    }

    fn on_step_complete(&mut self, result: &StepReport) {
        let error = result.error.as_deref().unwrap_or("-");
        self.add(format!("end {} {} {error}", result.step_id, result.status.as_str()));
    }

    fn on_output(&mut self, step_id: &str, line: &str) {
        self.add(format!("line {step_id} {line}"));
    }

    fn on_warning(&mut self, step_id: Option<&str>, message: &str) {
        self.add(format!("warning {} {message}", step_id.unwrap_or("-")));
    }
}

fn workspace() -> Workspace {
    let workspace = Workspace::new(RECIPE);
    workspace.write("work/inner.yaml", INNER);
    workspace
}

#[test]
fn a_listener_hears_start_output_and_end_in_their_order() {
    let log = Log::default();
    let fake = Fake::agent(|_| Ok("an answer".into()));
    let result = run_heard(fake, log.clone());
    assert!(result.success);
    let heard = log.0.lock().unwrap().join("\n");
    let expected = "\
start two-lines bash
line two-lines one
line two-lines two
end two-lines completed -
end off skipped -
start ask agent
warning ask {{off}} has no value: it is empty
line ask an answer
end ask completed -
start sub recipe
start sub/fails bash
line sub/fails so
end sub/fails failed exit 3: so
end sub failed step sub/fails: exit 3: so";
    assert_eq!(heard, expected);
}

fn run_heard(fake: Fake, listener: impl Listener + 'static) -> towpath_engine::RecipeResult {
    workspace().runner().adapter(fake).listener(listener).run("recipe.yaml").expect("a result")
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_gets_a_line_for_each() {
    let written = Shared::default();
    let fake = Fake::agent(|_| Ok("an answer".into()));
    run_heard(fake, WriterListener::new(written.clone()));
    let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines[..3], ["▶ two-lines (bash)", "  two-lines │ one", "  two-lines │ two"]);
    assert!(lines[3].starts_with("✓ two-lines completed in "), "{written}");
    let failed = lines.iter().find(|l| l.starts_with("✗ sub/fails failed in "));
    assert!(failed.is_some_and(|l| l.ends_with(": exit 3: so")), "{written}");
}
