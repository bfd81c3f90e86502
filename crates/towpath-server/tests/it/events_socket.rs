//! What a page is sent while it is open, and after it was away.

use crate::support::{Frame, Running, Socket, fact, finished};
use serde_json::json;
use std::fs;
use towpath_run::{Fact, StopReason};
use towpath_server::Token;

#[test]
fn what_another_process_records_is_announced() {
    let server = Running::new();
    let (mut socket, seq) = Socket::hello(&server, None);
    let run = server.add_run("7f3k");
    let first = socket.json();
    assert_eq!(first, json!({ "seq": seq + 1, "kind": "run-changed", "run": "7f3k" }));
    server.store().append(&run, &[finished("out")], None).expect("a fact");
    let second = socket.json();
    assert_eq!(second, json!({ "seq": seq + 2, "kind": "run-changed", "run": "7f3k" }));
}

#[test]
fn a_reconnect_gets_all_that_came_meanwhile_and_nothing_twice() {
    let server = Running::new();
    let (mut first, seq) = Socket::hello(&server, None);
    let (mut watching, _) = Socket::hello(&server, None);
    let run = server.add_run("7f3k");
    assert_eq!(first.json()["seq"], seq + 1);
    drop(first);
    watching.json();
    for number in 2..5 {
        let stopping = fact(&Fact::Stopping { reason: StopReason::Cancel });
        server.store().append(&run, &[stopping], None).expect("a fact");
        assert_eq!(watching.json()["seq"], seq + number);
    }
    let (mut again, latest) = Socket::hello(&server, Some(seq + 1));
    assert_eq!(latest, seq + 4);
    let numbers: Vec<u64> = (0..3).map(|_| again.json()["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [seq + 2, seq + 3, seq + 4]);
    server.add_run("8g4m");
    assert_eq!(again.json(), json!({ "seq": seq + 5, "kind": "run-changed", "run": "8g4m" }));
}

#[test]
fn a_number_of_another_server_leads_to_a_reset() {
    let server = Running::new();
    let (_, seq) = Socket::hello(&server, None);
    for since in [0, seq - 1, seq + 1] {
        let (mut socket, _) = Socket::hello(&server, Some(since));
        assert_eq!(socket.json(), json!({ "seq": seq, "kind": "reset" }), "{since}");
    }
    let later = Running::new();
    assert!(Socket::hello(&later, None).1 > seq, "numbers grow from server to server");
}

#[test]
fn a_socket_without_news_is_sent_a_sign_of_life() {
    let server = Running::with(|config| config.limits.tick = std::time::Duration::from_millis(20));
    let (mut socket, seq) = Socket::hello(&server, None);
    assert_eq!(socket.json(), json!({ "seq": seq, "kind": "tick" }));
    assert_eq!(socket.json(), json!({ "seq": seq, "kind": "tick" }));
}

#[test]
fn a_page_can_ask_for_a_proof_before_it_shows_the_token() {
    let server = Running::new();
    let mut socket = Socket::open(&server, &[]).expect("a socket");
    socket.send(r#"{"nonce":"1,2"}"#);
    let answer = socket.json();
    assert_eq!(
        answer,
        json!({ "kind": "proof", "proof": Token::parse(&server.token).expect("a token").proof("1,2") })
    );
    socket.send(&json!({ "token": server.token }).to_string());
    assert_eq!(socket.json()["kind"], "hello");
    let mut twice = Socket::open(&server, &[]).expect("a socket");
    twice.send(r#"{"nonce":"1"}"#);
    twice.json();
    twice.send(r#"{"nonce":"2"}"#);
    assert!(matches!(twice.receive(), Frame::Close(4401)), "one proof for each socket");
}

#[test]
fn a_run_that_is_pruned_is_announced() {
    let server = Running::new();
    let (mut socket, seq) = Socket::hello(&server, None);
    let run = server.add_run("7f3k");
    assert_eq!(socket.json()["kind"], "run-changed");
    server.store().delete_run(&run).expect("it is deleted");
    let removed = json!({ "seq": seq + 2, "kind": "run-removed", "run": "7f3k" });
    assert_eq!(socket.json(), removed);
}

#[test]
fn the_growth_of_an_output_is_announced() {
    let server = Running::new();
    let run = server.add_run("7f3k");
    let directory = server.store().ensure_run_directory(&run).expect("a directory");
    // This process owns the run as long as it has the lock.
    let store = server.store();
    let _lock = towpath_engine::lock_run(&store, &run).expect("the lock is free");
    let (mut socket, _) = Socket::hello(&server, None);
    for text in ["one\n", "one\ntwo\n"] {
        fs::write(directory.join("2.stdout"), text).expect("an output");
        let grown = loop {
            let message = socket.json();
            if message["kind"] == "output" && message["bytes"] == text.len() {
                break message;
            }
        };
        assert_eq!((&grown["run"], &grown["output"]), (&json!("7f3k"), &json!("2.stdout")));
    }
}
