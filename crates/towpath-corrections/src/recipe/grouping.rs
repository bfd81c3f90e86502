//! How a recipe is written in the position of one command: as it is, in `{ …; }` or in `( … )`.

use towpath_shell::bash::tree::{Command, CompoundKind, Statement, Target};
use towpath_shell::bash::{Nesting, Script, SimpleCommand};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    None,
    Braces,
    Subshell,
}

impl Group {
    /// What its commands are part of, beside what the replaced command was part of.
    pub fn label(self) -> Option<String> {
        match self {
            Group::None => None,
            Group::Braces => Some(format!("{:?}", Nesting::Group)),
            Group::Subshell => Some(format!("{:?}", Nesting::Subshell)),
        }
    }
}

/// Commands that change the shell they run in.
pub(crate) const CHANGES_SHELL: &[&str] = &[
    "exit", "return", "exec", "cd", "set", "trap", "export", "unset", "umask", "pushd", "popd",
    "shopt",
];

/// What a recipe is, as far as it decides how it is written.
pub(crate) struct Shape<'a> {
    recipe: &'a Script,
}

impl<'a> Shape<'a> {
    pub fn new(recipe: &'a Script) -> Shape<'a> {
        Shape { recipe }
    }

    /// The only statement, if there is no other one and nothing is joined to it.
    fn only(&self) -> Option<&Statement> {
        let [statement] = self.recipe.body().statements.as_slice() else { return None };
        (!statement.negated && !statement.background).then_some(statement)
    }

    /// A command that may be written wherever another one is.
    fn is_one_command(&self) -> bool {
        let Some(statement) = self.only() else { return false };
        let comments = !self.recipe.body().comments.is_empty() || !statement.comments.is_empty();
        let documents =
            |s: &Statement| s.redirects.iter().any(|r| matches!(r.target, Target::HereDoc(_)));
        let one = match &statement.command {
            Command::Chain { .. } | Command::Function { .. } => false,
            Command::Compound(c) => !matches!(c.kind, CompoundKind::Time | CompoundKind::Coprocess),
            _ => true,
        };
        one && !comments && !documents(statement)
    }

    /// One command of nothing but words.
    pub fn is_words(&self) -> bool {
        let simple = self.only().map(|s| (&s.command, s.redirects.is_empty()));
        self.is_one_command()
            && matches!(simple, Some((Command::Simple(s), true)) if s.assignments.is_empty() && !s.words.is_empty())
    }

    /// One command with words, maybe with assignments and redirections.
    pub fn is_simple(&self) -> bool {
        self.is_one_command()
            && self
                .only()
                .is_some_and(|s| matches!(&s.command, Command::Simple(c) if !c.words.is_empty()))
    }

    fn has_redirects(&self) -> bool {
        self.only().is_none_or(|statement| !statement.redirects.is_empty())
    }

    /// Text behind it on the same line would be part of a comment or of a here-document, or follow
    /// an `&`.
    fn ends_open(&self) -> bool {
        let text = self.recipe.text();
        let body = self.recipe.body();
        let comment = body.comments.iter().chain(body.statements.iter().flat_map(|s| &s.comments));
        let in_comment = comment.into_iter().any(|c| c.end == text.len());
        let after_document =
            documents_end(self.recipe).is_some_and(|end| !text[end..].contains('\n'));
        in_comment || after_document || body.statements.last().is_some_and(|s| s.background)
    }

    /// The first command that changes the shell around the recipe.
    pub fn changes_shell(&self) -> Option<&str> {
        let own_shell = |n: &Nesting| {
            matches!(
                n,
                Nesting::Pipeline
                    | Nesting::Background
                    | Nesting::Coprocess
                    | Nesting::Subshell
                    | Nesting::Function
                    | Nesting::Substitution { .. }
                    | Nesting::ShellCode { .. }
            )
        };
        let mut top = self.recipe.commands().iter().filter(|c| !c.nesting.iter().any(own_shell));
        top.find_map(|c| c.name().filter(|name| CHANGES_SHELL.contains(name)))
    }
}

/// Behind the last line of the last here-document.
fn documents_end(recipe: &Script) -> Option<usize> {
    let text = recipe.text();
    let documents = recipe.commands().iter().flat_map(|c| &c.redirects);
    let ends = documents.filter_map(|r| match &r.target {
        Target::HereDoc(doc) => {
            let body = doc.body.end;
            Some(body + text[body..].find('\n').unwrap_or(text.len() - body))
        }
        _ => None,
    });
    ends.max()
}

/// How the recipe is written where `command` is in `line`. `None` if there is no way.
pub(crate) fn choose(line: &Script, command: &SimpleCommand, shape: &Shape) -> Option<Group> {
    let text = line.text();
    let larger = !text[..command.range.start].trim().is_empty()
        || !text[command.range.end..].trim().is_empty();
    let wrapped = matches!(command.nesting.last(), Some(Nesting::Wrapper(_)))
        || may_be_timed_by_program(&command.nesting);
    let group = if larger && shape.changes_shell().is_some() {
        Group::Subshell
    } else if is_as_written(text, command, shape) {
        Group::None
    } else {
        Group::Braces
    };
    // A program can start words only, and only a simple command takes assignments.
    let fits = match (wrapped, command.assignments.is_empty()) {
        (true, _) => group == Group::None && shape.is_words(),
        (false, false) => group == Group::None && shape.is_simple(),
        (false, true) => true,
    };
    fits.then_some(group)
}

/// Whether `time` in front of the command may be the program and not bash's reserved word, which it is
/// only at the start of a pipeline. At the start of a substitution bash does not see it either.
fn may_be_timed_by_program(nesting: &[Nesting]) -> bool {
    let of_pipeline = |n: &Nesting| {
        matches!(
            n,
            Nesting::Timed
                | Nesting::Pipeline
                | Nesting::Negated
                | Nesting::AndOr { .. }
                | Nesting::Background
        )
    };
    let outer = nesting.iter().rposition(|n| !of_pipeline(n));
    let (around, pipeline) = nesting.split_at(outer.map_or(0, |at| at + 1));
    let Some(timed) = pipeline.iter().rposition(|n| *n == Nesting::Timed) else { return false };
    let in_substitution = matches!(around.last(), Some(Nesting::Substitution { .. }));
    in_substitution || pipeline[..timed].contains(&Nesting::Pipeline)
}

fn is_as_written(text: &str, command: &SimpleCommand, shape: &Shape) -> bool {
    let own = command.redirects.is_empty();
    if shape.is_one_command() && (own || !shape.has_redirects()) {
        return true;
    }
    let rest = text[command.range.end..].trim_start_matches([' ', '\t']);
    let line_ends = rest.is_empty() || rest.starts_with('\n');
    let alone = command.is_alone() && own && command.assignments.is_empty();
    alone && (!shape.ends_open() || line_ends)
}

/// The recipe, grouped.
pub(crate) fn written(recipe: &str, shape: &Shape, group: Group) -> String {
    let background = shape.recipe.body().statements.last().is_some_and(|s| s.background);
    let end = match group {
        Group::None => return recipe.to_owned(),
        _ if background && !shape.recipe.text().ends_with('\n') => " ",
        _ if shape.ends_open() => "\n",
        Group::Subshell => " ",
        Group::Braces => "; ",
    };
    let (open, close) = if group == Group::Braces { ("{ ", "}") } else { ("( ", ")") };
    format!("{open}{recipe}{end}{close}")
}
