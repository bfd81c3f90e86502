//! From a listening socket to requests: bounded in number, in size and in time.

use crate::connection_slots::{Client, ConnectionSlots};
use crate::timed_stream::TimedStream;
use crate::tls_files::TlsServer;
use crate::{Server, ServerLimits};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The lines before a request's body.
const HEAD: usize = 16 * 1024;
/// What is read of a body at once.
const BUFFER: usize = 64 * 1024;
/// After an error of the system, such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// One listening socket, and the address under which it may be asked.
#[derive(Debug)]
pub(crate) struct Listener {
    pub socket: StdListener,
    pub tls: Option<TlsServer>,
}

/// Where the server listens: on loopback, and where the user wants it on one other address.
#[derive(Debug)]
pub struct Listening {
    pub(crate) listeners: Vec<Listener>,
    /// `http://127.0.0.1:4711` and so forth: what a browser may name as origin, and as host.
    pub(crate) origins: Vec<String>,
    port: u16,
}

impl Listening {
    /// On this machine alone. Port 0 is any that is free. Without IPv6, IPv4 is enough.
    pub fn loopback(port: u16) -> io::Result<Listening> {
        let first = StdListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let chosen = first.local_addr()?.port();
        let second = match StdListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, chosen))) {
            // What `localhost` means must not be another program's.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && port == 0 => {
                return Listening::loopback(0);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Err(error),
            second => second.ok(),
        };
        let sockets = [first].into_iter().chain(second);
        let listeners = sockets.map(|socket| Listener { socket, tls: None }).collect();
        let names = ["127.0.0.1", "localhost", "[::1]"];
        let origins = names.iter().flat_map(|name| origins("http", &format!("{name}:{chosen}")));
        Ok(Listening { listeners, origins: origins.collect(), port: chosen })
    }

    /// Also on another address, `HOST:PORT`. Without TLS whoever can read the network can read all.
    pub fn also_on(&mut self, address: &str, tls: Option<TlsServer>) -> io::Result<()> {
        let socket = StdListener::bind(address)?;
        if socket.local_addr()?.ip().is_unspecified() {
            let message = "it must be the address or name that a browser is given";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let scheme = if tls.is_some() { "https" } else { "http" };
        self.origins.extend(origins(scheme, &address.to_ascii_lowercase()));
        self.listeners.push(Listener { socket, tls });
        Ok(())
    }

    /// The port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// As a browser writes it, which leaves out the usual port of a scheme.
fn origins(scheme: &str, address: &str) -> impl Iterator<Item = String> + use<> {
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let short = address.strip_suffix(usual).map(|name| format!("{scheme}://{name}"));
    [format!("{scheme}://{address}")].into_iter().chain(short)
}

/// Serves one listening socket, for ever.
pub(crate) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    server: Arc<Server>,
) {
    let limits = server.config.limits;
    let slots = ConnectionSlots::new(limits.connections);
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        match (slots.take(Some(peer)).await, tls.clone()) {
            (None, None) => drop(tokio::spawn(refuse(stream))),
            // Without a handshake nothing can be answered.
            (None, Some(_)) => {}
            (Some((permit, client)), tls) => {
                let stream = TimedStream::new(stream, limits.writing, permit);
                let router = router.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        () = serve_any(stream, tls, router, limits, &client) => {}
                        () = client.must_leave() => {}
                    }
                });
            }
        }
    }
}

async fn serve_any(
    stream: TimedStream<TcpStream>,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: ServerLimits,
    client: &Arc<Client>,
) {
    let Some(tls) = tls else { return serve(stream, router, limits, client).await };
    if let Ok(Ok(stream)) = tokio::time::timeout(limits.reading, tls.accept(stream)).await {
        serve(stream, router, limits, client).await;
    }
}

async fn serve<S>(stream: S, router: Router, limits: ServerLimits, client: &Arc<Client>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(client));
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.reading)
        .max_header_size(HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // What goes wrong with a connection is the client's business.
    let _ = connection.await;
}

/// One more client than there may be. It gets no time to read this.
async fn refuse(mut stream: TcpStream) {
    let _ = tokio::time::timeout(PAUSE, stream.write_all(FULL)).await;
}
