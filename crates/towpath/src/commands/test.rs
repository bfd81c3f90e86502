//! `towpath test`: recipe tests. Every case is a real run in a directory of its own, with agents
//! that answer from the test file; this command prepares, plays, compares and tells. It never
//! touches the person's state.

mod calls;
mod cast;
mod compare;
mod crew;
mod difference;
mod find;
mod matcher;
mod mutate;
mod place;
mod play;
mod problem;
mod read;
mod record;
mod steps;
mod subject;
mod suite;
mod together;
mod view;

use crate::environment::Environment;
use crate::exit::{CommandError, Exit, no_thread};
use crate::files;
use crate::session::signals;
use crate::terminal::diagnostics;
use crate::terminal::out;
use crate::terminal::table::shown_path;
use crew::Crew;
use play::{Played, Stage};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use subject::Subject;
use towpath_core::{Diagnostic, Source};
use view::View;

/// Run recipe tests: the cases of NAME.test.yaml files.
///
/// Each case is a real run in a temporary directory of its own; agents answer from the test file,
/// bash steps may have stubs. Without a file: all tests beside the project's recipes, and below
/// `recipes/`, `examples/` and `amplifier-bundle/`.
///
/// Ends with 0 when all cases pass, with 1 when one fails, with 2 for a bad test file.
///
/// Example: towpath test recipes/deploy.yaml --case "tests fail"
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Test files, recipes that have one, or directories to search.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only cases whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub case: Option<String>,
    /// How many cases run at once; as many as there are processors when it is not given.
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Keep the cases' directories, and say where they are.
    #[arg(long)]
    pub keep: bool,
    /// Let each step do nothing, and each transition of a machine end the run, one at a time: some
    /// case must notice.
    #[arg(long)]
    pub mutate: bool,
    /// One JSON object on stdout.
    #[arg(long)]
    pub json: bool,
}

pub fn execute(args: &Args) -> Result<Exit, CommandError> {
    let env = Environment::read()?;
    let mut subjects = match subjects(&env, args)? {
        Ok(subjects) => subjects,
        Err(problems) => return Ok(refuse(&env, &problems, args.json)),
    };
    choose(&mut subjects, args.case.as_deref())?;
    let program = std::env::current_exe()
        .map_err(|e| CommandError::setup(format!("this program cannot be found: {e}")))?;
    let temporary = tempfile::Builder::new()
        .prefix("towpath-test-")
        .tempdir()
        .and_then(|made| Ok((made.path().canonicalize()?, made)));
    let (directory, temporary) = temporary
        .map_err(|e| CommandError::setup(format!("a temporary directory cannot be made: {e}")))?;
    signals::block();
    let crew = Arc::new(Crew::default());
    let told = Arc::clone(&crew);
    let listening = signals::each(move |signal| match signal {
        libc::SIGTSTP => told.suspend(),
        signal => told.stop(signal),
    });
    listening.map_err(no_thread)?;
    let stage = Stage {
        env: &env,
        program,
        crew: &crew,
        directory,
        keep: args.keep,
        played: AtomicUsize::new(0),
    };
    let exit = perform(&stage, &subjects, args);
    if args.keep {
        let _ = temporary.keep();
    }
    Ok(exit)
}

fn perform(stage: &Stage<'_>, subjects: &[Subject], args: &Args) -> Exit {
    let view = View::new(stage.env, args.json);
    let jobs = args.jobs.map(std::num::NonZeroUsize::get);
    let jobs = jobs.or_else(|| Some(std::thread::available_parallelism().ok()?.get()));
    let jobs = jobs.unwrap_or(2);
    let played = play_all(stage, subjects, jobs, &view);
    let passed = played.iter().flatten().all(|p| p.as_ref().is_some_and(|p| p.problems.is_empty()));
    let mutants =
        (args.mutate && passed).then(|| mutate::all(stage, subjects, &played, jobs, &view));
    if let Some(signal) = stage.crew.stopped() {
        view.stopped();
        return match signal {
            libc::SIGHUP => Exit::Hangup,
            libc::SIGINT => Exit::Interrupted,
            _ => Exit::Terminated,
        };
    }
    let noticed = mutants.iter().flatten().flatten().all(|mutant| mutant.noticed_by.is_some());
    view.end(subjects, &played, args.mutate, mutants.as_deref());
    if passed && noticed { Exit::Done } else { Exit::Failed }
}

/// Plays every case; by file, then by case. None: it was cut off.
fn play_all(
    stage: &Stage<'_>,
    subjects: &[Subject],
    jobs: usize,
    view: &View,
) -> Vec<Vec<Option<Played>>> {
    let all: Vec<(usize, usize)> = subjects
        .iter()
        .enumerate()
        .flat_map(|(file, subject)| (0..subject.suite.cases.len()).map(move |case| (file, case)))
        .collect();
    let mut played: Vec<Vec<Option<Played>>> = subjects.iter().map(|_| Vec::new()).collect();
    let one = |index: usize| {
        let (file, case) = all[index];
        stage.play(&subjects[file], &subjects[file].suite.cases[case], None)
    };
    together::in_order(
        jobs,
        all.len(),
        one,
        &mut |index, end: Option<Played>| {
            let (file, case) = all[index];
            if case == 0 {
                view.file(&subjects[file]);
            }
            if let Some(end) = &end {
                view.case(&subjects[file], case, end);
            }
            played[file].push(end);
        },
        &|done| view.under_way(done, all.len(), "case"),
    );
    played
}

/// Reads every test file and looks at every recipe; what is wrong comes back, all at once.
fn subjects(
    env: &Environment,
    args: &Args,
) -> Result<Result<Vec<Subject>, Vec<Diagnostic>>, CommandError> {
    let (mut subjects, mut wrong) = (Vec::new(), Vec::new());
    for path in find::files(env, &args.files)? {
        let shown = shown_path(&path, env);
        let bytes = files::read_bytes(&path, files::MOST_TEXT)
            .map_err(|e| CommandError::bad_input(format!("cannot read {shown}: {e}")))?;
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(CommandError::bad_input(format!("{shown} is not UTF-8 text")));
        };
        let source = Source::new(shown, text.trim_start_matches('\u{feff}'));
        let (suite, problems) = read::read(&source, &path);
        wrong.extend(problems);
        match suite.map(|suite| Subject::new(env, suite)).transpose()? {
            Some(Ok(subject)) => subjects.push(subject),
            Some(Err(problems)) => wrong.extend(problems),
            None => {}
        }
    }
    Ok(if wrong.iter().any(Diagnostic::is_error) { Err(wrong) } else { Ok(subjects) })
}

fn refuse(env: &Environment, problems: &[Diagnostic], json: bool) -> Exit {
    if json {
        let told: Vec<serde_json::Value> = problems.iter().map(diagnostics::as_json).collect();
        out::json(&serde_json::json!({ "schema": 1, "success": false, "problems": told }));
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

/// Keeps the cases that a person asked for.
fn choose(subjects: &mut Vec<Subject>, wanted: Option<&str>) -> Result<(), CommandError> {
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
