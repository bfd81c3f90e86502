//! Which letters of common programs take a value.

use std::sync::LazyLock;
use towpath_core::{data_rows, data_section};
use towpath_shell::bash::SimpleCommand;

pub(super) const OPTIONS: &str = include_str!("program_options.txt");

/// The names of programs, letters that take a value, letters that may have one attached.
static LETTERS: LazyLock<Vec<[&str; 3]>> =
    LazyLock::new(|| data_rows(data_section(OPTIONS, "letters")).collect());

/// How a program reads its options.
#[derive(Debug, Clone)]
pub(super) struct Program {
    /// It is in the table, or a rule names its letters.
    pub known: bool,
    /// Several letters may share one dash.
    pub clusters: bool,
    /// Letters whose value is the rest of the word, or else the next word.
    pub valued: String,
    /// Letters whose value, if there is one, is the rest of the word.
    pub optional: &'static str,
    /// What comes after the first operand belongs to another program.
    pub ends_at_operand: bool,
}

impl Program {
    pub fn add_valued(&mut self, letters: &str) {
        self.known |= !letters.is_empty();
        self.valued.push_str(letters);
    }

    /// The letters of a word that has one dash. `None`: it is not known to be letters.
    pub fn cluster(&self, value: &str) -> Option<Cluster> {
        let letters = value.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        if !self.clusters && letters.len() > 1 || !self.known && letters.len() > 3 {
            return None;
        }
        for (at, letter) in letters.char_indices() {
            if !letter.is_ascii_alphabetic() {
                return None;
            }
            let rest = at + 1;
            let takes = self.valued.contains(letter);
            // An optional value is the rest of the word.
            if takes || self.optional.contains(letter) && rest < letters.len() {
                let takes_next = takes && rest == letters.len();
                return Some(Cluster {
                    letters: letters[..rest].to_owned(),
                    valued: true,
                    takes_next,
                });
            }
        }
        Some(Cluster { letters: letters.to_owned(), valued: false, takes_next: false })
    }
}

/// Letters behind one dash.
pub(super) struct Cluster {
    /// Up to the one that takes a value.
    pub letters: String,
    /// The last letter takes a value.
    pub valued: bool,
    /// The value is the next word.
    pub takes_next: bool,
}

/// What is known of a command's program; its subcommand counts.
pub(super) fn program_of(command: &SimpleCommand) -> Program {
    let subcommand = command.words.get(1).and_then(|word| word.fixed()).unwrap_or_default();
    program(command.name().unwrap_or_default(), subcommand)
}

/// The known options of a program with this subcommand.
pub(super) fn program(name: &str, subcommand: &str) -> Program {
    let base = name.rsplit('/').next().unwrap_or(name);
    let both = format!("{base} {subcommand}");
    let listed = |section, name: &str| data_section(OPTIONS, section).lines().any(|n| n == name);
    let ends_at_operand = listed("starts-another", base) || listed("starts-another", &both);
    if listed("single-dash", base) {
        let (valued, optional) = (String::new(), "");
        return Program { known: true, clusters: false, valued, optional, ends_at_operand };
    }
    let of = |names: &str, name: &str| names.split(", ").any(|known| known == name);
    let row = |name: &str| LETTERS.iter().find(|[names, ..]| of(names, name));
    let found = row(&both).or_else(|| row(base));
    match found {
        Some([_, valued, optional]) => {
            let valued = (*valued).to_owned();
            Program { known: true, clusters: true, valued, optional, ends_at_operand }
        }
        None => {
            let (valued, optional) = (String::new(), "");
            Program { known: false, clusters: true, valued, optional, ends_at_operand }
        }
    }
}
