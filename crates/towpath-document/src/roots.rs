//! The paths in documents: what they may begin with, and paths without `.` and `..`.

/// What paths in documents may begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// `$PROJECTPATH` and `$.`.
    pub project: String,
    /// `$HOMEPATH` and `$~`.
    pub home: String,
}

/// A path without `.` and `..`, as far as its text shows it.
pub fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    match (path.starts_with('/'), parts.join("/")) {
        (true, plain) => format!("/{plain}"),
        (false, plain) if plain.is_empty() => ".".to_owned(),
        (false, plain) => plain,
    }
}

/// The path that a text means: `head` is as the author wrote it, the rest may be a value.
pub(crate) fn expand_root<'a>(
    head: &'a str,
    roots: &Roots,
    variable: impl FnOnce(&str) -> Option<String>,
) -> Option<(String, &'a str)> {
    let text = head.strip_prefix('$')?;
    for (name, root) in [
        ("PROJECTPATH", &roots.project),
        (".", &roots.project),
        ("HOMEPATH", &roots.home),
        ("~", &roots.home),
    ] {
        // A root that is not known is no root.
        if !root.is_empty()
            && let Some(rest) = text.strip_prefix(name)
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return Some((root.clone(), rest));
        }
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let fits = !name.is_empty() && (rest.is_empty() || rest.starts_with('/'));
    fits.then(|| variable(name)).flatten().map(|value| (value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_dots() {
        for (path, expected) in [
            ("./d/../a.md", "a.md"),
            ("../a", "../a"),
            ("/a/../../b", "/b"),
            ("a//b/", "a/b"),
            ("../../a/..", "../.."),
            (".", "."),
            ("a/..", "."),
            ("/", "/"),
        ] {
            assert_eq!(plain_path(path), expected, "{path}");
        }
    }
}
