//! What can be learned from recorded calls of tools.
//!
//! A failed call is a [`Mistake`] where a program reports a command, a subcommand, an option or a
//! tool that does not exist. What the same session ran next, and that succeeded, is its recovery.
//! [`suggest`] turns mistakes with their recoveries into proposed rules. Each is applied to all
//! recorded calls, and one that would have changed a call that succeeded is not proposed.
//!
//! | module | what it has |
//! |---|---|
//! | `error_wordings`, `classify_failed_call` | how programs report what does not exist; which word of a call it is |
//! | `subcommand_words` | which words of a command are its subcommand |
//! | `similar_tool_names` | names that mean the same |
//! | `recorded_call`, `calls_after_mistake` | a call as it was recorded; what a session ran after a mistake |
//! | `suggestions`, `back_test` | the rules that mistakes lead to, and what each would have changed |
//! | `failure_query`, `recorded` | which recorded calls to look at; what is known of them |
//! | `failure_path`, `inspection`, `stats`, `csv` | failures as values to show |

mod back_test;
mod calls_after_mistake;
mod classify_failed_call;
mod csv;
mod error_wordings;
mod failure_path;
mod failure_query;
mod inspection;
mod mistake;
mod recorded;
mod recorded_call;
pub mod similar_tool_names;
mod stats;
mod subcommand_words;
mod suggestions;

pub use back_test::{BackTest, Change};
pub use classify_failed_call::{classified, classify, classify_tool};
pub use csv::csv;
pub use failure_path::{FailurePath, paths};
pub use failure_query::{
    FailureQuery, FailureRow, RUN_HOST, Times, called, error_line, message_line, recorded,
};
pub use inspection::{Counted, Inspection, inspect, matches};
pub use mistake::Mistake;
pub use recorded::Recorded;
pub use recorded_call::RecordedCall;
pub use stats::{FailureStats, stats};
pub use subcommand_words::program_and_subcommand;
pub use suggestions::{Evidence, Learning, Proposal, Suggestions, judge, suggest};

/// The wordings that are known, each with what it reports: a test requires a sample of each.
pub fn wordings() -> impl Iterator<Item = (&'static str, &'static str)> {
    error_wordings::PARSERS.iter().map(|parser| (parser.name, parser.unknown.name()))
}
