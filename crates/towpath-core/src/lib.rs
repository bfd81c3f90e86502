//! What every other crate uses: values, placeholders in text, diagnostics, reading fields, names
//! and ids.
//!
//! Nothing here prints, reads a file, looks at the environment or asks the time.

mod agent;
mod diagnostic;
mod extract;
pub mod fields;
mod git_guard;
mod ids;
mod name;
pub mod node;
pub mod os_text;
mod run_status;
mod secret;
mod stream;
mod suggest;
mod template;
mod toml_front;
mod value;
mod var_path;

pub use agent::{FaultKind, Usage};
pub use diagnostic::{Diagnostic, Hint, Label, Severity, Source, Span};
pub use extract::extract_json;
pub use git_guard::{GIT_FOREIGN, GIT_GUARDS, guarded_git};
pub use ids::{JobKey, JobKind, ParseKeyError, RunId, SessionId, StepPath};
pub use name::{is_safe_name, is_safe_segment};
pub use run_status::{RunStatus, StatusKind};
pub use secret::{MASK, Masker, SECRETS_VARIABLE, SHORTEST_SECRET, Secrets, TooShort};
pub use stream::Stream;
pub use suggest::{nearest, quoted_list};
pub use template::{Part, Placeholder, Template};
pub use toml_front::parse_toml;
pub use value::{
    Map, Number, SetError, Value, lookup, number, parse_set, parse_set_value, text_of,
};
pub use var_path::VarPath;
