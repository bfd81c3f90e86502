//! Downloads from servers on loopback, honest and not.

use crate::loopback_server::{CERTIFICATES, LoopbackServer, Reply};
use std::fs;
use std::path::Path;
use std::time::Duration;
use towpath_tool::download::{DownloadError, Expected, HttpClient};

/// Of `hello\n`.
const HELLO: &str = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

const ANY: Expected<'static> = Expected { sha256: None, most_bytes: 100_000 };

fn client() -> HttpClient {
    // Short, because one test waits for it; no other server is silent.
    HttpClient { patience: Duration::from_secs(2), ..HttpClient::default() }
}

fn download(url: &str, directory: &Path, expected: Expected<'_>) -> Result<String, DownloadError> {
    let result = client().download(url, &directory.join("file"), expected, &mut |_, _| {});
    let left = fs::read_dir(directory).unwrap().count();
    assert_eq!(left, usize::from(result.is_ok()), "a failed download leaves no file: {result:?}");
    result
}

fn server() -> LoopbackServer {
    LoopbackServer::new(|path| match path {
        "/hello" => Reply::Body(b"hello\n".to_vec()),
        "/moved" => Reply::Redirect("/moved/again".to_owned()),
        "/moved/again" => Reply::Redirect("../hello".to_owned()),
        "/loop" => Reply::Redirect("/loop".to_owned()),
        "/truncated" => Reply::Truncated(b"hel".to_vec(), 6),
        "/large" => Reply::Body(vec![0; 100_001]),
        "/endless" => Reply::Endless,
        "/dripping" => Reply::Dripping,
        "/hang-up" => Reply::HangUp,
        "/silence" => Reply::Silence,
        "/broken" => Reply::Status(500),
        _ => Reply::Status(404),
    })
}

#[test]
fn a_file_arrives_with_its_checksum_and_its_amounts() {
    let (server, directory) = (server(), tempfile::tempdir().unwrap());
    for path in ["/hello", "/moved"] {
        let file = directory.path().join(&path[1..]);
        let mut amounts = Vec::new();
        let expected = Expected { sha256: Some(HELLO), ..ANY };
        let mut note = |done, total| amounts.push((done, total));
        let found = client().download(&server.url(path), &file, expected, &mut note).unwrap();
        assert_eq!(found, HELLO);
        assert_eq!(amounts.last(), Some(&(6, Some(6))));
        assert_eq!(fs::read_to_string(file).unwrap(), "hello\n");
    }
    assert_eq!(server.requests(), ["/hello", "/moved", "/moved/again", "/hello"]);
}

#[test]
fn what_is_not_as_expected_is_refused() {
    let (server, directory) = (server(), tempfile::tempdir().unwrap());
    let refused = |path: &str, expected| {
        let result = download(&server.url(path), directory.path(), expected);
        result.expect_err("it is refused")
    };
    let wrong = "0".repeat(64);
    let error = refused("/hello", Expected { sha256: Some(&wrong), ..ANY });
    assert!(
        matches!(&error, DownloadError::Checksum { expected, found, .. } if *expected == wrong && found == HELLO),
        "{error:?}"
    );
    assert!(matches!(refused("/truncated", ANY), DownloadError::Truncated { .. }));
    assert!(matches!(refused("/hang-up", ANY), DownloadError::Truncated { .. }));
    assert!(matches!(refused("/large", ANY), DownloadError::TooLarge { limit: 100_000, .. }));
    assert!(matches!(refused("/endless", ANY), DownloadError::TooLarge { .. }));
    assert!(matches!(refused("/loop", ANY), DownloadError::Redirects { .. }));
    assert!(matches!(refused("/silence", ANY), DownloadError::TimedOut { .. }));
    assert!(matches!(refused("/dripping", ANY), DownloadError::TimedOut { .. }));
    assert!(matches!(refused("/broken", ANY), DownloadError::Status { code: 500, .. }));
    assert!(matches!(refused("/nothing", ANY), DownloadError::Status { code: 404, .. }));
}

#[test]
fn a_server_that_is_not_there_is_reported() {
    let url = server().url("/hello");
    let directory = tempfile::tempdir().unwrap();
    let error = download(&url, directory.path(), ANY).expect_err("nobody listens");
    assert!(matches!(error, DownloadError::Unreachable { .. }), "{error:?}");
    let error = download("http://", directory.path(), ANY).expect_err("no host");
    assert!(matches!(error, DownloadError::Url(_)), "{error:?}");
}

#[test]
fn a_file_that_exists_is_not_replaced() {
    let (server, directory) = (server(), tempfile::tempdir().unwrap());
    let file = directory.path().join("file");
    fs::write(&file, "mine").unwrap();
    let result = client().download(&server.url("/hello"), &file, ANY, &mut |_, _| {});
    assert!(matches!(result, Err(DownloadError::Io { .. })));
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn a_short_text_is_read_or_absent() {
    let server = server();
    let text = |path| client().text(&server.url(path), &[], 1000);
    assert_eq!(text("/hello").unwrap().as_deref(), Some("hello\n"));
    assert_eq!(text("/nothing").unwrap(), None);
    assert!(matches!(text("/broken"), Err(DownloadError::Status { code: 500, .. })));
    assert!(matches!(text("/endless"), Err(DownloadError::TooLarge { limit: 1000, .. })));
}

#[test]
fn certificates_are_checked_and_encryption_is_not_left() {
    let plain = server().url("/hello");
    let server = LoopbackServer::encrypted(move |path| match path {
        "/down" => Reply::Redirect(plain.clone()),
        _ => Reply::Body(b"hello\n".to_vec()),
    });
    let directory = tempfile::tempdir().unwrap();
    let get = |certificates: Option<&str>, path| {
        let certificates = certificates.map(|name| Path::new(CERTIFICATES).join(name));
        let client = HttpClient { certificates, ..HttpClient::default() };
        client.download(&server.url(path), &directory.path().join("file"), ANY, &mut |_, _| {})
    };
    let unknown = get(None, "/hello").expect_err("the machine does not know this authority");
    assert!(unknown.to_string().contains("UnknownIssuer"), "{unknown}");
    let down = get(Some("authority.pem"), "/down").expect_err("no encryption there");
    assert!(matches!(down, DownloadError::Unencrypted { .. }), "{down:?}");
    let missing = get(Some("nothing.pem"), "/hello").expect_err("no file");
    assert!(matches!(missing, DownloadError::Certificates(_)), "{missing:?}");
    let empty = get(Some("localhost-key.pem"), "/hello").expect_err("no certificate in it");
    assert!(matches!(empty, DownloadError::Certificates(_)), "{empty:?}");
    assert_eq!(get(Some("authority.pem"), "/hello").unwrap(), HELLO);
}

#[test]
fn a_proxy_is_asked_instead_of_the_server() {
    let proxy = LoopbackServer::new(|_| Reply::Body(b"hello\n".to_vec()));
    let server = LoopbackServer::new(|_| Reply::Body(b"directly\n".to_vec()));
    let get = |variables: &[(&str, String)]| {
        let variables: Vec<_> = variables.iter().map(|(k, v)| ((*k).into(), v.into())).collect();
        let client = HttpClient::from_variables(&variables);
        client.text(&server.url("/x"), &[], 1000).unwrap().unwrap()
    };
    assert_eq!(get(&[]), "directly\n");
    assert_eq!(get(&[("http_proxy", proxy.url(""))]), "hello\n");
    assert_eq!(get(&[("ALL_PROXY", proxy.url(""))]), "hello\n");
    assert_eq!(get(&[("https_proxy", proxy.url(""))]), "directly\n");
    let not_here = [("http_proxy", proxy.url("")), ("NO_PROXY", "a.example, 127.0.0.1".to_owned())];
    assert_eq!(get(&not_here), "directly\n");
    assert_eq!(server.requests().len(), 3);
}
