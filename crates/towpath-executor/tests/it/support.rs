//! A run's directory with an executor in it, and everything that it has reported.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use towpath_core::{RunId, Secrets, SessionId};
use towpath_executor::{
    Acquire, DirectoryVariables, Executor, Finished, JobEvent, JobId, JobSpec, LocalAgents,
    LocalConfig, LocalExecutor, Observer, RunLock, Sandbox, Stream, Swept, WardenStart, Work,
};
use towpath_shell::Filled;

/// The argument that makes this program a warden.
pub const WARDEN: &str = "--as-warden";

/// Nothing here takes this long unless it hangs: it is far more than a busy machine needs.
const DEADLINE: u32 = 100;
/// A grace that no test which passes has waited for.
pub const LONG: Duration = Duration::from_secs(DEADLINE as u64 + 10);

pub fn alarm() {
    // SAFETY: sets a timer whose signal ends this process.
    unsafe { libc::alarm(DEADLINE) };
}

/// Waits for it, a little less long than the test may take, so that its name is reported.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(u64::from(DEADLINE) - 5);
    while !condition() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What an executor has reported.
#[derive(Debug, Default)]
pub struct Seen {
    pub stdout: BTreeMap<String, String>,
    pub stderr: BTreeMap<String, String>,
    pub activities: Vec<String>,
    pub sessions: Vec<SessionId>,
    pub finished: Vec<Finished>,
    pub swept: Option<Swept>,
}

impl Observer for Seen {
    fn event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Output { job, stream, bytes } => {
                let of = match stream {
                    Stream::Stdout => &mut self.stdout,
                    Stream::Stderr => &mut self.stderr,
                };
                let text = of.entry(job.step_path().to_string()).or_default();
                text.push_str(std::str::from_utf8(bytes).expect("text"));
            }
            JobEvent::Activity { what, .. } => self.activities.push(what.to_owned()),
            JobEvent::Heard { .. } => {}
            JobEvent::SessionNamed { session, .. } => self.sessions.push(session),
            JobEvent::Finished(finished) => self.finished.push(*finished),
            JobEvent::Swept(swept) => self.swept = Some(swept),
        }
    }

    fn ready(&self) -> bool {
        true
    }
}

impl Seen {
    /// Waits for the job's end.
    pub fn end_of(&mut self, executor: &mut dyn Executor, id: u32) -> Finished {
        let ended = |seen: &Seen| seen.finished.iter().any(|f| f.job == JobId(id));
        self.wait(executor, "the job ends", ended);
        let mut ends = self.finished.iter().filter(|f| f.job == JobId(id));
        let end = ends.next().expect("it has ended").clone();
        assert!(ends.next().is_none(), "an end is reported once");
        end
    }

    /// Takes events until this is true of what was seen.
    pub fn wait(
        &mut self,
        executor: &mut dyn Executor,
        what: &str,
        condition: impl Fn(&Seen) -> bool,
    ) {
        until(what, || {
            let soon = Instant::now() + Duration::from_millis(20);
            executor.events(soon, self).expect("an executor that works");
            condition(self)
        });
    }

    pub fn stdout_of(&self, step: &str) -> &str {
        self.stdout.get(step).map_or("", String::as_str)
    }
}

pub struct Run {
    pub directory: TempDir,
    pub executor: LocalExecutor,
    pub seen: Seen,
    _lock: RunLock,
}

impl Run {
    pub fn new() -> Run {
        Run::with(LocalAgents::None)
    }

    pub fn with(agents: LocalAgents) -> Run {
        let directory = tempfile::tempdir_in("/tmp").expect("a directory");
        let (executor, lock) = open(directory.path(), agents);
        Run { directory, executor, seen: Seen::default(), _lock: lock }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A job with this text, its step named `s` and its number.
    pub fn job(&self, id: u32, script: &str) -> JobSpec {
        job(self.directory.path(), id, script)
    }

    pub fn start(&mut self, job: JobSpec) {
        self.executor.start(job).expect("a job can be started");
    }

    pub fn end_of(&mut self, id: u32) -> Finished {
        self.seen.end_of(&mut self.executor, id)
    }

    /// Runs this text to its end.
    pub fn finish(&mut self, id: u32, script: &str) -> Finished {
        let job = self.job(id, script);
        self.start(job);
        self.end_of(id)
    }

    pub fn wait_for_output(&mut self, step: &str, text: &str) {
        let printed = |seen: &Seen| seen.stdout_of(step).contains(text);
        self.seen.wait(&mut self.executor, text, printed);
    }
}

/// An executor in this directory, as the owner of the run there.
pub fn open(directory: &Path, agents: LocalAgents) -> (LocalExecutor, RunLock) {
    let Acquire::Acquired(lock) = RunLock::try_acquire(&directory.join("lock")).expect("a lock")
    else {
        panic!("the lock is taken")
    };
    let warden = WardenStart::Program {
        path: std::env::current_exe().expect("own path"),
        arguments: vec![WARDEN.into()],
    };
    let config = LocalConfig {
        run_directory: directory.to_owned(),
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        bash: "/bin/bash".into(),
        agents,
        calls: None,
        session_tree: None,
        directory_variables: DirectoryVariables::default(),
        secrets: Secrets::default(),
        grace: LONG,
        text_if_killed: None,
    };
    let run = RunId::new("7f3k").expect("an id");
    let executor = LocalExecutor::open(config, &warden, &run, lock.as_fd()).expect("a warden");
    (executor, lock)
}

pub fn job(directory: &Path, id: u32, script: &str) -> JobSpec {
    let script = Filled::plain(script);
    JobSpec {
        id: JobId(id),
        key: format!("s{id}#1.0.0:bash").parse().expect("a key"),
        work: Work::Script { script, substitute: false },
        directory: directory.to_owned(),
        timeout: None,
        idle_timeout: None,
        environment: Vec::new(),
        sandbox: Sandbox::None,
    }
}

/// Whether a process that has locked this file lives.
pub fn is_locked(path: &Path) -> bool {
    let file = std::fs::File::open(path).expect("a file that jobs lock");
    file.try_lock().is_err()
}
