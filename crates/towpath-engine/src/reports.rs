//! What the driver reports, and what it sees of its executor: output goes to the reporter at once,
//! everything that changes the run waits until the executor has returned.

use crate::clock::Clock;
use crate::event_reporter::{EventSender, Reporter};
use crate::settle::describe;
use std::time::{Duration, Instant};
use towpath_core::{SessionId, StepPath};
use towpath_executor::{Finished, JobEvent, JobId, Leftover, Observer, Swept};
use towpath_run::{EndedWith, EventKind};

/// How often a reporter is given a turn.
const TICK: Duration = Duration::from_millis(80);

pub(crate) enum Observation {
    SessionNamed { job: JobId, session: SessionId },
    Finished(Box<Finished>),
    Swept(Swept),
}

pub(crate) struct Reports<'a> {
    events: EventSender<'a>,
    pub clock: Clock,
    pub warnings: Vec<String>,
    last_tick: Instant,
    /// What the executor has reported, in its order.
    observed: Vec<Observation>,
}

impl<'a> Reports<'a> {
    pub fn new(reporter: &'a mut dyn Reporter, warnings: Vec<String>) -> Reports<'a> {
        Reports {
            events: EventSender { reporter, seq: 0 },
            clock: Clock::start(),
            warnings,
            last_tick: Instant::now(),
            observed: Vec::new(),
        }
    }

    pub fn send(&mut self, kind: EventKind) {
        self.events.send(self.clock.now_ms(), kind);
    }

    pub fn warn(&mut self, step: Option<StepPath>, message: String) {
        self.warnings.push(match &step {
            Some(step) => format!("{step}: {message}"),
            None => message.clone(),
        });
        self.send(EventKind::Warning { step, message });
    }

    pub fn ended(&mut self, processes: &[Leftover], why: EndedWith) {
        if !processes.is_empty() {
            let processes = processes.iter().map(describe).collect();
            self.send(EventKind::Ended { processes, why });
        }
    }

    /// Reports what was swept up after a run.
    pub fn swept(&mut self, swept: &Swept) {
        self.ended(&swept.ended, EndedWith::Run);
        if !swept.left.is_empty() {
            let names: Vec<String> = swept.left.iter().map(describe).collect();
            self.warn(None, format!("still running after KILL: {}", names.join(", ")));
        }
    }

    pub fn tick(&mut self) {
        if self.last_tick.elapsed() >= TICK {
            self.last_tick = Instant::now();
            self.events.reporter.tick();
        }
    }

    /// What the executor has reported since this was last called.
    pub fn take_observed(&mut self) -> Vec<Observation> {
        std::mem::take(&mut self.observed)
    }
}

impl Observer for Reports<'_> {
    fn event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Output { job, stream, bytes } => self.send(EventKind::Output {
                step: job.step_path(),
                job: job.clone(),
                stream,
                bytes: bytes.to_vec(),
            }),
            JobEvent::Activity { step, what } => {
                self.send(EventKind::Doing { step: step.clone(), what: what.to_owned() });
            }
            JobEvent::Heard { step } => self.send(EventKind::Heard { step: step.clone() }),
            JobEvent::SessionNamed { job, session } => {
                self.observed.push(Observation::SessionNamed { job, session });
            }
            JobEvent::Finished(finished) => self.observed.push(Observation::Finished(finished)),
            JobEvent::Swept(swept) => self.observed.push(Observation::Swept(swept)),
        }
    }

    fn ready(&self) -> bool {
        self.events.reporter.ready()
    }
}
