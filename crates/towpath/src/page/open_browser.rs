//! Opens the page in the user's browser, where there is one. Every user of the machine can read the
//! arguments of the browser: the address has a code that leads there once, and no token. Confined
//! browsers could not read a file instead.

use crate::environment::Environment;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const OPENERS: [&str; 3] = ["xdg-open", "open", "wslview"];

/// Whether a browser was started.
pub fn open_browser(env: &Environment, address: &str) -> bool {
    let Some(program) = browser(env) else { return false };
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}

/// The program that shows a page: only for a user at a screen.
fn browser(env: &Environment) -> Option<PathBuf> {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env.get(name).is_some());
    let screen = screen || cfg!(target_os = "macos") || env.get("WSL_DISTRO_NAME").is_some();
    if env.unattended || !screen {
        return None;
    }
    let chosen = env.text("BROWSER").filter(|name| !name.is_empty() && !name.contains([':', '%']));
    let found = chosen.and_then(|name| match name.contains('/') {
        true => Some(PathBuf::from(name)),
        false => env.on_path(&name),
    });
    found.or_else(|| OPENERS.iter().find_map(|name| env.on_path(name)))
}
