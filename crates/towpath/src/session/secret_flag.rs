//! `--secret NAME`: the values that are masked come from the environment, and from nowhere else.
//! What cannot be masked, or would be stored all the same, is refused before anything runs. No
//! message of ours repeats a value. A towpath that a step starts gets the names of the outer run's
//! secrets, and masks them too; the values are in its environment or nowhere.

use crate::environment::{ColorChoice, Environment};
use crate::exit::CommandError;
use crate::terminal::out;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use towpath_core::{RunId, SECRETS_VARIABLE, SHORTEST_SECRET, Secrets, TooShort};
use towpath_engine::Options;

/// The environment of a run's children.
pub fn environment(env: &Environment, secrets: &Secrets) -> Vec<(OsString, OsString)> {
    let mut environment = env.variables.clone();
    if !secrets.is_empty() {
        environment.retain(|(name, _)| name != SECRETS_VARIABLE);
        let names: Vec<&str> = secrets.names().collect();
        environment.push((SECRETS_VARIABLE.into(), names.join(",").into()));
    }
    if env.color_choice == ColorChoice::Always {
        for name in ["FORCE_COLOR", "CLICOLOR_FORCE"] {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), "1".into()));
        }
        environment.retain(|(known, _)| known != "NO_COLOR");
    }
    environment
}

/// The outer run's secrets that this process has. One that a step has unset or replaced by
/// something too short for a secret is not there to be masked.
fn outer(env: &Environment) -> Vec<(String, Vec<u8>)> {
    let names = env.text(SECRETS_VARIABLE).unwrap_or_default();
    let value = |name: &str| Some((name.to_owned(), env.get(name)?.as_bytes().to_owned()));
    let values = names.split(',').filter_map(value);
    values.filter(|secret| Secrets::new(vec![secret.clone()]).is_ok()).collect()
}

/// The secrets of a new run. From here on they are masked in all that we print.
pub fn of_run(env: &Environment, names: &[String]) -> Result<Secrets, CommandError> {
    read(env, names, &|name| match looks_like_name(name) {
        true => format!("--secret {name}: {name} is not set; set it to the value to mask"),
        false => "--secret takes the name of a variable that is set, not its value: \
                  --secret GITHUB_TOKEN, not --secret $GITHUB_TOKEN"
            .to_owned(),
    })
}

/// Whether an argument can be repeated: it is a name as variables have it, and no value.
fn looks_like_name(argument: &str) -> bool {
    let is_name =
        argument.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    is_name && (argument.contains('_') || argument.len() < 2 * SHORTEST_SECRET)
}

/// The secrets that a run was started with, and those that are named now.
pub fn of_resume(
    env: &Environment,
    run: &RunId,
    options: &Options,
    names: &[String],
) -> Result<Secrets, CommandError> {
    let all: Vec<String> = options.secrets.iter().chain(names).cloned().collect();
    read(env, &all, &|name| {
        format!(
            "run {run} masks the value of {name}, which is never stored, and {name} is not set \
             here: set it, then towpath resume {run}"
        )
    })
}

/// The secrets that a run was started with, as far as they are all known here.
pub fn if_known(env: &Environment, options: &Options) -> Option<Secrets> {
    read(env, &options.secrets, &|name| name.to_owned()).ok()
}

fn read(
    env: &Environment,
    names: &[String],
    missing: &dyn Fn(&str) -> String,
) -> Result<Secrets, CommandError> {
    let mut values = outer(env);
    for name in names {
        if let Some((name, _)) = name.split_once('=') {
            let name = if looks_like_name(name) { name } else { "NAME" };
            return Err(CommandError::bad_input(format!(
                "--secret takes a name, not a value, which other users could see: --secret {name}, \
                 with {name} set in the environment"
            )));
        }
        if name.contains(',') {
            return Err(CommandError::bad_input("--secret takes one name, and can be repeated"));
        }
        if values.iter().any(|(known, _)| known == name) {
            continue;
        }
        let value = env.get(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| CommandError::setup(missing(name)))?;
        values.push((name.clone(), value.as_bytes().to_owned()));
    }
    let secrets = Secrets::new(values).map_err(|TooShort { name }| {
        CommandError::setup(format!(
            "the value of {name} has fewer than {SHORTEST_SECRET} characters, and masking so short a \
             text would garble the output: give it a longer value, or leave out --secret {name}"
        ))
    })?;
    out::hide(&secrets);
    Ok(secrets)
}

/// Refuses a variable that contains a secret: variables are stored with the run.
pub fn refuse_set(secrets: &Secrets, set: &[String]) -> Result<(), CommandError> {
    for argument in set {
        if let Some(secret) = secrets.found_in(argument.as_bytes()) {
            let name = argument.split('=').next().unwrap_or_default();
            return Err(CommandError::bad_input(format!(
                "--set {name}=… contains the value of {secret}, and variables are stored with the \
                 run: leave it out, and write ${secret} in the command, which reads it from the \
                 environment"
            )));
        }
    }
    Ok(())
}
