//! Text in double braces that is no placeholder and stays as it is written: `{{ a | upper }}`,
//! `{{x y}}`, `{{x}`; and `${{ x }}`, whose `$` stays. Other programs have templates of their own, so
//! only what names a variable of the recipe is taken for a slip.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Span, VarPath, nearest};

/// Braces that are no placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StrayBraces {
    pub source: Arc<Source>,
    pub span: Span,
    /// The text between the braces.
    pub inside: String,
    pub closed: bool,
}

/// No name with its filters is longer.
const LONGEST: usize = 200;

/// Words that begin an instruction in other programs' templates.
const INSTRUCTIONS: [&str; 20] = [
    "if", "else", "elif", "endif", "unless", "for", "endfor", "each", "range", "with", "end",
    "block", "define", "template", "include", "set", "macro", "print", "printf", "json",
];

/// Double braces in a text that are no placeholder: its range, what is inside, whether `}}`
/// closes it.
pub(crate) fn stray_braces(text: &str) -> Vec<(Range<usize>, &str, bool)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|i| at + i) {
        at = start + 1;
        let inner = start + 2;
        // `\{{` is meant, and of `{{{` the last two count.
        if text[..start].ends_with('\\') || text[inner..].starts_with('{') {
            continue;
        }
        let dollar = text[..start].ends_with('$');
        let most = text.floor_char_boundary(text.len().min(inner + LONGEST));
        let window = &text[inner..most];
        let end = window.find(['}', '\n', '{']).map_or(most, |i| inner + i);
        let inside = &text[inner..end];
        let closed = text[end..].starts_with("}}");
        let name = inside.trim_matches([' ', '\t']);
        let name = name.strip_suffix('?').unwrap_or(name);
        let is_placeholder = closed && VarPath::new(name).is_some();
        if dollar {
            // GitHub's spelling has blanks; `${{price}}` may be meant. Other `${{ … }}` are GitHub's own.
            if is_placeholder && inside.starts_with(' ') {
                found.push((start - 1..end + 2, inside, true));
            }
        } else if !is_placeholder
            && inside.trim_start().starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            let braces = if closed { 2 } else { usize::from(text[end..].starts_with('}')) };
            found.push((start..end + braces, inside, closed));
        }
        at = end.max(at);
    }
    found
}

impl StrayBraces {
    /// The problem, if it names a variable, or nearly does.
    pub fn problem(&self, names: &HashSet<&str>) -> Option<Diagnostic> {
        let known = |name: &str| names.contains(name);
        let unfilled = "this is no placeholder: it stays as it is written";
        let Some(label) = self.label(&known) else {
            let path = VarPath::new(&self.inside).filter(|path| !known(path.root()))?;
            let mut names: Vec<&str> = names.iter().copied().collect();
            names.sort_unstable();
            let label = format!("did you mean {{{{{}}}}}?", nearest(path.root(), names)?);
            return Some(Diagnostic::note("unfilled", unfilled).at(&self.source, self.span, label));
        };
        let message = if self.is_name() { "the `$` stays before the value" } else { unfilled };
        Some(Diagnostic::warning("unfilled", message).at(&self.source, self.span, label))
    }

    /// `${{ x }}`, or a name that is no placeholder because a machine declares none.
    fn is_name(&self) -> bool {
        self.closed && VarPath::new(self.inside.trim()).is_some()
    }

    fn label(&self, known: &dyn Fn(&str) -> bool) -> Option<String> {
        let inside = self.inside.trim();
        let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let end = inside.find(|c| !in_name(c)).unwrap_or(inside.len());
        let first = inside[..end].trim_end_matches('.');
        let rest = inside[end..].trim_start();
        let names = |path: &str| known(path) || known(path.split('.').next().unwrap_or(path));
        let words: Vec<&str> = inside.split_whitespace().collect();
        let all_names = words.len() > 1 && words.iter().all(|word| VarPath::new(word).is_some());
        let joined = ["_", "-", "."].map(|sign| words.join(sign));
        if self.is_name() {
            let after_dollar = self.source.text[self.span.start..].starts_with('$');
            let meant = after_dollar && names(inside);
            return meant.then(|| format!("write {{{{{inside}}}}}, without `$`"));
        }
        if !self.closed {
            return (rest.is_empty() && names(first)).then(|| format!("write {{{{{first}}}}}"));
        }
        if let Some(meant) = joined.iter().find(|name| all_names && known(name)) {
            return Some(format!("did you mean {{{{{meant}}}}}?"));
        }
        if !names(first) {
            let [function, name] = words[..] else { return None };
            let called = all_names && names(name) && !INSTRUCTIONS.contains(&function);
            return called.then(|| format!("a placeholder is a name alone: {{{{{name}}}}}"));
        }
        let index = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let key = index.map(|key| key.trim().trim_matches(['\'', '"']));
        Some(match key.filter(|key| VarPath::new(key).is_some()) {
            Some(key) => format!("write {{{{{first}.{key}}}}}"),
            None if rest.starts_with('|') => {
                format!("a placeholder has no filters: write {{{{{first}}}}}")
            }
            None => format!("a placeholder is a name alone: {{{{{first}}}}}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Vec<Option<String>> {
        let known = |name: &str| ["x", "name", "user_name", "steps", "items"].contains(&name);
        let source = Source::new("r", text);
        let report = |(range, inside, closed): (Range<usize>, &str, bool)| {
            let source = Arc::clone(&source);
            let span = Span::new(range);
            StrayBraces { source, span, inside: inside.to_owned(), closed }.label(&known)
        };
        stray_braces(text).into_iter().map(report).collect()
    }

    #[test]
    fn slips_are_reported_with_what_to_write() {
        for (text, expected) in [
            ("{{ x | upper }}", "a placeholder has no filters: write {{x}}"),
            ("{{x|upper}}", "a placeholder has no filters: write {{x}}"),
            (
                "{{steps.a.status | upper}}",
                "a placeholder has no filters: write {{steps.a.status}}",
            ),
            ("{{user name}}", "did you mean {{user_name}}?"),
            ("{{x y}}", "a placeholder is a name alone: {{x}}"),
            ("{{upper x}}", "a placeholder is a name alone: {{x}}"),
            ("{{x + 1}}", "a placeholder is a name alone: {{x}}"),
            ("{{x:-none}}", "a placeholder is a name alone: {{x}}"),
            ("{{items[0]}}", "write {{items.0}}"),
            ("{{items['a']}}", "write {{items.a}}"),
            ("a {{x} b", "write {{x}}"),
            ("a {{ x\n}}", "write {{x}}"),
            ("a {{x", "write {{x}}"),
            ("v${{ x }}", "write {{x}}, without `$`"),
        ] {
            assert_eq!(label(text), [Some(expected.to_owned())], "{text}");
        }
    }

    #[test]
    fn what_is_for_another_program_is_left_alone() {
        for text in [
            "docker ps --format '{{.Names}}'",
            "{{json .State}} {{range .Items}}{{.}}{{end}} {{- if x }} {{ $x }} {{\"x\"}} {{'x'}}",
            "{{#each x}} {{/each}} {{> x}} {{!x}} {{&x}} {{{x}}} {{^x}}",
            "${{ x == 'a' }} ${{ github.ref }} ${{x}} \\{{x y}}",
            "{{ host | upper }} {{a b}} {{if x}} {{ for y in x }} {{a,b},c} {{x,y},z}",
            "{{x}} {{ x }} {{x.y}} {{x.0}}",
            "{{",
            "",
        ] {
            assert!(label(text).iter().all(Option::is_none), "{text}: {:?}", label(text));
        }
    }
}
