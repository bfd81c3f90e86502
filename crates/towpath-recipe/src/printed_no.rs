//! Whether a step visibly prints a word for "no". Its output is text, and a condition treats
//! every text but the empty one as true. It looks only for what is plainly there: it is good enough for a
//! note.

const NO: [&str; 6] = ["false", "False", "0", "no", "null", "none"];

/// The word that a script prints by `echo` or `printf`, or as a count.
pub(crate) fn printed_no(script: &str) -> Option<&'static str> {
    let words = |command: &str| -> Vec<String> {
        let plain = |word: &str| word.trim_matches(['"', '\'']).trim_end_matches("\\n").to_owned();
        command.split_whitespace().map(plain).collect()
    };
    let commands = script.split(['\n', ';', '|', '&', '(', ')', '{', '}']);
    let printed = commands.clone().find_map(|command| {
        let words = words(command);
        let at = words.iter().position(|word| word == "echo" || word == "printf")?;
        let mut printed = words[at + 1..].iter().filter(|word| !word.starts_with('-'));
        let (first, more) = (printed.next()?, printed.next());
        NO.into_iter().find(|no| first == no && more.is_none_or(|word| word.starts_with('>')))
    });
    let last = commands.map(str::trim).rfind(|command| !command.is_empty())?;
    let counts = last.starts_with("wc -") || last.starts_with("grep -c");
    printed.or(counts.then_some("0"))
}

/// The word that an agent is asked to answer with.
pub(crate) fn asked_no(prompt: &str) -> Option<&'static str> {
    let mut words = prompt.split(|c: char| !c.is_alphanumeric());
    words.find_map(|word| ["false", "False"].into_iter().find(|no| word == *no))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_no_is_seen_where_it_is_printed() {
        for (script, expected) in [
            ("echo false", Some("false")),
            ("test -f x && echo true || echo false", Some("false")),
            ("if x; then echo 1; else printf '0\\n'; fi", Some("0")),
            ("echo -n \"no\"", Some("no")),
            ("ls | wc -l", Some("0")),
            ("git status --porcelain | grep -c M", Some("0")),
            ("echo 0 failed", None),
            ("echo \"12 passed, 0 failed\"", None),
            ("make lint || true", None),
            ("n=$(ls | wc -l); echo \"$n files\"", None),
            ("", None),
        ] {
            assert_eq!(printed_no(script), expected, "{script}");
        }
        assert_eq!(asked_no("Answer `true` or `false`."), Some("false"));
        assert_eq!(asked_no("Report what is falsely claimed"), None);
    }
}
