//! The functions and methods there are, with how many arguments each takes. What is not in these
//! two tables cannot be called.

use towpath_core::nearest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Int,
    Float,
    Str,
    Bool,
    Len,
    Min,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Strip,
    LeftStrip,
    RightStrip,
    Lower,
    Upper,
    Title,
    StartsWith,
    EndsWith,
    Replace,
    Split,
    Join,
    Count,
    Find,
}

/// How many arguments a call takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arity {
    least: usize,
    most: Option<usize>,
}

pub(super) struct Callable<T> {
    pub name: &'static str,
    pub what: T,
    pub arity: Arity,
}

const fn callable<T>(
    name: &'static str,
    what: T,
    least: usize,
    most: Option<usize>,
) -> Callable<T> {
    Callable { name, what, arity: Arity { least, most } }
}

pub(super) static FUNCTIONS: [Callable<Function>; 7] = [
    callable("int", Function::Int, 1, Some(1)),
    callable("float", Function::Float, 1, Some(1)),
    callable("str", Function::Str, 1, Some(1)),
    callable("bool", Function::Bool, 1, Some(1)),
    callable("len", Function::Len, 1, Some(1)),
    callable("min", Function::Min, 2, None),
    callable("max", Function::Max, 2, None),
];

pub(super) static METHODS: [Callable<Method>; 13] = [
    callable("strip", Method::Strip, 0, Some(0)),
    callable("lstrip", Method::LeftStrip, 0, Some(0)),
    callable("rstrip", Method::RightStrip, 0, Some(0)),
    callable("lower", Method::Lower, 0, Some(0)),
    callable("upper", Method::Upper, 0, Some(0)),
    callable("title", Method::Title, 0, Some(0)),
    callable("startswith", Method::StartsWith, 1, Some(1)),
    callable("endswith", Method::EndsWith, 1, Some(1)),
    callable("replace", Method::Replace, 2, Some(2)),
    callable("split", Method::Split, 0, Some(1)),
    callable("join", Method::Join, 1, Some(1)),
    callable("count", Method::Count, 1, Some(1)),
    callable("find", Method::Find, 1, Some(1)),
];

impl Arity {
    pub fn takes(self, count: usize) -> bool {
        count >= self.least && self.most.is_none_or(|most| count <= most)
    }
}

impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Arity { least, most } = *self;
        match most {
            Some(0) => f.write_str("no arguments"),
            Some(1) if least == 1 => f.write_str("1 argument"),
            Some(1) => f.write_str("at most 1 argument"),
            Some(most) => write!(f, "{most} arguments"),
            None => write!(f, "at least {least} arguments"),
        }
    }
}

pub(super) fn find<T>(table: &'static [Callable<T>], name: &str) -> Option<&'static Callable<T>> {
    table.iter().find(|entry| entry.name == name)
}

/// The name in a table that was probably meant.
pub(super) fn near<T>(table: &'static [Callable<T>], name: &str) -> Option<&'static str> {
    nearest(name, table.iter().map(|entry| entry.name))
}

/// All names of a table, for a sentence.
pub(super) fn listed<T>(table: &'static [Callable<T>]) -> String {
    table.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

impl Method {
    pub fn name(self) -> &'static str {
        let found = METHODS.iter().find(|entry| entry.what == self);
        found.expect("every method has its row").name
    }
}
