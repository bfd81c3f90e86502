//! Placeholders in here-documents, quoted or not.

use super::{Done, Walk};
use crate::bash::quoting;
use crate::bash::tree::HereDoc;
use crate::placeholder_replacement::{Form, Mode};
use crate::refusal_messages;
use crate::text_edits::Edit;

impl Walk<'_, '_> {
    pub(super) fn here_doc(&mut self, heredoc: &HereDoc) -> Done {
        if self.region.has_mark(&heredoc.delimiter) {
            return Err(self.refuse(&heredoc.delimiter, &refusal_messages::DELIMITER));
        }
        if !self.region.has_mark(&heredoc.body) {
            return Ok(());
        }
        if !heredoc.closed {
            return Err(self.refuse(&heredoc.delimiter, &refusal_messages::UNCLOSED));
        }
        match heredoc.quoted {
            true => self.quoted_here_doc(heredoc),
            false => self.parts(&heredoc.parts, Mode::HereDoc),
        }
    }

    /// Becomes an expanding one in which all of the author's text is escaped: a value pasted into a
    /// quoted one could contain its end line, and the rest would run.
    pub(super) fn quoted_here_doc(&mut self, heredoc: &HereDoc) -> Done {
        let body = &self.region.text[heredoc.body.clone()];
        let mut end_line = heredoc.end_line.clone();
        if !quoting::is_plain_word(&end_line) {
            end_line = "END".to_owned();
            while body.contains(&end_line) {
                end_line.push('_');
            }
            let rest = &self.region.text[heredoc.body.end..];
            let tabs = rest.len() - rest.trim_start_matches('\t').len();
            let start = heredoc.body.end + tabs;
            let end = start + heredoc.end_line.len();
            self.edits.push(Edit::text(start..end, end_line.as_str()));
        }
        self.edits.push(Edit::text(heredoc.delimiter.clone(), end_line));
        for (offset, _) in body.match_indices(['$', '`', '\\']) {
            let at = heredoc.body.start + offset;
            self.edits.push(Edit::text(at..at, "\\"));
        }
        for mark in self.marks(&heredoc.body) {
            self.write(mark, Form::HereDoc)?;
        }
        Ok(())
    }
}
