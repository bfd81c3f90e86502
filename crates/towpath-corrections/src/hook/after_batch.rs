//! After all calls of one message: the only hook that sees calls of tools that do not exist.

use super::HookCall;
use super::after_call::right_tool;
use super::records::End;
use crate::Error;
use crate::hook_log::record::{HookRecord, RecordedDecision};
use crate::host::Answer;

pub fn answer(call: &HookCall) -> Result<Answer, Error> {
    let mut reasons: Vec<String> = Vec::new();
    let mut records = Vec::new();
    for one in call.payload.batch.iter().filter(|one| one.is_refused_by_host()) {
        let end = End { failed: true, exit_code: None, text: &one.response };
        let called = call.called(&one.call, one.call_id.as_deref(), &end);
        records.push(HookRecord::Called(called));
        if one.is_unknown_tool()
            && let Some(denial) = right_tool(call, &one.call)?
        {
            let denied = RecordedDecision::Denied;
            let record = call.corrected(denial.rules, &one.call.tool, "", denied);
            records.push(HookRecord::Corrected(record));
            if !reasons.contains(&denial.reason) {
                reasons.push(denial.reason);
            }
        }
    }
    call.append(&records);
    let context = (!reasons.is_empty()).then(|| reasons.join("\n"));
    Ok(call.payload.answer_after(context.as_deref()))
}
