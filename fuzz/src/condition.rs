//! A condition: read or refused with a range inside the text; evaluated, it gives the same answer as a
//! value and as a yes or no, and twice the same.

use serde_json::json;
use towpath_core::{Map, Value};
use towpath_recipe::condition::{Condition, truthy};

pub fn check(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let condition = match Condition::parse(text) {
        Ok(condition) => condition,
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some(), "{error:?}");
            return;
        }
    };
    assert_eq!(condition.text(), text);
    for name in condition.names() {
        assert!(text.get(name.range.clone()).is_some(), "{name:?}");
    }
    let scope = scope();
    let value = condition.value(&scope);
    assert_eq!(value, condition.value(&scope), "twice the same");
    assert_eq!(value.as_ref().map(truthy), condition.is_true(&scope).as_ref().copied());
    if let Err(error) = value {
        assert!(text.get(error.range.clone()).is_some(), "{error:?}");
    }
}

/// Values of every kind under the names that the cases use.
fn scope() -> Map {
    let values = json!({
        "a": "x", "b": ["x", 2, null, [1.5]], "c": {"d": {"e": "deep"}, "0": 1}, "s": "Ab é☃ ",
        "n": 7, "f": -0.5, "big": 9_007_199_254_740_993_u64, "t": true, "no": false,
        "nul": null, "empty": "", "status": "ok", "result": "PASS: all", "items": [1, 2, 3],
        "my-var": "v", "json": "{\"k\": [1]}", "five": "5",
    });
    let Value::Object(values) = values else { unreachable!("the values are a map") };
    values
}
