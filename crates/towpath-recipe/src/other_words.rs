//! The words of other tools and languages, with what to write instead: the rows of `other_words.txt`,
//! one for each fact. They only find the words for a refusal.

use crate::field_table::Section;
use towpath_core::{data_rows, data_section};

const WORDS: &str = include_str!("other_words.txt");

/// The words to write instead of a word of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instead {
    /// The field of ours that was meant.
    pub field: Option<&'static str>,
    how: &'static str,
}

impl Instead {
    /// The text under the caret.
    pub fn label(self) -> String {
        match self.field {
            Some(field) if self.how.is_empty() => format!("did you mean `{field}`?"),
            _ => self.how.to_owned(),
        }
    }
}

/// The row of a word in a section of the file.
pub(crate) fn instead_in(section: &str, word: &str) -> Option<Instead> {
    let mut rows = data_rows::<3>(data_section(WORDS, section));
    let [_, field, how] = rows.find(|[words, ..]| words.split(' ').any(|known| known == word))?;
    Some(Instead { field: Some(field).filter(|field| !field.is_empty()), how })
}

/// How something is written here, by the word for it in another language.
pub(crate) fn how(section: &str, word: &str) -> Option<&'static str> {
    instead_in(section, word).map(|instead| instead.how)
}

/// The row of an unknown field in a map of the file.
pub(crate) fn instead_of(name: &str, section: Section) -> Option<Instead> {
    let sections: &[&str] = match section {
        Section::Recipe => &["recipe"],
        Section::Step => &["step"],
        Section::Machine => &["machine"],
        Section::MachineStep => &["machine step", "step"],
        Section::Transition => &["transition"],
        Section::Guardrails => &["guardrails"],
        Section::Recursion | Section::Hooks => &[],
    };
    sections.iter().find_map(|section| instead_in(section, name))
}

/// The rows of files: what shows that it is another tool's, which tool's, and how to write it.
pub(crate) fn files(section: &str) -> impl Iterator<Item = [&'static str; 3]> {
    data_rows(data_section(WORDS, section))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::dialect::Dialect;
    use crate::field_table::find_field;
    use crate::read::{ReadContext, read, read_in_context};
    use std::collections::HashSet;
    use towpath_core::{Diagnostic, Map, Source};

    fn problems(text: &str) -> Vec<Diagnostic> {
        read(&Source::new("r", text)).problems
    }

    fn is_shown(problems: &[Diagnostic], how: &str) -> bool {
        problems.iter().any(|problem| problem.labels.iter().any(|label| label.text == how))
    }

    fn words_of(section: &str) -> Vec<&'static str> {
        let rows = files(section).collect::<Vec<_>>();
        assert!(!rows.is_empty(), "{section}");
        rows.into_iter().flat_map(|[words, ..]| words.split(' ')).collect()
    }

    /// A recipe with an unknown field in a section.
    fn with_field(section: Section, word: &str) -> String {
        let at = |other: Section| match section == other {
            true => format!("{word}: x"),
            false => "x-none: x".to_owned(),
        };
        match section {
            Section::Recipe | Section::Step => format!(
                "name: r\n{}\nsteps:\n  - id: a\n    command: x\n    {}\n",
                at(Section::Recipe),
                at(Section::Step).replace("x-none: x", "timeout: 1"),
            ),
            _ => format!(
                "id: r\nlabel: l\ndescription: d\ninitialStep: a\n{}\nguardrails:\n  {}\nsteps:\n  a:\n    \
                 prompt: x\n    {}\n    outcomes: [o]\n    onOutcome:\n      o:\n        action: exit\n        \
                 reason: x\n        {}\n",
                at(Section::Machine),
                at(Section::Guardrails),
                at(Section::MachineStep),
                at(Section::Transition),
            ),
        }
    }

    #[test]
    fn every_field_of_other_tools_is_answered_and_none_is_ours() {
        for (name, section) in [
            ("recipe", Section::Recipe),
            ("step", Section::Step),
            ("machine", Section::Machine),
            ("machine step", Section::MachineStep),
            ("transition", Section::Transition),
            ("guardrails", Section::Guardrails),
        ] {
            let mut seen = HashSet::new();
            for word in words_of(name) {
                let instead = instead_of(word, section).unwrap();
                assert!(find_field(section, word).is_none(), "{word} is a field of ours");
                assert!(seen.insert(word), "{word} is there twice");
                let known = instead.field.is_none_or(|field| find_field(section, field).is_some());
                assert!(known, "{:?}", instead.field);
                let found = problems(&with_field(section, word));
                let meant = instead.field.map(|field| format!("did you mean '{field}'?"));
                let shown = meant.filter(|meant| is_shown(&found, meant));
                // A field of another map of ours is shown where it belongs.
                let ours = found
                    .iter()
                    .any(|p| p.labels.iter().any(|l| l.text.starts_with("this belongs")));
                assert!(
                    shown.is_some() || ours || is_shown(&found, &instead.label()),
                    "{name}: {word}"
                );
            }
        }
    }

    #[test]
    fn fields_that_another_program_never_looks_at_have_no_effect() {
        for (name, section) in
            [("unread in recipe", Section::Recipe), ("unread in step", Section::Step)]
        {
            for word in words_of(name) {
                let source = Source::new("r", with_field(section, word));
                let inputs = Map::new();
                let files = |_: &str| unreachable!("it includes none");
                let context = ReadContext::of_files(&files, &inputs);
                let context = ReadContext { dialect: Dialect::RecipeRunner, ..context };
                let problems = read_in_context(&source, &context).problems;
                let message = format!("`{word}` has no effect");
                assert!(problems.iter().any(|p| p.message == message && !p.is_error()), "{word}");
            }
        }
    }

    #[test]
    fn every_file_of_another_tool_is_recognised() {
        for [names, what, how] in files("file name") {
            for name in names.split(' ') {
                let found = read(&Source::new(format!("x/{name}"), "a:\n  b\n")).problems;
                assert!(found[0].message.contains(what) && is_shown(&found, how), "{name}");
            }
        }
        for [shapes, what, how] in files("file") {
            let lines = shapes.split(' ').map(|shape| {
                let nested = shape.replace("-/", "- ").replace('*', "x").replace('/', ": {");
                let closing = "}".repeat(nested.matches('{').count());
                match nested.split_once(':').filter(|_| closing.is_empty()) {
                    Some((name, "map")) => format!("{name}: {{y: z}}\n"),
                    Some((name, _)) => format!("{name}: [y]\n"),
                    None => format!("{nested}: z{closing}\n"),
                }
            });
            let text: String = lines.collect();
            let found = problems(&text);
            assert!(found[0].message.contains(what) && is_shown(&found, how), "{text}: {found:?}");
        }
    }

    #[test]
    fn every_word_of_another_language_is_answered_in_a_condition() {
        for (section, before, after) in
            [("function", "", "(a)"), ("operator", "a ", " b"), ("method", "a.", "('b')")]
        {
            for word in words_of(section) {
                let text = format!("{before}{word}{after}");
                let own = ["and", "or", "not", "in"].contains(&word);
                let Err(error) = Condition::parse(&text) else {
                    assert!(own || section == "function", "{text}");
                    continue;
                };
                let how = how(section, word).unwrap().replace("VALUE", "a");
                assert!(own || error.help.as_deref() == Some(how.as_str()), "{text}: {error:?}");
            }
        }
    }
}
