//! Values that mean something else in YAML than in a shell or a condition: what was meant, written so
//! that YAML leaves it alone. This only finds the words for a refusal; nothing here is accepted.

use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span};

/// A value as its line shows it, with the key that it belongs to.
struct LineValue<'t> {
    key: &'t str,
    start: usize,
    text: &'t str,
}

impl LineValue<'_> {
    fn is_condition(&self) -> bool {
        self.key == "condition"
    }

    fn span(&self) -> Span {
        Span { start: self.start, end: self.start + self.text.len() }
    }
}

/// The value that begins on the line of `offset`: after its key, or after the dash of a list.
fn value_on_line(text: &str, offset: usize) -> Option<LineValue<'_>> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next()?;
    let content = line.trim_start().trim_start_matches("- ").trim_start();
    let key = content.split_once(": ").map(|(key, _)| key);
    let key = key.filter(|key| key.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c)));
    let after = key.map_or(content, |key| &content[key.len() + 1..]).trim_start();
    let value_start = start + line.len() - after.len();
    Some(LineValue { key: key.unwrap_or(""), start: value_start, text: after.trim_end() })
}

/// The error for a value with a `!` before it: YAML takes that for a tag, and the value would be without
/// it.
pub(super) fn dropped_exclamation(source: &Arc<Source>, value: Span) -> Option<Diagnostic> {
    let text = &source.text;
    let before = text.get(..value.start)?.trim_end_matches([' ', '\t']);
    let around = before.strip_suffix('!').filter(|around| around.len() + 1 < value.start)?;
    let begins = around.is_empty() || around.ends_with([' ', '\t', '\n', '[', '{', ',']);
    let start = around.len();
    let written = text.get(start..value.end)?.lines().next()?.trim_end();
    let key = if around.trim_end().ends_with("condition:") { "condition" } else { "" };
    let value = LineValue { key, start, text: written };
    let message = "YAML drops a `!` at the start of a value";
    begins.then(|| {
        Diagnostic::error("bad-yaml", message)
            .at(source, value.span(), "")
            .help(negation_help(&value))
    })
}

/// `!flag`: a tag that does not exist.
pub(super) fn unknown_tag(source: &Arc<Source>, offset: usize) -> Option<Diagnostic> {
    let value = value_on_line(&source.text, offset)?;
    let is_negation = value.text.starts_with('!') && !value.text.starts_with("!!");
    let message = "YAML reads a `!` at the start of a value as a tag";
    is_negation.then(|| {
        Diagnostic::error("bad-yaml", message)
            .at(source, value.span(), "")
            .help(negation_help(&value))
    })
}

fn negation_help(value: &LineValue<'_>) -> String {
    match value.is_condition() {
        true => format!("write `not {}`", value.text.trim_start_matches(['!', ' '])),
        false => format!("put quotes around it: {}", quoted(value.text)),
    }
}

/// What to write where the library stopped with `message` in a value that YAML cannot take bare.
pub(super) fn quoting_help(source: &Source, offset: usize, message: &str) -> Option<String> {
    let value = value_on_line(&source.text, offset)?;
    let first = value.text.chars().next()?;
    let trailing = message.contains("invalid trailing content after");
    let reserved = message.contains("unexpected character") && "`@%".contains(first);
    let alias = message.contains("unknown anchor") && first == '*';
    let colon = message.contains("mapping values are not allowed") && value.text.contains(": ");
    if !(trailing && "'\"".contains(first) || reserved || alias || colon) {
        return None;
    }
    if value.is_condition() {
        let bare = without_shell_variables(value.text);
        // Without a quote at its start, YAML takes the rest as it is.
        return Some(match bare.starts_with(['\'', '"']) {
            true => format!("put quotes around the whole condition: {}", quoted(&bare)),
            false => format!("write `{bare}`"),
        });
    }
    let inside = value.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let whole = inside.filter(|inside| trailing && inside.matches('"').count().is_multiple_of(2));
    Some(format!("put quotes around the whole value: {}", quoted(whole.unwrap_or(value.text))))
}

/// `"$env" == "prod"` as a condition has it: `env == "prod"`.
fn without_shell_variables(condition: &str) -> String {
    let mut words = Vec::new();
    for word in condition.split(' ') {
        let inside = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
        let name = inside.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
        words.push(name.unwrap_or(word));
    }
    words.join(" ")
}

/// The text as a quoted scalar of YAML.
pub(super) fn quoted(text: &str) -> String {
    if text.contains('\'') && !text.contains(['"', '\\']) {
        return format!("\"{text}\"");
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// The error for a quote that begins a value at or above `offset` and is never closed: the library
/// reports where it gave up.
pub(super) fn unclosed_quote(source: &Arc<Source>, offset: usize) -> Option<Diagnostic> {
    let text = &source.text;
    let mut end = text.get(..offset)?.len();
    loop {
        let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
        let value = value_on_line(text, start);
        let quote = |value: &LineValue<'_>| {
            value.text.chars().next().filter(|first| "'\"".contains(*first))
        };
        if let Some(value) = &value
            && let Some(quote) = quote(value)
        {
            let closed = value.text[1..].replace("\\\"", "").contains(quote);
            let message = format!("the quote that begins with this `{quote}` is not closed");
            let problem = Diagnostic::error("bad-yaml", message);
            let label = format!("end it with `{quote}`");
            return (!closed).then(|| problem.at(source, value.span(), label));
        }
        end = start.checked_sub(1)?;
    }
}

/// The error for a `-id: a` on the line of `offset` or the one above it, which YAML reads as the key
/// `-id`.
pub(super) fn dash_without_space(source: &Arc<Source>, offset: usize) -> Option<Diagnostic> {
    let text = &source.text;
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let above = text[..start].trim_end().rfind('\n').map_or(0, |at| at + 1);
    [above, start].into_iter().find_map(|start| {
        let line = text[start..].lines().next()?;
        let content = line.trim();
        let (key, _) = content.strip_prefix('-')?.split_once(':')?;
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return None;
        }
        let at = start + line.len() - line.trim_start().len();
        let span = Span { start: at, end: at + content.len() };
        let problem = Diagnostic::error("bad-yaml", "a space is missing after this `-`");
        Some(problem.at(source, span, format!("write `- {}`", &content[1..])))
    })
}

/// The error for a comment of JavaScript in a recipe that is JSON.
pub(super) fn comment_in_json(source: &Arc<Source>) -> Option<Diagnostic> {
    let text = &source.text;
    let begins = text.trim_start();
    // `//` may begin a plain text of YAML; a key in quotes or the comment itself shows that it is JSON.
    let is_json = match begins.strip_prefix('{') {
        Some(inside) => inside.trim_start().starts_with(['"', '/']),
        None => begins.starts_with("//") || begins.starts_with("/*"),
    };
    let at = comment_outside_of_strings(text).filter(|_| is_json)?;
    let line = text[at..].lines().next().unwrap_or("").trim_end();
    let problem = Diagnostic::error("bad-yaml", "JSON has no comments");
    let problem = problem.at(source, Span { start: at, end: at + line.len() }, "take it out");
    Some(problem.help("or write the recipe as YAML, where a comment begins with `#`"))
}

fn comment_outside_of_strings(text: &str) -> Option<usize> {
    let mut in_string = false;
    let mut before = ' ';
    let mut skipped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if skipped => skipped = false,
            '\\' if in_string => skipped = true,
            '"' => in_string = !in_string,
            '/' if !in_string
                && (before.is_whitespace() || "{[,".contains(before))
                && text[at + 1..].starts_with(['/', '*']) =>
            {
                return Some(at);
            }
            _ => {}
        }
        before = character;
    }
    None
}
