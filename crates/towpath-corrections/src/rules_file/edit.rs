//! One rule written into the text of a project's rules file. Comments, order and the rest of the file
//! stay as their authors wrote them.

use crate::{AboutRules, Rule, RulesFormat, read_rules, write_rules};
use similar::{ChangeTag, TextDiff};
use std::path::Path;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};
use towpath_core::{Diagnostic, Source};

/// Why a rule cannot be written into a file.
#[derive(Debug)]
pub enum EditError {
    Problems(Vec<Diagnostic>),
    /// The file is written in a way that cannot be extended.
    OtherForm,
}

/// The text with the rule, and whether it replaces one with the same key. Without a text the file is
/// new, and begins with the header.
pub fn with_rule(
    path: &Path,
    text: Option<&str>,
    rule: &Rule,
    header: &str,
) -> Result<(String, bool), EditError> {
    let Some(crlf) = text.filter(|text| text.contains("\r\n")) else {
        return with_rule_in_lines(path, text, rule, header);
    };
    let plain = crlf.replace("\r\n", "\n");
    let (edited, replaced) = with_rule_in_lines(path, Some(&plain), rule, header)?;
    let edited = with_line_ends_of(crlf, &plain, &edited);
    is_right(path, &edited, rule)?;
    Ok((edited, replaced))
}

/// The edited text, in which each line that stays has the end it had, and a new one the usual end.
fn with_line_ends_of(original: &str, plain: &str, edited: &str) -> String {
    let originals: Vec<&str> = original.split_inclusive('\n').collect();
    let ends = |end: &str| originals.iter().filter(|line| line.ends_with(end)).count();
    let usual = if ends("\r\n") * 2 >= ends("\n") { "\r\n" } else { "\n" };
    let diff = TextDiff::from_lines(plain, edited);
    let mut text = String::with_capacity(edited.len() + originals.len());
    for change in diff.iter_all_changes() {
        match (change.tag(), change.old_index()) {
            (ChangeTag::Delete, _) => {}
            (ChangeTag::Equal, Some(at)) => text.push_str(originals[at]),
            _ => text.push_str(&change.value().replace('\n', usual)),
        }
    }
    text
}

fn with_rule_in_lines(
    path: &Path,
    text: Option<&str>,
    rule: &Rule,
    header: &str,
) -> Result<(String, bool), EditError> {
    let Some(text) = text else {
        let about = AboutRules::default();
        let rules = write_rules(std::slice::from_ref(rule), &about, RulesFormat::Toml);
        return Ok((format!("{header}\n{rules}"), false));
    };
    let source = Source::new(path.display().to_string(), text);
    let known = read_rules(&source, RulesFormat::Toml).map_err(EditError::Problems)?;
    let mut document: DocumentMut = text.parse().map_err(|_| EditError::OtherForm)?;
    let rules = document.entry("rule").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let rules = rules.as_array_of_tables_mut().ok_or(EditError::OtherForm)?;
    let key = rule.key();
    let at = known.rules.iter().position(|known| known.rule.kind.key() == key);
    let new = table(rule).ok_or(EditError::OtherForm)?;
    match at.and_then(|at| rules.get_mut(at)) {
        Some(old) => replace(old, &new),
        None => rules.push(new),
    }
    let edited = document.to_string();
    is_right(path, &edited, rule)?;
    Ok((edited, at.is_some()))
}

/// What cannot be read back as it was meant is not written.
fn is_right(path: &Path, edited: &str, rule: &Rule) -> Result<(), EditError> {
    let source = Source::new(path.display().to_string(), edited);
    let read = read_rules(&source, RulesFormat::Toml).map_err(EditError::Problems)?;
    let right = read.rules.iter().any(|read| read.rule.kind == rule.kind);
    if right { Ok(()) } else { Err(EditError::OtherForm) }
}

/// The rule as a table of its own.
fn table(rule: &Rule) -> Option<Table> {
    let about = AboutRules::default();
    let text = write_rules(std::slice::from_ref(rule), &about, RulesFormat::Toml);
    let document: DocumentMut = text.parse().ok()?;
    let mut table = document.get("rule")?.as_array_of_tables()?.get(0)?.clone();
    table.decor_mut().set_prefix("\n");
    table.set_position(None);
    Some(table)
}

/// Gives a table other values. The keys that stay keep their order and their comments.
fn replace(old: &mut Table, new: &Table) {
    let gone: Vec<String> =
        old.iter().map(|(key, _)| key.to_owned()).filter(|key| !new.contains_key(key)).collect();
    for key in gone {
        old.remove(&key);
    }
    for (key, item) in new {
        match (old.get_mut(key).and_then(Item::as_value_mut), item.as_value()) {
            (Some(there), Some(value)) if is_same(there, value) => {}
            (Some(there), Some(value)) => {
                let decor = there.decor().clone();
                *there = value.clone();
                *there.decor_mut() = decor;
            }
            _ => drop(old.insert(key, item.clone())),
        }
    }
}

/// Whether two values mean the same, however they are written.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.value() == b.value(),
        (Value::Integer(a), Value::Integer(b)) => a.value() == b.value(),
        (Value::Boolean(a), Value::Boolean(b)) => a.value() == b.value(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewRule, RuleKind};

    fn flag(to: &str, message: Option<&str>) -> Rule {
        let kind = RuleKind::Flag {
            command: "scp".into(),
            from: "-r".into(),
            to: to.into(),
            valued: String::new(),
        };
        let new = NewRule { kind, message: message.map(str::to_owned), directory: None };
        new.check(0, false).expect("a good rule")
    }

    fn edit(text: Option<&str>, rule: &Rule) -> (String, bool) {
        with_rule(Path::new("rules.toml"), text, rule, "# Corrections of us\n")
            .expect("a rule can be written")
    }

    #[test]
    fn a_new_file_begins_with_what_it_is() {
        let (text, replaced) = edit(None, &flag("-R", None));
        assert!(!replaced);
        assert!(text.starts_with("# Corrections of"), "{text}");
        assert!(text.contains("[[rule]]\nkind = \"flag\"\ncommand = \"scp\"\n"), "{text}");
    }

    #[test]
    fn the_rest_of_a_file_stays_as_it_is() {
        let before = "# ours\nname = 'shop'   # odd\n\n# why\n[[rule]]\nkind='flag' # old\n\
                      command   = \"scp\"\nfrom = '-r'\nto = '-X' # wrong\nmessage = 'no'\n\n\
                      # last\n[[rule]]\nkind = \"command\"\nfrom = \"grep\"\nto = \"rg\"\n# end\n";
        let (text, replaced) = edit(Some(before), &flag("-R", Some("yes")));
        assert!(replaced);
        let expected = before.replace("'-X'", "\"-R\"").replace("'no'", "\"yes\"");
        assert_eq!(text, expected);
        let (text, _) = edit(Some(before), &flag("-R", None));
        assert_eq!(text, expected.replace("message = \"yes\"\n", ""));
    }

    #[test]
    fn a_rule_is_added_at_the_end() {
        let before = "[[rule]]\nkind = \"command\"\nfrom = \"grep\"\nto = \"rg\"\n# end\n";
        let (text, replaced) = edit(Some(before), &flag("-R", None));
        assert!(!replaced);
        assert!(text.starts_with("[[rule]]\nkind = \"command\""), "{text}");
        assert!(text.contains("\n\n[[rule]]\nkind = \"flag\""), "{text}");
        assert!(text.contains("# end"), "{text}");
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        let before = "# ours\n[[rule]]\nkind = \"command\"\nfrom = \"grep\"\nto = \"rg\"\n";
        for rule in [flag("-R", None), recipe("a\nb")] {
            let (expected, _) = edit(Some(before), &rule);
            let (text, _) = edit(Some(&before.replace('\n', "\r\n")), &rule);
            assert_eq!(text, expected.replace('\n', "\r\n"));
            // One line has another end than the rest.
            let mixed = before.replace('\n', "\r\n").replace("ours\r", "ours");
            let (text, _) = edit(Some(&mixed), &rule);
            assert_eq!(text, expected.replace('\n', "\r\n").replace("ours\r", "ours"));
        }
    }

    fn recipe(script: &str) -> Rule {
        let (from, to) = ("gt x".to_owned(), script.to_owned());
        let kind = RuleKind::Recipe { from, to, template: true, timeout: None };
        let new = NewRule { kind, message: None, directory: None };
        new.check(0, false).expect("a good rule")
    }

    #[test]
    fn a_broken_file_is_not_touched() {
        let broken = with_rule(Path::new("r"), Some("[[rule"), &flag("-R", None), "");
        assert!(matches!(broken, Err(EditError::Problems(_))), "{broken:?}");
        let inline = "rule = [{ kind = 'command', from = 'a', to = 'b' }]\n";
        let other = with_rule(Path::new("r"), Some(inline), &flag("-R", None), "");
        assert!(matches!(other, Err(EditError::OtherForm)), "{other:?}");
    }
}
