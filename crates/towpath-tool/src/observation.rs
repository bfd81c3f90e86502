//! One run of a program under test, as data: what was run, how it ended, what it printed, and what a look
//! at its file has found. A recorded observation is JSON, so that a misjudged program can be reported
//! and become a test.

use crate::static_file_facts::FileFacts;
use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// The base name of the program.
    pub tool: String,
    pub command: String,
    pub via: Via,
    #[serde(rename = "exit")]
    pub end: ProcessEnd,
    pub stdout: String,
    pub stderr: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<String>,
    /// Other names of the tool: of its recipe, its package, its suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The directory of the install; it may contain the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install_path: Option<String>,
    /// The program had a terminal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
}

/// How the program was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// Directly, by its path.
    Exec,
    /// Through that shell, with `-c`.
    Sh,
    Bash,
}

impl Via {
    pub const WORDS: &'static [&'static str] = &["exec", "sh", "bash"];

    pub fn from_word(word: &str) -> Via {
        match word {
            "sh" => Via::Sh,
            "bash" => Via::Bash,
            _ => Via::Exec,
        }
    }
}

/// How a process ended: an exit code, or `signal:N`, `timeout`, `output-limit`, `memory-limit`,
/// `process-limit` or `exec:ERRNO`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnd {
    Exited(i32),
    Signaled(i32),
    TimedOut,
    /// It printed more than it may.
    OutputLimit,
    /// It used more memory than it may.
    MemoryLimit,
    /// It made more processes than it may.
    ProcessLimit,
    /// It could not be started; the name of the error: `ENOENT`.
    NotStarted(String),
}

/// The limits of a sandbox, as observations write them.
const LIMITS: &[(ProcessEnd, &str)] = &[
    (ProcessEnd::TimedOut, "timeout"),
    (ProcessEnd::OutputLimit, "output-limit"),
    (ProcessEnd::MemoryLimit, "memory-limit"),
    (ProcessEnd::ProcessLimit, "process-limit"),
];

impl ProcessEnd {
    pub fn from_text(text: &str) -> Option<ProcessEnd> {
        match text.split_once(':') {
            Some(("signal", number)) => {
                let number = number.parse().ok().filter(|number| (1..=64).contains(number));
                number.map(ProcessEnd::Signaled)
            }
            Some(("exec", name)) if !name.is_empty() => {
                Some(ProcessEnd::NotStarted(name.to_owned()))
            }
            _ => LIMITS.iter().find(|(_, word)| *word == text).map(|(end, _)| end.clone()),
        }
    }

    pub fn exit_code(&self) -> Option<i32> {
        match self {
            ProcessEnd::Exited(code) => Some(*code),
            _ => None,
        }
    }

    /// The limit that was reached, as observations write it.
    pub(crate) fn limit(&self) -> Option<&'static str> {
        LIMITS.iter().find(|(end, _)| end == self).map(|(_, word)| *word)
    }
}

impl Serialize for ProcessEnd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ProcessEnd::Exited(code) => serializer.serialize_i32(*code),
            ProcessEnd::Signaled(number) => serializer.serialize_str(&format!("signal:{number}")),
            ProcessEnd::NotStarted(name) => serializer.serialize_str(&format!("exec:{name}")),
            _ => serializer.serialize_str(self.limit().unwrap_or_default()),
        }
    }
}

impl Observation {
    /// A run that began: everything else is as usual.
    pub fn new(tool: &str, arguments: &[&str], end: ProcessEnd) -> Observation {
        let words: Vec<&str> = [tool].into_iter().chain(arguments.iter().copied()).collect();
        Observation {
            tool: tool.to_owned(),
            command: words.join(" "),
            via: Via::Exec,
            end,
            stdout: String::new(),
            stderr: String::new(),
            file: None,
            expected_version: None,
            aliases: Vec::new(),
            install_path: None,
            terminal: false,
        }
    }

    /// What was given to the program.
    pub fn arguments(&self) -> Vec<String> {
        let words = crate::command_words::command_words(&self.command)
            .unwrap_or_else(|_| self.command.split_whitespace().map(str::to_owned).collect());
        words.into_iter().skip(1).collect()
    }
}
