//! What is written to the terminal, or to a file or pipe instead: our two streams, text and its
//! widths, tables, diagnostics, and the report of a run.

pub mod diagnostics;
pub mod format;
pub mod out;
pub mod report;
pub mod screen;
pub mod shown_path;
pub mod table;
pub mod wrap;
