//! Reads a text with places: parses it, walks it, and keeps what is learnt about each place.
//! Everything that can be decided without the values is decided here, once.

use crate::bash::Reason;
use crate::context::{self, Walk};
use crate::form::{self, Form, Refusal};
use crate::inner_code;
use crate::names::Names;
use crate::reading::{self, Reading};
use crate::region::Region;
use crate::rewrite::{self, Piece, Script, Variable};
use crate::{PlaceKind, ShellError, ShellWarning, filled};
use std::collections::HashMap;
use towpath_core::{Place, VarPath};

pub struct Reader<'a> {
    places: &'a [Place],
    prefix: String,
    pub kinds: Vec<Option<PlaceKind>>,
    /// What travels, in the order of the variables' numbers.
    pub variables: Vec<Variable>,
    numbers: HashMap<&'a VarPath, usize>,
    pub warnings: Vec<ShellWarning>,
}

/// What holds at one point of the walk.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Arrays that are certainly associative here.
    pub associative: Vec<String>,
    /// Bash does not split what is expanded here.
    pub unsplit: bool,
    /// Function bodies around this point.
    pub functions: usize,
    /// Backticks around this point.
    pub depth: usize,
    /// Shells that get this text from another one.
    pub shells: usize,
    /// The shell may know no more than POSIX.
    pub posix: bool,
}

impl<'a> Reader<'a> {
    pub fn new(places: &'a [Place], prefix: String) -> Reader<'a> {
        let kinds = vec![None; places.len()];
        Reader {
            places,
            prefix,
            kinds,
            variables: Vec::new(),
            numbers: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    pub fn region(
        &mut self,
        region: &Region,
        outer: &Names,
        scope: Scope,
    ) -> Result<Vec<Piece>, ShellError> {
        let reading = reading::read(region, outer).map_err(|e| ShellError {
            range: region.author(e.range.clone()),
            help: (e.reason == Reason::Unsure).then(|| form::SIMPLER.to_owned()),
            message: match e.reason {
                Reason::Unsure => e.to_string(),
                _ => format!("this text cannot be read as bash: {e}"),
            },
        })?;
        self.warn_unread(region, &reading);
        let names = Names::of(&reading.block, &region.text, &reading.names);
        inner_code::warn(&reading.block, region, &names, &mut self.warnings);
        // A substitution's output is read by the text around it.
        let scope_is_whole = scope.depth == 0;
        let mut walk = Walk {
            region: &reading.region,
            written: region,
            names: &names,
            scope,
            reader: self,
            edits: Vec::new(),
            unread: if scope_is_whole {
                context::unread(&reading.block, &region.text)
            } else {
                Vec::new()
            },
        };
        walk.block(&reading.block)?;
        walk.comments(&reading.comments)?;
        let edits = walk.edits;
        if let Some(mark) = region.marks.iter().find(|m| self.kinds[m.place].is_none()) {
            return Err(self.error_at(mark.place, &form::UNSURE));
        }
        let overlap = || self.error_at(region.marks.first().map_or(0, |m| m.place), &form::UNSURE);
        rewrite::apply(&region.text, edits).ok_or_else(overlap)
    }

    fn warn_unread(&mut self, region: &Region, reading: &Reading) {
        self.warnings.extend(reading.unread.iter().map(|e| ShellWarning {
            range: region.author(e.range.clone()),
            code: "bash-syntax",
            message: format!("this text may not be valid bash: {e}"),
            help: None,
            note: false,
        }));
    }

    /// What to write for a place. `None` if it was met before.
    pub fn meet(&mut self, place: usize, form: Form) -> Option<Piece> {
        let kind = &mut self.kinds[place];
        if kind.is_some() {
            return None;
        }
        *kind = Some(form.kind());
        Some(match form {
            Form::Integer(style) => Piece::Integer { place, style },
            // Without its braces: bash looks for brace expansions before it knows of comments.
            Form::Comment => Piece::Text(self.places[place].path.to_string()),
            _ => {
                let number = self.variable(place);
                Piece::Text(form.reference(&format!("{}{number}", self.prefix))?)
            }
        })
    }

    fn variable(&mut self, place: usize) -> usize {
        let path = &self.places[place].path;
        *self.numbers.entry(path).or_insert_with(|| {
            self.variables.push(Variable::Value(path.clone()));
            self.variables.len() - 1
        })
    }

    /// Reads a text for another shell. Gives the reference to the variable that holds it.
    pub fn nested(&mut self, region: &Region, scope: Scope) -> Result<String, ShellError> {
        let prefix = std::mem::replace(&mut self.prefix, filled::prefix_for(&region.text));
        let variables = std::mem::take(&mut self.variables);
        let numbers = std::mem::take(&mut self.numbers);
        let pieces = self.region(region, &Names::default(), scope)?;
        let variables = std::mem::replace(&mut self.variables, variables);
        self.variables.push(Variable::Code(Script { pieces, variables }));
        self.prefix = prefix;
        self.numbers = numbers;
        Ok(format!("\"${}{}\"", self.prefix, self.variables.len() - 1))
    }

    pub fn error_at(&self, place: usize, refusal: &Refusal) -> ShellError {
        let range = self.places.get(place).map_or(0..0, |p| p.range.clone());
        let name = self.places.get(place).map_or("v", |p| p.path.as_str());
        ShellError {
            range,
            message: refusal.message.to_owned(),
            help: Some(refusal.help.replace("{{v}}", &format!("{{{{{name}}}}}"))),
        }
    }
}
