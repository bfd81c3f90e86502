//! A collection of aliases, as `dp` exports it: `[meta]` and `[[aliases]]`.

use super::read::RulesReader;
use super::{AboutRules, RuleInFile};
use crate::dp_alias::DpAlias;
use towpath_core::fields::{FieldType, Key, Subject};
use towpath_core::spanned_tree::{Kind, Node};

const COLLECTION_KEYS: &[Key] = &[Key::optional("meta"), Key::required("aliases")];
const META_KEYS: &[Key] = &[
    Key::optional("version"),
    Key::optional("name"),
    Key::optional("description"),
    Key::optional("author"),
    Key::optional("exported_at"),
    Key::optional("source"),
    Key::optional("count"),
];
const ALIAS_KEYS: &[Key] = &[
    Key::required("from"),
    Key::required("to"),
    Key::optional("tool"),
    Key::optional("param"),
    Key::optional("command"),
    Key::optional("match_kind"),
    Key::optional("message"),
];

pub(super) fn is_one(root: &Node) -> bool {
    matches!(&root.kind, Kind::Map(entries) if entries.iter().any(|entry| entry.key == "aliases"))
}

impl RulesReader<'_> {
    pub(super) fn collection(&mut self, root: &Node) -> Option<AboutRules> {
        let fields = self.fields.fields(root, Subject::Noun("collection"), COLLECTION_KEYS)?;
        for item in self.fields.list(fields.get("aliases"), FieldType::ListOf("aliases"))? {
            self.alias(item);
        }
        let meta = fields.get("meta")?;
        let meta = self.fields.fields(&meta.value, Subject::Key("meta"), META_KEYS)?;
        Some(self.about(&meta))
    }

    fn alias(&mut self, node: &Node) {
        let before = self.fields.problems.len();
        let Some(fields) = self.fields.fields(node, Subject::Noun("alias"), ALIAS_KEYS) else {
            return;
        };
        let mut text = |name| self.text(&fields, name).unwrap_or_default();
        let alias = DpAlias {
            from: text("from"),
            to: text("to"),
            tool: text("tool"),
            param: text("param"),
            command: text("command"),
            match_kind: text("match_kind"),
            message: text("message"),
        };
        if self.fields.problems.len() > before {
            return;
        }
        match alias.into_rule() {
            Ok(rule) => {
                let rule = RuleInFile { rule, enabled: true, force: false, span: node.span };
                self.add(rule, &fields);
            }
            Err(error) => {
                let span = fields.get("match_kind").map_or(node.span, |e| e.value.defined);
                self.fields.error("bad-rule", error.to_string(), span, "");
            }
        }
    }
}
