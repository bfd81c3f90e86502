//! Many tools at once. What has worked is remembered, so that the same batch can be called again after
//! an interruption or for those that failed.

use super::Args;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::files;
use crate::terminal::format::{clean, count, duration};
use crate::terminal::out;
use crate::terminal::table::{Cell, Table};
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use crate::tools::ask_model_for_check::{AgentModel, Spent};
use crate::tools::generate_tool_recipe::{generate_recipe, save_recipe};
use crate::tools::install_tool::{InstallOutcome, install};
use crate::tools::tool_session::ToolSession;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use towpath_tool::check_tool_name;
use towpath_tool::install::InstalledTools;
use towpath_tool::sources::SourceRef;

const MOST: u64 = 1 << 20;

/// One line of a batch.
#[derive(Debug, Clone)]
struct BatchLine {
    name: String,
    from: Option<SourceRef>,
}

/// What became of one tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BatchResult {
    name: String,
    /// `works-by-version` and the like, or `failed`.
    status: String,
    #[serde(default)]
    version: Option<String>,
    /// How the check was repaired, where it was.
    #[serde(default)]
    repaired: Option<String>,
    #[serde(default)]
    model_calls: usize,
    #[serde(default)]
    error: Option<String>,
    took_ms: u64,
    #[serde(default)]
    works: bool,
    /// An earlier call has finished it.
    #[serde(skip_deserializing, default)]
    earlier: bool,
}

pub(super) fn create_all(
    session: &ToolSession<'_>,
    file: &Path,
    args: &Args,
) -> Result<Exit, CommandError> {
    let lines = read(file)?;
    let record = record_path(session, file);
    let mut earlier = if args.again { BTreeMap::new() } else { read_record(&record) };
    // One that was removed meanwhile is created again.
    let tools = InstalledTools::new(&session.directories);
    earlier.retain(|name, _| tools.versions(name).is_ok_and(|versions| !versions.is_empty()));
    let began = Instant::now();
    let (done, open): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| earlier.contains_key(&line.name));
    let mut results: Vec<BatchResult> = done
        .iter()
        .filter_map(|line| earlier.get(&line.name).cloned())
        .map(|result| BatchResult { earlier: true, ..result })
        .collect();
    let total = results.len() + open.len();
    let spent = Mutex::new(Spent::default());
    results.extend(run_all(session, open, (args, &spent), &record, total)?);
    results.sort_by(|one, other| one.name.cmp(&other.name));
    let spent = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    let took = began.elapsed().as_millis();
    if args.json {
        out::json(&summary_json(&results, &spent, took as u64));
    } else {
        print_summary(session, &results, &spent, took as i64);
    }
    Ok(if results.iter().all(|result| result.works) { Exit::Done } else { Exit::Failed })
}

fn read(file: &Path) -> Result<Vec<BatchLine>, CommandError> {
    let text = files::read_text(file, MOST)
        .map_err(|error| CommandError::bad_input(format!("{}: {error}", file.display())))?;
    let (mut lines, mut problems): (Vec<BatchLine>, Vec<String>) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        match read_line(line) {
            Ok(line) if lines.iter().any(|known| known.name == line.name) => {
                problems.push(format!(
                    "{}:{}: `{}` is there twice",
                    file.display(),
                    index + 1,
                    line.name
                ));
            }
            Ok(line) => lines.push(line),
            Err(problem) => problems.push(format!("{}:{}: {problem}", file.display(), index + 1)),
        }
    }
    if problems.is_empty() { Ok(lines) } else { Err(CommandError::bad_input(problems.join("\n"))) }
}

fn read_line(line: &str) -> Result<BatchLine, String> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    check_tool_name(name)?;
    let from =
        words.next().map(|word| word.parse::<SourceRef>().map_err(|error| error.to_string()));
    match words.next() {
        Some(word) => Err(format!("`{word}` is too much: write NAME, or NAME and SOURCE")),
        None => Ok(BatchLine { name: name.to_owned(), from: from.transpose()? }),
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

fn run_all(
    session: &ToolSession<'_>,
    open: Vec<BatchLine>,
    (args, spent): (&Args, &Mutex<Spent>),
    record: &Path,
    total: usize,
) -> Result<Vec<BatchResult>, CommandError> {
    if let Some(folder) = record.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| CommandError::setup(format!("{}: {error}", folder.display())))?;
    }
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(record)
        .map_err(|error| CommandError::setup(format!("{}: {error}", record.display())))?;
    let before = total - open.len();
    let waiting = Mutex::new(VecDeque::from(open));
    let results = Mutex::new(Vec::new());
    let (sender, finished) = std::sync::mpsc::channel::<BatchResult>();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs.get() {
            let (waiting, sender) = (&waiting, sender.clone());
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(line) = next else { return };
                    let _ = sender.send(create_one(session, &line, args, spent));
                }
            });
        }
        drop(sender);
        for result in finished {
            let mut done = results.lock().unwrap_or_else(PoisonError::into_inner);
            let line = serde_json::to_string(&result).expect("a result can be written");
            let _ = writeln!(file, "{line}").and_then(|()| file.sync_data());
            if !args.json {
                out::note(progress_line(&result, before + done.len() + 1, total));
            }
            done.push(result);
        }
    });
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn progress_line(result: &BatchResult, number: usize, total: usize) -> String {
    let took = duration(i64::try_from(result.took_ms).unwrap_or(i64::MAX));
    let error = result.error.as_deref().map_or(String::new(), |error| format!(": {error}"));
    clean(&format!("  {number}/{total}  {}  {}{error} · {took}", result.name, result.status))
}

fn create_one(
    session: &ToolSession<'_>,
    line: &BatchLine,
    args: &Args,
    spent: &Mutex<Spent>,
) -> BatchResult {
    let began = Instant::now();
    let mut result = BatchResult {
        name: line.name.clone(),
        status: "failed".to_owned(),
        version: None,
        repaired: None,
        model_calls: 0,
        error: None,
        took_ms: 0,
        works: false,
        earlier: false,
    };
    match try_one(session, line, (args, spent), &mut result) {
        Ok(()) => {}
        Err(error) => result.error = Some(error.message),
    }
    result.took_ms = began.elapsed().as_millis() as u64;
    result
}

fn try_one(
    session: &ToolSession<'_>,
    line: &BatchLine,
    (args, spent): (&Args, &Mutex<Spent>),
    result: &mut BatchResult,
) -> Result<(), CommandError> {
    let generated = generate_recipe(session, &line.name, line.from.as_ref(), None)?;
    let mut model = AgentModel::allowed(session, &args.model, spent)?;
    let outcome = install(session, &generated.wanted, model.as_mut())?;
    result.model_calls = model.as_ref().map_or(0, |model| model.calls);
    match &outcome {
        InstallOutcome::Already(tool) => {
            result.works = true;
            result.status = "installed".to_owned();
            result.version = Some(tool.record.version.clone());
        }
        InstallOutcome::Installed(installed) => {
            save_recipe(session, &installed.proof.recipe)?;
            result.works = true;
            result.status = installed.proof.verdict.as_str().to_owned();
            result.version = Some(installed.published.record.version.clone());
            let method = installed.proof.repair.as_ref().map(|repair| json!(repair.method));
            result.repaired = method.and_then(|word| word.as_str().map(str::to_owned));
        }
        InstallOutcome::NotVerified { why, .. } => {
            result.status = why.verdict.as_str().to_owned();
            result.error = Some(why.failure.to_string());
        }
    }
    Ok(())
}

/// Repairs that no model was asked for.
fn calls_avoided(results: &[BatchResult]) -> usize {
    let found =
        |result: &&BatchResult| result.repaired.as_deref().is_some_and(|how| how != "model");
    results.iter().filter(found).count()
}

fn summary_json(results: &[BatchResult], spent: &Spent, took_ms: u64) -> serde_json::Value {
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

fn print_summary(session: &ToolSession<'_>, results: &[BatchResult], spent: &Spent, took_ms: i64) {
    let mut table = Table::new(&["TOOL", "VERSION", "STATUS", "REPAIRED", "TOOK"]);
    for result in results {
        let tint = if result.works { Tint::None } else { Tint::Bad };
        let took = match result.earlier {
            true => "earlier".to_owned(),
            false => duration(i64::try_from(result.took_ms).unwrap_or(i64::MAX)),
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
        duration(took_ms)
    ));
}
