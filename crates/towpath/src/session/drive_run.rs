//! A recorded run is driven to its end while it is shown, audited and reported as events. All who watch
//! it get the same events.

use super::Session;
use super::audit::Audit;
use super::record_run::RecordedRun;
use super::signals;
use super::worktree::{self, LeftWorktree};
use crate::corrections::record_failed_steps::FailedSteps;
use crate::exit::{CommandError, Exit};
use crate::page::running_server::RunningServer;
use crate::terminal::out;
use crate::terminal::report::events_for_programs::Events;
use crate::terminal::report::{EventFlags, OutputOptions, RunScreen, Shape, screen};
use std::path::Path;
use towpath_engine::{EngineError, Event, Prepared, Reporter, RunEnd};

/// A run that was driven to its end.
#[derive(Debug)]
pub struct DrivenRun {
    pub end: RunEnd,
    /// What is left of its worktree.
    pub left: Option<LeftWorktree>,
    /// Why the audit or the file of events is not complete. Also among the run's warnings.
    pub unwritten: Vec<String>,
}

impl DrivenRun {
    /// The program's exit code: a run that is done has failed its user where a file is not complete.
    pub fn exit(&self) -> Exit {
        match Exit::of_outcome(&self.end.outcome) {
            Exit::Done if !self.unwritten.is_empty() => Exit::Setup,
            own => own,
        }
    }
}

impl Session<'_> {
    pub fn drive(&mut self, recorded: RecordedRun) -> Result<DrivenRun, CommandError> {
        let RecordedRun { mut prepared, mut config, tree, worktree, elsewhere, waiting } = recorded;
        config.text_if_killed = self.output.text_if_killed();
        name_what_helps(&mut prepared);
        let (id, name) = (prepared.id().clone(), prepared.run().program().root().name.clone());
        if let Some(audit) = &mut self.audit {
            audit.begin(&name, prepared.id())?;
        }
        signals::block();
        let cancel = self.store.run_directory(prepared.id()).join("cancel");
        forget_request(&cancel)?;
        let events = events(&self.flags.events, &prepared)?;
        if let Some(server) = RunningServer::find(self.env) {
            let with_token = self.output.terminal;
            out::name_page(Box::new(move |run| server.run_address(run, with_token)));
        }
        let mut screen = screen(prepared.run(), OutputOptions { elsewhere, ..self.output });
        let listen = |controller| signals::listen(controller, cancel);
        let audit = self.audit.as_mut();
        let failed_steps = FailedSteps::new(self.env, prepared.run().program(), prepared.id());
        let mut watching = Watching { screen: screen.as_mut(), audit, events, failed_steps };
        let end = prepared.drive(&mut self.store, config, tree, listen, &mut watching);
        if let Err(EngineError::SessionLocked { session, .. }) = &end {
            watching.write_events(|events| events.locked(&name, session));
        }
        let events = watching.events.take();
        // The terminal is given back before anything else is printed.
        drop(screen);
        let mut end = end.map_err(|error| match error {
            EngineError::WardenGone => {
                let own = CommandError::from(error);
                CommandError { message: format!("{}: towpath resume {id}", own.message), ..own }
            }
            error => error.into(),
        })?;
        if let Some(waiting) = waiting {
            waiting.resume(&end, self.flags);
        }
        let left = worktree.map(|tree| worktree::leave(self.env, &self.store, &end, tree));
        let audit = self.audit.take().and_then(Audit::problem);
        let unwritten: Vec<String> =
            audit.into_iter().chain(events.and_then(Events::failure)).collect();
        end.warnings.extend(unwritten.iter().cloned());
        Ok(DrivenRun { end, left, unwritten })
    }
}

/// Adds to the warnings about what is gone the command that starts it again.
fn name_what_helps(prepared: &mut Prepared) {
    let run = prepared.id().clone();
    for (step, message) in &mut prepared.gone {
        let command = format!("towpath resume {run} --again {step}");
        message.push_str(&format!("; if later steps need it: {command}"));
    }
}

fn events(wanted: &EventFlags, prepared: &Prepared) -> Result<Option<Events>, CommandError> {
    let run = prepared.run();
    let events = Events::asked(wanted.format, wanted.file.as_ref())?;
    Ok(events.map(|events| events.of(run, Shape::of(run.program()))))
}

/// Reports as an event that a run could not begin because another process uses its session.
pub fn report_locked(
    wanted: &EventFlags,
    recipe: &str,
    error: &EngineError,
) -> Result<(), CommandError> {
    let EngineError::SessionLocked { session, .. } = error else { return Ok(()) };
    if let Some(mut events) = Events::asked(wanted.format, wanted.file.as_ref())? {
        events.locked(recipe, session);
        events.take_lines().iter().for_each(out::note);
    }
    Ok(())
}

/// Removes a request to cancel that an earlier owner of the run got.
pub fn forget_request(cancel: &Path) -> Result<(), CommandError> {
    match std::fs::remove_file(cancel) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(CommandError::setup(format!("{}: {error}", cancel.display())))
        }
        _ => Ok(()),
    }
}

/// All who watch one run. Only the screen can be too slow.
struct Watching<'a> {
    screen: &'a mut dyn RunScreen,
    audit: Option<&'a mut Audit>,
    events: Option<Events>,
    failed_steps: FailedSteps<'a>,
}

impl Watching<'_> {
    fn write_events(&mut self, write: impl FnOnce(&mut Events)) {
        let Some(events) = &mut self.events else { return };
        write(events);
        for line in events.take_lines() {
            self.screen.aside(&out::masked(&line));
        }
    }
}

impl Reporter for Watching<'_> {
    fn event(&mut self, event: &Event) {
        if let Some(audit) = &mut self.audit {
            audit.event(event);
        }
        self.failed_steps.event(event);
        self.screen.event(event);
        self.write_events(|events| events.event(event));
    }

    fn ready(&self) -> bool {
        self.screen.ready()
    }

    fn tick(&mut self) {
        self.screen.tick();
    }
}
