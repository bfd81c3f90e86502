//! How an agent's program is started: arguments, variables, standard input, files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Text longer than this does not go into an argument: a program's single argument takes
/// 131,071 bytes at most on Linux.
pub(crate) const LONGEST_ARGUMENT: usize = 120_000;

/// How to start the program. The environment is the engine's own, without what
/// [`Backend::keeps`](crate::Backend::keeps) refuses, with `set` added last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub set: Vec<(OsString, OsString)>,
    /// Written whole, then closed.
    pub stdin: Vec<u8>,
    /// Written into [`Call::private`](crate::Call::private) before the start, for nobody else to read.
    pub writes: Vec<InputFile>,
    /// Names in [`Call::private`](crate::Call::private) that the program may write; what is there afterwards is handed to
    /// [`Reader::end`](crate::Reader::end).
    pub reads: Vec<&'static str>,
}

impl Invocation {
    /// A start with nothing but arguments and what goes by standard input.
    pub(crate) fn new(program: &Path, arguments: Vec<OsString>, stdin: String) -> Invocation {
        let (program, stdin) = (program.to_owned(), stdin.into_bytes());
        Invocation { program, arguments, stdin, ..Invocation::default() }
    }
}

/// A file that the program is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Without any directory.
    pub name: &'static str,
    pub contents: Vec<u8>,
}
