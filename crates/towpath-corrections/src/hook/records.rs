//! What a hook appends to the log of calls: bounded, and without secrets.

use super::HookCall;
use crate::hook_log::record::{
    CalledRecord, CorrectedRecord, HookRecord, RecordOrigin, RecordedDecision,
};
use crate::masking::Masking;
use crate::{ToolCall, hook_log};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::hash::{BuildHasher as _, RandomState};

/// Of longer texts the beginning and the end are kept.
const MOST_COMMAND: usize = 16 << 10;
const MOST_INPUT: usize = 2 << 10;
const MOST_ERROR: usize = 4 << 10;

/// How a call ended, as it is recorded.
#[derive(Debug)]
pub struct End<'a> {
    pub failed: bool,
    pub exit_code: Option<i64>,
    pub text: &'a str,
}

impl HookCall<'_> {
    /// Removes secrets from what is written.
    pub fn masking(&self) -> Masking {
        let text =
            self.user.variables().iter().filter_map(|(n, v)| Some((n.to_str()?, v.to_str()?)));
        Masking::new(text)
    }

    pub fn called(&self, call: &ToolCall, id: Option<&str>, end: &End) -> CalledRecord {
        let masking = self.masking();
        let input = match call.command() {
            Some((_, command)) => shortened(&masking.text(command), MOST_COMMAND),
            None => {
                let mut input = call.input.clone();
                masking.value(&mut input);
                shortened(&input.to_string(), MOST_INPUT)
            }
        };
        let error = end.failed.then(|| shortened(&masking.text(end.text), MOST_ERROR));
        CalledRecord {
            origin: self.origin("called", id),
            tool: call.tool.clone(),
            shell: call.command().is_some(),
            input,
            failed: end.failed,
            exit_code: end.exit_code,
            error,
        }
    }

    pub fn corrected(
        &self,
        rules: Vec<u64>,
        before: &str,
        after: &str,
        decision: RecordedDecision,
    ) -> CorrectedRecord {
        let masking = self.masking();
        let text = |text: &str| shortened(&masking.text(text), MOST_COMMAND);
        CorrectedRecord {
            origin: self.origin("corrected", self.payload.call_id.as_deref()),
            rules,
            before: text(before),
            after: text(after),
            decision,
        }
    }

    pub fn ran(&self, correction: &str, ran: &str) -> HookRecord {
        let ran = shortened(&self.masking().text(ran), MOST_COMMAND);
        HookRecord::Ran { id: correction.to_owned(), ran }
    }

    /// Appends the records. A log that has become long is folded into the journal.
    pub fn append(&self, records: &[HookRecord]) {
        let long = self.note(hook_log::append(&self.directory, records));
        if long == Some(true) {
            let folded = self.note(hook_log::fold(self.user.state()));
            if let Some((_, folded)) = folded.flatten() {
                folded.problem().into_iter().for_each(|problem| self.problem("log", problem));
            }
        }
    }

    /// The same call has the same id, where the host gives its calls one or dates its events: it may be
    /// recorded twice.
    fn origin(&self, what: &str, call: Option<&str>) -> RecordOrigin {
        let payload = &self.payload;
        let dated =
            || Some(format!("{}\0{}", moment(payload.timestamp.as_ref()?)?, payload.call.input));
        let id = match (&payload.session, call.map(str::to_owned).or_else(dated)) {
            (Some(session), Some(call)) => {
                let all = format!("{what}\0{}\0{session}\0{call}", payload.host.name());
                Sha256::digest(all.as_bytes())[..16].iter().map(|b| format!("{b:02x}")).collect()
            }
            _ => format!("{:016x}{:016x}", random(), random()),
        };
        RecordOrigin {
            id,
            at_ms: self.at_ms,
            host: payload.host.name().to_owned(),
            version: self.version.clone(),
            session: payload.session.clone(),
            directory: payload.call.directory.clone(),
        }
    }
}

/// Milliseconds since 1970. One host writes them as a number or as a date, by the event's name.
fn moment(timestamp: &Value) -> Option<i64> {
    let date = || timestamp.as_str()?.parse::<jiff::Timestamp>().ok();
    timestamp.as_i64().or_else(|| Some(date()?.as_millisecond()))
}

fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// The beginning and the end of a text that is too long.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let front = text.floor_char_boundary(half);
    let back = text.ceil_char_boundary(text.len() - half);
    format!("{}\n…\n{}", &text[..front], &text[back..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_the_same_in_both_forms() {
        assert_eq!(moment(&1_794_911_038_266_i64.into()), Some(1_794_911_038_266));
        assert_eq!(moment(&"2026-11-17T10:23:58.266Z".into()), Some(1_794_911_038_266));
        assert_eq!(moment(&"yesterday".into()), None);
    }

    #[test]
    fn of_a_long_text_both_ends_are_kept() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcdefgh", 4), "ab\n…\ngh");
        assert_eq!(shortened("ääää", 6), "ä\n…\nä");
    }
}
