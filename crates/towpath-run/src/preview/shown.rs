//! A command or prompt with its values in, for display: it is not what bash gets, where no value is in
//! the text. A value that is not there yet shows as its name in `‹›`; a long one is shortened.

use super::foreseen_context::{Sight, Values};
use std::ops::Range;
use towpath_core::{Part, Template, VarPath, text_of};
use towpath_shell::ShellText;

/// More of one value, and more of all values of a text, helps no reader.
const LONGEST_VALUE: usize = 2_000;
const MOST_OF_ALL: usize = 64_000;

/// A text with what is known of it.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub text: String,
    /// The names that have no value yet.
    pub open: Vec<String>,
    /// Bytes of values in it.
    pub filled: usize,
}

impl Values<'_> {
    pub fn command(&self, command: &ShellText) -> Shown {
        let mut shown = Shown::default();
        let mut at = 0;
        for placeholder in command.placeholders() {
            let Range { start, end } = placeholder.range.clone();
            shown.text.push_str(&command.text()[at..start]);
            shown.fill(&placeholder.path, self.see(&placeholder.path));
            at = end;
        }
        shown.text.push_str(&command.text()[at..]);
        shown
    }

    pub fn template(&self, template: &Template) -> Shown {
        let mut shown = Shown::default();
        for part in template.parts() {
            match part {
                Part::Text(text) => shown.text.push_str(text),
                Part::Placeholder(placeholder) => {
                    shown.fill(&placeholder.path, self.see(&placeholder.path));
                }
            }
        }
        shown
    }
}

impl Shown {
    fn fill(&mut self, path: &VarPath, seen: Sight<'_>) {
        match seen {
            Sight::Unknown => {
                self.text.push_str(&format!("‹{path}›"));
                let name = path.to_string();
                if !self.open.contains(&name) {
                    self.open.push(name);
                }
            }
            Sight::Known(value) => {
                let value = value.map(text_of).unwrap_or_default();
                let room = LONGEST_VALUE.min(MOST_OF_ALL.saturating_sub(self.filled));
                let kept = &value[..value.floor_char_boundary(room)];
                self.filled += kept.len();
                self.text.push_str(kept);
                if kept.len() < value.len() {
                    self.text.push('…');
                }
            }
        }
    }
}
