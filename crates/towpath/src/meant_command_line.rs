//! The command line that a user meant, where the parser refuses what other programs take: a recipe as the
//! command, another word for a command, and values without `--set`. It only answers; nothing runs.

use crate::environment::Invocation;
use crate::session::called_as::CalledAs;
use crate::session::recipe_list;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;
use towpath_core::nearest;
use towpath_recipe::is_file_reference;
use towpath_shell::bash::quote;

/// Commands of other programs, and ours that do the same.
const HABITS: &[(&[&str], &str)] = &[
    (&["check", "lint", "verify"], "validate"),
    (&["status", "ps", "history"], "runs"),
    (&["retry", "rerun", "continue"], "resume"),
    (&["stop", "kill", "abort"], "cancel"),
    (&["start", "exec", "play"], "run"),
    (&["log", "tail", "output"], "logs"),
    (&["describe", "plan", "graph"], "explain"),
    (&["version"], "--version"),
    (&["create", "add", "scaffold"], "new"),
    (&["config", "configure"], "settings"),
    (&["docs", "manual"], "help"),
];

/// Commands of other programs that have none here, and what is done instead.
const WAYS: &[(&[&str], &str)] = &[
    (&["rm", "delete", "remove", "clean", "prune", "gc"], "to delete old runs: towpath runs prune"),
    (&["edit", "open"], "a recipe is a file: towpath list shows where each is"),
    (&["watch", "follow"], "to watch runs: towpath ui; one of them: towpath logs RUN --follow"),
    (&["update", "upgrade", "self-update"], "install the new version over this one"),
    (&["report", "bug"], "a bug report: towpath doctor --report RUN"),
    (&["fmt", "format"], "recipes have no formatter; to check one: towpath validate RECIPE"),
];

/// `towpath init` without a host, which other programs have for a new project.
const INIT: &str = "`towpath init` needs a host: `towpath init claude-code` installs the hooks that \
    correct an agent's commands; for a new recipe: towpath new NAME";

/// Flags by which other programs set a variable.
const SETTING_FLAGS: &[&str] = &[
    "--var",
    "--param",
    "--arg",
    "--input",
    "--env",
    "--define",
    "--extra-vars",
    "-s",
    "-D",
    "-e",
];

/// The error without the parser's own guesses, which may be far from what was typed: only a command that
/// is a slip away is named, and no value was meant by an unknown flag.
pub fn with_near_words_only(mut error: clap::Error, invocation: &Invocation) -> clap::Error {
    error.remove(ContextKind::Suggested);
    let flag = |kind| refused(&error, kind).unwrap_or_default();
    let [typed, guess] = [ContextKind::InvalidArg, ContextKind::SuggestedArg].map(flag);
    if nearest(typed.trim_start_matches('-'), [guess.trim_start_matches('-')]).is_none() {
        error.remove(ContextKind::SuggestedArg);
    }
    let Some(word) = refused(&error, ContextKind::InvalidSubcommand) else { return error };
    let mut names = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(guesses)) => guesses,
        Some(ContextValue::String(guess)) => vec![guess],
        _ => Vec::new(),
    };
    let commands = (invocation.command_line)();
    let is_first = |typed: &OsString| commands.find_subcommand(typed).is_none();
    if invocation.rest().first().is_some_and(is_first) {
        let known = commands.get_subcommands().filter(|command| !command.is_hide_set());
        names.extend(known.map(|command| command.get_name().to_owned()));
    }
    if let Some(near) = nearest(&word, names.iter().map(String::as_str)) {
        let near = ContextValue::Strings(vec![near.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, near);
    }
    error
}

/// The message with the line that was meant; none where nothing is known.
pub fn message(error: &clap::Error, invocation: &Invocation) -> Option<String> {
    let words: Vec<String> = invocation
        .rest()
        .iter()
        .map(|word| word.to_str().map(str::to_owned))
        .collect::<Option<_>>()?;
    match error.kind() {
        ErrorKind::MissingRequiredArgument if words == ["init"] => Some(INIT.to_owned()),
        ErrorKind::InvalidSubcommand => {
            other_command(&refused(error, ContextKind::InvalidSubcommand)?, &words, invocation)
        }
        ErrorKind::UnknownArgument => {
            let first = refused(error, ContextKind::InvalidArg)?;
            if let [rules, test, line @ ..] = &words[..]
                && (rules, test) == (&"rules".to_owned(), &"test".to_owned())
            {
                let line = quote(&line.join(" "));
                return Some(format!("the command is one argument: towpath rules test {line}"));
            }
            let command = (invocation.command_line)();
            let sets = words.iter().find_map(|word| command.find_subcommand(word))?;
            let takes_set = sets.get_arguments().any(|argument| argument.get_id() == "set");
            let line = takes_set.then(|| with_values_set(&words, &first))??;
            let flags: Vec<&str> = sets.get_arguments().filter_map(clap::Arg::get_long).collect();
            let similar = nearest(first.trim_start_matches('-'), flags).is_some()
                && first.len() > "--ab".len();
            let is_value = is_assignment(&first) || SETTING_FLAGS.contains(&first.as_str());
            (is_value || !similar)
                .then(|| format!("variables are set with --set NAME=VALUE: {line}"))
        }
        _ => None,
    }
}

/// A word that is no command: a recipe, or what another program calls a command of ours.
fn other_command(word: &str, words: &[String], invocation: &Invocation) -> Option<String> {
    let run = || {
        let rest: Vec<String> = words.iter().filter(|given| *given != "run").cloned().collect();
        let line = [vec!["run".to_owned()], rest].concat();
        with_values_set(&line, "").unwrap_or_else(|| typed(&line))
    };
    if let Some(name) = recipe_elsewhere(word, invocation) {
        return Some(format!(
            "there is no file {word} here; to run the recipe: towpath run {name}"
        ));
    }
    if is_file_reference(word) || Path::new(word).is_file() {
        return Some(format!("`{word}` is no command; to run it: {}", run()));
    }
    if let Some((_, ours)) = HABITS.iter().find(|(theirs, _)| theirs.contains(&word)) {
        return Some(format!("`{word}` is no command; did you mean `towpath {ours}`?"));
    }
    if let Some((_, way)) = WAYS.iter().find(|(theirs, _)| theirs.contains(&word)) {
        return Some(format!("`{word}` is no command; {way}"));
    }
    if word == "ls" {
        return Some(
            "`ls` is no command; did you mean `towpath list`, which lists recipes, or \
             `towpath runs`?"
                .to_owned(),
        );
    }
    if word == "install" {
        let at = words.iter().position(|given| given == word)?;
        let rest = [&["tool".to_owned(), "install".to_owned()], &words[at + 1..]].concat();
        return Some(format!("`{word}` is no command; to install a tool: {}", typed(&rest)));
    }
    let env = invocation.environment().ok()?;
    let recipes = recipe_list::entries(env, None, &[], CalledAs::Towpath).ok()?;
    let is_recipe = recipes.iter().any(|entry| entry.recipe.name == word);
    is_recipe.then(|| format!("`{word}` is a recipe and no command; to run it: {}", run()))
}

/// The name of the recipe that `publish.yaml` means where no such file is here.
fn recipe_elsewhere(word: &str, invocation: &Invocation) -> Option<String> {
    let name = word.strip_suffix(".yaml").or_else(|| word.strip_suffix(".yml"))?;
    if name.contains('/') || Path::new(word).exists() {
        return None;
    }
    let env = invocation.environment().ok()?;
    let recipes = recipe_list::entries(env, None, &[], CalledAs::Towpath).ok()?;
    recipes.iter().any(|entry| entry.recipe.name == name).then(|| quote(name))
}

/// The typed line with every value as `--set NAME=VALUE`; none where it has no value that is not.
/// `unknown` is the flag that was refused: the word after it is its value.
fn with_values_set(words: &[String], unknown: &str) -> Option<String> {
    let mut line: Vec<String> = Vec::new();
    let mut changed = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let long = word.strip_prefix("--").filter(|rest| is_assignment(rest));
        let sets = word == "--set";
        if sets || SETTING_FLAGS.contains(&word.as_str()) {
            let value = words.next()?;
            let whole = is_assignment(value) || (sets && value.contains('='));
            let value = if whole { value.clone() } else { format!("{value}={}", words.next()?) };
            line.extend(["--set".to_owned(), value]);
            changed |= !(sets && whole);
        } else if let Some(name) = word.strip_prefix("--").filter(|_| word == unknown)
            && let Some(value) = words.as_slice().first().filter(|value| !value.starts_with('-'))
        {
            words.next();
            line.extend(["--set".to_owned(), format!("{name}={value}")]);
            changed = true;
        } else if let Some(value) = long.or(is_assignment(word).then_some(word)) {
            line.extend(["--set".to_owned(), value.to_owned()]);
            changed = true;
        } else if word != "--" {
            line.push(word.clone());
        }
    }
    changed.then(|| typed(&line))
}

/// What the parser did not take.
fn refused(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        _ => None,
    }
}

fn typed(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    format!("towpath {}", words.join(" "))
}

/// `name=Ann`, and no flag.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        let first = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        first && name.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
    })
}
