//! The keys of a rule, kind by kind. What may be left out has the meaning that is usual.

use crate::rule::KindName;
use towpath_core::fields::{Key, Required};

/// One kind of rule in a file.
pub(super) struct KindRow {
    pub kind: KindName,
    /// What messages call such a rule.
    pub noun: &'static str,
    pub keys: &'static [Key],
}

macro_rules! keys {
    ($($own:expr),*) => {
        &[
            Key::required("kind"), $($own,)* Key::optional("message"), Key::optional("directory"),
            Key::optional("enabled"),
        ]
    };
}

const FROM: Key = Key::required("from");
const TO: Key = Key::required("to");
/// A literal rule is for one command, or for a parameter of a tool.
const COMMAND_OR_TOOL: Key = Key {
    name: "command",
    required: Some(Required { code: "missing-field", unless: Some("tool") }),
};

pub(super) const KINDS: &[KindRow] = &[
    KindRow {
        kind: KindName::ToolName,
        noun: "tool-name rule",
        keys: keys![FROM, TO, Key::optional("host")],
    },
    KindRow {
        kind: KindName::ToolRecipe,
        noun: "tool-recipe rule",
        keys: keys![FROM, TO, Key::optional("host")],
    },
    KindRow {
        kind: KindName::Flag,
        noun: "flag rule",
        keys: keys![Key::required("command"), FROM, TO, Key::optional("valued")],
    },
    KindRow { kind: KindName::Command, noun: "command rule", keys: keys![FROM, TO] },
    KindRow {
        kind: KindName::Literal,
        noun: "literal rule",
        keys: keys![COMMAND_OR_TOOL, Key::optional("tool"), Key::optional("parameter"), FROM, TO],
    },
    KindRow {
        kind: KindName::Regex,
        noun: "regex rule",
        keys: keys![Key::optional("tool"), Key::optional("parameter"), FROM, TO],
    },
    KindRow {
        kind: KindName::Recipe,
        noun: "recipe rule",
        keys: keys![
            FROM,
            TO,
            Key::optional("template"),
            Key::optional("timeout"),
            Key::optional("force")
        ],
    },
    KindRow {
        kind: KindName::Refuse,
        noun: "refuse rule",
        keys: &[
            Key::required("kind"),
            FROM,
            Key::optional("option"),
            Key::required("message"),
            Key::optional("directory"),
            Key::optional("enabled"),
        ],
    },
];

pub(super) const WORDS: &[&str] =
    &["tool-name", "tool-recipe", "flag", "command", "literal", "regex", "recipe", "refuse"];

/// The keys of a rule whose kind is not known.
pub(super) const ANY_KIND: &[Key] = &[
    Key::required("kind"),
    Key::optional("command"),
    Key::optional("tool"),
    Key::optional("parameter"),
    Key::optional("host"),
    Key::optional("from"),
    Key::optional("to"),
    Key::optional("option"),
    Key::optional("valued"),
    Key::optional("template"),
    Key::optional("timeout"),
    Key::optional("force"),
    Key::optional("message"),
    Key::optional("directory"),
    Key::optional("enabled"),
];

pub(super) const FILE_KEYS: &[Key] = &[
    Key::optional("name"),
    Key::optional("description"),
    Key::optional("author"),
    Key::optional("rule"),
];
