//! The lists of packages that apt works with: the machine's own, or, where it has none or they are too
//! old, lists of ours in the cache, which need no rights to be written.

use super::super::registry_clients::{ClientCall, Clients, FETCH_TIME};
use super::super::source_error::SourceError;
use super::APT;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SYSTEM: &str = "/var/lib/apt/lists";
/// How long lists of ours are good enough.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AptLists {
    System,
    Own(PathBuf),
}

impl AptLists {
    /// The machine's lists if it has some, else ours.
    pub fn usable(
        clients: &Clients<'_>,
        cache: &Path,
        directory: &Path,
    ) -> Result<AptLists, SourceError> {
        if has_packages(Path::new(SYSTEM)) {
            return Ok(AptLists::System);
        }
        let own = own_directory(cache);
        let fresh = has_packages(&own.join("lists")) && is_fresh(&own.join("lists"));
        if fresh { Ok(AptLists::Own(own)) } else { AptLists::own(clients, cache, directory) }
    }

    /// Lists of ours, as the archive has them now.
    pub fn own(
        clients: &Clients<'_>,
        cache: &Path,
        directory: &Path,
    ) -> Result<AptLists, SourceError> {
        let own = own_directory(cache);
        for part in ["lists/partial", "cache/archives/partial"] {
            let path = own.join(part);
            fs::create_dir_all(&path).map_err(SourceError::io(&path))?;
        }
        let lists = AptLists::Own(own);
        let call = clients.call(APT, directory, &["update"])?.time_limit(FETCH_TIME);
        clients.run(lists.options(call), &mut |_| {})?.success(APT)?;
        Ok(lists)
    }

    pub fn is_system(&self) -> bool {
        *self == AptLists::System
    }

    pub fn options<'c>(&self, call: ClientCall<'c>) -> ClientCall<'c> {
        // Root's apt would become a user that cannot write where we are.
        let call = call.argument("-o").argument("APT::Sandbox::User=root");
        let AptLists::Own(own) = self else { return call };
        let option = |name: &str, path: PathBuf| {
            let mut option = OsString::from(name);
            option.push(path);
            option
        };
        call.argument("-o")
            .argument(option("Dir::State::Lists=", own.join("lists")))
            .argument("-o")
            .argument(option("Dir::Cache=", own.join("cache")))
    }
}

fn own_directory(cache: &Path) -> PathBuf {
    cache.join(".apt")
}

fn has_packages(lists: &Path) -> bool {
    let entries = fs::read_dir(lists).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
}

fn is_fresh(lists: &Path) -> bool {
    let changed = fs::metadata(lists).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age < FRESH))
}
