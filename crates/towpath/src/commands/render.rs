//! `towpath render`: a document with what its commands print, and its values.

use super::Execute;
use crate::documents::{self, Format, RenderRequest, Writes};
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::session::time_flags;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_document::Permitted;
use towpath_shell::FailFast;

const RUNNING: &str = "Running";
const OUTPUT: &str = "Output";

/// Render a document that runs its own commands.
///
/// A line such as `@run [git log -1 --format=%h]` is replaced by what the command prints, `{{name}}`
/// by a value; everything else stays as it is, byte for byte. If a command fails, nothing is
/// printed. Check a document without running it: towpath validate guide.md. The whole language is in docs/documents.md.
///
/// Example: towpath render guide.md -o GUIDE.md
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The document; `-` is standard input. With --in-place or --list-commands also several.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Set a variable of the document, whatever the document sets it to. Can be repeated.
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
    #[arg(long, value_name = "SECONDS", value_parser = time_flags::parsed, help_heading = RUNNING)]
    timeout: Option<Duration>,
    /// Do not fail a command at its first failing line or part of a pipe.
    #[arg(long, help_heading = RUNNING)]
    no_fail_fast: bool,
    /// Continue after a command that fails: leave a message where it is, and exit with 1.
    #[arg(short, long, help_heading = RUNNING)]
    keep_going: bool,
    /// Run nothing: leave commands, and what depends on them, as they are written.
    #[arg(long, conflicts_with_all = ["list_commands", "regions"], help_heading = RUNNING)]
    no_run: bool,
    /// List what would run and what is read, and run nothing.
    #[arg(long, help_heading = RUNNING)]
    list_commands: bool,
    /// Run only calls of this defined command. Can be repeated.
    #[arg(long, value_name = "NAME", help_heading = RUNNING)]
    allow: Vec<String>,
    /// Run only commands written as `@run [...]`, and those that --allow names.
    #[arg(long, help_heading = RUNNING)]
    allow_shell: bool,
    /// Read files outside of the project also with --no-run, --list-commands and --allow.
    #[arg(long, help_heading = RUNNING)]
    allow_read: bool,
    /// Print the definition, the parameters and the command of each call.
    #[arg(short, long, help_heading = RUNNING)]
    verbose: bool,
    /// Render again whenever the document or a file that it reads changes.
    #[arg(short, long, conflicts_with_all = ["check", "list_commands", "no_run"], help_heading = RUNNING)]
    watch: bool,
    /// Write to this file, all at once; `-` is standard output.
    #[arg(short, long, value_name = "FILE", conflicts_with = "check", help_heading = OUTPUT)]
    output: Option<PathBuf>,
    /// Compare with this file, and exit with 1 if it differs; with --in-place each file with itself.
    #[arg(long, value_name = "FILE", num_args = 0..=1, help_heading = OUTPUT)]
    check: Option<Option<PathBuf>>,
    /// Replace the text between `<!-- towpath:begin NAME -->` and `<!-- towpath:end -->` in the files.
    #[arg(long = "in-place", conflicts_with = "output", help_heading = OUTPUT)]
    regions: bool,
    /// What to print: the document, or its nodes with their results.
    #[arg(short, long, value_enum, default_value_t, help_heading = OUTPUT)]
    format: Format,
}

impl Args {
    fn writes(&self, file: &Path) -> Writes {
        match (&self.check, &self.output) {
            (Some(compared), _) => Writes::Check(compared.as_deref().unwrap_or(file).to_owned()),
            (None, Some(output)) if output.as_os_str() == "-" => Writes::Stdout,
            (None, Some(output)) => Writes::File(output.clone()),
            (None, None) if self.regions => Writes::Regions(file.to_owned()),
            (None, None) => Writes::Stdout,
        }
    }

    fn refuse_odd_combinations(&self) -> Result<(), CommandError> {
        let refused = |message: &str| Err(CommandError::bad_input(message));
        if self.files.len() > 1 && !self.regions && !self.list_commands {
            return refused("several documents need --in-place or --list-commands");
        }
        if self.files.len() > 1 && self.watch {
            return refused("--watch takes one document");
        }
        match &self.check {
            Some(None) if !self.regions => return refused("--check needs a file to compare with"),
            Some(Some(compared)) if self.regions && !self.files.iter().all(|f| f == compared) => {
                return refused(
                    "with --in-place a file is compared with itself: write --check at the end, \
                     without a file",
                );
            }
            _ => {}
        }
        if self.regions && self.files.iter().any(|file| file.as_os_str() == "-") {
            return refused("--in-place needs a file");
        }
        // The JSON would replace the file.
        if self.regions && self.format == Format::Json && !self.list_commands {
            return refused("--in-place cannot be used with --format json");
        }
        Ok(())
    }

    fn request(&self, file: &Path) -> RenderRequest {
        let limited = self.allow_shell || !self.allow.is_empty();
        let permitted = match limited {
            true => Permitted::Only { names: self.allow.clone(), shell: self.allow_shell },
            false => Permitted::All,
        };
        RenderRequest {
            file: file.to_owned(),
            writes: self.writes(file),
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
            allow_read: self.allow_read,
            fails_on: if self.no_fail_fast { FailFast::Off } else { FailFast::On },
            keep_going: self.keep_going,
            meld: false,
            strict: self.strict,
            verbose: self.verbose,
            watch: self.watch,
        }
    }
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        self.refuse_odd_combinations()?;
        let requests: Vec<RenderRequest> =
            self.files.iter().map(|file| self.request(file)).collect();
        documents::execute_all(invocation.environment()?, &requests)
    }

    fn json(&self) -> bool {
        self.format == Format::Json
    }
}
