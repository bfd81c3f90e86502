//! Documents, evaluated with real bash.

mod cases;
mod plan_of_meld;
mod support;
