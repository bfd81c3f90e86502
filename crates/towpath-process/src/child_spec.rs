//! One job to start: everything its process gets, and nothing that it would inherit by accident.

use crate::sandbox::{Confinement, Policy};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use towpath_core::os_text::OsText;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildSpec {
    /// The engine's number for this job; unique among the jobs that run.
    pub id: u64,
    /// The text of the job's key: put into the job's environment to find its processes.
    pub job: String,
    /// With a `/`: this file, relative to `directory`. Without: searched on `PATH` of
    /// `environment`.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// The complete environment. The two marker variables are added by the warden.
    pub environment: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
    /// `None` is `/dev/null`.
    pub stdin: Option<PathBuf>,
    /// Created with mode 0600 when the first byte comes; emptied now if it exists. The job itself writes
    /// into a pipe; the warden moves that into the file. What is no regular file must take it without a
    /// wait.
    pub stdout: PathBuf,
    /// May be the same as `stdout`: then both share one pipe, and the order is kept.
    pub stderr: PathBuf,
    /// Whether its start is reported, too. Each report wakes its reader.
    pub report_start: bool,
    pub sandbox: Sandbox,
}

/// What a child is kept from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sandbox {
    #[default]
    None,
    /// It reaches only what the policy names, as the same user. The program of the warden is one that
    /// calls [`serve`](crate::sandbox::serve) for its hidden argument. What the child leaves in the
    /// background ends with it.
    Confined { confinement: Confinement, policy: Policy },
}

impl Sandbox {
    pub fn is_none(&self) -> bool {
        *self == Sandbox::None
    }
}

/// A `ChildSpec` as it travels: the same fields, each byte string as JSON can represent it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireSpec {
    id: u64,
    job: String,
    program: OsText,
    arguments: Vec<OsText>,
    environment: Vec<(OsText, OsText)>,
    directory: OsText,
    stdin: Option<OsText>,
    stdout: OsText,
    stderr: OsText,
    report_start: bool,
    #[serde(default, skip_serializing_if = "Sandbox::is_none")]
    sandbox: Sandbox,
}

impl From<&ChildSpec> for WireSpec {
    fn from(spec: &ChildSpec) -> WireSpec {
        let pair = |(name, value): &(OsString, OsString)| (name.into(), value.into());
        WireSpec {
            id: spec.id,
            job: spec.job.clone(),
            program: (&spec.program).into(),
            arguments: spec.arguments.iter().map(OsText::from).collect(),
            environment: spec.environment.iter().map(pair).collect(),
            directory: (&spec.directory).into(),
            stdin: spec.stdin.as_ref().map(OsText::from),
            stdout: (&spec.stdout).into(),
            stderr: (&spec.stderr).into(),
            report_start: spec.report_start,
            sandbox: spec.sandbox.clone(),
        }
    }
}

impl From<WireSpec> for ChildSpec {
    fn from(wire: WireSpec) -> ChildSpec {
        ChildSpec {
            id: wire.id,
            job: wire.job,
            program: wire.program.0,
            arguments: wire.arguments.into_iter().map(|t| t.0).collect(),
            environment: wire.environment.into_iter().map(|(n, v)| (n.0, v.0)).collect(),
            directory: wire.directory.0.into(),
            stdin: wire.stdin.map(|t| t.0.into()),
            stdout: wire.stdout.0.into(),
            stderr: wire.stderr.0.into(),
            report_start: wire.report_start,
            sandbox: wire.sandbox,
        }
    }
}
