//! What a look at a file has found, without running it. A static check makes such facts; an observation
//! carries them as one line of text, from which a fault is read back part by part.

use serde::{Serialize, Serializer};
use towpath_core::data_rows;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Parts with commas between them: `elf x86-64, needed libx.so.1 not found`.
    description: String,
    /// The part that describes why the file cannot run, if there is one.
    fault: Option<String>,
}

/// Before the name of a program that opens a display and has this name in its file.
pub(crate) const DISPLAY_PROGRAM: &str = "display program";

fn is_fault(part: &str) -> bool {
    let mut faults = data_rows(include_str!("file_faults.txt"));
    faults.any(|[shape, text]| match shape {
        "is" => part.eq_ignore_ascii_case(text),
        "starts" => part.starts_with(text),
        _ => part.strip_suffix(text).is_some_and(|rest| rest.ends_with(' ')),
    })
}

/// `mode 0644`: nobody may execute it.
fn has_no_execute_bit(part: &str) -> bool {
    let mode = part.strip_prefix("mode ").and_then(|mode| u32::from_str_radix(mode, 8).ok());
    mode.is_some_and(|mode| mode & 0o111 == 0)
}

impl FileFacts {
    /// Facts without a fault.
    pub fn sound(description: impl Into<String>) -> FileFacts {
        FileFacts { description: description.into(), fault: None }
    }

    /// Facts of a file that cannot run.
    pub fn faulty(kind: &str, fault: impl Into<String>) -> FileFacts {
        let fault = fault.into();
        let description = match kind {
            "" => fault.clone(),
            kind => format!("{kind}, {fault}"),
        };
        FileFacts { description, fault: Some(fault) }
    }

    /// Facts as an observation has them.
    pub fn from_description(description: &str) -> FileFacts {
        let parts = description.split(", ").map(str::trim);
        let fault = parts.into_iter().find(|part| {
            // A `#!` line may end with any word.
            has_no_execute_bit(part) || (!part.starts_with("script #!") && is_fault(part))
        });
        let fault = fault.map(str::to_owned);
        FileFacts { description: description.to_owned(), fault }
    }

    pub fn description(&self) -> &str {
        &self.description
    }

    /// The name of a program that opens a display.
    pub(crate) fn display_program(&self) -> Option<&str> {
        let mut parts = self.description.split(", ").filter(|_| self.fault.is_none());
        parts.find_map(|part| part.strip_prefix(DISPLAY_PROGRAM)).map(str::trim_start)
    }

    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

impl Serialize for FileFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_whole_part_of_the_description() {
        for sound in ["elf x86-64, interpreter and libraries found", "script #!/bin/sh missing"] {
            assert_eq!(FileFacts::from_description(sound).fault(), None, "{sound}");
        }
        for (description, fault) in [
            ("elf x86-64, needed libx.so.1 not found", "needed libx.so.1 not found"),
            ("elf x86-64, mode 0644", "mode 0644"),
            ("gzip data", "gzip data"),
            ("text without #! (html)", "text without #! (html)"),
            ("script #!/usr/bin/env node, node not on PATH", "node not on PATH"),
        ] {
            assert_eq!(FileFacts::from_description(description).fault(), Some(fault));
        }
    }
}
