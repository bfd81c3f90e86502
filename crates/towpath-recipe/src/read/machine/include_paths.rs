//! Paths in `$include` and `$ref`: written from the file they are in, kept as paths from the
//! recipe's directory, and never leading out of it. They are names, not looked up here.

use towpath_core::Diagnostic;

/// The path from the recipe's directory that `written` in the file `holder` means.
pub(super) fn beside(holder: &str, written: &str) -> Result<String, Diagnostic> {
    let refused = |why: &str| {
        let message = format!("'{written}' {why}");
        let help = "write a path from this file to one in the recipe's directory or below it";
        Err(Diagnostic::error("bad-path", message).help(help))
    };
    if written.is_empty() {
        return refused("is no path");
    }
    if written.starts_with(['/', '\\', '~']) {
        return refused("is no path beside this file");
    }
    if written.contains(['\\', '\0']) || written.chars().any(char::is_control) {
        return refused("is no path: write `/` between its parts");
    }
    let mut parts: Vec<&str> = holder.split('/').collect();
    parts.pop();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return refused("leads out of the recipe's directory"),
            ".." => {}
            part => parts.push(part),
        }
    }
    if parts.is_empty() || written.ends_with('/') {
        return refused("is a directory");
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn paths_are_read_from_the_file_they_are_in() {
        for (holder, written, path) in [
            ("", "shared/a.json", "shared/a.json"),
            ("", "./a.json", "a.json"),
            ("shared/a.json", "b.json", "shared/b.json"),
            ("shared/a.json", "../b.json", "b.json"),
            ("shared/a.json", "deep//c.json", "shared/deep/c.json"),
        ] {
            assert_eq!(beside(holder, written).unwrap(), path, "{written} in {holder}");
        }
    }

    #[test]
    fn no_path_leaves_the_recipes_directory() {
        for (holder, written) in [
            ("", "../a.json"),
            ("", "/etc/hostname"),
            ("", "~/a.json"),
            ("", "shared/../../a.json"),
            ("shared/a.json", "../../a.json"),
            ("", "a\\..\\b.json"),
            ("", "a\0b"),
            ("", ""),
            ("", "."),
            ("shared/a.json", ".."),
            ("", "shared/"),
        ] {
            let problem = beside(holder, written).unwrap_err();
            assert!(problem.message.contains(written), "{written}: {}", problem.message);
        }
    }
}
