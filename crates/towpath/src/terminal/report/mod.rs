//! What a person sees of a run: while it goes, and how it ended.
//!
//! A reporter is fed the engine's events and nothing else; which one is chosen depends on whether
//! somebody watches a terminal. A step's own output is passed on as it is. Nothing here decides
//! anything about the run.

mod background_writer;
mod block;
mod board;
mod conversation;
mod ending;
mod event_lines;
pub mod events;
mod failure;
mod line;
mod line_break;
mod line_buffer;
mod live;
pub mod next_commands;
mod orchestration;
mod plain;
pub mod rate_limit;
mod shape;
mod sink;
mod step_lines;
#[cfg(test)]
pub mod testing;

pub use conversation::{ByHand, by_hand};
pub use ending::{counts, unused};
pub use failure::{find, has_output, logs};
pub use line::{fitted, relative};
#[cfg(test)]
pub use shape::RecipeShape;
pub use shape::{Shape, bare};

use crate::commands::run::Shared;
use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::audit::Audit;
use crate::session::signals;
use crate::terminal::format::{clean, now_ms};
use crate::terminal::out;
use events::{Events, Format};
use live::Live;
use orchestration::Orchestration;
use plain::Plain;
use sink::Standard;
use std::path::Path;
use step_lines::StepLines;
use towpath_engine::{Config, EngineError, Event, Prepared, Reporter, RunEnd, SessionTree};
use towpath_run::{FailureKind, RunOutcome};
use towpath_store::Store;

/// The heading in the help of flags for what is told of a run.
pub const OUTPUT: &str = "Output";

/// Events for other programs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EventFlags {
    /// Say every event in a line on stderr: as text, or as JSON.
    #[arg(long = "events", value_name = "FORMAT", value_enum, help_heading = OUTPUT)]
    pub format: Option<Format>,
    /// Append every event to this file, as a JSON line.
    #[arg(long = "events-file", value_name = "FILE", help_heading = OUTPUT)]
    pub file: Option<std::path::PathBuf>,
}

/// What a machine's step reported.
pub fn outcome(result: &towpath_run::StepResult) -> Option<String> {
    event_lines::report(result)
}

/// `the agent's session: ID` of a machine that was cut off, for whoever wants to look at the
/// conversation in the agent's own program.
pub fn session(end: &RunEnd) -> Option<String> {
    let ended = match &end.outcome {
        RunOutcome::Done => true,
        RunOutcome::Failed { failure, .. } => {
            matches!(failure.kind, FailureKind::Limit | FailureKind::Guardrail(_))
        }
        _ => false,
    };
    let session = end.session.as_ref().filter(|_| !ended)?;
    Some(format!("the agent's session: {}", clean(session)))
}

/// What is shown, and how.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// stderr is a terminal.
    pub terminal: bool,
    /// stdout leads to the same place as stderr.
    pub joined: bool,
    pub color: bool,
    pub quiet: bool,
    pub verbose: bool,
    /// stdout belongs to the JSON object alone.
    pub json: bool,
    pub voice: Voice,
}

/// Whose lines are said beside what the steps print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Voice {
    #[default]
    Own,
    /// Warnings only, and one line per start and end of a step where that is asked for.
    Stepwise { progress: bool },
    /// A machine's answers, and its state where asked for.
    Orchestration,
}

impl Look {
    pub fn new(env: &Environment, shared: &Shared) -> Look {
        Look {
            terminal: env.stderr_terminal,
            joined: sink::joined(),
            color: env.color,
            quiet: shared.quiet,
            verbose: shared.verbose,
            json: shared.json,
            voice: Voice::Own,
        }
    }

    /// Whether the block at the bottom of the screen is drawn.
    pub fn live(&self) -> bool {
        let lines = match self.voice {
            Voice::Own => false,
            Voice::Stepwise { progress } => progress,
            Voice::Orchestration => self.verbose,
        };
        self.terminal && !self.quiet && !lines
    }
}

/// A run that was driven to its end.
pub struct Driven {
    pub end: RunEnd,
    /// Why the file of events is not complete.
    pub unwritten: Option<String>,
}

/// Drives a run to its end while it is shown.
pub fn drive(
    prepared: Prepared,
    store: &mut Store,
    config: Config,
    tree: Option<SessionTree>,
    look: &Look,
    audit: Option<&mut Audit>,
    wanted: &EventFlags,
) -> Result<Driven, CommandError> {
    let mut audit = audit;
    if let Some(audit) = &mut audit {
        audit.begin(&prepared.run().program().root().name, prepared.id())?;
    }
    signals::block();
    let cancel = store.run_directory(prepared.id()).join("cancel");
    forget_request(&cancel)?;
    let shape = Shape::of(prepared.run().program());
    let name = prepared.run().program().root().name.clone();
    let events = Events::asked(wanted.format, wanted.file.as_ref())?;
    let events = events.map(|events| events.of(prepared.run(), shape.clone()));
    let mut reporter: Box<dyn Aside> = match look.voice {
        _ if look.live() => {
            let shape = shape.bounded(prepared.run().program());
            Box::new(Live::new(Standard::new(), *look, shape).resuming(prepared.run()))
        }
        Voice::Own => Box::new(Plain::new(Standard::new(), *look, shape)),
        Voice::Stepwise { progress } => {
            Box::new(StepLines::new(Standard::new(), *look, shape, progress))
        }
        Voice::Orchestration => Box::new(Orchestration::new(Standard::new(), *look, shape)),
    };
    let listen = |controller| signals::listen(controller, cancel);
    let mut watching = Watching { screen: reporter.as_mut(), audit, events };
    let end = prepared.drive(store, config, tree, listen, &mut watching);
    if let Err(EngineError::SessionLocked { session, .. }) = &end {
        watching.tell(|events| events.locked(&name, session));
    }
    let events = watching.events.take();
    // The terminal is given back before anything else is said.
    drop(reporter);
    Ok(Driven { end: end?, unwritten: events.and_then(Events::failure) })
}

impl EventFlags {
    /// Says before anything begins when the file for events cannot be written.
    pub fn check(&self) -> Result<(), CommandError> {
        Events::asked(self.format, self.file.as_ref()).map(drop)
    }
}

/// Tells whoever wants events that a run could not begin, since somebody else is in its session.
pub fn locked(wanted: &EventFlags, recipe: &str, error: &EngineError) -> Result<(), CommandError> {
    let EngineError::SessionLocked { session, .. } = error else { return Ok(()) };
    if let Some(mut events) = Events::asked(wanted.format, wanted.file.as_ref())? {
        events.locked(recipe, session);
        events.take_lines().iter().for_each(out::note);
    }
    Ok(())
}

/// Columns of the terminal on stderr.
pub fn columns() -> usize {
    sink::size().0
}

/// A reporter that also says lines of others, each as a whole line of its own and in its turn.
trait Aside: Reporter {
    fn aside(&mut self, line: &str);
}

/// All who watch one run. Only the screen can be too slow.
struct Watching<'a> {
    screen: &'a mut dyn Aside,
    audit: Option<&'a mut Audit>,
    events: Option<Events>,
}

impl Watching<'_> {
    fn tell(&mut self, tell: impl FnOnce(&mut Events)) {
        let Some(events) = &mut self.events else { return };
        tell(events);
        for line in events.take_lines() {
            self.screen.aside(&out::masked(&line));
        }
    }
}

impl Reporter for Watching<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(audit) = &mut self.audit {
            audit.event(event);
        }
        self.screen.event(event);
        self.tell(|events| events.event(event));
    }

    fn ready(&self) -> bool {
        self.screen.ready()
    }

    fn tick(&mut self) {
        self.screen.tick();
    }
}

/// A request to cancel that an earlier owner of the run got is not meant for this one.
pub fn forget_request(cancel: &Path) -> Result<(), CommandError> {
    match std::fs::remove_file(cancel) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CommandError::setup(format!("{}: {error}", cancel.display())))
        }
        _ => Ok(()),
    }
}

/// Parts of one sentence in lines of at most so many columns, broken between the parts.
pub fn in_lines(parts: Vec<String>, limit: Option<usize>) -> Vec<String> {
    let parts = parts.into_iter().map(line::Line::plain).collect();
    line::joined("", "  ", parts, limit).iter().map(|line| line.render(false)).collect()
}

/// The last lines: what happened, and what to do next. `directory` is the run's, `current` ours.
pub fn ending(look: &Look, end: &RunEnd, directory: &Path, current: &Path) {
    if look.quiet && end.outcome == RunOutcome::Done {
        return;
    }
    let width = look.terminal.then(|| sink::size().0);
    let talks = by_hand(&end.run.view(), directory, current);
    out::say(&ending::text(end, &talks, look.color, width, now_ms()));
}
