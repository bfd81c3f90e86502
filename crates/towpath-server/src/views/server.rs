//! The server itself.

use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use serde_json::json;
use towpath_view::foreign_text::escaped;

pub(crate) fn answer(server: &Server, _: &Asked) -> Result<Answer, Refusal> {
    let config = &server.config;
    Ok(Answer::Json(json!({
        "schema": 1,
        "api": 1,
        "version": config.version,
        "read_only": config.read_only,
        "directory": escaped(&config.directory),
        "seq": server.events.latest(),
    })))
}
