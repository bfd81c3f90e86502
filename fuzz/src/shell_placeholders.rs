//! Bash text with placeholders: parsed or refused with a range of the text; filled, no value is part
//! of the script. As plain bash, its commands have ranges of the text, or it is refused with one.

use towpath_shell::{PlaceholderKind, ShellText, bash};

/// A value that no bash text needs to contain.
const VALUE: &str = "zq'\"$(zq;\n`zq";

pub fn check(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    commands(text);
    let parsed = match ShellText::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some(), "{error:?}");
            return;
        }
    };
    for placeholder in parsed.placeholders() {
        assert!(text[placeholder.range.clone()].starts_with("{{"), "{placeholder:?}");
    }
    for warning in parsed.warnings() {
        assert!(text.get(warning.range.clone()).is_some(), "{warning:?}");
    }
    let counts = parsed.placeholders().iter().any(|p| p.kind == PlaceholderKind::Integer);
    let value = if counts { "17" } else { VALUE };
    let filled = parsed.fill(&mut |_| Some(value.to_owned())).expect("such a value fits");
    assert!(text.contains(VALUE) || !filled.script.contains(VALUE), "{}", filled.script);
}

fn commands(text: &str) {
    let script = match bash::parse(text) {
        Ok(script) => script,
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some(), "{error:?}");
            return;
        }
    };
    for command in script.commands() {
        for range in command.words.iter().map(|w| &w.range).chain([&command.range]) {
            assert!(text.get(range.clone()).is_some(), "{command:?}");
        }
    }
}
