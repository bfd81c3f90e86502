//! A scripted model server on the loopback interface, in the test's own process: it ends with the
//! test. It speaks Anthropic's Messages, OpenAI's Chat Completions and Responses and Google's Gemini,
//! by the path that a client asks. Each request takes the next answer of the script; one beyond its
//! end is refused with a status that no client tries again. It knows nothing of what a client should
//! send; tests look at what came.

#![allow(dead_code, reason = "each test file uses its part")]

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What the server answers to one request.
#[derive(Debug, Clone)]
pub enum Answer {
    Text(&'static str),
    /// One tool call, with a text before it.
    Tool(&'static str, Value),
    /// An HTTP error with headers and a message.
    Error(u16, &'static [(&'static str, &'static str)], &'static str),
    /// An HTTP error with a body of its own.
    Refusal(u16, Value),
    /// The connection is closed without an answer.
    Nothing,
}

/// What is said before a tool call.
const BEFORE_A_TOOL: &str = "I will do it.";

/// What one answer is said to have used: tokens read, of them from a cache, and written.
pub const USED: (u64, u64, u64) = (100, 20, 10);

#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    shared: Arc<Mutex<Shared>>,
}

/// What a request is answered with, by its body.
type Mind = Box<dyn FnMut(&Value) -> Answer + Send>;

struct Shared {
    mind: Mind,
    requests: Vec<Value>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("requests", &self.requests).finish_non_exhaustive()
    }
}

/// One answer after the other.
fn in_turn(script: Vec<Answer>) -> Mind {
    let mut script = script.into_iter();
    let beyond = || Answer::Error(403, &[], "nothing scripted for this request");
    Box::new(move |_| script.next().unwrap_or_else(beyond))
}

impl ModelServer {
    pub fn new(script: Vec<Answer>) -> ModelServer {
        ModelServer::start(in_turn(script))
    }

    /// Gives one answer to every request.
    pub fn always(answer: Answer) -> ModelServer {
        ModelServer::by(move |_| answer.clone())
    }

    /// Answers each request by what is in it.
    pub fn by(mind: impl FnMut(&Value) -> Answer + Send + 'static) -> ModelServer {
        ModelServer::start(Box::new(mind))
    }

    fn start(mind: Mind) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let port = listener.local_addr().expect("the port").port();
        let shared = Arc::new(Mutex::new(Shared { mind, requests: Vec::new() }));
        let of_server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_server);
                // A client that goes away is the test's matter, not the server's.
                std::thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        ModelServer { port, shared }
    }

    /// From now on these are the answers; what came before is forgotten.
    pub fn now(&self, script: Vec<Answer>) {
        let mut shared = self.shared.lock().expect("no test panics with it");
        shared.mind = in_turn(script);
        shared.requests.clear();
    }

    /// The address for clients that speak OpenAI's languages.
    pub fn url(&self) -> String {
        format!("{}/v1", self.root())
    }

    /// The address without a path.
    pub fn root(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.lock().expect("no test panics with it").requests.clone()
    }
}

/// What a client speaks.
#[derive(Clone, Copy)]
enum Wire {
    Messages,
    Chat,
    Responses,
    Gemini,
}

impl Wire {
    fn of(path: &str) -> Option<Wire> {
        const PATHS: &[(&str, Wire)] = &[
            ("/messages", Wire::Messages),
            ("/chat/completions", Wire::Chat),
            ("/responses", Wire::Responses),
            (":generateContent", Wire::Gemini),
            (":streamGenerateContent", Wire::Gemini),
        ];
        PATHS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, wire)| *wire)
    }

    /// The kind and text of an answer, as a stream or as one object.
    fn speak(
        self,
        answer: &Answer,
        number: usize,
        model: &str,
        stream: bool,
    ) -> (&'static str, String) {
        let text = match (self, stream) {
            (Wire::Messages, true) => messages::streamed(answer, number, model),
            (Wire::Messages, false) => messages::whole(answer, number, model).to_string(),
            (Wire::Chat, true) => chat::streamed(answer, number, model),
            (Wire::Chat, false) => chat::whole(answer, number, model).to_string(),
            (Wire::Responses, true) => responses::streamed(answer, number, model),
            (Wire::Responses, false) => responses::whole(answer, number, model).to_string(),
            (Wire::Gemini, true) => gemini::streamed(answer, number),
            (Wire::Gemini, false) => gemini::whole(answer, number).to_string(),
        };
        (if stream { "text/event-stream" } else { "application/json" }, text)
    }

    fn error(self, status: u16, message: &str) -> Value {
        match self {
            Wire::Messages => messages::error(status, message),
            _ => json!({"error": {"message": message, "type": "scripted"}}),
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((path, body)) = request(&mut reader)? {
        let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let Some(wire) = Wire::of(&path) else {
            respond(&mut stream, 404, &[], "application/json", "{}")?;
            continue;
        };
        let (number, answer) = take(shared, &body);
        match answer {
            Answer::Nothing => return Ok(()),
            Answer::Error(status, headers, message) => {
                let error = wire.error(status, message).to_string();
                respond(&mut stream, status, headers, "application/json", &error)?;
            }
            Answer::Refusal(status, body) => {
                respond(&mut stream, status, &[], "application/json", &body.to_string())?;
            }
            answer => {
                let streamed = body["stream"] == true || path.ends_with(":streamGenerateContent");
                let model = body["model"].as_str().unwrap_or("scripted");
                let (kind, text) = wire.speak(&answer, number, model, streamed);
                respond(&mut stream, 200, &[], kind, &text)?;
            }
        }
    }
    Ok(())
}

fn take(shared: &Mutex<Shared>, body: &Value) -> (usize, Answer) {
    let mut shared = shared.lock().expect("no test panics with it");
    shared.requests.push(body.clone());
    let number = shared.requests.len();
    (number, (shared.mind)(body))
}

/// The path and body of the next request; `None` when the client is done.
fn request(reader: &mut impl BufRead) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let path = first.split(' ').nth(1).unwrap_or("").split('?').next().unwrap_or("").to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => chunked = value.contains("chunked"),
            _ => {}
        }
    }
    let body = if chunked { chunks(reader)? } else { exactly(reader, length)? };
    Ok(Some((path, body)))
}

fn exactly(reader: &mut impl Read, length: usize) -> std::io::Result<Vec<u8>> {
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        body.extend(exactly(reader, size)?);
        exactly(reader, 2)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn respond(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    kind: &str,
    body: &str,
) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}
