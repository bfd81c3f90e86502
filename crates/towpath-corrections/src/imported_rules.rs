//! Rules from a file that is not ours yet: TOML, JSON, or a database of `dp`.

use crate::{DpAlias, Error, Rule, RulesFile, RulesFormat, read_rules};
use std::path::Path;
use towpath_core::{Source, files};
use towpath_store::{DpAliasRow, read_dp_aliases};

/// The contents of a file. The rules have no numbers yet.
#[derive(Debug, Default)]
pub struct ImportedRules {
    pub rules: Vec<Rule>,
    /// Rows of a database that are no valid rule, and why. A file with such a rule is refused
    /// as a whole: its author can fix it.
    pub skipped: Vec<String>,
}

impl ImportedRules {
    /// Reads a file. A directory in it that is not absolute is below the current one.
    pub fn read(current: &Path, path: &Path) -> Result<ImportedRules, Error> {
        let shown = path.display();
        let bytes = files::read_bytes(path, files::MOST_SCRIPT)
            .map_err(|error| Error::BadInput(format!("{shown}: {error}")))?;
        if bytes.starts_with(b"SQLite format 3\0") {
            return of_database(path);
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::BadInput(format!("{shown} is not UTF-8 text")))?;
        let source = Source::new(shown.to_string(), text);
        let format = RulesFormat::of_name(&source.name);
        let file = read_rules(&source, format).map_err(|problems| {
            let message = format!("{}: nothing was imported", source.name);
            Error::Problems { problems, message }
        })?;
        Ok(ImportedRules { rules: of_file(current, file), skipped: Vec::new() })
    }
}

fn of_file(current: &Path, file: RulesFile) -> Vec<Rule> {
    let absolute = |rule: Rule| {
        let directory = rule.directory.map(|below| current.join(below).display().to_string());
        Rule { directory, ..rule }
    };
    file.rules.into_iter().map(|rule| absolute(rule.into_rule())).collect()
}

fn of_database(path: &Path) -> Result<ImportedRules, Error> {
    let found = read_dp_aliases(path)?;
    let mut imported = ImportedRules { rules: Vec::new(), skipped: found.unreadable };
    for row in found.rows {
        let from = row.from.clone();
        match of_row(row) {
            Ok(rule) if imported.rules.iter().any(|other| other.key() == rule.key()) => {
                imported.skipped.push(format!("{from:?} is there twice"));
            }
            Ok(rule) => imported.rules.push(rule),
            Err(reason) => imported.skipped.push(format!("{from:?}: {reason}")),
        }
    }
    Ok(imported)
}

fn of_row(row: DpAliasRow) -> Result<Rule, String> {
    let DpAliasRow { from, to, tool, param, command, match_kind, message } = row;
    let alias = DpAlias { from, to, tool, param, command, match_kind, message };
    let rule = alias.into_rule().map_err(|error| error.to_string())?;
    rule.check(0, false).map_err(|error| error.to_string())
}
