//! Towpath's own directories, as far as they are its own: named `towpath`, or alone in the
//! directory that `TOWPATH_HOME` names. Whatever could hold somebody else's files is refused.

use crate::commands::runs::table::{escaped, shown_path};
use crate::exit::Stop;
use crate::surroundings::{Places, Surroundings};
use crate::words::bytes;
use std::path::{Path, PathBuf};
use towpath_process::{Holder, RunLock};
use towpath_store::disk_usage;

/// The directories that are there.
#[derive(Debug)]
pub struct Home {
    places: Vec<Place>,
    /// What `TOWPATH_HOME` names.
    root: Option<PathBuf>,
}

#[derive(Debug)]
pub struct Place {
    pub path: PathBuf,
    what: &'static str,
}

impl Place {
    pub fn told(&self, around: &Surroundings) -> String {
        let (path, size) = (shown_path(&self.path, around), bytes(disk_usage(&self.path)));
        format!("{path}, {size}: {}", self.what)
    }
}

fn all(places: &Places) -> [Place; 4] {
    let place = |path: &PathBuf, what| Place { path: path.clone(), what };
    [
        place(&places.state, "the record of all runs, with what they printed"),
        place(&places.data, "what was installed for you"),
        place(&places.config, "your settings and your own recipes"),
        place(&places.cache, "scratch files"),
    ]
}

impl Home {
    /// Refuses what may hold more than towpath's files.
    pub fn find(around: &Surroundings) -> Result<Home, Stop> {
        let given = around.get("TOWPATH_HOME").filter(|value| !value.is_empty());
        let root = given.map(|root| around.current.join(root));
        let mut places: Vec<Place> = all(&around.places).into();
        places.retain(|place| place.path.symlink_metadata().is_ok());
        if let Some(place) = places.iter().find(|place| !is_directory(&place.path)) {
            let path = escaped(&place.path);
            let message = format!("{path} is a link or a file; remove it yourself");
            return Err(Stop::setup(message));
        }
        if let Some(root) = root.as_ref().filter(|_| !places.is_empty())
            && let Some(other) = stranger(root, &places)
        {
            return Err(Stop::setup(format!(
                "TOWPATH_HOME is {}, which holds other files as well ({}); nothing was removed: \
                 remove state, data, config and cache in it yourself",
                escaped(root),
                escaped(Path::new(&other)),
            )));
        }
        Ok(Home { places, root })
    }

    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The directory around them goes when it is empty; that it is not is no failure.
    pub fn leave(&self) {
        if let Some(root) = &self.root {
            let _ = std::fs::remove_dir(root);
        }
    }
}

fn is_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Something beside our directories.
fn stranger(root: &Path, places: &[Place]) -> Option<std::ffi::OsString> {
    let inside = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut others = inside.filter(|entry| !places.iter().any(|p| p.path == entry.path()));
    others.next().map(|entry| entry.file_name())
}

/// The runs that somebody has, by their locks alone: the record may be what is damaged.
pub fn alive(state: &Path) -> Vec<(String, Holder)> {
    let runs = std::fs::read_dir(state.join("runs")).into_iter().flatten().flatten();
    let held = runs.filter_map(|run| {
        let holder = RunLock::holder(&run.path().join("lock"))?;
        Some((run.file_name().to_string_lossy().into_owned(), holder))
    });
    held.collect()
}
