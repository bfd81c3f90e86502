//! The verdict on a program, with what it rests on. Verdicts are ordered: of several probes of one
//! tool, the greatest is the tool's.

use serde::{Deserialize, Serialize};

/// From the weakest to the one that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing of the below. Only here a model may be asked.
    Unknown,
    Timeout,
    /// It needs something that this environment does not have: a display, root, a daemon.
    Environment,
    /// Its own code answered, but neither version nor help was seen.
    Alive,
    WorksByHelp,
    WorksByVersion,
    Broken,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::WorksByVersion => "works-by-version",
            Verdict::WorksByHelp => "works-by-help",
            Verdict::Alive => "alive",
            Verdict::Environment => "environment",
            Verdict::Broken => "broken",
            Verdict::Timeout => "timeout",
            Verdict::Unknown => "unknown",
        }
    }

    /// Whether the tool counts as verified.
    pub fn works(self) -> bool {
        matches!(self, Verdict::WorksByVersion | Verdict::WorksByHelp | Verdict::Alive)
    }
}

/// The verdict on one probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    pub verdict: Verdict,
    pub evidence: Evidence,
    /// The version that the tool printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_found: Option<String>,
    /// What a stored check would look for; none when this run gives nothing to store.
    pub pattern: Option<String>,
    /// `other`: the printed text names another program than the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<&'static str>,
    /// The command that the printed text itself suggests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_probe: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Judgement {
    pub(crate) fn new(verdict: Verdict, evidence: Evidence) -> Judgement {
        Judgement {
            verdict,
            evidence,
            version_found: None,
            pattern: None,
            identity: None,
            next_probe: None,
            warnings: Vec::new(),
        }
    }
}

/// What a verdict rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub kind: EvidenceKind,
    /// The printed line, the part of the file's description, or how the process ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Evidence {
    pub(crate) fn new(kind: EvidenceKind, text: impl Into<String>) -> Evidence {
        Evidence { kind, text: Some(text.into()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    // broken: the file and the process
    File,
    NotStarted,
    Crash,
    CannotRun,
    // broken: what was printed
    MissingLibrary,
    LibraryVersion,
    MissingSymbol,
    MissingInterpreter,
    MissingProgram,
    MissingPath,
    MissingModule,
    WrongFormat,
    SyntaxError,
    Panic,
    Placeholder,
    // works
    ExpectedVersion,
    NamedVersion,
    VersionWord,
    BareVersion,
    FirstLineVersion,
    UsageLine,
    SynopsisLines,
    HelpSections,
    // alive
    ArgumentQuoted,
    Rejection,
    AsksForOperand,
    Title,
    // environment
    Display,
    Privilege,
    ReadOnly,
    Service,
    Network,
    Terminal,
    Device,
    License,
    Resource,
    // timeout and unknown
    TimeLimit,
    OtherProgram,
    UncaughtException,
    Silence,
    NoEvidence,
}
