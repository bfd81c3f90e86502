//! What this program does when it is a command in a sandbox: the attempts that a shell cannot make. And
//! the owner of a sandbox that a test kills.

use super::*;
use crate::support::{DEADLINE, ESCAPISTS, TOKEN, alarm};
use std::io::Write as _;
use std::process::ExitCode;

/// Comes before the role's name.
pub const ARGUMENT: &str = "--in-sandbox";

pub fn role(arguments: &[OsString]) -> Option<ExitCode> {
    let [first, name, rest @ ..] = arguments else { return None };
    if first != ARGUMENT {
        return None;
    }
    let text = |argument: &OsString| argument.to_str().expect("text").to_owned();
    let rest: Vec<String> = rest.iter().map(text).collect();
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match (text(name).as_str(), &rest[..]) {
        ("fork", [count, then]) => fork_many(count.parse().expect("a number"), then),
        ("map", [bytes]) => map_shared(bytes.parse().expect("a number")),
        ("segment", []) => segment(),
        ("abstract", [socket]) => connect_abstract(socket),
        ("udp", [port]) => send_udp(port.parse().expect("a port")),
        ("reach", [pid]) => reach(pid.parse().expect("a process")),
        ("owner", [kind, token, mode]) => own_sandbox(kind, token, mode),
        other => panic!("no such role: {other:?}"),
    }
    Some(ExitCode::SUCCESS)
}

fn print(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("an open stdout");
}

/// Makes children that stay, and prints how many it was allowed to make. With all of them it stays, too,
/// or leaves.
fn fork_many(count: usize, then: &str) {
    for number in 0..count {
        // SAFETY: one thread; the child only waits for its end.
        match unsafe { libc::fork() } {
            0 => loop {
                // SAFETY: waits.
                unsafe { libc::pause() };
            },
            -1 => {
                return print(&format!("{number} {}", std::io::Error::last_os_error()));
            }
            _ => {}
        }
    }
    print(&format!("{count} all"));
    if then == "stay" {
        // SAFETY: waits.
        unsafe { libc::pause() };
    }
}

/// Memory that is shared, which is no process's own, and that no file is made for.
fn map_shared(bytes: usize) {
    // SAFETY: a new mapping, which is written within its bounds.
    unsafe {
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let memory = libc::mmap(std::ptr::null_mut(), bytes, rights, flags, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::memset(memory, 1, bytes);
        libc::pause();
    }
}

/// A segment of shared memory that outlives this process.
fn segment() {
    // SAFETY: plain calls.
    let made = unsafe { libc::shmget(0x7031, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o666) };
    print(if made >= 0 { "new" } else { "old" });
}

fn connect_abstract(name: &str) {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixStream};
    let address = SocketAddr::from_abstract_name(name).expect("a name");
    match UnixStream::connect_addr(&address) {
        Ok(_) => print("connected"),
        Err(error) => print(&format!("refused: {error}")),
    }
}

fn send_udp(port: u16) {
    let sent = std::net::UdpSocket::bind("127.0.0.1:0")
        .and_then(|socket| socket.send_to(b"hello", ("127.0.0.1", port)));
    print(&format!("{sent:?}"));
}

/// Everything by which one process reaches into another. Prints what worked.
fn reach(pid: i32) {
    let mut worked = Vec::new();
    for file in ["mem", "environ", "fd/0", "fd/1", "fd/2", "root", "cwd"] {
        let path = format!("/proc/{pid}/{file}");
        if std::fs::File::open(&path).is_ok() {
            worked.push(path);
        }
    }
    // SAFETY: attempts that are refused; one that is not ends with this process.
    unsafe {
        let nothing = std::ptr::null_mut::<u8>();
        if libc::ptrace(libc::PTRACE_SEIZE, pid, nothing, nothing) == 0 {
            worked.push("trace".to_owned());
        }
        if libc::kill(pid, 0) == 0 && libc::kill(pid, libc::SIGKILL) == 0 {
            // The first process of a namespace takes a signal and ignores it.
            std::thread::sleep(Duration::from_millis(100));
            if !Path::new(&format!("/proc/{pid}")).exists() {
                worked.push("kill".to_owned());
            }
        }
        let handle = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        for number in 0..20 {
            if libc::syscall(libc::SYS_pidfd_getfd, handle, number, 0) >= 0 {
                worked.push(format!("a copy of file {number}"));
            }
        }
    }
    print(&format!("{worked:?}"));
}

/// Opens a sandbox, runs what does not end, and waits for its own end.
fn own_sandbox(kind: &str, token: &str, mode: &str) {
    alarm(DEADLINE);
    let kind = [Kind::Bubblewrap, Kind::Namespaces, Kind::Landlock, Kind::None]
        .into_iter()
        .find(|known| format!("{known:?}") == kind)
        .expect("a kind");
    let mut session = open(kind);
    if mode == "leaky" {
        // A process that inherits everything, the owner's end of the socket included.
        // SAFETY: one thread; the child only waits for its end.
        if unsafe { libc::fork() } == 0 {
            alarm(DEADLINE);
            // SAFETY: waits.
            unsafe { libc::pause() };
        }
    }
    let mut command = bash(&ESCAPISTS.replace("$TEST_TOKEN", token));
    command.environment.push((TOKEN.into(), token.into()));
    command.time_limit = Duration::from_secs(1000);
    run(&mut session, &command);
}
