//! Bash text with places: parsed or refused with a place inside the text; filled, no value is part
//! of the script.

use towpath_shell::{PlaceKind, ShellText};

/// A value that no bash text needs to hold.
const VALUE: &str = "zq'\"$(zq;\n`zq";

pub fn check(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    let parsed = match ShellText::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some(), "{error:?}");
            return;
        }
    };
    for place in parsed.places() {
        assert!(text[place.range.clone()].starts_with("{{"), "{place:?}");
    }
    for warning in parsed.warnings() {
        assert!(text.get(warning.range.clone()).is_some(), "{warning:?}");
    }
    let counts = parsed.places().iter().any(|place| place.kind == PlaceKind::Integer);
    let value = if counts { "17" } else { VALUE };
    let filled = parsed.fill(&mut |_| Some(value.to_owned())).expect("such a value fits");
    assert!(text.contains(VALUE) || !filled.script.contains(VALUE), "{}", filled.script);
}
