//! Environment variables that a text expects of its runner: `RECIPE_VAR_<name>` for the value of
//! `name`, `RECIPE_VAR_<a>__<b>` for `a.b`. A text gets those that it mentions and no others: a child
//! sees its whole environment, and one variable has 128 KiB at most.

use crate::FillError;
use std::ops::Range;
use towpath_core::VarPath;

const PREFIX: &str = "RECIPE_VAR_";

/// The most bytes of one variable, its name and the `=` included, that Linux hands to a program.
const LONGEST: usize = 131_071;

/// One `RECIPE_VAR_<name>` in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeVariable {
    pub variable: String,
    pub path: VarPath,
    /// Bytes of the author's text.
    pub range: Range<usize>,
    /// `${RECIPE_VAR_x:-…}`: the text itself defines what happens without a value.
    pub has_default: bool,
}

impl RecipeVariable {
    /// A variable whose own name has `__` in it.
    pub fn exact(&self) -> Option<VarPath> {
        VarPath::new(&self.variable[PREFIX.len()..])
    }

    /// The variable with its value.
    pub fn set(&self, value: String) -> Result<(String, String), FillError> {
        let bytes = self.variable.len() + 1 + value.len();
        let message = if value.contains('\0') {
            format!("the value of `{}` contains a NUL byte: no variable can take it", self.path)
        } else if bytes > LONGEST {
            format!(
                "`{}` would have {bytes} bytes: a variable of the environment has at most \
                 {LONGEST} (128 KiB), its name included; write {{{{{}}}}} instead, which has no limit",
                self.variable, self.path
            )
        } else {
            return Ok((self.variable.clone(), value));
        };
        Err(FillError { range: self.range.clone(), path: self.path.clone(), message })
    }
}

/// What the text mentions and does not set itself, in text order.
pub(crate) fn find(text: &str, known: &dyn Fn(&VarPath) -> bool) -> Vec<RecipeVariable> {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (start, _) in text.match_indices(PREFIX) {
        let name = &text[start + PREFIX.len()..];
        let name = &name[..name.find(|c| !named(c)).unwrap_or(name.len())];
        let end = start + PREFIX.len() + name.len();
        let (before, after) = (&text[..start], &text[end..]);
        let Some(path) = VarPath::new(&name.replace("__", ".")) else { continue };
        let braced = before.ends_with("${");
        let assigned = !braced && (after.starts_with('=') || after.starts_with("+="));
        if before.ends_with(named) || assigned || !known(&path) {
            continue;
        }
        let operator = after.strip_prefix(':').unwrap_or(after);
        let has_default = braced && operator.starts_with(['-', '=', '+', '?']);
        let variable = text[start..end].to_owned();
        found.push(RecipeVariable { variable, path, range: start..end, has_default });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_text() {
        for (text, expected) in [
            ("echo $RECIPE_VAR_task_description", Some(("task_description", false))),
            ("echo \"${RECIPE_VAR_a}\"", Some(("a", false))),
            ("echo '${RECIPE_VAR_a:-x}'", Some(("a", true))),
            ("echo ${RECIPE_VAR_a-x}", Some(("a", true))),
            ("echo ${RECIPE_VAR_a:0:1}", Some(("a", false))),
            ("echo ${#RECIPE_VAR_a}", Some(("a", false))),
            ("python3 -c 'os.environ[\"RECIPE_VAR_a__b\"]'", Some(("a.b", false))),
            ("RECIPE_VAR_a=1", None),
            ("RECIPE_VAR_a+=1", None),
            ("echo $MY_RECIPE_VAR_a", None),
            ("echo $RECIPE_VAR_", None),
            ("echo $RECIPE_VAR_unknown", None),
        ] {
            let found = find(text, &|path| path.as_str() != "unknown");
            let found = found.first().map(|v| (v.path.as_str(), v.has_default));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_variable_has_a_longest_value() {
        let variable = find("$RECIPE_VAR_a", &|_| true).remove(0);
        let longest = LONGEST - "RECIPE_VAR_a=".len();
        assert!(variable.set("x".repeat(longest)).is_ok());
        let error = variable.set("x".repeat(longest + 1)).unwrap_err();
        assert!(error.message.contains("131072 bytes") && error.message.contains("{{a}}"));
        assert!(variable.set("a\0b".into()).unwrap_err().message.contains("NUL"));
    }
}
