//! Commands whose words are clear and that bash refuses all the same, or reads in another way than it
//! seems: where one of these is true, the text counts as not understood.

use super::Scanner;
use super::command_list_state::{CommandList, State};
use super::reserved_words::{ENDERS, OPENERS, OTHER_RESERVED};
use super::words::Token;

impl CommandList {
    /// After `coproc`, `!` or `time`, which are nothing without a command.
    pub fn lacks_command_before_parenthesis(&self) -> bool {
        self.coprocess || self.prefixed
    }

    /// After `coproc`, or after a function's name and without its body.
    pub fn lacks_command_at_end(&self) -> bool {
        self.coprocess || self.function
    }

    pub fn forbids_negation(&self) -> bool {
        self.coprocess || self.piped
    }

    /// A pattern, or an array where this command takes none.
    pub fn forbids_form(&self, token: &Token) -> bool {
        let begins = matches!(self.state, State::Start | State::Prefix);
        let arrays = (begins || self.declares) && !self.redirected;
        token.pattern || token.array && !arrays
    }

    /// A word that begins no command where one must begin, or follows a compound command.
    pub fn forbids_word(&self, token: &Token) -> bool {
        let is_one_of =
            |words: &[&str]| token.plain.as_deref().is_some_and(|word| words.contains(&word));
        let no_body = self.function && !is_one_of(&OPENERS);
        let no_command = self.state == State::Start && is_one_of(&["]]", "in"]);
        let ends = is_one_of(&ENDERS);
        let unexpected =
            self.state == State::After && (!ends || self.redirected) || self.prefixed && ends;
        no_body || no_command || unexpected
    }
}

impl Scanner<'_> {
    pub fn is_doubted_target(&mut self, target: &Token, copies: bool) -> bool {
        let written = &self.text[target.range.clone()];
        let unfinished = target.range.end == self.text.len() && written == "\\";
        // `>&-` is complete: what follows the `-` is another word to bash.
        let closes = copies && written.starts_with('-') && written != "-";
        unfinished || closes || self.names_descriptor(target)
    }

    /// A subshell in which bash looked for `))` first. It does not read here-documents and joined
    /// lines the same way a second time.
    pub fn is_doubted_second_reading(&self, start: usize, documents: bool) -> bool {
        documents || self.text[start..self.at].contains("\\\n")
    }

    /// What follows the first word of a coprocess.
    pub fn is_doubted_after_coprocess(&mut self) -> bool {
        self.subscript_follows() || self.reserved_follows()
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
}
