//! The codes of problems in documents, as Meld has them.

/// The document is not written as it must be.
pub const VALIDATION_FAILED: &str = "VALIDATION_FAILED";
/// A command could not run, or has failed.
pub const EXECUTION_FAILED: &str = "EXECUTION_FAILED";
/// A value is not what its use needs.
pub const RESOLUTION_FAILED: &str = "RESOLUTION_FAILED";
pub const VARIABLE_NOT_FOUND: &str = "VARIABLE_NOT_FOUND";
pub const FILE_NOT_FOUND: &str = "FILE_NOT_FOUND";
pub const SECTION_NOT_FOUND: &str = "SECTION_NOT_FOUND";
/// Commands or files that need each other.
pub const CIRCULAR_REFERENCE: &str = "CIRCULAR_REFERENCE";
/// `$name` in a command, where the document has a variable of that name.
pub const SHELL_VARIABLE: &str = "SHELL_VARIABLE";
