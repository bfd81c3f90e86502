//! What the calls of a run came to, for its last event.

use super::event_fields::EventFields;
use std::time::Instant;
use towpath_engine::CallEnded;
use towpath_run::StepView;
use towpath_view::Cost;

/// Of all calls that this owner of the run has made.
#[derive(Debug, Default)]
pub struct Totals {
    pub began: Option<Instant>,
    prompt_length: Option<usize>,
    response_length: Option<usize>,
}

impl Totals {
    pub fn call_ended(&mut self, call: &CallEnded) {
        let add = |sum: &mut Option<usize>, more| *sum = Some(sum.unwrap_or(0) + more);
        add(&mut self.prompt_length, call.prompt_length);
        call.length.into_iter().for_each(|length| add(&mut self.response_length, length));
    }

    /// The totals instead of one step's numbers.
    pub fn over(&self, fields: EventFields, steps: &[StepView]) -> EventFields {
        let mut cost = Cost::default();
        cost.add_all(steps);
        let took = self.began.and_then(|began| u64::try_from(began.elapsed().as_millis()).ok());
        let Totals { prompt_length, response_length, .. } = *self;
        EventFields { took_ms: took, cost, prompt_length, response_length, ..fields }
    }
}
