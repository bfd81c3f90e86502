//! What the run of a case is given in a file: inputs with the types that the test file gives them,
//! which the command line could not distinguish, what runs instead of a step's own command, and which
//! transition is changed to see whether a case notices.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::sync::Arc;
use towpath_core::Map;
use towpath_engine::Substitutes;
use towpath_recipe::{Ending, Program, Transition};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRunFile {
    pub inputs: Map,
    pub substitutes: Substitutes,
    /// A transition that ends the run instead.
    #[serde(default)]
    pub ends: Option<Ends>,
}

/// The transition of a state machine, by its step and its outcome.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ends {
    pub step: String,
    pub outcome: String,
}

impl CaseRunFile {
    pub fn read(file: &Path) -> io::Result<CaseRunFile> {
        Ok(serde_json::from_str(&std::fs::read_to_string(file)?)?)
    }

    /// Changes the program that is to be run: a case runs without the programs that the recipe requires,
    /// because it may replace whatever needs them, and where a transition is to end it, it does.
    pub fn change(&self, program: &mut Program) {
        for recipe in program.recipes.iter_mut().map(Arc::make_mut) {
            recipe.require_nothing();
        }
        let (Some(ends), Some(root)) = (&self.ends, program.recipes.first_mut()) else { return };
        let steps = Arc::make_mut(root).steps.iter_mut();
        for step in steps.filter(|step| step.id == ends.step) {
            for outcome in step.outcomes.iter_mut().filter(|o| o.name == ends.outcome) {
                let reason = "ended by the test".to_owned();
                outcome.then = Transition::Exit { reason, ending: Ending::Success };
            }
        }
    }

    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        std::fs::write(file, serde_json::to_string(self)?)
    }
}
