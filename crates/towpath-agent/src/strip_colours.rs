//! Standard error of a program as plain text: without the colours that some print even into a file.

/// `text` without escape sequences, and without space at its ends.
pub(crate) fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        kept.push_str(before);
        rest = match after.strip_prefix('[') {
            // Parameters, then one letter that ends the sequence.
            Some(sequence) => {
                let end = sequence.find(|c: char| !matches!(c, '0'..='9' | ';' | ':' | '?' | ' '));
                end.map_or("", |end| {
                    let letter = sequence[end..].chars().next().map_or(0, char::len_utf8);
                    &sequence[end + letter..]
                })
            }
            None => after,
        };
    }
    kept.push_str(rest);
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_words_stay() {
        for (text, expected) in [
            ("\u{1b}[91m\u{1b}[1mError: \u{1b}[0mSession not found\n", "Error: Session not found"),
            ("plain [1m text", "plain [1m text"),
            ("cut \u{1b}[91", "cut"),
            ("\u{1b}[ü", ""),
            ("\u{1b}", ""),
            ("a\u{1b}b", "ab"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
