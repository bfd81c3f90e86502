//! What another thread may ask of a run that is driven.

use std::fmt;
use std::sync::mpsc::Sender;
use towpath_executor::Waker;
use towpath_run::StopReason;

pub(crate) enum Control {
    Stop(StopReason),
    Pause(Box<dyn FnOnce() + Send>),
}

/// Controls a run from another thread. A run that is over needs no control.
#[derive(Clone)]
pub struct Controller {
    sender: Sender<Control>,
    waker: Waker,
}

impl Controller {
    pub(crate) fn new(sender: Sender<Control>, waker: Waker) -> Controller {
        Controller { sender, waker }
    }

    /// Ends the run: its processes get TERM. The second time they get KILL at once.
    pub fn stop(&self, reason: StopReason) {
        self.send(Control::Stop(reason));
    }

    /// Pauses every process of the run, calls `meanwhile` on the thread that drives the run, and
    /// continues when it returns. That time counts against no timeout.
    pub fn pause(&self, meanwhile: impl FnOnce() + Send + 'static) {
        self.send(Control::Pause(Box::new(meanwhile)));
    }

    fn send(&self, control: Control) {
        let _ = self.sender.send(control);
        self.waker.wake();
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Controller")
    }
}
