//! Documents that run their own commands: from the file that a user names to the text that is printed,
//! written or compared.

mod command_list;
mod document_files;
mod import_trust;
mod progress_line;
mod render;
mod result;
mod scratch_directory;
mod watch;

pub use import_trust::document_subject;
pub use render::{Format, RenderRequest, Writes, execute};
