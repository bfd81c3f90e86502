//! The answer of a call whose owner died. What its program printed is on disk: a complete result
//! there is paid for, and is recorded as if its end had been seen. What is not complete is left to
//! the run's own rules.

use crate::error::EngineError;
use crate::event::{Event, Reporter};
use crate::files::Files;
use crate::journal::{Reads, Recorded, now_ms};
use crate::live::{Finished, Live};
use crate::sessions::{SessionLocks, Sessions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use towpath_agent::{Backend, Call, backend_row};
use towpath_core::{JobKey, JobKind, Secrets};
use towpath_process::ExitStatus;
use towpath_run::Fact;
use towpath_store::OutputRef;

/// A job that was started and whose end nobody recorded.
#[derive(Debug)]
pub(crate) struct Dead {
    pub key: JobKey,
    /// Its files have this number.
    pub number: u32,
    pub started_ms: i64,
}

/// A fact that a dead owner would have recorded, with what belongs to it.
pub(crate) struct Late {
    pub fact: Fact,
    pub at_ms: i64,
    pub stdout: Option<OutputRef>,
    pub stderr: Option<OutputRef>,
}

/// What the dead calls of a run came to, and what is to be reported of them.
pub(crate) fn late_facts(
    recorded: &Recorded,
    directory: &Path,
    secrets: &Secrets,
) -> Result<(Vec<Late>, Vec<String>), EngineError> {
    let (mut facts, mut warnings) = (Vec::new(), Vec::new());
    let Some(backend) = backend(recorded.options.backend.as_deref()) else {
        return Ok((facts, warnings));
    };
    let program = recorded.run.program();
    let reads = Reads::of(program);
    let foreign = program.plan.machine.session.clone();
    let mut sessions = Sessions::new(SessionLocks::default(), foreign);
    sessions.replay(&recorded.started);
    for dead in recorded.dead.iter().filter(|dead| dead.key.kind == JobKind::Agent) {
        let Some(mut finished) = read(dead, &*backend, directory, &reads, secrets)? else {
            continue;
        };
        let key = dead.key.clone();
        let at_ms = printed_at(directory, dead);
        if let Some(session) = finished.session.filter(|id| sessions.of(&key).as_ref() != Some(id))
        {
            sessions.opened(&key, &session);
            let fact = Fact::SessionOpened { key: key.clone(), session };
            facts.push(Late { fact, at_ms, stdout: None, stderr: None });
        }
        if let (Some(total), Some(session)) = (finished.end.session_total, sessions.of(&key)) {
            finished.end.usage = Some(sessions.used(&session, total));
        }
        warnings.extend(finished.warnings.iter().map(|w| format!("{}: {w}", key.step_path())));
        let Finished { end, stdout, stderr, .. } = finished;
        facts.push(Late { fact: Fact::JobFinished { key, end }, at_ms, stdout, stderr });
    }
    Ok((facts, warnings))
}

/// Who was asked. A scripted answer has no last line that could say that it is complete.
fn backend(id: Option<&str>) -> Option<Arc<dyn Backend>> {
    let make = backend_row(id?)?.make?;
    // Nothing is started, and no time is read from a good answer.
    Some(make(PathBuf::new(), jiff::tz::TimeZone::UTC))
}

/// The end of a call, where the files that it left contain a complete result.
fn read(
    dead: &Dead,
    backend: &dyn Backend,
    directory: &Path,
    reads: &Reads,
    secrets: &Secrets,
) -> Result<Option<Finished>, EngineError> {
    let mut files = Files::new(directory, dead.number, secrets);
    files.reads = backend.invocation(&Call::default()).reads;
    let live = Live::new(dead.key.clone(), files, None, Some(backend.reader()));
    let unknown = ExitStatus { code: None, signal: None };
    let finished = live.end(unknown, Vec::new(), reads, &mut Nobody)?;
    Ok(finished.end.succeeded().then_some(finished))
}

/// When it printed last.
fn printed_at(directory: &Path, dead: &Dead) -> i64 {
    let file = directory.join(format!("{}.stdout", dead.number));
    let modified = file.metadata().and_then(|file| file.modified()).ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let now = now_ms();
    // A clock that was set meanwhile makes no step end before it began.
    since.map_or(now, |time| (time.as_millis() as i64).min(now)).max(dead.started_ms)
}

/// The terminal of the one who died is gone.
struct Nobody;

impl Reporter for Nobody {
    fn event(&mut self, _: &Event<'_>) {}
}
