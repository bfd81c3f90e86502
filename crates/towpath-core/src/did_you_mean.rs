//! Names in messages: "did you mean", the one known name nearest to what was written, and lists.

/// The nearest candidate, if it is near enough to be a slip of the hand.
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = ((written.chars().count() + 1) / 4).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|c| *c != written)
        .map(|c| (strsim::damerau_levenshtein(&written.to_lowercase(), &c.to_lowercase()), c))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Names in backticks, with commas between them.
pub fn quoted_list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["command", "condition", "context", "id"];
        assert_eq!(nearest("comand", names), Some("command"));
        assert_eq!(nearest("Context", names), Some("context"));
        assert_eq!(nearest("zebra", names), None);
        assert_eq!(nearest("x", names), None);
        let strangers = [("expect", "effect"), ("effort", "effect"), ("stags", "tasks")];
        for (written, known) in strangers {
            assert_eq!(nearest(written, [known]), None, "{written}");
        }
    }
}
