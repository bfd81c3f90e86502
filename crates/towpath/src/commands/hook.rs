//! `towpath hook`: what a host runs as its hook. It is dispatched before the argument parser; this
//! file has its help.

use super::Execute;
use crate::corrections::hook;
use crate::environment::Invocation;
use crate::exit::{CommandError, Exit};
use clap::builder::PossibleValuesParser;
use towpath_corrections::host::{HookEvent, Host};

/// Answer the hook of an agent program. You need not type it.
///
/// `towpath init HOST` installs it. It reads one call of a tool from stdin, as the host describes it,
/// and prints the host's own answer. It always exits with 0: whatever goes wrong lets the call run, and
/// `towpath doctor` shows it. TOWPATH_CORRECTIONS=off turns it off.
///
/// Example: towpath hook pre --host claude-code < call.json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Before a call, after it, after a failed one, or after all calls of one message.
    #[arg(value_parser = PossibleValuesParser::new(HookEvent::ALL.map(HookEvent::name)))]
    pub event: String,
    /// The agent program.
    #[arg(long, value_name = "HOST", value_parser = PossibleValuesParser::new(Host::ALL.map(Host::name)))]
    pub host: String,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let arguments = [self.event.clone(), "--host".to_owned(), self.host.clone()];
        hook::run(&arguments.map(Into::into), invocation);
        Ok(Exit::Done)
    }
}
