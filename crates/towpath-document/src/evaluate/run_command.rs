//! The command that a directive runs, and what became of it.

use super::{Evaluation, Next, Pending, Target};
use crate::definition_scope::{Computed, DefinedCommand};
use crate::directive::Invocation;
use crate::directive_location::Location;
use crate::document_command::{Command, CommandEnd};
use crate::interpolated::Interpolated;
use crate::problem_codes::EXECUTION_FAILED;
use crate::resolve_command::Values;
use towpath_core::Diagnostic;

impl Evaluation {
    pub(super) fn run(
        &mut self,
        invocation: &Invocation,
        target: Target,
        location: Location,
    ) -> Option<Next> {
        match self.command(invocation, &location) {
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
                let (message, stderr) = end.failure().unwrap_or_default();
                let problem = pending.location.error(EXECUTION_FAILED, message);
                self.problem(match stderr {
                    Some(stderr) => problem.help(format!("it printed:\n{stderr}")),
                    None => problem,
                });
            }
        }
    }
}
