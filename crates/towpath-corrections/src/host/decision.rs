//! What a host is answered before a call: whether it is rewritten, allowed, denied or left alone.

use super::{ContextChannel, HookPayload, Host, Rewrites};
use crate::correction::{Correction, Rewrite};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// When a corrected call is allowed without the host's own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// Where every word of the result was written by a rule.
    #[default]
    Vouched,
    Never,
    Always,
}

/// What corrections do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    #[default]
    Correct,
    /// What would be corrected is recorded and shown to the user. Nothing changes.
    Report,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerOptions {
    pub permission: Permission,
    pub mode: Mode,
    /// This host was seen to run the original though it was given another input.
    pub drops_rewrites: bool,
}

/// The answer to a call before it runs, in no host's words.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// No opinion.
    Pass,
    Rewrite {
        /// All of the input.
        input: Value,
        /// The host must not ask for permission.
        allow: bool,
        /// For the agent, where the host shows it together with this answer.
        context: Option<String>,
    },
    Deny {
        /// For the agent.
        reason: String,
    },
    /// Nothing changes; the user is shown what would be.
    Report { message: String },
}

impl HookPayload {
    /// What becomes of the call.
    pub fn decide(&self, correction: &Correction, options: &AnswerOptions) -> Decision {
        self.host.decide(self.event_name.as_deref(), correction, options)
    }
}

impl Host {
    /// What becomes of a call, in the event that the host calls so.
    pub fn decide(
        self,
        event_name: Option<&str>,
        correction: &Correction,
        options: &AnswerOptions,
    ) -> Decision {
        let report = options.mode == Mode::Report;
        match correction {
            Correction::Unchanged => Decision::Pass,
            Correction::Denied(denial) if report => {
                Decision::Report { message: format!("would deny: {}", denial.reason) }
            }
            Correction::Denied(denial) => Decision::Deny { reason: denial.reason.clone() },
            Correction::Rewritten(rewrite) if report => Decision::Report {
                message: format!("would correct: {}: {}", rewrite.context(), rewrite.after),
            },
            Correction::Rewritten(rewrite) => self.decide_rewrite(event_name, rewrite, options),
        }
    }

    fn decide_rewrite(
        self,
        event_name: Option<&str>,
        rewrite: &Rewrite,
        options: &AnswerOptions,
    ) -> Decision {
        let capabilities = self.capabilities();
        let allow = match options.permission {
            Permission::Vouched => rewrite.vouched,
            Permission::Never => false,
            Permission::Always => true,
        };
        let cannot = match capabilities.rewrites {
            Rewrites::OnlyAllowed => !allow,
            // Cursor documents no other input for its event before a shell command.
            Rewrites::WithoutDecision => event_name == Some("beforeShellExecution"),
        };
        if cannot || options.drops_rewrites {
            let mut reason = instead(rewrite);
            if options.drops_rewrites {
                reason
                    .push_str("It is not run for you: what towpath corrected was not used here.\n");
            }
            return Decision::Deny { reason };
        }
        let before = capabilities.context == ContextChannel::Before;
        Decision::Rewrite {
            input: rewrite.input.clone(),
            allow,
            context: before.then(|| rewrite.explanation()),
        }
    }
}

/// The corrected call as the reason of a denial, so that the agent makes it itself.
fn instead(rewrite: &Rewrite) -> String {
    let Rewrite { parameter, after, .. } = rewrite;
    // One host writes a full stop and the original command behind it.
    format!("{}. Use this {parameter} instead:\n{after}\n", rewrite.context())
}
