//! One reason for which a case fails, for people and for machines.

use crate::matcher::Miss;
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in a word: a key of `expect`, or what the case was given.
    pub kind: &'static str,
    /// The whole of it in a line.
    pub message: String,
    /// Expected and got, to be shown as a difference.
    pub difference: Option<(String, String)>,
    /// What there is to read, with its heading: a file, the end of an output.
    pub more: Option<(String, String)>,
    /// Where in the test file.
    pub location: Option<String>,
}

impl Problem {
    pub fn new(kind: &'static str, message: impl Into<String>) -> Problem {
        Problem { kind, message: message.into(), ..Problem::default() }
    }

    pub fn differs(kind: &'static str, what: &str, expected: String, got: String) -> Problem {
        let difference = Some((expected, got));
        Problem { difference, ..Problem::new(kind, format!("{what} is not what was expected")) }
    }

    /// What a matcher finds wrong with a value.
    pub fn missed(kind: &'static str, what: &str, miss: Miss) -> Problem {
        match miss {
            Miss::Differs(expected, got) => Problem::differs(kind, what, expected, got),
            Miss::Lies(how, got) => Problem {
                more: Some(("it is".to_owned(), got)),
                ..Problem::new(kind, format!("{what} {how}"))
            },
        }
    }

    pub fn with(self, heading: impl Into<String>, text: impl Into<String>) -> Problem {
        Problem { more: Some((heading.into(), text.into())), ..self }
    }

    pub fn at(self, location: String) -> Problem {
        Problem { location: Some(location), ..self }
    }

    pub fn json(&self) -> Value {
        let mut object = json!({ "kind": self.kind, "message": self.message });
        if let Some((expected, got)) = &self.difference {
            object["expected"] = json!(expected);
            object["got"] = json!(got);
        }
        if let Some((_, text)) = &self.more {
            object["text"] = json!(text);
        }
        if let Some(location) = &self.location {
            object["place"] = json!(location);
        }
        object
    }
}
