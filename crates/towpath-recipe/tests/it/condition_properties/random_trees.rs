//! Generated expressions and the variables they are asked against. Every expression is one that can
//! be read; about one in three fails when asked, so that errors are compared as well.

use super::*;

#[derive(Debug, Clone)]
pub enum Tree {
    Text(String),
    /// A number literal as written.
    Number(&'static str),
    Bool(bool),
    Name(&'static str),
    List(Vec<Tree>),
    Function(&'static str, Vec<Tree>),
    Method(Box<Tree>, &'static str, Vec<Tree>),
    Index(Box<Tree>, Box<Tree>),
    Field(Box<Tree>, &'static str),
    Compare(Box<Tree>, &'static str, Box<Tree>),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
}

pub const FUNCTIONS: [&str; 7] = ["int", "float", "str", "bool", "len", "min", "max"];
pub const SHAPING: [&str; 6] = ["strip", "lstrip", "rstrip", "lower", "upper", "title"];
pub const ASKING: [&str; 4] = ["startswith", "endswith", "count", "find"];
pub const OPERATORS: [&str; 8] = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"];

const NUMBERS: &[&str] =
    &["0", "1", "2", "5", "42", "-7", "3.14", "0.5", "0.0", "007", "1000000", "9007199254740993"];
const TEXTS: &[&str] = &[
    "",
    "a",
    "A b",
    " x ",
    "0",
    "5",
    "5.0",
    "-7",
    "+5",
    ".5",
    "1e1",
    " 42 ",
    "true",
    "nan",
    "inf",
    "it's",
    "call \"hi\"",
    "back\\slash",
    "\\",
    "two\nlines\there",
    "é☃",
    "ß",
    "a,b,c",
    "not in",
    "99999999999999999999",
    "hello wORLD",
];

fn text_value() -> BoxedStrategy<String> {
    prop_oneof![
        3 => prop::sample::select(TEXTS).prop_map(str::to_owned),
        1 => "[a-cA-C ,'\"\\\\n]{0,6}",
    ]
    .boxed()
}

fn number_value() -> impl Strategy<Value = Value> {
    let texts = [
        "0",
        "1",
        "5",
        "-7",
        "1.10",
        "0.0",
        "-0",
        "1e3",
        "3.99",
        "9007199254740992",
        "9007199254740993",
        "12345678901234567890123",
    ];
    prop::sample::select(texts.to_vec()).prop_map(|text| serde_json::from_str(text).unwrap())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => text_value().prop_map(Value::String),
        3 => number_value(),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Null),
    ]
}

fn list_value() -> impl Strategy<Value = Value> {
    prop::collection::vec(scalar(), 0..4).prop_map(Value::Array)
}

/// Names have types, values are random; a key with a dot is there half of the time.
pub fn scope() -> impl Strategy<Value = Map> {
    let dotted = prop::option::of(scalar());
    let parts = (text_value(), text_value(), number_value(), number_value(), list_value());
    (parts, list_value(), any::<bool>(), scalar(), dotted).prop_map(
        |((s, t, n, m, l), inner, b, scalar, dotted)| {
            let o = json!({"k": inner, "in": t, "0": scalar, "strip": "x"});
            let scope = json!({"s": s, "my-var": t, "n": n, "m": m, "l": l, "o": o, "b": b,
                "z": null});
            let Value::Object(mut scope) = scope else { unreachable!() };
            scope.extend(dotted.map(|value| ("o.k".to_owned(), value)));
            scope
        },
    )
}

/// Expressions by the type that they probably have.
#[derive(Clone)]
struct Kinds {
    text: BoxedStrategy<Tree>,
    number: BoxedStrategy<Tree>,
    list: BoxedStrategy<Tree>,
    any: BoxedStrategy<Tree>,
}

fn name(names: &'static [&'static str]) -> BoxedStrategy<Tree> {
    prop::sample::select(names).prop_map(Tree::Name).boxed()
}

fn leaves() -> Kinds {
    let text = prop_oneof![text_value().prop_map(Tree::Text), name(&["s", "my-var", "o.in"])];
    let number =
        prop_oneof![prop::sample::select(NUMBERS).prop_map(Tree::Number), name(&["n", "m"]),];
    let list = prop_oneof![3 => name(&["l", "o.k"]), 1 => Just(Tree::List(vec![]))];
    let (text, number, list) = (text.boxed(), number.boxed(), list.boxed());
    let any = prop_oneof![
        4 => text.clone(),
        4 => number.clone(),
        2 => list.clone(),
        1 => any::<bool>().prop_map(Tree::Bool),
        2 => name(&["b", "z", "o", "gone", "gone.deeper", "none", "l.0", "o.0", "o.strip"]),
    ];
    Kinds { text, number, list, any: any.boxed() }
}

fn method(
    receiver: &BoxedStrategy<Tree>,
    names: &'static [&'static str],
    arguments: impl Strategy<Value = Vec<Tree>> + 'static,
) -> BoxedStrategy<Tree> {
    (receiver.clone(), prop::sample::select(names), arguments)
        .prop_map(|(receiver, name, arguments)| {
            Tree::Method(Box::new(receivable(receiver)), name, arguments)
        })
        .boxed()
}

/// Literal numbers and booleans take no method or key: that is refused when read.
fn receivable(tree: Tree) -> Tree {
    match tree {
        Tree::Number(_) => Tree::Name("n"),
        Tree::Bool(_) => Tree::Name("b"),
        other => other,
    }
}

/// As an index only what can be the index of an element may be written; it may be computed.
fn indexing(tree: Tree) -> Tree {
    match tree {
        Tree::Number(written) if written.contains(['-', '.']) => {
            Tree::Function("float", vec![Tree::Number(written)])
        }
        other => other,
    }
}

fn function(
    names: &'static [&'static str],
    argument: &BoxedStrategy<Tree>,
    count: std::ops::Range<usize>,
) -> BoxedStrategy<Tree> {
    (prop::sample::select(names), prop::collection::vec(argument.clone(), count))
        .prop_map(|(name, arguments)| Tree::Function(name, arguments))
        .boxed()
}

fn several(of: &BoxedStrategy<Tree>, count: std::ops::Range<usize>) -> BoxedStrategy<Vec<Tree>> {
    prop::collection::vec(of.clone(), count).boxed()
}

fn deeper(below: &Kinds) -> Kinds {
    let Kinds { text, number, list, any } = below.clone();
    let two = several(&text, 2..3);
    let new_text = prop_oneof![
        2 => text.clone(),
        2 => method(&text, &SHAPING, Just(vec![])),
        1 => method(&text, &["replace"], two),
        1 => method(&text, &["join"], several(&list, 1..2)),
        1 => function(&["str"], &any, 1..2),
    ];
    let new_number = prop_oneof![
        2 => number.clone(),
        1 => function(&["int", "float"], &number, 1..2),
        1 => function(&["len"], &any, 1..2),
        1 => function(&["min", "max"], &number, 2..4),
        1 => method(&text, &["count", "find"], several(&text, 1..2)),
    ];
    let new_list = prop_oneof![
        1 => list,
        1 => several(&any, 0..4).prop_map(Tree::List),
        1 => method(&text, &["split"], several(&text, 0..2)),
    ];
    let kinds =
        Kinds { text: new_text.boxed(), number: new_number.boxed(), list: new_list.boxed(), any };
    Kinds { any: anything(&kinds, below), ..kinds }
}

fn anything(level: &Kinds, below: &Kinds) -> BoxedStrategy<Tree> {
    let Kinds { text, number, list, any } = below.clone();
    let boxed = |a: BoxedStrategy<Tree>, b: BoxedStrategy<Tree>, operators: &'static [&str]| {
        (a, prop::sample::select(operators), b)
            .prop_map(|(a, operator, b)| Tree::Compare(Box::new(a), operator, Box::new(b)))
    };
    let key = prop_oneof![
        Just(Tree::Text("k".into())),
        Just(Tree::Number("0")),
        number.clone(),
        text.clone(),
    ];
    prop_oneof![
        2 => level.text.clone(),
        2 => level.number.clone(),
        1 => level.list.clone(),
        1 => boxed(any.clone(), any.clone(), &OPERATORS),
        1 => boxed(number.clone(), number, &OPERATORS[..6]),
        1 => boxed(text.clone(), text.clone(), &OPERATORS),
        1 => boxed(any.clone(), list, &OPERATORS[6..]),
        1 => any.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
        1 => several(&any, 2..4).prop_map(Tree::And),
        1 => several(&any, 2..4).prop_map(Tree::Or),
        1 => function(&["bool"], &any, 1..2),
        1 => method(&text, &["startswith", "endswith"], several(&text, 1..2)),
        1 => (any.clone(), key)
            .prop_map(|(base, key)| Tree::Index(Box::new(base), Box::new(indexing(key)))),
        1 => (any.clone(), prop::sample::select(vec!["k", "in", "0"]))
            .prop_map(|(base, key)| Tree::Field(Box::new(receivable(base)), key)),
        // Calls without regard to types, for the errors.
        1 => function(&["int", "float"], &any, 1..2),
        1 => function(&["min", "max"], &any, 2..4),
        1 => method(&any, &ASKING, several(&any, 1..2)),
        1 => method(&any, &["lower", "split"], Just(vec![])),
        1 => method(&text, &["join", "split"], several(&any, 1..2)),
    ]
    .boxed()
}

pub fn tree() -> BoxedStrategy<Tree> {
    let mut kinds = leaves();
    for _ in 0..3 {
        kinds = deeper(&kinds);
    }
    kinds.any
}

impl Tree {
    /// The variables in the order of the text.
    pub fn names(&self, names: &mut Vec<&'static str>) {
        match self {
            Tree::Text(_) | Tree::Number(_) | Tree::Bool(_) => {}
            Tree::Name(name) => names.push(name),
            Tree::List(trees) | Tree::Function(_, trees) | Tree::And(trees) | Tree::Or(trees) => {
                for tree in trees {
                    tree.names(names);
                }
            }
            Tree::Method(receiver, _, trees) => {
                receiver.names(names);
                for tree in trees {
                    tree.names(names);
                }
            }
            Tree::Index(a, b) | Tree::Compare(a, _, b) => {
                a.names(names);
                b.names(names);
            }
            Tree::Field(tree, _) | Tree::Not(tree) => tree.names(names),
        }
    }
}
