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
    /// Whether `stdin` is a terminal that the child shall be controlled by.
    pub terminal: bool,
    pub restrictions: Restrictions,
}

/// What is taken from the child before it executes.
#[derive(Debug, Default)]
pub(crate) struct Restrictions {
    pub limits: Vec<ResourceLimit>,
    /// Becomes this user, which only root can.
    pub user: Option<User>,
    /// Keeps no more than these, as the bits of their numbers.
    pub capabilities: Option<u64>,
    /// Rules of Landlock.
    pub rules: Option<OwnedFd>,
    /// No program gives it more rights than it has.
    pub no_new_privileges: bool,
}

/// A limit that is never above the one that is already in force.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceLimit {
    pub resource: libc::__rlimit_resource_t,
    pub value: libc::rlim_t,
}

/// A user and group, both by this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct User(pub u32);

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
    terminal: bool,
    restrictions: *const Restrictions,
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
        terminal: launch.terminal,
        restrictions: &raw const launch.restrictions,
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
        if libc::setsid() < 0 {
            return false;
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
        if shared.terminal && libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
            return false;
        }
        // Before the death signal: it is forgotten when the user changes.
        if !restrict(&*shared.restrictions) {
            return false;
        }
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) < 0 {
            return false;
        }
        if libc::getppid() != shared.warden {
            libc::_exit(127);
        }
        super::become_warden::default_ignored_signals();
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut()) == 0
    }
}

/// # Safety
/// In a fresh child, whose rights are its own. By the kernel's own calls: the C library would change
/// the user of the warden's threads, too.
unsafe fn restrict(restrictions: &Restrictions) -> bool {
    unsafe {
        for limit in &restrictions.limits {
            let mut known: libc::rlimit = std::mem::zeroed();
            if libc::getrlimit(limit.resource, &mut known) < 0 {
                return false;
            }
            let value = limit.value.min(known.rlim_max);
            let limits = libc::rlimit { rlim_cur: value, rlim_max: value };
            if libc::setrlimit(limit.resource, &limits) < 0 {
                return false;
            }
        }
        if let Some(User(id)) = restrictions.user
            && (libc::syscall(libc::SYS_setgroups, 0, ptr::null::<libc::gid_t>()) < 0
                || libc::syscall(libc::SYS_setresgid, id, id, id) < 0
                || libc::syscall(libc::SYS_setresuid, id, id, id) < 0)
        {
            return false;
        }
        if let Some(kept) = restrictions.capabilities
            && !keep_capabilities(kept)
        {
            return false;
        }
        if restrictions.no_new_privileges && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0
        {
            return false;
        }
        let Some(rules) = &restrictions.rules else { return true };
        libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) == 0
    }
}

/// # Safety
/// In a fresh child.
unsafe fn keep_capabilities(kept: u64) -> bool {
    // The kernel's structures: version and process, then effective, permitted and inheritable of the
    // lower and of the upper half.
    const VERSION: u32 = 0x2008_0522;
    let head = [VERSION, 0];
    let (low, high) = (kept as u32, (kept >> 32) as u32);
    let sets = [low, low, 0, high, high, 0];
    unsafe { libc::syscall(libc::SYS_capset, head.as_ptr(), sets.as_ptr()) == 0 }
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
                missing @ (libc::ENOENT | libc::ENOTDIR) if reason != libc::EACCES => {
                    reason = missing;
                }
                libc::ENOENT | libc::ENOTDIR => {}
                libc::EACCES => reason = libc::EACCES,
                other => return other,
            }
            next = next.add(1);
        }
    }
    reason
}
