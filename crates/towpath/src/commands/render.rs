//! `towpath render`: a document with what its commands print, and its values.

use super::Execute;
use crate::documents::{self, Format, RenderRequest, Writes};
use crate::environment::Invocation;
use crate::exit_codes_and_errors::{CommandError, Exit};
use crate::session::timeout_flags;
use std::path::PathBuf;
use std::time::Duration;
use towpath_document::Permitted;

const RUNNING: &str = "Running";
const OUTPUT: &str = "Output";

/// Render a document that runs its own commands.
///
/// A line such as `@run [git log -1 --format=%h]` is replaced by what the command prints, `{{name}}`
/// by a value; everything else stays as it is, byte for byte. If a command fails, nothing is
/// printed. The whole language is in docs/documents.md.
///
/// Example: towpath render guide.md -o GUIDE.md
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The document; `-` is standard input.
    file: PathBuf,
    /// Set a variable of the document. Can be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Mask the value of this environment variable in everything. Can be repeated.
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Run commands in this directory [default: the document's]
    #[arg(long, value_name = "DIR", help_heading = RUNNING)]
    cwd: Option<PathBuf>,
    /// End a command after SECONDS [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = timeout_flags::parsed, help_heading = RUNNING)]
    timeout: Option<Duration>,
    /// Run nothing: leave commands, and what depends on them, as they are written.
    #[arg(long, conflicts_with_all = ["list_commands", "regions"], help_heading = RUNNING)]
    no_run: bool,
    /// List what would run, and run nothing.
    #[arg(long, help_heading = RUNNING)]
    list_commands: bool,
    /// Run only calls of this defined command. Can be repeated.
    #[arg(long, value_name = "NAME", help_heading = RUNNING)]
    allow: Vec<String>,
    /// Run only commands written as `@run [...]`, and those that --allow names.
    #[arg(long, help_heading = RUNNING)]
    allow_shell: bool,
    /// Print the definition, the parameters and the command of each call.
    #[arg(short, long, help_heading = RUNNING)]
    verbose: bool,
    /// Render again whenever the document or a file that it reads changes.
    #[arg(short, long, conflicts_with_all = ["check", "list_commands", "no_run"], help_heading = RUNNING)]
    watch: bool,
    /// Write to this file, all at once.
    #[arg(short, long, value_name = "FILE", conflicts_with = "check", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Compare with this file, and exit with 1 if it differs.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    check: Option<PathBuf>,
    /// Replace the text between `<!-- towpath:begin NAME -->` and `<!-- towpath:end -->` in the file.
    #[arg(long = "in-place", conflicts_with = "output", help_heading = OUTPUT)]
    regions: bool,
    /// What to print: the document, or its nodes with their results.
    #[arg(short, long, value_enum, default_value_t, help_heading = OUTPUT)]
    format: Format,
}

impl Args {
    fn writes(&self) -> Writes {
        match (&self.check, &self.output) {
            (Some(file), _) => Writes::Check(file.clone()),
            (None, Some(file)) => Writes::File(file.clone()),
            (None, None) if self.regions => Writes::File(self.file.clone()),
            (None, None) => Writes::Stdout,
        }
    }

    fn refuse_odd_combinations(&self) -> Result<(), CommandError> {
        if self.regions && self.file.as_os_str() == "-" {
            return Err(CommandError::bad_input("--in-place needs a file"));
        }
        // The JSON would replace the file.
        if self.regions && self.format == Format::Json && !self.list_commands {
            return Err(CommandError::bad_input("--in-place cannot be used with --format json"));
        }
        Ok(())
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let limited = self.allow_shell || !self.allow.is_empty();
        let permitted = match limited {
            true => Permitted::Only { names: self.allow.clone(), shell: self.allow_shell },
            false => Permitted::All,
        };
        self.refuse_odd_combinations()?;
        let request = RenderRequest {
            file: self.file.clone(),
            writes: self.writes(),
            format: self.format,
            regions: self.regions,
            set: self.set.clone(),
            secrets: self.secret.clone(),
            directory: self.cwd.clone(),
            home: None,
            timeout: self.timeout,
            no_run: self.no_run,
            list_commands: self.list_commands,
            permitted,
            strict: self.strict,
            verbose: self.verbose,
            watch: self.watch,
        };
        documents::execute(invocation.environment()?, &request)
    }

    fn json(&self) -> bool {
        self.format == Format::Json
    }
}
