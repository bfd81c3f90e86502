//! `towpath man`: the manual pages of all commands, written from the same text as `--help`. It
//! writes pages and replaces pages of its own; another file of that name is left alone.

use super::Execute;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Write the manual pages of all commands to a directory.
///
/// `man towpath` and `man towpath-run` find them if man searches that directory.
///
/// Example: towpath man ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory; created if it does not exist.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}

/// How every page of ours begins its first command.
const TITLE: &str = ".TH towpath";

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let directory = env.current.join(env.expand_home(&self.directory));
        let shown = shown_path(&directory, env);
        std::fs::create_dir_all(&directory)
            .map_err(|e| CommandError::setup(format!("{shown}: {e}")))?;
        let mut command = (invocation.command_line)();
        command.build();
        let mut pages = Vec::new();
        collect(command, &mut pages);
        if let Some((name, _)) = pages.iter().find(|(name, _)| !is_ours(&directory.join(name))) {
            return Err(CommandError::bad_input(format!(
                "{shown}/{name} exists and is not a page of towpath; nothing was written"
            )));
        }
        for (name, page) in &pages {
            write(&directory.join(name), page)
                .map_err(|e| CommandError::setup(format!("{shown}/{name}: {e}")))?;
        }
        out::line(format!("towpath.1 and a page for each command are in {shown}"));
        Ok(Exit::Done)
    }
}

/// The pages of a command and all below it, by their file names.
fn collect(command: clap::Command, pages: &mut Vec<(String, Vec<u8>)>) {
    let inner: Vec<clap::Command> =
        command.get_subcommands().filter(|c| !c.is_hide_set()).cloned().collect();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let page = clap_mangen::Man::new(command)
        .title(&name)
        // Not known here; without it the other two would move up.
        .date(" ")
        .source(concat!("towpath ", env!("CARGO_PKG_VERSION")))
        .manual("Towpath");
    let mut text = Vec::new();
    page.render(&mut text).expect("memory takes what is written");
    pages.push((format!("{name}.1"), text));
    for command in inner {
        collect(command, pages);
    }
}

/// Whether there is no such file, or it is a page of ours.
fn is_ours(path: &Path) -> bool {
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).lines().any(|line| line.starts_with(TITLE)),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

fn write(path: &Path, page: &[u8]) -> std::io::Result<()> {
    // A link would have us write where it leads.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::write(path, page)
}
