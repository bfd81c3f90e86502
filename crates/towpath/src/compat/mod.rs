//! The other names: the same program with another program's flags, texts and exit codes. One table
//! has all of them.

mod agent_recipes;
mod dp;
mod meld;
mod recipe_runner;

use crate::environment::Invocation;
use crate::exit::{CommandError, Ended, ErrorKind, Exit};
use crate::terminal::out;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_core::nearest;

#[derive(Debug)]
pub struct OtherName {
    pub name: &'static str,
    /// What it does for its users.
    pub what: &'static str,
    pub run: fn(&[OsString], &Invocation) -> Ended,
}

pub const NAMES: &[OtherName] = &[
    OtherName { name: "recipe-runner-rs", what: "runs step recipes", run: recipe_runner::run },
    OtherName { name: "agent-recipes", what: "runs state machines", run: agent_recipes::run },
    OtherName { name: "dp", what: "corrects commands", run: dp::run },
    OtherName { name: "meld", what: "renders documents", run: meld::run },
];

/// Answers where the program was started under another name.
pub fn by_program_name(invocation: &Invocation) -> Option<Ended> {
    let other = NAMES.iter().find(|other| other.name == invocation.name())?;
    Some((other.run)(invocation.rest(), invocation))
}

/// Answers `towpath as NAME …`; its help is left to the parser.
pub fn by_as(invocation: &Invocation) -> Option<Ended> {
    let (first, arguments) = invocation.rest().split_first()?;
    let help = arguments.first().is_some_and(|a| a == "--help" || a == "-h");
    (first == "as" && !help).then(|| run_as(arguments, invocation))
}

pub fn run_as(arguments: &[OsString], invocation: &Invocation) -> Ended {
    let Some((name, rest)) = arguments.split_first() else {
        let message = format!("towpath as NAME …: NAME is one of {}", names());
        return Err(CommandError::bad_input(message)).into();
    };
    match NAMES.iter().find(|other| other.name == name) {
        Some(other) => (other.run)(rest, invocation),
        None => Err(unknown(&name.to_string_lossy())).into(),
    }
}

/// Prints the version where nothing else is asked for, as the argument parser would print it. To
/// build the parser first would take longer than the rest of the start.
pub fn answer_version(name: &str, arguments: &[OsString]) -> bool {
    let asked = arguments.first().is_some_and(|a| a == "--version" || a == "-V");
    if asked {
        out::stdout(format!("{name} {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
    }
    asked
}

/// Prints what is wrong with the arguments on stderr, or help on stdout.
fn usage(error: &clap::Error, exit: Exit) -> Result<Exit, CommandError> {
    let text = error.render().to_string();
    if error.use_stderr() {
        out::stderr(text.as_bytes());
        let error = CommandError::new(exit, ErrorKind::BadInput, text);
        return Err(CommandError { shown: true, ..error });
    }
    out::stdout(text.as_bytes());
    Ok(Exit::Done)
}

fn unknown(name: &str) -> CommandError {
    let near = nearest(name, NAMES.iter().map(|other| other.name));
    let hint = near
        .map_or_else(|| format!("one of {}", names()), |near| format!("did you mean `{near}`?"));
    CommandError::bad_input(format!("towpath has no other name `{name}`: {hint}"))
}

fn names() -> String {
    NAMES.iter().map(|other| other.name).collect::<Vec<_>>().join(", ")
}

/// The links of a directory that lead to this program: the very path, or the same file.
pub fn links_in(directory: &Path, target: &Path) -> Vec<PathBuf> {
    let real = target.canonicalize();
    let is_ours = |link: &PathBuf| {
        let led = link.read_link().is_ok_and(|to| to == target);
        let same = || matches!((link.canonicalize(), &real), (Ok(a), Ok(b)) if a == *b);
        let is_link = link.symlink_metadata().is_ok_and(|found| found.is_symlink());
        is_link && (led || same())
    };
    NAMES.iter().map(|other| directory.join(other.name)).filter(is_ours).collect()
}
