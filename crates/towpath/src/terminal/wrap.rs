//! Messages of ours on a terminal: broken at blanks, never inside a word. A command after a colon is there to be
//! copied, so it stays in one piece: on a line of its own where it does not fit, and longer than the terminal
//! where it must be.

use unicode_width::UnicodeWidthStr as _;

/// A text whose lines have at most `width` columns, as far as its words and commands allow. Lines keep the
/// blanks they begin with.
pub fn wrap(text: &str, width: usize) -> String {
    let lines = text.split('\n').map(|line| wrap_line(line, width));
    lines.collect::<Vec<_>>().join("\n")
}

fn wrap_line(line: &str, width: usize) -> String {
    if shown_width(line) <= width {
        return line.to_owned();
    }
    let body = line.trim_start_matches(' ');
    let indent = &line[..line.len() - body.len()];
    let mut wrapped = indent.to_owned();
    let mut used = indent.len();
    for (index, unit) in units(body).iter().enumerate() {
        let needed = shown_width(unit);
        if index > 0 && used + 1 + needed > width {
            wrapped.push('\n');
            wrapped.push_str(indent);
            used = indent.len();
        } else if index > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(unit);
        used += needed;
    }
    wrapped
}

/// The words of a line; a command with its arguments is one.
fn units(line: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let mut in_command = false;
    for word in line.split(' ') {
        let follows_colon = units.last().is_some_and(|before| before.ends_with(':'));
        match units.last_mut() {
            Some(command) if in_command => {
                command.push(' ');
                command.push_str(word);
            }
            _ => {
                in_command = follows_colon && plain(word) == "towpath";
                units.push(word.to_owned());
            }
        }
        in_command &= !word.ends_with([';', ')', ',']);
    }
    units
}

/// The columns of a text, without sequences for colours.
fn shown_width(text: &str) -> usize {
    plain(text).width()
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_breaks_at_blanks_and_keeps_its_commands() {
        let text = "error: ci.yaml is not trusted; to see it: towpath trust ci.yaml; to trust it: towpath \
                    trust --yes ci.yaml";
        assert_eq!(
            wrap(text, 40),
            "error: ci.yaml is not trusted; to see\nit: towpath trust ci.yaml; to trust it:\n\
             towpath trust --yes ci.yaml"
        );
        assert_eq!(wrap(text, 200), text);
    }

    #[test]
    fn a_word_is_never_broken() {
        let text = "  it is in /a/very/long/path/of/a/file there";
        assert_eq!(wrap(text, 16), "  it is in\n  /a/very/long/path/of/a/file\n  there");
        for width in 0..60 {
            let joined = wrap(text, width).replace('\n', " ");
            let words: Vec<&str> = joined.split_whitespace().collect();
            assert_eq!(words, text.split_whitespace().collect::<Vec<_>>(), "{width}");
        }
    }

    #[test]
    fn colours_take_no_room() {
        let command = "then: \u{1b}[1mtowpath resume 7f3k\u{1b}[0m";
        assert_eq!(wrap(command, 20), "then:\n\u{1b}[1mtowpath resume 7f3k\u{1b}[0m");
        let text = "\u{1b}[1;31merror\u{1b}[0m: one two";
        assert_eq!(wrap(text, 14), text);
        assert_eq!(wrap(text, 13), "\u{1b}[1;31merror\u{1b}[0m: one\ntwo");
    }
}
