//! One file per command.

pub mod cancel;
pub mod completions;
pub mod doctor;
pub mod explain;
pub mod link;
pub mod list;
pub mod logs;
pub mod man;
pub mod new;
pub mod overview;
pub mod recipes;
pub mod resume;
pub mod run;
pub mod runs;
pub mod schema;
pub mod settings;
pub mod show;
pub mod test;
pub mod trust;
pub mod uninstall;
pub mod validate;
