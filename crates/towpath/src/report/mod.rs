//! What a person sees of a run: while it goes, and how it ended.
//!
//! A reporter is fed the engine's events and nothing else; which one is chosen depends on whether
//! somebody watches a terminal. A step's own output is passed on as it is. Nothing here decides
//! anything about the run.

mod block;
mod board;
mod cost;
mod ending;
pub mod events;
mod failure;
mod held;
mod line;
mod live;
pub mod next;
mod orchestration;
mod outlet;
mod plain;
mod said;
mod seam;
mod shape;
mod stepwise;
#[cfg(test)]
pub mod testing;
mod writer;

pub use cost::Cost;
pub use ending::counts;
pub use failure::{logs, shell_word};

use crate::audit::Audit;
use crate::commands::run::Shared;
use crate::exit::Stop;
use crate::out;
use crate::signals;
use crate::surroundings::Surroundings;
use crate::words::now_ms;
use events::{Events, Format};
use live::Live;
use orchestration::Orchestration;
use outlet::Standard;
use plain::Plain;
use shape::Shape;
use std::path::Path;
use stepwise::Stepwise;
use towpath_engine::{Config, EngineError, Event, Prepared, Reporter, RunEnd, SessionTree};
use towpath_run::{Failure, FailureKind, RunOutcome};
use towpath_store::Store;

/// Events for other programs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct EventFlags {
    /// Say every event in a line on stderr: as text, or as JSON.
    #[arg(long = "events", value_name = "FORMAT", value_enum)]
    pub format: Option<Format>,
    /// Append every event to this file, as a JSON line.
    #[arg(long = "events-file", value_name = "FILE")]
    pub file: Option<std::path::PathBuf>,
}

/// What a machine's step reported.
pub fn outcome(result: &towpath_run::StepResult) -> Option<String> {
    said::report(result)
}

/// The word for how a machine ended that did not end by a transition of its own.
pub fn reason(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Limit => failure.message.clone(),
        FailureKind::Agent(_) => "backend-error".to_owned(),
        FailureKind::Stopped => "cancelled".to_owned(),
        _ => "orchestration-error".to_owned(),
    }
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
    pub fn new(around: &Surroundings, shared: &Shared) -> Look {
        Look {
            terminal: around.stderr_terminal,
            joined: outlet::joined(),
            color: around.color,
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

/// Drives a run to its end while it is shown.
pub fn drive(
    prepared: Prepared,
    store: &mut Store,
    config: Config,
    tree: Option<SessionTree>,
    look: &Look,
    audit: Option<&mut Audit>,
    wanted: &EventFlags,
) -> Result<RunEnd, Stop> {
    let mut audit = audit;
    if let Some(audit) = &mut audit {
        audit.begin(&prepared.run().program().root().name, prepared.id())?;
    }
    signals::block();
    let cancel = store.run_directory(prepared.id()).join("cancel");
    forget_request(&cancel)?;
    let root = std::sync::Arc::clone(prepared.run().program().root());
    let label = root.machine().map(|machine| machine.label.as_str());
    let events = Events::asked(wanted.format, wanted.file.as_ref(), label)?;
    let shape = Shape::of(prepared.run().program());
    let mut reporter: Box<dyn Reporter> = match look.voice {
        _ if look.live() => Box::new(Live::new(Standard::new(), *look, shape)),
        Voice::Own => Box::new(Plain::new(Standard::new(), *look, shape)),
        Voice::Stepwise { progress } => {
            Box::new(Stepwise::new(Standard::new(), *look, shape, progress))
        }
        Voice::Orchestration => Box::new(Orchestration::new(Standard::new(), *look, shape)),
    };
    let listen = |controller| signals::listen(controller, cancel);
    let mut watching = Watching { screen: reporter.as_mut(), audit, events };
    let end = prepared.drive(store, config, tree, listen, &mut watching);
    let mut events = watching.events.take();
    if let (Err(EngineError::SessionLocked { session, .. }), Some(events)) = (&end, &mut events) {
        events.locked(session);
    }
    // The terminal is given back before anything else is said.
    drop(reporter);
    let end = end?;
    match events.and_then(Events::failure) {
        Some(stop) => Err(stop),
        None => Ok(end),
    }
}

impl EventFlags {
    /// Says before anything begins when the file for events cannot be written.
    pub fn check(&self) -> Result<(), Stop> {
        Events::asked(self.format, self.file.as_ref(), None).map(drop)
    }
}

/// Tells whoever wants events that a run could not begin, since somebody else is in its session.
pub fn locked(wanted: &EventFlags, recipe: &str, error: &EngineError) -> Result<(), Stop> {
    let EngineError::SessionLocked { session, .. } = error else { return Ok(()) };
    let events = Events::asked(wanted.format, wanted.file.as_ref(), Some(recipe))?;
    if let Some(mut events) = events {
        events.of(recipe).locked(session);
    }
    Ok(())
}

/// Columns of the terminal on stderr.
pub fn columns() -> usize {
    outlet::size().0
}

/// All who watch one run. Only the screen can be too slow.
struct Watching<'a> {
    screen: &'a mut dyn Reporter,
    audit: Option<&'a mut Audit>,
    events: Option<Events>,
}

impl Reporter for Watching<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Some(audit) = &mut self.audit {
            audit.event(event);
        }
        self.screen.event(event);
        if let Some(events) = &mut self.events {
            events.event(event);
        }
    }

    fn ready(&self) -> bool {
        self.screen.ready()
    }

    fn tick(&mut self) {
        self.screen.tick();
    }
}

/// A request to cancel that an earlier owner of the run got is not meant for this one.
pub fn forget_request(cancel: &Path) -> Result<(), Stop> {
    match std::fs::remove_file(cancel) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Stop::setup(format!("{}: {error}", cancel.display())))
        }
        _ => Ok(()),
    }
}

/// Parts of one sentence in lines of at most so many columns, broken between the parts.
pub fn in_lines(parts: Vec<String>, limit: Option<usize>) -> Vec<String> {
    let parts = parts.into_iter().map(line::Line::plain).collect();
    line::joined("", "  ", parts, limit).iter().map(|line| line.render(false)).collect()
}

/// The last lines: what happened, and what to do next.
pub fn ending(look: &Look, end: &RunEnd) {
    if look.quiet && end.outcome == RunOutcome::Done {
        return;
    }
    let width = look.terminal.then(|| outlet::size().0);
    out::say(&ending::text(end, look.color, width, now_ms()));
}
