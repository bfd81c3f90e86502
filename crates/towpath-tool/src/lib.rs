//! Tool recipes, and whether an installed program works: evidence in, a verdict out.
//!
//! A [`ToolRecipe`] describes how a tool is installed and how it is verified. A generated one begins
//! with `NAME --version`, which many working tools do not accept, and which some broken ones seem to.
//!
//! | module | what it has |
//! |---|---|
//! | `recipe`, `recipe_file` | a recipe; its TOML, read strictly and written back |
//! | `verify_section`, `output_pattern` | what a check declares; what its pattern matches |
//! | `provenance`, `repair` | who wrote a recipe; what a repair changed |
//!
//! Nothing here starts a process, reads a file or the environment, or asks the time: what a probe saw
//! and what is in a file come in as data.

mod command_words;
mod output_pattern;
mod provenance;
mod recipe;
mod recipe_file;
mod repair;
mod verify_section;
mod version_token;

pub use command_words::{CommandWordsError, command_words};
pub use output_pattern::{OutputPattern, PatternError, PatternMatch};
pub use provenance::{Origin, Provenance, content_hash};
pub use recipe::{Action, InstallStep, Metadata, Platform, ToolRecipe, VersionSource};
pub use recipe_file::{read_recipe, write_recipe};
pub use repair::{REPAIR_TYPE, RepairMetadata, RepairMethod};
pub use verify_section::{REPAIRED_REASON, VERSION, VerifyMode, VerifySection};
