//! The origin of a recipe, in a word.

use towpath_recipe::Origin;

/// A stable word for where a recipe comes from.
pub fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Named => "named",
        Origin::Given => "given",
        Origin::User => "user",
        Origin::Project => "project",
        Origin::BuiltIn => "built-in",
    }
}
