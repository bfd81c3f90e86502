//! A remote client: a WebSocket without a browser, with the key of `--phone`.

use super::page_client::Page;
use crate::support::User;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

pub struct Phone {
    stream: TcpStream,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Received {
    Message(Value),
    /// With its code; 1005 is none.
    Closed(u16),
}

/// The key that `towpath ui --phone` has made.
pub fn key(user: &User) -> String {
    let key = fs::read_to_string(user.path("home/state/ui/phone-key")).expect("a key");
    key.trim_end().to_owned()
}

/// A server with a key, whose runs ask the scripted agent.
pub fn server(user: &User) -> Page {
    let page = Page::start(user, &["--phone", "--script", "answers.jsonl"]);
    crate::support::until("there is a key", || user.path("home/state/ui/phone-key").exists());
    page
}

impl Phone {
    /// Connects, and takes nothing.
    pub fn open(page: &Page, path: &str) -> Phone {
        Phone { stream: page.socket(path) }
    }

    /// Connects with a key, and takes the messages that every client gets first.
    pub fn connect(page: &Page, key: &str) -> Phone {
        let mut phone = Phone::open(page, "/ws");
        assert_eq!(phone.next()["type"], "hello");
        phone.send(&json!({ "type": "connect", "api_key": key }));
        for kind in ["connected", "session_list", "recent_sessions", "available_commands"] {
            assert_eq!(phone.next()["type"], kind);
        }
        phone
    }

    pub fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub fn send_text(&mut self, text: &str) {
        let length = u16::try_from(text.len()).expect("a short message");
        let mut frame = vec![0x81, 0x80 | 126];
        frame.extend(length.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).expect("a frame");
    }

    /// Closes without a code.
    pub fn close(&mut self) {
        self.stream.write_all(&[0x88, 0x80, 0, 0, 0, 0]).expect("a frame");
    }

    /// The server sends a ping now and then: whoever waits for ever is found out by their number.
    #[track_caller]
    pub fn receive(&mut self) -> Received {
        for _ in 0..4 {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).expect("a frame");
            let length = match head[1] {
                126 => u64::from(u16::from_be_bytes(self.bytes())),
                127 => u64::from_be_bytes(self.bytes()),
                length => u64::from(length),
            };
            let mut content = vec![0; length as usize];
            self.stream.read_exact(&mut content).expect("a whole frame");
            match (head[0] & 0xf, &content[..]) {
                (1, text) => return Received::Message(serde_json::from_slice(text).expect("JSON")),
                (8, [high, low, ..]) => return Received::Closed(u16::from_be_bytes([*high, *low])),
                (8, _) => return Received::Closed(1005),
                _ => {}
            }
        }
        panic!("the server sends nothing");
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).expect("a whole frame");
        bytes
    }

    #[track_caller]
    pub fn next(&mut self) -> Value {
        match self.receive() {
            Received::Message(message) => message,
            closed @ Received::Closed(_) => panic!("{closed:?}"),
        }
    }

    #[track_caller]
    pub fn expect(&mut self, message: Value) {
        assert_eq!(self.next(), message);
    }

    /// Everything up to a message of this type.
    #[track_caller]
    pub fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        for _ in 0..100 {
            messages.push(self.next());
            if messages.last().is_some_and(|message| message["type"] == kind) {
                return messages;
            }
        }
        panic!("no {kind} in {messages:#?}");
    }

    pub fn start(&mut self, user: &User, session: &str, recipe: &str) {
        let directory = user.path("work");
        self.send(&json!({
            "type": "start_recipe", "session_id": session, "recipe_id": recipe,
            "working_directory": directory,
        }));
    }

    pub fn exit(&mut self, session: &str) {
        self.send(&json!({ "type": "exit_recipe", "session_id": session }));
    }
}

pub fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["type"].as_str().expect("a type")).collect()
}
