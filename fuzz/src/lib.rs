//! What must be true for any bytes at all, one module for each thing that reads text. `cargo fuzz`
//! looks for bytes that break it; the tests of `towpath-recipe` and `towpath-corrections` include these files
//! and replay what was kept in `corpus/`. A check panics when it fails, and prints nothing otherwise.

pub mod condition;
pub mod correction_rules;
pub mod document;
pub mod extract_json;
pub mod recipe_reader;
pub mod shell_placeholders;
pub mod unknown_recipe_field;
