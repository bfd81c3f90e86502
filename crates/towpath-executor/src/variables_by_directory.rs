//! Variables that an agent gets by the directory it works in. Whoever starts the run knows which; they
//! are looked up before each call, since a step may have a directory of its own and an earlier one may
//! have changed what is there.

use std::ffi::OsString;
use std::path::Path;

/// Environment variables: names and values.
pub type Variables = Vec<(OsString, OsString)>;

type Lookup = Box<dyn Fn(&Path) -> Variables>;

#[derive(Default)]
pub struct DirectoryVariables(Option<Lookup>);

impl DirectoryVariables {
    pub fn new(lookup: impl Fn(&Path) -> Variables + 'static) -> DirectoryVariables {
        DirectoryVariables(Some(Box::new(lookup)))
    }

    pub(crate) fn of(&self, directory: &Path) -> Variables {
        self.0.as_ref().map(|lookup| lookup(directory)).unwrap_or_default()
    }
}

impl std::fmt::Debug for DirectoryVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "DirectoryVariables(_)" } else { "DirectoryVariables()" })
    }
}
