//! One file per command.

pub mod cancel;
pub mod doctor;
pub mod doors;
pub mod due;
pub mod explain;
pub mod link;
pub mod list;
pub mod logs;
pub mod other_names;
pub mod resume;
pub mod run;
pub mod runs;
pub mod settings;
pub mod show;
pub mod trust;
pub mod uninstall;
pub mod validate;
pub mod wait;
