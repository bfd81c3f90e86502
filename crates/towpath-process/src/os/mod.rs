//! What is particular to an operating system. Everything else in this crate is written against
//! POSIX and this module's few names, so that a port is a sibling of `linux`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "linux")]
pub use linux::{end_with_parent, own_executable, since_boot};

#[cfg(not(target_os = "linux"))]
compile_error!("towpath-process is written for Linux: a port is a sibling of os/linux");
