//! `towpath tool probe`: the verdict on any program, without a recipe.

use super::{CommandError, Execute, Exit, Screen, ToolFlags, ToolSession, clean, out};
use crate::environment::{Environment, Invocation};
use crate::tools::probe_program::probe_program;
use crate::tools::report::{VerdictLines, attention, extend, not_enforced};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use towpath_tool::sources::check_version;
use towpath_tool::verification::{ProbeReport, ProgramUnderTest, SandboxNote};
use towpath_tool::{analyze, check_tool_name};

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
    pub flags: ToolFlags,
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
        let session = ToolSession::open(env, &self.flags)?;
        let program = find(env, &self.program)?;
        let file_name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tested = ProgramUnderTest {
            name: self.name.clone().unwrap_or_else(|| file_name.clone()),
            aliases: self.name.iter().map(|_| file_name.clone()).collect(),
            expected_version: self.expect.clone(),
            program,
            ..ProgramUnderTest::default()
        };
        let (report, sandbox) = probe_program(&session, &tested)?;
        match self.flags.json {
            true => out::json(&as_json(&report, &sandbox, &tested)),
            false => print(&Screen::new(env), &report, &sandbox),
        }
        Ok(if report.verdict.verdict.works() { Exit::Done } else { Exit::Failed })
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
        CommandError::not_found(format!("no program `{text}` on PATH; for a file write ./{text}"))
    })
}

/// The report, and the fields of the design's analysis of the probe that decided.
fn as_json(report: &ProbeReport, sandbox: &SandboxNote, tested: &ProgramUnderTest) -> Value {
    let command = report.verdict.command.as_ref();
    let mut probes = report.probes.iter();
    let deciding = probes.find(|probe| Some(&probe.observation.command) == command);
    let mut value = deciding.map_or_else(|| json!({}), |probe| json!(analyze(&probe.observation)));
    let own = json!({
        "schema": 1,
        "program": tested.program.display().to_string(),
        "sandbox": sandbox,
        "works": report.verdict.verdict.works(),
    });
    extend(&mut value, &json!(report));
    extend(&mut value, &own);
    value
}

fn print(screen: &Screen, report: &ProbeReport, sandbox: &SandboxNote) {
    let verdict = &report.verdict;
    let ran = report.file.fault().is_none();
    let command = verdict.command.as_deref().filter(|_| ran);
    let lines = VerdictLines {
        name: &report.name,
        verdict: verdict.verdict,
        version: verdict.version_found.as_deref(),
        because: command.map_or("its file".to_owned(), |command| format!("`{command}`")),
        evidence: &verdict.evidence,
        warnings: &verdict.warnings,
        check: verdict.verify.as_ref(),
    };
    lines.print(screen);
    let tried: Vec<String> =
        report.probes.iter().map(|probe| format!("`{}`", probe.observation.command)).collect();
    let tried = if ran { tried.join(", ") } else { "nothing was run".to_owned() };
    out::line(clean(&format!("  tried: {tried} · sandbox: {}", sandbox.kind)));
    if let Some(note) = not_enforced(sandbox) {
        attention(screen, &note);
    }
}
