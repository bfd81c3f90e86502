//! A condition, evaluated without a run.

use towpath_core::Map;
use towpath_recipe::condition::{Condition, ConditionError, EvalError};

/// Why a condition has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// The text is no condition.
    #[error(transparent)]
    Read(#[from] ConditionError),
    /// It is one, and does not fit these values.
    #[error(transparent)]
    Value(#[from] EvalError),
}

/// Whether a condition is true.
///
/// ```
/// use towpath_engine::{Map, evaluate};
///
/// let mut context = Map::new();
/// context.insert("branch".into(), "main".into());
/// context.insert("retries".into(), 2.into());
/// assert!(evaluate("branch == 'main' and retries < 3", &context)?);
/// assert!(!evaluate("branch.startswith('release/')", &context)?);
/// assert!(evaluate("branch = 'main'", &context).is_err());
/// # Ok::<(), towpath_engine::EvaluateError>(())
/// ```
pub fn evaluate(condition: &str, context: &Map) -> Result<bool, EvaluateError> {
    Ok(Condition::parse(condition)?.is_true(context)?)
}
