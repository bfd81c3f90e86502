//! The fenced blocks and links of a Markdown page, with what an HTML comment right above a block
//! shows about it: `<!-- file: NAME -->` writes the block to a file, `<!-- wrong -->` marks a recipe
//! that must be refused, `<!-- file: NAME, wrong -->` shows both.

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The fence's first word: `console`, `yaml`, …
    pub kind: String,
    pub text: String,
    /// What the comment above it shows.
    pub note: Option<String>,
    /// Where the block's first line is, counted from 1.
    pub line: usize,
}

impl Block {
    pub fn file(&self) -> Option<&str> {
        let note = self.note.as_deref()?.strip_prefix("file:")?;
        Some(note.split(',').next().unwrap_or(note).trim())
    }

    pub fn is_wrong(&self) -> bool {
        self.note.as_deref().is_some_and(|note| note.ends_with("wrong"))
    }
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut above: Option<String> = None;
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match &mut open {
            Some(block) if line == "```" => {
                blocks.push(block.clone());
                open = None;
                above = None;
            }
            Some(block) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {
                if let Some(info) = line.strip_prefix("```") {
                    let kind = info.split([' ', ',']).next().unwrap_or("").to_owned();
                    let note = above.take();
                    open = Some(Block { kind, text: String::new(), note, line: index + 2 });
                }
                above = comment(line);
            }
        }
    }
    assert!(open.is_none(), "a fence is not closed: {open:?}");
    blocks
}

fn comment(line: &str) -> Option<String> {
    let inside = line.strip_prefix("<!--")?.strip_suffix("-->")?;
    Some(inside.trim().to_owned())
}

/// The targets of all links and images outside of fences.
pub fn links(page: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(page) {
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            links.push(rest[..end].to_owned());
        }
    }
    links
}

/// What is between backticks outside of fences.
pub fn code_words(page: &str) -> Vec<String> {
    let mut words = Vec::new();
    for line in prose(page) {
        words.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    words
}

/// The first cells of the rows of all tables, without their backticks.
pub fn first_cells(page: &str) -> Vec<String> {
    let rows = prose(page).into_iter().filter(|line| line.starts_with("| "));
    rows.filter_map(|row| row.split('|').nth(1)).map(|c| c.trim().replace('`', "")).collect()
}

fn prose(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push(line);
        }
    }
    lines
}
