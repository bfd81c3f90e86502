//! What the loop sees of its executor: output goes to the reporter at once, everything that changes the
//! run waits until the executor has returned.

use crate::clock::Clock;
use crate::event_reporter::EventSender;
use towpath_core::SessionId;
use towpath_executor::{Finished, JobEvent, JobId, Observer, Swept};
use towpath_run::EventKind;

pub(crate) enum Observation {
    SessionNamed { job: JobId, session: SessionId },
    Finished(Box<Finished>),
    Swept(Swept),
}

pub(crate) struct ExecutorObserver<'a, 'r> {
    events: &'a mut EventSender<'r>,
    clock: Clock,
    pub observations: Vec<Observation>,
}

impl<'a, 'r> ExecutorObserver<'a, 'r> {
    pub fn new(events: &'a mut EventSender<'r>, clock: Clock) -> ExecutorObserver<'a, 'r> {
        ExecutorObserver { events, clock, observations: Vec::new() }
    }

    fn report(&mut self, kind: EventKind) {
        self.events.send(self.clock.now_ms(), kind);
    }
}

impl Observer for ExecutorObserver<'_, '_> {
    fn event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Output { job, stream, bytes } => self.report(EventKind::Output {
                step: job.step_path(),
                job: job.clone(),
                stream,
                bytes: bytes.to_vec(),
            }),
            JobEvent::Activity { step, what } => {
                self.report(EventKind::Doing { step: step.clone(), what: what.to_owned() });
            }
            JobEvent::Heard { step } => self.report(EventKind::Heard { step: step.clone() }),
            JobEvent::SessionNamed { job, session } => {
                self.observations.push(Observation::SessionNamed { job, session });
            }
            JobEvent::Finished(finished) => self.observations.push(Observation::Finished(finished)),
            JobEvent::Swept(swept) => self.observations.push(Observation::Swept(swept)),
        }
    }

    fn ready(&self) -> bool {
        self.events.reporter.ready()
    }
}
