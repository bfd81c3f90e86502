//! From the text of a file to a recipe. Every problem is reported where it is, all of them at once.

use super::check_values::{self, Check};
use super::keys::{
    ANY_SOURCE, FILE, KindRow, METADATA, PROVENANCE, REPAIR, SOURCE_WORDS, SOURCES, VERIFY,
};
use crate::command_words::command_words;
use crate::output_pattern::OutputPattern;
use crate::recipe_provenance::Provenance;
use crate::repair_metadata::{REPAIR_TYPE, RepairMetadata, RepairMethod};
use crate::tool_recipe::{Metadata, ToolRecipe, VersionSource};
use crate::verify_section::{VerifyMode, VerifySection};
use std::sync::Arc;
use towpath_core::fields::{FieldReader, FieldType, Fields, FileKind, Key, Subject};
use towpath_core::spanned_tree::{Entry, Node};
use towpath_core::{Diagnostic, Source, parse_toml};

const RECIPE_FILE: FileKind = FileKind {
    name: "a tool recipe",
    needs: "`metadata`, `version`, `steps` and `verify`",
    field: "key",
    unknown_code: "unknown-key",
    empty_code: "empty-key",
    map: "a table",
    or: ", ",
    shows_written: true,
};

pub(super) type Keys<'n> = Fields<Key, &'n Entry>;

/// Reads a recipe, or reports everything that is wrong with it.
pub fn read_recipe(source: &Arc<Source>) -> Result<ToolRecipe, Vec<Diagnostic>> {
    let tree = parse_toml(source);
    let fields = FieldReader::new(source, RECIPE_FILE, tree.problems);
    let mut reader = RecipeReader { fields };
    let recipe = tree.root.as_ref().and_then(|root| reader.file(root));
    let mut problems = reader.fields.problems;
    problems.sort_by_key(|problem| problem.labels.first().map(|label| label.span.start));
    match recipe {
        Some(recipe) if problems.is_empty() => Ok(recipe),
        _ => Err(problems),
    }
}

pub(super) struct RecipeReader<'a> {
    pub fields: FieldReader<'a>,
}

impl RecipeReader<'_> {
    fn file(&mut self, root: &Node) -> Option<ToolRecipe> {
        let keys = self.fields.fields(root, Subject::Noun("tool recipe"), FILE)?;
        let metadata = keys.get("metadata").and_then(|entry| self.metadata(&entry.value));
        let version = keys.get("version").and_then(|entry| self.version(&entry.value));
        let steps = self.steps(keys.get("steps"));
        let verify = keys.get("verify").and_then(|entry| self.verify(&entry.value));
        let provenance = keys.get("provenance").and_then(|entry| self.provenance(&entry.value));
        Some(ToolRecipe {
            metadata: metadata?,
            version: version?,
            steps: steps?,
            verify: verify?,
            provenance,
        })
    }

    fn metadata(&mut self, node: &Node) -> Option<Metadata> {
        let keys = self.fields.fields(node, Subject::Key("metadata"), METADATA)?;
        let name = self.text(&keys, "name", check_values::tool_name);
        let mut optional = |name| self.text(&keys, name, check_values::one_line);
        let (description, license) = (optional("description"), optional("license"));
        let homepage = self.text(&keys, "homepage", check_values::url);
        let binaries = self.texts(&keys, "binaries", check_values::tool_name).unwrap_or_default();
        let aliases = self.texts(&keys, "aliases", check_values::one_line).unwrap_or_default();
        Some(Metadata { name: name?, description, homepage, license, binaries, aliases })
    }

    fn version(&mut self, node: &Node) -> Option<VersionSource> {
        let row = self.kind(node, "source", "version source", SOURCES, SOURCE_WORDS, ANY_SOURCE)?;
        let keys = self.fields.fields(node, Subject::Noun(row.noun), row.keys)?;
        let package = self.text(&keys, "package", check_values::package_name);
        Some(match row.word {
            "cargo" => VersionSource::Cargo { package: package? },
            "npm" => VersionSource::Npm { package: package? },
            "pypi" => VersionSource::Pypi { package: package? },
            "github" => {
                let repository = self.text(&keys, "repository", check_values::repository);
                let tag_prefix = self.text(&keys, "tag_prefix", check_values::one_line);
                VersionSource::GitHub { repository: repository?, tag_prefix }
            }
            _ => {
                VersionSource::Url { version: self.text(&keys, "version", check_values::one_line)? }
            }
        })
    }

    fn verify(&mut self, node: &Node) -> Option<VerifySection> {
        let keys = self.fields.fields(node, Subject::Key("verify"), VERIFY)?;
        let command = self.text(&keys, "command", |text| {
            check_values::version_only(text)?;
            command_words(text).map(|_| ()).map_err(|error| error.to_string())
        });
        let pattern = self.text(&keys, "pattern", |text| {
            OutputPattern::new(text).map(|_| ()).map_err(|error| error.to_string())
        });
        let mode = self.fields.choice(keys.get("mode"), VerifyMode::WORDS);
        let mode = mode.map(VerifyMode::from_word).unwrap_or_default();
        let exit_code = self.exit_code(&keys);
        let reason = self.text(&keys, "reason", check_values::one_line);
        if mode == VerifyMode::Output {
            self.output_needs(node, &keys, "pattern");
            self.output_needs(node, &keys, "reason");
        }
        Some(VerifySection { command: command?, pattern, mode, exit_code, reason })
    }

    /// Without a version there must be a text to look for, and a reason.
    fn output_needs(&mut self, node: &Node, keys: &Keys<'_>, name: &str) {
        if keys.has(name) || keys.has_misspelt(name) {
            return;
        }
        let message = format!("`mode = \"output\"` needs a `{name}`");
        let span = keys.get("mode").map_or(node.span, |entry| entry.key_defined);
        self.fields.error("missing-field", message, span, format!("add `{name}`"));
    }

    fn exit_code(&mut self, keys: &Keys<'_>) -> i32 {
        let Some(entry) = keys.get("exit_code") else { return 0 };
        let expected = FieldType::Described("an exit code from 0 to 255");
        let code = self.fields.number::<i32>(entry, expected);
        if code.is_some_and(|code| !(0..=255).contains(&code)) {
            self.fields.wrong_type(entry, expected);
        }
        code.unwrap_or(0)
    }

    fn provenance(&mut self, node: &Node) -> Option<Provenance> {
        let keys = self.fields.fields(node, Subject::Key("provenance"), PROVENANCE)?;
        let generated_from = self.text(&keys, "generated_from", check_values::one_line);
        let hash = self.text(&keys, "hash", check_values::content_hash);
        let repair = keys.get("repair").and_then(|entry| self.repair(&entry.value));
        Some(Provenance { generated_from: generated_from?, hash: hash?, repair })
    }

    fn repair(&mut self, node: &Node) -> Option<RepairMetadata> {
        let keys = self.fields.fields(node, Subject::Key("repair"), REPAIR)?;
        let kind = self.fields.choice(keys.get("type"), &[REPAIR_TYPE]);
        let original = self.text(&keys, "original", check_values::one_line);
        let repaired = self.text(&keys, "repaired", check_values::one_line);
        let method = self.fields.choice(keys.get("method"), RepairMethod::WORDS);
        let exit_code = self.exit_code(&keys);
        let kind = kind?.to_owned();
        let method = RepairMethod::from_word(method?)?;
        Some(RepairMetadata { kind, original: original?, repaired: repaired?, method, exit_code })
    }

    /// The row that the table's own word chooses. Without one, the keys are checked as far as they
    /// can be.
    pub fn kind(
        &mut self,
        node: &Node,
        word_key: &str,
        noun: &str,
        rows: &'static [KindRow],
        words: &'static [&'static str],
        any: &'static [Key],
    ) -> Option<&'static KindRow> {
        let entries = self.fields.entries(node, Subject::Noun(noun))?;
        let entry = entries.iter().find(|entry| entry.key == word_key);
        let Some(word) = self.fields.choice(entry, words) else {
            self.fields.fields(node, Subject::Noun(noun), any);
            return None;
        };
        rows.iter().find(|row| row.word == word)
    }

    /// A string that passes a check.
    pub fn text(&mut self, keys: &Keys<'_>, name: &str, check: Check) -> Option<String> {
        let entry = keys.get(name)?;
        let text = self.fields.string(entry)?;
        self.checked(&entry.value, name, text, check)
    }

    pub fn texts(&mut self, keys: &Keys<'_>, name: &str, check: Check) -> Option<Vec<String>> {
        let texts = self.fields.texts(keys.get(name), FieldType::TextList)?;
        let checked = texts.iter().filter_map(|(text, node)| self.checked(node, name, text, check));
        Some(checked.collect())
    }

    fn checked(&mut self, node: &Node, name: &str, text: &str, check: Check) -> Option<String> {
        match check(text) {
            Ok(()) => Some(text.to_owned()),
            Err(reason) => {
                let span = self.fields.source.first_line(node.defined);
                self.fields.error("bad-value", format!("`{name}`: {reason}"), span, "");
                None
            }
        }
    }
}
