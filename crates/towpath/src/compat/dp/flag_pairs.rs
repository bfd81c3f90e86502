//! `--flag OLD NEW` and `--flag OLD,NEW` for the argument parser, which would take the next option
//! for NEW, or refuse a NEW that begins with a dash: each value becomes a `--flag=` of its own.

use super::alias::AliasArgs;
use clap::Args as _;
use std::ffi::OsString;

const FLAG: &str = "--flag";

pub fn separated(arguments: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == "--" {
            out.push(argument.clone());
            out.extend(rest.cloned());
            break;
        }
        let old = match text.strip_prefix("--flag=") {
            Some(value) => Some(value),
            None if text == FLAG => rest.next().and_then(|value| value.to_str()),
            None => {
                out.push(argument.clone());
                continue;
            }
        };
        let Some(old) = old else {
            out.push(argument.clone());
            continue;
        };
        let (old, new) = match old.split_once(',') {
            Some((old, new)) => (old, Some(new)),
            None => (old, rest.next_if(|next| !is_own_option(next)).and_then(|new| new.to_str())),
        };
        out.extend([Some(old), new].into_iter().flatten().map(|v| format!("{FLAG}={v}").into()));
    }
    out
}

/// Whether an argument is an option of `dp alias`, so that it cannot be a value.
fn is_own_option(argument: &OsString) -> bool {
    let Some(name) = argument.to_str().and_then(|text| text.strip_prefix("--")) else {
        return false;
    };
    let name = name.split('=').next().unwrap_or(name);
    let alias = AliasArgs::augment_args(clap::Command::new("alias"));
    let own = alias.get_arguments().any(|known| known.get_long() == Some(name));
    own || ["json", "db", "help"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_become_two_values() {
        let separated = |line: &str| {
            let arguments: Vec<OsString> = line
                .split_whitespace()
                .map(|word| OsString::from(if word == "''" { "" } else { word }))
                .collect();
            let words: Vec<String> =
                separated(&arguments).iter().map(|a| a.to_string_lossy().into_owned()).collect();
            words.join(" ")
        };
        for (line, expected) in [
            ("alias --cmd scp --flag r R", "alias --cmd scp --flag=r --flag=R"),
            ("alias --flag r,R --cmd scp", "alias --flag=r --flag=R --cmd scp"),
            ("alias --flag=r,R", "alias --flag=r --flag=R"),
            ("alias --flag --wisp --limit", "alias --flag=--wisp --flag=--limit"),
            ("alias --flag -r -R --message x", "alias --flag=-r --flag=-R --message x"),
            ("alias --flag r '' --json", "alias --flag=r --flag= --json"),
            ("alias --flag r, --json", "alias --flag=r --flag= --json"),
            ("alias --flag r --delete --cmd scp", "alias --flag=r --delete --cmd scp"),
            ("alias -- --flag r", "alias -- --flag r"),
            ("alias --flag", "alias --flag"),
            ("list --since 7d", "list --since 7d"),
        ] {
            assert_eq!(separated(line), expected);
        }
    }
}
