//! Tool recipes, and whether an installed program works: evidence in, a verdict out.
//!
//! A [`ToolRecipe`] describes how a tool is installed and how it is verified. A generated one begins
//! with `NAME --version`, which many working tools do not accept, and which some broken ones seem to.
//!
//! | module | what it has |
//! |---|---|
//! | `tool_recipe`, `read_recipe` | a recipe; its TOML, read strictly and written back |
//! | `tool_request`, `project_tools` | a tool that is asked for; those of a project, and what was chosen for them |
//! | `verify_section`, `output_pattern` | what a check declares; what its pattern matches |
//! | `recipe_provenance`, `repair_metadata` | who wrote a recipe; what a repair changed |
//! | `observation`, `file_facts`, `printed_text` | what a probe saw, and its JSON; what is known of the file; text made safe to read |
//! | `detector`, `verdict_and_evidence` | the verdict on one probe, step by step; what it rests on |
//! | `verify_analysis`, `tool_verdict`, `probe_ladder` | what a probe means for a check; all probes together; which one is next |
//! | `evaluate_verify_section` | the one evaluator of a check |
//! | `static_check` | what a program's file shows before it runs |
//! | `version_token`, `find_tool_name_in_line` | what a version looks like; how a tool prints its name |
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
mod check_from_probe;
mod choose_next_probe;
mod clean_printed_text;
mod combine_probe_verdicts;
mod command_words;
mod detector;
#[allow(clippy::disallowed_methods, reason = "it writes files")]
pub mod download;
mod evaluate_verify_section;
#[allow(clippy::disallowed_methods, reason = "it reads files")]
mod file_hash;
mod find_tool_name_in_line;
#[allow(clippy::disallowed_methods, reason = "it reads and writes installs")]
pub mod install;
mod output_pattern;
mod probe_observation;
pub mod project_tools;
mod read_observation_json;
mod read_recipe;
mod recipe_provenance;
mod recipe_values;
mod repair_metadata;
#[allow(clippy::disallowed_methods, reason = "it measures how long a model takes")]
pub mod self_repair;
#[allow(clippy::disallowed_methods, reason = "it reads and writes what was fetched")]
pub mod sources;
mod static_check;
mod static_file_facts;
mod tool_recipe;
mod tool_request;
mod verdict_and_evidence;
#[allow(clippy::disallowed_methods, reason = "it looks at files and measures time")]
pub mod verification;
mod verify_section;
mod version_token;

pub use check_from_probe::{VerifyAnalysis, analyze, verify_section};
pub use choose_next_probe::{ProbeRequest, next_probe};
pub use clean_printed_text::{captured_text, clean_text};
pub use combine_probe_verdicts::{Probe, ToolVerdict, combine};
pub use command_words::{CommandWordsError, command_words};
pub use detector::judge;
pub use evaluate_verify_section::{CheckFailure, CheckOutcome, VersionMismatch, check};
pub use output_pattern::{OutputPattern, PatternError, PatternMatch};
pub use probe_observation::{Observation, ProcessEnd, Via};
pub use read_observation_json::read_observation;
pub use read_recipe::{read_recipe, write_recipe};
pub use recipe_provenance::{Origin, Provenance, content_hash};
pub use recipe_values::check_tool_name;
pub use repair_metadata::{REPAIR_TYPE, RepairMetadata, RepairMethod};
pub use static_check::{FileEntry, FileQuestions, Machine, check_file, defined_versions};
pub use static_file_facts::FileFacts;
pub use tool_recipe::{
    Action, Binary, InstallStep, Metadata, Platform, PlatformWords, ToolRecipe, VersionKeys,
};
pub use tool_request::{ToolRequest, ToolSource};
pub use verdict_and_evidence::{Evidence, EvidenceKind, Identity, Judgement, Verdict};
pub use verify_section::{REPAIRED_REASON, VERSION, VerifyMode, VerifySection};
