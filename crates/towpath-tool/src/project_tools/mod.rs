//! The tools of a project: `.towpath/tools.toml` names them, `.towpath/tools.lock` has what was chosen
//! and proven for each, so that everybody installs the same, also without a network.

mod lock_file;
mod tools_file;

pub use lock_file::{LockFile, LockFileError, LockedTool};
pub use tools_file::read_tools_file;

/// Inside of the project's root.
pub const TOOLS_FILE: &str = ".towpath/tools.toml";
pub const LOCK_FILE: &str = ".towpath/tools.lock";
