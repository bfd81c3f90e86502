//! Many tools at once. What has worked is remembered, so that the same batch can be called again after
//! an interruption or for those that failed.

use super::Args;
use crate::exit::{CommandError, Exit};
use crate::terminal::format::{clean, count};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use crate::tools::agent_model::Spent;
use crate::tools::install_tool::InstallOutcome;
use crate::tools::report::{shown_time, word};
use crate::tools::tool_session::{ToolSession, setup};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use towpath_core::files;
use towpath_tool::check_tool_name;
use towpath_tool::install::InstalledTools;
use towpath_tool::sources::{SourceRef, SourceRefError};

const MOST: u64 = 1 << 20;

/// A tool of a batch, and where it comes from if its line has that.
type Request = (String, Option<SourceRef>);

/// The result of one tool.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct BatchResult {
    name: String,
    /// `works-by-version` and the like, or `failed`.
    status: String,
    version: Option<String>,
    /// How the check was repaired, where it was.
    repaired: Option<String>,
    model_calls: usize,
    error: Option<String>,
    took_ms: u64,
    works: bool,
    /// An earlier call has finished it.
    #[serde(skip_deserializing)]
    earlier: bool,
}

pub(super) fn create_all(
    session: &ToolSession<'_>,
    file: &Path,
    args: &Args,
) -> Result<Exit, CommandError> {
    let requests = read(file)?;
    let record = record_path(session, file);
    let mut earlier = if args.again { BTreeMap::new() } else { read_record(&record) };
    // One that was removed meanwhile is created again.
    earlier.retain(|name, _| {
        InstalledTools::of(&session.directories, name).is_ok_and(|found| !found.tools.is_empty())
    });
    let began = Instant::now();
    let total = requests.len();
    let (mut results, mut open) = (Vec::new(), VecDeque::new());
    for request in requests {
        match earlier.remove(&request.0) {
            Some(result) => results.push(BatchResult { earlier: true, ..result }),
            None => open.push_back(request),
        }
    }
    let spent = Mutex::new(Spent::default());
    let mut record = open_record(&record)?;
    create_open(session, open, (args, &spent), |result| {
        let line = serde_json::to_string(&result).expect("a result can be written");
        let _ = writeln!(record, "{line}").and_then(|()| record.sync_data());
        results.push(result);
        if let (Some(result), false) = (results.last(), args.flags.json) {
            out::note(progress_line(result, results.len(), total));
        }
    });
    results.sort_by(|one, other| one.name.cmp(&other.name));
    let spent = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    let took_ms = began.elapsed().as_millis() as u64;
    match args.flags.json {
        true => out::json(&summary_json(&results, &spent, took_ms)),
        false => print_summary(session, &results, &spent, took_ms),
    }
    Ok(if results.iter().all(|result| result.works) { Exit::Done } else { Exit::Failed })
}

fn read(file: &Path) -> Result<Vec<Request>, CommandError> {
    let shown = file.display();
    let text = files::read_text(file, MOST)
        .map_err(|error| CommandError::bad_input(format!("{shown}: {error}")))?;
    let (mut requests, mut problems): (Vec<Request>, Vec<String>) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        match read_line(line, &requests) {
            Ok(request) => requests.push(request),
            Err(problem) => problems.push(format!("{shown}:{}: {problem}", index + 1)),
        }
    }
    match problems.is_empty() {
        true => Ok(requests),
        false => Err(CommandError::bad_input(problems.join("\n"))),
    }
}

fn read_line(line: &str, before: &[Request]) -> Result<Request, String> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    check_tool_name(name)?;
    let from = words.next().map(str::parse).transpose();
    let from = from.map_err(|error: SourceRefError| error.to_string())?;
    match words.next() {
        Some(word) => Err(format!("`{word}` is too much: write NAME, or NAME and SOURCE")),
        None if before.iter().any(|(known, _)| known == name) => {
            Err(format!("`{name}` is there twice"))
        }
        None => Ok((name.to_owned(), from)),
    }
}

/// Where the results of a batch file are kept.
fn record_path(session: &ToolSession<'_>, file: &Path) -> PathBuf {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let digest = Sha256::digest(file.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    session.env.directories.state.join("tool-batches").join(format!("{name}.jsonl"))
}

/// The tools that an earlier call has finished. Those that failed are tried again.
fn read_record(path: &Path) -> BTreeMap<String, BatchResult> {
    let text = files::read_text(path, MOST).unwrap_or_default();
    // A line that was cut short by a kill is one that has not finished.
    let results = text.lines().filter_map(|line| serde_json::from_str::<BatchResult>(line).ok());
    results.filter(|result| result.works).map(|result| (result.name.clone(), result)).collect()
}

fn open_record(path: &Path) -> Result<File, CommandError> {
    let opened = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let opened = opened.and_then(|()| OpenOptions::new().create(true).append(true).open(path));
    opened.map_err(|error| setup(format_args!("{}: {error}", path.display())))
}

/// Creates tools, several at the same time, and hands on each result as it comes, one at a time.
fn create_open(
    session: &ToolSession<'_>,
    open: VecDeque<Request>,
    (args, spent): (&Args, &Mutex<Spent>),
    take: impl FnMut(BatchResult) + Send,
) {
    let (waiting, take) = (Mutex::new(open), Mutex::new(take));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || {
        while let Some((name, from)) = next() {
            let began = Instant::now();
            let created = args.create(session, (&name, from.as_ref()), spent);
            let took_ms = began.elapsed().as_millis() as u64;
            let result = BatchResult { took_ms, ..result(name, created) };
            take.lock().unwrap_or_else(PoisonError::into_inner)(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.get() {
            scope.spawn(work);
        }
    });
}

fn progress_line(result: &BatchResult, number: usize, total: usize) -> String {
    let took = shown_time(result.took_ms.into());
    let error = result.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
    clean(&format!("  {number}/{total}  {}  {}{error} · {took}", result.name, result.status))
}

fn result(name: String, created: Result<(InstallOutcome, usize), CommandError>) -> BatchResult {
    let mut result = BatchResult { name, status: "failed".to_owned(), ..BatchResult::default() };
    let outcome = match created {
        Ok((outcome, calls)) => {
            result.model_calls = calls;
            outcome
        }
        Err(error) => {
            result.error = Some(error.message);
            return result;
        }
    };
    result.version = outcome.install().map(|tool| tool.record.version.clone());
    result.works = outcome.works();
    match outcome {
        InstallOutcome::Already(_) => result.status = "installed".to_owned(),
        InstallOutcome::Installed(installed) => {
            result.status = installed.proof.verdict.as_str().to_owned();
            result.repaired = installed.proof.repair.map(|repair| word(repair.method));
        }
        InstallOutcome::System(found) => {
            let verdict = found.report.verdict;
            result.status = verdict.verdict.as_str().to_owned();
            result.version = verdict.version_found;
            result.error = verdict.evidence.text.filter(|_| !result.works);
        }
        InstallOutcome::NotVerified { why, .. } => {
            result.status = why.verdict.as_str().to_owned();
            result.error = Some(why.failure.to_string());
        }
    }
    result
}

/// Repairs that no model was asked for.
fn calls_avoided(results: &[BatchResult]) -> usize {
    let found =
        |result: &&BatchResult| result.repaired.as_deref().is_some_and(|how| how != "model");
    results.iter().filter(found).count()
}

fn summary_json(results: &[BatchResult], spent: &Spent, took_ms: u64) -> Value {
    let works = results.iter().filter(|result| result.works).count();
    let mut methods: BTreeMap<&str, usize> = BTreeMap::new();
    for method in results.iter().filter_map(|result| result.repaired.as_deref()) {
        *methods.entry(method).or_default() += 1;
    }
    json!({
        "schema": 1,
        "tools": results,
        "works": works,
        "failed": results.len() - works,
        "repaired": methods,
        "model_calls": spent.calls,
        "model_cost_usd": spent.total,
        "model_calls_avoided": calls_avoided(results),
        "took_ms": took_ms,
    })
}

fn print_summary(session: &ToolSession<'_>, results: &[BatchResult], spent: &Spent, took_ms: u64) {
    let mut table = Table::new(&["TOOL", "VERSION", "STATUS", "REPAIRED", "TOOK"]);
    for result in results {
        let tint = if result.works { Tint::None } else { Tint::Bad };
        let took = match result.earlier {
            true => "earlier".to_owned(),
            false => shown_time(result.took_ms.into()),
        };
        table.row(vec![
            result.name.as_str().into(),
            result.version.as_deref().unwrap_or("–").into(),
            Cell::tinted(&result.status, tint),
            result.repaired.as_deref().unwrap_or("–").into(),
            took.into(),
        ]);
        if let Some(error) = &result.error {
            table.below(clean(error), Tint::Dim);
        }
    }
    table.print(&Screen::new(session.env));
    let works = results.iter().filter(|result| result.works).count();
    let asked = match spent.calls {
        0 => String::new(),
        calls => format!(" · {} for ${:.2}", count(calls, "model call"), spent.total),
    };
    out::line(format!(
        "\n{works} of {} work{asked} · {} avoided · {}",
        count(results.len(), "tool"),
        count(calls_avoided(results), "model call"),
        shown_time(took_ms.into())
    ));
}
