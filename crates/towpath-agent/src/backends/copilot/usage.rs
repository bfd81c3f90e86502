//! What a session has used so far, from the file that the program writes when it ends. Its counts
//! grow over the resumes of a session. It reports no price in money.

use crate::json_access::count_at;
use serde_json::Value;
use towpath_core::Usage;

/// The file's name in the call's own directory.
pub(super) const FILE: &str = "usage.json";

/// The total over all models; `None` when the file has none.
pub(super) fn total(file: &[u8]) -> Option<Usage> {
    let file: Value = serde_json::from_slice(file).ok()?;
    let models = file.get("modelMetrics")?.as_object()?;
    // No model was asked, and that is known.
    let mut sum = Usage { input_tokens: Some(0), output_tokens: Some(0), cost_usd: None };
    for model in models.values() {
        let plus = |sum: Option<u64>, at| Some(sum?.saturating_add(count_at(model, at)?));
        sum.input_tokens = plus(sum.input_tokens, "/usage/inputTokens");
        sum.output_tokens = plus(sum.output_tokens, "/usage/outputTokens");
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(models: &str) -> Option<(Option<u64>, Option<u64>)> {
        let file = format!(r#"{{"totalUserRequests": 1, "modelMetrics": {models}}}"#);
        total(file.as_bytes()).map(|usage| {
            assert_eq!(usage.cost_usd, None);
            (usage.input_tokens, usage.output_tokens)
        })
    }

    #[test]
    fn a_total_over_all_models() {
        // Cached tokens are among the input already.
        let a = r#"{"requests": {"count": 2, "cost": 0}, "usage": {"inputTokens": 300,
                    "outputTokens": 30, "cacheReadTokens": 50, "cacheWriteTokens": 0}}"#;
        let b = r#"{"usage": {"inputTokens": 7, "outputTokens": 1}}"#;
        assert_eq!(of(&format!(r#"{{"a": {a}}}"#)), Some((Some(300), Some(30))));
        assert_eq!(of(&format!(r#"{{"a": {a}, "b": {b}}}"#)), Some((Some(307), Some(31))));
        assert_eq!(of(&format!(r#"{{"a": {a}, "b": {{}}}}"#)), Some((None, None)));
        assert_eq!(of("{}"), Some((Some(0), Some(0))));
        for broken in ["", "{}", "[]", "{\"modelMetrics\": 7}", "{\"modelMetrics\": "] {
            assert_eq!(total(broken.as_bytes()), None, "{broken}");
        }
    }
}
