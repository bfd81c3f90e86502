//! What the agent calls of a run cost, as far as their programs reported it. Unknown is unknown,
//! never zero.

use crate::amounts_and_times::money;
use towpath_engine::Census;
use towpath_run::{StepKind, StepResult, StepStatus, StepView};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub calls: usize,
    /// The sum of what is known.
    pub usd: Option<f64>,
    /// Some call did not report its cost.
    pub unknown: bool,
}

impl Cost {
    pub fn of(census: &Census) -> Cost {
        let Census { agent_calls: calls, cost_usd: usd, cost_unknown: unknown, .. } = *census;
        Cost { calls, usd, unknown }
    }

    /// What the calls of one step have cost.
    pub fn of_calls(step: &StepView) -> Cost {
        let mut cost = Cost::default();
        let usages = step.ended_calls().map(|(_, end)| end.usage);
        usages.for_each(|usage| cost.count(usage.and_then(|usage| usage.cost_usd)));
        cost
    }

    /// Counts one call.
    pub fn count(&mut self, usd: Option<f64>) {
        self.calls += 1;
        match usd {
            Some(usd) => self.usd = Some(self.usd.unwrap_or(0.0) + usd),
            None => self.unknown = true,
        }
    }

    /// Counts a step that has ended; only agents cost.
    pub fn add(&mut self, kind: StepKind, result: &StepResult) {
        let agent = kind == StepKind::Agent || result.usage.is_some();
        if !agent || matches!(result.status, StepStatus::Skipped { .. }) {
            return;
        }
        self.count(result.usage.and_then(|usage| usage.cost_usd));
    }

    /// Counts every call that steps have made so far.
    pub fn add_all(&mut self, steps: &[StepView]) {
        for step in steps {
            let usages = step.ended_calls().map(|(_, end)| end.usage);
            usages.for_each(|usage| self.count(usage.and_then(|usage| usage.cost_usd)));
            self.add_all(&step.children);
        }
    }

    /// The part that is known: nothing was paid where no agent was called.
    pub fn known(&self) -> Option<f64> {
        if self.calls == 0 { Some(0.0) } else { self.usd }
    }

    /// `$0.31`, `cost unknown`, `at least $0.31`; nothing where no agent was called.
    pub fn text(&self) -> Option<String> {
        match (self.calls, self.usd, self.unknown) {
            (0, ..) => None,
            (_, Some(usd), false) => Some(money(usd)),
            (_, Some(usd), true) => Some(format!("at least {}", money(usd))),
            (_, None, _) => Some("cost unknown".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_never_zero() {
        let text = |calls, usd, unknown| Cost { calls, usd, unknown }.text();
        assert_eq!(text(0, None, false), None);
        assert_eq!(text(2, Some(0.31), false).as_deref(), Some("$0.31"));
        assert_eq!(text(2, Some(0.31), true).as_deref(), Some("at least $0.31"));
        assert_eq!(text(2, None, true).as_deref(), Some("cost unknown"));
    }
}
