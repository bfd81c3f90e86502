//! One file per command: its arguments, whose doc comments are its help, and what it does. Nothing
//! but `cli.rs` uses this module, and no command uses another.

pub mod as_name;
pub mod cancel;
pub mod completions;
pub mod doctor;
pub mod explain;
pub mod failures;
pub mod help;
pub mod hook;
pub mod init;
pub mod link;
pub mod list;
pub mod logs;
pub mod man;
pub mod new;
pub mod overview;
pub mod recipes;
pub mod render;
pub mod resume;
pub mod rules;
pub mod run;
pub mod runs;
pub mod schema;
pub mod settings;
pub mod show;
pub mod skill;
pub mod test;
pub mod tool;
pub mod trust;
pub mod ui;
pub mod uninstall;
pub mod validate;

use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};

/// A command, as its arguments.
pub trait Execute {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError>;

    /// Whether it prints JSON: then an error is printed as JSON too.
    fn json(&self) -> bool {
        false
    }
}
