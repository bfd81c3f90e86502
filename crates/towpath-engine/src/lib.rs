//! Drives a run: replays its facts, starts what it wants, records what happens.
//!
//! The loop in `driver.rs` is the whole of it. Decisions are made by the pure run, effects are
//! had by the warden's children, and a fact is on disk before anything that depends on it starts.
//! Everything that a person may see goes to one [`Reporter`] as typed [`Event`]s; this crate
//! prints nothing and reads neither environment nor home directory.

mod agents;
mod cancel;
mod config;
mod driver;
mod error;
mod event;
mod journal;
mod live;
mod open;
mod secrets;
mod substitutes;
mod summary;

pub use agents::{Agents, SessionTree, new_session};
pub use cancel::{cancel_held, cancel_unowned};
pub use config::{Config, Options, WardenStart};
pub use driver::{Control, Controller, RunEnd};
pub use error::EngineError;
pub use event::{Event, Reporter, Stream};
pub use journal::{Recorded, recorded};
pub use open::{Prepared, ResumeAnswers, create, held_by, hold, is_held, resume};
pub use substitutes::Substitutes;
pub use summary::{Census, census};
