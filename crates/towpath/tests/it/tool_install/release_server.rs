//! A web server on loopback with archives of tools, which are scripts that the tests write.

use crate::support::User;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Ends with the test.
pub struct ReleaseServer {
    address: String,
    files: Arc<Mutex<HashMap<String, Vec<u8>>>>,
    requests: Arc<Mutex<Vec<(String, String)>>>,
}

impl ReleaseServer {
    pub fn start() -> ReleaseServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let files: Arc<Mutex<HashMap<String, Vec<u8>>>> = Arc::default();
        let requests: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
        let server = ReleaseServer { address, files: files.clone(), requests: requests.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (files, requests) = (files.clone(), requests.clone());
                std::thread::spawn(move || answer(stream, &files, &requests));
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.address)
    }

    pub fn put(&self, path: &str, bytes: Vec<u8>) {
        self.files.lock().expect("no test has panicked here").insert(format!("/{path}"), bytes);
    }

    /// The paths and bodies that were asked for.
    pub fn requests(&self) -> Vec<(String, String)> {
        self.requests.lock().expect("no test has panicked here").clone()
    }

    /// Nothing is served any more.
    pub fn close(&self) {
        self.files.lock().expect("no test has panicked here").clear();
    }

    /// An archive with one program, and its address.
    pub fn tool(&self, user: &User, name: &str, version: &str, script: &str) -> String {
        let path = format!("{name}-{version}.tar.gz");
        self.put(&path, archive(user, name, version, &[(name, script)]));
        self.url(&path)
    }
}

/// `NAME-VERSION/bin/…` as tar.gz.
pub fn archive(user: &User, name: &str, version: &str, programs: &[(&str, &str)]) -> Vec<u8> {
    let folder = user.path(&format!("archives/{name}-{version}"));
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    for (program, script) in programs {
        let file = folder.join("bin").join(program);
        fs::write(&file, script).expect("a script");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("its mode");
    }
    tar(folder.parent().expect("it has one"), &format!("{name}-{version}"))
}

fn tar(directory: &Path, name: &str) -> Vec<u8> {
    let output = Command::new("tar")
        .args(["-C"])
        .arg(directory)
        .args(["--owner=0", "--group=0", "-cz", name])
        .output()
        .expect("tar starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn answer(
    stream: TcpStream,
    files: &Mutex<HashMap<String, Vec<u8>>>,
    requests: &Mutex<Vec<(String, String)>>,
) {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first).is_err() {
        return;
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) if line.trim().is_empty() => break,
            Ok(_) => {
                let line = line.to_ascii_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
            }
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let seen = (path.clone(), String::from_utf8_lossy(&body).into_owned());
    requests.lock().expect("no test has panicked here").push(seen);
    let found = files.lock().expect("no test has panicked here").get(&path).cloned();
    let (status, bytes) = match found {
        Some(bytes) => ("200 OK", bytes),
        None => ("404 Not Found", b"nothing here".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        bytes.len()
    );
    let mut stream = reader.into_inner();
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bytes));
}
