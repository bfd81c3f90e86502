//! The reserved words: the compound commands that they open, divide and close, with the headers of
//! `for` and `case`.

use super::command_list_state::{CommandList, Open};
use super::words::Subscripts;
use super::{Kind, Scanner, Step};
use crate::bash::NotBash;

/// The words that begin a compound command.
pub const OPENERS: [&str; 8] = ["{", "[[", "if", "while", "until", "for", "case", "select"];

/// The words that divide or close a compound command: they may follow another one directly.
pub const ENDERS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// The other reserved words that begin no compound command.
pub const OTHER_RESERVED: [&str; 5] = ["!", "]]", "in", "coproc", "function"];

impl Scanner<'_> {
    /// Whether the word means something to bash here, with what that is done.
    pub fn reserved(
        &mut self,
        list: &mut CommandList,
        word: &str,
        start: usize,
    ) -> Result<bool, NotBash> {
        match word {
            "if" => list.push(Open::If, start),
            "while" | "until" => list.push(Open::Loop, start),
            "{" => list.push(Open::Brace, start),
            "for" | "select" => self.for_header(list, start)?,
            "case" => self.case_header(list, start)?,
            "then" | "elif" | "else" => self.divides(list, Open::If, start)?,
            "do" => self.divides(list, Open::Loop, start)?,
            "fi" => self.closes(list, Open::If, start)?,
            "done" => self.closes(list, Open::Loop, start)?,
            "esac" => self.closes(list, Open::Case, start)?,
            "}" => self.closes(list, Open::Brace, start)?,
            "[[" => {
                self.condition(start)?;
                list.ended();
            }
            "!" => {
                if list.forbids_negation() {
                    self.doubt(start..self.at);
                }
                list.begin();
                list.prefixed = true;
            }
            "time" => {
                list.begin();
                list.prefixed = true;
                self.blanks();
                self.take_word("-p");
            }
            "coproc" => {
                if list.coprocess {
                    self.doubt(start..self.at);
                }
                list.begin();
                list.coprocess = true;
            }
            "function" => {
                if list.coprocess {
                    self.doubt(start..self.at);
                }
                self.blanks();
                self.name()?;
                self.blanks();
                if self.take(b'(') {
                    self.blanks();
                    self.take(b')');
                }
                list.begin();
                (list.continues, list.function) = (true, true);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn divides(&mut self, list: &mut CommandList, open: Open, start: usize) -> Step {
        if list.top().open != open {
            return Err(self.error(start..self.at, "this word divides no command that is open"));
        }
        list.divide();
        Ok(())
    }

    fn closes(&mut self, list: &mut CommandList, open: Open, start: usize) -> Step {
        if list.top().open != open {
            return Err(self.error(start..self.at, "this word closes no command that is open"));
        }
        if !list.top().divided {
            self.doubt(start..self.at);
        }
        list.frames.pop();
        list.ended();
        Ok(())
    }

    /// Words up to something that is none.
    fn word_list(&mut self) -> Step {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'#') => self.comment(),
                None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')') => return Ok(()),
                Some(b'<' | b'>') if self.second() != Some(b'(') => return Ok(()),
                Some(_) => {
                    self.word(Subscripts::No)?;
                }
            }
        }
    }

    /// The word that must follow `for`, `case` or `function` on the same line.
    fn name(&mut self) -> Step {
        let token = self.word(Subscripts::No)?;
        if token.range.is_empty() {
            self.doubt(token.range);
        }
        Ok(())
    }

    fn for_header(&mut self, list: &mut CommandList, start: usize) -> Step {
        self.blanks();
        if self.peek() == Some(b'(') {
            if self.second() != Some(b'(') || !self.arithmetic_command(Kind::ArithmeticFor)? {
                return Err(self.unsure(self.at));
            }
        } else {
            self.name()?;
            self.gap()?;
            if self.take_word("in") {
                self.word_list()?;
            }
        }
        self.blanks();
        self.take(b';');
        self.gap()?;
        let opened = self.word(Subscripts::No)?;
        match opened.plain.as_deref() {
            Some("do") => {
                list.push(Open::Loop, start);
                list.divide();
            }
            Some("{") => list.push(Open::Brace, start),
            _ => return Err(self.error(opened.range, "`do` is expected here")),
        }
        Ok(())
    }

    fn case_header(&mut self, list: &mut CommandList, start: usize) -> Step {
        self.blanks();
        self.name()?;
        self.gap()?;
        let word = self.word(Subscripts::No)?;
        if word.plain.as_deref() != Some("in") {
            return Err(self.error(word.range, "`in` is expected here"));
        }
        list.push(Open::Case, start);
        self.case_patterns(list)
    }

    /// The patterns of one arm with their `)`, or `esac`.
    pub fn case_patterns(&mut self, list: &mut CommandList) -> Step {
        self.gap()?;
        let opened = self.take(b'(');
        loop {
            self.blanks();
            let token = self.word(Subscripts::No)?;
            if token.plain.as_deref() == Some("esac") && !opened {
                return self.closes(list, Open::Case, token.range.start);
            }
            if token.range.is_empty() {
                self.doubt(token.range.clone());
            }
            self.blanks();
            match self.peek() {
                Some(b')') => break,
                Some(b'|') => self.at += 1,
                _ => return Err(self.error(token.range, "this `case` pattern has no `)`")),
            }
        }
        self.at += 1;
        list.begin();
        Ok(())
    }

    /// Whether this plain word comes next.
    pub fn next_is(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.take_word(word);
        self.at = before;
        found
    }

    /// Passes over this plain word, if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = word.bytes().all(|byte| self.take(byte))
            && self.peek().is_none_or(|b| b" \t\n;&|<>()".contains(&b));
        self.at = if found { self.at } else { before };
        found
    }
}
