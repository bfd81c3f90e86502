//! The command line that a user meant, where the parser refuses what other programs take: a recipe's file
//! as the command, and `NAME=VALUE` without its flag. It only answers; nothing runs.

use crate::environment::Invocation;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::path::Path;
use towpath_recipe::is_file_reference;
use towpath_shell::bash::quote;

/// The message with the line that was meant; none where nothing is known.
pub fn message(error: &clap::Error, invocation: &Invocation) -> Option<String> {
    let words: Vec<String> = invocation
        .rest()
        .iter()
        .map(|word| word.to_str().map(str::to_owned))
        .collect::<Option<_>>()?;
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let file = refused(error, ContextKind::InvalidSubcommand)?;
            let is_recipe = is_file_reference(&file) || Path::new(&file).is_file();
            let line = typed(&words, |word, line| {
                line.extend(
                    (word == file && !line.contains(&"run".to_owned())).then(|| "run".to_owned()),
                );
                line.push(quote(word));
            });
            is_recipe.then(|| format!("`{file}` is no command; to run it: {line}"))
        }
        ErrorKind::UnknownArgument => {
            let first = refused(error, ContextKind::InvalidArg)?;
            let command = (invocation.command_line)();
            let sets = words.iter().find_map(|word| command.find_subcommand(word))?;
            let takes_set = sets.get_arguments().any(|argument| argument.get_id() == "set");
            let line = typed(&words, |word, line| {
                let is_value = line.last().is_some_and(|before| before == "--set");
                line.extend((is_assignment(word) && !is_value).then(|| "--set".to_owned()));
                line.push(quote(word));
            });
            (takes_set && is_assignment(&first))
                .then(|| format!("variables are set with --set: {line}"))
        }
        _ => None,
    }
}

/// What the parser did not take.
fn refused(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    }
}

/// The typed line with what is added to it.
fn typed(words: &[String], mut add: impl FnMut(&str, &mut Vec<String>)) -> String {
    let mut line = vec!["towpath".to_owned()];
    for word in words {
        add(word, &mut line);
    }
    line.join(" ")
}

/// `name=Ann`, and no flag.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        first && name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
    })
}
