//! What a process does to itself to become a warden, and what it can see of its engine.

use super::open_file_limit::raise_file_limit;
use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{DupFlags, Errno, dup3, fcntl_dupfd_cloexec};
use rustix::process::{
    Pid, PidfdFlags, Signal, pidfd_open, set_child_subreaper, set_parent_process_death_signal,
    setsid,
};
use std::ffi::{c_int, c_uint};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::{fs, io, mem, ptr};

/// Neither a terminal nor a user's signal to the foreground nor an output file at its largest size may
/// end the warden. (What the kernel raises for a fault stays deadly; `TERM` and `CHLD` are read in the
/// loop.)
const IGNORED: [c_int; 14] = [
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGXFSZ,
];

pub(crate) fn thread_count() -> io::Result<usize> {
    Ok(fs::read_dir("/proc/self/task")?.count())
}

/// `None` in the child, which begins with every signal blocked: a Ctrl-C must not hit the warden
/// before it has left the terminal. Only for a process with one thread: the child continues in Rust.
pub(crate) fn fork() -> Result<Option<Pid>, Errno> {
    // SAFETY: the caller has checked that this process has one thread, so no lock of another
    // thread stays locked in the child for ever; the signal calls work on local sets.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = mem::zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, &mut before);
        let pid = libc::fork();
        let error = io::Error::last_os_error();
        if pid != 0 {
            libc::sigprocmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        }
        if pid < 0 {
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN));
        }
        Ok(Pid::from_raw(pid))
    }
}

/// Ends this process without running what belongs to the process it was forked from (buffers,
/// destructors, exit handlers).
pub(crate) fn exit_now(code: u8) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(c_int::from(code)) }
}

/// Ends this process by a signal, without a core. The code for its parent, should the signal not end it.
pub(crate) fn end_by_signal(signal: c_int) -> u8 {
    // SAFETY: plain calls on local sets; the process ends here, or returns a code to end with.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        default_signals(std::iter::once(signal));
        let mut wanted: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&mut wanted);
        libc::sigaddset(&mut wanted, signal);
        libc::kill(libc::getpid(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &wanted, ptr::null_mut());
    }
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Puts the warden's files at their two numbers, from where `become_warden` keeps them.
pub(crate) fn move_warden_files(
    socket: BorrowedFd<'_>,
    lock: Option<BorrowedFd<'_>>,
) -> Result<OwnedFd, Errno> {
    // Moved out of the way first: either may have the number that the other needs.
    let above = crate::warden_process::LOCK_FD + 1;
    let files =
        [(Some(socket), crate::warden_process::SOCKET_FD), (lock, crate::warden_process::LOCK_FD)];
    let mut high = [const { None }; 2];
    for (slot, (file, _)) in high.iter_mut().zip(&files) {
        *slot = file.map(|f| fcntl_dupfd_cloexec(f, above)).transpose()?;
    }
    for (high, (_, number)) in high.into_iter().zip(files) {
        let Some(high) = high else { continue };
        // SAFETY: the number is taken over: this process continues as a warden and never returns to
        // the code that may have used it.
        let mut target = mem::ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(number) });
        dup3(&high, &mut target, DupFlags::CLOEXEC)?;
    }
    // SAFETY: just filled, and owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(crate::warden_process::SOCKET_FD) })
}

/// Makes this process a warden: a session of its own, a reaper of orphans, deaf to the terminal,
/// without any file but its two.
pub(crate) fn become_warden(has_lock: bool) -> io::Result<Signals> {
    // Fails only for a group leader, and such a one was executed with its own group already.
    let _ = setsid();
    adopt_orphans(true)?;
    // A warden that is stopped could not see that its engine is gone.
    set_parent_process_death_signal(Some(Signal::CONT))?;
    rustix::process::chdir("/")?;
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for number in 0..=2 {
        // SAFETY: closes or replaces numbers that only the former program used.
        if unsafe { libc::dup2(null.as_raw_fd(), number) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    mem::forget(null);
    let first =
        if has_lock { crate::warden_process::LOCK_FD } else { crate::warden_process::SOCKET_FD }
            + 1;
    close_from(first);
    raise_file_limit();
    // SAFETY: the name is a literal that ends in NUL.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"towpath-warden".as_ptr()) };
    Signals::take_over()
}

/// Whether orphans below this process become its children.
pub(crate) fn adopt_orphans(on: bool) -> io::Result<()> {
    Ok(set_child_subreaper(on.then(rustix::process::getpid))?)
}

fn close_from(first: RawFd) {
    // SAFETY: this process owns every one of its numbers, and uses none of these any more.
    if unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, 0) } == 0 {
        return;
    }
    let names = fs::read_dir("/proc/self/fd").map(|entries| {
        let number = |e: fs::DirEntry| e.file_name().to_str()?.parse::<RawFd>().ok();
        entries.filter_map(|e| number(e.ok()?)).collect::<Vec<_>>()
    });
    for number in names.unwrap_or_default().into_iter().filter(|n| *n >= first) {
        // SAFETY: as above.
        unsafe { libc::close(number) };
    }
}

/// Signals to their default, by the kernel's own call: the C library keeps two for itself and
/// refuses to touch them, and would pass on that an ancestor ignored them. Async-signal-safe.
fn default_signals(numbers: impl Iterator<Item = c_int>) {
    // The kernel's structure has handler, flags, restorer and mask; all zero is the default.
    let default = [0_u64; 4];
    for number in numbers {
        // SAFETY: the structure is at least as large as the kernel reads for a mask of 8 bytes;
        // `KILL` and `STOP` are refused, which is as well.
        unsafe {
            let nothing = ptr::null_mut::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, number, default.as_ptr(), nothing, 8_usize);
        }
    }
}

/// For a child of the warden, which has every other signal at its default. Async-signal-safe.
pub(super) fn default_ignored_signals() {
    default_signals(IGNORED.into_iter());
}

/// `CHLD` and `TERM` as something to poll.
#[derive(Debug)]
pub(crate) struct Signals {
    file: OwnedFd,
}

impl Signals {
    /// Ignores what could end this process, and blocks `CHLD` and `TERM`. For a process with one thread.
    pub fn take_over() -> io::Result<Signals> {
        // SAFETY: plain signal calls on local sets, in a process with one thread.
        unsafe {
            default_signals(1..=64);
            for number in IGNORED {
                libc::signal(number, libc::SIG_IGN);
            }
            let mut wanted: libc::sigset_t = mem::zeroed();
            libc::sigemptyset(&mut wanted);
            libc::sigaddset(&mut wanted, libc::SIGCHLD);
            libc::sigaddset(&mut wanted, libc::SIGTERM);
            libc::sigprocmask(libc::SIG_SETMASK, &wanted, ptr::null_mut());
            let file = libc::signalfd(-1, &wanted, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Signals { file: OwnedFd::from_raw_fd(file) })
        }
    }

    /// Takes what has come; whether `TERM` was among it.
    pub fn drain(&self) -> bool {
        const RECORD: usize = size_of::<libc::signalfd_siginfo>();
        let mut asked_to_end = false;
        let mut records = [0_u8; RECORD * 8];
        while let Ok(length @ 1..) = rustix::io::read(&self.file, &mut records) {
            for record in records[..length].chunks_exact(RECORD) {
                // The signal's number is the record's first field.
                let number = record.first_chunk().map(|n| u32::from_ne_bytes(*n));
                asked_to_end |= number == Some(libc::SIGTERM as u32);
            }
            if length < records.len() {
                break;
            }
        }
        asked_to_end
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A counter that is readable when it is not zero.
pub(crate) fn wake_file() -> Result<OwnedFd, Errno> {
    rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
}

/// A handle that becomes readable when the process that made the socket pair is gone. The socket's
/// end shows the same, unless some other process has a copy of the engine's end.
pub(crate) fn watch_peer(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let peer = rustix::net::sockopt::socket_peercred(socket).ok()?.pid;
    let handle = pidfd_open(peer, PidfdFlags::empty()).ok()?;
    // Where the engine is in another pid namespace the number would be a stranger's, or our own.
    let gone = rustix::event::poll(
        &mut [PollFd::new(&handle, PollFlags::IN)],
        Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }),
    );
    (gone == Ok(0) && Some(peer) == rustix::process::getppid()).then_some(handle)
}
