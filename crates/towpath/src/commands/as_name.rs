//! `towpath as`: this program under another name, without a link.

use super::Execute;
use crate::compat;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use std::ffi::OsString;

/// Behave as another program: its flags, output and exit codes.
///
/// Example: towpath as recipe-runner-rs build.yaml --set mode=release
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The program's name, and its arguments.
    #[arg(value_name = "NAME", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        compat::run_as(&self.arguments, invocation).result
    }
}
