//! Documents, evaluated with real bash.

mod cases;
mod support;
