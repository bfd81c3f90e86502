//! What an agent did, one line for each tool use and each sentence. The last message is kept back:
//! when it is the answer, the answer follows and would repeat it.

use crate::terminal::format::clean;
use crate::terminal::report::fitted;
use std::path::{Path, PathBuf};
use towpath_view::foreign_text::relative;

pub struct Transcript {
    /// Where the run works: paths below it are shown without it.
    directory: PathBuf,
    /// How wide a terminal is that shows it.
    columns: Option<usize>,
    pending: Vec<String>,
}

impl Transcript {
    pub fn new(directory: &Path, columns: Option<usize>) -> Transcript {
        Transcript { directory: directory.to_owned(), columns, pending: Vec::new() }
    }

    /// The lines to show for a tool use.
    pub fn doing(&mut self, what: &str) -> Vec<String> {
        let mut shown = self.release();
        let line = format!("  {}", clean(&relative(what, &self.directory)));
        shown.push(self.columns.map_or(line.clone(), |most| fitted(&line, most)));
        shown
    }

    /// The lines to show before a message, which is kept back itself.
    pub fn message(&mut self, text: &str) -> Vec<String> {
        std::mem::replace(&mut self.pending, sentences(text))
    }

    /// The call is over: what is left to show before its answer.
    pub fn finish(&mut self, answer: &str) -> Vec<String> {
        let answer = sentences(answer);
        let last = self.pending.iter().rev().zip(answer.iter().rev());
        let repeated = last.take_while(|(pending, answered)| pending == answered).count();
        self.pending.truncate(self.pending.len() - repeated);
        self.release()
    }

    /// What was kept back, for a reader that does not wait for what follows.
    pub fn release(&mut self) -> Vec<String> {
        std::mem::take(&mut self.pending)
    }
}

/// The lines of a message that have text.
fn sentences(text: &str) -> Vec<String> {
    text.lines().map(|line| clean(line.trim_end())).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_below_the_directory_and_control_characters_are_gone() {
        let mut transcript = Transcript::new(Path::new("/w"), None);
        assert!(transcript.message("One.\n\nTwo\u{1b}[2J.").is_empty());
        let shown = transcript.doing("Read /w/src/lib.rs");
        assert_eq!(shown, ["One.", "Two\u{fffd}[2J.", "  Read src/lib.rs"]);
        assert!(transcript.message("Three.").is_empty());
        assert_eq!(transcript.message("Four.\nFive."), ["Three."]);
        assert_eq!(transcript.finish("Five."), ["Four."], "the answer is not shown twice");
    }
}
