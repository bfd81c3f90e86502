//! Reads a text with placeholders: parses it, walks it, and keeps what is learnt about each.
//! Everything that can be decided without the values is decided here, once.

use crate::bash::{NotBash, Reason};
use crate::code_warnings;
use crate::declared_variables::DeclaredVariables;
use crate::mark::Region;
use crate::parsed_region::{self, ParseError, ParsedRegion};
use crate::placeholder_context::Walk;
use crate::placeholder_replacement::Form;
use crate::refusal_messages::{self, Refusal};
use crate::text_edits;
use crate::unfilled_script_types::{Piece, UnfilledScript, Variable};
use crate::{PlaceholderKind, ShellError, ShellWarning, filled_script};
use std::collections::HashMap;
use towpath_core::{Placeholder, VarPath};

pub struct ShellTextAnalysis<'a> {
    placeholders: &'a [Placeholder],
    pub prefix: String,
    /// Aliases may be on: something in the text may define one.
    pub aliases: bool,
    /// How often a variable with a value was referred to.
    pub references: usize,
    pub kinds: Vec<Option<PlaceholderKind>>,
    /// What travels, in the order of the variables' numbers.
    pub variables: Vec<Variable>,
    numbers: HashMap<&'a VarPath, usize>,
    pub warnings: Vec<ShellWarning>,
}

/// What is true at one point of the walk.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    pub declared: DeclaredVariables,
    /// Bash does not split what is expanded here.
    pub unsplit: bool,
    /// Function bodies around this point.
    pub functions: usize,
    /// Backticks around this point.
    pub depth: usize,
    /// Shells that get this text from another one.
    pub shells: usize,
    /// The shell that reads this text, if another one hands it over.
    pub shell: Option<&'static str>,
}

impl Scope {
    /// The shell may know no more than POSIX.
    pub fn posix(&self) -> bool {
        self.shell.is_some_and(|shell| !matches!(shell, "bash" | "rbash"))
    }
}

fn not_bash(region: &Region, error: &NotBash) -> ShellError {
    let unsure = error.reason == Reason::Unsure;
    ShellError {
        range: region.author(error.range.clone()),
        help: unsure.then(|| refusal_messages::SIMPLER.to_owned()),
        message: match unsure {
            true => error.to_string(),
            false => format!("this text cannot be read as bash: {error}"),
        },
    }
}

impl<'a> ShellTextAnalysis<'a> {
    pub fn new(text: &str, placeholders: &'a [Placeholder]) -> ShellTextAnalysis<'a> {
        let hidden = ["alias", "ALIAS", "eval", "source", ". "];
        ShellTextAnalysis {
            placeholders,
            prefix: filled_script::prefix_for(text),
            aliases: hidden.iter().any(|word| text.contains(word)),
            references: 0,
            kinds: vec![None; placeholders.len()],
            variables: Vec::new(),
            numbers: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    pub fn region(&mut self, region: &Region, mut scope: Scope) -> Result<Vec<Piece>, ShellError> {
        let parsed = parsed_region::parse(region).map_err(|error| match error {
            ParseError::Refused { placeholder, refusal } => self.error_at(placeholder, refusal),
            ParseError::NotBash(e) => not_bash(region, &e),
        })?;
        self.warn_unread(region, &parsed);
        scope.declared.add(&parsed.block);
        code_warnings::warn(&parsed.block, region, &scope.declared, &mut self.warnings);
        let first = region.marks.first().map_or(0, |m| m.placeholder);
        if scope.declared.arguments_are_evaluated() {
            return Err(self.error_at(first, &refusal_messages::EVALUATED_READ));
        }
        let mut walk = Walk {
            region: &parsed.region,
            written: region,
            scope,
            reader: self,
            edits: Vec::new(),
        };
        walk.block(&parsed.block)?;
        walk.comments(&parsed.comments)?;
        let edits = walk.edits;
        if let Some(mark) = region.marks.iter().find(|m| self.kinds[m.placeholder].is_none()) {
            return Err(self.error_at(mark.placeholder, &refusal_messages::UNSURE));
        }
        let overlap = || self.error_at(first, &refusal_messages::UNSURE);
        text_edits::apply(&region.text, edits).ok_or_else(overlap)
    }

    fn warn_unread(&mut self, region: &Region, parsed: &ParsedRegion) {
        self.warnings.extend(parsed.unread.iter().map(|e| ShellWarning {
            range: region.author(e.range.clone()),
            code: "bash-syntax",
            message: format!("this text may not be valid bash: {e}"),
            help: None,
            note: false,
        }));
    }

    /// What to write for a placeholder. `None` if it was met before.
    pub fn meet(&mut self, placeholder: usize, form: Form, in_function: bool) -> Option<Piece> {
        let kind = &mut self.kinds[placeholder];
        if kind.is_some() {
            return None;
        }
        *kind = Some(form.kind());
        Some(match form {
            Form::Integer(style) => Piece::Integer { placeholder, style },
            // Without its braces: bash looks for brace expansions before it knows of comments.
            Form::Comment => Piece::Text(self.placeholders[placeholder].path.to_string()),
            _ => {
                let number = self.variable(placeholder);
                let variable = format!("{}{number}", self.prefix);
                self.references += 1;
                Piece::Text(form.reference(&variable, in_function)?)
            }
        })
    }

    fn variable(&mut self, placeholder: usize) -> usize {
        let path = &self.placeholders[placeholder].path;
        *self.numbers.entry(path).or_insert_with(|| {
            self.variables.push(Variable::Value(path.clone()));
            self.variables.len() - 1
        })
    }

    /// Reads a text for another shell. Gives the reference to the variable with it.
    pub fn nested(
        &mut self,
        region: &Region,
        scope: Scope,
        in_function: bool,
    ) -> Result<Option<String>, ShellError> {
        let prefix = std::mem::replace(&mut self.prefix, filled_script::prefix_for(&region.text));
        let variables = std::mem::take(&mut self.variables);
        let numbers = std::mem::take(&mut self.numbers);
        let pieces = self.region(region, scope)?;
        let variables = std::mem::replace(&mut self.variables, variables);
        self.variables.push(Variable::Code(UnfilledScript { pieces, variables }));
        self.prefix = prefix;
        self.numbers = numbers;
        self.references += 1;
        let variable = format!("{}{}", self.prefix, self.variables.len() - 1);
        Ok(Form::Word.reference(&variable, in_function))
    }

    pub fn error_at(&self, placeholder: usize, refusal: &Refusal) -> ShellError {
        let range = self.placeholders.get(placeholder).map_or(0..0, |p| p.range.clone());
        let name = self.placeholders.get(placeholder).map_or("v", |p| p.path.as_str());
        ShellError {
            range,
            message: refusal.message.to_owned(),
            help: Some(refusal.help.replace("{{v}}", &format!("{{{{{name}}}}}"))),
        }
    }
}
