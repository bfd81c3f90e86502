//! `dp config`, and the file `~/.dp/config.toml` of the program that this name comes from. What has a
//! counterpart here is honoured: `default_format` and `known_tools`. A remote store is refused.

use super::Dp;
use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use serde_json::Value;
use std::path::PathBuf;
use toml_edit::{Array, DocumentMut, Item, value};
use towpath_core::files;

/// Show or change the settings in ~/.dp/config.toml.
///
/// Example: dp config default_format json
#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    /// KEY to show one setting, KEY and VALUE to change it.
    #[arg(value_name = "KEY VALUE")]
    words: Vec<String>,
}

/// The keys, each with whether its value is a list.
const KEYS: &[(&str, bool)] = &[
    ("db_path", false),
    ("default_format", false),
    ("default_source", false),
    ("known_tools", true),
    ("remote_url", false),
    ("store_mode", false),
    ("track_tools", true),
    ("turn_length_threshold", false),
];

/// The settings that a file has.
#[derive(Debug, Default)]
pub struct DpConfig {
    path: PathBuf,
    table: DocumentMut,
}

impl DpConfig {
    pub fn read(env: &Environment) -> Result<DpConfig, CommandError> {
        let Some(home) = &env.home else { return Ok(DpConfig::default()) };
        let path = home.join(".dp/config.toml");
        let failed = |error: &dyn std::fmt::Display| {
            CommandError::setup(format!("cannot parse {}: {error}", path.display()))
        };
        let table = match files::read_text(&path, files::MOST_TEXT) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => DocumentMut::new(),
            Err(error) => return Err(failed(&error)),
            Ok(text) => {
                text.parse().map_err(|error: toml_edit::TomlError| failed(&error.message()))?
            }
        };
        Ok(DpConfig { path, table })
    }

    /// An error where the records would be somewhere else.
    pub fn check(&self) -> Result<(), CommandError> {
        if self.text("store_mode").as_deref() != Some("remote") {
            if self.text("db_path").is_some() {
                out::note(
                    "note: db_path is not used; records are in towpath's journal, or in --db FILE",
                );
            }
            return Ok(());
        }
        let why = match self.text("remote_url") {
            Some(url) => format!("the remote store {url} is not supported"),
            None => "remote_url is not set, and no remote store is supported".to_owned(),
        };
        let message = format!("{why}: records stay on this machine; dp config store_mode local");
        Err(CommandError::bad_input(message))
    }

    pub fn is_json(&self) -> bool {
        self.text("default_format").as_deref() == Some("json")
    }

    pub fn list(&self, key: &str) -> Vec<String> {
        let items = self.table.get(key).and_then(Item::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// A setting in one line.
    fn text(&self, key: &str) -> Option<String> {
        let item = self.table.get(key)?;
        Some(match (item.as_str(), item.as_array()) {
            (Some(text), _) => text.to_owned(),
            (None, Some(_)) => self.list(key).join(","),
            (None, None) => item.to_string().trim().to_owned(),
        })
    }

    fn set(&mut self, key: &str, list: bool, text: &str) -> Result<(), CommandError> {
        let choices: &[&str] = match key {
            "default_format" => &["table", "json"],
            "store_mode" => &["local", "remote"],
            _ => &[],
        };
        if !choices.is_empty() && !choices.contains(&text) {
            let message = format!("invalid {key} {text:?}: use {}", choices.join(" or "));
            return Err(CommandError::bad_input(message));
        }
        self.table[key] = match list {
            true => value(text.split(',').map(str::trim).collect::<Array>()),
            false => value(text),
        };
        let failed =
            |e: std::io::Error| CommandError::setup(format!("{}: {e}", self.path.display()));
        self.path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        files::write(&self.path, self.table.to_string().as_bytes()).map_err(failed)
    }
}

pub fn execute(dp: &Dp<'_>, args: &ConfigArgs) -> Result<Exit, CommandError> {
    let known = |key: &String| KEYS.iter().find(|(name, _)| name == key).copied();
    let key = args.words.first();
    let Some((key, list)) = key.map_or(Some(("", false)), known) else {
        let names: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
        let message = format!("unknown key {:?} (keys: {})", args.words[0], names.join(", "));
        return Err(CommandError::bad_input(message));
    };
    match args.words.as_slice() {
        [] => {
            let set = || KEYS.iter().filter_map(|(key, _)| Some((*key, dp.config.text(key)?)));
            match dp.json {
                true => {
                    let fields = set().map(|(key, value)| (key.to_owned(), Value::from(value)));
                    out::json(&Value::Object(fields.collect()));
                }
                false => set().for_each(|(key, value)| out::line(format!("{key} = {value}"))),
            }
        }
        [_] => out::line(dp.config.text(key).unwrap_or_default()),
        [_, value] => DpConfig::read(dp.env)?.set(key, list, value)?,
        _ => return Err(CommandError::bad_input("config takes a key and one value")),
    }
    Ok(Exit::Done)
}
