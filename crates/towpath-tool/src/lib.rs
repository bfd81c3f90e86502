//! Tool recipes, and whether an installed program works: evidence in, a verdict out.
//!
//! A [`ToolRecipe`] describes how a tool is installed and how it is verified. A generated one begins
//! with `NAME --version`, which many working tools do not accept, and which some broken ones seem to.
//!
//! | module | what it has |
//! |---|---|
//! | `tool_recipe`, `read_recipe` | a recipe; its TOML, read strictly and written back |
//! | `tool_request`, `project_tools` | a tool that is asked for; those of a project, and what was chosen for them |
//! | `verify_section`, `output_pattern` | what a check declares, and its one evaluator; what its pattern matches |
//! | `recipe_provenance`, `repair_metadata` | who wrote a recipe; what a repair changed |
//! | `observation`, `file_facts`, `printed_text` | what a probe saw, and its JSON; what is known of the file; text made safe to read |
//! | `detector`, `verdict` | the verdict on one probe, step by step; what it rests on |
//! | `verify_analysis`, `probe` | what a probe means for a check; which probe is next, and all together |
//! | `static_check` | what a program's file shows before it runs |
//! | `version_token`, `tool_names` | what a version looks like; how a tool prints its name |
//! | `sources` | where tools come from: looked up, fetched, built in the sandbox |
//! | `attestation` | who built a file, verified offline |
//! | `archive`, `download` | foreign archives, unpacked safely; files over HTTP |
//!
//! Verdicts are pure: nothing in them starts a process, reads a file or asks the time; what a probe saw
//! and what is in a file come in as data. Nothing in this crate reads the environment.

#[allow(clippy::disallowed_methods, reason = "it writes files")]
pub mod archive;
#[allow(clippy::disallowed_methods, reason = "it reads the list of trusted authorities")]
pub mod attestation;
mod command_words;
mod detector;
#[allow(clippy::disallowed_methods, reason = "it writes files")]
pub mod download;
mod file_facts;
#[allow(clippy::disallowed_methods, reason = "it reads files")]
mod file_hash;
#[allow(clippy::disallowed_methods, reason = "it reads and writes installs")]
pub mod install;
mod observation;
mod output_pattern;
mod printed_text;
mod probe;
pub mod project_tools;
mod read_recipe;
mod recipe_provenance;
mod recipe_values;
mod repair_metadata;
#[allow(clippy::disallowed_methods, reason = "it measures how long a model takes")]
pub mod self_repair;
#[allow(clippy::disallowed_methods, reason = "it reads and writes what was fetched")]
pub mod sources;
mod static_check;
mod tool_names;
mod tool_recipe;
mod tool_request;
mod verdict;
#[allow(clippy::disallowed_methods, reason = "it looks at files and measures time")]
pub mod verification;
mod verify_analysis;
mod verify_section;
mod version_token;

pub use command_words::{CommandWordsError, command_words};
pub use detector::judge;
pub use file_facts::FileFacts;
pub use observation::{Observation, ProcessEnd, read_observation};
pub use output_pattern::{OutputPattern, PatternError, PatternMatch};
pub use printed_text::{captured_text, clean_text};
pub use probe::{Probe, ProbeRequest, ToolVerdict, combine, next_probe};
pub use read_recipe::{read_recipe, write_recipe};
pub use recipe_provenance::{Origin, Provenance, content_hash};
pub use recipe_values::check_tool_name;
pub use repair_metadata::{REPAIR_TYPE, RepairMetadata, RepairMethod};
pub use static_check::{FileQuestions, check_file, defined_versions};
pub use tool_recipe::{
    Action, Binary, InstallStep, Metadata, Platform, PlatformWords, ToolRecipe, VersionKeys,
};
pub use tool_request::{ToolRequest, ToolSource};
pub use verdict::{Evidence, EvidenceKind, Judgement, Verdict};
pub use verify_analysis::{VerifyAnalysis, analyze, verify_section};
pub use verify_section::{
    CheckFailure, CheckOutcome, REPAIRED_REASON, VERSION, VerifyMode, VerifySection,
    VersionMismatch, check,
};
