//! Steps 0 and 1: what the file is, and how the process ended. Both decide before a word is read: a
//! program that crashed after its version line does not work.

use super::reading::Reading;
use super::{environment, version};
use crate::observation::{ProcessEnd, limit as limit_word};
use crate::verdict::{Evidence, EvidenceKind, Judgement, Verdict};

/// SIGKILL, SIGXCPU and SIGXFSZ are limits of the sandbox; all other signals are crashes.
const LIMIT_SIGNALS: [i32; 3] = [9, 24, 25];
/// How a shell or a wrapper reports that its child crashed.
const CRASH_CODES: [i32; 5] = [132, 134, 135, 136, 139];
/// How it reports that its child reached a limit.
const LIMIT_CODES: [i32; 3] = [137, 152, 153];

pub(super) fn judge_file(reading: &Reading<'_>) -> Option<Judgement> {
    let fault = reading.observation.file.as_ref()?.fault()?;
    Some(Judgement::new(Verdict::Broken, Evidence::new(EvidenceKind::File, fault)))
}

pub(super) fn judge_end(reading: &Reading<'_>) -> Option<Judgement> {
    let end = &reading.observation.end;
    let (what, is_limit, is_crash) = match end {
        // Its mode lets a user execute it: whoever ran it here had no right to.
        ProcessEnd::NotStarted(error) if error == "EACCES" && is_sound(reading) => {
            let evidence = Evidence::new(EvidenceKind::Privilege, "permission denied");
            return Some(Judgement::new(Verdict::Environment, evidence));
        }
        ProcessEnd::NotStarted(error) => {
            let evidence = Evidence::new(EvidenceKind::NotStarted, error.clone());
            return Some(Judgement::new(Verdict::Broken, evidence));
        }
        ProcessEnd::Signaled(signal) => {
            (format!("signal {signal}"), LIMIT_SIGNALS.contains(signal), true)
        }
        ProcessEnd::Exited(code) => {
            let crashed = CRASH_CODES.contains(code);
            (format!("exit code {code}"), LIMIT_CODES.contains(code), crashed)
        }
        _ => (limit_word(end)?.replace("timeout", "time-limit").replace('-', " "), true, false),
    };
    match is_limit {
        true => Some(limit(reading, what)),
        false => is_crash.then(|| crash(reading, what)),
    }
}

fn is_sound(reading: &Reading<'_>) -> bool {
    reading.observation.file.as_ref().is_some_and(|file| file.fault().is_none())
}

/// A limit was reached. A version that was printed before is noted, and does not count.
fn limit(reading: &Reading<'_>, what: String) -> Judgement {
    let evidence = Evidence::new(EvidenceKind::TimeLimit, what);
    let version_found = version::find(reading).map(|found| found.version);
    Judgement { version_found, ..Judgement::new(Verdict::Timeout, evidence) }
}

/// A crash for want of a terminal or a display is not the install's fault; with a terminal it is.
fn crash(reading: &Reading<'_>, what: String) -> Judgement {
    let wanted = |kind| match kind {
        EvidenceKind::Terminal => !reading.observation.terminal,
        kind => kind == EvidenceKind::Display,
    };
    match environment::find(reading, wanted) {
        Some(evidence) => Judgement::new(Verdict::Environment, evidence),
        None => Judgement::new(Verdict::Broken, Evidence::new(EvidenceKind::Crash, what)),
    }
}
