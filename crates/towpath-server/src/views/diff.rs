//! Changes in git by the agents of a run, or of one step, as `towpath show --diff` prints it.

use super::journal::{find, open_for};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::own_program::{self, Asking};
use crate::routes::Asked;
use serde_json::json;

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let name = asked.path("run");
    let row = find(&open_for(server, name)?, name)?;
    let asking = Asking::Diff(row.id.as_str(), asked.query("step"));
    let printed = own_program::printed_by(server, &server.config.directory, &asking)?;
    Ok(Answer::Json(json!({
        "schema": 1,
        "run_id": row.id,
        "known": printed.succeeded,
        "diff": printed.stdout,
        "notes": printed.stderr.trim_end(),
    })))
}
