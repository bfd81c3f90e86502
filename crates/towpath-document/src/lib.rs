//! Documents: Markdown with directives that define values and run commands. Everything that is no
//! directive passes through byte for byte.
//!
//! A document is read ([`read`]) and evaluated ([`Evaluation`]) without any effect: an evaluation
//! reports the commands and files that it needs, one at a time, and continues with what became of
//! them. [`check`] evaluates without running anything, and finds every problem that can be known
//! before. Nothing here starts a process or looks at the environment.

mod allowance;
mod argument_list;
mod check;
mod commands;
mod definition_scope;
mod directive;
mod document;
mod document_set;
mod evaluate;
mod interpolated;
mod literal_blocks;
mod node_json;
mod problems;
mod read;
mod references;
mod section;

pub use check::{Checked, check, check_loaded, check_open};
pub use commands::{Command, CommandEnd, Permitted};
pub use directive::{Call, Definition, Directive, DirectiveKind, Invocation};
pub use document::{Document, FileKind, Node, NodeKind};
pub use document_set::{DocumentSet, Files, Found, LoadedFile, Roots, plain_path};
pub use evaluate::{Evaluation, Next};
pub use node_json::tree_json;
pub use read::{read, read_regions};
pub use references::DocumentReference;
pub use section::section;
