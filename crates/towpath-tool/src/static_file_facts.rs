//! What a look at a file has found, without running it. A static check makes such facts; an observation
//! carries them as one line of text, from which a fault is read back part by part.

use serde::{Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Parts with commas between them: `elf x86-64, needed libx.so.1 not found`.
    description: String,
    /// The part that describes why the file cannot run, if there is one.
    fault: Option<String>,
}

/// Before the name of a program that opens a display and has this name in its file.
pub(crate) const DISPLAY_PROGRAM: &str = "display program";

/// How a part of a description has to look to be a fault.
enum Shape {
    Is(&'static str),
    StartsWith(&'static str),
    EndsWith(&'static str),
}

const FAULTS: &[Shape] = &[
    Shape::Is("missing"),
    Shape::Is("empty"),
    Shape::Is("directory"),
    Shape::Is("truncated"),
    Shape::Is("link loop"),
    Shape::Is("dangling link"),
    Shape::Is("not a regular file"),
    Shape::Is("not executable"),
    Shape::StartsWith("blank"),
    Shape::StartsWith("text without #!"),
    Shape::StartsWith("CR in #!"),
    Shape::StartsWith("BOM before #!"),
    Shape::StartsWith("wrong architecture"),
    Shape::StartsWith("damaged"),
    Shape::StartsWith("mach-o"),
    Shape::StartsWith("pe executable"),
    Shape::EndsWith(" missing"),
    Shape::EndsWith(" not found"),
    Shape::EndsWith(" not on PATH"),
    Shape::EndsWith(" past end of file"),
    Shape::EndsWith(" data"),
    Shape::EndsWith(" archive"),
    Shape::EndsWith(" is not a program"),
];

impl Shape {
    fn matches(&self, part: &str) -> bool {
        match self {
            Shape::Is(text) => part.eq_ignore_ascii_case(text),
            Shape::StartsWith(text) => part.starts_with(text),
            Shape::EndsWith(text) => part.ends_with(text),
        }
    }
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
        let is_fault = |part: &&str| {
            // A `#!` line may end with any word.
            let shape = || FAULTS.iter().any(|shape| shape.matches(part));
            has_no_execute_bit(part) || (!part.starts_with("script #!") && shape())
        };
        let fault = parts.into_iter().find(is_fault).map(str::to_owned);
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
