//! What each backend's program can and cannot do, as plain data: refusals before a run, `doctor`
//! and the documents read it from here. It has what was observed of the program, not what would
//! be nice.

use towpath_core::SessionId;

/// Who names a new session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionIds {
    /// We do: the id is known and recorded before the call. A session that turns out to be unknown
    /// can be opened by the same id.
    Chosen,
    /// We do, but an id serves once: a session whose first turn failed is unknown, and its id is
    /// taken all the same. It is opened again by another id.
    ChosenOnce,
    /// The program does, in its output.
    Returned,
}

/// What the program's token counts are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageOf {
    /// This call alone.
    Call,
    /// The session so far, over all its calls.
    Session,
    /// It reports none.
    Nothing,
}

/// What a session that was given a model does in a call that is given none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutModel {
    /// The program takes its own model again.
    Own,
    /// It keeps the model, and takes its own by this name.
    Named(&'static str),
    /// It keeps the model, and its own has no name.
    Kept,
}

/// What a program requires before it works as root without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsRoot {
    /// It has to be `1`.
    pub variable: &'static str,
    /// The mode without questions; a call that names no mode has it, too.
    pub mode: &'static str,
    /// Where the user's settings of the program are, which may set the variable: by the variable
    /// that names the directory, else below the home directory.
    pub directory: (&'static str, &'static str),
    /// The settings of the machine.
    pub managed: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub session_ids: SessionIds,
    /// Its sessions' ids are UUIDs. Another word must not be resumed: the program would look for a
    /// session of that title, or begin a new one in silence.
    pub uuid_sessions: bool,
    /// A session can be resumed from another directory than the one it began in.
    pub resume_elsewhere: bool,
    /// The tiers `haiku`, `sonnet` and `opus` are names of its models. Elsewhere the settings
    /// name the model of a tier.
    pub tiers: bool,
    pub without_model: WithoutModel,
    /// Instructions can be given apart from the prompt.
    pub system_prompt: bool,
    /// What `mode` of a step may be; `None` takes any word.
    pub modes: Option<&'static [&'static str]>,
    pub usage: UsageOf,
    /// It reports what a call cost, in dollars.
    pub cost: bool,
    /// It reports when a rate limit ends.
    pub limit_reset: bool,
    /// It reports when it waits and tries again. Elsewhere a long silence may be just that.
    pub reports_retries: bool,
    /// Its process is known to live on after [`CallProgress::Complete`](crate::CallProgress): it is ended at once
    /// then. Any other program gets some seconds to end by itself.
    pub lingers: bool,
    /// What it requires before it works without asking as root.
    pub as_root: Option<AsRoot>,
}

impl Capabilities {
    /// Whether `mode` of a step may be this word.
    pub fn has_mode(&self, mode: &str) -> bool {
        self.modes.is_none_or(|modes| modes.contains(&mode))
    }

    /// Could this be the id of one of its sessions?
    pub fn takes_session(&self, id: &SessionId) -> bool {
        let id = id.as_str();
        let written = |uuid: uuid::Uuid| uuid.hyphenated().to_string();
        !self.uuid_sessions
            || uuid::Uuid::try_parse(id).is_ok_and(|uuid| written(uuid).eq_ignore_ascii_case(id))
    }
}
