//! The file of this program.

use std::path::Path;

/// This program as it runs, to be started again: also when its file was replaced meanwhile. Its name is
/// the binary's business.
pub fn own_executable() -> &'static Path {
    Path::new("/proc/self/exe")
}
