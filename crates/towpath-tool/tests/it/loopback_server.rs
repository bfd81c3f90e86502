//! A server on loopback that answers as a test wants, also wrongly: too much, too little, nothing.

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

pub const CERTIFICATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/loopback-certificates");

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    Body(Vec<u8>),
    Status(u16),
    Redirect(String),
    /// Announces more than it sends.
    Truncated(Vec<u8>, usize),
    /// Announces nothing and sends without end.
    Endless,
    /// Sends a byte now and then, without end.
    Dripping,
    HangUp,
    /// Never answers; returns when the client has gone.
    Silence,
}

type Answer = dyn Fn(&str) -> Reply + Send + Sync;

pub struct LoopbackServer {
    address: SocketAddr,
    encrypted: bool,
    requests: Arc<Mutex<Vec<String>>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LoopbackServer {
    /// `answer` gets the path of a request.
    pub fn new(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> LoopbackServer {
        LoopbackServer::start(Arc::new(answer), None)
    }

    pub fn encrypted(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> LoopbackServer {
        let file = |name: &str| format!("{CERTIFICATES}/{name}");
        let certificate = CertificateDer::from_pem_file(file("localhost.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(file("localhost-key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        LoopbackServer::start(Arc::new(answer), Some(Arc::new(config)))
    }

    fn start(answer: Arc<Answer>, tls: Option<Arc<ServerConfig>>) -> LoopbackServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
        let address = listener.local_addr().unwrap();
        let (requests, stopping) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let encrypted = tls.is_some();
        let (seen, stop) = (Arc::clone(&requests), Arc::clone(&stopping));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, tls, seen) = (Arc::clone(&answer), tls.clone(), Arc::clone(&seen));
                std::thread::spawn(move || match tls {
                    None => serve(stream, &*answer, &seen),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(connection, stream), &*answer, &seen);
                    }
                });
            }
        });
        LoopbackServer { address, encrypted, requests, stopping, thread: Some(thread) }
    }

    pub fn url(&self, path: &str) -> String {
        let scheme = if self.encrypted { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// The paths that were asked for, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One request; the connection ends after it.
fn serve(stream: impl Read + Write, answer: &Answer, seen: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut header = String::new();
    while reader.read_line(&mut header).is_ok_and(|read| read > 2) {
        header.clear();
    }
    seen.lock().unwrap().push(path.clone());
    if line.starts_with("CONNECT ") {
        // A proxy that plays the server itself.
        let opened = reader.get_mut().write_all(b"HTTP/1.1 200 Opened\r\n\r\n");
        return opened.map_or((), |()| serve(reader.into_inner(), answer, seen));
    }
    let reply = answer(&path);
    let mut stream = reader.into_inner();
    // A client that has gone makes writing fail; that is its decision.
    let _ = respond(&mut stream, reply).and_then(|()| stream.flush());
}

fn respond(stream: &mut (impl Read + Write), reply: Reply) -> std::io::Result<()> {
    let mut head = |status: &str, headers: &str| {
        write!(stream, "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n")
    };
    match reply {
        Reply::Body(bytes) => {
            let page = match &bytes[..] {
                html if html.starts_with(b"<html>") => "content-type: text/html\r\n",
                // A page of an index of Python's packages.
                page if page.starts_with(b"{\"meta\":") => {
                    "content-type: application/vnd.pypi.simple.v1+json\r\n"
                }
                _ => "",
            };
            head("200 OK", &format!("content-length: {}\r\n{page}", bytes.len()))?;
            stream.write_all(&bytes)
        }
        Reply::Status(code) => head(&format!("{code} Status"), "content-length: 0\r\n"),
        Reply::Redirect(to) => {
            head("302 Found", &format!("location: {to}\r\ncontent-length: 0\r\n"))
        }
        Reply::Truncated(bytes, announced) => {
            head("200 OK", &format!("content-length: {announced}\r\n"))?;
            stream.write_all(&bytes)
        }
        Reply::Endless => {
            head("200 OK", "transfer-encoding: chunked\r\n")?;
            loop {
                stream.write_all(b"400\r\n")?;
                stream.write_all(&[b'x'; 1024])?;
                stream.write_all(b"\r\n")?;
            }
        }
        Reply::Dripping => {
            head("200 OK", "transfer-encoding: chunked\r\n")?;
            loop {
                stream.write_all(b"1\r\n \r\n")?;
                stream.flush()?;
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Reply::HangUp => Ok(()),
        Reply::Silence => {
            let _ = stream.read_to_end(&mut Vec::new());
            Ok(())
        }
    }
}
