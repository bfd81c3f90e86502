//! How a process becomes a warden and how it ends as one. Whatever happens, a panic of our own
//! included, the jobs are ended before the warden is gone.

use super::{WardenProcess, end_everything};
use crate::os;
use crate::process_marker::Marker;
use crate::warden_protocol::{Answer, Command, Frames, encode};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Ended as it should.
const DONE: u8 = 0;
/// Never became a warden.
const UNFIT: u8 = 70;
/// A defect of ours: everything was ended all the same.
const BROKEN: u8 = 101;

/// Lives as the warden in a process just forked, and ends with it.
pub(crate) fn be_the_warden(
    socket: BorrowedFd<'_>,
    lock: Option<BorrowedFd<'_>>,
    marker: &Marker,
) -> ! {
    // A panic must not unwind into the engine's code, which this process has a copy of.
    let code = catch_unwind(|| match set_up(socket, lock, marker) {
        Ok(warden) => live(warden),
        Err(_) => UNFIT,
    });
    os::exit_now(code.unwrap_or(BROKEN))
}

/// For a program that `Warden::spawn` has started: lives as the warden until the run is over. The
/// program calls this first, with a single thread, and ends with the code it returns.
pub fn run_warden_from_fd() -> ExitCode {
    ExitCode::from(executed())
}

/// As `run_warden_from_fd`, and ends the process.
pub fn warden_main() -> ! {
    os::exit_now(executed())
}

fn executed() -> u8 {
    if os::thread_count().ok() != Some(1) {
        return UNFIT;
    }
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let Some((marker, has_lock)) = read_hello(stdin.as_fd()) else { return UNFIT };
    let warden = set_up(stdin.as_fd(), has_lock.then_some(stdout.as_fd()), &marker);
    let Ok(warden) = warden else { return UNFIT };
    if send(&warden.socket, &encode(&Answer::Ready), SendFlags::NOSIGNAL).is_err() {
        return UNFIT;
    }
    live(warden)
}

/// Byte by byte: what follows the greeting stays in the socket, for the loop.
fn read_hello(socket: BorrowedFd<'_>) -> Option<(Marker, bool)> {
    let (mut frames, mut byte) = (Frames::default(), [0]);
    loop {
        match frames.next().ok()? {
            Some(Command::Hello { marker, lock }) => return Some((marker, lock)),
            Some(_) => return None,
            None => {}
        }
        match recv(socket, &mut byte[..], RecvFlags::empty()) {
            Ok((1.., _)) => frames.push(&byte),
            Ok((0, _)) => return None,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn set_up(
    socket: BorrowedFd<'_>,
    lock: Option<BorrowedFd<'_>>,
    marker: &Marker,
) -> io::Result<WardenProcess> {
    let socket: OwnedFd = os::move_warden_files(socket, lock)?;
    let signals = os::become_warden(lock.is_some())?;
    let engine = os::watch_peer(socket.as_fd());
    Ok(WardenProcess::new(socket, signals, engine, marker.clone()))
}

fn live(mut warden: WardenProcess) -> u8 {
    if catch_unwind(AssertUnwindSafe(|| warden.run())).is_ok() {
        return DONE;
    }
    end_everything(&warden.marker, &warden.secrets);
    BROKEN
}
