//! What a run cost: in all, and step by step. A call that did not report its cost is counted as
//! unknown, never as zero.

use std::collections::BTreeMap;
use towpath_run::{Run, StepView};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    usd: f64,
    known: u32,
    unknown: u32,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.usd += other.usd;
        self.known += other.known;
        self.unknown += other.unknown;
    }

    /// `$0.2500, 1 call unknown`
    fn text(self) -> String {
        match (self.known, self.unknown) {
            (0, 1) => "unknown (1 call)".to_owned(),
            (0, unknown) => format!("unknown ({unknown} calls)"),
            (_, 0) => format!("${:.4}", self.usd),
            (_, 1) => format!("${:.4}, 1 call unknown", self.usd),
            (_, unknown) => format!("${:.4}, {unknown} calls unknown", self.usd),
        }
    }
}

/// Empty where no agent was called.
pub fn report(run: &Run) -> Vec<String> {
    let mut steps: Vec<(String, Sum)> = Vec::new();
    let mut positions = BTreeMap::new();
    collect(&run.view(), &mut steps, &mut positions);
    if steps.is_empty() {
        return Vec::new();
    }
    let mut total = Sum::default();
    for (_, sum) in &steps {
        total.add(*sum);
    }
    let mut lines = vec![format!("Cost: {}", total.text())];
    lines.extend(steps.iter().map(|(step, sum)| format!("  {step}: {}", sum.text())));
    lines
}

fn collect(
    view: &[StepView],
    steps: &mut Vec<(String, Sum)>,
    positions: &mut BTreeMap<String, usize>,
) {
    for step in view {
        let mut sum = Sum::default();
        for (_, end) in step.ended_calls() {
            match end.usage.and_then(|usage| usage.cost_usd) {
                Some(usd) => sum.add(Sum { usd, known: 1, unknown: 0 }),
                None => sum.add(Sum { usd: 0.0, known: 0, unknown: 1 }),
            }
        }
        if sum != Sum::default() {
            let name = step.path.without_visits();
            let at = *positions.entry(name.clone()).or_insert_with(|| {
                steps.push((name, Sum::default()));
                steps.len() - 1
            });
            steps[at].1.add(sum);
        }
        collect(&step.children, steps, positions);
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn unknown_is_never_nothing() {
        let text = |usd, known, unknown| Sum { usd, known, unknown }.text();
        assert_eq!(text(0.512, 3, 0), "$0.5120");
        assert_eq!(text(0.25, 1, 1), "$0.2500, 1 call unknown");
        assert_eq!(text(0.25, 1, 2), "$0.2500, 2 calls unknown");
        assert_eq!(text(0.0, 0, 1), "unknown (1 call)");
        assert_eq!(text(0.0, 0, 2), "unknown (2 calls)");
    }
}
