//! What the tests share: a run with its warden, jobs as bash text, and an own look at `/proc` that
//! uses nothing of the crate under test.

use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use towpath_process::sandbox::{SERVER_ARGUMENT, serve};
use towpath_process::{
    Acquire, ChildSpec, Event, ExitStatus, Leftover, Lost, Marker, RunLock, Sandbox, Warden,
    WardenEvents, run_warden_from_fd,
};

const ROLE: &str = "TEST_ROLE";
/// In the environment of every job of a test: finds what lives, by other means than the crate's.
pub const TOKEN: &str = "TEST_TOKEN";

/// Nothing of a test outlives it, even when it fails.
pub struct Guard(pub String);

impl Drop for Guard {
    fn drop(&mut self) {
        for (pid, _) in alive(&self.0) {
            let _ = kill_process(Pid::from_raw(pid as i32).expect("a pid"), Signal::KILL);
        }
    }
}

pub struct Run {
    pub warden: Warden,
    pub events: WardenEvents,
    pub directory: tempfile::TempDir,
    pub token: String,
    _guard: Guard,
}

impl Run {
    pub fn forked() -> Run {
        Run::with(|marker| Warden::fork(None, marker))
    }

    pub fn spawned() -> Run {
        Run::with(|marker| {
            let program = std::env::current_exe().expect("own path");
            Warden::spawn(&program, &["--as-warden".into()], None, marker)
        })
    }

    fn with<E: std::fmt::Debug>(
        make: impl FnOnce(&Marker) -> Result<(Warden, WardenEvents), E>,
    ) -> Run {
        let (warden, events) = make(&Marker::new(&run_id())).expect("a warden");
        Run::of(warden, events, tempfile::tempdir().expect("a directory"))
    }

    pub fn of(warden: Warden, events: WardenEvents, directory: tempfile::TempDir) -> Run {
        let token = run_id();
        Run { warden, events, directory, _guard: Guard(token.clone()), token }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A job that runs this bash text; its outputs are `<id>.out` and `<id>.err`.
    pub fn job(&self, id: u64, script: &str) -> ChildSpec {
        job(id, script, self.directory.path(), &self.token)
    }

    pub fn start(&mut self, spec: &ChildSpec) -> u32 {
        self.warden.start(spec).expect("a warden that listens");
        match self.events.next() {
            Some(Event::Started { id, pid }) if id == spec.id => pid,
            other => panic!("job {} did not start: {other:?}", spec.id),
        }
    }

    /// Starts this text and waits until so many processes of this test live.
    pub fn start_and_see(&mut self, id: u64, script: &str, count: usize) -> u32 {
        let before = alive(&self.token).len();
        let pid = self.start(&self.job(id, script));
        let token = &self.token;
        until("the job's processes are there", || alive(token).len() >= before + count);
        pid
    }

    pub fn start_escapists(&mut self, id: u64) {
        self.start(&self.job(id, ESCAPISTS));
        until_escaped(&self.token);
    }

    pub fn ended(&mut self, id: u64) -> End {
        match self.events.next() {
            Some(Event::Ended { id: ended, status, ended: gone, left, lost }) if ended == id => {
                End { status, ended: gone, left, lost }
            }
            other => panic!("expected the end of job {id}, got {other:?}"),
        }
    }

    /// Runs this text to its end.
    pub fn finish(&mut self, id: u64, script: &str) -> End {
        let spec = self.job(id, script);
        self.start(&spec);
        self.ended(id)
    }

    pub fn swept(&mut self) -> Vec<Leftover> {
        match self.events.next() {
            Some(Event::Swept { ended, left }) if left.is_empty() => ended,
            other => panic!("expected a clean sweep, got {other:?}"),
        }
    }

    pub fn output(&self, id: u64) -> String {
        content(&self.path(&format!("{id}.out")))
    }

    pub fn errors(&self, id: u64) -> String {
        content(&self.path(&format!("{id}.err")))
    }

    #[track_caller]
    pub fn assert_nothing_lives(&self) {
        let living = alive(&self.token);
        assert!(living.is_empty(), "these live: {living:?}");
    }
}

#[derive(Debug)]
pub struct End {
    pub status: ExitStatus,
    pub ended: Vec<Leftover>,
    pub left: Vec<Leftover>,
    pub lost: Option<Lost>,
}

pub fn code(code: i32) -> ExitStatus {
    ExitStatus { code: Some(code), signal: None }
}

pub fn signal(signal: Signal) -> ExitStatus {
    ExitStatus { code: None, signal: Some(signal.as_raw()) }
}

pub fn run_id() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let nanos = Instant::now().elapsed().as_nanos()
        + std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_nanos();
    format!("t{}x{nanos}x{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

pub fn job(id: u64, script: &str, directory: &Path, token: &str) -> ChildSpec {
    ChildSpec {
        id,
        job: format!("step{id}#1.1.1:bash"),
        program: "/bin/bash".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            (TOKEN.into(), token.into()),
        ],
        directory: directory.to_owned(),
        stdin: None,
        stdout: directory.join(format!("{id}.out")),
        stderr: directory.join(format!("{id}.err")),
        report_start: true,
        sandbox: Sandbox::None,
    }
}

/// Every living process with this token in its environment or its command line, zombies not.
pub fn alive(token: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else {
            continue;
        };
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let contains = |bytes: &[u8]| bytes.windows(token.len()).any(|w| w == token.as_bytes());
        if pid != std::process::id()
            && (contains(&command) || contains(&environment))
            && state(pid) != 'Z'
        {
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

/// The letter of `/proc/PID/stat`; `Z` for what is gone.
pub fn state(pid: u32) -> char {
    let text = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('Z')
}

/// The seconds after which a test is killed, and the processes that it plays. Nothing here takes
/// them unless it hangs: they are far more than a busy machine needs.
pub const DEADLINE: u32 = 50;

/// A grace that no test which passes has waited for.
pub const LONG: Duration = Duration::from_secs(DEADLINE as u64 + 10);

/// Waits for it, a little less long than the test may take, so that its name is reported.
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(u64::from(DEADLINE) - 5);
    while !condition() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a pid");
    kill_process(pid, signal).expect("a process to signal");
}

pub fn alarm(seconds: u32) {
    // SAFETY: sets a timer whose signal ends this process.
    unsafe { libc::alarm(seconds) };
}

/// Descendants of every kind that has been seen to escape, and the count of processes: in sessions
/// of their own, double-forked, deaf to TERM and HUP, keeping the outputs open, forked by a
/// program that ends, and without any trace of the environment.
pub const ESCAPISTS: &str = "
    (setsid sleep 1001 &)
    (setsid bash -c 'trap \"\" TERM HUP INT; sleep 1002 & while :; do wait; sleep 1003; done' &)
    nohup sleep 1004 >/dev/null 2>&1 &
    setsid bash -c '(setsid bash -c \"(setsid sleep 1005 &) ; sleep 1006\" &)' &
    trap '' TERM
    env -i /bin/bash -c \"sleep 1007; : $TEST_TOKEN\" &
    sleep 1008 | cat &
    while :; do sleep 1009; done
";
/// Their command lines once they are all there. (The `sleep` under the last has no trace of the
/// test.)
const ESCAPED: [&str; 9] = [
    "sleep 1001",
    "sleep 1002",
    "sleep 1004",
    "sleep 1005",
    "sleep 1006",
    "sleep 1008",
    "sleep 1009",
    "cat",
    "/bin/bash -c sleep 1007",
];

#[track_caller]
pub fn until_escaped(token: &str) {
    until("all escapists are there", || {
        let there = alive(token);
        ESCAPED.iter().all(|wanted| there.iter().any(|(_, c)| c.starts_with(wanted)))
    });
}

/// For a script: waits until the last background command is no longer the shell's copy.
pub const IS_EXECUTED: &str = "until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done";

/// Another process that is the engine of a run, to be killed.
pub struct Engine {
    _guard: Guard,
    pub process: Child,
    pub pids: Vec<u32>,
}

/// What the engine's process shall do, as text for its environment.
pub fn engine(token: &str, mode: &str, directory: &Path, run: &str) -> Engine {
    let mut process = Command::new(std::env::current_exe().expect("own path"))
        .env(ROLE, mode)
        .env("TEST_ENGINE_TOKEN", token)
        .env("TEST_RUN", run)
        .env("TEST_DIRECTORY", directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("an engine");
    let mut line = String::new();
    let out = process.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("the engine's line");
    let pids = line.split_whitespace().map(|n| n.parse().expect("a pid")).collect();
    Engine { process, pids, _guard: Guard(token.to_owned()) }
}

impl Engine {
    pub fn warden(&self) -> u32 {
        self.pids[0]
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("an engine to kill");
        self.process.wait().expect("its end");
    }
}

/// What this executable is when another test has started it.
pub fn role() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == SERVER_ARGUMENT) {
        return Some(serve(&arguments[2..]));
    }
    if let Some(code) = crate::sandbox::escape_attempts_run_inside::role(&arguments[1..]) {
        return Some(code);
    }
    if std::env::args().any(|a| a == "--as-warden") {
        return Some(run_warden_from_fd());
    }
    let mode = std::env::var(ROLE).ok()?;
    alarm(DEADLINE);
    let get = |name: &str| std::env::var(name).expect("a variable of the test");
    let directory = PathBuf::from(get("TEST_DIRECTORY"));
    let (token, run) = (get("TEST_ENGINE_TOKEN"), get("TEST_RUN"));
    let lock = RunLock::try_acquire(&directory.join("lock")).expect("a lock");
    let Acquire::Acquired(lock) = lock else { panic!("the lock is taken") };
    let lock_fd = std::os::fd::AsFd::as_fd(&lock);
    let (warden, mut events) = Warden::fork(Some(lock_fd), &Marker::new(&run)).expect("a warden");
    let mut pids = vec![warden.pid()];
    let jobs: Vec<&str> = match mode.as_str() {
        "nested" => vec!["(setsid sleep 1010 &); sleep 1011; true"],
        _ => vec![ESCAPISTS, "sleep 1012"],
    };
    for (id, script) in (1..).zip(jobs) {
        warden.start(&job(id, script, &directory, &token)).expect("a warden that listens");
        match events.next() {
            Some(Event::Started { pid, .. }) => pids.push(pid),
            other => panic!("{other:?}"),
        }
    }
    if mode == "paused" {
        until_escaped(&token);
        warden.pause_all().expect("a warden that listens");
        until("the jobs are stopped", || state(pids[1]) == 'T' && state(pids[2]) == 'T');
    }
    if mode == "leaky" {
        // A helper that inherits everything, the engine's end of the socket included.
        leak_everything(&token);
    }
    let line = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    writeln!(std::io::stdout(), "{line}").expect("a pipe");
    events.next();
    Some(ExitCode::SUCCESS)
}

fn leak_everything(token: &str) {
    // SAFETY: one thread; the child only waits for its end.
    if unsafe { libc::fork() } == 0 {
        let name = std::ffi::CString::new(format!("leak {token}")).expect("a name");
        // SAFETY: sleeps and ends.
        unsafe {
            libc::prctl(libc::PR_SET_NAME, name.as_ptr());
            libc::alarm(DEADLINE);
            libc::pause();
            libc::_exit(0);
        }
    }
}

pub fn os(texts: &[&str]) -> Vec<OsString> {
    texts.iter().map(OsString::from).collect()
}

/// What a job has written. One that writes nothing has no file.
fn content(path: &std::path::Path) -> String {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.expect("an output file"),
    }
}
