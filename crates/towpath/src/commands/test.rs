//! `towpath test`: recipe tests. Which files, what is printed, and what the tests take from this
//! program; `towpath-testing` runs the cases. Of the user's state it touches the trust alone.

mod expected_and_got;
mod find_test_files;
mod result_view;

use super::Execute;
use crate::environment::{Environment, Invocation, own_program};
use crate::exit::{CommandError, ErrorKind, Exit, no_thread};
use crate::session::trust::{self, ConsentSubject};
use crate::session::{read_test_file, signals};
use crate::terminal::shown_path::shown_path;
use crate::terminal::{diagnostics, out};
use result_view::View;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::Diagnostic;
use towpath_testing::{CaseResult, CaseRunner, ChildProcesses, Host, TestedRecipe, mutate};

/// Run recipe tests: the cases of NAME.test.yaml files.
///
/// Each case is a real run in a temporary directory of its own; agents answer from the test file,
/// bash steps may have stubs. Without FILE, runs all tests of the project's recipe directories and
/// below `recipes/`, `examples/` and `amplifier-bundle/`.
///
/// Tests that you name by a path run because you named them; what is only found, by its name or without FILE,
/// runs after you agreed, as with `towpath run`.
///
/// Exits with 0 if all cases pass, with 1 if one fails, with 2 for a bad test file.
///
/// Example: towpath test recipes/deploy.yaml --case "tests fail"
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Test files, recipes that have one, or directories to search.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run only cases whose name contains TEXT.
    #[arg(long, value_name = "TEXT")]
    pub case: Option<String>,
    /// Run N cases at a time [default: the number of processors]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Keep the cases' directories, and print their paths.
    #[arg(long)]
    pub keep: bool,
    /// Disable each step and each transition of a state machine, one at a time, and report those that
    /// no case notices.
    #[arg(long)]
    pub mutate: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// What the tests take from this program.
#[derive(Debug)]
struct TestHost {
    env: Environment,
    program: PathBuf,
}

impl Host for TestHost {
    fn program(&self) -> &Path {
        &self.program
    }

    fn environment(&self) -> &[(OsString, OsString)] {
        &self.env.variables
    }

    fn current_directory(&self) -> &Path {
        &self.env.current
    }

    fn expand_home(&self, path: &Path) -> PathBuf {
        self.env.expand_home(path)
    }

    fn shown(&self, path: &Path) -> String {
        shown_path(path, &self.env)
    }

    fn recipe_directories(
        &self,
        directory: &Path,
        home: Option<&Path>,
    ) -> Result<Vec<PathBuf>, String> {
        let home = home.map(Path::to_owned).or_else(|| self.env.home.clone());
        let env = Environment { home, ..self.env.clone() };
        let found =
            find_test_files::recipe_directories(&env, directory).map_err(|error| error.message)?;
        Ok(found.directories.into_iter().map(|d| d.path).collect())
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        execute(self, invocation.environment()?)
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn execute(args: &Args, env: &Environment) -> Result<Exit, CommandError> {
    let host = TestHost { env: env.clone(), program: own_program()? };
    let subjects = match subjects(&host, args)? {
        Ok(subjects) => subjects,
        Err(problems) => return Ok(refuse(&host.env, &problems, args.json)),
    };
    consent(env, &subjects, args.json)?;
    let mut subjects: Vec<TestedRecipe> = subjects.into_iter().map(|found| found.recipe).collect();
    choose(&mut subjects, args.case.as_deref())?;
    let temporary = tempfile::Builder::new()
        .prefix("towpath-test-")
        .tempdir()
        .and_then(|made| Ok((made.path().canonicalize()?, made)));
    let (directory, temporary) = temporary
        .map_err(|e| CommandError::setup(format!("cannot create a temporary directory: {e}")))?;
    signals::block();
    let children = Arc::new(ChildProcesses::default());
    pass_on_signals(&children)?;
    let runner = CaseRunner::new(&host, &children, &directory, args.keep);
    let view = View::new(&host.env, args.json);
    let exit = perform(&runner, &subjects, args, &view, &children);
    if args.keep {
        let _ = temporary.keep();
    }
    Ok(exit)
}

fn pass_on_signals(children: &Arc<ChildProcesses>) -> Result<(), CommandError> {
    let children = Arc::clone(children);
    let listening = signals::each(move |signal| match signal {
        libc::SIGTSTP => {
            children.suspend();
            signals::stop_here();
            children.resume();
        }
        signal => children.stop(signal),
    });
    listening.map_err(no_thread)
}

fn perform(
    runner: &CaseRunner<'_>,
    subjects: &[TestedRecipe],
    args: &Args,
    view: &View,
    children: &ChildProcesses,
) -> Exit {
    let jobs = args.jobs.map(std::num::NonZeroUsize::get);
    let jobs = jobs.or_else(|| Some(std::thread::available_parallelism().ok()?.get()));
    let jobs = jobs.unwrap_or(2);
    let results = runner.run_all(subjects, jobs, view);
    let passed = results.iter().flatten().all(|r| r.as_ref().is_some_and(CaseResult::passed));
    let mutants = (args.mutate && passed).then(|| mutate(runner, subjects, &results, jobs, view));
    if let Some(signal) = children.stopped() {
        view.stopped();
        return Exit::of_signal(signal);
    }
    let noticed = mutants.iter().flatten().flatten().all(|mutant| mutant.noticed_by.is_some());
    view.end(subjects, &results, args.mutate, mutants.as_deref());
    if passed && noticed { Exit::Done } else { Exit::Failed }
}

/// A recipe with its tests, and whether the user named their file.
struct Found {
    recipe: TestedRecipe,
    named: bool,
}

/// Asks as `run` does before anything runs that was only found in a working tree: the tests, whose cases have
/// commands, and their recipe.
fn consent(env: &Environment, subjects: &[Found], json: bool) -> Result<(), CommandError> {
    let found = subjects.iter().filter(|found| !found.named).map(|found| &found.recipe);
    let mut open = Vec::new();
    for TestedRecipe { suite, program, .. } in found {
        let tests = ConsentSubject::of_tests(&suite.path, &suite.source.text);
        let Some(program) = program else {
            return Err(CommandError::new(
                Exit::Setup,
                ErrorKind::NotTrusted,
                format!(
                    "{} calls recipes that only its cases have, so that they cannot be shown before they run; \
                     to agree to them, name the file: towpath test {}",
                    shown_path(&suite.path, env),
                    tests.argument(env)
                ),
            ));
        };
        open.push(tests);
        if let Some(path) = program.plan.recipes.first().and_then(|recipe| recipe.path.as_ref()) {
            open.push(ConsentSubject::of_recipe(env, Path::new(path), &[], json)?);
        }
    }
    trust::consent_to(env, &open)
}

/// Reads every test file and checks every recipe; what is wrong comes back, all at once.
fn subjects(
    host: &TestHost,
    args: &Args,
) -> Result<Result<Vec<Found>, Vec<Diagnostic>>, CommandError> {
    let (mut subjects, mut wrong) = (Vec::new(), Vec::new());
    let (paths, named) = find_test_files::files(&host.env, &args.files)?;
    for (at, path) in paths.into_iter().enumerate() {
        let (suite, problems) = read_test_file::suite(&host.env, &path)?;
        wrong.extend(problems);
        let Some(suite) = suite else { continue };
        let beside = path.parent().unwrap_or(Path::new("/"));
        let search = find_test_files::recipe_directories(&host.env, beside)?.directories;
        let search = search.into_iter().map(|d| d.path).collect();
        match TestedRecipe::new(host, suite, search) {
            Ok(recipe) => subjects.push(Found { recipe, named: at < named }),
            Err(problems) => wrong.extend(problems),
        }
    }
    Ok(if wrong.iter().any(Diagnostic::is_error) { Err(wrong) } else { Ok(subjects) })
}

fn refuse(env: &Environment, problems: &[Diagnostic], json: bool) -> Exit {
    if json {
        let shown: Vec<serde_json::Value> =
            problems.iter().map(diagnostics::problem_json).collect();
        out::json(&serde_json::json!({ "schema": 1, "success": false, "problems": shown }));
    }
    diagnostics::draw(problems, env.color);
    let mut files: Vec<&str> = Vec::new();
    for label in problems.iter().filter_map(|p| p.labels.first()) {
        if !files.contains(&label.source.name.as_str()) {
            files.push(&label.source.name);
        }
    }
    let files = if files.is_empty() { "the tests".to_owned() } else { files.join(", ") };
    out::note(diagnostics::tally(problems, &files));
    Exit::BadInput
}

/// Keeps the cases that the user asked for.
fn choose(subjects: &mut Vec<TestedRecipe>, wanted: Option<&str>) -> Result<(), CommandError> {
    let Some(wanted) = wanted else { return Ok(()) };
    for subject in subjects.iter_mut() {
        subject.suite.cases.retain(|case| case.name.contains(wanted));
    }
    subjects.retain(|subject| !subject.suite.cases.is_empty());
    if subjects.is_empty() {
        return Err(CommandError::bad_input(format!("no case has `{wanted}` in its name")));
    }
    Ok(())
}
