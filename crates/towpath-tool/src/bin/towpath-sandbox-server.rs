//! The process inside of a sandbox as a program of its own, for programs that cannot look at their first
//! argument in `main`, such as a test under a harness.

use std::ffi::OsString;
use std::process::ExitCode;
use towpath_process::sandbox::{SERVER_ARGUMENT, serve};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == SERVER_ARGUMENT => serve(rest),
        _ => ExitCode::FAILURE,
    }
}
