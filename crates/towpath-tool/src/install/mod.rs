//! Installed tools. An install is built in a directory of its own that never moves, since programs may
//! contain its path; once it is proven to work, a link `tools/NAME/VERSION` makes it visible, and links
//! in one `bin/` make its programs usable. Whatever is interrupted before that link leaves nothing that
//! anybody sees, and is removed by the next install of the same tool.

mod bin_links;
mod install_record;
mod installed_file_hashes;
mod installed_tools;
mod staged_install;
mod tool_directories;

pub use bin_links::{NotLinked, SYSTEM, WantedLinks};
pub use install_record::{InstallRecord, InstalledBinary, SandboxRecord};
pub use installed_tools::{DamagedTool, InstalledTool, InstalledTools};
pub use staged_install::{InstallError, StagedInstall, recipe_and_locks};
pub use tool_directories::{ToolDirectories, version_directory_name};
