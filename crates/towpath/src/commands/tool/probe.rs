//! `towpath tool probe`: the verdict on any program, without a recipe.

use super::super::Execute;
use crate::environment::{Environment, Invocation};
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::terminal::format::clean;
use crate::terminal::out;
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use crate::tools::sandbox_lines::not_enforced;
use crate::tools::tool_session::{SandboxFlags, ToolSession};
use serde_json::json;
use std::path::{Path, PathBuf};
use towpath_tool::sources::check_version;
use towpath_tool::verification::{ProbeReport, ProgramUnderTest, SandboxSetup, probe};
use towpath_tool::{Probe, VerifyAnalysis, analyze, check_tool_name};

/// Find out whether a program works.
///
/// The program's file is checked, then it is run in a sandbox with --version, and with other arguments
/// if that shows nothing. Prints the verdict, what it rests on and the check that a recipe would get.
/// Exits with 0 if it works, with 1 if that is not known.
///
/// Example: towpath tool probe /usr/bin/git
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of the program, or a name on PATH.
    program: PathBuf,
    /// The name that the program has for its users [default: the file's]
    #[arg(long)]
    name: Option<String>,
    /// The version that it should have.
    #[arg(long, value_name = "VERSION")]
    expect: Option<String>,
    #[command(flatten)]
    sandbox: SandboxFlags,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        if let Some(name) = &self.name {
            check_tool_name(name).map_err(CommandError::bad_input)?;
        }
        if let Some(version) = &self.expect {
            check_version(version).map_err(CommandError::bad_input)?;
        }
        let session = ToolSession::open(env, &self.sandbox, self.json)?;
        let program = find(env, &self.program)?;
        let file_name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tested = ProgramUnderTest {
            name: self.name.clone().unwrap_or_else(|| file_name.clone()),
            aliases: self.name.iter().map(|_| file_name.clone()).collect(),
            expected_version: self.expect.clone(),
            program,
            ..ProgramUnderTest::default()
        };
        let setup = setup(&session, &tested.program);
        let failed =
            |error: towpath_process::sandbox::SandboxError| CommandError::setup(error.to_string());
        let mut sandbox = setup.open().map_err(failed)?;
        let report = probe(&tested, &setup, &mut sandbox).map_err(failed)?;
        if self.json {
            out::json(&as_json(&report, &setup, &tested));
        } else {
            print(&Screen::new(env), &report, &setup);
        }
        Ok(if report.verdict.verdict.works() { Exit::Done } else { Exit::Failed })
    }

    fn json(&self) -> bool {
        self.json
    }
}

fn find(env: &Environment, program: &Path) -> Result<PathBuf, CommandError> {
    let text = program.to_string_lossy();
    if text.contains('/') {
        let path = env.current.join(env.expand_home(program));
        // A file that is not there is a verdict, not an error.
        let special = path.metadata().is_ok_and(|file| !file.is_file() && !file.is_dir());
        return match special {
            true => {
                Err(CommandError::bad_input(format!("{}: it is no regular file", clean(&text))))
            }
            false => Ok(path),
        };
    }
    env.on_path(&text).ok_or_else(|| {
        let text = clean(&text);
        let message = format!("no program `{text}` on PATH; for a file write ./{text}");
        CommandError::new(Exit::BadInput, ErrorKind::NotFound, message)
    })
}

/// The program's own directories are readable, and those of PATH for its interpreter.
fn setup(session: &ToolSession<'_>, program: &Path) -> SandboxSetup {
    let env = session.env;
    let mut readable = Vec::new();
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    for file in [program, &real] {
        let shown = file.parent().map_or_else(Vec::new, |directory| beside(env, directory));
        match shown.is_empty() {
            true => readable.extend(file.exists().then(|| file.to_owned())),
            false => readable.extend(shown),
        }
    }
    let mut path: Vec<PathBuf> = env.paths("PATH");
    path.retain(|directory| directory.is_absolute() && directory.is_dir());
    readable.extend(path.iter().flat_map(|directory| beside(env, directory)));
    readable.retain(|directory| directory.exists());
    readable.sort();
    readable.dedup();
    SandboxSetup {
        confinement: session.confinement.clone(),
        own_program: session.own_program.clone(),
        readable,
        path,
    }
}

/// Directories of everybody, or of all that the user has: a program in one gets its own file only.
fn is_shared(env: &Environment, directory: &Path) -> bool {
    const SHARED: &[&str] = &["/", "/tmp", "/var/tmp", "/run", "/home", "/root"];
    let home = env.home.as_deref().is_some_and(|home| home.starts_with(directory));
    home || SHARED.iter().any(|shared| directory == Path::new(shared))
        || ["/proc", "/dev", "/sys"].iter().any(|kernel| directory.starts_with(kernel))
}

/// A directory of programs with what belongs to them. Beside a `bin` directory that is all there is; in the
/// user's home, where keys and credentials may be beside it, only libraries.
fn beside(env: &Environment, directory: &Path) -> Vec<PathBuf> {
    let own = [directory.to_owned()].into_iter().filter(|own| !is_shared(env, own));
    let prefix = directory.parent().filter(|_| directory.file_name().is_some_and(|n| n == "bin"));
    let in_home = env.home.as_deref().is_some_and(|home| directory.starts_with(home));
    match prefix.filter(|prefix| !is_shared(env, prefix)) {
        Some(prefix) if !in_home => vec![prefix.to_owned()],
        Some(prefix) => {
            let libraries = ["lib", "lib64", "libexec"].map(|name| prefix.join(name));
            own.chain(libraries.into_iter().filter(|path| path.is_dir())).collect()
        }
        None => own.collect(),
    }
}

fn as_json(
    report: &ProbeReport,
    setup: &SandboxSetup,
    tested: &ProgramUnderTest,
) -> serde_json::Value {
    let mut value = serde_json::to_value(report).expect("a report can be written");
    value["schema"] = json!(1);
    value["program"] = json!(tested.program.display().to_string());
    value["sandbox"] = json!(setup.note());
    value["works"] = json!(report.verdict.verdict.works());
    // The fields of the design's analysis, of the probe that decided.
    if let Some(analysis) = deciding(report) {
        let fields = serde_json::to_value(&analysis).expect("an analysis can be written");
        for (name, field) in fields.as_object().into_iter().flatten() {
            if value.get(name).is_none() {
                value[name] = field.clone();
            }
        }
    }
    value
}

fn deciding(report: &ProbeReport) -> Option<VerifyAnalysis> {
    let command = report.verdict.command.as_ref();
    let decides = |probe: &&Probe| Some(&probe.observation.command) == command;
    report.probes.iter().find(decides).map(|probe| analyze(&probe.observation))
}

fn print(screen: &Screen, report: &ProbeReport, setup: &SandboxSetup) {
    let verdict = &report.verdict;
    let tint = if verdict.verdict.works() { Tint::Good } else { Tint::Bad };
    let word = screen.paint(tint, verdict.verdict.as_str());
    let version = verdict.version_found.as_deref().map_or(String::new(), |v| format!(" {v}"));
    out::line(format!("{}: {word}{}", clean(&report.name), clean(&version)));
    let text = verdict.evidence.text.as_deref().unwrap_or("nothing was printed");
    let ran = report.file.fault().is_none();
    let command = verdict.command.as_deref().filter(|_| ran);
    let because = command.map_or("its file".to_owned(), |command| format!("`{command}`"));
    out::line(clean(&format!("  because of {because}: {text}")));
    for warning in &verdict.warnings {
        out::line(format!("  {}", screen.paint(Tint::Attention, &clean(warning))));
    }
    if let Some(section) = &verdict.verify {
        let (command, pattern) = (&section.command, section.effective_pattern());
        let code = section.exit_code;
        out::line(clean(&format!("  check: `{command}` prints `{pattern}` with exit code {code}")));
    }
    let tried: Vec<String> =
        report.probes.iter().map(|probe| format!("`{}`", probe.observation.command)).collect();
    let tried = if ran { tried.join(", ") } else { "nothing was run".to_owned() };
    let kind = setup.note().kind;
    out::line(clean(&format!("  tried: {tried} · sandbox: {kind}")));
    let note = not_enforced(&setup.note());
    if let Some(note) = note {
        out::line(format!("  {}", screen.paint(Tint::Attention, &note)));
    }
}
