//! A user at a terminal: a directory of their own, a home of their own, files, commands.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod strace;

pub use rustix::process::Signal;

use rustix::process::{Pid, kill_process};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use towpath_core::RunId;
use towpath_run::Fact;
use towpath_store::{RunFilter, Store};

pub struct User {
    directory: tempfile::TempDir,
}

/// What a command left.
#[derive(Debug)]
pub struct Printed {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl User {
    pub fn new() -> User {
        User::within(&std::env::temp_dir())
    }

    /// In a directory that a sandbox can show: temporary files of tests may be in `/dev/shm`, which
    /// belongs to the kernel.
    pub fn on_disk() -> User {
        User::within(Path::new("/tmp"))
    }

    fn within(directory: &Path) -> User {
        let directory = tempfile::tempdir_in(directory).expect("a temporary directory");
        let user = User { directory };
        fs::create_dir(user.path("work")).expect("a working directory");
        user
    }

    /// A path in the temporary directory: `work` is where commands run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A file below the working directory.
    pub fn file(self, name: &str, text: &str) -> User {
        self.write(name, text);
        self
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path("work").join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// A program in the temporary directory.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
        path
    }

    /// Runs git in a folder of the temporary directory; what it prints, without the last line break.
    #[track_caller]
    pub fn git(&self, folder: impl AsRef<Path>, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@localhost"])
            .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
            .args(arguments)
            .current_dir(self.directory.path().join(folder))
            .env("HOME", self.directory.path())
            .env_remove("GIT_DIR")
            .output()
            .expect("git starts");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        let printed = String::from_utf8(output.stdout).expect("git prints text");
        printed.strip_suffix('\n').unwrap_or(&printed).to_owned()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path("work").join(name)).unwrap_or_default()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_towpath"));
        command
            .args(arguments)
            .current_dir(self.path("work"))
            .env("TOWPATH_HOME", self.path("home"))
            .env("HOME", self.directory.path())
            .env_remove("CI")
            .env_remove("CLAUDECODE")
            // Tests may run as root, where Claude Code works unattended only with this.
            .env("IS_SANDBOX", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn towpath(&self, arguments: &[&str]) -> Printed {
        Printed::from(self.command(arguments).output().expect("towpath starts"))
    }

    /// Runs a command on a terminal of so many columns, where a user types this. What the terminal shows,
    /// without colours; a block that is drawn again and again is in it each time.
    pub fn on_terminal(&self, arguments: &[&str], columns: usize, typed: &str) -> String {
        self.on_terminal_with("", arguments, columns, typed)
    }

    /// The same with variables before the command, as a shell reads them: `PATH=/bin`.
    pub fn on_terminal_with(
        &self,
        variables: &str,
        arguments: &[&str],
        columns: usize,
        typed: &str,
    ) -> String {
        let own = self.command(arguments);
        let words = own.get_args().map(|word| format!("'{}'", word.to_str().expect("text")));
        let words = words.collect::<Vec<_>>().join(" ");
        let program = own.get_program().display();
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command"]);
        command
            .arg(format!("stty rows 50 cols {columns}; {variables} '{program}' {words}"))
            .arg("/dev/null");
        command.current_dir(self.path("work")).env_remove("CI").env("SHELL", "/bin/sh");
        command.env("TOWPATH_HOME", self.path("home")).env("HOME", self.directory.path());
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script starts (./test installs it)");
        let mut keyboard = child.stdin.take().expect("a pipe");
        keyboard.write_all(typed.as_bytes()).expect("what is typed is read");
        let output = child.wait_with_output().expect("it ends");
        drop(keyboard);
        String::from_utf8_lossy(&output.stdout).replace('\r', "")
    }

    /// Starts a command that is left running; its output goes nowhere.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("towpath starts")
    }

    pub fn store(&self) -> Store {
        self.journal().expect("there is a journal")
    }

    fn journal(&self) -> Option<Store> {
        Store::open_for_reading(&self.path("home/state")).expect("the journal opens")
    }

    /// One that is being created cannot be read yet.
    pub fn has_journal(&self) -> bool {
        Store::open_for_reading(&self.path("home/state")).is_ok_and(|s| s.is_some())
    }

    /// The newest run.
    pub fn run(&self) -> RunId {
        self.newest().expect("there is a run")
    }

    /// The newest run, if there is one.
    pub fn newest(&self) -> Option<RunId> {
        let rows = self.journal()?.runs(&RunFilter { limit: Some(1), ..RunFilter::default() });
        rows.expect("the runs can be listed").pop().map(|row| row.id)
    }

    pub fn facts(&self, run: &RunId) -> Vec<Fact> {
        let facts = self.store().facts(run).expect("the facts can be read");
        facts.iter().map(|f| serde_json::from_str(&f.body).expect("a fact is JSON")).collect()
    }

    pub fn runs(&self) -> usize {
        self.store().runs(&RunFilter::default()).expect("the runs can be listed").len()
    }

    /// How many lines of a file in the working directory are exactly this.
    pub fn count(&self, name: &str, line: &str) -> usize {
        self.read(name).lines().filter(|l| *l == line).count()
    }
}

impl From<Output> for Printed {
    fn from(output: Output) -> Printed {
        Printed {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Printed {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("stdout is one JSON object: {e}\n{self:?}"))
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Printed {
        assert_eq!(self.code, Some(code), "{}\n--\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn reports(self, text: &str) -> Printed {
        assert!(self.stderr.contains(text), "no {text:?} in:\n{}", self.stderr);
        self
    }

    #[track_caller]
    /// Part of what it printed.
    pub fn shows(self, text: &str) -> Printed {
        assert!(
            self.stdout.contains(text),
            "no {text:?} in:\n{}\n--\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    pub fn prints(self, text: &str) -> Printed {
        assert_eq!(self.stdout, text, "stderr:\n{}", self.stderr);
        self
    }
}

/// Waits until something is so. The bound is for what hangs: a busy machine needs a part of it.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(120), "never came: {what}");
        std::thread::sleep(Duration::from_millis(3));
    }
    began.elapsed()
}

pub fn kill_hard(child: &mut Child) {
    child.kill().expect("the runner can be killed");
    child.wait().expect("the runner is gone");
}

pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("the child is there");
}

/// Sends a signal to a process that may be gone.
pub fn signal_to(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid.try_into().expect("a process number"));
    let _ = kill_process(pid.expect("a process number"), signal);
}

/// The warden of a runner, its only child.
pub fn warden_of(runner: &Child) -> u32 {
    let id = runner.id();
    let children = || fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let first = || children().ok()?.split_whitespace().next()?.parse().ok();
    until("the warden is there", || first().is_some());
    first().expect("the warden is there")
}

/// Whether a process that a step noted in a file still lives.
pub fn lives(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")) else {
        return false;
    };
    !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

/// A command line with the scripted agent, whose answers are in `answers.jsonl`.
pub fn with_script<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let script = ["--backend", "scripted", "--script", "answers.jsonl"];
    arguments.iter().copied().chain(script).collect()
}
