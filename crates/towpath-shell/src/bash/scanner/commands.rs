//! Commands: where one begins, which compound commands are open, and which lines are complete.

use super::words::{Subscripts, Token};
use super::{Kind, Scanner, Step, Within};
use crate::bash::NotBash;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A command begins here: reserved words count.
    Start,
    /// After an assignment or a redirection in front of a command.
    Prefix,
    /// After a command's name.
    Arguments,
    /// After a compound command.
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    If,
    Loop,
    Case,
    Brace,
}

/// A list of commands, and the line of it that is being read.
struct Frame {
    open: Open,
    start: usize,
    /// A line of this list may begin: not on the line of `then` or of a pattern.
    fresh: bool,
    /// The `then` or `do` of the command was read.
    divided: bool,
    /// The first token of the line.
    first: Option<usize>,
}

struct Commands {
    frames: Vec<Frame>,
    state: State,
    /// The command continues after a newline: after `&&`, `|` or a function's name.
    continues: bool,
    /// Where the first word of a command ended that may be a function's name.
    name_end: Option<usize>,
    /// A word that may be the name of a coprocess comes.
    coprocess: bool,
    /// After `!` or `time`, which are nothing without a command before a `)`.
    prefixed: bool,
    /// The body of a function comes, which must be a compound command.
    function: bool,
    /// After a `|`, where `!` cannot be.
    piped: bool,
    /// The command takes arrays as arguments.
    declares: bool,
    /// After a redirection: no array can follow, and no word if a compound command is before it.
    redirected: bool,
}

/// The commands whose arguments may be `a=(…)`.
const DECLARING: [&str; 8] =
    ["declare", "typeset", "local", "export", "readonly", "alias", "eval", "let"];

/// The words that begin a compound command.
const OPENERS: [&str; 8] = ["{", "[[", "if", "while", "until", "for", "case", "select"];

/// The words that divide or close a compound command: they may follow another one directly.
const ENDERS: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];

/// The other reserved words that begin no compound command.
const OTHER_RESERVED: [&str; 5] = ["!", "]]", "in", "coproc", "function"];

impl Commands {
    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the outermost list is only left by returning")
    }

    fn begin(&mut self) {
        self.state = State::Start;
        self.continues = false;
        self.name_end = None;
        (self.coprocess, self.prefixed, self.function) = (false, false, false);
        (self.piped, self.declares, self.redirected) = (false, false, false);
    }

    fn push(&mut self, open: Open, start: usize) {
        let divided = !matches!(open, Open::If | Open::Loop);
        self.frames.push(Frame { open, start, fresh: false, divided, first: None });
        self.begin();
    }

    /// A word that divides the command that is open: its line is not complete in itself.
    fn divide(&mut self) {
        let top = self.top();
        (top.fresh, top.divided, top.first) = (false, true, None);
        self.begin();
    }

    fn ended(&mut self) {
        self.begin();
        self.state = State::After;
    }
}

impl Scanner<'_> {
    pub fn script(&mut self) -> Step {
        self.commands(None)
    }

    /// A list of commands up to the end of the text, or to the `)` of what was opened at `opened`.
    pub fn commands(&mut self, opened: Option<usize>) -> Step {
        let base = Frame {
            open: Open::List,
            start: self.at,
            fresh: opened.is_none(),
            divided: true,
            first: None,
        };
        let mut list = Commands {
            frames: vec![base],
            state: State::Start,
            continues: false,
            name_end: None,
            coprocess: false,
            prefixed: false,
            function: false,
            piped: false,
            declares: false,
            redirected: false,
        };
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
                    if list.coprocess || list.prefixed {
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

    fn end_of_text(&mut self, mut list: Commands, opened: Option<usize>) -> Step {
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
        if list.coprocess || list.function {
            self.doubt(self.end..self.end);
        }
        Ok(())
    }

    fn end_of_line(&mut self, list: &mut Commands) -> Step {
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

    fn operator(&mut self, list: &mut Commands) -> Step {
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

    fn redirect(&mut self, list: &mut Commands) -> Step {
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
            let written = &self.text[target.range.clone()];
            let unfinished = target.range.end == self.text.len() && written == "\\";
            // `>&-` is complete: what follows the `-` is another word to bash.
            let closes = copies && written.starts_with('-') && written != "-";
            if unfinished || closes || self.names_descriptor(&target) {
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
    fn parenthesis(&mut self, list: &mut Commands) -> Step {
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
            // Bash looked for `))` first. It does not read here-documents and joined lines the same
            // way a second time.
            let documents = waiting || self.found.here_doc_words.len() > named;
            if doubled && (documents || self.text[start..self.at].contains("\\\n")) {
                self.doubt(start..self.at);
            }
        }
        list.ended();
        Ok(())
    }

    /// `((…))`. Nothing is kept if it turns out to be two subshells.
    fn arithmetic_command(&mut self, kind: Kind) -> Result<bool, NotBash> {
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

    fn command_word(&mut self, list: &mut Commands) -> Step {
        let begins = matches!(list.state, State::Start | State::Prefix);
        let subscripts = if begins { Subscripts::AfterName } else { Subscripts::No };
        let token = self.any_word(subscripts)?;
        if token.range.is_empty() {
            return Err(self.unsure(token.range.start));
        }
        let arrays = (begins || list.declares) && !list.redirected;
        if token.pattern || token.array && !arrays {
            self.doubt(token.range.clone());
        }
        if self.names_descriptor(&token) {
            return Ok(());
        }
        let opens = token.plain.as_deref().is_some_and(|word| OPENERS.contains(&word));
        let no_command =
            list.state == State::Start && matches!(token.plain.as_deref(), Some("]]" | "in"));
        let ends = token.plain.as_deref().is_some_and(|word| ENDERS.contains(&word));
        let unexpected =
            list.state == State::After && (!ends || list.redirected) || list.prefixed && ends;
        if std::mem::take(&mut list.function) && !opens || no_command || unexpected {
            self.doubt(token.range.clone());
        }
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
            if list.coprocess && (self.subscript_follows() || self.reserved_follows()) {
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

    /// `name[`: bash reads it as an assignment's after the first word of a coprocess.
    fn subscript_follows(&mut self) -> bool {
        self.blanks();
        let rest = self.text[self.at..self.end]
            .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        rest.starts_with('[')
    }

    /// Bash knows its reserved words after the first word of a coprocess as well.
    fn reserved_follows(&mut self) -> bool {
        self.blanks();
        ENDERS.iter().chain(&OTHER_RESERVED).any(|word| self.next_is(word))
    }

    /// Whether this plain word comes next.
    fn next_is(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = self.take_word(word);
        self.at = before;
        found
    }

    /// Passes over this plain word, if it is next.
    fn take_word(&mut self, word: &str) -> bool {
        let before = self.at;
        let found = word.bytes().all(|byte| self.take(byte))
            && self.peek().is_none_or(|b| b" \t\n;&|<>()".contains(&b));
        self.at = if found { self.at } else { before };
        found
    }

    /// Whether the word means something to bash here, with what that is done.
    fn reserved(&mut self, list: &mut Commands, word: &str, start: usize) -> Result<bool, NotBash> {
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
                if list.coprocess || list.piped {
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

    fn divides(&mut self, list: &mut Commands, open: Open, start: usize) -> Step {
        if list.top().open != open {
            return Err(self.error(start..self.at, "this word divides no command that is open"));
        }
        list.divide();
        Ok(())
    }

    fn closes(&mut self, list: &mut Commands, open: Open, start: usize) -> Step {
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

    fn for_header(&mut self, list: &mut Commands, start: usize) -> Step {
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

    fn case_header(&mut self, list: &mut Commands, start: usize) -> Step {
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
    fn case_patterns(&mut self, list: &mut Commands) -> Step {
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
}
