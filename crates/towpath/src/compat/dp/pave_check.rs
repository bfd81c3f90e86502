//! `dp pave-check`: the hook before a call. It is found on the raw arguments, because it runs before
//! every call of an agent and the argument parser takes longer than its answer.

use crate::corrections::hook;
use crate::environment::Invocation;
use crate::exit::Exit;
use crate::terminal::out;
use std::ffi::OsString;
use std::path::PathBuf;
use towpath_corrections::hook::PaveCheck;

/// What the arguments ask for, if it is this: the file of `--db`, or none.
pub fn asked(arguments: &[OsString]) -> Option<Option<PathBuf>> {
    let (mut found, mut database) = (false, None);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("pave-check") => found = true,
            Some("--json") => {}
            Some("--db") => database = Some(PathBuf::from(rest.next()?)),
            Some(other) => database = Some(PathBuf::from(other.strip_prefix("--db=")?)),
            None => return None,
        }
    }
    found.then_some(database)
}

/// 2 where the tool does not exist and a rule knows another; else 0, whatever happens.
pub fn answer(invocation: &Invocation, database: Option<PathBuf>) -> Exit {
    let PaveCheck { stdout, blocked } = hook::pave_check(invocation, database.as_deref());
    match blocked {
        Some(message) => {
            out::note(message);
            Exit::BadInput
        }
        None => {
            out::stdout(stdout.as_bytes());
            Exit::Done
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_without_the_parser() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            asked(&words)
        };
        assert_eq!(asked("pave-check"), Some(None));
        assert_eq!(asked("--db a.db pave-check"), Some(Some("a.db".into())));
        assert_eq!(asked("pave-check --json --db=a.db"), Some(Some("a.db".into())));
        for other in ["", "pave", "pave-check --help", "alias pave-check x", "pave-check --db"] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
