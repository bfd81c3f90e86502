//! What a client may use up, and what becomes of one that wants more.

use crate::support::{Answer, Frame, Running, SHORT, Socket};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

fn impatient() -> Running {
    Running::with(|config| {
        config.limits.reading = SHORT;
        config.limits.writing = SHORT;
    })
}

#[test]
fn a_large_head_is_refused() {
    let server = Running::new();
    let ask = |bytes: usize| server.ask("GET", "/api/v1/runs", &[("x", &"a".repeat(bytes))], "");
    assert_eq!(ask(15 * 1024).status, 200);
    assert_eq!(ask(17 * 1024).status, 431);
    let many: Vec<(&str, &str)> = vec![("x", "y"); 200];
    assert_eq!(server.ask("GET", "/api/v1/runs", &many, "").status, 431);
    let long = format!("/api/v1/runs?text={}", "a".repeat(64 * 1024));
    assert!(matches!(server.get(&long).status, 414 | 431));
}

#[test]
fn a_large_body_is_refused() {
    let server = Running::new();
    let body = |bytes: usize| format!("{{\"recipe\":\"{}\"}}", "a".repeat(bytes - 13));
    let post = |bytes: usize| server.ask("POST", "/api/v1/runs", &[], &body(bytes));
    post(1024 * 1024 + 1).refused(413, "too-large");
    // It is read, and then no command can have such an argument.
    post(1024 * 1024).refused(400, "bad-input");
}

#[test]
fn a_large_frame_ends_the_socket() {
    let server = Running::new();
    for first in [true, false] {
        let mut socket = match first {
            true => Socket::open(&server, &[]).expect("a socket"),
            false => Socket::hello(&server, None).0,
        };
        socket.send(&" ".repeat(1024 * 1024 + 1));
        assert!(matches!(socket.receive(), Frame::Gone | Frame::Close(_)));
    }
}

#[test]
fn a_client_that_does_not_finish_its_request_is_disconnected() {
    let server = impatient();
    for part in ["", "GET /api/v1/runs HTT", "GET / HTTP/1.1\r\nhost: a\r\n"] {
        let mut stream = server.connect();
        stream.write_all(part.as_bytes()).expect("a part");
        assert_eq!(Answer::read(&mut stream).body, b"", "{part:?}");
    }
    let (host, token) = (server.host(), &server.token);
    let mut stream = server.connect();
    let part = format!(
        "POST /api/v1/runs HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    );
    stream.write_all(part.as_bytes()).expect("a part");
    Answer::read(&mut stream).refused(408, "too-slow");
    let mut socket = Socket::open(&server, &[]).expect("a socket");
    assert_eq!(socket.receive(), Frame::Close(1008));
}

#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let server = impatient();
    let run = server.add_run("7f3k");
    let directory = server.store().ensure_run_directory(&run).expect("a directory");
    std::fs::write(directory.join("2.stdout"), vec![b'a'; 1024 * 1024]).expect("an output");
    let request = format!(
        "GET /api/v1/runs/7f3k/logs/2.stdout HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        server.host(),
        server.token
    );
    const TIMES: usize = 64;
    let mut stream = server.connect();
    stream.write_all(request.repeat(TIMES).as_bytes()).expect("requests");
    // The server's own count of connections shows that it has closed this one.
    let mut others: Vec<TcpStream> = Vec::new();
    crate::support::until("all connections but none for the slow client are free", || {
        others.clear();
        (0..64).all(|_| {
            others.push(server.connect());
            others.last_mut().is_some_and(|other| is_served_with_token(other, &server))
        })
    });
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    assert!(bytes.len() < TIMES * 1024 * 1024, "{} bytes", bytes.len());
}

fn is_served(stream: &mut TcpStream, server: &Running) -> bool {
    is_answered(stream, &format!("GET / HTTP/1.1\r\nhost: {}\r\n\r\n", server.host()))
}

fn is_served_with_token(stream: &mut TcpStream, server: &Running) -> bool {
    let (host, token) = (server.host(), &server.token);
    let request = format!(
        "GET /api/v1/server HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    is_answered(stream, &request)
}

fn is_answered(stream: &mut TcpStream, request: &str) -> bool {
    let mut head = [0; 12];
    let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_exact(&mut head));
    asked.is_ok() && &head == b"HTTP/1.1 200"
}

#[test]
fn of_two_hundred_connections_sixty_four_are_served_and_whoever_has_the_token() {
    let server = Running::new();
    let mut silent: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    assert_eq!(server.get("/api/v1/runs").status, 200, "strangers do not lock the user out");
    let served = silent.iter_mut().map(|stream| is_served(stream, &server));
    let served = served.filter(|served| *served).count();
    assert!((60..=64).contains(&served), "{served} are still connected");
    // Strangers who ask all the time are strangers, too; so are sockets that send nothing.
    let _sockets: Vec<Socket> =
        (0..64).map(|_| Socket::open(&server, &[]).expect("a socket")).collect();
    let (mut socket, _) = Socket::hello(&server, None);
    let _strangers: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
    let run = server.add_run("7f3k");
    assert!(matches!(socket.receive(), Frame::Text(text) if text.contains(run.as_str())));
}

#[test]
fn a_socket_counts_as_a_connection() {
    let server = Running::with(|config| config.limits.connections = 2);
    let sockets = [Socket::hello(&server, None), Socket::hello(&server, None)];
    assert!(!is_served(&mut server.connect(), &server));
    drop(sockets);
    crate::support::until("connections are free again", || {
        is_served(&mut server.connect(), &server)
    });
}
