//! What the loop sees of its executor: output goes to the reporter at once, everything that changes the
//! run waits until the executor has returned.

use crate::event::{Event, Reporter};
use towpath_executor::{Finished, JobEvent, JobId, Observer, Swept};

pub(crate) enum Observation {
    SessionNamed { job: JobId, session: String },
    Finished(Box<Finished>),
    Swept(Swept),
}

pub(crate) struct Observed<'a> {
    reporter: &'a mut dyn Reporter,
    pub observations: Vec<Observation>,
}

impl<'a> Observed<'a> {
    pub fn new(reporter: &'a mut dyn Reporter) -> Observed<'a> {
        Observed { reporter, observations: Vec::new() }
    }
}

impl Observer for Observed<'_> {
    fn event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Output { step, stream, bytes } => {
                self.reporter.event(&Event::Output { step, stream, bytes });
            }
            JobEvent::Activity { step, what } => self.reporter.event(&Event::Doing { step, what }),
            JobEvent::Heard { step } => self.reporter.event(&Event::Heard { step }),
            JobEvent::SessionNamed { job, session } => {
                self.observations.push(Observation::SessionNamed { job, session });
            }
            JobEvent::Finished(finished) => self.observations.push(Observation::Finished(finished)),
            JobEvent::Swept(swept) => self.observations.push(Observation::Swept(swept)),
        }
    }

    fn ready(&self) -> bool {
        self.reporter.ready()
    }
}
