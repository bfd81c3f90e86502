//! `dp suggest`: rules that recorded mistakes lead to.

use super::Dp;
use super::dates::since;
use crate::corrections::proposal_view::proposal_lines;
use crate::exit::{CommandError, Exit};
use crate::terminal::out;
use towpath_corrections::failure::FailureQuery;
use towpath_corrections::failure::Recorded;

/// Propose rules for mistakes that agents have made.
///
/// Example: dp suggest --since 7d
#[derive(Debug, clap::Args)]
pub struct SuggestArgs {
    /// Only calls of this tool.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// How far back: 30m, 24h, 7d, or a date.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<i64>,
}

/// A mistake that was made once may have been a slip.
const OCCURRENCES: usize = 2;

pub fn execute(dp: &Dp<'_>, args: &SuggestArgs) -> Result<Exit, CommandError> {
    let query =
        FailureQuery { since_ms: args.since, tool: args.tool.clone(), ..FailureQuery::default() };
    let recorded = Recorded::read(dp.records()?.as_ref(), &query)?;
    let proposals = recorded.suggestions(OCCURRENCES).proposals;
    if dp.json {
        out::json(&serde_json::json!(proposals));
        return Ok(Exit::Done);
    }
    if proposals.is_empty() {
        out::note("No suggestions.");
        return Ok(Exit::Done);
    }
    for proposal in &proposals {
        out::line(proposal_lines(proposal, dp.env).join("\n") + "\n");
    }
    out::note("to accept, edit or dismiss each of them: towpath rules suggest");
    Ok(Exit::Done)
}
