//! A scripted model server that speaks OpenAI's Chat Completions, on the loopback interface and in
//! the test's own process: it ends with the test. Each request takes the next answer of the script;
//! one beyond its end is refused with a status that no client tries again. It knows nothing of what
//! a client should send; tests look at what came.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
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
}

/// What one answer is said to have used: tokens read, of them from a cache, and written.
pub const USED: (u64, u64, u64) = (100, 20, 10);

#[derive(Debug)]
pub struct ChatServer {
    port: u16,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    script: Vec<Answer>,
    /// The last answer is given again and again.
    repeat: bool,
    requests: Vec<Value>,
}

impl ChatServer {
    pub fn new(script: Vec<Answer>) -> ChatServer {
        ChatServer::start(script, false)
    }

    /// Gives one answer to every request.
    pub fn always(answer: Answer) -> ChatServer {
        ChatServer::start(vec![answer], true)
    }

    fn start(script: Vec<Answer>, repeat: bool) -> ChatServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let port = listener.local_addr().expect("the port").port();
        let shared = Arc::new(Mutex::new(Shared { script, repeat, requests: Vec::new() }));
        let of_server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_server);
                // A client that goes away is the test's matter, not the server's.
                std::thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        ChatServer { port, shared }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies of the requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.lock().expect("no test panics with it").requests.clone()
    }
}

fn serve(stream: TcpStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    while let Some((path, body)) = request(&mut reader)? {
        let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if !path.ends_with("/chat/completions") {
            respond(&mut stream, 404, &[], "application/json", b"{}")?;
            continue;
        }
        let (number, answer) = take(shared, &body);
        let model = body["model"].as_str().unwrap_or("scripted");
        match answer {
            Answer::Error(status, headers, message) => {
                let error = json!({"error": {"message": message, "type": "scripted"}});
                let error = error.to_string();
                respond(&mut stream, status, headers, "application/json", error.as_bytes())?;
            }
            answer if body["stream"] == true => {
                let events = streamed(&answer, number, model);
                respond(&mut stream, 200, &[], "text/event-stream", events.as_bytes())?;
            }
            answer => {
                let whole = whole(&answer, number, model).to_string();
                respond(&mut stream, 200, &[], "application/json", whole.as_bytes())?;
            }
        }
    }
    Ok(())
}

fn take(shared: &Mutex<Shared>, body: &Value) -> (usize, Answer) {
    let mut shared = shared.lock().expect("no test panics with it");
    shared.requests.push(body.clone());
    let number = shared.requests.len();
    let at = if shared.repeat { 0 } else { number - 1 };
    let beyond = Answer::Error(403, &[], "nothing scripted for this request");
    (number, shared.script.get(at).cloned().unwrap_or(beyond))
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
    body: &[u8],
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
    stream.write_all(body)?;
    stream.flush()
}

fn usage() -> Value {
    let (read, cached, written) = USED;
    json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
           "prompt_tokens_details": {"cached_tokens": cached}})
}

/// The text and tool calls of an answer, and why it ends.
fn parts(answer: &Answer, number: usize) -> (&'static str, Vec<Value>, &'static str) {
    match answer {
        Answer::Text(text) => (text, Vec::new(), "stop"),
        Answer::Tool(name, arguments) => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function",
                              "function": function});
            ("I will do it.", vec![call], "tool_calls")
        }
        Answer::Error(..) => unreachable!("errors are answered by their status"),
    }
}

fn whole(answer: &Answer, number: usize, model: &str) -> Value {
    let (text, calls, why) = parts(answer, number);
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1,
           "model": model, "usage": usage(),
           "choices": [{"index": 0, "message": message, "finish_reason": why}]})
}

fn streamed(answer: &Answer, number: usize, model: &str) -> String {
    let (text, calls, why) = parts(answer, number);
    let chunk = |choices: Value, usage: Value| {
        json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1,
               "model": model, "choices": choices, "usage": usage})
    };
    let delta = |delta: Value, why: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": why}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": text}), None)];
    if !calls.is_empty() {
        events.push(delta(json!({"tool_calls": calls}), None));
    }
    events.push(delta(json!({}), Some(why)));
    events.push(chunk(json!([]), usage()));
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect::<String>() + "data: [DONE]\n\n"
}
