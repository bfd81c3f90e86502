//! Names that become file names. Anything that could leave its directory is refused.

/// One path segment of a name: letters, digits, `_`, `-`.
pub fn is_safe_segment(segment: &str) -> bool {
    !segment.is_empty()
        && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A name of one or more safe segments, such as `testing/output-chaining`.
pub fn is_safe_name(name: &str) -> bool {
    name.split('/').all(is_safe_segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_their_base() {
        for good in ["a", "testing/output-chaining", "A_1-b"] {
            assert!(is_safe_name(good), "{good}");
        }
        for bad in ["", "..", "../../x", "a//b", "/a", "a/", "a b", "a.yaml", "é"] {
            assert!(!is_safe_name(bad), "{bad}");
        }
    }
}
