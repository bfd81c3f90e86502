//! A tool as a user or a project asks for it: its name, where it comes from, and what it must have.

use crate::recipe_values::sha256;
use crate::sources::{SourceKind, SourceRef, can_be_replaced, check_version};
use std::fmt;

/// A tool to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRequest {
    pub name: String,
    pub from: ToolSource,
    /// Exactly this one; none is the newest.
    pub version: Option<String>,
    /// The file at an address must have this hash.
    pub sha256: Option<String>,
}

/// The word for programs of the system.
pub const SYSTEM: &str = "system";

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSource {
    System,
    Package(SourceRef),
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolSource::System => f.write_str(SYSTEM),
            ToolSource::Package(source) => source.fmt(f),
        }
    }
}

impl ToolSource {
    pub(crate) fn read(
        from: &str,
        version: Option<&str>,
        hash: Option<&str>,
    ) -> Result<ToolSource, String> {
        if from == SYSTEM {
            return match version.or(hash) {
                Some(_) => Err("a program of the system is what it is: no version, no hash".into()),
                None => Ok(ToolSource::System),
            };
        }
        let source: SourceRef = from.parse().map_err(|error| format!("{error}"))?;
        version.map_or(Ok(()), check_version)?;
        hash.map_or(Ok(()), sha256)?;
        let is_address = source.kind() == SourceKind::Url;
        if hash.is_some() && !is_address {
            return Err(format!("sha256 is for url: sources; {source} has hashes of its own"));
        }
        if hash.is_none() && is_address && can_be_replaced(source.name()) {
            let danger = "anybody between you and an http address can replace the file";
            return Err(format!("{danger}; use https, or give the file's sha256"));
        }
        Ok(ToolSource::Package(source))
    }
}
