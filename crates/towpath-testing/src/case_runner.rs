//! One case, from its empty directory to what is wrong with it. The recipe runs in a process of
//! its own, by the same command that a user would type; so do git, `setup` and `checks`, as recipes
//! of ours, so that nothing they start can outlive them.

use crate::calling_program_trait::Host;
use crate::case_directory::{CaseDirectory, CaseFileError, remove};
use crate::case_run_file::{CaseRunFile, Ends};
use crate::child_processes::ChildProcesses;
use crate::compare_with_expected::Comparison;
use crate::in_order;
use crate::mutation::Change;
use crate::problem::Problem;
use crate::recipe_steps::{RecipeSteps, Workers};
use crate::replacements::Replacements;
use crate::result_observer::Observer;
use crate::run_record::RunRecord;
use crate::suite::{Case, Ending};
use crate::tested_recipe::TestedRecipe;
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use towpath_core::{Diagnostic, StatusKind, guarded_git};

/// What the agents of a case answer.
const SCRIPT: &str = "agents.jsonl";
const COMMIT: &str = "git init -q && git add -A && git commit -q --allow-empty -m Start";

/// Runs cases, each in a directory of its own below one that the caller owns.
pub struct CaseRunner<'a> {
    host: &'a dyn Host,
    children: &'a ChildProcesses,
    directory: &'a Path,
    keep: bool,
    /// How many were begun: directories are numbered.
    begun: AtomicUsize,
}

impl fmt::Debug for CaseRunner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaseRunner").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The result of a case.
#[derive(Debug, Default)]
pub struct CaseResult {
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
    pub took: Duration,
    /// The directory in which the recipe ran, where it was kept.
    pub directory: Option<PathBuf>,
    /// The paths of the steps that ran.
    pub started: Vec<String>,
    /// The transitions that a state machine took: steps with their outcomes.
    pub taken: Vec<(String, String)>,
}

impl CaseResult {
    pub fn passed(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Why a case has no record to compare.
enum Abort {
    /// We were stopped: there is nothing to report.
    Stopped,
    Problem(Box<Problem>),
}

impl From<String> for Abort {
    fn from(message: String) -> Abort {
        Abort::Problem(Box::new(Problem::new("case", message)))
    }
}

impl From<CaseFileError> for Abort {
    fn from(error: CaseFileError) -> Abort {
        Abort::from(error.to_string())
    }
}

impl From<std::io::Error> for Abort {
    fn from(error: std::io::Error) -> Abort {
        Abort::from(error.to_string())
    }
}

impl<'a> CaseRunner<'a> {
    /// `keep` leaves the directories of the cases where they are.
    pub fn new(
        host: &'a dyn Host,
        children: &'a ChildProcesses,
        directory: &'a Path,
        keep: bool,
    ) -> CaseRunner<'a> {
        CaseRunner { host, children, directory, keep, begun: AtomicUsize::new(0) }
    }

    /// Runs every case, `jobs` at once; the results by file, then by case. None: it was interrupted.
    pub fn run_all(
        &self,
        subjects: &[TestedRecipe],
        jobs: usize,
        observer: &dyn Observer,
    ) -> Vec<Vec<Option<CaseResult>>> {
        let cases = |subject: &TestedRecipe| 0..subject.suite.cases.len();
        let numbered = subjects.iter().enumerate();
        let all: Vec<(usize, usize)> = numbered
            .flat_map(|(file, subject)| cases(subject).map(move |case| (file, case)))
            .collect();
        let mut results: Vec<Vec<Option<CaseResult>>> =
            subjects.iter().map(|_| Vec::new()).collect();
        let one = |index: usize| {
            let (file, case) = all[index];
            self.run_case(&subjects[file], &subjects[file].suite.cases[case], None)
        };
        let report = &mut |index: usize, result: Option<CaseResult>| {
            let (file, case): (usize, usize) = all[index];
            if case == 0 {
                observer.file(&subjects[file]);
            }
            if let Some(result) = &result {
                observer.case(&subjects[file], case, result);
            }
            results[file].push(result);
        };
        in_order::in_order(jobs, all.len(), one, report, &|done| {
            observer.under_way(done, all.len(), "case");
        });
        results
    }

    /// Runs a case, with one change of the recipe where it is checked whether a case notices. None
    /// when we were stopped.
    pub(crate) fn run_case(
        &self,
        subject: &TestedRecipe,
        case: &Case,
        change: Option<&Change>,
    ) -> Option<CaseResult> {
        let began = Instant::now();
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let mut result = CaseResult::default();
        let directory = match CaseDirectory::new(self.directory, number, &case.name) {
            Ok(directory) => directory,
            Err(error) => {
                let message = format!("{}: {error}", self.directory.display());
                result.problems.push(Problem::new("case", message));
                return Some(result);
            }
        };
        let end = self.run_in(&directory, subject, case, change, &mut result);
        if self.keep && change.is_none() {
            result.directory = Some(directory.work);
        } else {
            remove(&directory.root);
        }
        result.took = began.elapsed();
        match end {
            Ok(()) => {}
            Err(Abort::Stopped) => return None,
            Err(Abort::Problem(problem)) => result.problems.push(*problem),
        }
        Some(result)
    }

    fn run_in(
        &self,
        directory: &CaseDirectory,
        subject: &TestedRecipe,
        case: &Case,
        change: Option<&Change>,
        result: &mut CaseResult,
    ) -> Result<(), Abort> {
        directory.fill(&subject.suite, case)?;
        let environment = directory.environment(self.host.environment(), case);
        self.prepare(directory, case, &environment)?;
        let search = self.search(directory, subject)?;
        let resolved = subject.resolve(&directory.work, &search, &case.set);
        let unread = resolved.problems.iter().filter(|p| p.code == "unread-input");
        result.warnings = unread.map(warning).collect();
        let steps = resolved.program.as_ref().map(RecipeSteps);
        let idle = match (change, steps) {
            (Some(Change::Idle { step }), Some(steps)) => steps.workers(step),
            _ => Workers::default(),
        };
        let replacements = Replacements::new(directory, case, &idle)?;
        let given = CaseRunFile {
            inputs: case.set.clone(),
            substitutes: replacements.substitutes.iter().cloned().collect(),
            ends: change.and_then(|change| {
                let outcome = change.outcome()?.to_owned();
                Some(Ends { step: change.step().to_owned(), outcome })
            }),
        };
        fs::write(directory.file(SCRIPT), &replacements.script)?;
        let record = self.run(directory, subject, case, &given, &search, &environment)?;
        result.started = record.started();
        result.taken = record.taken();
        let comparison = Comparison {
            suite: &subject.suite,
            case,
            replacements: &replacements,
            record: &record,
            steps,
            idle: &idle,
            work: &directory.work,
        };
        result.problems = comparison.problems();
        if record.ending == case.expect.ending() {
            result.problems.extend(self.check(directory, case, &environment)?);
        }
        Ok(())
    }

    /// The recipe directories of the case's own project, then those around the test file.
    fn search(
        &self,
        directory: &CaseDirectory,
        subject: &TestedRecipe,
    ) -> Result<Vec<PathBuf>, Abort> {
        // The search for a project's root ends at the case's own home directory.
        let own = self.host.recipe_directories(&directory.work, Some(&directory.home))?;
        let mut search: Vec<PathBuf> = Vec::new();
        for path in own.iter().chain(&subject.search) {
            if !search.contains(path) {
                search.push(path.clone());
            }
        }
        Ok(search)
    }

    /// Git and `setup`.
    fn prepare(
        &self,
        directory: &CaseDirectory,
        case: &Case,
        environment: &[Variable],
    ) -> Result<(), Abort> {
        let git = case.git.then(|| ("git".to_owned(), guarded_git() + COMMIT));
        let setup = case.setup.clone().map(|text| ("setup".to_owned(), text));
        let texts: Vec<(String, String)> = git.into_iter().chain(setup).collect();
        let record = self.run_texts(directory, "prepare", &texts, environment)?;
        let Some(failed) = record.and_then(|record| {
            (record.ending != Ending::Ran(StatusKind::Done)).then(|| {
                let what = record.failed_at.clone().unwrap_or_else(|| "the case".to_owned());
                (what, record.error().to_owned())
            })
        }) else {
            return Ok(());
        };
        let (what, error) = failed;
        let problem = Problem::new("setup", format!("{what} failed before the recipe ran"));
        Err(Abort::Problem(Box::new(problem.with("it printed", error))))
    }

    fn check(
        &self,
        directory: &CaseDirectory,
        case: &Case,
        environment: &[Variable],
    ) -> Result<Vec<Problem>, Abort> {
        let texts = (1..).zip(&case.expect.checks);
        let texts: Vec<(String, String)> =
            texts.map(|(number, text)| (format!("check-{number}"), text.clone())).collect();
        let Some(record) = self.run_texts(directory, "checks", &texts, environment)? else {
            return Ok(Vec::new());
        };
        let mut problems = Vec::new();
        for ((id, text), step) in texts.iter().zip(&record.steps) {
            if step.status == "completed" && step.path == *id {
                continue;
            }
            let problem = Problem::new("checks", format!("a check failed: {}", text.trim()));
            problems.push(problem.with("it printed", step.end_text()));
        }
        if record.steps.len() != texts.len() {
            problems.push(
                Problem::new("checks", "the checks could not run")
                    .with("it printed", record.refused),
            );
        }
        Ok(problems)
    }

    /// Runs bash texts as the steps of a recipe of ours, all of them whatever fails; none where
    /// there is nothing to run.
    fn run_texts(
        &self,
        directory: &CaseDirectory,
        name: &str,
        texts: &[(String, String)],
        environment: &[Variable],
    ) -> Result<Option<RunRecord>, Abort> {
        if texts.is_empty() {
            return Ok(None);
        }
        let tolerated = name == "checks";
        let steps: Vec<serde_json::Value> = texts
            .iter()
            .map(|(id, _)| json!({ "id": id, "command": ":", "continue_on_error": tolerated }))
            .collect();
        let limit = json!({ "max_total_steps": texts.len() });
        let recipe = json!({ "name": name, "recursion": limit, "steps": steps });
        let file = directory.file(&format!("{name}.json"));
        fs::write(&file, recipe.to_string())?;
        let rehearsal =
            CaseRunFile { substitutes: texts.iter().cloned().collect(), ..CaseRunFile::default() };
        self.towpath(directory, name, file.as_os_str(), &rehearsal, &[], environment).map(Some)
    }

    fn run(
        &self,
        directory: &CaseDirectory,
        subject: &TestedRecipe,
        case: &Case,
        given: &CaseRunFile,
        search: &[PathBuf],
        environment: &[Variable],
    ) -> Result<RunRecord, Abort> {
        let mut arguments: Vec<OsString> = vec!["--script".into(), directory.file(SCRIPT).into()];
        arguments.extend(["--calls".into(), directory.file("calls.jsonl").into()]);
        for path in search {
            arguments.extend(["-R".into(), path.into()]);
        }
        for (flag, tags) in
            [("--include-tags", &case.include_tags), ("--exclude-tags", &case.exclude_tags)]
        {
            if !tags.is_empty() {
                arguments.extend([flag.into(), tags.join(",").into()]);
            }
        }
        for (flag, value) in &case.machine {
            // Together: a value may begin with a dash.
            arguments.push(format!("{flag}={value}").into());
        }
        let recipe = OsStr::new(&subject.reference);
        self.towpath(directory, "run", recipe, given, &arguments, environment)
    }

    /// `towpath run` in the case's directory, with what it printed kept beside it.
    fn towpath(
        &self,
        directory: &CaseDirectory,
        name: &str,
        recipe: &OsStr,
        rehearsal: &CaseRunFile,
        more: &[OsString],
        environment: &[Variable],
    ) -> Result<RunRecord, Abort> {
        let (stdout, stderr) = (format!("{name}.stdout"), format!("{name}.stderr"));
        let given = directory.file(&format!("{name}.rehearsal"));
        rehearsal.write(&given)?;
        let mut command = Command::new(self.host.program());
        command
            .args(["run", "--json", "--with-context", "--quiet", "--rehearsal"])
            .arg(given)
            .arg("-C")
            .arg(&directory.work)
            .args(more)
            .arg("--")
            .arg(recipe)
            .current_dir(&directory.work)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(File::create(directory.file(&stdout))?)
            .stderr(File::create(directory.file(&stderr))?);
        let status = self.children.run(&mut command)?.ok_or(Abort::Stopped)?;
        let exit = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let calls = fs::read_to_string(directory.file("calls.jsonl")).unwrap_or_default();
        let stderr = text(&directory.file(&stderr));
        Ok(RunRecord::read(exit, &fs::read(directory.file(&stdout))?, &stderr, &calls))
    }
}

type Variable = (OsString, OsString);

fn warning(problem: &Diagnostic) -> String {
    let help = problem.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
    format!("{}{help}", problem.message)
}

fn text(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
}
