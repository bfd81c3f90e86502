//! `$name` in a command, where the document has a variable of that name: Meld puts the value in, bash
//! reads a variable of its own.

use std::ops::Range;

/// Words after which a command sets the names that follow.
const SETTERS: [&str; 12] = [
    "for",
    "select",
    "read",
    "local",
    "declare",
    "typeset",
    "export",
    "readonly",
    "mapfile",
    "readarray",
    "getopts",
    "-v",
];

/// The variables that a command reads and does not set itself, with where each is read first. Good
/// enough for a warning: it knows quotes, not here-documents.
pub(crate) fn read_and_not_set(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut found: Vec<(&str, Range<usize>)> = Vec::new();
    let (mut at, mut double) = (0, false);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => double = !double,
            b'\'' if !double => at += memchr::memchr(b'\'', &bytes[at + 1..]).map_or(0, |n| n + 1),
            b'$' => {
                let start = at + 1 + usize::from(text[at + 1..].starts_with('{'));
                let name = name_at(text, start);
                if !name.is_empty() && found.iter().all(|(known, _)| *known != name) {
                    found.push((name, at..start + name.len()));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found.retain(|(name, _)| !is_set(text, name));
    found
}

/// The name that a text begins with at an offset; empty where it begins with none.
pub(crate) fn name_at(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &rest[..end] }
}

fn is_set(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '{' | '.');
        if before.ends_with(inside) || name_at(text, at) != name {
            return false;
        }
        let segment = before.rsplit([';', '|', '&', '\n', '(']).next().unwrap_or_default();
        ["=", "+=", "["].iter().any(|sets| after.starts_with(sets))
            || segment.split_whitespace().any(|word| SETTERS.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_reads_from_outside() {
        for (text, expected) in [
            ("ls -la $src", "src"),
            ("ls \"$src/a\" ${dst}", "src dst"),
            ("ls '$src' \\$src", ""),
            ("src=1; ls $src", ""),
            ("for f in *; do echo $f src $src; done", "src"),
            ("while IFS= read -r a b; do echo $a $b; done < $in", "in"),
            ("printf -v x 1; echo $x $1 $# $$", ""),
            ("rm -rf $build/cache build {{build}}", "build"),
            ("echo $", ""),
            ("a[0]=1; echo ${a[0]}", ""),
        ] {
            let names: Vec<&str> = read_and_not_set(text).iter().map(|(name, _)| *name).collect();
            assert_eq!(names.join(" "), expected, "{text}");
        }
    }
}
