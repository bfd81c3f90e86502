//! One file per command.

pub mod cancel;
pub mod doors;
pub mod dry_run;
pub mod explain;
pub mod link;
pub mod list;
pub mod logs;
pub mod other_names;
pub mod request;
pub mod resume;
pub mod run;
pub mod runs;
pub mod settings;
pub mod show;
pub mod test;
pub mod trust;
pub mod validate;
