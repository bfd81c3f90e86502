//! What `towpath test` hands to the run of one case: inputs with the types that the test file gives
//! them, which `--set` could not tell apart, and what runs instead of a step's own command.

use crate::exit::Stop;
use serde::{Deserialize, Serialize};
use std::path::Path;
use towpath_core::Map;
use towpath_engine::Substitutes;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rehearsal {
    pub inputs: Map,
    pub substitutes: Substitutes,
}

impl Rehearsal {
    pub fn read(file: Option<&Path>) -> Result<Rehearsal, Stop> {
        let Some(file) = file else { return Ok(Rehearsal::default()) };
        let wrong = |e: String| Stop::bad_input(format!("--rehearsal {}: {e}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|e| wrong(e.to_string()))?;
        serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
    }

    pub fn write(&self, file: &Path) -> std::io::Result<()> {
        std::fs::write(file, serde_json::to_string(self)?)
    }
}
