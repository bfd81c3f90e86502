//! The table of tools whose source is known: what a user means by `ripgrep` or `tsc`. It is reviewed like
//! code. A package's own description proves nothing, so no name is taken from a registry without it.

use super::source_ref::SourceRef;
use towpath_core::data_rows;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTool {
    pub name: &'static str,
    pub from: SourceRef,
    pub homepage: &'static str,
    pub description: &'static str,
}

pub fn known_tools() -> impl Iterator<Item = KnownTool> {
    data_rows(include_str!("tool_names.txt")).map(|[name, from, homepage, description]| {
        let from = from.parse().expect("the table has sources");
        KnownTool { name, from, homepage, description }
    })
}

/// The tool of that name, or the one whose package has it.
pub fn known_tool(name: &str) -> Option<KnownTool> {
    let is_package = |tool: &KnownTool| tool.from.name().rsplit('/').next() == Some(name);
    known_tools().find(|tool| tool.name == name).or_else(|| known_tools().find(is_package))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe_values::check_tool_name;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_has_a_name_a_source_a_page_and_a_description() {
        let mut names = BTreeSet::new();
        for tool in known_tools() {
            assert!(names.insert(tool.name), "{} is there twice", tool.name);
            check_tool_name(tool.name).unwrap();
            assert!(tool.homepage.starts_with("https://"), "{tool:?}");
            let plain = |c: char| !c.is_control() && c != '\u{a0}';
            assert!(tool.description.len() > 5 && tool.description.chars().all(plain), "{tool:?}");
        }
        assert!(names.len() >= 150, "{}", names.len());
    }

    #[test]
    fn a_tool_is_found_by_its_program_and_by_its_package() {
        let from = |name| known_tool(name).map(|tool| tool.from.to_string());
        assert_eq!(from("rg").as_deref(), Some("cargo:ripgrep"));
        assert_eq!(from("ripgrep").as_deref(), Some("cargo:ripgrep"));
        assert_eq!(from("codex").as_deref(), Some("npm:@openai/codex"));
        assert_eq!(from("helm"), None);
    }
}
