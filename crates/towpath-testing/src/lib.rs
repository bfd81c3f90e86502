//! Recipe tests. A test file is read into a [`Suite`]; a [`TestedRecipe`] joins it with the recipe that it
//! tests; a [`CaseRunner`] runs each case as a real run in a directory of its own, with agents that
//! answer from the test file, and compares what came of it. [`mutate`] checks whether the cases
//! notice when the recipe does less.
//!
//! Nothing here prints, reads the environment or the home directory, or touches the user's state:
//! the program's path, its environment and its recipe directories come from a [`Host`], and what
//! happens is reported to an [`Observer`].

mod calling_program_trait;
mod case_directory;
mod case_run_file;
mod case_runner;
mod child_processes;
mod compare_with_expected;
mod expected_calls;
mod in_order;
mod matcher;
mod mutation;
mod problem;
mod read_test_file;
mod recipe_steps;
mod replacements;
mod result_observer;
mod results_json;
mod run_record;
mod suite;
mod test_file_paths;
mod tested_recipe;

pub use calling_program_trait::Host;
pub use case_run_file::CaseRunFile;
pub use case_runner::{CaseResult, CaseRunner};
pub use child_processes::ChildProcesses;
pub use mutation::{Change, Mutant, changes, mutate};
pub use problem::Problem;
pub use read_test_file::{read, test_file_schema};
pub use result_observer::Observer;
pub use results_json::results_json;
pub use suite::{Case, Suite};
pub use test_file_paths::{find_test_files, is_recipe_file, is_test_file, test_file_of};
pub use tested_recipe::TestedRecipe;
