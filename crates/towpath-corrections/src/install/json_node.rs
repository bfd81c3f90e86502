//! A JSON text with the byte range of everything in it, so that one part can be edited and all other
//! bytes stay. Comments and trailing commas are read where the program whose file it is reads them.
//! Nothing is repaired: what is not JSON is an error with its position.

use serde::Deserialize;
use serde_json::Value;
use std::ops::Range;

/// Nested deeper than any settings file, and far from the end of the stack.
const DEEPEST: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub span: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Object(Vec<Child>),
    Array(Vec<Child>),
    String(String),
    Number,
    Word(Option<bool>),
}

/// A member of an object or an item of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Child {
    /// None in an array.
    pub key: Option<String>,
    /// Where it begins: at its key, or at its value.
    pub start: usize,
    pub value: Node,
    /// Where the comma after it is.
    pub comma: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    pub at: usize,
    pub message: String,
}

/// Whether a program reads comments and trailing commas in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comments {
    Allowed,
    #[default]
    Refused,
}

pub fn parse(text: &str, comments: Comments) -> Result<Node, JsonError> {
    let mut reader = Reader { text, at: 0, comments };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    reader.skip_space()?;
    let root = reader.value(0)?;
    reader.skip_space()?;
    match reader.peek() {
        None => Ok(root),
        Some(_) => Err(reader.unexpected("the end of the file")),
    }
}

impl Node {
    pub fn children(&self) -> &[Child] {
        match &self.kind {
            Kind::Object(children) | Kind::Array(children) => children,
            _ => &[],
        }
    }

    /// The position of a member. Of several with one key the last counts, as in JavaScript.
    pub fn position(&self, key: &str) -> Option<usize> {
        self.children().iter().rposition(|child| child.key.as_deref() == Some(key))
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).map(|at| &self.children()[at].value)
    }

    pub fn string(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_))
    }

    /// In the words of a user.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Object(_) => "an object",
            Kind::Array(_) => "an array",
            Kind::String(_) => "a string",
            Kind::Number => "a number",
            Kind::Word(Some(_)) => "a boolean",
            Kind::Word(None) => "null",
        }
    }

    /// What the text means, without its formatting and its comments.
    pub fn value(&self, text: &str) -> Value {
        match &self.kind {
            Kind::Object(children) => {
                let members = children.iter().filter_map(|child| {
                    child.key.clone().map(|key| (key, child.value.value(text)))
                });
                Value::Object(members.collect())
            }
            Kind::Array(children) => {
                Value::Array(children.iter().map(|child| child.value.value(text)).collect())
            }
            Kind::String(text) => Value::String(text.clone()),
            Kind::Number => serde_json::from_str(&text[self.span.clone()]).unwrap_or_default(),
            Kind::Word(word) => word.map_or(Value::Null, Value::Bool),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    comments: Comments,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, JsonError> {
        Err(JsonError { at: self.at, message: message.into() })
    }

    fn unexpected(&self, expected: &str) -> JsonError {
        let found = match self.rest().chars().next() {
            Some(found) => format!("`{}`", found.escape_debug()),
            None => "the end of the file".to_owned(),
        };
        JsonError { at: self.at, message: format!("expected {expected}, found {found}") }
    }

    fn skip_space(&mut self) -> Result<(), JsonError> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') => match comment(self.rest()) {
                    Some(_) if self.comments == Comments::Refused => {
                        return self
                            .error("a comment, which the program does not read in this file");
                    }
                    Some(length) => self.at += length,
                    None => return self.error("a comment without an end"),
                },
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        if depth > DEEPEST {
            return self.error(format!("nested deeper than {DEEPEST} levels"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.children(b'}', depth)?),
            Some(b'[') => Kind::Array(self.children(b']', depth)?),
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn children(&mut self, end: u8, depth: usize) -> Result<Vec<Child>, JsonError> {
        let mut children: Vec<Child> = Vec::new();
        self.at += 1;
        loop {
            self.skip_space()?;
            let separated = children.last().is_none_or(|child| child.comma.is_some());
            match self.peek() {
                Some(byte) if byte == end => {
                    if separated && !children.is_empty() && self.comments == Comments::Refused {
                        return Err(self.unexpected("a value after the comma"));
                    }
                    self.at += 1;
                    return Ok(children);
                }
                Some(b',') if !separated => {
                    children.last_mut().expect("one is not separated").comma = Some(self.at);
                    self.at += 1;
                }
                _ if separated => children.push(self.child(end == b'}', depth)?),
                _ => return Err(self.unexpected(&format!("`,` or `{}`", char::from(end)))),
            }
        }
    }

    fn child(&mut self, keyed: bool, depth: usize) -> Result<Child, JsonError> {
        let start = self.at;
        let mut key = None;
        if keyed {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            key = Some(self.string()?);
            self.skip_space()?;
            if self.peek() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.at += 1;
            self.skip_space()?;
        }
        Ok(Child { key, start, value: self.value(depth + 1)?, comma: None })
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0..0x20) => return self.error("a control character in a string"),
                Some(_) => self.at += 1,
                None => {
                    return Err(JsonError { at: start, message: "a string without an end".into() });
                }
            }
        }
        self.at += 1;
        let raw = &self.text[start..self.at];
        // Half of a surrogate pair is a string in JavaScript, and none in Rust: it stays as written.
        Ok(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()))
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let bytes = self.rest().as_bytes();
        let length = match bytes.get(1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') if bytes.get(2..6).is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit)) => 6,
            _ => return self.error("an escape that JSON does not have"),
        };
        self.at += length;
        Ok(())
    }

    fn number(&mut self) -> Result<Kind, JsonError> {
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
        let length = self.rest().find(|c| !part(c)).unwrap_or(self.rest().len());
        if serde_json::from_str::<serde_json::Number>(&self.rest()[..length]).is_err() {
            return self.error("not a number of JSON");
        }
        self.at += length;
        Ok(Kind::Number)
    }

    fn word(&mut self) -> Result<Kind, JsonError> {
        for (word, value) in [("true", Some(true)), ("false", Some(false)), ("null", None)] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(Kind::Word(value));
            }
        }
        Err(self.unexpected("a value"))
    }
}

/// The length of the comment at the beginning of a text; of `//` without its line break.
pub fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(['\n', '\r']).unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    inside.find("*/").map(|end| end + "/**/".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = parse(text, Comments::Refused).expect_err(text);
        format!("{}: {}", error.at, error.message)
    }

    #[test]
    fn everything_has_its_range() {
        let text = "\u{feff}{\"a\": [1, \"x\\u00e9\"], // c\n \"b\": null,}\n";
        let root = parse(text, Comments::Allowed).expect("it is read");
        let list = root.get("a").expect("a member");
        assert_eq!(&text[list.span.clone()], "[1, \"x\\u00e9\"]");
        assert_eq!(list.children()[1].value.string(), Some("xé"));
        assert_eq!(root.value(text), serde_json::json!({"a": [1, "xé"], "b": null}));
        assert!(root.children()[1].comma.is_some());
    }

    #[test]
    fn what_is_not_json_has_a_position() {
        assert_eq!(refused("{\"a\": 1,}"), "8: expected a value after the comma, found `}`");
        assert_eq!(
            refused("{} // c"),
            "3: a comment, which the program does not read in this file"
        );
        assert_eq!(refused("{\"a\" 1}"), "5: expected `:`, found `1`");
        assert_eq!(refused("{a: 1}"), "1: expected a key in double quotes, found `a`");
        assert_eq!(refused("[1 2]"), "3: expected `,` or `]`, found `2`");
        assert_eq!(refused("[1,,2]"), "3: expected a value, found `,`");
        assert_eq!(refused("{\"a\": \"x"), "6: a string without an end");
        assert_eq!(refused("[01]"), "1: not a number of JSON");
        assert_eq!(refused("[\"\\x\"]"), "2: an escape that JSON does not have");
        assert_eq!(refused("{} {}"), "3: expected the end of the file, found `{`");
        assert_eq!(refused(""), "0: expected a value, found the end of the file");
        assert!(refused(&"[".repeat(100_000)).contains("nested deeper"));
    }

    #[test]
    fn it_reads_what_the_library_reads() {
        for text in
            ["1e5", "-0.5", "[tru]", "[nul", "[1.]", "[+1]", "{\"a\":1,\"a\":2}", "[\"\t\"]"]
        {
            let ours = parse(text, Comments::Refused).map(|root| root.value(text)).ok();
            let theirs: Option<Value> = serde_json::from_str(text).ok();
            assert_eq!(ours, theirs, "{text}");
        }
    }
}
