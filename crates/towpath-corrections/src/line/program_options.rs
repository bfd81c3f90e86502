//! How common programs read their options, from `program_options.txt`: which letters take a value, and
//! which long options take theirs from the next word, as in `--message TEXT`.

use std::sync::LazyLock;
use towpath_core::{data_rows, data_section};
use towpath_shell::bash::SimpleCommand;

const OPTIONS: &str = include_str!("program_options.txt");

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

/// The names of programs, and their options without dashes.
static LONG: LazyLock<Vec<[&str; 2]>> =
    LazyLock::new(|| data_rows(data_section(OPTIONS, "long")).collect());

/// The options of a program, or of it with a subcommand.
fn options(program: &str) -> impl Iterator<Item = &'static str> {
    let of = move |[names, _]: &&[&str; 2]| names.split(", ").any(|name| name == program);
    LONG.iter().filter(of).map(|[_, options]| *options)
}

/// Whether the word after this option is its value.
pub(super) fn takes_next(program: &str, subcommand: &str, option: &str) -> bool {
    let base = program.rsplit('/').next().unwrap_or(program);
    let name = option.trim_start_matches('-');
    let both = format!("{base} {subcommand}");
    options(base).chain(options(&both)).any(|options| options.split(' ').any(|o| o == name))
}

/// Whether the options of a program are in the table.
pub(super) fn is_known(program: &str) -> bool {
    options(program.rsplit('/').next().unwrap_or(program)).next().is_some()
}
