//! Documents: Markdown with directives that define values and run commands. Everything that is no
//! directive passes through byte for byte.
//!
//! A document is read ([`read`]) and evaluated ([`Evaluation`]) without any effect: an evaluation
//! reports the commands and files that it needs, one at a time, and continues with what became of
//! them. [`check`] evaluates without running anything, and finds every problem that can be known
//! before. Nothing here starts a process or looks at the environment.

mod check_document;
mod definition_scope;
mod directive;
mod document;
mod document_command;
mod document_reference;
mod document_with_imports;
mod evaluate;
mod evaluation_limits;
mod interpolated;
mod line_reader;
mod literal_blocks;
mod location;
mod node_json;
mod permitted_commands;
mod problem_codes;
mod read;
mod read_error;
mod resolve_command;
mod roots;
mod section;
mod shell_variables;

pub use check_document::{Checked, check, check_loaded, check_open};
pub use definition_scope::Inputs;
pub use directive::{Call, Definition, Directive, DirectiveKind, Invocation};
pub use document::{Document, FileKind, Node, NodeKind, Region, RegionText};
pub use document_command::{Command, CommandEnd, Printed};
pub use document_reference::DocumentReference;
pub use document_with_imports::{DocumentSet, Files, Found, LoadedFile};
pub use evaluate::{Evaluation, Next};
pub use node_json::tree_json;
pub use permitted_commands::Permitted;
pub use problem_codes::SHELL_VARIABLE;
pub use read::{has_regions, read, read_regions};
pub use roots::{Roots, plain_path};
pub use section::section;
