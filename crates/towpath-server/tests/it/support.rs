//! A server on a free port with a journal of its own, and a client that writes its bytes by hand.

use jiff::tz::TimeZone;
use std::io::{self, Read, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;
use tempfile::TempDir;
use towpath_core::{JobKey, RunId};
use towpath_run::{Fact, Limits};
use towpath_server::{Listening, ROUTES, RunWords, ServerConfig, ServerLimits, Token, serve};
use towpath_store::{NewFact, NewRun, OutputRef, Store, Summary};

pub struct Running {
    pub port: u16,
    pub token: String,
    pub directory: TempDir,
}

/// Long enough for a busy machine, short enough for a test.
pub const SHORT: Duration = Duration::from_millis(400);
const HANGS: Duration = Duration::from_secs(60);

impl Running {
    pub fn new() -> Running {
        Running::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut ServerConfig)) -> Running {
        Running::start(change, |_| {})
    }

    pub fn listening(change: impl FnOnce(&mut Listening)) -> Running {
        Running::start(|_| {}, change)
    }

    fn start(
        change: impl FnOnce(&mut ServerConfig),
        listen: impl FnOnce(&mut Listening),
    ) -> Running {
        let directory = tempfile::tempdir().expect("a directory");
        let mut listening = Listening::loopback(0).expect("a free port");
        listen(&mut listening);
        let port = listening.port();
        let mut bytes = [7; 16];
        bytes[..2].copy_from_slice(&port.to_be_bytes());
        let token = Token::from_random(bytes);
        let mut config = ServerConfig {
            state: directory.path().to_owned(),
            program: "/nonexistent/program".into(),
            directory: directory.path().to_owned(),
            version: "0.0.0",
            token: token.clone(),
            phone_key: directory.path().join("phone-key"),
            script: None,
            read_only: false,
            zone: TimeZone::UTC,
            run_limits: Limits::DEFAULT,
            limits: ServerLimits::default(),
            describe: |_, _| RunWords::default(),
        };
        change(&mut config);
        std::thread::spawn(move || serve(config, listening));
        Running { port, token: token.as_str().to_owned(), directory }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is there");
        stream.set_read_timeout(Some(HANGS)).expect("a timeout");
        stream
    }

    /// Sends bytes, and reads the answer until the server closes.
    pub fn raw(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(request.as_bytes());
        Answer::read(&mut stream)
    }

    /// A request with these headers and no others.
    pub fn bare(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        self.raw(&format!("{text}\r\n{body}"))
    }

    /// A request as the page sends it, with further headers.
    pub fn ask(&self, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let (host, bearer) = (self.host(), format!("Bearer {}", self.token));
        let mut headers = vec![("host", host.as_str()), ("authorization", bearer.as_str())];
        if method == "POST" {
            headers.push(("content-type", "application/json"));
        }
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend(more.iter().filter(|(_, value)| !value.is_empty()));
        self.bare(method, path, &headers, body)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub fn store(&self) -> Store {
        Store::open(self.directory.path()).expect("a journal")
    }

    /// A run with one job that has started and has no end.
    pub fn add_run(&self, id: &str) -> RunId {
        let id = RunId::new(id).expect("an id");
        let new = NewRun {
            recipe: "ci".to_owned(),
            source: "ci.yaml".to_owned(),
            directory: "/work".into(),
            plan: "{}".to_owned(),
            created_ms: 1,
            summary: Summary::default(),
        };
        let facts = [fact(&Fact::Started), fact(&Fact::job_started(job()))];
        self.store().create_run(&new, &mut |_| id.clone(), &facts).expect("a run");
        id
    }
}

pub fn job() -> JobKey {
    "build#1.0.0:bash".parse().expect("a key")
}

pub fn fact(fact: &Fact) -> NewFact {
    let body = serde_json::to_string(fact).expect("a fact is plain data");
    NewFact {
        at_ms: 2,
        kind: fact.kind(),
        key: fact.key().map(ToString::to_string),
        body,
        stdout: None,
        stderr: None,
    }
}

/// The end of the job, with what it printed.
pub fn finished(stdout: &str) -> NewFact {
    let end = towpath_run::JobEnd::new(towpath_run::JobStatus::Exited(0));
    let fact = fact(&Fact::JobFinished { key: job(), end });
    NewFact { stdout: Some(OutputRef::inline(stdout)), ..fact }
}

#[derive(Debug)]
pub struct Answer {
    /// 0: the server closed without an answer.
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn read(stream: &mut impl Read) -> Answer {
        let mut bytes = Vec::new();
        match stream.read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(error) if is_end(error.kind()) => {}
            Err(error) => panic!("the server does not close: {error}"),
        }
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let head = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Answer { status, head, body: end.map_or(Vec::new(), |end| bytes[end + 4..].to_vec()) }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    #[track_caller]
    pub fn refused(&self, status: u16, kind: &str) {
        assert_eq!(
            (self.status, &self.json()["error"]["kind"]),
            (status, &kind.into()),
            "{self:?}"
        );
    }
}

/// A server that refuses closes at once, also in the middle of a conversation.
fn is_end(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof)
}

/// Every address of the router with its method, filled with names that may exist.
pub fn every_route() -> Vec<(&'static str, String)> {
    let fill = |path: &str| {
        [("{run}", "7f3k"), ("{other}", "7f3k"), ("{*step}", "a/b"), ("{output}", "2.stdout")]
            .iter()
            .fold(path.replace("{name}", "ci").replace("{job}", "2"), |path, (hole, name)| {
                path.replace(hole, name)
            })
    };
    let routes: Vec<_> = ROUTES.iter().map(|route| (route.method, fill(route.path))).collect();
    assert!(routes.len() > 15 && routes.iter().all(|(_, path)| !path.contains('{')), "{routes:?}");
    routes
}

/// A WebSocket, as far as a test needs it.
pub struct Socket {
    pub stream: TcpStream,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Frame {
    Text(String),
    Close(u16),
    /// The connection was closed without a frame.
    Gone,
}

impl Socket {
    /// Connects, or returns why not.
    pub fn open(server: &Running, more: &[(&str, &str)]) -> Result<Socket, Answer> {
        Socket::open_at(server, "/api/v1/events", more)
    }

    pub fn open_at(server: &Running, path: &str, more: &[(&str, &str)]) -> Result<Socket, Answer> {
        let host = server.host();
        let mut headers = vec![("host", host.as_str())];
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend(more);
        let mut text = format!("GET {path} HTTP/1.1\r\nconnection: upgrade\r\n");
        text.push_str("upgrade: websocket\r\nsec-websocket-version: 13\r\n");
        text.push_str("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = server.connect();
        let _ = stream.write_all(format!("{text}\r\n").as_bytes());
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            match stream.read(&mut byte) {
                Ok(1..) => {}
                Ok(0) => break,
                Err(error) if is_end(error.kind()) => break,
                Err(error) => panic!("no answer: {error}"),
            }
            head.extend(byte);
        }
        if head.starts_with(b"HTTP/1.1 101") {
            return Ok(Socket { stream });
        }
        // A server that refuses may have closed already.
        let _ = stream.shutdown(Shutdown::Write);
        Err(Answer::read(&mut head.chain(stream)))
    }

    /// Connects as the page does.
    pub fn hello(server: &Running, since: Option<u64>) -> (Socket, u64) {
        let mut socket = Socket::open(server, &[]).expect("a socket");
        socket.send(&serde_json::json!({ "token": server.token, "since": since }).to_string());
        let hello = socket.json();
        assert_eq!(hello["kind"], "hello", "{hello}");
        let seq = hello["seq"].as_u64().expect("a number");
        (socket, seq)
    }

    pub fn send(&mut self, text: &str) {
        let mut frame = vec![0x81];
        match text.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length @ 126..65536 => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        // A server that refuses a frame by its head does not read the rest.
        let _ = self.stream.write_all(&frame);
    }

    /// The next frame that is no ping.
    pub fn receive(&mut self) -> Frame {
        loop {
            let mut head = [0; 2];
            if self.stream.read_exact(&mut head).is_err() {
                return Frame::Gone;
            }
            let length = match head[1] & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                length => u64::from(length),
            };
            let mut content = vec![0; length as usize];
            self.stream.read_exact(&mut content).expect("a whole frame");
            match head[0] & 0xf {
                1 => return Frame::Text(String::from_utf8(content).expect("text")),
                8 => return Frame::Close(u16::from_be_bytes([content[0], content[1]])),
                _ => {}
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).expect("a whole frame");
        bytes
    }

    #[track_caller]
    pub fn json(&mut self) -> serde_json::Value {
        match self.receive() {
            Frame::Text(text) => serde_json::from_str(&text).expect("JSON"),
            other => panic!("no message: {other:?}"),
        }
    }
}

/// Waits until something is so. The bound is for what hangs: a busy machine needs a part of it.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !so() {
        assert!(began.elapsed() < HANGS, "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
