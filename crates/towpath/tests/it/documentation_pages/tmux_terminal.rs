//! A real terminal, 80 columns wide, in which the sessions of one page are typed. What a command
//! leaves on the screen is what the page must show, but for what no two runs share: ids of runs and
//! commits, durations, process numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use towpath_store::{RunFilter, Store};

/// How the pages call the runs of a session, in the order in which they were started.
const IDS: [&str; 4] = ["7f3k", "6q0d", "5a2m", "4x9c"];

/// What a session's commands mean here. bash reports now and then that a job was killed, and now and
/// then it does not. `sleep` before a `kill` is for "until it has come so far": until the run in
/// the background has itself come to a `sleep`, and the screen shows that.
const PRELUDE: &str = r#"
kill() { disown -a; builtin kill "$@"; }
sleeps() {
  local child
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    [ "$(cat /proc/"$child"/comm 2>/dev/null)" != sleep ] || return 0
    ! sleeps "$child" || return 0
  done
  return 1
}
sleep() { until sleeps $! && tmux capture-pane -p | grep -q ' running$'; do command sleep 0.05; done; }
"#;

/// The title that a pane gets when its command has ended.
const ENDED: &str = "the command has ended";

/// Enough for the slowest session on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

pub struct Terminal {
    root: tempfile::TempDir,
    commands: usize,
}

impl Terminal {
    pub fn new() -> Terminal {
        // A longer path than this would be cut short on a screen of 80 columns.
        let root = tempfile::tempdir_in("/tmp").expect("a temporary directory");
        fs::create_dir(root.path().join("shop")).expect("a working directory");
        Terminal { root, commands: 0 }
    }

    /// Where a page's file is: `~/x` below the home directory, else in the working directory.
    pub fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.root.path().join(rest),
            None => self.root.path().join("shop").join(name),
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Types a command and gives what is on the screen when it has ended.
    pub fn types(&mut self, command: &str) -> String {
        self.commands += 1;
        let script = self.root.path().join(format!("{}.sh", self.commands));
        let text = format!("{PRELUDE}{}\n", self.with_real_ids(command));
        fs::write(&script, text).expect("a script");
        // The title comes behind the output in one stream: with it, all of that is on the screen.
        let line = format!("bash '{}'; printf '\\033]2;{ENDED}\\007'; sleep 600", script.display());
        let work = self.path("");
        let work = work.to_str().expect("a path");
        self.tmux(&["new-session", "-d", "-x", "80", "-y", "50", "-c", work, &line]);
        let began = Instant::now();
        while self.tmux(&["display-message", "-p", "#{pane_title}"]).trim_end() != ENDED {
            assert!(began.elapsed() < PATIENCE, "never ended: {command}\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
        let screen = self.screen();
        self.tmux(&["kill-server"]);
        self.with_page_ids(&screen)
    }

    fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-"])
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let bin = Path::new(env!("CARGO_BIN_EXE_towpath")).parent().expect("a folder");
        let path = std::env::var("PATH").expect("a PATH");
        let output = Command::new("tmux")
            // A server of its own for each command: one that is ending takes no more.
            .args(["-u", "-L", &self.commands.to_string(), "-f", "/dev/null"])
            .args(arguments)
            .env_clear()
            .env("TMUX_TMPDIR", self.root.path())
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.root.path())
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            // Git's own upkeep, in the background, would see now and then as left over.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "maintenance.auto")
            .env("GIT_CONFIG_VALUE_0", "false")
            .stdin(Stdio::null())
            .output()
            .expect("tmux starts (./test installs it)");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The ids of the runs so far, the oldest first.
    fn ids(&self) -> Vec<String> {
        let state = self.root.path().join(".local/state/towpath");
        let Ok(Some(store)) = Store::open_for_reading(&state) else { return Vec::new() };
        let mut rows = store.runs(&RunFilter::default()).expect("the runs can be listed");
        rows.sort_by_key(|row| row.created_ms);
        rows.into_iter().map(|row| row.id.to_string()).collect()
    }

    fn with_real_ids(&self, text: &str) -> String {
        let pairs = IDS.iter().zip(self.ids());
        pairs.fold(text.to_owned(), |text, (page, real)| text.replace(page, &real))
    }

    fn with_page_ids(&self, text: &str) -> String {
        let pairs = IDS.iter().zip(self.ids());
        let text = pairs.fold(text.to_owned(), |text, (page, real)| text.replace(&real, page));
        text.replace(self.root.path().to_str().expect("a path"), "/home/ann")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// A screen without what differs from run to run.
pub fn settled(screen: &str) -> String {
    let mut text: String = screen.lines().map(settled_line).collect::<Vec<_>>().join("\n");
    text.truncate(text.trim_end().len());
    text
}

fn settled_line(line: &str) -> String {
    let line = line.trim_end();
    let indent = line.len() - line.trim_start().len();
    let mut out = " ".repeat(indent);
    let mut rest = &line[indent..];
    while let Some(first) = rest.chars().next() {
        let number = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        if number > 0 && first.is_ascii_digit() && ends_a_duration(&rest[number..]) {
            out.push('N');
            rest = &rest[number..];
        } else if number > 0 && first.is_ascii_digit() {
            let alone = [")", "s)"].iter().any(|end| rest[number..].starts_with(end));
            let changes = out.ends_with('(') && alone || out.ends_with("\"duration\": ");
            out.push_str(if changes { "N" } else { &rest[..number] });
            rest = &rest[number..];
        } else {
            let spinner = ('\u{2800}'..='\u{28ff}').contains(&first);
            // Columns move with the width of what is in them.
            if !(first == ' ' && out.ends_with(' ') && out.len() > indent) {
                out.push(if spinner { '⠹' } else { first });
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    without_commit(without_time(out))
}

/// ` at 1a2b3c4`, the beginning of a commit's id.
fn without_commit(line: String) -> String {
    let Some((before, after)) = line.split_once(" at ") else { return line };
    let end = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
    if end == 7 { format!("{before} at COMMIT{}", &after[end..]) } else { line }
}

fn ends_a_duration(rest: &str) -> bool {
    let Some(after) = rest.strip_prefix(" s") else { return false };
    !after.starts_with(|c: char| c.is_alphanumeric())
}

/// `"2026-11-15T22:28:29.926+00:00"` as JSON has it.
fn without_time(line: String) -> String {
    let Some((before, after)) = line.split_once(": \"20") else { return line };
    match after.split_once('"') {
        Some((time, rest)) if time.contains('T') && time.contains(':') => {
            format!("{before}: \"TIME\"{rest}")
        }
        _ => line,
    }
}
