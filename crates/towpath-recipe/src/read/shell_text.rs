//! Shell texts of a recipe: commands and hooks. They are parsed when the recipe is read, so that a
//! text that cannot be filled safely is refused before anything runs.

use super::Reader;
use super::section::Text;
use crate::recipe::VariableUse;
use std::ops::Range;
use std::sync::Arc;
use towpath_core::spanned_tree::Entry;
use towpath_core::{Diagnostic, Severity};
use towpath_shell::ShellText;

impl Reader<'_> {
    pub(super) fn hook(
        &mut self,
        entry: &Entry,
        name: &'static str,
    ) -> Option<(ShellText, Vec<VariableUse>)> {
        let text = self.located_text(entry)?;
        if text.text.trim().is_empty() {
            self.error("empty-field", format!("`{name}` is empty"), text.span, "");
            return None;
        }
        for range in unexpanded_step_ids(&text.text) {
            self.problem(
                Diagnostic::warning("literal-step-id", "single quotes keep `$STEP_ID` as it is")
                    .at(self.source, text.map.locate(range), "this stays `$STEP_ID`")
                    .help("use double quotes, or write {{step_id}}"),
            );
        }
        self.shell(&text, name)
    }

    pub(super) fn shell(
        &mut self,
        text: &Text,
        field: &'static str,
    ) -> Option<(ShellText, Vec<VariableUse>)> {
        let shell = match ShellText::parse_where(&text.text, &|path| self.is_placeholder(path)) {
            Ok(shell) => shell,
            Err(error) => {
                let problem = Diagnostic::error("bad-shell-text", error.message);
                self.problem_in(problem, text, error.range, error.help);
                return None;
            }
        };
        self.note_braces(text);
        self.warn_cut(text, field);
        for warning in shell.warnings() {
            let severity = if warning.note { Severity::Note } else { Severity::Warning };
            let problem = Diagnostic::new(severity, warning.code, warning.message.clone());
            let at_quote = text.text[warning.range.start..].starts_with(['"', '\'']);
            let unclosed = warning.code == "bash-syntax" && at_quote;
            let cut = if unclosed { self.how_cut(text, field) } else { None };
            self.problem_in(problem, text, warning.range.clone(), cut.or(warning.help.clone()));
        }
        let placeholders = shell.placeholders().iter();
        let placeholders = placeholders.map(|p| (&p.path, &p.range, p.path.is_optional()));
        let variables = shell.recipe_variables().iter();
        let uses = placeholders
            .chain(variables.map(|v| (&v.path, &v.range, v.has_default)))
            .map(|(path, range, has_default)| VariableUse {
                path: path.clone(),
                source: Arc::clone(self.source),
                span: text.map.locate(range.clone()),
                field,
                has_default,
            })
            .collect();
        Some((shell, uses))
    }

    /// Reports a problem inside a text at its location in the file.
    pub(super) fn problem_in(
        &mut self,
        problem: Diagnostic,
        text: &Text,
        range: Range<usize>,
        help: Option<String>,
    ) {
        let problem = problem.at(self.source, text.map.locate(range), "");
        self.problem(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }
}

/// Every `$STEP_ID` inside single quotes, except in the program of a `-c`.
fn unexpanded_step_ids(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for quoted in single_quoted(text) {
        if text[..quoted.start].trim_end_matches('\'').trim_end().ends_with("-c") {
            continue;
        }
        let inside = &text[quoted.clone()];
        let name = ["${STEP_ID}", "$STEP_ID"]
            .iter()
            .find_map(|name| inside.find(name).map(|at| (at, name.len())));
        if let Some((at, length)) = name {
            found.push(quoted.start + at..quoted.start + at + length);
        }
    }
    found
}

/// The insides of single-quoted words. Good enough for a warning: it knows quotes and
/// backslashes, not here-documents.
fn single_quoted(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut double = false;
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => double = !double,
            b'\'' if !double => {
                let start = at + 1;
                let length = text[start..].find('\'').unwrap_or(text.len() - start);
                found.push(start..start + length);
                at = start + length;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_quotes_that_keep_the_name_are_found() {
        for (text, count) in [
            ("echo 'at $STEP_ID' >> log", 1),
            ("echo 'at ${STEP_ID}'", 1),
            ("echo \"at $STEP_ID\"", 0),
            ("echo \"it's $STEP_ID\"", 0),
            ("echo \\'$STEP_ID", 0),
            ("bash -c 'echo $STEP_ID'", 0),
            ("echo 'x' $STEP_ID 'y", 0),
            ("echo 'é' '$STEP_ID", 1),
        ] {
            assert_eq!(unexpanded_step_ids(text).len(), count, "{text}");
        }
    }
}
