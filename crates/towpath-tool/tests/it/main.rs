//! Tool recipes, verdicts on probes and static checks of files.

#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod recipe_file;
