//! Tool recipes, verdicts on probes and static checks of files.

#![allow(clippy::disallowed_methods, reason = "tests read files")]

mod hostile_text;
mod more_probes;
mod recipe_file;
mod static_check;
mod verdict_cases;
mod verification;
