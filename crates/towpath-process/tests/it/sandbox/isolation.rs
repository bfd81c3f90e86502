//! What a policy does not name cannot be reached, whoever the command runs as.

use super::*;
use crate::support::{kill, state, until};
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::net::{TcpListener, UdpSocket};
use std::process::Command;

/// A command that shall not have done anything: what it printed, for the message.
#[track_caller]
fn attempt(kind: Kind, policy: &Policy, script: &str) -> String {
    let (_, stdout, stderr) = texts(run(&mut open_with(kind, policy), &bash(script)));
    format!("{stdout}{stderr}")
}

pub fn homes_cannot_be_read_or_written(kind: Kind) {
    let home = outside();
    let (secret, new) = (home.path().join("secret"), home.path().join("new"));
    fs::write(&secret, "do not read this").expect("a file");
    open_to_all(&secret, 0o666);
    let script = format!(
        "cat '{0}'; cat <'{0}'; ls -A '{2}' /root /home/*; echo changed >'{0}'; echo made >'{1}'
         rm -f '{0}'; mv '{0}' '{1}'; ln '{0}' linked; cat linked; truncate -s 0 '{0}'
         ln -s '{0}' link; cat link",
        secret.display(),
        new.display(),
        home.path().display(),
    );
    for policy in policies() {
        let printed = attempt(kind, &policy, &script);
        assert!(!printed.contains("do not read"), "{printed}");
        assert_eq!(fs::read_to_string(&secret).expect("it is there"), "do not read this");
        assert!(!new.exists(), "{printed}");
    }
}

pub fn readable_is_not_writable(kind: Kind) {
    let directory = outside();
    let file = directory.path().join("file");
    fs::write(&file, "text").expect("a file");
    open_to_all(&file, 0o777);
    let readable = vec![directory.path().to_owned()];
    for policy in policies().map(|policy| Policy { readable: readable.clone(), ..policy }) {
        let script = "cat file; echo x >>file; echo x >new; rm -f file; truncate -s 0 file
                      mkdir below; mv file moved; exec 5<>file && echo opened";
        let mut command = bash(script);
        command.directory = CommandDirectory::At(directory.path().to_owned());
        let (_, stdout, stderr) = texts(run(&mut open_with(kind, &policy), &command));
        assert_eq!(stdout, "text", "{stderr}");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "text");
        assert_eq!(fs::read_dir(directory.path()).expect("it is there").count(), 1);
    }
}

pub fn writable_is_writable(kind: Kind) {
    let directory = outside();
    let writable = vec![directory.path().to_owned()];
    for policy in policies().map(|policy| Policy { writable: writable.clone(), ..policy }) {
        let mut command = bash("mkdir -p a/b && echo made >a/b/file && mv a/b/file . && rm -r a");
        command.directory = CommandDirectory::At(directory.path().to_owned());
        let (status, _, stderr) = texts(run(&mut open_with(kind, &policy), &command));
        assert_eq!(status, EndStatus::Exited(0), "{stderr}");
        let file = directory.path().join("file");
        assert_eq!(fs::read_to_string(&file).expect("it was made"), "made\n");
        fs::remove_file(file).expect("removed");
    }
}

pub fn a_deeper_path_keeps_its_own_rule(kind: Kind) {
    let directory = outside();
    let (above, inside) = (directory.path().to_owned(), directory.path().join("inside"));
    fs::create_dir(&inside).expect("a directory");
    open_to_all(&inside, 0o777);
    for (readable, writable) in [(&above, &inside), (&inside, &above)] {
        let (readable, writable) = (readable.clone(), writable.clone());
        let policy =
            Policy { readable: vec![readable], writable: vec![writable.clone()], ..policy() };
        let mut command = bash("for d in . inside; do echo x >$d/new && echo $d; done 2>/dev/null");
        command.directory = CommandDirectory::At(above.clone());
        let (_, stdout, _) = texts(run(&mut open_with(kind, &policy), &command));
        let expected = if writable == inside { "inside\n" } else { ".\n" };
        assert_eq!(stdout, expected);
    }
}

pub fn the_system_cannot_be_written(kind: Kind) {
    let script = r#"
        for directory in / /usr /usr/bin /etc /opt /bin /lib /var /run /dev /proc /home /root /sys; do
            f=$directory/towpath-sandbox-test
            if (echo x >$f) 2>/dev/null || mkdir $f 2>/dev/null; then echo "made $f"; rm -r $f; fi
        done
        for file in /etc/passwd /usr/bin/env /proc/sys/kernel/hostname; do
            if (exec 5<>$file) 2>/dev/null || (exec 5>>$file) 2>/dev/null; then echo "opened $file"; fi
        done
    "#;
    for policy in policies() {
        assert_eq!(attempt(kind, &policy, script), "");
    }
    assert!(!Path::new("/usr/bin/towpath-sandbox-test").exists());
}

/// Scores and tables of packages can be read, and nothing else of `/var`.
pub fn only_data_of_packages_is_seen_in_var(kind: Kind) {
    let shown = ["/var/games", "/var/lib/dpkg", "/var/cache/man", "/var/cache/fontconfig"];
    let shown = shown.into_iter().filter(|directory| Path::new(directory).is_dir());
    let shown = shown.collect::<Vec<_>>().join(" ");
    let script = format!(
        r#"
        for directory in {shown}; do
            ls $directory >/dev/null || echo "$directory is hidden"
            (echo x >$directory/towpath-sandbox-test) 2>/dev/null && echo "made in $directory"
        done
        for directory in backups cache/debconf crash lib lib/private lib/systemd log mail spool; do
            ls -A /var/$directory 2>/dev/null | grep -vE '^(aspell|d[a-z-]*|g[a-z]*|texmf)$'
        done
        "#
    );
    for policy in policies() {
        assert_eq!(attempt(kind, &policy, &script), "");
    }
}

/// A listener, and whether anyone came.
fn listener() -> (TcpListener, u16, impl Fn(&TcpListener) -> bool) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    (listener, port, |listener: &TcpListener| match listener.accept() {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            false
        }
    })
}

pub fn tcp_is_refused(kind: Kind) {
    let (listener, port, came) = listener();
    for policy in policies() {
        let script = format!("exec 5<>/dev/tcp/127.0.0.1/{port} && echo connected");
        let printed = attempt(kind, &policy, &script);
        assert!(!printed.contains("connected") && !came(&listener), "{printed}");
    }
}

pub fn udp_is_refused(kind: Kind) {
    let (socket, port) = udp();
    for policy in policies() {
        let policy = with_own_program(policy);
        let end = run(&mut open_with(kind, &policy), &role("udp", &[&port.to_string()]));
        assert_eq!(end.status, EndStatus::Exited(0), "it was tried");
        let arrived = socket.recv(&mut [0; 10]).map_err(|error| error.kind());
        assert_eq!(arrived, Err(ErrorKind::WouldBlock));
    }
}

fn udp() -> (UdpSocket, u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.set_nonblocking(true).expect("a socket");
    let port = socket.local_addr().expect("an address").port();
    (socket, port)
}

pub fn abstract_sockets_are_refused(kind: Kind) {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let name = crate::support::run_id();
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    let _listener = UnixListener::bind_addr(&address).expect("a listener");
    for policy in policies() {
        let policy = with_own_program(policy);
        let (_, stdout, _) = texts(run(&mut open_with(kind, &policy), &role("abstract", &[&name])));
        assert!(stdout.starts_with("refused: "), "{stdout}");
    }
}

/// What the refusals above are measured by: with the network the same attempts work.
pub fn the_network_can_be_allowed(kind: Kind) {
    let (listener, port, came) = listener();
    let (socket, udp_port) = udp();
    let policy = with_own_program(Policy { network: true, ..policy() });
    let mut session = open_with(kind, &policy);
    let script = format!("exec 5<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let (_, stdout, stderr) = texts(run(&mut session, &bash(&script)));
    assert_eq!(stdout, "connected\n", "{stderr}");
    assert!(came(&listener));
    run(&mut session, &role("udp", &[&udp_port.to_string()]));
    assert_eq!(socket.recv(&mut [0; 10]).expect("a packet"), 5);
}

pub fn an_own_loopback_works(kind: Kind) {
    let policy = with_own_program(policy());
    let end = run(&mut open_with(kind, &policy), &role("udp", &["9"]));
    let (_, stdout, _) = texts(end);
    assert_eq!(stdout, "Ok(5)\n");
}

struct Bystander(std::process::Child);

impl Bystander {
    fn new() -> Bystander {
        let child = Command::new("sleep").arg("1000").spawn().expect("sleep");
        Bystander(child)
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn other_processes_are_not_seen(kind: Kind) {
    let bystander = Bystander::new();
    for policy in policies() {
        let script = "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; ls -d /proc/[0-9]*";
        let (_, stdout, _) = texts(run(&mut open_with(kind, &policy), &bash(script)));
        assert!(!stdout.contains("sleep 1000"), "{stdout}");
        assert!(stdout.contains("/proc/1\n"), "its own are seen: {stdout}");
        assert!(!stdout.contains(&format!("/proc/{}\n", bystander.0.id())), "{stdout}");
    }
}

pub fn other_processes_cannot_be_signaled(kind: Kind) {
    let bystander = Bystander::new();
    let pid = bystander.0.id();
    for policy in policies() {
        let printed = attempt(kind, &policy, &format!("kill -STOP {pid} && echo sent"));
        assert!(!printed.contains("sent"), "{printed}");
        // A signal would have arrived: it is sent before the command ends.
        assert_ne!(state(pid), 'T');
    }
    kill(pid, rustix::process::Signal::STOP);
    until("the same signal arrives from outside", || state(pid) == 'T');
}

pub fn temporary_files_are_private(kind: Kind) {
    let ours = tempfile::NamedTempFile::new_in("/tmp").expect("a file");
    let mut name = String::new();
    ours.reopen().expect("a file").read_to_string(&mut name).expect("an empty file");
    let name = crate::support::run_id();
    for policy in policies() {
        let script = format!(
            "ls {}; for d in /tmp /var/tmp /dev/shm; do ls -A $d | grep -v sandbox; echo x >$d/{name}; done",
            ours.path().display()
        );
        let (_, stdout, stderr) = texts(run(&mut open_with(kind, &policy), &bash(&script)));
        // The second directory is the first.
        assert_eq!(stdout, format!("{name}\n"), "{stderr}");
        for directory in ["/tmp", "/var/tmp", "/dev/shm"] {
            assert!(!Path::new(directory).join(&name).exists());
        }
    }
}
