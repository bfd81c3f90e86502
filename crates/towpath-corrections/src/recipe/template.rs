//! The templates of recipes: `{{.Arg 1}}`, `{{.Args}}`, `{{.Raw}}`, `{{.Full}}`, `{{.Matched}}`,
//! `{{if …}}…{{else}}…{{end}}`; `{{-` and `-}}` trim the blanks beside them. Nothing else.

use serde::{Deserialize, Serialize};

/// What a template can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    /// The whole command line.
    Full,
    /// What the rule looks for.
    Matched,
    /// The command's words as they are written.
    Raw,
    /// All words behind the matched ones.
    Args,
    /// One of them, counted from 1. There may be none.
    Arg(usize),
}

/// A template whose conditions are decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Value(Value),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Piece(Piece),
    If { condition: Value, then: Vec<Node>, otherwise: Vec<Node> },
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum TemplateError {
    #[error("`{{{{` at byte {at} is not closed")]
    Unclosed { at: usize },
    #[error("`{{{{{text}}}}}` is no value of a recipe")]
    Unknown { text: String },
    #[error("an `if` has no `end`")]
    MissingEnd,
    #[error("`{text}` has no `if`")]
    Unexpected { text: String },
}

/// One `{{…}}` or the text between two of them.
enum Token {
    Text(String),
    Value(Value),
    If(Value),
    Else,
    End,
}

impl Template {
    /// A text without values.
    pub fn plain(text: &str) -> Template {
        Template { nodes: vec![Node::Piece(Piece::Text(text.to_owned()))] }
    }

    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        if !text.contains("{{") {
            return Ok(Template::plain(text));
        }
        let mut tokens = tokens(text)?.into_iter();
        let (nodes, end) = nodes(&mut tokens)?;
        match end {
            None => Ok(Template { nodes }),
            Some(Token::Else) => Err(TemplateError::Unexpected { text: "else".to_owned() }),
            Some(_) => Err(TemplateError::Unexpected { text: "end".to_owned() }),
        }
    }

    /// The template with its conditions decided. `None` if one of them cannot be.
    pub fn decide(&self, is_true: &mut dyn FnMut(Value) -> Option<bool>) -> Option<Vec<Piece>> {
        let mut pieces = Vec::new();
        decide(&self.nodes, is_true, &mut pieces)?;
        Some(pieces)
    }
}

fn decide(
    nodes: &[Node],
    is_true: &mut dyn FnMut(Value) -> Option<bool>,
    pieces: &mut Vec<Piece>,
) -> Option<()> {
    for node in nodes {
        match node {
            Node::Piece(piece) => pieces.push(piece.clone()),
            Node::If { condition, then, otherwise } => {
                let chosen = if is_true(*condition)? { then } else { otherwise };
                decide(chosen, is_true, pieces)?;
            }
        }
    }
    Some(())
}

/// The nodes up to an `else` or `end` that is not their own.
fn nodes(
    tokens: &mut dyn Iterator<Item = Token>,
) -> Result<(Vec<Node>, Option<Token>), TemplateError> {
    let mut found = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => found.push(Node::Piece(Piece::Text(text))),
            Token::Value(value) => found.push(Node::Piece(Piece::Value(value))),
            Token::If(condition) => {
                let (then, end) = nodes(tokens)?;
                let (otherwise, end) = match end {
                    Some(Token::Else) => nodes(tokens)?,
                    end => (Vec::new(), end),
                };
                match end {
                    Some(Token::End) => found.push(Node::If { condition, then, otherwise }),
                    Some(_) => return Err(TemplateError::Unexpected { text: "else".to_owned() }),
                    None => return Err(TemplateError::MissingEnd),
                }
            }
            end @ (Token::Else | Token::End) => return Ok((found, Some(end))),
        }
    }
    Ok((found, None))
}

fn tokens(text: &str) -> Result<Vec<Token>, TemplateError> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut trim_start = false;
    loop {
        let open = rest.find("{{");
        let mut before = &rest[..open.unwrap_or(rest.len())];
        if trim_start {
            before = before.trim_start();
        }
        let Some(open) = open else {
            found.push(Token::Text(before.to_owned()));
            return Ok(found);
        };
        let inside = &rest[open + 2..];
        let at = text.len() - rest.len() + open;
        let close = inside.find("}}").ok_or(TemplateError::Unclosed { at })?;
        let (mut action, after) = (&inside[..close], &inside[close + 2..]);
        if let Some(trimmed) = action.strip_prefix('-') {
            (action, before) = (trimmed, before.trim_end());
        }
        trim_start = false;
        if let Some(trimmed) = action.strip_suffix('-').filter(|a| a.ends_with(char::is_whitespace))
        {
            (action, trim_start) = (trimmed, true);
        }
        found.push(Token::Text(before.to_owned()));
        found.push(token(action)?);
        rest = after;
    }
}

fn token(action: &str) -> Result<Token, TemplateError> {
    let words: Vec<&str> = action.split_whitespace().collect();
    let unknown = || TemplateError::Unknown { text: action.trim().to_owned() };
    match words.as_slice() {
        ["if", condition @ ..] => value(condition).map(Token::If).ok_or_else(unknown),
        ["else"] => Ok(Token::Else),
        ["end"] => Ok(Token::End),
        words => value(words).map(Token::Value).ok_or_else(unknown),
    }
}

fn value(words: &[&str]) -> Option<Value> {
    match words {
        [".Full"] => Some(Value::Full),
        [".Matched"] => Some(Value::Matched),
        [".Raw"] => Some(Value::Raw),
        [".Args"] => Some(Value::Args),
        [".Arg", number] => number.parse().ok().map(Value::Arg),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(text: &str, is: bool) -> String {
        let pieces = Template::parse(text).unwrap().decide(&mut |_| Some(is)).unwrap();
        let shown = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(value) => format!("<{value:?}>"),
        };
        pieces.iter().map(shown).collect()
    }

    #[test]
    fn conditions_and_trims() {
        let text = "a {{- if .Args}} x {{ .Args }}{{else}} y{{end -}}  z {{.Arg 12}}";
        assert_eq!(decided(text, true), "a x <Args>z <Arg(12)>");
        assert_eq!(decided(text, false), "a yz <Arg(12)>");
        let nested = "{{if .Raw}}{{if .Full}}1{{end}}{{else}}2{{end}}";
        assert_eq!((decided(nested, true), decided(nested, false)), ("1".into(), "2".into()));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "{{.Nope}}",
            "{{.Arg 1",
            "{{.Arg}}",
            "{{.Arg -1}}",
            "{{.Arg x}}",
            "{{range .Args}}{{end}}",
            "{{if .Args}}",
            "{{else}}",
            "{{end}}",
            "{{if .Args}}{{else}}{{else}}{{end}}",
            "{{}}",
            "{{/* c */}}",
            "{{if}}{{end}}",
            "{{.Args | len}}",
            "{{else if .Args}}",
        ] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        assert!(Template::parse("${x} {a,b} }}").is_ok());
    }
}
