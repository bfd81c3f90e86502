//! The YAML library: its limits, what it returns, and its errors in our words. Refused: two
//! documents, unknown tags, and files made to exhaust memory or the stack.

use super::indentation_errors::{misplaced_line, tab_in_indentation};
use super::unquoted_values::{
    dash_without_space, quoted, quoting_help, unclosed_quote, unknown_tag,
};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{
    DuplicateKeyPolicy, Error, Location, NonFiniteFloatPolicy, Options, Spanned,
    budget::BudgetBreach,
};
use std::fmt;
use std::sync::Arc;
use towpath_core::fields::FileKind;
use towpath_core::{Diagnostic, Source, Span};

const MAX_DEPTH: usize = 64;
const MAX_SCALAR_BYTES: usize = 8_000_000;
const TOO_MANY: &str = "this file expands to too many values";

pub(super) fn deserialize(
    text: &str,
    duplicate_keys: DuplicateKeyPolicy,
) -> Result<Spanned<Raw>, Error> {
    let mut options = Options::default();
    options.duplicate_keys = duplicate_keys;
    options.strict_booleans = true;
    options.reject_unsupported_tags = true;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    options.with_snippet = false;
    if let Some(budget) = options.budget.as_mut() {
        budget.max_depth = MAX_DEPTH;
        budget.max_total_scalar_bytes = MAX_SCALAR_BYTES;
    }
    serde_saphyr::from_str_with_options(text, options)
}

/// A value as the YAML library returns it, before numbers get their text back.
pub(super) enum Raw {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Number(value.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Raw, E> {
        Ok(Raw::Text(text))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Raw, E> {
        Ok(Raw::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key()? {
            map.push((key, entries.next_value()?));
        }
        Ok(Raw::Map(map))
    }
}

pub(super) fn span_of(source: &Source, location: &Location) -> Span {
    let text = &source.text;
    let span = location.span();
    if let (Some(start), Some(length)) = (span.byte_offset(), span.byte_len()) {
        let (start, end) = (start as usize, (start + length) as usize);
        if text.get(start..end).is_some() {
            return Span { start, end };
        }
    }
    let line = (location.line() as usize).saturating_sub(1);
    let column = (location.column() as usize).saturating_sub(1);
    let line_start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = &text[line_start.min(text.len())..];
    let rest = rest.lines().next().unwrap_or("");
    let start = line_start + rest.chars().take(column).map(char::len_utf8).sum::<usize>();
    let end = start + rest.chars().nth(column).map_or(0, char::len_utf8);
    Span { start, end }
}

pub(super) fn syntax_error(source: &Arc<Source>, kind: FileKind, error: &Error) -> Diagnostic {
    let error = error.without_snippet();
    let span = error.location().map_or(Span::default(), |l| span_of(source, &l));
    if let Some(start) = placeholder_on_line(source, span.start) {
        return unquoted_placeholder(source, start);
    }
    let (code, message) = described(kind, error);
    if message.contains(" tab")
        && let Some(problem) = tab_in_indentation(source, span.start)
    {
        return problem;
    }
    if code == "bad-yaml"
        && let Some(problem) = slip(source, span.start, &message)
    {
        return problem;
    }
    let help = quoting_help(source, span.start, &message)
        .or_else(|| help_for(&message).map(str::to_owned));
    let problem = Diagnostic::error(code, message).at(source, span, "");
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

/// The error in our words, where the library reports a consequence of what is wrong.
fn slip(source: &Arc<Source>, offset: usize, message: &str) -> Option<Diagnostic> {
    if message.contains("unsupported tag") {
        return unknown_tag(source, offset);
    }
    if message.contains("quoted scalar") && !message.contains("trailing content") {
        return unclosed_quote(source, offset);
    }
    dash_without_space(source, offset).or_else(|| misplaced_line(source, offset))
}

fn described(kind: FileKind, error: &Error) -> (&'static str, String) {
    match error {
        Error::AliasError { error, .. } => described(kind, error),
        Error::MultipleDocuments { .. } => {
            let message = format!("{} is one document: nothing may follow a `---`", kind.name);
            ("two-documents", message)
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("this key");
            ("duplicate-key", format!("`{key}` is here twice"))
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            ("too-deep", format!("nested more than {MAX_DEPTH} levels deep"))
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => ("too-large", TOO_MANY.to_owned()),
        other => match plain_message(other) {
            text if text == "recursion limit exceeded" => {
                ("too-deep", format!("nested more than {MAX_DEPTH} levels deep"))
            }
            text => ("bad-yaml", format!("this is not valid YAML: {text}")),
        },
    }
}

/// The help for the most common slips in YAML.
fn help_for(message: &str) -> Option<&'static str> {
    if message.contains("mapping values are not allowed") {
        Some("put quotes around a value that contains `: `")
    } else if message.contains(" tab") {
        Some("indent with spaces")
    } else {
        None
    }
}

/// The start of a `{{` that begins a value on the line of `offset` and was not quoted.
fn placeholder_on_line(source: &Source, offset: usize) -> Option<usize> {
    let text = &source.text;
    let start = text[..offset.min(text.len())].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next()?;
    let opens = |opening: &str| Some(line.find(opening)? + 2);
    // After another `: ` it is inside a value, of which the library reports the problem itself.
    let at = [": {{", "- {{"].into_iter().filter_map(opens).min()?;
    let before = line[..at - 2].trim_start().trim_start_matches("- ");
    (!before.contains(": ")).then_some(start + at)
}

/// The library's own words without the location, which the label shows.
fn plain_message(error: &Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// `{{` at the start of a value opens two YAML maps; its author meant a placeholder.
pub(super) fn unquoted_placeholder(source: &Arc<Source>, start: usize) -> Diagnostic {
    let line = source.text[start..].lines().next().unwrap_or("").trim_end();
    let message = "a value that begins with `{{` must be quoted: YAML reads it as a map";
    let key = source.text[..start].trim_end().ends_with("condition:");
    let help = match key {
        true => format!("a condition has no braces: write `{}`", without_braces(line)),
        false => format!("write {}", quoted(line)),
    };
    Diagnostic::error("unquoted-place", message)
        .at(source, Span { start, end: start + line.len() }, "")
        .help(help)
}

/// `{{env}} == 'prod'` as a condition has it.
fn without_braces(line: &str) -> String {
    let bare = line.replace("{{ ", "").replace(" }}", "");
    bare.replace("{{", "").replace("}}", "")
}
