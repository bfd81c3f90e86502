//! `meld`: its flags over Towpath's documents. The result goes to a file beside the document unless
//! `--stdout` asks for it. What of the old program has no meaning here is refused with what to use.

use crate::documents::{self, Format, RenderRequest, Writes};
use crate::environment::{Environment, Invocation};
use crate::exit::{CommandError, Ended, Exit};
use crate::session::trust::ask;
use crate::terminal::out;
use clap::Parser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_document::Permitted;
use towpath_shell::FailFast;
use towpath_view::foreign_text::escaped;

/// Render a document that runs its own commands.
///
/// The result is written beside the document: guide.md gives guide.o.md.
///
/// Example: meld guide.md --stdout
#[derive(Debug, Parser)]
#[command(name = "meld", version, disable_help_subcommand = true)]
#[command(after_help = "The same with more: towpath render")]
struct MeldArgs {
    /// The document.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to write: md or markdown.
    #[arg(short, long, default_value = "md")]
    format: String,
    /// Write to this file.
    #[arg(short, long, value_name = "FILE", conflicts_with = "stdout")]
    output: Option<PathBuf>,
    /// Print the result instead of writing a file.
    #[arg(long)]
    stdout: bool,
    /// Replace the output file without asking.
    #[arg(long)]
    force: bool,
    /// Treat warnings as errors.
    #[arg(long, conflicts_with = "permissive")]
    strict: bool,
    /// Only warn of what is odd; this is the default. Errors stay errors.
    #[arg(long)]
    permissive: bool,
    /// What $HOMEPATH is.
    #[arg(long, value_name = "DIR")]
    home_path: Option<PathBuf>,
    /// Print the definition, the parameters and the command of each call.
    #[arg(short, long)]
    verbose: bool,
    /// The same as --verbose.
    #[arg(short, long)]
    debug: bool,
    /// Render again whenever the document changes.
    #[arg(short, long)]
    watch: bool,
}

pub fn run(arguments: &[OsString], invocation: &Invocation) -> Ended {
    if super::answer_version("meld", arguments) {
        return Ok(Exit::Done).into();
    }
    if let Some(refused) = refused_verb(arguments) {
        return Err(refused).into();
    }
    let name = OsString::from("meld");
    let parsed = MeldArgs::try_parse_from(std::iter::once(name).chain(arguments.iter().cloned()));
    match parsed {
        Ok(args) => execute(&args, invocation).into(),
        Err(error) => super::usage(&error, Exit::BadInput).into(),
    }
}

/// The verbs of the old program that mean nothing here.
fn refused_verb(arguments: &[OsString]) -> Option<CommandError> {
    let first = arguments.first()?.to_str()?;
    let instead = match first {
        "init" => "a document needs no project: write a file, then meld FILE",
        "debug-resolution" => "to see each call with its values: meld FILE --stdout --verbose",
        "debug-transform" => {
            "to see the nodes with their results: towpath render FILE --format json"
        }
        "debug-context" => "to see the nodes with their results: towpath render FILE --format json",
        _ => return None,
    };
    // A document may have such a name.
    (!Path::new(first).exists())
        .then(|| CommandError::bad_input(format!("`meld {first}` is not supported: {instead}")))
}

fn execute(args: &MeldArgs, invocation: &Invocation) -> Result<Exit, CommandError> {
    let env = invocation.environment()?;
    check_format(&args.format)?;
    if args.file == Path::new("-") && !args.stdout && args.output.is_none() {
        return Err(CommandError::bad_input(
            "standard input has no file beside it: use --stdout or -o",
        ));
    }
    let output = match args.stdout {
        true => None,
        false => Some(args.output.clone().unwrap_or_else(|| beside(&args.file))),
    };
    if let Some(output) = &output {
        allow_replacing(env, args, output)?;
    }
    let request = RenderRequest {
        file: args.file.clone(),
        writes: output.clone().map_or(Writes::Stdout, Writes::File),
        format: Format::Md,
        regions: false,
        set: Vec::new(),
        secrets: Vec::new(),
        directory: None,
        home: args.home_path.clone(),
        timeout: None,
        no_run: false,
        list_commands: false,
        permitted: Permitted::All,
        allow_read: true,
        fails_on: FailFast::Off,
        keep_going: false,
        meld: true,
        strict: args.strict,
        verbose: args.verbose || args.debug,
        watch: args.watch,
    };
    let exit = documents::execute_all(env, &[request])?;
    if let (Exit::Done, Some(output)) = (exit, &output) {
        out::note(format!("wrote {}", escaped(output)));
    }
    Ok(exit)
}

fn check_format(format: &str) -> Result<(), CommandError> {
    match format {
        "md" | "markdown" => Ok(()),
        "xml" | "llm" => Err(CommandError::bad_input(format!(
            "--format {format} is not supported: it turned headings into tags, and a document passes \
             through here as it is written; use md"
        ))),
        _ => Err(CommandError::bad_input(format!("unknown format `{format}`: use md"))),
    }
}

/// `guide.md` gives `guide.o.md`.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(".o.md");
    file.with_file_name(name)
}

fn allow_replacing(env: &Environment, args: &MeldArgs, output: &Path) -> Result<(), CommandError> {
    if args.force || !env.current.join(output).exists() {
        return Ok(());
    }
    let name = escaped(output);
    let asked = !env.unattended && env.stderr_terminal;
    if asked && ask(&format!("{name} exists. Replace it?")) {
        return Ok(());
    }
    Err(CommandError::bad_input(format!("{name} exists; to replace it: --force")))
}
