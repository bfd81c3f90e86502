//! The table of docs/tools.md: what runs while a tool is fetched, built and probed, as root and as an ordinary
//! user, in each kind of sandbox, tries to reach what it must not. Every cell is one attempt.

use super::{SERVER, User, own_program, read};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use towpath_process::sandbox::Confinement;
use towpath_tool::sources::{Artifact, SourceRef, look_up};
use towpath_tool::verification::{ProgramUnderTest, SandboxSetup, probe};

/// Prints one word for each attempt that succeeds.
const ATTEMPTS: &str = r#"
cat HOME/.ssh/id >/dev/null 2>&1 && echo reached-home
cat HOME/.npmrc >/dev/null 2>&1 && echo reached-credentials
[ -z "$MY_SECRET" ] || echo reached-environment
tr '\0' '\n' </proc/VICTIM/environ 2>/dev/null | grep -q MY_SECRET && echo reached-process-environment
kill -0 VICTIM 2>/dev/null && echo reached-process-signal
[ -e /proc/VICTIM ] && echo reached-process-list
(echo >/dev/tcp/127.0.0.1/PORT) 2>/dev/null && echo reached-loopback
echo x 2>/dev/null >HOME/written && echo reached-writing
cp /bin/true special 2>/dev/null && chmod 4755 special 2>/dev/null
setsid sleep 871 >/dev/null 2>&1 </dev/null &
echo tried
"#;

/// Phases of an install in one kind of sandbox. The user must be one that has no rights over the victim.
fn reached(confinement: &Confinement) -> Vec<(&'static str, Vec<String>)> {
    let mut user = User { confinement: confinement.clone(), ..User::new() };
    fs::set_permissions(user.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let home = user.path("home");
    for file in [".ssh/id", ".npmrc"] {
        fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        fs::write(home.join(file), "secret").unwrap();
    }
    let victim = Command::new("sleep").arg("600").env("MY_SECRET", "yes").spawn();
    let mut victim = Victim(victim.unwrap());
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let (port, counted) = (server.local_addr().unwrap().port(), Arc::clone(&connections));
    std::thread::spawn(move || {
        for _ in server.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let script = ATTEMPTS
        .replace("HOME", &home.display().to_string())
        .replace("VICTIM", &victim.0.id().to_string())
        .replace("PORT", &port.to_string());
    user.set("MY_SECRET", "yes");
    user.set("HOME", &home);
    let words = |text: &str| {
        let words = text.split_whitespace().filter(|word| word.starts_with("reached-"));
        assert!(text.contains("tried"), "it has run: {text}");
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/bash\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let mut phases = Vec::new();
    // A client that a package has taken over: it reports in the message of its failure.
    let clients = user.path("clients");
    write(&clients.join("bin/rustc"), &format!("echo {}", clients.display()));
    let report = format!("cd \"$HOME\"; echo error: $({{ {script} }} 2>&1) >&2; exit 101");
    write(&clients.join("bin/cargo"), &report);
    let path = user.environment.iter().find(|(name, _)| name == "PATH").unwrap().1.clone();
    user.set("PATH", clients.join("bin"));
    let source: SourceRef = "cargo:tool".parse().unwrap();
    let error = user.with(|context| look_up(&source, None, context).unwrap_err());
    phases.push(("fetch", words(&error.to_string())));
    user.set("PATH", path);
    // A step of a build.
    let install = user.path("install");
    fs::create_dir(&install).unwrap();
    let command = serde_json::json!(format!(
        "cd \"$INSTALL\"; {{ {script} }} >\"$INSTALL/report\" 2>&1; true"
    ));
    let recipe = read(&format!(
        "[metadata]\nname = \"tool\"\n[version]\nversion = \"1.0\"\n\
         [[steps]]\naction = \"run\"\ncommand = [\"bash\", \"-c\", {command}]\n\
         [verify]\ncommand = \"tool --version\"\n"
    ));
    let built = user.with(|context| {
        towpath_tool::sources::build(&recipe, "1.0", &Artifact::default(), &install, context)
    });
    built.unwrap();
    phases.push(("build", words(&fs::read_to_string(install.join("report")).unwrap())));
    let special = install.join("special").metadata().map_or(0, |file| file.permissions().mode());
    assert_eq!(special & 0o7000, 0, "a build keeps no right of its owner");
    // The tool itself.
    let program = user.path("install/bin/tool");
    write(&program, &format!("{{ {script} }} 2>&1"));
    let setup = SandboxSetup {
        confinement: confinement.clone(),
        own_program: own_program(),
        readable: vec![install.clone()],
        path: Vec::new(),
        install_path: vec![install.join("bin")],
    };
    let tested =
        ProgramUnderTest { program, name: "tool".to_owned(), ..ProgramUnderTest::default() };
    let report = probe(&tested, &setup, &mut setup.open().unwrap()).unwrap();
    phases.push(("probe", words(&report.probes[0].observation.stdout)));
    assert!(victim.0.try_wait().unwrap().is_none(), "the victim lives");
    let left = Command::new("pgrep").args(["-f", "^sleep 871$"]).output().unwrap();
    assert!(left.stdout.is_empty(), "nothing is left: {left:?}");
    phases
}

struct Victim(std::process::Child);

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The attempts that succeed, by phase; everything else is closed.
fn expected(kind: &str, phase: &str) -> Vec<&'static str> {
    let mut open = Vec::new();
    if kind == "landlock" {
        // It hides no processes; their environments and signals are closed.
        open.push("reached-process-list");
    }
    if phase == "fetch" {
        // A client with network reaches the servers of this machine, too.
        open.push("reached-loopback");
    }
    open
}

fn check(kind: &str) {
    let confinement = match kind {
        "bubblewrap" => Confinement::Bubblewrap { program: "/usr/bin/bwrap".into() },
        "namespaces" => Confinement::Namespaces,
        _ => Confinement::Landlock,
    };
    for (phase, reached) in reached(&confinement) {
        assert_eq!(reached, expected(kind, phase), "{kind}, {phase}");
    }
}

/// The attempts are real: without a sandbox they succeed. Only the environment is never handed on.
#[test]
fn without_a_sandbox_everything_is_reached() {
    let attempts = ATTEMPTS.split_whitespace().filter(|word| word.starts_with("reached-"));
    let attempts: Vec<&str> = attempts.filter(|word| *word != "reached-environment").collect();
    assert_eq!(attempts.len(), 7);
    for (phase, reached) in reached(&Confinement::None) {
        match phase {
            // A tool is probed by a user without rights, where root asks.
            "probe" => assert_eq!(reached[..2], attempts[..2], "{reached:?}"),
            _ => assert_eq!(reached, attempts, "{phase}"),
        }
    }
}

#[test]
fn as_root_in_bubblewrap() {
    check("bubblewrap");
}

#[test]
fn as_root_in_namespaces() {
    check("namespaces");
}

/// Names the kind of sandbox, in the copy of this program that runs as an ordinary user.
const KIND: &str = "TOWPATH_TEST_PHASES_IN";

/// Runs as an ordinary user when it is called again for one.
#[test]
fn as_a_user() {
    if let Some(kind) = std::env::var_os(KIND) {
        return check(kind.to_str().unwrap());
    }
    for kind in ["bubblewrap", "namespaces", "landlock"] {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::copy(std::env::current_exe().unwrap(), path("tests")).unwrap();
        fs::copy(own_program(), path("server")).unwrap();
        let mut command = Command::new(path("tests"));
        if rustix::process::geteuid().is_root() {
            fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
            chown(directory.path(), Some(4711), Some(4711)).unwrap();
            command = Command::new("setpriv");
            command.args(["--reuid=4711", "--regid=4711", "--clear-groups"]).arg(path("tests"));
        }
        command.args(["--exact", "sources::phases_in_sandbox::as_a_user", "--nocapture"]);
        command.env(KIND, kind).env(SERVER, path("server")).current_dir(directory.path());
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{kind}: {stdout}{stderr}");
        assert!(stdout.contains("1 passed"), "{stdout}");
    }
}
