//! The flags with which a user would start a state machine.

use super::Reader;
use towpath_core::fields::Subject;
use towpath_core::spanned_tree::Entry;

pub(super) const MACHINE_KEYS: &[&str] =
    &["model", "max_visits", "max_steps", "max_restarts", "context"];
const FLAGS: &[&str] = &["--model", "--max-visits", "--max-steps", "--max-restarts", "--context"];

impl Reader<'_> {
    /// The flags of a run that a case means.
    pub(super) fn machine(&mut self, entry: &Entry) -> Vec<(&'static str, String)> {
        let Some(fields) = self.fields(&entry.value, Subject::Key("machine"), MACHINE_KEYS) else {
            return Vec::new();
        };
        let mut flags = Vec::new();
        for (key, flag) in MACHINE_KEYS.iter().zip(FLAGS) {
            let Some(entry) = fields.get(key).filter(|entry| !entry.is_null()) else { continue };
            let value = match key.starts_with("max_") {
                true => self.whole_number(Some(entry)).map(|number| number.to_string()),
                false => self.bash(Some(entry)),
            };
            flags.extend(value.map(|value| (*flag, value)));
        }
        flags
    }
}
