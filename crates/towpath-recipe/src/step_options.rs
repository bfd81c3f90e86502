//! The options of commands: what a recipe states for all its steps, and a step for itself. They are
//! passed as a whole, to a plan, to a job, to `explain` and to JSON: a new one is a field here, and a
//! line in `read/step.rs`.

use crate::dialect::Dialect;
use serde::Serialize;
use towpath_shell::FailFast;

/// The options as they are stated; none where nothing is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StepOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_fast: Option<bool>,
}

/// The options that a command has, whoever stated them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CommandOptions {
    pub sandbox: bool,
    /// Its first failing line ends it.
    pub fail_fast: bool,
}

impl CommandOptions {
    /// The words for them beside a step, wherever one is shown before it runs.
    pub fn notes(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.sandbox.then_some("in a sandbox").into_iter()
    }
}

impl StepOptions {
    /// These, and the others where they state nothing.
    pub(crate) fn or(self, others: StepOptions) -> StepOptions {
        StepOptions {
            sandbox: self.sandbox.or(others.sandbox),
            fail_fast: self.fail_fast.or(others.fail_fast),
        }
    }

    pub(crate) fn fails_on(self, dialect: Dialect) -> FailFast {
        match self.fail_fast {
            Some(true) => FailFast::Strict,
            Some(false) => FailFast::Off,
            None => dialect.fails_on(),
        }
    }

    /// The options of a command; what is none has none of them.
    pub(crate) fn of_command(self, is_command: bool, dialect: Dialect) -> CommandOptions {
        CommandOptions {
            sandbox: is_command && self.sandbox.unwrap_or(false),
            fail_fast: is_command && self.fails_on(dialect) != FailFast::Off,
        }
    }
}
