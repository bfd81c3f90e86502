//! The kinds of jobs, and their words in keys.

macro_rules! job_kinds {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// The kinds of effect a job can be.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum JobKind {
            $($(#[$doc])* $name,)*
        }

        impl JobKind {
            pub(crate) const ALL: &[JobKind] = &[$(JobKind::$name),*];

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
