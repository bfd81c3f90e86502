//! A server of the page that was started as a user does it, and a client of it.

use crate::support::User;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::Duration;

pub struct Page {
    child: Child,
    pub address: String,
    pub port: u16,
    pub token: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Page {
    pub fn start(user: &User, more: &[&str]) -> Page {
        let mut command = user.command(&[&["ui", "--no-open"], more].concat());
        let mut child = command.spawn().expect("the server starts");
        let mut address = String::new();
        let stdout = child.stdout.take().expect("its stdout");
        BufReader::new(stdout).read_line(&mut address).expect("an address");
        let address = address.trim_end().to_owned();
        let (before, token) = address.split_once("#t=").unwrap_or_else(|| panic!("{address:?}"));
        let port = before.split(':').nth(2).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.parse().ok()).expect("a port");
        Page { port, token: token.to_owned(), child, address }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("the server is there");
        self.child.wait().expect("the server is gone");
    }

    pub fn with_token(&self, path: &str, token: &str) -> Answer {
        self.request(&format!("GET {path} HTTP/1.1"), token, "")
    }

    fn request(&self, line: &str, token: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is there");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let text = format!(
            "{line}\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(text.as_bytes()).expect("a request");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    pub fn ask(&self, path: &str) -> Answer {
        self.with_token(&format!("/api/v1/{path}"), &self.token)
    }

    /// A view, which must be there.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        let answer = self.ask(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let line = format!("POST /api/v1/{path} HTTP/1.1");
        self.request(&line, &self.token, &body.to_string())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    #[track_caller]
    pub fn refused(&self, status: u16, kind: &str, message: &str) {
        let error = &self.json()["error"];
        assert_eq!((self.status, error["kind"].as_str()), (status, Some(kind)), "{self:?}");
        assert!(error["message"].as_str().unwrap_or_default().contains(message), "{error}");
    }
}

/// The messages of the server's WebSocket.
pub struct Messages {
    stream: TcpStream,
}

impl Page {
    /// A WebSocket at a path, of which nothing is read yet.
    pub fn socket(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is there");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            self.port
        );
        stream.write_all(request.as_bytes()).expect("a request");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).expect("an answer");
            head.extend(byte);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        stream
    }

    /// Connects, and takes the first message.
    pub fn messages(&self, since: Option<u64>) -> (Messages, Value) {
        let mut stream = self.socket("/api/v1/events");
        let first = serde_json::json!({ "token": self.token, "since": since }).to_string();
        let length = u8::try_from(first.len()).expect("a short message");
        assert!(length < 126);
        stream.write_all(&[0x81, 0x80 | length, 0, 0, 0, 0]).expect("a frame");
        stream.write_all(first.as_bytes()).expect("a message");
        let mut messages = Messages { stream };
        let hello = messages.next();
        (messages, hello)
    }
}

impl Messages {
    /// The next message; each is short.
    pub fn next(&mut self) -> Value {
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).expect("a frame");
            let length = match head[1] {
                126 => {
                    let mut bytes = [0; 2];
                    self.stream.read_exact(&mut bytes).expect("a length");
                    usize::from(u16::from_be_bytes(bytes))
                }
                length => usize::from(length),
            };
            let mut content = vec![0; length];
            self.stream.read_exact(&mut content).expect("a whole frame");
            if head[0] & 0xf == 1 {
                return serde_json::from_slice(&content).expect("JSON");
            }
        }
    }
}
