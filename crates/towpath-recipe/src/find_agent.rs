//! Agents by reference: whose instructions an agent step gets. `namespace:category:name` is the
//! file `namespace/category/name.md`, `namespace:name` is `namespace/name.md` or else the only
//! `namespace/*/name.md`, a plain name is `name.md`. Agents of the namespace `amplihack` may also be
//! kept without it, as in `core/name.md`. A reference never leaves the directory it is
//! looked for in, symbolic links included. The text of the file, without its front matter, becomes
//! the agent's system prompt. It is a document where the file is a `.mld` file, or where its front
//! matter has `render: true`; nothing else in it has a meaning here.

use crate::dialect::Dialect;
use crate::read::load_document;
use crate::recipe::PromptDocument;
use crate::recipe_file::{self, stays_below};
use crate::recipe_search::{Origin, SearchDir};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, is_safe_segment, nearest};

/// The endings of definitions; the first wins.
const KINDS: [&str; 2] = ["md", "mld"];

/// Instructions travel as one argument of a program, which has a limit.
const LONGEST: usize = 100_000;

/// An agent of a plan, as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedAgent {
    /// The name that the user knows the text by: a path, or `built-in agent NAME`.
    pub source: String,
    /// None for a built-in one.
    pub path: Option<String>,
    /// The instructions, without front matter.
    pub text: String,
    /// The instructions are a document, and these are the files that it imports, by their path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imports: Option<BTreeMap<String, String>>,
}

impl PlannedAgent {
    /// The document that the instructions are.
    pub(crate) fn document(&self, home: Option<&str>) -> Option<(PromptDocument, Vec<Diagnostic>)> {
        let imports = self.imports.as_ref()?;
        let files = |path: &str| match imports.get(path) {
            Some(text) => Ok(Source::new(path, text)),
            None => Err(Diagnostic::error("unreadable", format!("{path} is not in the plan"))),
        };
        Some(load_document(&self.source(), &self.name(), self.directory(), home, &files))
    }

    fn source(&self) -> Arc<Source> {
        Source::new(&self.source, &self.text)
    }

    fn name(&self) -> String {
        let name = self.source.rsplit('/').next();
        name.unwrap_or_default().to_owned()
    }

    fn directory(&self) -> Option<String> {
        let slash = self.path.as_deref()?.rfind('/')?;
        self.path.as_deref().map(|path| path[..=slash].to_owned())
    }
}

/// Reads the imports of instructions that are a document.
fn with_imports(mut agent: PlannedAgent, base: &Path) -> Result<PlannedAgent, Diagnostic> {
    let kept = RefCell::new(BTreeMap::new());
    let directory = PathBuf::from(agent.directory().unwrap_or_default());
    let files = |path: &str| {
        let real = stays_below(base, &directory.join(path));
        let source = recipe_file::load(&real.map_err(|refusal| refusal.problem(path))?, path)?;
        kept.borrow_mut().insert(path.to_owned(), source.text.clone());
        Ok(source)
    };
    let (_, problems) =
        load_document(&agent.source(), &agent.name(), agent.directory(), None, &files);
    if let Some(problem) = problems.into_iter().find(Diagnostic::is_error) {
        return Err(problem);
    }
    agent.imports = Some(kept.into_inner());
    Ok(agent)
}

macro_rules! built_in {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../agents/", $path, ".md")))),*]
    };
}

/// The agents that come with the program, by their path.
static BUILT_IN: &[(&str, &str)] = built_in![
    "amplihack/architect",
    "amplihack/core/architect",
    "amplihack/security",
    "analyst",
    "builder",
    "code-reviewer",
    "deployer",
    "fixer",
    "moderator",
    "researcher",
    "reviewer",
    "tester",
    "writer",
];

/// The namespace whose agents a directory may have without a folder for it, and in whose category
/// `core` all built-in agents are.
const AMPLIHACK: &str = "amplihack";

/// Agent programs, which are often written where instructions are named.
const PROGRAMS: &[&str] = &[
    "claude",
    "claude-code",
    "codex",
    "copilot",
    "cursor",
    "gemini",
    "github-copilot",
    "opencode",
];

/// The code of an agent that nobody has described.
pub(crate) const NOT_FOUND: &str = "agent-not-found";

/// The references of the built-in agents.
pub fn builtin_agents() -> impl Iterator<Item = String> {
    BUILT_IN.iter().map(|(path, _)| path.replace('/', ":"))
}

pub(crate) struct FoundAgent {
    pub agent: PlannedAgent,
    pub origin: Origin,
    /// A built-in agent has the same reference.
    pub shadows: bool,
}

/// Finds the file of a reference, in the order of the directories; the built-in ones come last.
pub(crate) fn find_agent(
    reference: &str,
    directories: &[SearchDir],
    shown: impl Fn(&Path) -> String,
) -> Result<FoundAgent, Diagnostic> {
    let segments: Vec<&str> = reference.split(':').collect();
    if segments.len() > 3 || !segments.iter().all(|s| is_safe_segment(s)) {
        let message = format!("`{reference}` is not an agent's name");
        let help = "write `namespace:category:name`, `namespace:name` or a name; each part has \
                    letters, digits, `_` and `-`";
        return Err(Diagnostic::error("bad-agent-name", message).help(help));
    }
    let built_in = find_built_in(&segments, reference)?;
    for directory in directories {
        let Some(path) = in_directory(&directory.path, &segments, reference)? else { continue };
        let name = shown(&path);
        let real = stays_below(&directory.path, &path).map_err(|refusal| refusal.problem(&name))?;
        let source = recipe_file::load(&real, &name)?;
        let mut agent = PlannedAgent {
            source: name,
            path: Some(real.to_string_lossy().into_owned()),
            text: instructions(&source.text).to_owned(),
            imports: None,
        };
        if is_document(&real, &source.text) {
            agent = with_imports(agent, &directory.path)?;
        }
        let shadows = built_in.is_some();
        return usable(FoundAgent { agent, origin: directory.origin, shadows });
    }
    match built_in {
        Some((path, text)) => usable(FoundAgent {
            agent: PlannedAgent {
                source: format!("built-in agent {}", path.replace('/', ":")),
                path: None,
                text: instructions(text).to_owned(),
                imports: None,
            },
            origin: Origin::BuiltIn,
            shadows: false,
        }),
        None => Err(not_found(reference, directories)),
    }
}

/// The same by the rules of a dialect: `recipe-runner-rs` also looks in the other categories.
pub(crate) fn find_agent_as(
    dialect: Dialect,
    reference: &str,
    directories: &[SearchDir],
    shown: impl Fn(&Path) -> String,
) -> Result<FoundAgent, Diagnostic> {
    let found = find_agent(reference, directories, &shown);
    let absent = found.as_ref().is_err_and(|problem| problem.code == NOT_FOUND);
    let segments: Vec<&str> = reference.split(':').collect();
    match segments[..] {
        [namespace, _, name] if absent && dialect == Dialect::RecipeRunner => {
            find_agent(&format!("{namespace}:{name}"), directories, shown).or(found)
        }
        _ => found,
    }
}

fn usable(found: FoundAgent) -> Result<FoundAgent, Diagnostic> {
    if found.agent.text.trim().is_empty() {
        let message = format!("{} has no instructions", found.agent.source);
        return Err(Diagnostic::error("empty-agent", message));
    }
    if found.agent.text.len() > LONGEST {
        let message = format!("{} is longer than {LONGEST} bytes", found.agent.source);
        return Err(Diagnostic::error("long-agent", message));
    }
    Ok(found)
}

fn in_directory(
    base: &Path,
    segments: &[&str],
    reference: &str,
) -> Result<Option<PathBuf>, Diagnostic> {
    if let Some(direct) = of_kinds(&base.join(segments.join("/"))) {
        return Ok(Some(direct));
    }
    let [namespace, name] = segments else {
        let [AMPLIHACK, category, name] = segments else { return Ok(None) };
        return Ok(of_kinds(&base.join(category).join(name)));
    };
    match in_categories(&base.join(namespace), name, reference)? {
        None if *namespace == AMPLIHACK => in_categories(base, name, reference),
        found => Ok(found),
    }
}

/// The only agent of a name in the folders of a namespace.
fn in_categories(
    namespace: &Path,
    name: &str,
    reference: &str,
) -> Result<Option<PathBuf>, Diagnostic> {
    let Ok(entries) = std::fs::read_dir(namespace) else { return Ok(None) };
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|category| {
            category.file_name().and_then(|n| n.to_str()).is_some_and(is_safe_segment)
        })
        .filter_map(|category| of_kinds(&category.join(name)))
        .collect();
    found.sort();
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(ambiguous(reference, found.iter().map(|path| path.display().to_string()))),
    }
}

/// The file of a definition, by its path without ending.
fn of_kinds(path: &Path) -> Option<PathBuf> {
    KINDS.iter().map(|kind| path.with_extension(kind)).find(|path| path.is_file())
}

fn find_built_in(
    segments: &[&str],
    reference: &str,
) -> Result<Option<(&'static str, &'static str)>, Diagnostic> {
    let path = segments.join("/");
    if let Some(found) = BUILT_IN.iter().find(|(known, _)| *known == path) {
        return Ok(Some(*found));
    }
    let plain = match segments {
        [AMPLIHACK, "core", name] | [AMPLIHACK, name] => {
            BUILT_IN.iter().find(|(known, _)| known == name)
        }
        _ => None,
    };
    if let Some(found) = plain {
        return Ok(Some(*found));
    }
    let [namespace, name] = segments else { return Ok(None) };
    let matching = |known: &str| match known.split('/').collect::<Vec<_>>()[..] {
        [first, _, last] => first == *namespace && last == *name,
        _ => false,
    };
    let found: Vec<_> = BUILT_IN.iter().filter(|(known, _)| matching(known)).collect();
    match found[..] {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(ambiguous(reference, found.iter().map(|(known, _)| known.replace('/', ":")))),
    }
}

fn ambiguous(reference: &str, found: impl Iterator<Item = String>) -> Diagnostic {
    let found: Vec<String> = found.collect();
    Diagnostic::error("ambiguous-agent", format!("`{reference}` could be {} agents", found.len()))
        .help(format!("write its category too; there are {}", found.join(", ")))
}

fn not_found(reference: &str, directories: &[SearchDir]) -> Diagnostic {
    let mut known: Vec<String> = builtin_agents().collect();
    for directory in directories {
        collect(&directory.path, "", 3, &mut known);
    }
    if PROGRAMS.contains(&reference) {
        let message = format!("there are no instructions for an agent `{reference}`");
        return Diagnostic::error(NOT_FOUND, message).help(
            "leave `agent` out, which names a file of instructions; the program that answers is \
             the setting `backend`",
        );
    }
    let near = suggestion(reference, &known);
    let near = near.map_or(String::new(), |n| format!("did you mean `{n}`? "));
    let searched: Vec<String> = directories.iter().map(|d| d.path.display().to_string()).collect();
    let searched = searched.iter().map(|p| format!("{p}, ")).collect::<String>();
    Diagnostic::error(NOT_FOUND, format!("there is no agent `{reference}`"))
        .help(format!("{near}looked in {searched}the built-in agents"))
}

/// The agent that was probably meant; one of the same namespace before all others.
fn suggestion<'a>(reference: &str, known: &'a [String]) -> Option<&'a str> {
    let namespace = |text: &str| text.split_once(':').map(|(first, _)| first.to_owned());
    let own = namespace(reference);
    let (near, far): (Vec<&str>, Vec<&str>) =
        known.iter().map(String::as_str).partition(|known| namespace(known) == own);
    [near, far].iter().find_map(|known| {
        nearest(reference, known.iter().copied()).or_else(|| same_name(reference, known))
    })
}

/// The name itself may be right, or nearly, and what comes before it wrong or missing.
fn same_name<'a>(reference: &str, known: &[&'a str]) -> Option<&'a str> {
    let last = |text: &'a str| text.rsplit(':').next().unwrap_or(text);
    let name = reference.rsplit(':').next().unwrap_or(reference);
    let same = known.iter().find(|known| last(known) == name);
    let same = same.or_else(|| {
        let near = nearest(name, known.iter().map(|known| last(known)))?;
        known.iter().find(|known| last(known) == near)
    });
    same.copied()
}

fn collect(directory: &Path, prefix: &str, depth: usize, known: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else { continue };
        if path.extension().is_some_and(|e| KINDS.iter().any(|kind| e == *kind)) {
            known.push(format!("{prefix}{stem}"));
        } else if depth > 1 && path.is_dir() {
            collect(&path, &format!("{prefix}{stem}:"), depth - 1, known);
        }
    }
}

/// The text after a front matter between two lines of `---`.
fn instructions(text: &str) -> &str {
    front_matter(text).map_or(text, |(_, rest)| rest).trim()
}

fn front_matter(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Whether a definition is rendered.
fn is_document(path: &Path, text: &str) -> bool {
    let matter = front_matter(text).map_or("", |(matter, _)| matter);
    let asks = |line: &str| {
        line.split_once(':').is_some_and(|(key, value)| key == "render" && value.trim() == "true")
    };
    path.extension().is_some_and(|ending| ending == "mld") || matter.lines().any(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_no_instruction() {
        assert_eq!(instructions("---\nname: x\n---\n\nBe brief.\n"), "Be brief.");
        assert_eq!(instructions("---\r\nname: x\r\n---\r\nBe brief."), "Be brief.");
        assert_eq!(instructions("Be brief.\n---\nAlways."), "Be brief.\n---\nAlways.");
        assert_eq!(instructions("---\nnever closed"), "---\nnever closed");
    }

    #[test]
    fn an_agent_of_the_same_namespace_is_suggested_first() {
        let known = ["reviewer", "amplihack:architect", "team:code:reviewer", "team:ops:deployer"];
        let known: Vec<String> = known.iter().map(|name| (*name).to_owned()).collect();
        for (written, meant) in [
            ("team:reviwer", Some("team:code:reviewer")),
            ("team:wrong:reviewer", Some("team:code:reviewer")),
            ("team:cod:reviewer", Some("team:code:reviewer")),
            ("reviwer", Some("reviewer")),
            ("other:reviewer", Some("reviewer")),
            ("deploier", Some("team:ops:deployer")),
            ("team:architect", Some("amplihack:architect")),
            ("team:nobody", None),
        ] {
            assert_eq!(suggestion(written, &known), meant, "{written}");
        }
    }

    #[test]
    fn every_built_in_agent_is_found_by_its_reference_and_in_the_category_core() {
        let plain = builtin_agents().filter(|name| !name.contains(':'));
        let core = plain.map(|name| format!("amplihack:core:{name}"));
        for reference in builtin_agents().chain(core) {
            let found = find_agent(&reference, &[], |p| p.display().to_string());
            assert!(found.is_ok_and(|f| f.agent.text.len() > 200), "{reference}");
        }
    }
}
