//! Text and regular expressions in a string.

use regex::Regex;
use std::ops::Range;

/// Every occurrence of `from`, but not one that is part of `to` already.
pub(crate) fn occurrences(text: &str, from: &str, to: &str) -> Vec<Range<usize>> {
    if from.is_empty() {
        return Vec::new();
    }
    let inside_to: Vec<usize> = to.match_indices(from).map(|(at, _)| at).collect();
    let corrected = |at: usize| {
        inside_to.iter().any(|offset| {
            at.checked_sub(*offset)
                .and_then(|start| text.get(start..))
                .is_some_and(|t| t.starts_with(to))
        })
    };
    let found = text.match_indices(from).map(|(at, _)| at);
    found.filter(|at| !corrected(*at)).map(|at| at..at + from.len()).collect()
}

/// The matches of a regular expression with what is written instead of each. A pattern is compiled
/// only where a text that it requires occurs; one that does not compile matches nothing.
pub(crate) fn matches(text: &str, pattern: &str, to: &str) -> Vec<(Range<usize>, String)> {
    if required_literal(pattern).is_some_and(|literal| !text.contains(&literal)) {
        return Vec::new();
    }
    let Ok(regex) = Regex::new(pattern) else { return Vec::new() };
    let mut found = Vec::new();
    for captures in regex.captures_iter(text) {
        let whole = captures.get(0).map_or(0..0, |m| m.range());
        let mut written = String::new();
        captures.expand(to, &mut written);
        if !whole.is_empty() && text[whole.clone()] != written {
            found.push((whole, written));
        }
    }
    found
}

/// A text that every match contains, if one can be seen in the pattern without compiling it.
pub(crate) fn required_literal(pattern: &str) -> Option<String> {
    // An alternative needs none of its texts, and `(?` may change what a letter means.
    if pattern.contains('|') || pattern.contains("(?") {
        return None;
    }
    let mut runs = vec![String::new()];
    let mut depth = 0usize;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' => {
                // `\d`, `\b`, `\x41`: only an escaped sign is itself.
                let escaped = chars.next()?;
                if matches!(escaped, 'x' | 'u' | 'U' | 'p' | 'P' | 'Q') {
                    return longest(runs);
                }
                (!escaped.is_alphanumeric()).then_some(escaped)
            }
            '[' => return longest(runs),
            '(' => {
                depth += 1;
                None
            }
            ')' => {
                depth = depth.saturating_sub(1);
                None
            }
            '?' | '*' | '{' => {
                // What is before may occur no time at all; a group may have been all of it.
                if let Some(run) = runs.last_mut() {
                    run.pop();
                }
                if c == '{' {
                    return longest(runs);
                }
                None
            }
            '.' | '+' | '^' | '$' => None,
            other => Some(other),
        };
        match literal.filter(|_| depth == 0) {
            Some(c) => runs.last_mut()?.push(c),
            None => runs.push(String::new()),
        }
    }
    longest(runs)
}

fn longest(runs: Vec<String>) -> Option<String> {
    runs.into_iter().max_by_key(String::len).filter(|run| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_required_text_is_in_every_match() {
        for (pattern, literal) in [
            ("curl -k", Some("curl -k")),
            ("^npm i (\\S+)$", Some("npm i ")),
            ("v(\\d+)\\b", Some("v")),
            ("\\bnode\\b", Some("node")),
            ("ab?c", Some("c")),
            ("a|b", None),
            ("(?i)curl", None),
            ("(abc)?d", Some("d")),
            ("[abc]+", None),
            ("x[ab]", Some("x")),
            ("ab{0}", Some("a")),
            ("a\\.b", Some("a.b")),
            ("(bad", None),
        ] {
            assert_eq!(required_literal(pattern).as_deref(), literal, "{pattern}");
        }
    }

    #[test]
    fn what_is_corrected_already_is_no_occurrence() {
        assert_eq!(occurrences("a host: newhost:", "host:", "newhost:"), vec![2..7]);
        assert_eq!(occurrences("aaa", "a", "b").len(), 3);
        assert!(occurrences("abc", "", "x").is_empty());
    }
}
