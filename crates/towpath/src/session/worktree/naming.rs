//! The names of a run's worktree: its directory beside the repository, and a branch that is free.

use super::typed;
use crate::environment::{Environment, local_zone};
use crate::exit::CommandError;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use towpath_engine::Worktree;

/// Longer names of recipes make unhandy directories.
const LONGEST: usize = 40;

/// `/src/shop-NAME` beside `/src/shop` and `/src/shop.git`; beside a bare repository with a
/// hidden name, such as `/src/shop/.bare`, it is `/src/shop/NAME`.
pub(super) fn beside(main: &Path, bare: bool, name: &str) -> Result<PathBuf, CommandError> {
    let name = name.replace('/', "-");
    let text = main.to_str().map(Path::new);
    let known = text.and_then(|main| Some((main.parent()?, main.file_name()?.to_str()?)));
    let Some((parent, own)) = known else {
        return Err(CommandError::bad_input(format!(
            "--worktree: {} has no directory beside it with a valid name",
            main.display()
        )));
    };
    let own = if bare { own.strip_suffix(".git").unwrap_or(own) } else { own };
    match bare && (own.is_empty() || own.starts_with('.')) {
        true => Ok(parent.join(name)),
        false => Ok(parent.join(format!("{own}-{name}"))),
    }
}

/// `review-20260131-120501`, or the next that is free.
pub(super) fn free_name(
    recipe: &str,
    taken: &dyn Fn(&str) -> Result<bool, CommandError>,
) -> Result<String, CommandError> {
    let now = Timestamp::now().to_zoned(local_zone()).strftime("%Y%m%d-%H%M%S").to_string();
    let first = format!("{}-{now}", as_word(recipe));
    let mut name = first.clone();
    for number in 2..1000 {
        if !taken(&name)? {
            break;
        }
        name = format!("{first}-{number}");
    }
    Ok(name)
}

/// `worktree ~/shop-try, on the new branch try`
pub(super) fn describe(worktree: &Worktree, exists: bool, env: &Environment) -> String {
    let Worktree { path, branch, made, .. } = worktree;
    let new = if *made { "new " } else { "" };
    let branch = match branch.as_str() {
        "" => "on no branch".to_owned(),
        branch => format!("on the {new}branch {branch}"),
    };
    let existing = if exists { "existing " } else { "" };
    format!("{existing}worktree {}, {branch}", typed(path, env))
}

/// A recipe's name as part of a branch's.
fn as_word(recipe: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let text: String = recipe.chars().map(kept).take(LONGEST).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "run".to_owned() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_recipes_become_words() {
        for (name, word) in [
            ("Review and Commit", "review-and-commit"),
            ("--x..y~^:\\ ", "x-y"),
            ("日本", "run"),
            ("", "run"),
        ] {
            assert_eq!(as_word(name), word);
        }
        assert_eq!(as_word(&"a".repeat(99)).len(), LONGEST);
    }
}
