//! Texts measured in columns, and shortened or wrapped to fit a line.

use super::styled_line::Line;
use crate::terminal::format::clean;
use crate::terminal::table::cut_inside;
use unicode_width::UnicodeWidthChar as _;

/// The columns of a text on one line. Terminals differ about joined characters; counting each by
/// itself is never too little.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The longest beginning of a text that takes at most `limit` columns.
pub fn beginning(text: &str, limit: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > limit {
            return &text[..at];
        }
    }
    text
}

/// A step's name in at most `limit` columns, cut inside: names often differ at their end. Its visit is
/// kept: without it all visits look alike.
pub fn shortened(text: &str, limit: usize) -> String {
    let visit = text.rfind('#').filter(|at| text[at + 1..].bytes().all(|b| b.is_ascii_digit()));
    match visit.map(|at| text.split_at(at)) {
        Some((name, visit)) if width(text) > limit && width(visit) + 2 < limit => {
            cut_inside(name, limit - width(visit)) + visit
        }
        _ => cut_inside(text, limit),
    }
}

/// Fewer columns of a path's end are of no use.
const SHORTEST_END: usize = 4;

/// A text in at most `limit` columns. A path at its end loses its beginning, since its end matters most.
pub fn fitted(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let (before, path) = text.split_at(text.rfind(' ').map_or(0, |at| at + 1));
    let room = limit.saturating_sub(width(before) + 1);
    let mut ends = path.match_indices('/').map(|(at, _)| &path[at..]);
    // Of an address the beginning matters most.
    if !path.contains('/') || path.contains("://") || room < SHORTEST_END {
        return Line::plain(text).cut(limit).render(false);
    }
    let whole = ends.find(|end| end.len() > 1 && width(end) <= room);
    format!("{before}…{}", whole.unwrap_or_else(|| ending(path, room)))
}

/// The end of a text that has at most `limit` columns.
fn ending(text: &str, limit: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices().rev() {
        taken += c.width().unwrap_or(0);
        if taken > limit {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// All of a foreign text, in one line.
pub fn one_line(text: &str) -> String {
    clean(&text.replace(['\n', '\t'], " "))
}

/// A text in lines of at most `room` columns, broken at blanks: a word that is longer stays whole.
pub fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text;
    while width(rest) > room {
        let fits = beginning(rest, room).len();
        // A blank right behind what fits is as good as one in it.
        let behind = usize::from(rest[fits..].starts_with(' '));
        let inside = rest[..fits + behind].rfind(' ');
        let words = rest.len() - rest.trim_start_matches(' ').len();
        let next = rest[words..].find(' ').map(|at| words + at);
        let Some(end) = inside.filter(|at| *at > words).or(next) else { break };
        lines.push(rest[..end].to_owned());
        rest = rest[end..].trim_start_matches(' ');
    }
    lines.push(rest.to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_never_shortened() {
        assert_eq!(shortened("review-completeness#12", 22), "review-completeness#12");
        assert_eq!(shortened("review-completeness#12", 12), "revi…ness#12");
        assert_eq!(shortened("review-completeness", 12), "review…eness");
        assert_eq!(shortened("review#12", 4), "re…2");
    }

    #[test]
    fn a_path_keeps_its_end() {
        let text = "Read crates/towpath/src/deep/file.rs";
        for (limit, shown) in [
            (36, text),
            (35, "Read …/towpath/src/deep/file.rs"),
            (22, "Read …/deep/file.rs"),
            (14, "Read …/file.rs"),
            (13, "Read …file.rs"),
            (10, "Read …e.rs"),
            (9, "Read cra…"),
        ] {
            assert_eq!(fitted(text, limit), shown);
        }
        assert_eq!(fitted("Bash cargo test --workspace", 12), "Bash cargo …");
        assert_eq!(fitted("Fetch https://example.org/a/b", 22), "Fetch https://example…");
        let silent = "silent for 4 min · Read src/a/auth.rs";
        assert_eq!(fitted(silent, 33), "silent for 4 min · Read …/auth.rs");
    }

    #[test]
    fn long_messages_break_at_spaces() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("  one two", 5), ["  one", "two"]);
        assert_eq!(wrapped("abcdefghij kl m", 4), ["abcdefghij", "kl m"], "a word stays whole");
        assert_eq!(wrapped("日本語", 1), ["日本語"]);
    }
}
