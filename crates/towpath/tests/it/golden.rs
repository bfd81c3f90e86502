//! Golden files: everything that users and programs read, byte by byte, without the values that differ
//! in each run.
//!
//! A scenario is a directory below `tests/golden/` with a file `scenario`: files, then commands. Each
//! command has a name, and a golden file of that name beside the scenario. `TOWPATH_GOLDEN=write` writes
//! the golden files instead of comparing with them.
//!
//! ```text
//! === build.yaml          a file in the working directory
//! name: build
//! === commands
//! run.json  towpath run build.yaml --json
//! -         touch fixed               a command that is not compared
//! runs      page get runs             a view of the page's interface
//! resume    page post runs/$R1/resume {}
//! live      page live towpath run …   the messages of the WebSocket while a command runs
//! -         release greet 1.2.0 a.sh  an archive with the program `a.sh`, at `$URL`
//! ```
//!
//! Commands are lines of bash. `$R1` is the first run of the scenario, `$R2` the second.

mod normaliser;

use crate::support::User;
use crate::tool_install::release_server::ReleaseServer;
use crate::ui::page_client::{Answer, Page};
use normaliser::Normaliser;
use serde_json::Value;
use similar::TextDiff;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

macro_rules! scenarios {
    ($($name:ident)*) => {
        const SCENARIOS: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

scenarios! {
    asking
    compat
    documents
    failed
    hooks
    machine
    page
    problems
    recipes
    required
    rules
    settings
    steps
    suites
    tools
    trusted
    waiting
    worktree
}

/// All programs of the system that a command finds: what else is installed must not matter.
const PROGRAMS: &str = "awk basename bash cat chmod comm cp cut date dirname env find git grep \
    gzip head ls mkdir mktemp mv rm sed sh sleep sort tail tar touch tr uniq wc xargs";

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).expect("a directory").flatten();
    entries.map(|entry| entry.file_name().into_string().expect("a name")).collect()
}

#[test]
fn every_directory_is_a_scenario() {
    assert!(names(&directory()).iter().eq(SCENARIOS));
}

fn check(name: &str) {
    let directory = directory().join(name);
    let text = fs::read_to_string(directory.join("scenario")).expect("a scenario");
    let mut scenario = Scenario::new();
    let mut expected = BTreeSet::from(["scenario".to_owned()]);
    let mut differences = String::new();
    let write = std::env::var("TOWPATH_GOLDEN").is_ok_and(|word| word == "write");
    for (golden, command) in scenario.files_and_commands(&text) {
        let printed = scenario.run(command);
        if golden == "-" {
            continue;
        }
        let printed = format!("$ {command}\n{printed}");
        assert!(expected.insert(golden.to_owned()), "two commands are named {golden}");
        let file = directory.join(golden);
        if write {
            fs::write(&file, printed).expect("a golden file");
            continue;
        }
        let known = fs::read_to_string(&file).unwrap_or_default();
        if known != printed {
            let diff = TextDiff::from_lines(&known, &printed);
            let diff = diff.unified_diff().header(golden, "printed now").to_string();
            let _ = writeln!(differences, "{diff}");
        }
    }
    for stale in names(&directory).difference(&expected) {
        assert!(write, "no command of the scenario has the golden file {stale}");
        fs::remove_file(directory.join(stale)).expect("a stale file");
    }
    assert!(
        differences.is_empty(),
        "{name}: after a wanted change, write the golden files \
        with TOWPATH_GOLDEN=write\n{differences}"
    );
}

/// A user, the runs that they have started, and the page once it was asked.
struct Scenario {
    user: User,
    page: Option<Page>,
    server: Option<ReleaseServer>,
    url: String,
    runs: Vec<String>,
    normaliser: Normaliser,
}

impl Scenario {
    fn new() -> Scenario {
        let user = User::on_disk();
        let normaliser = Normaliser::new(&user.path(""));
        let of_the_system = PROGRAMS.split(' ').map(|name| Path::new("/usr/bin").join(name));
        for program in of_the_system.chain([user.command(&[]).get_program().into()]) {
            let name = program.file_name().and_then(|name| name.to_str()).expect("a name");
            // No link: a command that writes to it must not reach the program itself.
            let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display());
            user.program(&format!("bin/{name}"), &text);
        }
        Scenario {
            user,
            page: None,
            server: None,
            url: String::new(),
            runs: Vec::new(),
            normaliser,
        }
    }

    /// Writes the files; the names of the golden files with their commands.
    fn files_and_commands<'a>(&self, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut commands = Vec::new();
        for section in text.split("\n=== ").skip(1) {
            let (file, content) = section.split_once('\n').expect("a file and its content");
            if file == "commands" {
                let lines = content.lines().filter(|line| !line.is_empty());
                let pairs = lines.map(|line| line.split_once(' ').expect("a name and a command"));
                commands.extend(pairs.map(|(name, command)| (name, command.trim())));
            } else {
                self.user.write(file, content);
            }
        }
        commands
    }

    /// What a command printed, without what differs in each run.
    fn run(&mut self, line: &str) -> String {
        let printed = match line.split_once(' ') {
            Some(("page", request)) => self.ask(&self.with_runs(request)),
            Some(("release", tool)) => self.release(tool),
            _ => self.shell(line),
        };
        self.note_runs();
        self.normaliser.normalise(&printed, &self.runs)
    }

    fn note_runs(&mut self) {
        if !self.user.has_journal() {
            return;
        }
        let mut rows = self.user.store().runs(&Default::default()).expect("the runs");
        rows.sort_by_key(|row| row.created_ms);
        let ids = rows.iter().map(|row| row.id.to_string());
        let new = ids.filter(|id| !self.runs.contains(id)).collect::<Vec<_>>();
        self.runs.extend(new);
    }

    fn with_runs(&self, text: &str) -> String {
        let runs = self.runs.iter().enumerate().rev();
        runs.fold(text.to_owned(), |text, (at, id)| text.replace(&format!("$R{}", at + 1), id))
    }

    fn shell(&self, line: &str) -> String {
        let output = self.bash(line).output().expect("bash starts");
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            if text.is_empty() || text.ends_with('\n') { text } else { text + "\\ no line break\n" }
        };
        let mut printed = text(&output.stdout);
        if !output.stderr.is_empty() {
            let _ = write!(printed, "--- stderr\n{}", text(&output.stderr));
        }
        match output.status.code() {
            Some(0) => printed,
            Some(code) => format!("{printed}--- exit {code}\n"),
            None => printed + "--- killed\n",
        }
    }

    fn bash(&self, line: &str) -> Command {
        let own = self.user.command(&[]);
        let mut command = Command::new("bash");
        command.args(["-c", line]).current_dir(self.user.path("work"));
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("PATH", self.user.path("bin")).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        command.env("URL", &self.url);
        for (at, id) in self.runs.iter().enumerate() {
            command.env(format!("R{}", at + 1), id);
        }
        command.stdin(Stdio::null());
        command
    }

    fn release(&mut self, tool: &str) -> String {
        let words: Vec<&str> = tool.split(' ').collect();
        let [name, version, file] = words[..] else { panic!("NAME VERSION FILE, not {tool}") };
        let server = self.server.get_or_insert_with(ReleaseServer::start);
        self.url = server.tool(&self.user, name, version, &self.user.read(file));
        self.normaliser.hide(server.url("").trim_end_matches('/'), "<server>");
        String::new()
    }

    fn ask(&mut self, request: &str) -> String {
        let page = self.page.get_or_insert_with(|| Page::start(&self.user, &[]));
        self.normaliser.hide(&page.token, "<token>");
        self.normaliser.hide(&format!(":{}", page.port), ":<port>");
        let (verb, rest) = request.split_once(' ').expect("get, post or live");
        match verb {
            "get" => shown(&page.ask(rest)),
            "post" => {
                let (path, body) = rest.split_once(' ').expect("a path and a body");
                shown(&page.post(path, &serde_json::from_str(body).expect("a body")))
            }
            "live" => self.live(rest),
            other => panic!("page {other}"),
        }
    }

    /// Each kind of message once, up to the first after which nothing happened. The file `seen` is made
    /// when a message about an output came.
    fn live(&self, line: &str) -> String {
        let page = self.page.as_ref().expect("the page is there");
        let (mut messages, mut message) = page.messages(None);
        let mut child = self
            .bash(line)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("bash starts");
        let mut seen: Vec<String> = Vec::new();
        while message["kind"] != "tick" {
            if message["kind"] == "output" {
                self.user.write("seen", "");
            }
            message["seq"] = Value::from("<number>");
            let line = message.to_string() + "\n";
            if !seen.contains(&line) {
                seen.push(line);
            }
            message = messages.next();
        }
        child.wait().expect("the command ends");
        seen.concat()
    }
}

fn shown(answer: &Answer) -> String {
    let kind = answer.header("content-type").unwrap_or_default();
    let text = match kind {
        "application/json" => format!("{:#}", answer.json()),
        _ => answer.text(),
    };
    format!("{} {kind}\n{text}\n", answer.status)
}
