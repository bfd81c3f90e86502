//! Signals become messages. They are blocked before anything else exists and waited for by one
//! thread, so no code ever runs inside a signal handler.

use std::path::PathBuf;
use std::time::Duration;
use towpath_engine::Controller;
use towpath_run::StopReason;

const SIGNALS: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGTSTP];

fn set() -> libc::sigset_t {
    // SAFETY: sigemptyset and sigaddset only write to the set they are given.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in SIGNALS {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Blocks the signals until [`listen`] takes them. Call before any thread exists.
pub fn block() {
    // SAFETY: both pointers are valid for the call; null asks for no old mask.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set(), std::ptr::null_mut());
    }
}

/// Lets signals end this process again, as long as this value lives.
#[derive(Debug)]
pub struct LetThrough(libc::sigset_t);

impl LetThrough {
    pub fn new() -> LetThrough {
        // SAFETY: both sets are valid for the call, which writes the second.
        unsafe {
            let mut before = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &set(), &mut before);
            LetThrough(before)
        }
    }
}

impl Drop for LetThrough {
    fn drop(&mut self) {
        // SAFETY: both pointers are valid for the call; null asks for no old mask.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut());
        }
    }
}

/// Waits for the next signal; none when waiting itself fails.
fn wait() -> Option<libc::c_int> {
    let mut signal = 0;
    // SAFETY: the set and the result are valid for the call.
    (unsafe { libc::sigwait(&set(), &mut signal) } == 0).then_some(signal)
}

/// Waits for a signal that ends this process; Ctrl-Z stops it meanwhile.
pub fn wait_for_end() -> i32 {
    loop {
        match wait() {
            Some(libc::SIGTSTP) => stop_here(),
            Some(signal) => return signal,
            // Waiting fails for a wrong set alone: then there is nothing to wait for.
            None => return libc::SIGTERM,
        }
    }
}

/// Likewise across an `exec`, which would let them through.
pub fn keep_blocked() -> std::io::Result<()> {
    block();
    Ok(())
}

/// The next of the blocked signals, or none within this time.
pub fn next(pause: Duration) -> Option<i32> {
    let pause = libc::timespec {
        tv_sec: libc::time_t::try_from(pause.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: pause.subsec_nanos().into(),
    };
    // SAFETY: the set and the time are valid for the call; null asks for no details.
    let signal = unsafe { libc::sigtimedwait(&set(), std::ptr::null_mut(), &pause) };
    (signal > 0).then_some(signal)
}

/// Stops this process, as Ctrl-Z does, until it is continued.
pub fn stop_here() {
    // SAFETY: raise takes a number and touches nothing of ours.
    unsafe {
        libc::raise(libc::SIGSTOP);
    }
}

/// Hands every signal to one function, on a thread of its own. Call [`block`] first.
pub fn each(mut handle: impl FnMut(libc::c_int) + Send + 'static) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().spawn(move || {
        while let Some(signal) = wait() {
            handle(signal);
        }
    });
    thread.map(drop)
}

/// As [`listen`], for commands of a document: nothing is recorded, and nothing can be cancelled.
pub fn listen_to_render(controller: Controller) -> std::io::Result<()> {
    let mut stops = 0;
    each(move |signal| {
        if signal == libc::SIGTSTP {
            return controller.pause(stop_here);
        }
        stops += 1;
        if stops > 2 {
            std::process::exit(128 + signal);
        }
        controller.stop(StopReason::Signal(signal));
    })
}

/// Starts the thread that turns signals into control. `cancel` is the file that marks a signal as one
/// by `towpath cancel`.
pub fn listen(controller: Controller, cancel: PathBuf) -> std::io::Result<()> {
    let mut stops = 0;
    each(move |signal| {
        let reason = match signal {
            libc::SIGTSTP => return controller.pause(stop_here),
            libc::SIGTERM if cancel.exists() => StopReason::Cancel,
            other => StopReason::Signal(other),
        };
        stops += 1;
        if stops > 2 {
            // The engine does not react, perhaps because its output is not read. The warden ends the
            // children; the record stays.
            let run = cancel.parent().and_then(|d| d.file_name()).unwrap_or_default();
            let run = run.display();
            crate::terminal::out::note(format!(
                "\nkilled; the record is kept; to resume: towpath resume {run}"
            ));
            std::process::exit(128 + signal);
        }
        controller.stop(reason);
    })
}
