//! The key of remote clients: made when a user first wants one, and kept, so that a phone finds the next
//! server. A server that is up reads it from its file.

use super::running_server::new_token;
use super::running_server::{PageFiles, write_private};
use crate::environment::Environment;
use crate::exit::CommandError;
use towpath_server::PhoneKey;

/// The key, or a new one where there is none, others could read it, or the user wants to replace it.
pub fn phone_key(env: &Environment, replace: bool) -> Result<PhoneKey, CommandError> {
    let file = PageFiles::of(env).phone_key();
    if let Some(key) = PhoneKey::read(&file).filter(|_| !replace) {
        return Ok(key);
    }
    let made = new_token().map(PhoneKey::new).and_then(|key| {
        write_private(&file, format!("{}\n", key.text()).as_bytes())?;
        Ok(key)
    });
    made.map_err(|error| CommandError::setup(format!("{}: {error}", file.display())))
}
