//! The file that lists every agent call of a run, one JSON object a line, for tests and demonstrations.

use crate::error::{ExecutorError, io_error};
use crate::job_spec::AgentWork;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use towpath_core::{JobKey, Secrets};

pub(crate) fn append(
    path: &Path,
    key: &JobKey,
    work: &AgentWork,
    secrets: &Secrets,
) -> Result<(), ExecutorError> {
    let call = &work.call;
    let mut note = serde_json::json!({
        "step": key.step_path().as_str(),
        "kind": if key.call > 0 { "reminder" } else { "prompt" },
        "session": call.session,
        "how": if call.resume { "resume" } else { "new" },
        "model": call.model,
        "mode": call.mode,
        "system": call.system,
        "working_dir": call.directory.display().to_string(),
        "prompt": call.prompt,
    });
    if let Some(answer) = &work.scripted {
        note["line"] = answer.number.into();
    }
    secrets.mask_value(&mut note);
    let mut options = std::fs::OpenOptions::new();
    let file = options.create(true).append(true).mode(0o600).open(path);
    file.and_then(|mut f| f.write_all(format!("{note}\n").as_bytes())).map_err(io_error(path))
}
