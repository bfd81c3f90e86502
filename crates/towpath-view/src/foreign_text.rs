//! Foreign text and paths, made safe to show.

use std::path::Path;

/// Foreign text inside a line of ours: no control characters, so that it cannot move the cursor, and
/// none that let text run the other way.
pub fn clean(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let moves = |c: char| c.is_control() && c != '\t';
    text.chars().map(|c| if moves(c) || turns(c) { '\u{fffd}' } else { c }).collect()
}

/// A text in which paths below a directory are relative to it.
pub fn relative(text: &str, directory: &Path) -> String {
    let Some(base) = directory.to_str().filter(|base| base.len() > 1) else {
        return text.to_owned();
    };
    let base = format!("{base}/");
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(&base) {
        let (before, found) = rest.split_at(at);
        shown.push_str(before);
        let begins = shown.chars().next_back().is_none_or(|c| " \t\n\"'`=:(<>|;&,".contains(c));
        // Nothing is left to show of the directory itself.
        let after = found[base.len()..].chars().next();
        let names = after.is_some_and(|c| !c.is_whitespace() && !"\"'`/;&|)".contains(c));
        if !(begins && names) {
            shown.push_str(&base);
        }
        rest = &found[base.len()..];
    }
    shown + rest
}

/// Foreign text as a whole, with what cannot be seen or turns text round made visible.
pub fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => seen.push(c),
            '\u{0}'..='\u{1f}' => seen.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => seen.push('\u{2421}'),
            c if c.is_control() || is_invisible(c) => {
                seen.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(c)));
            }
            c => seen.push(c),
        }
    }
    seen
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The first line of foreign text that is not empty, with `…` where more follow.
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let first = lines.next().unwrap_or("");
    let more = if lines.next().is_some() { " …" } else { "" };
    clean(&first.replace('\t', " ")) + more
}

/// The first line of a command that does something: no blank line, no comment, and no `set` that only
/// chooses options of the shell; with `…` where more follow.
pub fn first_command_line(text: &str) -> String {
    let prepares = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let options = |option: &str| option.starts_with(['-', '+']) && option.len() > 1;
        line.starts_with('#')
            || matches!(words[..], ["set", first, ..] if options(first) && first != "--")
                && !line.contains([';', '&', '|'])
    };
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty() || prepares(line.trim()));
    let rest = lines.by_ref().collect::<Vec<_>>().join("\n");
    if rest.is_empty() { first_line(text) } else { first_line(&rest) }
}

/// A path in full, with what is no text escaped.
pub fn escaped(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => text.to_owned(),
        Some(text) => text.escape_debug().to_string(),
        None => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_by_its_first_line_that_does_something() {
        for (text, shown) in [
            ("set -euo pipefail\nmake test\n", "make test"),
            ("#!/bin/bash\n\n# first\nset -e\nset -o pipefail\nmake\nmake test", "make …"),
            ("set -- a b\necho $1", "set -- a b …"),
            ("set -e; make", "set -e; make"),
            ("set -e", "set -e"),
            ("make test", "make test"),
        ] {
            assert_eq!(first_command_line(text), shown, "{text}");
        }
    }

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        assert_eq!(clean("a\u{1b}[2Jb\r"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(first_line("\n a\tb \nc"), "a b …");
        assert_eq!(first_line("\n  one \u{1b}[2J\n two\n"), "one \u{fffd}[2J …");
    }

    #[test]
    fn paths_are_relative_to_the_directory() {
        let shown = |text| relative(text, Path::new("/home/me/shop"));
        for (text, expected) in [
            ("Read /home/me/shop/src/lib.rs", "Read src/lib.rs"),
            ("Bash cat '/home/me/shop/a b' >/home/me/shop/c", "Bash cat 'a b' >c"),
            ("Bash ls /home/me/shop/", "Bash ls /home/me/shop/"),
            ("Bash ls /home/me/shop", "Bash ls /home/me/shop"),
            ("Read /home/me/shopping/x", "Read /home/me/shopping/x"),
            ("Read /mnt/home/me/shop/x", "Read /mnt/home/me/shop/x"),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(relative("Read /etc/hosts", Path::new("/")), "Read /etc/hosts");
    }
}
