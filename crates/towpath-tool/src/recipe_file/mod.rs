//! Tool recipes as TOML files.
//!
//! ```toml
//! [metadata]
//! name = "hexyl"
//!
//! [version]
//! source = "cargo"
//! package = "hexyl"
//!
//! [[steps]]
//! action = "cargo_install"
//! package = "hexyl"
//!
//! [verify]
//! command = "hexyl --version"
//! pattern = "hexyl {version}"
//! ```
//!
//! Reading is strict: all problems of a file are reported at once, each with its location. What is
//! written is read back as the same value.

mod check_values;
mod keys;
mod read;
mod read_steps;
mod write;

pub use check_values::tool_name as check_tool_name;
pub use read::read_recipe;
pub use write::write_recipe;
