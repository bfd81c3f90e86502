//! Starting one job. The child shares the warden's memory until it executes (as `posix_spawn` does,
//! which cannot set a death signal): no page tables are copied, and a failure is simply written into
//! the warden's memory. In return the child may only make plain system calls on what was prepared
//! before.

use rustix::io::Errno;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Everything the child needs, ready to use.
#[derive(Debug)]
pub(crate) struct Launch {
    /// Files to try in this order.
    pub programs: Vec<CString>,
    pub arguments: Vec<CString>,
    pub environment: Vec<CString>,
    pub directory: CString,
    pub stdin: OwnedFd,
    pub stdout: OwnedFd,
    /// `None`: the same as `stdout`.
    pub stderr: Option<OwnedFd>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LaunchFailure {
    Fork(Errno),
    Setup(Errno),
    Directory(Errno),
    Execute(Errno),
}

/// Of the child's own making: it runs a handful of thin system-call wrappers.
const STACK: usize = 64 << 10;

/// How far the child has come.
mod step {
    pub const SETUP: i32 = 0;
    pub const DIRECTORY: i32 = 1;
    pub const EXECUTE: i32 = 2;
    pub const EXECUTED: i32 = 3;
}

/// What the child reads, and the two fields it writes. Those are atomic so that the compiler knows
/// of another reader: a plain write just before `execve` is one that nobody seems to read.
struct Shared {
    warden: libc::pid_t,
    programs: *const *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
    directory: *const c_char,
    stdio: [c_int; 3],
    file_limit: Option<libc::rlimit>,
    step: AtomicI32,
    errno: AtomicI32,
}

pub(crate) fn launch(launch: &Launch) -> Result<i32, LaunchFailure> {
    let programs = pointers(&launch.programs);
    let arguments = pointers(&launch.arguments);
    let environment = pointers(&launch.environment);
    let stdout = launch.stdout.as_raw_fd();
    let shared = Shared {
        warden: super::own_pid(),
        programs: programs.as_ptr(),
        arguments: arguments.as_ptr(),
        environment: environment.as_ptr(),
        directory: launch.directory.as_ptr(),
        stdio: [
            launch.stdin.as_raw_fd(),
            stdout,
            launch.stderr.as_ref().map_or(stdout, AsRawFd::as_raw_fd),
        ],
        file_limit: super::open_file_limit::jobs_file_limit(),
        step: AtomicI32::new(step::SETUP),
        errno: AtomicI32::new(0),
    };
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    // SAFETY: the stack is aligned, large enough and outlives the child's use of it, because
    // CLONE_VFORK suspends this thread until the child has executed or exited; `shared` and all it
    // points to live as long; the process has one thread, so nothing else runs in this memory.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.len()).cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(child, top, flags, (&raw const shared).cast_mut().cast())
    };
    if pid < 0 {
        return Err(LaunchFailure::Fork(last_errno()));
    }
    let errno = match shared.errno.load(Acquire) {
        // Killed by someone before it came to anything.
        0 => Errno::INTR,
        errno => Errno::from_raw_os_error(errno),
    };
    let failure = match shared.step.load(Acquire) {
        step::EXECUTED => return Ok(pid),
        step::EXECUTE => LaunchFailure::Execute(errno),
        step::DIRECTORY => LaunchFailure::Directory(errno),
        _ => LaunchFailure::Setup(errno),
    };
    // SAFETY: a plain wait for a child of this process that has exited.
    unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
    Err(failure)
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

extern "C" fn child(shared: *mut c_void) -> c_int {
    // SAFETY: the pointer is `launch`'s `shared`, whose owner is suspended.
    let shared = unsafe { &*shared.cast::<Shared>() };
    // SAFETY: only async-signal-safe calls on prepared memory.
    unsafe {
        if !set_up(shared) {
            shared.errno.store(*libc::__errno_location(), Release);
            libc::_exit(127);
        }
        shared.step.store(step::DIRECTORY, Release);
        if libc::chdir(shared.directory) != 0 {
            shared.errno.store(*libc::__errno_location(), Release);
            libc::_exit(127);
        }
        let errno = execute(shared);
        shared.errno.store(errno, Release);
        libc::_exit(127)
    }
}

/// # Safety
/// In a fresh child whose signal table and file table are its own.
unsafe fn set_up(shared: &Shared) -> bool {
    unsafe {
        if libc::setsid() < 0
            || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) < 0
        {
            return false;
        }
        if libc::getppid() != shared.warden {
            libc::_exit(127);
        }
        for (target, &source) in (0..).zip(&shared.stdio) {
            if libc::dup2(source, target) < 0 {
                return false;
            }
        }
        // Everything is opened close-on-exec already; this also covers what a library opened.
        libc::syscall(libc::SYS_close_range, 3, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if let Some(limit) = &shared.file_limit
            && libc::setrlimit(libc::RLIMIT_NOFILE, limit) < 0
        {
            return false;
        }
        super::become_warden::default_ignored_signals();
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut()) == 0
    }
}

/// As `execvp` searches: what is missing is passed over, what may not be executed is remembered,
/// anything else is final.
///
/// # Safety
/// In the child; returns, with the reason, only when nothing could be executed.
unsafe fn execute(shared: &Shared) -> c_int {
    let mut reason = libc::ENOENT;
    let mut next = shared.programs;
    unsafe {
        while !(*next).is_null() {
            // Set before, because nothing can be written after: this memory is left behind.
            shared.step.store(step::EXECUTED, Release);
            libc::execve(*next, shared.arguments, shared.environment);
            shared.step.store(step::EXECUTE, Release);
            match *libc::__errno_location() {
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => reason = libc::EACCES,
                other => return other,
            }
            next = next.add(1);
        }
    }
    reason
}
