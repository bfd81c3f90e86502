//! Text in the words of one command, quoted ones too, and over several words. Redirections, and commands
//! in substitutions or behind a wrapper, are not the command's words.

use crate::correction::Edit;
use crate::{escape_for_nesting, text_matches};
use std::ops::Range;
use towpath_shell::bash::tree::{Part, Word};
use towpath_shell::bash::visit::{self, Visitor};
use towpath_shell::bash::{Script, SimpleCommand};

pub(super) fn edits(
    script: &Script,
    command: &SimpleCommand,
    rule: u64,
    from: &str,
    to: &str,
) -> Vec<Edit> {
    let line = script.text();
    // A rule on text adds no command to a line.
    let commands = |text: &str| text.matches("$(").count() + text.matches('`').count();
    if commands(to) > commands(from) {
        return Vec::new();
    }
    let Some(to) = escape_for_nesting::for_command(script, command, to) else { return Vec::new() };
    let mut nested = Nested(Vec::new());
    command.words.iter().for_each(|word| visit::parts(&word.parts, &mut nested));
    nested.0.extend(super::inner_commands(script, command));
    let mut found = Vec::new();
    for words in runs(command) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { continue };
        let run = first.range.start..last.range.end;
        for at in text_matches::occurrences(&line[run.clone()], from, &to) {
            let range = run.start + at.start..run.start + at.end;
            if !nested.0.iter().any(|inner| super::overlap(inner, &range)) {
                found.push(widened(line, words, range, &to, rule));
            }
        }
    }
    found
}

/// Words that only blanks are between.
fn runs(command: &SimpleCommand) -> Vec<&[Word]> {
    let divided = |pair: &[Word]| {
        let between = pair[0].range.end..pair[1].range.start;
        command.redirects.iter().any(|r| super::overlap(&r.range, &between))
    };
    let mut runs = Vec::new();
    let mut start = 0;
    for (index, pair) in command.words.windows(2).enumerate() {
        if divided(pair) {
            runs.push(&command.words[start..=index]);
            start = index + 1;
        }
    }
    runs.push(&command.words[start..]);
    runs
}

/// A match over several words is an edit of whole words: the words are others afterwards.
fn widened(line: &str, words: &[Word], range: Range<usize>, to: &str, rule: u64) -> Edit {
    let edit = |range, text: String| Edit { range, text, rules: vec![rule] };
    let inside = |word: &Word| word.range.start <= range.start && range.end <= word.range.end;
    if words.iter().any(inside) {
        return edit(range, to.to_owned());
    }
    let start = words.iter().map(|w| &w.range).find(|w| w.contains(&range.start));
    let end = words.iter().map(|w| &w.range).find(|w| w.start < range.end && range.end <= w.end);
    let start = start.map_or(range.start, |w| w.start);
    let end = end.map_or(range.end, |w| w.end);
    edit(start..end, format!("{}{to}{}", &line[start..range.start], &line[range.end..end]))
}

/// Where other commands are inside of words.
struct Nested(Vec<Range<usize>>);

impl Visitor for Nested {
    fn part(&mut self, part: &Part) {
        if let Part::Substitution { range, .. } = part {
            self.0.push(range.clone());
        }
    }
}
