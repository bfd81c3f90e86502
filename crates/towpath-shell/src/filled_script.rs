//! A command with its values, as plain data: what a job carries.
//!
//! The values are never part of the text. They travel in a file of their own, because an argument or
//! an environment variable has 128 KiB at most and is seen by every child.

use crate::bash::quoting::single_quote;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filled {
    /// Bash text in which each placeholder refers to a variable.
    pub script: String,
    /// The variables' values, in order.
    pub values: Vec<String>,
}

const STEM: &str = "towpath_";

/// A prefix for variables that cannot be in `text`: with one underscore more than any there.
pub(crate) fn prefix_for(text: &str) -> String {
    prefix(longest_run(text).map_or(2, |run| (run + 1).max(2)))
}

fn prefix(underscores: usize) -> String {
    format!("{}{STEM}", "_".repeat(underscores))
}

/// The most underscores right before the stem.
fn longest_run(text: &str) -> Option<usize> {
    text.match_indices(STEM)
        .map(|(at, _)| text[..at].bytes().rev().take_while(|b| *b == b'_').count())
        .max()
}

impl Filled {
    /// The text for `bash -c` or a script file: it first reads the values from the file at
    /// `values_file`, on the script's own first line, so that line numbers stay true. Without
    /// values it is exactly the script.
    pub fn command(&self, values_file: &str) -> String {
        if self.values.is_empty() {
            return self.script.clone();
        }
        // The prefix was chosen to be the longest in the text, so it can be read off.
        let prefix = prefix(longest_run(&self.script).unwrap_or(2));
        let reads: Vec<String> =
            (0..self.values.len()).map(|i| format!("IFS= read -r -d '' {prefix}{i}")).collect();
        let file = single_quote(values_file);
        // Without its values the script must not run at all.
        format!("{{ {}; }} <{file} || exit 125; {}", reads.join(" && "), self.script)
    }

    /// The text for a bash that cannot read our files: the values are part of it, each as one quoted
    /// word that a variable is set to, on the script's own first line. Bash takes long to read
    /// megabytes of them; [`Filled::command`] is for the bash of this machine.
    pub fn command_with_values(&self) -> String {
        let prefix = prefix(longest_run(&self.script).unwrap_or(2));
        let set = |(i, value): (usize, &String)| format!("{prefix}{i}={}; ", single_quote(value));
        let values: String = self.values.iter().enumerate().map(set).collect();
        format!("{values}{}", self.script)
    }

    /// What to write into the file: each value, ended by a NUL byte.
    pub fn values_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.values.iter().map(|v| v.len() + 1).sum());
        for value in &self.values {
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_is_in_no_text() {
        for (text, expected) in [
            ("echo", "__towpath_"),
            ("echo $towpath_0", "__towpath_"),
            ("echo $__towpath_0", "___towpath_"),
            ("____towpath_ __towpath_", "_____towpath_"),
        ] {
            assert_eq!(prefix_for(text), expected, "{text}");
            assert!(!text.contains(&prefix_for(text)));
        }
    }

    #[test]
    fn the_command_reads_its_values_on_the_first_line() {
        let filled =
            Filled { script: "echo \"$___towpath_0\"\nls".into(), values: vec!["x".into()] };
        assert_eq!(
            filled.command("/tmp/it's"),
            "{ IFS= read -r -d '' ___towpath_0; } <'/tmp/it'\\''s' || exit 125; echo \"$___towpath_0\"\nls"
        );
        assert_eq!(filled.values_bytes(), b"x\0");
    }

    #[test]
    fn a_command_can_carry_its_values() {
        let script = "printf %s \"$__towpath_0\" \"$__towpath_1\"".to_owned();
        let values = vec!["it's; $(rm x) `y` \\ \n{{z}}".to_owned(), "é".to_owned()];
        let filled = Filled { script, values };
        let bash = std::process::Command::new("bash")
            .args(["-c", &filled.command_with_values()])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(bash.stdout).unwrap(), filled.values.concat());
    }

    #[test]
    fn without_values_it_is_the_script() {
        let filled = Filled { script: "echo 1".into(), values: vec![] };
        assert_eq!(filled.command("/f"), "echo 1");
        assert_eq!(filled.command_with_values(), "echo 1");
        let json = serde_json::to_string(&filled).unwrap();
        assert_eq!(serde_json::from_str::<Filled>(&json).unwrap(), filled);
    }
}
