//! What tests of real agent programs share: a private home, a project, a model server of the test's
//! own, and a call made as the engine makes one. The programs are those in `TOWPATH_TEST_AGENTS`,
//! where `tests/agents/install` puts them.

#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../../../../tests/support/model_server/mod.rs"]
pub mod model_server;

use model_server::ModelServer;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use towpath_agent::{Backend, Call, CallProgress, End, Exit, Reply};

/// Far beyond what a call takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Desk {
    dir: TempDir,
    pub server: ModelServer,
}

impl Desk {
    pub fn new(server: ModelServer) -> Desk {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for name in ["home", "project", "other", "private"] {
            fs::create_dir(dir.path().join(name)).expect("a folder");
        }
        Desk { dir, server }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn call(&self, prompt: &str) -> Call {
        Call {
            prompt: prompt.into(),
            session: Some(towpath_core::SessionId::new(uuid::Uuid::new_v4())),
            directory: self.path("project"),
            private: self.path("private"),
            ..Call::default()
        }
    }

    /// Makes a call as the engine does, in the environment of a user who has set the program up.
    pub fn run(
        &self,
        backend: &dyn Backend,
        set_up: &[(&str, String)],
        call: &Call,
    ) -> (Vec<CallProgress>, Reply) {
        let made = backend.invocation(call);
        fs::write(self.path("stdin"), &made.stdin).expect("a file");
        for file in &made.writes {
            fs::write(call.private.join(file.name), &file.contents).expect("a file");
        }
        let mut child = Command::new(&made.program)
            .args(&made.arguments)
            .env_clear()
            .envs(self.environment())
            .envs(set_up.iter().filter(|(name, _)| backend.keeps(name)).map(|(n, v)| (n, v)))
            .envs(made.set)
            .current_dir(&call.directory)
            .process_group(0)
            .stdin(File::open(self.path("stdin")).expect("a file"))
            .stdout(File::create(self.path("stdout")).expect("a file"))
            .stderr(File::create(self.path("stderr")).expect("a file"))
            .spawn()
            .expect("the program starts");
        let exit = wait(&mut child);
        let mut reader = backend.reader();
        let output = fs::read(self.path("stdout")).expect("its output");
        let lines = output.split_inclusive(|&byte| byte == b'\n');
        let progress = lines.flat_map(|line| reader.line(line)).collect();
        let left = |name: &&'static str| Some((*name, fs::read(call.private.join(name)).ok()?));
        let files: Vec<_> = made.reads.iter().filter_map(left).collect();
        let stderr = self.read("stderr");
        let end = End { files: &files, ..End::new(exit, &stderr) };
        (progress, reader.end(&end))
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let text = |path: PathBuf| path.to_str().expect("a plain path").to_owned();
        vec![
            ("HOME", text(self.path("home"))),
            ("PATH", std::env::var("PATH").expect("PATH is set")),
            // A shell that started us somewhere else leaves its own directory here.
            ("PWD", text(self.path("other"))),
            // One program unpacks itself there, which takes long and need not be done for each test.
            ("XDG_CACHE_HOME", text(programs().join("../../cache"))),
            // Whatever does not keep to the model's address finds a closed door.
            ("HTTP_PROXY", "http://127.0.0.1:9".into()),
            ("HTTPS_PROXY", "http://127.0.0.1:9".into()),
            ("NO_PROXY", "127.0.0.1".into()),
        ]
    }
}

/// What a program adds to its children's environment must not reach an agent below it. `names` is
/// what `env -0` printed in a tool call; the program's own variables begin with `prefix`, and `mark`
/// is one that it is known to set.
pub fn no_mark_is_passed_on(
    backend: &dyn Backend,
    names: &str,
    prefix: &str,
    mark: &str,
    set_up: &[&str],
) {
    let marks: Vec<&str> = names
        .split('\0')
        .filter_map(|variable| Some(variable.split_once('=')?.0))
        .filter(|name| name.starts_with(prefix) && !set_up.contains(name))
        .collect();
    assert!(marks.contains(&mark), "{marks:?}");
    let kept: Vec<_> = marks.iter().filter(|name| backend.keeps(name)).collect();
    assert!(kept.is_empty(), "{kept:?}");
}

fn programs() -> PathBuf {
    std::env::var_os("TOWPATH_TEST_AGENTS").map_or_else(
        || {
            let home = PathBuf::from(std::env::var_os("HOME").expect("HOME is set"));
            home.join(".cache/towpath-test/agents/node_modules/.bin")
        },
        PathBuf::from,
    )
}

pub fn program(name: &str) -> PathBuf {
    let program = programs().join(name);
    assert!(program.exists(), "{} is not there: run tests/agents/install", program.display());
    program
}

fn wait(child: &mut Child) -> Exit {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            return Exit { code: status.code(), signal: status.signal() };
        }
        if Instant::now() > end {
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.wait();
            panic!("the program did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
