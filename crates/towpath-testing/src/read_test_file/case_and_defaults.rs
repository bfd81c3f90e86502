//! One case: what it is given. The file's defaults lie under it, maps per key.

use super::Reader;
use crate::suite::Case;
use towpath_core::fields::{Key, Required, Subject};
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Map, Span};

pub(super) const CASE_KEYS: &[Key] = &[
    Key { name: "name", required: Some(Required { code: "no-name", unless: None }) },
    Key::optional("set"),
    Key::optional("include_tags"),
    Key::optional("exclude_tags"),
    Key::optional("files"),
    Key::optional("fixture"),
    Key::optional("git"),
    Key::optional("setup"),
    Key::optional("env"),
    Key::optional("machine"),
    Key::optional("agents"),
    Key::optional("stubs"),
    Key::optional("expect"),
];
/// All but the name.
pub(super) const DEFAULT_KEYS: &[Key] = CASE_KEYS.split_at(1).1;

/// The maps of which null takes a default away: in the others it has a meaning of its own.
const TAKEN_AWAY: &[&str] = &["env", "agents", "stubs"];

/// A case over the defaults. A map's keys are joined, also those of the maps in `expect`.
pub(super) fn merged(defaults: &Node, case: &Node) -> Node {
    joined(defaults, case, &|under, over| {
        let inner = |under: &Node, over: &Node| joined(under, over, &|_, over| over.value.clone());
        match under.key.as_str() {
            "expect" => {
                joined(&under.value, &over.value, &|under, over| inner(&under.value, &over.value))
            }
            key if TAKEN_AWAY.contains(&key) => {
                without_taken(&under.value, inner(&under.value, &over.value))
            }
            _ => inner(&under.value, &over.value),
        }
    })
}

/// A map over its defaults, without those that it takes away.
fn without_taken(defaults: &Node, mut joined: Node) -> Node {
    if let (Kind::Map(below), Kind::Map(entries)) = (&defaults.kind, &mut joined.kind) {
        let taken = |e: &Entry| e.is_null() && below.iter().any(|under| under.key == e.key);
        entries.retain(|entry| !taken(entry));
    }
    joined
}

/// Two maps as one, in which `both` joins what is in both.
fn joined(under: &Node, over: &Node, both: &dyn Fn(&Entry, &Entry) -> Node) -> Node {
    let (Kind::Map(below), Kind::Map(above)) = (&under.kind, &over.kind) else {
        return over.clone();
    };
    let mut entries: Vec<Entry> = Vec::new();
    for entry in below {
        let own = above.iter().find(|own| own.key == entry.key);
        let value = own.map_or_else(|| entry.value.clone(), |own| both(entry, own));
        entries.push(Entry { value, ..own.unwrap_or(entry).clone() });
    }
    let known = |key: &str| below.iter().any(|entry| entry.key == key);
    entries.extend(above.iter().filter(|own| !known(&own.key)).cloned());
    Node { kind: Kind::Map(entries), ..over.clone() }
}

impl Reader<'_> {
    /// A case, and the location of its name.
    pub(super) fn case(&mut self, node: &Node) -> Option<(Case, Span)> {
        let case = self.case_fields(node, Subject::Noun("case"), CASE_KEYS)?;
        let Kind::Map(entries) = &node.kind else { return None };
        let name = self.name(entries.iter().find(|entry| entry.key == "name"))?;
        let one_line = name.text.trim();
        if one_line.is_empty() || one_line.contains('\n') {
            let message = "a case's name must be one line, and not empty".to_owned();
            self.error("bad-name", message, name.span, "");
            return None;
        }
        Some((Case { name: one_line.to_owned(), ..case }, name.span))
    }

    pub(super) fn case_fields(
        &mut self,
        node: &Node,
        subject: Subject<'_>,
        keys: &'static [Key],
    ) -> Option<Case> {
        let fields = self.fields(node, subject, keys)?;
        let get = |key: &str| fields.get(key).filter(|entry| !entry.is_null());
        let mut case = Case::default();
        if let Some(entry) = get("set") {
            let inputs = self.map_of(Some(entry), "variables");
            case.set = inputs.iter().map(|e| (e.key.clone(), e.value.value())).collect::<Map>();
        }
        for (key, tags) in
            [("include_tags", &mut case.include_tags), ("exclude_tags", &mut case.exclude_tags)]
        {
            let names = self.names(get(key), "tags");
            tags.extend(names.into_iter().flatten().map(|name| name.text));
        }
        case.files = self.files(get("files"));
        case.fixture = self.name(get("fixture"));
        case.git = self.bool(get("git")).unwrap_or_default();
        case.setup = self.bash(get("setup"));
        case.env = get("env").map(|entry| self.variables(entry)).unwrap_or_default();
        case.machine = get("machine").map(|entry| self.machine(entry)).unwrap_or_default();
        case.agents = get("agents").map(|entry| self.agents(entry)).unwrap_or_default();
        case.stubs = get("stubs").map(|entry| self.stubs(entry)).unwrap_or_default();
        case.expect = get("expect").map(|entry| self.expect(entry)).unwrap_or_default();
        Some(case)
    }

    fn variables(&mut self, entry: &Entry) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for variable in self.map_of(Some(entry), "environment variables") {
            let name = &variable.key;
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = format!("`{}` is not a variable's name", name.escape_debug());
                self.error("bad-name", message, variable.key_defined, "");
            } else if let Some(text) = self.text(variable)
                && let Some(text) = self.bash_text(text, &variable.value)
            {
                variables.push((name.clone(), text));
            }
        }
        variables
    }
}
