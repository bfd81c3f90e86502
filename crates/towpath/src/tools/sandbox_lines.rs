//! What is shown of the sandbox that was used.

use towpath_tool::verification::SandboxNote;

/// What the sandbox could not enforce.
pub fn not_enforced(sandbox: &SandboxNote) -> Option<String> {
    let list = sandbox.not_enforced.join(", ");
    (!list.is_empty()).then(|| format!("the sandbox ({}) does not limit: {list}", sandbox.kind))
}
