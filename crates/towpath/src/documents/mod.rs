//! Documents that run their own commands: from the file that a user names to the text that is printed,
//! written or compared.

mod command_list;
mod import_trust;
mod progress_line;
mod read_document_files;
mod render;
mod scratch_directory;
mod watch;
mod write;

pub use import_trust::document_subject;
pub use render::{Format, RenderRequest, Writes, execute_all, validate};
