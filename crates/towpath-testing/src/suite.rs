//! A test file that has been read and checked: what each case is given, and what it expects. A file
//! with an error has no value of these types.

use crate::expected_calls::ExpectedCalls;
use crate::matcher::Matcher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Map, Source, Span, StatusKind, Value};

#[derive(Debug, Clone)]
pub struct Suite {
    pub source: Arc<Source>,
    /// The test file, absolute.
    pub path: PathBuf,
    /// The recipe as the file names it; without it the one beside the file.
    pub recipe: Option<Name>,
    pub cases: Vec<Case>,
}

/// A word of the file and its location.
#[derive(Debug, Clone)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

/// Paths with their texts; none: the path is not there.
pub type Files = Vec<(String, Option<String>)>;

#[derive(Debug, Clone, Default)]
pub struct Case {
    pub name: String,
    pub set: Map,
    pub include_tags: Vec<String>,
    pub exclude_tags: Vec<String>,
    pub files: Files,
    pub fixture: Option<Name>,
    pub git: bool,
    pub setup: Option<String>,
    pub env: Vec<(String, String)>,
    /// How a user would start a state machine: flags of the run with their values.
    pub machine: Vec<(&'static str, String)>,
    pub agents: Vec<(Name, Answers)>,
    pub stubs: Vec<(Name, Stub)>,
    pub expect: Expect,
}

#[derive(Debug, Clone)]
pub enum Answers {
    /// Every call gets it.
    Always(Answer),
    /// One for each call, in order.
    InOrder(Vec<Answer>),
}

#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub text: Option<String>,
    pub fault: Option<&'static str>,
    pub until: Option<Value>,
    pub files: Files,
    pub run: Option<String>,
}

#[derive(Debug, Clone)]
pub enum Stub {
    Bash(String),
    Prints { stdout: String, stderr: String, exit: u8, files: Files },
}

#[derive(Debug, Clone, Default)]
pub struct Expect {
    pub status: Option<StatusKind>,
    pub exit: Option<u8>,
    pub failed_at: Option<Name>,
    pub error: Option<Matcher>,
    /// Why a state machine ended, and the description that came with its last outcome.
    pub reason: Option<Matcher>,
    pub description: Option<Matcher>,
    pub restarts: Option<u32>,
    pub ran: Option<Vec<Name>>,
    pub skipped: Option<Vec<(Name, Option<Matcher>)>>,
    pub not_reached: Option<Vec<Name>>,
    pub degraded: Option<Vec<Name>>,
    pub tolerated: Option<Vec<Name>>,
    pub outputs: Vec<(String, Matcher)>,
    pub printed: Vec<(Name, Matcher)>,
    pub prompts: Vec<(Name, Matcher)>,
    pub calls: Option<ExpectedCalls>,
    /// None: the path must not be there.
    pub files: Vec<(String, Option<Matcher>)>,
    pub checks: Vec<String>,
}

/// How the run of a case ended, or must end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ending {
    /// The recipe was not allowed to start. No case can name it; `exit: 2` means it.
    #[default]
    Refused,
    Ran(StatusKind),
}

impl Ending {
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Refused => "refused",
            Ending::Ran(status) => status.as_str(),
        }
    }
}

impl Expect {
    /// How the run must end; where the case does not name it, it follows
    /// from what else is expected.
    pub fn ending(&self) -> Ending {
        let status = match (self.status, self.exit) {
            (Some(status), _) => status,
            (None, Some(2 | 5)) => return Ending::Refused,
            (None, Some(10)) => StatusKind::Asking,
            (None, Some(75)) => StatusKind::Waiting,
            (None, Some(1 | 3 | 4)) => StatusKind::Failed,
            _ if self.failed_at.is_some() || self.error.is_some() => StatusKind::Failed,
            _ => StatusKind::Done,
        };
        Ending::Ran(status)
    }
}

impl Suite {
    /// The test file's own directory.
    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// `deploy.test.yaml:12`
    pub fn location(&self, span: Span) -> String {
        format!("{}:{}", self.source.name, self.source.line_column(span.start).0)
    }
}
