//! Variables that an agent gets by the directory it works in. Whoever starts the run knows which;
//! the engine asks before each call, since a step may have a directory of its own and an earlier one
//! may have changed what is there.

use std::ffi::OsString;
use std::path::Path;

/// Environment variables: names and values.
pub type Variables = Vec<(OsString, OsString)>;

type Ask = Box<dyn Fn(&Path) -> Variables>;

#[derive(Default)]
pub struct ByDirectory(Option<Ask>);

impl ByDirectory {
    pub fn new(ask: impl Fn(&Path) -> Variables + 'static) -> ByDirectory {
        ByDirectory(Some(Box::new(ask)))
    }

    pub(crate) fn of(&self, directory: &Path) -> Variables {
        self.0.as_ref().map(|ask| ask(directory)).unwrap_or_default()
    }
}

impl std::fmt::Debug for ByDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "ByDirectory(asked)" } else { "ByDirectory(none)" })
    }
}
