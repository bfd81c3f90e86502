//! How the process of a call ended, and what it left for the reader.

/// How a call's process ended, and what it left for the reader.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    pub exit: Exit,
    /// The last few thousand bytes of standard error.
    pub stderr: &'a str,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// The files of [`Invocation::reads`](crate::Invocation::reads) that are there.
    pub files: &'a [(&'static str, Vec<u8>)],
    /// We ended it, or nobody saw how it ended: its last lines may be what an interrupted program
    /// prints.
    pub interrupted: bool,
}

impl<'a> End<'a> {
    /// An end that left no files.
    pub fn new(exit: Exit, stderr: &'a str) -> End<'a> {
        End { exit, stderr, at_ms: 0, files: &[], interrupted: false }
    }

    pub fn file(&self, name: &str) -> Option<&'a [u8]> {
        self.files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.as_slice())
    }
}

/// How the program's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl Exit {
    pub fn code(code: i32) -> Exit {
        Exit { code: Some(code), signal: None }
    }

    pub fn signal(signal: i32) -> Exit {
        Exit { code: None, signal: Some(signal) }
    }

    pub fn success(self) -> bool {
        self.code == Some(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with exit code {code}"),
            (None, Some(signal)) => write!(f, "was ended by signal {signal}"),
            (None, None) => write!(f, "ended in an unknown way"),
        }
    }
}
