//! One case, from its empty directory to what is wrong with it. The recipe runs in a process of
//! its own, by the same command a person would type; so do git, `setup` and `checks`, as recipes
//! of ours, so that nothing they start can outlive them.

use super::cast::Cast;
use super::compare::Comparison;
use super::crew::Crew;
use super::find;
use super::mutate::Change;
use super::place::{Place, remove};
use super::problem::Problem;
use super::record::Record;
use super::steps::{Steps, Workers};
use super::subject::Subject;
use super::suite::Case;
use crate::environment::Environment;
use crate::rehearsal::{Ends, Rehearsal};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use towpath_core::guarded_git;

/// What the agents of a case answer.
const SCRIPT: &str = "agents.jsonl";
const COMMIT: &str = "git init -q && git add -A && git commit -q --allow-empty -m Start";

/// Where cases are played.
#[derive(Debug)]
pub struct Stage<'a> {
    pub env: &'a Environment,
    /// This program.
    pub program: PathBuf,
    pub crew: &'a Crew,
    pub directory: PathBuf,
    pub keep: bool,
    pub played: AtomicUsize,
}

/// What became of a case.
#[derive(Debug, Default)]
pub struct Played {
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
    pub took: Duration,
    /// The directory in which the recipe ran, where it was kept.
    pub directory: Option<PathBuf>,
    /// The paths of the steps that ran.
    pub started: Vec<String>,
    /// The transitions that a machine took: steps with their outcomes.
    pub taken: Vec<(String, String)>,
}

/// Why a case has no record to compare.
enum Cut {
    /// We were told to stop: there is nothing to say about it.
    Stopped,
    Problem(Box<Problem>),
}

impl From<String> for Cut {
    fn from(message: String) -> Cut {
        Cut::Problem(Box::new(Problem::new("case", message)))
    }
}

impl From<std::io::Error> for Cut {
    fn from(error: std::io::Error) -> Cut {
        Cut::from(error.to_string())
    }
}

impl Stage<'_> {
    /// Plays a case, with one change of the recipe where somebody wants to know who notices. None when
    /// we were told to stop.
    pub fn play(&self, subject: &Subject, case: &Case, change: Option<&Change>) -> Option<Played> {
        let began = Instant::now();
        let number = self.played.fetch_add(1, Ordering::SeqCst) + 1;
        let mut played = Played::default();
        let place = match Place::new(&self.directory, number, &case.name) {
            Ok(place) => place,
            Err(error) => {
                let told = format!("{}: {error}", self.directory.display());
                played.problems.push(Problem::new("case", told));
                return Some(played);
            }
        };
        let end = self.in_place(&place, subject, case, change, &mut played);
        if self.keep && change.is_none() {
            played.directory = Some(place.work);
        } else {
            remove(&place.root);
        }
        played.took = began.elapsed();
        match end {
            Ok(()) => {}
            Err(Cut::Stopped) => return None,
            Err(Cut::Problem(problem)) => played.problems.push(*problem),
        }
        Some(played)
    }

    fn in_place(
        &self,
        place: &Place,
        subject: &Subject,
        case: &Case,
        change: Option<&Change>,
        played: &mut Played,
    ) -> Result<(), Cut> {
        place.fill(&subject.suite, case)?;
        let environment = place.environment(self.env, case);
        self.prepare(place, case, &environment)?;
        let mut search = Vec::new();
        // The search for a project's top ends at the case's own home directory.
        let inside = Environment { home: Some(place.home.clone()), ..self.env.clone() };
        let here = find::places(&inside, &place.work).map_err(|stop| stop.message)?;
        for directory in here.directories.into_iter().map(|d| d.path).chain(subject.search.clone())
        {
            if !search.contains(&directory) {
                search.push(directory);
            }
        }
        let resolved = subject.resolve(&place.work, &search, &case.set);
        let unread = resolved.problems.iter().filter(|p| p.code == "unread-input");
        played.warnings = unread
            .map(|p| {
                format!("{}{}", p.message, {
                    p.help.as_ref().map_or(String::new(), |help| format!("; {help}"))
                })
            })
            .collect();
        let steps = resolved.program.as_ref().map(Steps);
        let idle = match (change, steps) {
            (Some(Change::Idle { step }), Some(steps)) => steps.workers(step),
            _ => Workers::default(),
        };
        let cast = Cast::new(place, case, &idle)?;
        let given = Rehearsal {
            inputs: case.set.clone(),
            substitutes: cast.substitutes.iter().cloned().collect(),
            ends: change.and_then(|change| {
                let outcome = change.outcome()?.to_owned();
                Some(Ends { step: change.step().to_owned(), outcome })
            }),
        };
        fs::write(place.file(SCRIPT), &cast.script)?;
        let record = self.run(place, subject, case, &given, &search, &environment)?;
        played.started =
            record.steps.iter().filter(|s| s.started).map(|s| s.path.clone()).collect();
        played.taken = record
            .steps
            .iter()
            .filter_map(|s| Some((s.path.clone(), s.outcome.clone()?)))
            .collect();
        let comparison = Comparison {
            suite: &subject.suite,
            case,
            cast: &cast,
            record: &record,
            steps,
            idle: &idle,
            work: &place.work,
        };
        played.problems = comparison.problems();
        if record.status == case.expect.status() {
            played.problems.extend(self.check(place, case, &environment)?);
        }
        Ok(())
    }

    /// Git and `setup`.
    fn prepare(&self, place: &Place, case: &Case, env: &[Variable]) -> Result<(), Cut> {
        let git = case.git.then(|| ("git".to_owned(), guarded_git() + COMMIT));
        let setup = case.setup.clone().map(|text| ("setup".to_owned(), text));
        let texts: Vec<(String, String)> = git.into_iter().chain(setup).collect();
        let record = self.own(place, "prepare", &texts, env)?;
        let Some(failed) = record.and_then(|record| {
            (record.status != "done").then(|| {
                let what = record.failed_at.clone().unwrap_or_else(|| "the case".to_owned());
                (what, record.error().to_owned())
            })
        }) else {
            return Ok(());
        };
        let (what, error) = failed;
        let problem = Problem::new("setup", format!("{what} failed before the recipe ran"));
        Err(Cut::Problem(Box::new(problem.with("it said", error))))
    }

    fn check(&self, place: &Place, case: &Case, env: &[Variable]) -> Result<Vec<Problem>, Cut> {
        let texts = (1..).zip(&case.expect.checks);
        let texts: Vec<(String, String)> =
            texts.map(|(number, text)| (format!("check-{number}"), text.clone())).collect();
        let Some(record) = self.own(place, "checks", &texts, env)? else {
            return Ok(Vec::new());
        };
        let mut problems = Vec::new();
        for ((id, text), step) in texts.iter().zip(&record.steps) {
            if step.status == "completed" && step.path == *id {
                continue;
            }
            let problem = Problem::new("checks", format!("a check failed: {}", text.trim()));
            let printed = [step.output.trim(), step.error.as_str()].join("\n");
            problems.push(problem.with("it said", printed.trim()));
        }
        if record.steps.len() != texts.len() {
            problems.push(
                Problem::new("checks", "the checks could not run").with("it said", record.refused),
            );
        }
        Ok(problems)
    }

    /// Runs bash texts as the steps of a recipe of ours, all of them whatever fails; none where
    /// there is nothing to run.
    fn own(
        &self,
        place: &Place,
        name: &str,
        texts: &[(String, String)],
        environment: &[Variable],
    ) -> Result<Option<Record>, Cut> {
        if texts.is_empty() {
            return Ok(None);
        }
        let goes_on = name == "checks";
        let steps: Vec<serde_json::Value> = texts
            .iter()
            .map(|(id, _)| json!({ "id": id, "command": ":", "continue_on_error": goes_on }))
            .collect();
        let limit = json!({ "max_total_steps": texts.len() });
        let recipe = json!({ "name": name, "recursion": limit, "steps": steps });
        let file = place.file(&format!("{name}.json"));
        fs::write(&file, recipe.to_string())?;
        let rehearsal =
            Rehearsal { substitutes: texts.iter().cloned().collect(), ..Rehearsal::default() };
        self.towpath(place, name, file.as_os_str(), &rehearsal, &[], environment).map(Some)
    }

    fn run(
        &self,
        place: &Place,
        subject: &Subject,
        case: &Case,
        given: &Rehearsal,
        search: &[PathBuf],
        environment: &[Variable],
    ) -> Result<Record, Cut> {
        let mut arguments: Vec<OsString> = vec!["--script".into(), place.file(SCRIPT).into()];
        arguments.extend(["--calls".into(), place.file("calls.jsonl").into()]);
        for directory in search {
            arguments.extend(["-R".into(), directory.into()]);
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
        self.towpath(place, "run", recipe, given, &arguments, environment)
    }

    /// `towpath run` in the case's directory, with what it printed kept beside it.
    fn towpath(
        &self,
        place: &Place,
        name: &str,
        recipe: &OsStr,
        rehearsal: &Rehearsal,
        more: &[OsString],
        environment: &[Variable],
    ) -> Result<Record, Cut> {
        let (stdout, stderr) = (format!("{name}.stdout"), format!("{name}.stderr"));
        let given = place.file(&format!("{name}.rehearsal"));
        rehearsal.write(&given)?;
        let mut command = Command::new(&self.program);
        command
            .args(["run", "--json", "--with-context", "--quiet", "--rehearsal"])
            .arg(given)
            .arg("-C")
            .arg(&place.work)
            .args(more)
            .arg("--")
            .arg(recipe)
            .current_dir(&place.work)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(File::create(place.file(&stdout))?)
            .stderr(File::create(place.file(&stderr))?);
        let status = self.crew.run(&mut command)?.ok_or(Cut::Stopped)?;
        let exit = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let calls = fs::read_to_string(place.file("calls.jsonl")).unwrap_or_default();
        let said = text(&place.file(&stderr));
        Ok(Record::read(exit, &fs::read(place.file(&stdout))?, &said, &calls))
    }
}

type Variable = (OsString, OsString);

fn text(file: &Path) -> String {
    String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned()
}
