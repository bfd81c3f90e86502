//! Identities. A job's key identifies what it is, never when or in which order it ran.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A run's short, typeable name: lower-case base32, four characters or more.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId(String);

impl RunId {
    const ALPHABET: &'static [u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

    pub fn new(text: &str) -> Option<RunId> {
        let ok = text.len() >= 4 && text.bytes().all(|b| Self::ALPHABET.contains(&b));
        ok.then(|| RunId(text.to_owned()))
    }

    /// An id of `length` characters from random bytes that the caller brings.
    pub fn from_random(bytes: &[u8], length: usize) -> RunId {
        let text = bytes.iter().take(length.max(4)).map(|b| Self::ALPHABET[(b & 31) as usize]);
        RunId(text.map(char::from).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The id of a conversation with an agent's program, chosen by us or returned by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    pub fn new(id: impl Into<String>) -> SessionId {
        SessionId(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for SessionId {
    fn from(id: &str) -> SessionId {
        SessionId::new(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a step is in a run: the recipe steps that lead to its frame, then its own id. A
/// step's second visit to the same frame is written `id#2`. This is what `show` prints and what
/// `--done` and `--again` take.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepPath(String);

impl StepPath {
    pub fn new(text: impl Into<String>) -> StepPath {
        StepPath(text.into())
    }

    /// The path of a step in the frame that `frame` opened; `None` is the run's own recipe.
    pub fn in_frame(frame: Option<&StepPath>, step: &str, visit: u32) -> StepPath {
        let mut text = frame.map_or(String::new(), |f| format!("{}/", f.0));
        text.push_str(step);
        if visit > 1 {
            text.push_str(&format!("#{visit}"));
        }
        StepPath(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the recipe step whose frame it is in; none in the run's own recipe.
    pub fn frame(&self) -> Option<StepPath> {
        self.split().0
    }

    fn split(&self) -> (Option<StepPath>, &str) {
        match self.0.rsplit_once('/') {
            Some((frame, own)) => (Some(StepPath(frame.to_owned())), own),
            None => (None, &self.0),
        }
    }

    /// The path as a user knows it, whichever visit it is.
    pub fn without_visits(&self) -> String {
        let plain = |segment: &str| segment.split('#').next().unwrap_or(segment).to_owned();
        self.0.split('/').map(plain).collect::<Vec<_>>().join("/")
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! job_kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// The kinds of effect a job can be.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum JobKind {
            $($(#[$doc])* $name,)*
        }

        impl JobKind {
            const ALL: &[JobKind] = &[$(JobKind::$name),*];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(JobKind::$name => $word,)*
                }
            }
        }
    };
}

job_kinds! {
    Bash = "bash";
    Agent = "agent";
    PreHook = "pre_step";
    PostHook = "post_step";
    ErrorHook = "on_error";
    /// What git calls changed, before an agent works.
    Snapshot = "snapshot";
    /// `git add` of what an agent changed.
    GitAdd = "stage";
    /// A command or a file of the document that a prompt is made of.
    Document = "document";
}

impl JobKind {
    /// Whether it is the step's own work rather than something around it.
    pub fn is_work(self) -> bool {
        matches!(self, JobKind::Bash | JobKind::Agent)
    }

    pub fn is_hook(self) -> bool {
        matches!(self, JobKind::PreHook | JobKind::PostHook | JobKind::ErrorHook)
    }
}

/// `frame/step#visit.attempt.call:kind`. `visit` counts the step's entries in its frame over the
/// whole run, `attempt` the tries of one visit, `call` the agent calls of one attempt, or the line of a
/// document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobKey {
    /// Path of the recipe step that opened the frame; `None` for the run's own recipe.
    pub frame: Option<StepPath>,
    pub step: String,
    pub visit: u32,
    pub attempt: u32,
    pub call: u32,
    pub kind: JobKind,
}

impl JobKey {
    /// The first call of an attempt of a step.
    pub fn of_step(step: &StepPath, attempt: u32, kind: JobKind) -> JobKey {
        let (frame, own) = step.split();
        let (id, visit) = own.split_once('#').unwrap_or((own, "1"));
        let visit = visit.parse().unwrap_or(1);
        JobKey { frame, step: id.to_owned(), visit, attempt, call: 0, kind }
    }

    pub fn step_path(&self) -> StepPath {
        StepPath::in_frame(self.frame.as_ref(), &self.step, self.visit)
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(frame) = &self.frame {
            write!(f, "{frame}/")?;
        }
        let JobKey { step, visit, attempt, call, kind, .. } = self;
        write!(f, "{step}#{visit}.{attempt}.{call}:{}", kind.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a job key")]
pub struct ParseKeyError(String);

impl FromStr for JobKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<JobKey, ParseKeyError> {
        parse_key(text).ok_or_else(|| ParseKeyError(text.to_owned()))
    }
}

fn parse_key(text: &str) -> Option<JobKey> {
    let (rest, kind) = text.rsplit_once(':')?;
    let kind = JobKind::ALL.iter().find(|known| known.as_str() == kind)?;
    let (rest, numbers) = rest.rsplit_once('#')?;
    let mut numbers = numbers.split('.').map(|n| n.parse::<u32>().ok());
    let (visit, attempt, call) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let path = StepPath::new(rest);
    let (frame, step) = path.split();
    let step = step.to_owned();
    numbers.next().is_none().then_some(JobKey { frame, step, visit, attempt, call, kind: *kind })
}

impl Serialize for JobKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for JobKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JobKey, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_and_read_back() {
        for text in [
            "build#1.0.0:bash",
            "ci/build#2/test#1.3.1:agent",
            "a#1.0.0:on_error",
            "a#1.0.12:document",
        ] {
            assert_eq!(text.parse::<JobKey>().unwrap().to_string(), text);
        }
        for text in ["", "a", "a#1:bash", "a#1.0.0:nope", "a#x.0.0:bash", "a#1.0.0.0:bash"] {
            assert!(text.parse::<JobKey>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_key_of_a_step_is_found_by_its_path() {
        for text in ["build#1.0.0:bash", "ci/build#2/test#1.3.0:agent", "ci/a-b#12.0.0:bash"] {
            let key: JobKey = text.parse().unwrap();
            assert_eq!(JobKey::of_step(&key.step_path(), key.attempt, key.kind), key);
        }
    }

    #[test]
    fn a_session_id_is_written_as_plain_text() {
        let id: SessionId = serde_json::from_str("\"7f3k-1\"").unwrap();
        assert_eq!((id.as_str(), id.to_string().as_str()), ("7f3k-1", "7f3k-1"));
        assert_eq!(serde_json::to_string(&SessionId::new("x")).unwrap(), "\"x\"");
    }

    #[test]
    fn run_ids_are_checked() {
        assert!(RunId::new("7f3k").is_some());
        for bad in ["", "7f", "../x", "7F3K", "il1o"] {
            assert!(RunId::new(bad).is_none(), "{bad}");
        }
        assert_eq!(RunId::from_random(&[0, 31, 32, 255, 7], 5).as_str(), "0z0z7");
    }
}
