//! Recipe tests. A test file is read into a [`Suite`]; a [`Subject`] joins it with the recipe that it
//! tests; a [`CaseRunner`] runs each case as a real run in a directory of its own, with agents that
//! answer from the test file, and compares what came of it. [`mutate`] checks whether the cases
//! notice when the recipe does less.
//!
//! Nothing here prints, reads the environment or the home directory, or touches the user's state:
//! the program's path, its environment and its recipe directories come from a [`Host`], and what
//! happens is reported to an [`Observer`].

mod case_directory;
mod case_runner;
mod child_processes;
mod compare;
mod expected_calls;
mod host;
mod matcher;
mod mutation;
mod observer;
mod parallel;
mod problem;
mod read;
mod recipe_steps;
mod rehearsal;
mod replacements;
mod results_json;
mod run_record;
mod subject;
mod suite;
mod test_files;

pub use case_runner::{CaseResult, CaseRunner};
pub use child_processes::ChildProcesses;
pub use host::Host;
pub use mutation::{Change, Mutant, changes, mutate};
pub use observer::Observer;
pub use problem::Problem;
pub use read::read;
pub use rehearsal::Rehearsal;
pub use results_json::results_json;
pub use subject::Subject;
pub use suite::{Case, Suite};
pub use test_files::{find_test_files, is_recipe_file, is_test_file, test_file_of};
