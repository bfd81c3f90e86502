//! One file per command.

pub mod cancel;
pub mod completions;
pub mod doctor;
pub mod doors;
pub mod dry_run;
pub mod due;
pub mod explain;
pub mod link;
pub mod list;
pub mod logs;
pub mod man;
pub mod new;
pub mod other_names;
pub mod recipes;
pub mod request;
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
pub mod wait;
