//! Programs that nobody vouches for, run so that they reach nothing but what a [`Policy`] names. In a
//! [`SandboxSession`] commands run one after the other; inside of it a
//! small server, this same program, starts each command, watches its limits, ends whatever it
//! leaves, and reports exactly how it ended. What the server reports is data that is checked, never
//! trusted. Nothing here decides what a command's output means, and no confinement is ever weaker than
//! its name: what one cannot enforce it lists.

mod bubblewrap;
mod confined_job;
mod confinement;
mod errno_name;
mod error;
mod find_confinement;
mod landlock;
mod mount_plan;
mod namespaces;
mod policy;
mod protocol;
mod sandbox_command;
mod server;
mod session;
mod unprivileged_user;

pub(crate) use confined_job::job_arguments;

pub use confinement::Confinement;
pub use error::SandboxError;
pub use find_confinement::{NoConfinement, find_confinement};
pub use policy::{Limits, Policy};
pub use sandbox_command::{CommandDirectory, EndStatus, SandboxCommand, SandboxedEnd};
pub use server::{serve, server_main};
pub use session::SandboxSession;

/// The hidden first argument of a program that is started inside of a sandbox. What follows it is for
/// [`serve`].
pub const SERVER_ARGUMENT: &str = "--sandbox-server";
