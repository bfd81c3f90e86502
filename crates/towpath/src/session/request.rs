//! The flags by which a person says which recipe they mean and with what: the same for every command
//! that takes a recipe.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::search_path::{search_path, working_directory};
use crate::session::trust;
use crate::settings::Settings;
use std::path::PathBuf;
use towpath_core::{Map, parse_set};
use towpath_recipe::{Request, Tags, Wishes};

#[derive(Debug, Clone, Default, clap::Args)]
pub struct RequestFlags {
    /// Set a variable: text, a number, true/false, or a JSON list or object.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Where steps run and where relative paths start.
    #[arg(short = 'C', long = "working-dir", value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Look for recipes here first. May be given several times.
    #[arg(short = 'R', long = "recipe-dir", value_name = "DIR")]
    pub recipe_dirs: Vec<PathBuf>,
    /// Run the steps with one of these tags too; untagged steps always run.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub include_tags: Vec<String>,
    /// Run the tagged steps, except those with one of these tags.
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    pub exclude_tags: Vec<String>,
}

/// Where a request is looked up.
pub struct Here {
    pub directory: PathBuf,
    pub settings: Settings,
}

impl RequestFlags {
    pub fn here(&self, env: &Environment) -> Result<Here, CommandError> {
        let directory = working_directory(env, self.directory.as_deref())?;
        let settings = trust::settings_for(env, &directory)?;
        Ok(Here { directory, settings })
    }

    pub fn request(
        &self,
        env: &Environment,
        here: &Here,
        recipe: &str,
    ) -> Result<Request, CommandError> {
        Ok(Request {
            reference: recipe.to_owned(),
            working_dir: here.directory.clone(),
            search: search_path(env, &here.settings, &self.recipe_dirs, &here.directory)?,
            inputs: inputs(&self.set)?,
            wishes: Wishes { tags: self.tags()?, ..Wishes::default() },
        })
    }

    fn tags(&self) -> Result<Tags, CommandError> {
        let clean = |flag: &str, tags: &[String]| {
            let tags: Vec<String> = tags.iter().map(|tag| tag.trim().to_owned()).collect();
            match tags.iter().any(String::is_empty) {
                true => Err(CommandError::bad_input(format!("--{flag} has an empty tag"))),
                false => Ok(tags),
            }
        };
        Ok(Tags {
            include: clean("include-tags", &self.include_tags)?,
            exclude: clean("exclude-tags", &self.exclude_tags)?,
        })
    }
}

pub fn inputs(set: &[String]) -> Result<Map, CommandError> {
    let mut inputs = Map::new();
    for argument in set {
        let (name, value) =
            parse_set(argument).map_err(|e| CommandError::bad_input(e.to_string()))?;
        inputs.insert(name, value);
    }
    Ok(inputs)
}
