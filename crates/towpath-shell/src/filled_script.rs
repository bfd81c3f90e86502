//! A command with its values, as plain data: what a job carries.
//!
//! The values are never part of the text. They travel in a file of their own, because an argument or
//! an environment variable has 128 KiB at most and is seen by every child.

use crate::bash::{self, quoting::single_quote};
use crate::guards;
use serde::{Deserialize, Serialize};

/// Which failures inside a command end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailFast {
    /// None: its last line decides.
    Off,
    /// A failing line or part of a pipe: `bash -eo pipefail`.
    On,
    /// Also a shell variable that is not set: `bash -euo pipefail`.
    Strict,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filled {
    /// Bash text in which each placeholder refers to a variable.
    pub script: String,
    /// The variables' values, in order.
    pub values: Vec<String>,
    /// The shell's own `$1`, `$2` and so forth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The first failing line or part of a pipe ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fail_fast: bool,
    /// A variable of the shell that is not set ends it, where it fails fast.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nounset: bool,
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
    /// Text that runs as it is written.
    pub fn plain(script: impl Into<String>) -> Filled {
        let (script, values, arguments) = (script.into(), Vec::new(), Vec::new());
        Filled { script, values, arguments, fail_fast: false, nounset: false }
    }

    /// The same, ended by these failures.
    pub fn failing(self, on: FailFast) -> Filled {
        let (fail_fast, nounset) = (on != FailFast::Off, on == FailFast::Strict);
        Filled { fail_fast, nounset, ..self }
    }

    /// The options of bash that it runs with.
    pub fn bash_options(&self) -> &'static [&'static str] {
        match (self.fail_fast, self.nounset) {
            (false, _) => &[],
            (true, false) => &["-eo", "pipefail"],
            (true, true) => &["-euo", "pipefail"],
        }
    }

    /// Whether the script is nothing without its values.
    pub fn has_values(&self) -> bool {
        !(self.values.is_empty() && self.arguments.is_empty())
    }

    /// The text for `bash -c` or a script file: it first reads the values from the file at
    /// `values_file`, on the script's own first line, so that line numbers stay true. Without
    /// values and with one line it is exactly the script.
    pub fn command(&self, values_file: &str) -> String {
        if !self.has_values() {
            return self.failing_whole(self.script.clone());
        }
        let prefix = self.prefix();
        let count = self.values.len() + self.arguments.len();
        let reads: Vec<String> =
            (0..count).map(|i| format!("IFS= read -r -d '' {prefix}{i}")).collect();
        let file = single_quote(values_file);
        let (set, asks) = (self.set_arguments(&prefix), guards::prelude(&prefix, &self.script));
        // Without its values the script must not run at all.
        let reads = reads.join(" && ");
        self.failing_whole(format!(
            "{{ {reads}; }} <{file} || exit 125; {asks}{set}{}",
            self.script
        ))
    }

    /// The text so that every failure in it ends it, where it fails fast. After an expansion that
    /// fails (`$((1/0))`), bash drops the command that it is in and continues with the next line,
    /// whatever its options are: so all lines become one command. Aliases and the syntax of
    /// `extglob` are in force from the next command on, so a text with them stays as it is, and so
    /// does one that is not understood.
    fn failing_whole(&self, text: String) -> String {
        if !self.fail_fast {
            return text;
        }
        // A failing line of `$(…)` fails it. Bash before 4.4 does not know it.
        let text = match text.contains("$(") || text.contains('`') {
            true => format!("shopt -s inherit_errexit 2>/dev/null || :; {text}"),
            false => text,
        };
        if !text.trim_end().contains('\n') || text.contains("alias") || text.contains("extglob") {
            return text;
        }
        let group = format!("{{ {text}\n}}");
        let is_one = bash::parse(&group).is_ok_and(|script| script.is_one_group());
        if is_one { group } else { text }
    }

    /// The script for a reader, with the values of its variables above it.
    pub fn with_values(&self) -> String {
        let prefix = self.prefix();
        let values = self.values.iter().enumerate();
        let mut text: String =
            values.map(|(i, value)| format!("{prefix}{i}={}\n", single_quote(value))).collect();
        if !self.arguments.is_empty() {
            let quoted: Vec<String> = self.arguments.iter().map(|a| single_quote(a)).collect();
            text.push_str(&format!("set -- {}\n", quoted.join(" ")));
        }
        text + &guards::without_guards(&prefix, &self.script)
    }

    /// The prefix of the variables in the script. It was chosen to be the longest in the text, so it
    /// can be read off.
    fn prefix(&self) -> String {
        match self.values.is_empty() {
            true => prefix_for(&self.script),
            false => prefix(longest_run(&self.script).unwrap_or(2)),
        }
    }

    /// The arguments are read after the values.
    fn set_arguments(&self, prefix: &str) -> String {
        if self.arguments.is_empty() {
            return String::new();
        }
        let numbers = self.values.len()..self.values.len() + self.arguments.len();
        let words: Vec<String> = numbers.map(|i| format!("\"${{{prefix}{i}}}\"")).collect();
        format!("set -- {}; ", words.join(" "))
    }

    /// The text for a bash that cannot read our files: the values are part of it, each as one quoted
    /// word that a variable is set to, on the script's own first line. Bash takes long to read
    /// megabytes of them; [`Filled::command`] is for the bash of this machine.
    pub fn command_with_values(&self) -> String {
        let prefix = self.prefix();
        let set = |(i, value): (usize, &String)| format!("{prefix}{i}={}; ", single_quote(value));
        let values: String = self.all_values().enumerate().map(set).collect();
        let options = match self.bash_options() {
            [] => String::new(),
            options => format!("set {}; ", options.join(" ")),
        };
        let asks = guards::prelude(&prefix, &self.script);
        let text = format!("{options}{values}{asks}{}{}", self.set_arguments(&prefix), self.script);
        self.failing_whole(text)
    }

    /// What to write into the file: each value, ended by a NUL byte.
    pub fn values_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.all_values().map(|v| v.len() + 1).sum());
        for value in self.all_values() {
            bytes.extend_from_slice(value.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    fn all_values(&self) -> impl Iterator<Item = &String> {
        self.values.iter().chain(&self.arguments)
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
    fn a_script_that_fails_fast_does_so_wherever_it_runs() {
        let filled = Filled { fail_fast: true, ..Filled::plain("false | cat\necho after") };
        let text = filled.command_with_values();
        let bash = std::process::Command::new("bash").args(["-c", &text]).output().unwrap();
        assert_eq!((bash.status.code(), bash.stdout.as_slice()), (Some(1), &b""[..]));
        let stored = r#"{"script": "make", "values": []}"#;
        let earlier: Filled = serde_json::from_str(stored).unwrap();
        assert_eq!(earlier, Filled::plain("make"));
    }

    #[test]
    fn the_command_reads_its_values_on_the_first_line() {
        let values = vec!["x".into()];
        let filled = Filled { values, ..Filled::plain("echo \"$___towpath_0\"\nls") };
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
        let filled = Filled { values, ..Filled::plain(script) };
        let bash = std::process::Command::new("bash")
            .args(["-c", &filled.command_with_values()])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(bash.stdout).unwrap(), filled.values.concat());
    }

    #[test]
    fn without_values_it_is_the_script() {
        let filled = Filled::plain("echo 1");
        assert_eq!(filled.command("/f"), "echo 1");
        assert_eq!(filled.command_with_values(), "echo 1");
        let json = serde_json::to_string(&filled).unwrap();
        assert_eq!(serde_json::from_str::<Filled>(&json).unwrap(), filled);
    }

    #[test]
    fn arguments_are_the_shells_own() {
        let script = "printf '<%s>' \"$__towpath_0\" \"$@\" $# $2 __towpath_9".to_owned();
        let arguments = vec!["a b".to_owned(), String::new(), "$(c)'".to_owned()];
        for (values, script, expected) in [
            (vec!["v".to_owned()], script.clone(), "<v><a b><><$(c)'><3><__towpath_9>"),
            (Vec::new(), script, "<><a b><><$(c)'><3><__towpath_9>"),
        ] {
            let filled = Filled { values, arguments: arguments.clone(), ..Filled::plain(script) };
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, filled.values_bytes()).unwrap();
            for command in
                [filled.command(&file.path().to_string_lossy()), filled.command_with_values()]
            {
                let bash = std::process::Command::new("bash").args(["-c", &command]).output();
                assert_eq!(String::from_utf8(bash.unwrap().stdout).unwrap(), expected, "{command}");
            }
        }
    }
}
