//! Which parts of Markdown are literal: fenced code, as CommonMark has it, HTML comments, code spans of
//! several lines, and `<pre>`, `<script>`, `<style>` and `<textarea>`. Nothing in them is a directive or
//! a reference. Lists and quotes are followed only as far as a fence inside of them needs.

use std::ops::Range;

/// How far the end of a code span is looked for: one that is longer was not typed.
const LONGEST_SPAN: usize = 4096;

/// Follows a document line by line.
#[derive(Debug)]
pub(crate) struct LiteralBlocks<'a> {
    text: &'a [u8],
    open: Option<Block>,
    /// The column where the text of the last list item begins, while that item may continue.
    item: usize,
    /// The next `<!--` or backtick, so that most lines are not searched by themselves.
    next_comment: usize,
    next_tick: usize,
    /// No comment that begins from here on has an end.
    endless: bool,
}

#[derive(Debug)]
enum Block {
    Fence(Fence),
    /// From a line that begins with `<!--`, up to a line with `-->`.
    Comment,
    /// From the middle of a line up to this offset.
    UpTo(usize),
    /// Up to a line with this tag.
    Element(&'static [u8]),
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    marker: u8,
    length: usize,
    /// How many `>` are before it.
    quotes: usize,
    /// The column of the list item that it is in.
    item: usize,
}

impl<'a> LiteralBlocks<'a> {
    pub fn new(text: &'a [u8]) -> LiteralBlocks<'a> {
        let (next_comment, next_tick) = (find(text, 0, b"<!--"), find(text, 0, b"`"));
        LiteralBlocks { text, open: None, item: 0, next_comment, next_tick, endless: false }
    }

    /// How much of the next line, given without its ending, is literal: nothing, or from its beginning
    /// up to this offset of the document.
    pub fn literal_to(&mut self, line: Range<usize>) -> usize {
        let content = &self.text[line.clone()];
        match &self.open {
            Some(Block::Comment) => {
                if ends_comment(content) {
                    self.open = None;
                    self.open_inline(self.after_comment(&line), line.end);
                }
                return line.end;
            }
            Some(Block::Element(end)) => {
                if contains_ignoring_case(content, end) {
                    self.open = None;
                }
                return line.end;
            }
            Some(Block::UpTo(end)) => {
                let end = (*end).max(line.start);
                if end > line.end {
                    return line.end;
                }
                self.open = None;
                self.open_inline(end, line.end);
                return end;
            }
            Some(Block::Fence(fence)) => {
                if let Some(closes) = fence.closed_by(content) {
                    if closes {
                        self.open = None;
                    }
                    return line.end;
                }
                // The quote or the list around it has ended, and the fence with it.
                self.open = None;
            }
            None => {}
        }
        if self.opens(&line) { line.end } else { line.start }
    }

    /// Whether a block has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether the line is literal, with which a block may begin.
    fn opens(&mut self, line: &Range<usize>) -> bool {
        let content = &self.text[line.clone()];
        let (blanks, rest) = indentation(content);
        let Some(first) = rest.first() else { return false };
        if blanks == 0 && !may_open(*first) {
            self.item = 0;
            self.open_inline(line.start, line.end);
            return false;
        }
        if blanks <= 3 && rest.starts_with(b"<!--") {
            match ends_comment(rest) {
                true => self.open_inline(self.after_comment(line), line.end),
                false => self.open = Some(Block::Comment),
            }
            return true;
        }
        if let Some(end) = element(rest).filter(|_| blanks <= 3) {
            if !contains_ignoring_case(rest, end) {
                self.open = Some(Block::Element(end));
            }
            return true;
        }
        let within = Container::before(content, self.item);
        self.item = within.item;
        let fence = within.fence();
        self.open = fence.map(Block::Fence);
        if fence.is_none() {
            self.open_inline(line.start, line.end);
        }
        fence.is_some()
    }

    /// Opens a comment or a code span that begins in this range of a line and does not end there.
    fn open_inline(&mut self, from: usize, end: usize) {
        if self.next_comment < from {
            self.next_comment = find(self.text, from, b"<!--");
        }
        if self.next_tick < from {
            self.next_tick = find(self.text, from, b"`");
        }
        let mut at = self.next_comment.min(self.next_tick).max(from);
        if at >= end {
            return;
        }
        while at < end {
            match self.text[at] {
                b'`' => {
                    let length = run_of(b'`', &self.text[at..]);
                    let limit = self.text.len().min(at + LONGEST_SPAN);
                    let span = span_end(&self.text[..limit], at + length, length);
                    at = span.unwrap_or(at + length);
                }
                b'<' if self.text[at..end].starts_with(b"<!--") && !self.endless => {
                    let close = find(self.text, at + 4, b"-->");
                    self.endless = close == usize::MAX;
                    at = if self.endless { at + 4 } else { close + 3 };
                }
                _ => at += 1,
            }
        }
        if at > end {
            self.open = Some(Block::UpTo(at));
        }
    }

    /// Behind the first `-->` of a line that has one.
    fn after_comment(&self, line: &Range<usize>) -> usize {
        find(self.text, line.start, b"-->").saturating_add(3).min(line.end)
    }
}

/// The offset of what is looked for, from an offset on.
fn find(text: &[u8], from: usize, what: &[u8]) -> usize {
    memchr::memmem::find(&text[from..], what).map_or(usize::MAX, |found| from + found)
}

/// Behind the run of as many backticks that closes a code span, in the same paragraph.
fn span_end(text: &[u8], from: usize, length: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr2(b'`', b'\n', &text[at..])?;
        if text[at] == b'\n' {
            let (_, rest) = indentation(&text[at + 1..]);
            // A paragraph ends with a blank line, and with what begins another block.
            let ends = [&b"\n"[..], b"\r\n", b"```", b"~~~", b"#", b">", b"<!--"];
            if rest.is_empty() || ends.iter().any(|begin| rest.starts_with(begin)) {
                return None;
            }
            at += 1;
            continue;
        }
        let run = run_of(b'`', &text[at..]);
        at += run;
        if run == length {
            return Some(at);
        }
    }
}

/// The closing tag of an element whose content is no Markdown, where a line begins with it.
fn element(rest: &[u8]) -> Option<&'static [u8]> {
    let name = rest.strip_prefix(b"<")?;
    let ends: [&[u8]; 4] = [b"</pre>", b"</script>", b"</style>", b"</textarea>"];
    ends.into_iter().find(|end| {
        let own = &end[2..end.len() - 1];
        let after = name.get(own.len());
        name.len() >= own.len()
            && name[..own.len()].eq_ignore_ascii_case(own)
            && after.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'>'))
    })
}

fn contains_ignoring_case(line: &[u8], tag: &[u8]) -> bool {
    line.windows(tag.len()).any(|window| window.eq_ignore_ascii_case(tag))
}

fn may_open(first: u8) -> bool {
    matches!(first, b'`' | b'~' | b'<' | b'>' | b'-' | b'+' | b'*' | b'0'..=b'9')
}

fn ends_comment(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"-->").is_some()
}

/// The width of the blanks that a text begins with, and what follows them.
fn indentation(line: &[u8]) -> (usize, &[u8]) {
    let mut width = 0;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b' ' => width += 1,
            b'\t' => width += 4 - width % 4,
            _ => return (width, &line[at..]),
        }
    }
    (width, &[])
}

/// The quotes and list items that a line begins with, and what follows them.
struct Container<'a> {
    quotes: usize,
    item: usize,
    blanks: usize,
    rest: &'a [u8],
}

impl<'a> Container<'a> {
    /// `item`: the column of the list item before this line.
    fn before(line: &'a [u8], item: usize) -> Container<'a> {
        let (mut quotes, mut column, mut line) = (0, 0, line);
        let mut inside = 0;
        loop {
            let (blanks, rest) = indentation(line);
            let continues = column == 0 && item > 0 && blanks >= item;
            let allowed = if continues { item + 3 } else { 3 };
            if blanks <= allowed {
                if let Some(after) = rest.strip_prefix(b">") {
                    quotes += 1;
                    line = after.strip_prefix(b" ").unwrap_or(after);
                    (column, inside) = (0, 0);
                    continue;
                }
                if let Some(width) = list_marker(rest) {
                    column += blanks + width;
                    inside = column;
                    line = &rest[width..];
                    continue;
                }
            }
            if continues {
                inside = item;
            }
            return Container { quotes, item: inside, blanks: column + blanks, rest };
        }
    }

    /// The fence that the line opens.
    fn fence(&self) -> Option<Fence> {
        if self.blanks > self.item + 3 {
            return None;
        }
        let marker = *self.rest.first().filter(|first| matches!(first, b'`' | b'~'))?;
        let length = run_of(marker, self.rest);
        let info = &self.rest[length..];
        let allowed = marker == b'~' || !info.contains(&b'`');
        let fence = Fence { marker, length, quotes: self.quotes, item: self.item };
        (length >= 3 && allowed).then_some(fence)
    }
}

/// The width of a list marker with the blank after it.
fn list_marker(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let width = match (digits, text.get(digits)?) {
        (0, b'-' | b'+' | b'*') => 1,
        (1..=9, b'.' | b')') => digits + 1,
        _ => return None,
    };
    matches!(text.get(width), Some(b' ' | b'\t')).then_some(width + 1)
}

fn run_of(marker: u8, text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == marker).count()
}

impl Fence {
    /// Whether a line closes the fence; `None` if the line is outside of what the fence is in.
    fn closed_by(&self, mut line: &[u8]) -> Option<bool> {
        for _ in 0..self.quotes {
            let (blanks, rest) = indentation(line);
            let after = rest.strip_prefix(b">").filter(|_| blanks <= 3)?;
            line = after.strip_prefix(b" ").unwrap_or(after);
        }
        let (blanks, rest) = indentation(line);
        if rest.is_empty() {
            return Some(false);
        }
        if blanks < self.item {
            return None;
        }
        let length = run_of(self.marker, rest);
        let alone = indentation(&rest[length..]).1.is_empty();
        Some(length >= self.length && alone && blanks <= self.item + 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are literal, as `x`, and the others, as `.`.
    fn marked(text: &str) -> String {
        let mut blocks = LiteralBlocks::new(text.as_bytes());
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = at;
            at += line.len();
            let end = start + line.trim_end_matches('\n').len();
            if blocks.literal_to(start..end) > start { 'x' } else { '.' }
        });
        lines.collect()
    }

    #[test]
    fn fences_and_comments() {
        for (text, expected) in [
            ("a\n```\nb\n```\nc", ".xxx."),
            ("~~~ sh\n```\n~~~\nc", "xxx."),
            ("````\n```\n````\nc", "xxx."),
            ("```\n````\nc", "xx."),
            ("```\n~~~\n```x\n", "xxx"),
            ("``` a`b\nc", ".."),
            ("``\nc", ".."),
            ("   ```\na\n    ```\n ```\nc", "xxxx."),
            ("    ```\na", ".."),
            ("- ```\n  a\n  ```\nb", "xxx."),
            ("- ```\nb", "x."),
            ("- a\n\n  ```\n  b\n  ```\nc", "..xxx."),
            ("10. a\n\n    ```\n    b\n    ```\nc", "..xxx."),
            ("a\n\n    ```\nb", "...."),
            ("> ```\n> a\nb", "xx."),
            ("> ```\n> a\n> ```\n> b", "xxx."),
            ("> - ```\n>   a\n> b", "xx."),
            ("<!-- a -->\nb", "x."),
            ("<!--\n```\n-->\nb", "xxx."),
            ("```\n<!--\n```\nb", "xxx."),
            ("a <!--\nb", ".."),
            ("<!-->\nb", "x."),
            ("a <!-- b\nc\nd --> e\nf", ".xx."),
            ("<!-- a --> <!-- b\nc\n-->\nd", "xxx."),
            ("- a <!-- b\nc\n\n-->\nd", ".x.x."),
            ("a <!-- b --> c <!-- d\ne -->", ".x"),
            ("<!--\n--> a <!-- b\nc -->\nd", "xxx."),
            ("a `<!--` b\nc -->", ".."),
            ("a ``<!-- ` `` b\nc -->", ".."),
            ("a ` <!-- b\nc\n-->\nd", ".xx."),
            ("a `b\nc\nd` e\nf", ".xx."),
            ("a `b\n\nc`", "..."),
            ("a ``b\nc`\nd", "..."),
            ("a `b\n```\nc`\n```\nd", ".xxx."),
            ("<pre>\na\n</pre>\nb", "xxx."),
            ("<PRE class=x>\na\n</Pre> c\nb", "xxx."),
            ("<script>a</script>\nb", "x."),
            ("<prefix>\nb", ".."),
            ("  <style\nb\n</style>\nc", "xxx."),
        ] {
            assert_eq!(marked(text), expected, "{text:?}");
        }
    }
}
