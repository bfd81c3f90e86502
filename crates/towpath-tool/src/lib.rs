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
//! | `observation`, `file_facts`, `printed_text` | what a probe saw, and its JSON; what is known of the file; text made safe to read |
//! | `detector`, `verdict` | the verdict on one probe, step by step; what it rests on |
//! | `analysis`, `tool_verdict`, `probe_ladder` | what a probe means for a check; all probes together; which one is next |
//! | `verify_check` | the one evaluator of a check |
//! | `static_check` | what a program's file shows before it runs |
//! | `version_token`, `tool_names` | what a version looks like; how a tool prints its name |
//!
//! Nothing here starts a process, reads a file or the environment, or asks the time: what a probe saw
//! and what is in a file come in as data.

mod analysis;
mod command_words;
mod detector;
mod file_facts;
mod observation;
mod observation_file;
mod output_pattern;
mod printed_text;
mod probe_ladder;
mod provenance;
mod recipe;
mod recipe_file;
mod repair;
mod static_check;
mod tool_names;
mod tool_verdict;
mod verdict;
mod verify_check;
mod verify_section;
mod version_token;

pub use analysis::{VerifyAnalysis, analyze, verify_section};
pub use command_words::{CommandWordsError, command_words};
pub use detector::judge;
pub use file_facts::FileFacts;
pub use observation::{Observation, ProcessEnd, Via};
pub use observation_file::read_observation;
pub use output_pattern::{OutputPattern, PatternError, PatternMatch};
pub use printed_text::{captured_text, clean_text};
pub use probe_ladder::{ProbeRequest, next_probe};
pub use provenance::{Origin, Provenance, content_hash};
pub use recipe::{Action, InstallStep, Metadata, Platform, ToolRecipe, VersionSource};
pub use recipe_file::{read_recipe, write_recipe};
pub use repair::{REPAIR_TYPE, RepairMetadata, RepairMethod};
pub use static_check::{FileEntry, FileQuestions, Machine, check_file, defined_versions};
pub use tool_verdict::{Probe, ToolVerdict, combine};
pub use verdict::{Evidence, EvidenceKind, Identity, Judgement, Verdict};
pub use verify_check::{CheckFailure, CheckOutcome, VersionMismatch, check};
pub use verify_section::{REPAIRED_REASON, VERSION, VerifyMode, VerifySection};
