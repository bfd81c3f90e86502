//! Which long options of common programs take their value from the next word, as in `--message TEXT`.

use super::short_flag_table::OPTIONS;
use std::sync::LazyLock;
use towpath_core::{data_rows, data_section};

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
