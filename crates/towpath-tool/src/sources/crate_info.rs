//! What `cargo info` prints of a crate.

/// The lines that we need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CrateInfo {
    pub name: String,
    pub version: String,
    pub description: String,
    pub license: Option<String>,
    pub homepage: Option<String>,
    pub repository: Option<String>,
}

/// The first line has the name, then comes the description, then `key: value`.
pub(super) fn read_crate_info(text: &str) -> Option<CrateInfo> {
    let mut lines = text.lines();
    let name = lines.next()?.split_whitespace().next()?;
    let mut info = CrateInfo { name: name.to_owned(), ..CrateInfo::default() };
    let mut description = Vec::new();
    for line in lines {
        let known = line.split_once(": ").filter(|(key, _)| {
            let is_key = |c: char| c.is_ascii_lowercase() || "-.".contains(c);
            // A description may contain a colon; before the version there is nothing else.
            key.chars().all(is_key) && (!info.version.is_empty() || *key == "version")
        });
        match known {
            // `0.2.2 (latest 0.3.3)`
            Some(("version", value)) => {
                info.version = value.split(' ').next().unwrap_or_default().to_owned();
            }
            Some(("license", value)) => info.license = Some(value.to_owned()),
            Some(("homepage", value)) => info.homepage = Some(value.to_owned()),
            Some(("repository", value)) => info.repository = Some(value.to_owned()),
            None if info.version.is_empty() => description.push(line),
            _ => {}
        }
    }
    info.description = description.join(" ");
    (!info.version.is_empty()).then_some(info)
}

/// Whether cargo has found nothing, rather than failed.
pub(super) fn is_not_found(stderr: &str) -> bool {
    stderr.lines().any(|line| line.starts_with("error: could not find `"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIBI: &str = "\
kibi #editor #terminal #text-editor
A text editor in less than 1024 lines of code with syntax higlighting, search and more.
version: 0.2.2 (latest 0.3.3)
license: MIT OR Apache-2.0
rust-version: unknown
documentation: https://docs.rs/kibi/0.2.2
repository: https://github.com/ilai-deutel/kibi
";
    const SERDE: &str = "\
serde #serde #serialization #no_std
A generic
note: serialization framework
version: 1.0.229
license: MIT OR Apache-2.0
rust-version: 1.56
homepage: https://serde.rs
features:
 +default      = [std]
  std          = [serde_core/std]
";

    #[test]
    fn the_lines_of_a_crate_are_read() {
        let kibi = read_crate_info(KIBI).unwrap();
        assert_eq!((kibi.name.as_str(), kibi.version.as_str()), ("kibi", "0.2.2"));
        assert!(kibi.description.starts_with("A text editor in less"));
        assert_eq!(kibi.license.as_deref(), Some("MIT OR Apache-2.0"));
        assert_eq!(kibi.repository.as_deref(), Some("https://github.com/ilai-deutel/kibi"));
        assert_eq!(kibi.homepage, None);
        let serde = read_crate_info(SERDE).unwrap();
        assert_eq!(serde.version, "1.0.229");
        assert_eq!(serde.description, "A generic note: serialization framework");
        assert_eq!(serde.homepage.as_deref(), Some("https://serde.rs"));
        for text in ["", "\n", "kibi", "kibi\nno version here: really"] {
            assert_eq!(read_crate_info(text), None, "{text:?}");
        }
    }

    #[test]
    fn nothing_found_is_not_a_failure() {
        assert!(is_not_found(
            "    Updating index\nerror: could not find `x@9.9` in registry `y`\n"
        ));
        assert!(!is_not_found(
            "error: failed to download from `z`\n\nCaused by:\n  [7] Could not connect"
        ));
    }
}
