//! Writes a generated tree as text: parentheses where they are needed and here and there where not,
//! blanks and spellings by chance.

use super::random_trees::Tree;

pub struct Printer {
    chance: u64,
    tokens: Vec<String>,
}

pub fn print(tree: &Tree, seed: u64) -> String {
    let mut printer = Printer { chance: seed | 1, tokens: Vec::new() };
    printer.tree(tree, 1);
    printer.joined()
}

/// How tightly the outermost operator binds.
fn binding(tree: &Tree) -> u8 {
    match tree {
        Tree::Or(_) => 1,
        Tree::And(_) => 2,
        Tree::Not(_) => 3,
        Tree::Compare(..) => 4,
        _ => 5,
    }
}

impl Printer {
    fn one_in(&mut self, count: u64) -> bool {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 11).is_multiple_of(count)
    }

    fn put(&mut self, token: &str) {
        self.tokens.push(token.to_owned());
    }

    fn either(&mut self, a: &str, b: &str) {
        let token = if self.one_in(2) { a } else { b };
        self.put(token);
    }

    fn tree(&mut self, tree: &Tree, least: u8) {
        if binding(tree) < least || self.one_in(8) {
            self.put("(");
            self.tree(tree, 1);
            self.put(")");
            return;
        }
        match tree {
            Tree::Text(text) => self.text(text),
            Tree::Number(text) => self.put(text),
            Tree::Bool(true) => self.either("true", "True"),
            Tree::Bool(false) => self.either("false", "False"),
            Tree::Name(path) => self.path(path),
            Tree::List(items) => {
                self.put("[");
                self.sequence(items);
                if !items.is_empty() && self.one_in(3) {
                    self.put(",");
                }
                self.put("]");
            }
            Tree::Function(name, arguments) => {
                self.put(name);
                self.arguments(arguments);
            }
            Tree::Method(receiver, name, arguments) => {
                self.tree(receiver, 5);
                self.put(".");
                self.put(name);
                self.arguments(arguments);
            }
            Tree::Index(base, index) => {
                self.tree(base, 5);
                self.put("[");
                self.tree(index, 1);
                self.put("]");
            }
            Tree::Field(base, key) => {
                // Without parentheses a variable would take the key into its own path.
                let least = if matches!(**base, Tree::Name(_)) { 6 } else { 5 };
                self.tree(base, least);
                self.put(".");
                self.put(key);
            }
            Tree::Compare(a, operator, b) => {
                self.tree(a, 5);
                operator.split(' ').for_each(|word| self.put(word));
                self.tree(b, 5);
            }
            Tree::Not(inner) => {
                self.put("not");
                self.tree(inner, 3);
            }
            Tree::And(terms) => self.terms(terms, 3, ["and", "&&"]),
            Tree::Or(terms) => self.terms(terms, 2, ["or", "||"]),
        }
    }

    fn terms(&mut self, terms: &[Tree], least: u8, spellings: [&str; 2]) {
        for (at, term) in terms.iter().enumerate() {
            if at > 0 {
                self.either(spellings[0], spellings[1]);
            }
            self.tree(term, least);
        }
    }

    fn arguments(&mut self, arguments: &[Tree]) {
        self.put("(");
        self.sequence(arguments);
        self.put(")");
    }

    fn sequence(&mut self, items: &[Tree]) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.put(",");
            }
            self.tree(item, 1);
        }
    }

    fn path(&mut self, path: &str) {
        for (at, segment) in path.split('.').enumerate() {
            if at > 0 {
                self.put(".");
            }
            self.put(segment);
        }
    }

    fn text(&mut self, text: &str) {
        let quote = if self.one_in(2) { '\'' } else { '"' };
        let mut out = String::from(quote);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let plain_slash = chars.peek().is_some_and(|next| !"\\'\"nt\n\t".contains(*next));
            match c {
                '\\' if plain_slash && self.one_in(2) => out.push('\\'),
                '\\' => out.push_str("\\\\"),
                '\n' if self.one_in(2) => out.push_str("\\n"),
                '\t' if self.one_in(2) => out.push_str("\\t"),
                '\'' | '"' if c == quote || self.one_in(2) => out.extend(['\\', c]),
                c => out.push(c),
            }
        }
        out.push(quote);
        self.tokens.push(out);
    }

    fn joined(&mut self) -> String {
        let wordy = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let mut out = String::new();
        for token in std::mem::take(&mut self.tokens) {
            let touching = out.ends_with(wordy) && token.starts_with(wordy);
            if touching || self.one_in(3) {
                out.push(if self.one_in(4) { '\n' } else { ' ' });
            }
            if self.one_in(10) {
                out.push_str("\t ");
            }
            out.push_str(&token);
        }
        out
    }
}
