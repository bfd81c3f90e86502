//! What one call used, from its `result` lines. The program's totals (`total_cost_usd`,
//! `modelUsage`) grow over the resumes of a session in some versions and not in others; only what
//! is certainly this call's own is taken, the rest stays unknown. Input tokens are all that the
//! model read, cached or not, as other programs count them.

use serde_json::{Map, Value};
use towpath_core::Usage;

const MODEL_INPUT: &[&str] = &["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
const CALL_INPUT: &[&str] =
    &["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

/// Adds what a `result` line reports. A run with queued turns prints several.
pub(super) fn add(sum: Option<Usage>, result: &Value) -> Option<Usage> {
    let since = result.get("model_usage_since_last_result").and_then(Value::as_object);
    match since {
        Some(models) => Some(plus(sum.unwrap_or_default(), of_models(models))),
        // Without that field the line counts the whole call, also what earlier lines counted.
        None => of_call(result).or(sum),
    }
}

fn of_models(models: &Map<String, Value>) -> Usage {
    let each = || models.values();
    Usage {
        input_tokens: Some(each().map(|m| tokens(m, MODEL_INPUT).unwrap_or(0)).fold(0, add_up)),
        output_tokens: Some(
            each().map(|m| tokens(m, &["outputTokens"]).unwrap_or(0)).fold(0, add_up),
        ),
        // One model without a price makes the whole cost unknown.
        cost_usd: each().try_fold(0.0, |sum, m| Some(sum + amount(m.get("costUSD")?)?)),
    }
}

fn of_call(result: &Value) -> Option<Usage> {
    let usage = result.get("usage").unwrap_or(&Value::Null);
    let input_tokens = tokens(usage, CALL_INPUT);
    let output_tokens = tokens(usage, &["output_tokens"]);
    let cost_usd = result.get("total_cost_usd").and_then(amount).filter(|_| {
        // More tokens by model than in this call: a session's sum, or subagents. Which of the two
        // cannot be known, so the cost of this call is unknown.
        let models = result.get("modelUsage").and_then(Value::as_object).map(of_models);
        let of_models = models.and_then(|m| m.input_tokens?.checked_add(m.output_tokens?));
        let of_call = input_tokens.unwrap_or(0).saturating_add(output_tokens.unwrap_or(0));
        of_models.is_none_or(|all| all <= of_call)
    });
    let known = input_tokens.is_some() || output_tokens.is_some() || cost_usd.is_some();
    known.then_some(Usage { input_tokens, output_tokens, cost_usd })
}

fn tokens(counts: &Value, fields: &[&str]) -> Option<u64> {
    let found = fields.iter().filter_map(|field| counts.get(field)?.as_u64());
    found.reduce(add_up)
}

fn amount(value: &Value) -> Option<f64> {
    value.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0)
}

fn plus(a: Usage, b: Usage) -> Usage {
    let both = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(add_up(a, b)),
        (one, other) => one.or(other),
    };
    Usage {
        input_tokens: both(a.input_tokens, b.input_tokens),
        output_tokens: both(a.output_tokens, b.output_tokens),
        cost_usd: if a == Usage::default() {
            b.cost_usd
        } else {
            a.cost_usd.zip(b.cost_usd).map(|(a, b)| a + b)
        },
    }
}

fn add_up(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn used(input: u64, output: u64, cost: Option<f64>) -> Option<Usage> {
        Some(Usage { input_tokens: Some(input), output_tokens: Some(output), cost_usd: cost })
    }

    fn model(input: u64, cached: u64, output: u64, cost: f64) -> Value {
        json!({"inputTokens": input, "cacheReadInputTokens": cached, "outputTokens": output,
               "costUSD": cost})
    }

    #[test]
    fn what_is_this_calls_own() {
        let sum = json!({"opus": model(30, 0, 9, 0.75)});
        for (why, line, expected) in [
            (
                "the models' own count since the last result, over all models",
                json!({"model_usage_since_last_result":
                           {"opus": model(10, 5, 3, 0.25), "haiku": model(1, 0, 1, 0.5)},
                       "modelUsage": sum, "total_cost_usd": 9.0,
                       "usage": {"input_tokens": 10, "output_tokens": 3}}),
                used(16, 4, Some(0.75)),
            ),
            (
                "a failed call reports that it used nothing",
                json!({"model_usage_since_last_result": {}, "total_cost_usd": 9.0}),
                used(0, 0, Some(0.0)),
            ),
            (
                "a model without a price leaves the cost unknown",
                json!({"model_usage_since_last_result":
                           {"opus": model(1, 0, 1, 0.5), "own": {"inputTokens": 2}}}),
                used(3, 1, None),
            ),
            (
                "an older version counts the call",
                json!({"usage": {"input_tokens": 10, "cache_read_input_tokens": 20,
                                 "output_tokens": 9},
                       "modelUsage": sum, "total_cost_usd": 0.75}),
                used(30, 9, Some(0.75)),
            ),
            (
                "a session's sum is not the call's cost",
                json!({"usage": {"input_tokens": 10, "output_tokens": 3},
                       "modelUsage": sum, "total_cost_usd": 0.75}),
                used(10, 3, None),
            ),
            (
                "the shortest report",
                json!({"usage": {"input_tokens": 5200, "output_tokens": 1800},
                       "total_cost_usd": 0.042}),
                used(5200, 1800, Some(0.042)),
            ),
            ("nothing reported", json!({"usage": {}}), None),
        ] {
            assert_eq!(add(None, &line), expected, "{why}");
        }
    }

    #[test]
    fn several_results_of_one_run_add_up() {
        let line = |cost| json!({"model_usage_since_last_result": {"opus": model(1, 0, 2, cost)}});
        let first = add(None, &line(0.25));
        assert_eq!(add(first, &line(0.5)), used(2, 4, Some(0.75)));
        let unpriced = json!({"model_usage_since_last_result": {"own": {"inputTokens": 1}}});
        assert_eq!(add(first, &unpriced), used(2, 2, None));
        let whole = json!({"usage": {"input_tokens": 7, "output_tokens": 1}});
        assert_eq!(add(first, &whole), used(7, 1, None));
    }
}
