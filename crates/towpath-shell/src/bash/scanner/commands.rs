//! The walk through commands: where one begins, which compound commands are open, and which lines
//! are complete. `reserved_words.rs` has the compound commands, `doubted_commands.rs` what bash may
//! read in another way.

use super::command_list_state::{CommandList, Open, State};
use super::reserved_words::OPENERS;
use super::words::{Subscripts, Token};
use super::{Kind, Scanner, Step, Within};
use crate::bash::NotBash;

/// The commands whose arguments may be `a=(…)`.
const DECLARING: [&str; 8] =
    ["declare", "typeset", "local", "export", "readonly", "alias", "eval", "let"];

impl Scanner<'_> {
    pub fn script(&mut self) -> Step {
        self.commands(None)
    }

    /// A list of commands up to the end of the text, or to the `)` of what was opened at `opened`.
    pub fn commands(&mut self, opened: Option<usize>) -> Step {
        let mut list = CommandList::new(self.at, opened.is_some());
        loop {
            self.blanks();
            let Some(byte) = self.peek() else { return self.end_of_text(list, opened) };
            let start = self.at;
            if !matches!(byte, b'\n' | b'#') && list.top().fresh {
                list.top().first.get_or_insert(start);
            }
            match byte {
                b'#' => self.comment(),
                b'\n' => self.end_of_line(&mut list)?,
                b')' if opened.is_some() && list.frames.len() == 1 => {
                    if list.continues {
                        return Err(
                            self.error(start..start + 1, "a command is missing before this")
                        );
                    }
                    self.at += 1;
                    if list.lacks_command_before_parenthesis() {
                        self.doubt(start..self.at);
                    }
                    return Ok(());
                }
                b')' => return Err(self.error(start..start + 1, "this `)` closes nothing")),
                b'(' => self.parenthesis(&mut list)?,
                b';' | b'|' => self.operator(&mut list)?,
                b'&' if self.second() == Some(b'>') => self.redirect(&mut list)?,
                b'&' => self.operator(&mut list)?,
                b'<' | b'>' if self.second() != Some(b'(') => self.redirect(&mut list)?,
                _ => self.command_word(&mut list)?,
            }
        }
    }

    fn end_of_text(&mut self, mut list: CommandList, opened: Option<usize>) -> Step {
        if let Some(start) = opened {
            return Err(self.unclosed(start, "this parenthesis"));
        }
        let top = list.top();
        if top.open != Open::List {
            let start = top.start;
            return Err(self.unclosed(start, "this command"));
        }
        if let Some(first) = top.first {
            self.found.lines.push(first..self.end);
        }
        if list.lacks_command_at_end() {
            self.doubt(self.end..self.end);
        }
        Ok(())
    }

    fn end_of_line(&mut self, list: &mut CommandList) -> Step {
        let mut end = self.at;
        let bodies = !self.pending.is_empty();
        self.newline()?;
        if bodies {
            end = self.at - usize::from(self.bytes[..self.at].ends_with(b"\n"));
        }
        if list.coprocess {
            self.doubt(end..end);
        }
        if list.continues {
            return Ok(());
        }
        let top = list.top();
        top.fresh = true;
        if let Some(first) = top.first.take() {
            self.found.lines.push(first..end);
        }
        list.begin();
        Ok(())
    }

    fn operator(&mut self, list: &mut CommandList) -> Step {
        let start = self.at;
        let byte = self.bytes[start];
        self.at += 1;
        let doubled = self.take(byte);
        let ends_arm = byte == b';' && (doubled || self.peek() == Some(b'&'));
        if ends_arm {
            self.take(b'&');
            if list.top().open != Open::Case {
                return Err(self.error(start..self.at, "this ends no `case` pattern"));
            }
            if list.prefixed {
                self.doubt(start..self.at);
            }
            list.divide();
            return self.case_patterns(list);
        }
        if list.state == State::Start {
            return Err(self.error(start..self.at, "a command is missing before this operator"));
        }
        if byte == b'|' && !doubled {
            self.take(b'&');
        }
        list.begin();
        list.continues = byte == b'|' || (byte == b'&' && doubled);
        list.piped = byte == b'|' && !doubled;
        Ok(())
    }

    fn redirect(&mut self, list: &mut CommandList) -> Step {
        let start = self.at;
        if self.redirect_operator() {
            self.here_doc()?;
        } else {
            let copies = self.text[start..self.at].ends_with('&');
            self.blanks();
            let target = self.word(Subscripts::No)?;
            if target.range.is_empty() {
                return Err(self.error(start..self.at, "the target of this redirection is missing"));
            }
            if self.is_doubted_target(&target, copies) {
                self.doubt(start..self.at);
            }
        }
        if list.function {
            self.doubt(start..self.at);
        }
        if list.state == State::Start {
            list.state = State::Prefix;
        }
        list.redirected = true;
        (list.continues, list.coprocess, list.prefixed) = (false, false, false);
        list.name_end = None;
        Ok(())
    }

    /// Passes over the operator. Whether it begins a here-document.
    fn redirect_operator(&mut self) -> bool {
        let both = self.take(b'&');
        if !both && self.take(b'<') {
            if self.take(b'<') {
                return !self.take(b'<');
            }
            let _ = self.take(b'&') || self.take(b'>');
        } else {
            self.take(b'>');
            let _ = self.take(b'>') || !both && (self.take(b'&') || self.take(b'|'));
        }
        false
    }

    /// A subshell, `((…))`, or the parentheses after a function's name.
    fn parenthesis(&mut self, list: &mut CommandList) -> Step {
        let start = self.at;
        if list.state == State::Arguments && list.name_end.take().is_some() {
            self.at += 1;
            self.blanks();
            if !self.take(b')') {
                return Err(self.error(start..start + 1, "this `(` is not expected here"));
            }
            list.begin();
            (list.continues, list.function) = (true, true);
            return Ok(());
        }
        if list.state != State::Start {
            return Err(self.error(start..start + 1, "this `(` is not expected here"));
        }
        let doubled = self.second() == Some(b'(');
        if !doubled || !self.arithmetic_command(Kind::Arithmetic)? {
            let (waiting, named) = (!self.pending.is_empty(), self.found.here_doc_words.len());
            self.at = start + 1;
            self.deeper(|s| s.commands(Some(start)))?;
            let documents = waiting || self.found.here_doc_words.len() > named;
            if doubled && self.is_doubted_second_reading(start, documents) {
                self.doubt(start..self.at);
            }
        }
        list.ended();
        Ok(())
    }

    /// `((…))`. Nothing is kept if it turns out to be two subshells.
    pub fn arithmetic_command(&mut self, kind: Kind) -> Result<bool, NotBash> {
        let start = self.at;
        let atoms = self.found.atoms.len();
        self.at += 1;
        self.peek();
        self.pair(b'(', b')', Within::Arithmetic)?;
        if self.here() == Some(b')') {
            self.at += 1;
            self.atom(kind, start, Within::Bare);
            return Ok(true);
        }
        self.again = self
            .again
            .checked_sub(self.at - start)
            .ok_or_else(|| self.error(start..start + 1, "this text is nested too deeply"))?;
        self.found.atoms.truncate(atoms);
        Ok(false)
    }

    fn command_word(&mut self, list: &mut CommandList) -> Step {
        let begins = matches!(list.state, State::Start | State::Prefix);
        let subscripts = if begins { Subscripts::AfterName } else { Subscripts::No };
        let token = self.any_word(subscripts)?;
        if token.range.is_empty() {
            return Err(self.unsure(token.range.start));
        }
        if list.forbids_form(&token) {
            self.doubt(token.range.clone());
        }
        if self.names_descriptor(&token) {
            return Ok(());
        }
        if list.forbids_word(&token) {
            self.doubt(token.range.clone());
        }
        list.function = false;
        let reserved = matches!(list.state, State::Start | State::After);
        if let Some(plain) = token.plain.as_deref().filter(|_| reserved)
            && self.reserved(list, plain, token.range.start)?
        {
            return Ok(());
        }
        if list.state == State::After {
            return Err(self.error(token.range, "this word is not expected here"));
        }
        if let Some(word) = self.found.words.last_mut() {
            word.argument = list.state == State::Arguments;
        }
        if begins && token.assigns {
            list.state = State::Prefix;
        } else if list.coprocess && self.compound_follows() {
            list.begin();
        } else {
            if list.coprocess && self.is_doubted_after_coprocess() {
                self.doubt(token.range.clone());
            }
            if begins {
                let name = token.plain.as_deref();
                list.declares = name.is_some_and(|name| DECLARING.contains(&name));
            }
            list.name_end = (list.state == State::Start).then_some(token.range.end);
            list.state = State::Arguments;
        }
        (list.continues, list.coprocess, list.prefixed) = (false, false, false);
        Ok(())
    }

    /// `2>` and `{name}>`.
    pub fn names_descriptor(&mut self, token: &Token) -> bool {
        let text = &self.text[token.range.clone()];
        let named = text.starts_with('{') && text.ends_with('}');
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        (named || digits) && matches!(self.peek(), Some(b'<' | b'>'))
    }

    fn compound_follows(&mut self) -> bool {
        self.blanks();
        self.peek() == Some(b'(') || OPENERS.iter().any(|word| self.next_is(word))
    }

    /// Blanks, comments and newlines. Whether there was a newline.
    pub fn gap(&mut self) -> Result<bool, NotBash> {
        let mut newline = false;
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => {
                    newline = true;
                    self.newline()?;
                }
                Some(b'#') => self.comment(),
                _ => return Ok(newline),
            }
        }
    }
}
