//! Actions: each is a command of the program, started as a process of its own. The command checks,
//! refuses and reports as it does in a terminal; nothing is decided here but which command it is.

use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::own_program::{self, Asking, Started, input_pairs};
use crate::routes::{Asked, NoBody};
use crate::views::journal::{find, now_ms, open, open_for, shown};
use crate::views::recipes::directory;
use crate::views::step::definition;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use towpath_core::{RunId, StepPath};
use towpath_engine::last_owner_of;
use towpath_recipe::Effect;
use towpath_shell::bash::quote;
use towpath_store::{RunFilter, RunRow, Store};

/// A start that takes longer is left alone, and answered without the run.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
/// The system has a limit of 128 KiB for one argument of a command, with the NUL at its end.
const LONGEST_WORD: usize = 128 * 1024 - 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartBody {
    recipe: String,
    #[serde(rename = "directory")]
    _directory: Option<String>,
    #[serde(default)]
    inputs: Map<String, Value>,
    worktree: Option<String>,
    backend: Option<String>,
    #[serde(default)]
    wait: bool,
    #[serde(default)]
    include_tags: Vec<String>,
    #[serde(default)]
    exclude_tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeBody {
    #[serde(default)]
    edited: bool,
    #[serde(default)]
    new_session: bool,
    #[serde(default)]
    wait: bool,
    #[serde(default)]
    again: Vec<String>,
    confirm: Option<String>,
    max_visits: Option<u32>,
    max_steps: Option<u32>,
    max_restarts: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerBody {
    step: String,
    verdict: StepVerdict,
    output: Option<String>,
    outcome: Option<String>,
    confirm: Option<String>,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum StepVerdict {
    Done,
    Again,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustBody {
    path: PathBuf,
    hash: String,
}

/// The arguments of a command.
pub(crate) struct Line(Vec<OsString>);

impl Line {
    pub fn new(words: &[&str]) -> Line {
        Line(words.iter().map(OsString::from).collect())
    }

    pub fn flag(&mut self, given: bool, flag: &str) {
        self.0.extend(given.then(|| flag.into()));
    }

    /// A value stays one word with its flag, so that it cannot be taken for another flag.
    pub fn value(&mut self, flag: &str, value: Option<&str>) {
        self.0.extend(value.map(|value| format!("{flag}={value}").into()));
    }

    /// What follows is no flag, whatever it begins with.
    pub fn last(mut self, word: impl Into<OsString>) -> Line {
        self.0.extend(["--".into(), word.into()]);
        self
    }

    /// The scripted agent, where the server has one.
    pub fn script(&mut self, server: &Server) {
        if let Some(file) = &server.config.script {
            let mut word = OsString::from("--script=");
            word.push(file);
            self.0.push(word);
        }
    }

    pub fn arguments(&self) -> &[OsString] {
        &self.0
    }

    /// As a user would type it.
    fn text(&self) -> String {
        let words = self.0.iter().map(|word| word.to_string_lossy());
        let words = words.filter(|word| word != "--" && word != "--quiet");
        let words: Vec<String> = words.map(|word| quote(&word)).collect();
        format!("towpath {}", words.join(" "))
    }
}

pub(crate) fn start(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let given: StartBody = asked.body_as()?;
    let directory = directory(server, asked)?;
    let mut line = Line::new(&["run", "--quiet"]);
    for pair in input_pairs(&given.inputs)? {
        line.value("--set", Some(&pair));
    }
    line.value("--worktree", given.worktree.as_deref());
    line.value("--backend", given.backend.as_deref());
    if given.backend.is_none() {
        line.script(server);
    }
    line.flag(given.wait, "--wait");
    for tags in &given.include_tags {
        line.value("--include-tags", Some(tags));
    }
    for tags in &given.exclude_tags {
        line.value("--exclude-tags", Some(tags));
    }
    // Every run that there is now is another one.
    let newest = newest(server)?;
    let line = line.last(&given.recipe);
    execute(server, &directory, &line, &|pid| begun_after(server, newest.as_ref(), pid))
}

pub(crate) fn resume(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let given: ResumeBody = asked.body_as()?;
    let mut line = Line::new(&["resume", "--quiet"]);
    line.flag(given.edited, "--edited");
    line.flag(given.new_session, "--new-session");
    line.flag(given.wait, "--wait");
    for step in &given.again {
        confirm(server, asked, step, given.confirm.as_deref())?;
        line.value("--again", Some(step));
    }
    let limits = [
        ("--max-visits", given.max_visits),
        ("--max-steps", given.max_steps),
        ("--max-restarts", given.max_restarts),
    ];
    for (flag, limit) in limits {
        line.value(flag, limit.map(|limit| limit.to_string()).as_deref());
    }
    // A command that must ask ends at once, though it records that the run was resumed.
    let ends = given.again.is_empty() && !asking(server, asked)?.is_empty();
    continue_run(server, asked, line, ends)
}

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let given: AnswerBody = asked.body_as()?;
    let mut line = Line::new(&["resume", "--quiet"]);
    if !asking(server, asked)?.iter().any(|step| step.as_str() == given.step) {
        // It may have been answered elsewhere, while this was typed.
        let message = format!("no question about {} is open", given.step);
        return Err(Refusal::bad_input(message));
    }
    match given.verdict {
        StepVerdict::Done => {
            line.value("--done", Some(&given.step));
            line.value("--output", given.output.as_deref());
            line.value("--outcome", given.outcome.as_deref());
        }
        StepVerdict::Again => {
            confirm(server, asked, &given.step, given.confirm.as_deref())?;
            line.value("--again", Some(&given.step));
        }
    }
    continue_run(server, asked, line, false)
}

/// The steps about which the user must decide before the run can continue.
fn asking(server: &Server, asked: &Asked) -> Result<Vec<StepPath>, Refusal> {
    let (store, row) = run_of(server, asked)?;
    Ok(shown(server, &store, row)?.asking(now_ms()))
}

/// A step that may run only once is run again only by a user who has typed its path.
fn confirm(
    server: &Server,
    asked: &Asked,
    again: &str,
    typed: Option<&str>,
) -> Result<(), Refusal> {
    let (store, row) = run_of(server, asked)?;
    let shown = shown(server, &store, row)?;
    // A name that the command would not find is refused by it, in its own words.
    let Ok(step) = shown.run().find_step(again) else { return Ok(()) };
    let once = definition(shown.run().program(), &step);
    let once = once.is_some_and(|step| step.effect == Effect::Once);
    if once && typed != Some(step.as_str()) {
        let message = format!("{step} may run only once: answer with its path as `confirm`");
        return Err(Refusal::bad_input(message));
    }
    Ok(())
}

fn continue_run(server: &Server, asked: &Asked, line: Line, ends: bool) -> Result<Answer, Refusal> {
    let (store, row) = run_of(server, asked)?;
    let before = store.facts_after(&row.id, 0)?.last().map_or(0, |fact| fact.seq);
    // A command that refuses has the run, too, for a moment: one that continues it records that.
    let owned = |pid: u32| {
        let owner = last_owner_of(&store, &row.id).and_then(|owner| owner.pid);
        let continues =
            !ends && owner == Some(pid) && !store.facts_after(&row.id, before)?.is_empty();
        Ok(continues.then(|| row.id.clone()))
    };
    let line = line.last(row.id.as_str());
    execute(server, existing(&row.directory, server), &line, &owned)
}

pub(crate) fn cancel(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let NoBody {} = asked.body_as()?;
    let (_, row) = run_of(server, asked)?;
    let line = Line::new(&["cancel"]).last(row.id.as_str());
    execute(server, existing(&row.directory, server), &line, &|_| Ok(None))
}

pub(crate) fn trust(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let given: TrustBody = asked.body_as()?;
    let directory = given.path.parent().filter(|parent| parent.is_absolute() && parent.is_dir());
    let directory = directory.ok_or_else(|| Refusal::bad_input("path must be an absolute file"))?;
    let now = own_program::json(server, directory, &Asking::Trust(&given.path))?;
    let things = now["things"].as_array().into_iter().flatten();
    if !things.into_iter().any(|thing| thing["hash"] == given.hash.as_str()) {
        return Err(Refusal::bad_input("it has changed since it was shown: look at it again"));
    }
    let mut line = Line::new(&["trust", "--yes"]);
    // It is compared again by the command that trusts it.
    line.value("--hash", Some(&given.hash));
    let line = line.last(&given.path);
    execute(server, directory, &line, &|_| Ok(None))
}

fn run_of(server: &Server, asked: &Asked) -> Result<(Store, RunRow), Refusal> {
    let name = asked.path("run");
    let store = open_for(server, name)?;
    let row = find(&store, name)?;
    Ok((store, row))
}

/// The directory of a run, unless it is gone.
fn existing<'a>(directory: &'a Path, server: &'a Server) -> &'a Path {
    if directory.is_dir() { directory } else { &server.config.directory }
}

pub(crate) fn newest(server: &Server) -> Result<Option<RunId>, Refusal> {
    let store = open(server)?;
    let row = store.map_or(Ok(None), |store| store.latest(None))?;
    Ok(row.map(|row| row.id))
}

/// The run that a process has begun, among those that came after another.
fn begun_after(
    server: &Server,
    newest: Option<&RunId>,
    pid: u32,
) -> Result<Option<RunId>, Refusal> {
    let Some(store) = open(server)? else { return Ok(None) };
    let rows = store.runs(&RunFilter { limit: Some(16), ..RunFilter::default() })?;
    let later = rows.into_iter().map(|row| row.id).take_while(|id| Some(id) != newest);
    // Its process may have ended already.
    let owned = |id: &RunId| last_owner_of(&store, id).and_then(|owner| owner.pid) == Some(pid);
    Ok(later.into_iter().find(owned))
}

/// Starts a command, and answers when it owns a run, or has ended.
fn execute(
    server: &Server,
    directory: &Path,
    line: &Line,
    owns: &dyn Fn(u32) -> Result<Option<RunId>, Refusal>,
) -> Result<Answer, Refusal> {
    let too_much = |word: &OsString| word.as_bytes().contains(&0) || word.len() > LONGEST_WORD;
    if line.0.iter().any(too_much) {
        return Err(Refusal::bad_input("a value has a NUL, or is too long for a command"));
    }
    let mut started = Started::new(server, directory, &line.0)?;
    let pid = started.pid();
    let until = Instant::now() + PATIENCE;
    let (ended, run) = loop {
        let ended = started.ended()?;
        let run = owns(pid)?;
        if ended.is_some() || run.is_some() || Instant::now() >= until {
            break (ended, run);
        }
        std::thread::sleep(PAUSE);
    };
    let message = [started.stdout()?, started.stderr()?].concat();
    let exit_code = ended.map(|status| status.code().unwrap_or(-1));
    let succeeded = exit_code.is_none_or(|code| code == 0);
    started.leave();
    Ok(Answer::Command {
        succeeded,
        value: json!({
            "schema": 1,
            "success": succeeded,
            "command": line.text(),
            "exit_code": exit_code,
            "run_id": run,
            "message": message.trim_end(),
        }),
    })
}
