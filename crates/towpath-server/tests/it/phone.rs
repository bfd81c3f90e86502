//! The protocol of remote clients as strangers meet it: nobody is served without the key, and nothing that
//! a client sends harms the server.

mod recorded_runs;

use crate::support::{Frame, Running, SHORT, Socket};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use towpath_server::ServerConfig;

const KEY: &str = "untethered-0123456789abcdef0123456789abcdef";

fn keyed() -> Running {
    with_key(Running::new())
}

fn with_key(server: Running) -> Running {
    let file = server.directory.path().join("phone-key");
    std::fs::write(&file, format!("{KEY}\n")).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    server
}

/// A socket that was greeted.
fn open(server: &Running) -> Socket {
    let mut socket = Socket::open_at(server, "/", &[]).expect("a socket");
    let hello = json!({
        "type": "hello", "message": "Welcome to Towpath", "version": "0.4.0", "auth_version": 1,
        "instructions": "Send connect message with api_key",
    });
    assert_eq!(socket.json(), hello, "the server speaks first");
    socket
}

fn connect(server: &Running) -> Socket {
    let mut socket = open(server);
    socket.send(&json!({ "type": "connect", "api_key": KEY }).to_string());
    for kind in ["connected", "session_list", "recent_sessions", "available_commands"] {
        assert_eq!(socket.json()["type"], kind);
    }
    socket
}

#[track_caller]
fn refused(mut socket: Socket, why: &str) {
    let refused = json!({ "type": "auth_error", "message": "Authentication failed" });
    assert_eq!(socket.json(), refused, "{why}");
    assert_eq!(socket.receive(), Frame::Close(1000), "{why}");
}

#[track_caller]
fn error(socket: &mut Socket, start: &str) {
    let message = socket.json();
    assert_eq!(message["type"], "error", "{message}");
    assert!(message["message"].as_str().expect("a text").starts_with(start), "{message}");
}

fn ping(socket: &mut Socket) {
    socket.send("{\"type\":\"ping\"}");
    assert_eq!(socket.json(), json!({ "type": "pong" }));
}

#[test]
fn without_the_key_nothing_but_a_ping_is_answered() {
    let server = keyed();
    for first in [
        json!({ "type": "get_available_recipes" }),
        json!({ "type": "start_recipe", "session_id": "s", "recipe_id": "r" }),
        json!({ "type": "nonsense" }),
        json!({ "type": "connect" }),
        json!({ "type": "connect", "api_key": null }),
        json!({ "type": "connect", "api_key": [KEY] }),
        json!({ "type": "connect", "api_key": "" }),
        json!({ "type": "connect", "api_key": "x" }),
        json!({ "type": "connect", "api_key": server.token }),
        json!({ "type": "connect", "api_key": format!("untethered-{}", server.token) }),
        json!({ "type": "connect", "api_key": format!("{KEY}0") }),
        json!({ "type": "connect", "api_key": &KEY[..KEY.len() - 1] }),
        json!({ "type": "connect", "api_key": KEY.to_uppercase() }),
        json!({}),
        json!([]),
        json!("connect"),
    ] {
        let mut socket = open(&server);
        ping(&mut socket);
        socket.send(&first.to_string());
        refused(socket, &first.to_string());
    }
    for garbage in ["", "not json", "{", &"[".repeat(100_000)] {
        let mut socket = open(&server);
        socket.send(garbage);
        refused(socket, garbage);
    }
    ping(&mut connect(&server));
}

#[test]
fn without_a_key_or_with_one_that_others_could_read_every_client_is_refused() {
    let server = Running::new();
    let tries = |why| {
        let mut socket = open(&server);
        socket.send(&json!({ "type": "connect", "api_key": KEY }).to_string());
        refused(socket, why);
    };
    tries("there is none");
    let file = server.directory.path().join("phone-key");
    std::fs::write(&file, format!("{KEY}\n")).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    tries("others can read it");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    connect(&server);
}

#[test]
fn a_client_that_is_too_old_is_refused() {
    let server = keyed();
    for version in ["0.2.0", "0.3.9", "0.4", "x", "0"] {
        let mut socket = open(&server);
        let connect = json!({ "type": "connect", "api_key": KEY, "protocol_version": version });
        socket.send(&connect.to_string());
        let expected = json!({
            "type": "error", "code": "unsupported_protocol_version", "required": "0.4.0",
            "received": version, "message": "Client is too old; upgrade required",
        });
        assert_eq!(socket.json(), expected);
        assert_eq!(socket.receive(), Frame::Close(1000));
    }
    for version in ["0.4.0", "0.5.0", "1.0.0"] {
        let mut socket = open(&server);
        let connect = json!({ "type": "connect", "api_key": KEY, "protocol_version": version });
        socket.send(&connect.to_string());
        assert_eq!(socket.json()["negotiated_protocol_version"], "0.4.0", "{version}");
    }
}

#[test]
fn a_page_of_another_site_cannot_connect() {
    let server = keyed();
    for path in ["/", "/ws"] {
        for (name, value) in [
            ("origin", "http://evil.example"),
            ("origin", "null"),
            ("host", "evil.example"),
            ("sec-fetch-site", "cross-site"),
        ] {
            let refused = Socket::open_at(&server, path, &[(name, value)]).err();
            assert_eq!(refused.expect("it is refused").status, 403, "{path} {name}: {value}");
        }
        let own = format!("http://127.0.0.1:{}", server.port);
        assert!(Socket::open_at(&server, path, &[("origin", &own)]).is_ok());
    }
    assert!(server.get("/").text().contains("<!doctype html>"), "a browser gets the page");
    server.get("/ws").refused(400, "bad-input");
    server.ask("POST", "/ws", &[], "{}").refused(405, "bad-method");
}

#[test]
fn what_cannot_be_meant_is_answered_with_an_error_and_harms_nothing() {
    let server = keyed();
    let mut socket = connect(&server);
    for garbage in ["", "not json", "{", "[]", "null", "\"ping\"", "{\"type\":\"ping\"} x"] {
        socket.send(garbage);
        error(&mut socket, "Error processing message: ");
    }
    let deep = format!("{{\"type\":\"ping\",\"x\":{}", "[".repeat(100_000));
    socket.send(&deep);
    error(&mut socket, "Error processing message: recursion limit exceeded");
    for kind in ["nonsense", "", "prompt", "execute_command", "../x", "é"] {
        socket.send(&json!({ "type": kind }).to_string());
        error(&mut socket, &format!("Unknown message type: {kind}"));
    }
    for bad in [json!({ "type": 7 }), json!({ "kind": "ping" })] {
        socket.send(&bad.to_string());
        error(&mut socket, "Unknown message type: ");
    }
    let long = "s".repeat(129);
    for (message, expected) in [
        (json!({ "type": "start_recipe" }), "session_id required in start_recipe message"),
        (json!({ "type": "start_recipe", "session_id": 7 }), "session_id required"),
        (json!({ "type": "start_recipe", "session_id": " " }), "session_id required"),
        (json!({ "type": "exit_recipe", "session_id": {} }), "session_id required in exit_recipe"),
        (json!({ "type": "subscribe" }), "session_id required in subscribe message"),
        (json!({ "type": "subscribe", "session_id": long }), "session_id has more than 128 bytes"),
        (json!({ "type": "exit_recipe", "session_id": long }), "session_id has more than 128"),
        (json!({ "type": "set_max_message_size" }), "size_kb (positive integer) required"),
        (json!({ "type": "set_max_message_size", "size_kb": 0 }), "size_kb (positive integer)"),
        (json!({ "type": "set_max_message_size", "size_kb": -5 }), "size_kb (positive integer)"),
    ] {
        socket.send(&message.to_string());
        error(&mut socket, expected);
    }
    socket.stream.write_all(&[0x82, 0x81, 0, 0, 0, 0, 7]).expect("a frame");
    error(&mut socket, "Error processing message: it is not text");
    ping(&mut socket);
}

#[test]
fn what_clients_send_beside_recipes_is_answered() {
    let server = keyed();
    let mut socket = connect(&server);
    let mut answers = |message: Value, expected: Option<Value>| {
        socket.send(&message.to_string());
        if let Some(expected) = expected {
            assert_eq!(socket.json(), expected, "{message}");
        }
        ping(&mut socket);
    };
    let ack = json!({ "type": "ack", "message": "Max message size set to 200 KB" });
    answers(json!({ "type": "set_max_message_size", "size_kb": 200 }), Some(ack));
    answers(json!({ "type": "message_ack", "message_id": "m" }), None);
    answers(json!({ "type": "message-ack", "message-id": "m" }), None);
    answers(json!({ "type": "unsubscribe", "session_id": "s" }), None);
    answers(json!({ "type": "unsubscribe" }), None);
    let none = json!({ "type": "command_history", "sessions": [], "limit": 7 });
    answers(json!({ "type": "get_command_history", "limit": 7 }), Some(none));
    let exited = json!({ "type": "recipe_exited", "session_id": "s", "reason": "user-requested" });
    answers(json!({ "type": "exit_recipe", "session_id": "s" }), Some(exited));
}

#[test]
fn a_frame_that_is_too_large_ends_the_connection() {
    let server = keyed();
    for connected in [false, true] {
        let mut socket = if connected { connect(&server) } else { open(&server) };
        socket.send(&" ".repeat(2 * 1024 * 1024));
        let ended = [Frame::Close(1009), Frame::Close(1000), Frame::Gone];
        let received = loop {
            match socket.receive() {
                Frame::Text(text) => assert!(text.contains("auth_error"), "{text}"),
                other => break other,
            }
        };
        assert!(ended.contains(&received), "{received:?}");
    }
    ping(&mut connect(&server));
}

fn impatient(config: &mut ServerConfig) {
    (config.limits.reading, config.limits.writing) = (SHORT, SHORT);
    config.limits.connections = 2;
}

#[test]
fn a_client_that_does_not_connect_in_time_is_disconnected() {
    let server = with_key(Running::with(impatient));
    let silent = open(&server);
    let mut pinging = open(&server);
    ping(&mut pinging);
    refused(silent, "it sends nothing");
    refused(pinging, "a ping is no connect");
    connect(&server);
}

#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let server = with_key(Running::with(impatient));
    let mut socket = connect(&server);
    let mut other = connect(&server);
    assert!(Socket::open_at(&server, "/ws", &[]).is_err(), "it counts as a connection");
    // Answers that nobody takes fill what the system keeps for a connection.
    let mut sent = 0;
    crate::support::until("the server takes no more", || {
        let frame = [&[0x81, 0x8f, 0, 0, 0, 0][..], b"{\"type\":\"ping\"}"].concat();
        sent += 1;
        (0..1000).any(|_| socket.stream.write_all(&frame).is_err())
    });
    assert!(sent > 0);
    ping(&mut other);
    crate::support::until("its connection is free", || {
        Socket::open_at(&server, "/ws", &[]).is_ok()
    });
}
