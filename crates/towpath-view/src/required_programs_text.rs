//! The programs that a recipe or a step requires, as a user writes them.

use towpath_recipe::RequiredProgram;

/// `jq>=1.6`
pub fn required(programs: &[RequiredProgram]) -> Vec<String> {
    programs.iter().map(|program| program.requirement.to_string()).collect()
}
