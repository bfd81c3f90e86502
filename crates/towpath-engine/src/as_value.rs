//! The output of a job as a value: how large it may be, and what of it counts.

use std::path::Path;
use towpath_run::Output;
use towpath_store::{StoreError, Sum, read_output};

/// Outputs over this are no values.
pub(crate) const VALUE_LIMIT: u64 = 16 << 20;

/// The value of an output file: its text where something reads it and it is small enough.
pub(crate) fn file_output(
    path: &Path,
    len: u64,
    sum: Option<Sum>,
    wanted: bool,
) -> Result<Output, StoreError> {
    if len > VALUE_LIMIT {
        return Ok(Output::TooLarge { len });
    }
    if !wanted {
        return Ok(Output::OnDisk { len });
    }
    Ok(Output::Text(as_value(&read_output(path, len, sum)?)))
}

/// Output as a value: text without trailing newlines.
pub(crate) fn as_value(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    text.truncate(text.trim_end_matches('\n').len());
    text
}
