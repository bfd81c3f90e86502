//! The command that a directive runs, and what became of it.

use super::{Evaluation, Next, Pending, Target};
use crate::definition_scope::{Computed, DefinedCommand};
use crate::directive::Invocation;
use crate::document_command::{Command, CommandEnd, Printed};
use crate::interpolated::{Interpolated, Piece};
use crate::location::Location;
use crate::problem_codes::{EXECUTION_FAILED, SHELL_VARIABLE};
use crate::resolve_command::{ResolvedCommand, Values};
use crate::shell_variables;
use towpath_core::{Diagnostic, Severity};

impl Evaluation {
    pub(super) fn run(
        &mut self,
        invocation: &Invocation,
        target: Target,
        location: Location,
    ) -> Option<Next> {
        match self.command(invocation, &location) {
            Ok(Some(command)) if !self.foresees && command.filled.is_none() => {
                let message = "a value that the command needs is missing: what gives it has failed";
                self.command_failed(&target, &location, message, &Printed::default());
                None
            }
            Ok(Some(command)) => {
                let node = self.frames[0].next - 1;
                self.commands.push((node, command.clone()));
                self.pending = Some(Pending::new(target, location));
                Some(Next::Run(Box::new(command)))
            }
            Ok(None) => {
                self.deliver(&target, &location, Computed::Unknown);
                None
            }
            Err(problem) => {
                self.problem(*problem);
                self.deliver(&target, &location, Computed::Unknown);
                None
            }
        }
    }

    pub(super) fn command(
        &mut self,
        invocation: &Invocation,
        location: &Location,
    ) -> Result<Option<Command>, Box<Diagnostic>> {
        let frame = self.frames.last().expect("a frame is open");
        let (scope, limits) = (&frame.scope, &self.limits);
        let values = Values { scope, location: location.clone(), limits };
        let Some(resolved) = values.resolve(invocation)? else { return Ok(None) };
        let (filled, shown) = values.fill(&resolved)?;
        let number = self.number_of(location);
        let called = resolved.called.as_ref();
        let parameters = resolved.called_with.shown();
        if self.foresees {
            let problems = self.shell_variables(&values, &resolved, invocation);
            for problem in problems {
                self.problem(problem);
            }
            self.leave_names(invocation, &resolved.shell.text);
        }
        Ok(Some(Command {
            file: location.source.name.clone(),
            line: location.line,
            number,
            name: called.map(|definition| definition.name.clone()),
            definition: called.map(|definition| {
                let span = definition.source.first_line(definition.body.span());
                definition.source.text.get(span.range()).unwrap_or_default().to_owned()
            }),
            parameters,
            shown,
            filled,
        }))
    }

    /// Where a command or an argument has `$name`, and the document a variable of that name.
    fn shell_variables(
        &self,
        values: &Values<'_>,
        resolved: &ResolvedCommand,
        invocation: &Invocation,
    ) -> Vec<Diagnostic> {
        let own = resolved.locals.iter().flat_map(|locals| locals.parameters.iter().flatten());
        let own: Vec<&String> = own.collect();
        let is_meant =
            |name: &str| values.scope.is_variable(name) || own.iter().any(|n| *n == name);
        let read = shell_variables::read_and_not_set(resolved.shell.text.text());
        let read = read.into_iter().filter(|(name, _)| !self.inputs.exported.contains(*name));
        let read = read.map(|(name, range)| {
            let span = resolved.shell.locate(range);
            let message = format!("`${name}` is a variable of the shell here, which nothing sets");
            (name, values.problem(SHELL_VARIABLE, message, span, resolved.within.as_ref()))
        });
        let arguments = match invocation {
            Invocation::Call(call) | Invocation::CallOrShell(call, _) => &call.arguments[..],
            Invocation::Shell(_) => &[],
        };
        let given = arguments.iter().filter_map(|argument| match argument.pieces.first() {
            Some(Piece::Text(text)) if text.starts_with('$') => {
                let name = shell_variables::name_at(text, 1);
                let message = format!("`${name}` is an argument as it is written");
                Some((name, values.problem(SHELL_VARIABLE, message, argument.span, None)))
            }
            _ => None,
        });
        let found = read.chain(given).filter(|(name, _)| is_meant(name));
        let warned = found.map(|(name, problem)| Diagnostic {
            severity: Severity::Warning,
            ..problem.help(format!("the document's variable is {{{{{name}}}}}"))
        });
        warned.collect()
    }

    /// The number of the line of a directive, in the file that is being evaluated.
    pub(super) fn number_of(&self, location: &Location) -> u32 {
        let file = self.frames.last().map_or(0, |frame| frame.file);
        self.set.line_number(file, location.line)
    }

    /// Notes every name that a command reads which stays as it is written.
    pub(super) fn leave_names(&mut self, invocation: &Invocation, text: &towpath_shell::ShellText) {
        let mut names: Vec<String> =
            text.placeholders().iter().map(|p| p.path.root().to_owned()).collect();
        let mut invocation = Some(invocation.clone());
        while let Some(Invocation::Call(call) | Invocation::CallOrShell(call, _)) = invocation {
            names.push(call.name.clone());
            let references = call.arguments.iter().flat_map(Interpolated::references);
            names.extend(references.map(|path| path.root().to_owned()));
            invocation = match self.frame().scope.command(&call.name) {
                Some(DefinedCommand::Known(definition)) => Some(definition.body.clone()),
                _ => None,
            };
        }
        self.left.extend(names);
    }

    /// What became of the command that was asked for.
    pub fn command_ended(&mut self, end: CommandEnd) {
        let Some(pending) = self.pending.take() else { return };
        match end {
            CommandEnd::Succeeded(output) => {
                self.deliver(&pending.target, &pending.location, Computed::Known(output));
            }
            CommandEnd::NotRun => {
                self.deliver(&pending.target, &pending.location, Computed::Unknown);
            }
            end => {
                let (message, printed) = end.failure();
                self.command_failed(&pending.target, &pending.location, &message, &printed);
            }
        }
    }

    /// Notes the failure, and leaves it in the document where that is evaluated to its end.
    fn command_failed(
        &mut self,
        target: &Target,
        location: &Location,
        message: &str,
        printed: &Printed,
    ) {
        let shown =
            [("stderr", &printed.stderr), ("stdout", &printed.stdout)].map(|(name, text)| {
                let text = text.trim_end();
                if text.is_empty() {
                    String::new()
                } else {
                    format!("it printed on {name}:\n{text}\n")
                }
            });
        let mut problem = location.error(EXECUTION_FAILED, message);
        problem.help = Some(shown.concat().trim_end().to_owned()).filter(|help| !help.is_empty());
        self.problem(problem);
        match target {
            _ if !self.keeps_going => return,
            Target::Region => return self.write_region(None, location),
            Target::Text(name) => self.set_text(name, Computed::Unknown),
            Target::Data(name) => self.set_variable(name, Computed::Unknown),
            Target::Document | Target::Scope => {}
        }
        if self.in_entry() {
            let text = format!("{}error: {message}", printed.stdout);
            self.write_with_ending(text.as_bytes());
        }
    }
}
