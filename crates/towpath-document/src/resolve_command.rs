//! From what a directive runs to one command with its values: calls are followed to the command that
//! they mean, and values are put in as their position in the shell text needs it.

use crate::definition_scope::{Computed, DefinedCommand, Locals, Missing, Scope, written};
use crate::directive::{Call, DataTemplate, Definition, Invocation, ShellCommand};
use crate::evaluation_limits::EvaluationLimits;
use crate::interpolated::{Interpolated, Piece};
use crate::location::Location;
use crate::problem_codes::{
    CIRCULAR_REFERENCE, EXECUTION_FAILED, RESOLUTION_FAILED, VALIDATION_FAILED, VARIABLE_NOT_FOUND,
};
use std::collections::HashMap;
use std::sync::Arc;
use towpath_core::{Diagnostic, Span, Value, VarPath, text_of};
use towpath_shell::bash::quote;
use towpath_shell::{Filled, PlaceholderKind};

/// How many calls may be inside of each other.
const DEEPEST: usize = 64;

/// Where values come from, for one directive.
pub(crate) struct Values<'a> {
    pub scope: &'a Scope,
    pub location: Location,
    pub limits: &'a EvaluationLimits,
}

/// The command that an invocation means in the end.
pub(crate) struct ResolvedCommand {
    pub shell: ShellCommand,
    /// The command that the directive itself calls.
    pub called: Option<Arc<Definition>>,
    pub called_with: Locals,
    /// What the shell text's own references see.
    pub locals: Option<Locals>,
    /// The definition that has the shell text.
    pub within: Option<Arc<Definition>>,
}

type Problem = Box<Diagnostic>;

impl Values<'_> {
    /// Follows calls to a command; `None` if one of them leads to a definition that cannot be read.
    pub fn resolve(&self, invocation: &Invocation) -> Result<Option<ResolvedCommand>, Problem> {
        let mut invocation = invocation.clone();
        let mut chain: Vec<Arc<Definition>> = Vec::new();
        let mut locals: Option<Locals> = None;
        let mut called_with = Locals::default();
        loop {
            let call = match invocation {
                Invocation::CallOrShell(call, shell)
                    if self.scope.command(&call.name).is_none() =>
                {
                    invocation = Invocation::Shell(shell);
                    continue;
                }
                Invocation::Shell(shell) => {
                    let (called, within) = (chain.first().cloned(), chain.last().cloned());
                    return Ok(Some(ResolvedCommand {
                        shell,
                        called,
                        called_with,
                        locals,
                        within,
                    }));
                }
                Invocation::Call(call) | Invocation::CallOrShell(call, _) => call,
            };
            let definition = match self.scope.command(&call.name) {
                Some(DefinedCommand::Known(definition)) => Arc::clone(definition),
                Some(DefinedCommand::Broken) => return Ok(None),
                None => return Err(self.not_found(&call, chain.last())),
            };
            self.refuse_cycle(&chain, &definition)?;
            let given = self.locals(&call, &definition, locals.as_ref(), chain.last())?;
            if chain.is_empty() {
                called_with = given.clone();
            }
            locals = Some(given);
            invocation = definition.body.clone();
            chain.push(definition);
        }
    }

    /// The location of a problem: the directive, and the definition where it lies.
    pub fn problem(
        &self,
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        within: Option<&Arc<Definition>>,
    ) -> Diagnostic {
        match within {
            None => Location { span, ..self.location.clone() }.error(code, message),
            Some(definition) => {
                let there = definition.source.first_line(span);
                self.location.error(code, message).at(
                    &definition.source,
                    there,
                    "in this definition",
                )
            }
        }
    }

    fn not_found(&self, call: &Call, within: Option<&Arc<Definition>>) -> Problem {
        let message = format!("Command '{}' not found", call.name);
        let problem = self.problem(EXECUTION_FAILED, message, call.span, within);
        let near = || self.scope.nearest_command(&call.name);
        Box::new(match self.limits.suggestion(near) {
            Some(near) => problem.help(format!("did you mean ${near}?")),
            None => problem.help("define it above this line: @define name = @run [command]"),
        })
    }

    fn refuse_cycle(
        &self,
        chain: &[Arc<Definition>],
        next: &Arc<Definition>,
    ) -> Result<(), Problem> {
        let names = || chain.iter().chain([next]).map(|d| d.name.as_str()).collect::<Vec<_>>();
        if chain.iter().any(|definition| definition.name == next.name) {
            let message = format!("`{}` calls itself ({})", next.name, names().join(" -> "));
            return Err(Box::new(self.location.error(CIRCULAR_REFERENCE, message)));
        }
        if chain.len() >= DEEPEST {
            let message = format!("more than {DEEPEST} commands call each other");
            return Err(Box::new(self.location.error(CIRCULAR_REFERENCE, message)));
        }
        Ok(())
    }

    fn locals(
        &self,
        call: &Call,
        definition: &Arc<Definition>,
        locals: Option<&Locals>,
        within: Option<&Arc<Definition>>,
    ) -> Result<Locals, Problem> {
        if let Some(names) = &definition.parameters
            && names.len() != call.arguments.len()
        {
            let signature = format!("{}({})", definition.name, names.join(", "));
            let (takes, given) = (counted(names.len()), call.arguments.len());
            let message = format!("{signature} takes {takes}, and {given} were given");
            let problem = self.problem(VALIDATION_FAILED, message, call.span, within);
            return Err(Box::new(problem));
        }
        let arguments = call.arguments.iter().map(|argument| self.text(argument, locals, within));
        let arguments = arguments.collect::<Result<_, _>>()?;
        Ok(Locals { parameters: definition.parameters.clone(), arguments })
    }

    /// A text with its values.
    pub fn text(
        &self,
        text: &Interpolated,
        locals: Option<&Locals>,
        within: Option<&Arc<Definition>>,
    ) -> Result<Computed<String>, Problem> {
        let mut out = String::new();
        let mut known = true;
        for piece in &text.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Reference { path, span } => match self.value(path, locals, *span, within)? {
                    Computed::Known(value) => {
                        self.take_text(&value, *span, within)?;
                        out.push_str(&value);
                    }
                    Computed::Unknown => known = false,
                },
            }
        }
        Ok(if known { Computed::Known(out) } else { Computed::Unknown })
    }

    /// JSON with its values.
    pub fn data(&self, template: &DataTemplate) -> Result<Computed<Value>, Problem> {
        Ok(match template {
            DataTemplate::Value(value) => Computed::Known(value.clone()),
            DataTemplate::Text(text) => self.text(text, None, None)?.map(Value::String),
            DataTemplate::Reference { path, span } => {
                let value = self.found(path, None, *span, None)?;
                if let Computed::Known(value) = &value {
                    self.take_text(&text_of(value), *span, None)?;
                }
                value
            }
            DataTemplate::List(items) => {
                let items = items.iter().map(|item| self.data(item));
                let items: Vec<Computed<Value>> = items.collect::<Result<_, _>>()?;
                Computed::all(items).map(Value::Array)
            }
            DataTemplate::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = self.text(key, None, None)?;
                    Ok(Computed::both(key, self.data(value)?))
                });
                let entries: Vec<Computed<(String, Value)>> =
                    entries.collect::<Result<_, Problem>>()?;
                Computed::all(entries).map(|entries| Value::Object(entries.into_iter().collect()))
            }
        })
    }

    fn value(
        &self,
        path: &VarPath,
        locals: Option<&Locals>,
        span: Span,
        within: Option<&Arc<Definition>>,
    ) -> Result<Computed<String>, Problem> {
        Ok(self.found(path, locals, span, within)?.map(|value| text_of(&value)))
    }

    fn found(
        &self,
        path: &VarPath,
        locals: Option<&Locals>,
        span: Span,
        within: Option<&Arc<Definition>>,
    ) -> Result<Computed<Value>, Problem> {
        self.scope.find(path, locals).map_err(|missing| {
            let near = || self.scope.nearest_variable(path.root());
            let near = || self.limits.suggestion(near);
            let (message, help) = missing_message(path, &missing, near);
            let mut problem = self.problem(VARIABLE_NOT_FOUND, message, span, within);
            problem.help = help;
            Box::new(problem)
        })
    }

    /// Counts the text of a value.
    fn take_text(
        &self,
        text: &str,
        span: Span,
        within: Option<&Arc<Definition>>,
    ) -> Result<(), Problem> {
        let taken = self.limits.take_text(text);
        taken.map_err(|message| Box::new(self.problem(RESOLUTION_FAILED, message, span, within)))
    }

    /// The shell text with its values, and as a user reads it.
    pub fn fill(&self, command: &ResolvedCommand) -> Result<(Option<Filled>, String), Problem> {
        let (text, locals) = (&command.shell.text, command.locals.as_ref());
        let within = command.within.as_ref();
        let mut values = HashMap::new();
        for placeholder in text.placeholders() {
            let span = command.shell.locate(placeholder.range.clone());
            let value = self.value(&placeholder.path, locals, span, within)?;
            values.insert(&placeholder.path, value);
        }
        let known = |path: &VarPath| {
            values.get(path).and_then(|value| match value {
                Computed::Known(value) => Some(value.clone()),
                Computed::Unknown => None,
            })
        };
        let shown = shown(command, &known);
        let arguments = command.locals.iter().flat_map(|locals| &locals.arguments);
        let arguments = arguments.map(|argument| match argument {
            Computed::Known(text) => Some(text.clone()),
            Computed::Unknown => None,
        });
        let Some(arguments) = arguments.collect::<Option<Vec<String>>>() else {
            return Ok((None, shown));
        };
        if values.values().any(|value| *value == Computed::Unknown) {
            return Ok((None, shown));
        }
        let refused = |message: String, span| {
            Box::new(self.problem(RESOLUTION_FAILED, message, span, within))
        };
        if arguments.iter().any(|argument| argument.contains('\0')) {
            let message = "an argument contains a NUL byte: no command can take it".to_owned();
            return Err(refused(message, command.shell.span));
        }
        let filled = text.fill(&mut |path| known(path)).map_err(|error| {
            let message = format!("{{{{{}}}}}: {}", written(&error.path), error.message);
            refused(message, command.shell.locate(error.range))
        })?;
        Ok((Some(Filled { arguments, ..filled }), shown))
    }
}

fn counted(number: usize) -> String {
    match number {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        number => format!("{number} arguments"),
    }
}

/// The command with the values that are known, for reading only.
fn shown(command: &ResolvedCommand, known: &dyn Fn(&VarPath) -> Option<String>) -> String {
    let text = command.shell.text.text();
    let mut out = String::new();
    let mut at = 0;
    for placeholder in command.shell.text.placeholders() {
        out.push_str(&text[at..placeholder.range.start]);
        let written = || text[placeholder.range.clone()].to_owned();
        let value = known(&placeholder.path).map(|value| quoted(placeholder.kind, &value));
        out.push_str(&value.unwrap_or_else(written));
        at = placeholder.range.end;
    }
    out + &text[at..]
}

/// A value as its author would write it at that position.
fn quoted(kind: PlaceholderKind, value: &str) -> String {
    match kind {
        PlaceholderKind::DoubleQuoted => {
            let escape = |c| if "\\\"$`".contains(c) { vec!['\\', c] } else { vec![c] };
            value.chars().flat_map(escape).collect()
        }
        PlaceholderKind::SingleQuoted => value.replace('\'', r"'\''"),
        PlaceholderKind::HereDoc | PlaceholderKind::Comment => value.to_owned(),
        _ => quote(value),
    }
}

/// What is wrong with a reference, and what may help. `near`: the variable that is most like it.
pub(crate) fn missing_message<'a>(
    path: &VarPath,
    missing: &Missing,
    near: impl FnOnce() -> Option<&'a str>,
) -> (String, Option<String>) {
    let name = written(path);
    match missing {
        Missing::Variable => {
            let help = near().map(|near| format!("did you mean {{{{{near}}}}}?"));
            (format!("`{name}` is not defined"), help)
        }
        Missing::Field => {
            let field = name.split_once('.').map_or("", |(_, field)| field);
            (format!("`{}` has no field `{field}`", path.root()), None)
        }
        Missing::NoArguments => {
            let help = "{{$1}} is for a definition without a list of parameters: use the names";
            (format!("`{name}` has no value here"), Some(help.to_owned()))
        }
        Missing::Argument(given) => {
            let message = format!("`{name}` has no value: {} given", counted(*given));
            (message, None)
        }
    }
}
