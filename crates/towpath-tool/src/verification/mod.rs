//! Verification on a real machine: a program's file is checked, then it is probed in a sandbox, rung by
//! rung, until the detector has decided; or one stored check is run. Everything that is judged here was
//! seen by running the program; the judging itself is pure and in the other modules of this crate.

mod files_on_disk;
mod probe_report;
mod sandbox_setup;

pub use files_on_disk::{FilesOnDisk, look_at_file};
pub use probe_report::{CheckRun, ProbeReport, ProgramUnderTest, probe, run_check};
pub use sandbox_setup::{SandboxNote, SandboxSetup, VerifyError};
