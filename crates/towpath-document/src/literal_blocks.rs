//! Which lines of Markdown are literal: fenced code, as CommonMark has it, and HTML comment blocks.
//! Nothing in them is a directive or a reference. Lists and quotes are followed only as far as a
//! fence inside of them needs.

/// Follows a document line by line.
#[derive(Debug, Default)]
pub(crate) struct LiteralBlocks {
    open: Option<Block>,
    /// The column where the text of the last list item begins, while that item may continue.
    item: usize,
}

#[derive(Debug)]
enum Block {
    Fence(Fence),
    Comment,
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

impl LiteralBlocks {
    /// Whether the next line, given without its ending, is literal.
    pub fn contains(&mut self, line: &[u8]) -> bool {
        match &self.open {
            Some(Block::Comment) => {
                if ends_comment(line) {
                    self.open = None;
                }
                return true;
            }
            Some(Block::Fence(fence)) => {
                if let Some(closes) = fence.closed_by(line) {
                    if closes {
                        self.open = None;
                    }
                    return true;
                }
                // The quote or the list around it has ended, and the fence with it.
                self.open = None;
            }
            None => {}
        }
        self.opens(line)
    }

    /// Whether a block has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    fn opens(&mut self, line: &[u8]) -> bool {
        let (blanks, rest) = indentation(line);
        let Some(first) = rest.first() else { return false };
        if blanks == 0 && !may_open(*first) {
            self.item = 0;
            return false;
        }
        if blanks <= 3 && rest.starts_with(b"<!--") {
            if !ends_comment(rest) {
                self.open = Some(Block::Comment);
            }
            return true;
        }
        let within = Container::before(line, self.item);
        self.item = within.item;
        let fence = within.fence();
        self.open = fence.map(Block::Fence);
        fence.is_some()
    }
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
        let mut blocks = LiteralBlocks::default();
        let mark = |line: &str| if blocks.contains(line.as_bytes()) { 'x' } else { '.' };
        text.lines().map(mark).collect()
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
        ] {
            assert_eq!(marked(text), expected, "{text:?}");
        }
    }
}
