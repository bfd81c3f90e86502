//! An address beside loopback, for other machines: with the user's certificate, or plain where asked.

use crate::support::{Answer, Running};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fs::Permissions;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_server::{Listening, TlsServer};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/other_address").join(name)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Asks over TLS, with this host and this origin.
fn ask_over_tls(server: &Running, port: u16, host: &str, origin: &str) -> Answer {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(file("certificate.pem")).expect("PEM");
    roots.add(certificate).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").expect("a name");
    let client = ClientConnection::new(Arc::new(config), name).expect("a client");
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server is there");
    let mut stream = StreamOwned::new(client, stream);
    let request = format!(
        "GET /api/v1/runs HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\nconnection: close\r\n\
         authorization: Bearer {}\r\n\r\n",
        server.token
    );
    stream.write_all(request.as_bytes()).expect("a request");
    Answer::read(&mut stream)
}

#[test]
fn another_address_is_served_with_the_certificate_of_the_user() {
    let port = free_port();
    let address = format!("localhost:{port}");
    let directory = tempfile::tempdir().expect("a directory");
    let key = directory.path().join("key.pem");
    std::fs::copy(file("key.pem"), &key).expect("a copy");
    let mode = |mode| std::fs::set_permissions(&key, Permissions::from_mode(mode)).expect("a mode");
    mode(0o644);
    let refused = TlsServer::read(&file("certificate.pem"), &key).expect_err("it is refused");
    assert!(refused.to_string().contains("every user can read this key"), "{refused}");
    mode(0o600);
    let tls = TlsServer::read(&file("certificate.pem"), &key).expect("a certificate");
    let server = Running::listening(|listening: &mut Listening| {
        listening.also_on(&address, Some(tls)).expect("it listens");
    });
    let (origin, loopback) = (format!("https://{address}"), server.host());
    assert_eq!(ask_over_tls(&server, port, &address, &origin).status, 200);
    ask_over_tls(&server, port, "evil.example", &origin).refused(403, "foreign-host");
    let plain = format!("http://{address}");
    ask_over_tls(&server, port, &address, &plain).refused(403, "foreign-origin");
    assert_eq!(server.get("/api/v1/runs").status, 200, "loopback is served as well: {loopback}");
    let mut unencrypted = TcpStream::connect(("127.0.0.1", port)).expect("the server is there");
    unencrypted.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("a request");
    assert_eq!(Answer::read(&mut unencrypted).body, b"", "nothing without TLS");
}

#[test]
fn files_that_are_no_certificate_are_refused() {
    for (certificate, key, reason) in [
        ("nothing.pem", "key.pem", "nothing.pem: "),
        ("key.pem", "key.pem", "there is no certificate in it"),
        ("certificate.pem", "certificate.pem", "certificate.pem: "),
    ] {
        let refused = TlsServer::read(&file(certificate), &file(key)).expect_err("it is refused");
        assert!(refused.to_string().contains(reason), "{refused}");
    }
}

#[test]
fn an_address_that_no_browser_can_be_given_is_refused() {
    let mut listening = Listening::loopback(0).expect("a free port");
    for address in ["0.0.0.0:0", "[::]:0", "nowhere", "localhost:99999"] {
        assert!(listening.also_on(address, None).is_err(), "{address}");
    }
}
