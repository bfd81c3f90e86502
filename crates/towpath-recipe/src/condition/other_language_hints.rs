//! What users write out of habit from other languages, and what to write here instead. Nothing
//! of it is accepted; this only finds the right words for the refusal.

use super::ConditionError;
use super::excerpt::excerpt;
use super::tokens::in_name;
use crate::other_words::how;
use std::ops::Range;

pub(super) const ARITHMETIC: &str = "conditions do no arithmetic";
pub(super) const ARITHMETIC_HELP: &str = "compute it in an earlier step and compare its output";

/// A piece that begins like a number and is none.
pub(super) fn no_number(range: Range<usize>, written: &str) -> ConditionError {
    let message = format!("`{}` is not a number", excerpt(written));
    let method =
        written.split_once('.').filter(|(_, after)| after.starts_with(char::is_alphabetic));
    ConditionError::new(range, message).help(match method {
        Some(_) => "only strings have methods",
        None => "numbers are written like `42`, `3.14` or `-7`",
    })
}

/// A comparison with an `=` too many.
pub(super) fn doubled(range: Range<usize>, symbol: &str) -> ConditionError {
    ConditionError::new(range, format!("`{symbol}=` is not an operator"))
        .help(format!("write `{symbol}`"))
}

/// A character that begins no token.
pub(super) fn no_symbol(text: &str, range: Range<usize>) -> ConditionError {
    let symbol = &text[range.clone()];
    let no_operator = || format!("`{symbol}` is not an operator");
    if let Some(error) = regex(text, &range).or_else(|| bash_test(text, &range)) {
        return error;
    }
    let (message, help) = match symbol {
        "=" => ("`=` does not compare".to_owned(), "write `==`".to_owned()),
        "!" => (no_operator(), format!("write `not {}`", operand_after(text, range.end))),
        "&" => (no_operator(), "write `and`".to_owned()),
        "|" => (no_operator(), "write `or`".to_owned()),
        "+" | "-" | "*" | "/" | "%" | "^" => (ARITHMETIC.to_owned(), ARITHMETIC_HELP.to_owned()),
        "{" | "}" => (
            "maps cannot be written in a condition".to_owned(),
            "compare one value at a time".to_owned(),
        ),
        "?" => ("a condition has no `? :`".to_owned(), "write `a and b or c`".to_owned()),
        "$" => {
            let name = operand_after(text, range.end);
            let of_shell = !name.chars().any(char::is_lowercase);
            let print =
                format!("let a step print it: `command: echo \"${name}\"`, with an `output`");
            let help = if of_shell { print } else { format!("write `{name}`") };
            ("a variable has no `$` here".to_owned(), help)
        }
        "`" | "‘" | "’" | "“" | "”" | "«" | "»" => {
            (format!("`{symbol}` does not quote a string"), "write `'` or `\"`".to_owned())
        }
        _ => {
            let shown = symbol.escape_debug();
            return ConditionError::new(range, format!("`{shown}` has no meaning in a condition"));
        }
    };
    ConditionError::new(range, message).help(help)
}

/// `a =~ 'b.*'` and `a ~= 'b.*'`.
fn regex(text: &str, range: &Range<usize>) -> Option<ConditionError> {
    let begins = |symbol: &str| text[range.start..].starts_with(symbol);
    let symbol = ["=~", "!~", "~=", "~"].into_iter().find(|symbol| begins(symbol))?;
    let range = range.start..range.start + symbol.len();
    let error = ConditionError::new(range, format!("`{symbol}`: {NO_REGEX}"));
    Some(error.help(how("function", "regex")?))
}

/// `[ -f x ]`, `test -z "$a"`, `a -eq 1`: the dash begins an option of a test.
fn bash_test(text: &str, range: &Range<usize>) -> Option<ConditionError> {
    let option = text[range.start..].strip_prefix('-')?;
    let letters = option.chars().take_while(char::is_ascii_lowercase).count();
    let end = range.end + letters;
    if !(1..=2).contains(&letters) || !text[end..].starts_with(' ') {
        return None;
    }
    let message =
        format!("`{}` is a test of bash, and a condition is none", &text[range.start..end]);
    let help = "compare variables, as in `count > 1`; or let an earlier step run the test, as in \
        `command: test -f FILE && echo yes || true`, and test its output";
    Some(ConditionError::new(range.start..end, message).help(help))
}

const NO_REGEX: &str = "conditions have no regular expressions";
/// The name that follows, for an example; `…` if none does.
fn operand_after(text: &str, at: usize) -> &str {
    let rest = text[at..].trim_start_matches(['{', ' ']);
    let end = rest.find(|c| !(in_name(c) || matches!(c, '.' | '-'))).unwrap_or(rest.len());
    if end == 0 { "…" } else { &rest[..end] }
}

/// The words to write instead of `x is defined`, by those after `is`.
pub(super) fn test_for_a_value(words: &[&str], operand: &str) -> Option<String> {
    let (negated, word) = match words {
        ["not", word, ..] => (true, *word),
        [word, ..] => (false, *word),
        [] => return None,
    };
    let is_set = match word {
        "defined" | "set" | "present" => !negated,
        "undefined" | "unset" | "missing" | "null" | "None" | "none" | "empty" => negated,
        _ => return None,
    };
    let write = if is_set { operand.to_owned() } else { format!("not {operand}") };
    Some(format!("write `{write}`: a variable without a value is null, which is false"))
}
