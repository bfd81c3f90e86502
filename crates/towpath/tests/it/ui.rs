//! `towpath ui`: the page's server, asked over real sockets about runs of the real program.

mod actions;
mod openapi_schema;
pub mod page_client;
mod phone;
mod phone_client;
mod phone_transcript;
mod same_as_commands;

use crate::support::{Signal, User, lives, signal_to, until};
use page_client::Page;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const GREET: &str = "name: greet\nsteps:\n  - id: hi\n    command: echo hello\n";

#[test]
fn there_is_one_server_for_a_state_directory_and_the_next_one_has_its_port() {
    let user = User::new();
    let page = Page::start(&user, &[]);
    assert!(page.address.starts_with(&format!("http://127.0.0.1:{}/#t=", page.port)));
    assert_eq!(page.token.len(), 32);
    let second = user.towpath(&["ui", "--no-open"]).exits(0);
    assert_eq!(second.stdout.trim_end(), page.address);
    assert_eq!(user.towpath(&["ui", "--print-url"]).exits(0).stdout.trim_end(), page.address);
    user.towpath(&["ui", "--read-only", "--no-open"]).exits(5).reports("not read-only is up");
    for file in ["token", "server.json", "lock"] {
        let mode = fs::metadata(user.path("home/state/ui").join(file)).expect(file).permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{file}");
    }
    user.towpath(&["ui", "--stop"]).exits(0).shows("runs continue");
    until("the server is gone", || !lives(&page.pid().to_string()));
    user.towpath(&["ui", "--stop"]).exits(0).reports("no server of the page is up");
    user.towpath(&["ui", "--print-url"]).exits(5).reports("to start one: towpath ui");
    let next = Page::start(&user, &[]);
    assert_eq!(next.port, page.port);
    assert_ne!(next.token, page.token, "another program may have got it meanwhile");
    let other = User::new();
    let other = Page::start(&other, &[]);
    assert_ne!(other.token, next.token);
    assert_eq!(next.with_token("/api/v1/runs", &other.token).status, 401);
}

#[test]
fn after_a_kill_an_open_page_finds_the_next_server_and_never_one_of_another_kind() {
    let user = User::new();
    let mut page = Page::start(&user, &[]);
    page.kill();
    let mut next = Page::start(&user, &[]);
    assert_eq!(next.address, page.address);
    next.kill();
    let mut read_only = Page::start(&user, &["--read-only"]);
    assert_eq!(read_only.port, page.port);
    assert_ne!(read_only.token, page.token, "who may look may not act later");
    read_only.kill();
    let taken = std::net::TcpListener::bind(("127.0.0.1", page.port)).expect("the port is free");
    let elsewhere = Page::start(&user, &["--read-only"]);
    assert_ne!(elsewhere.token, read_only.token, "another program listens where the page was");
    drop(taken);
}

#[test]
fn a_token_that_a_network_could_read_is_not_used_again() {
    let user = User::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = port.local_addr().expect("an address").to_string();
    drop(port);
    let plain = ["--listen", address.as_str(), "--plain"];
    let mut page = Page::start(&user, &plain);
    let urls = user.towpath(&["ui", "--print-url"]).exits(0).stdout;
    assert!(urls.contains(&format!("http://{address}/#t={}", page.token)), "{urls}");
    page.kill();
    let mut again = Page::start(&user, &plain);
    assert_ne!(again.token, page.token);
    again.kill();
    assert_ne!(Page::start(&user, &[]).token, again.token);
}

#[test]
fn ctrl_c_and_a_hangup_forget_the_token() {
    for signal in [Signal::INT, Signal::HUP, Signal::TERM] {
        let user = User::new();
        let page = Page::start(&user, &[]);
        signal_to(page.pid(), signal);
        until("the server is gone", || !lives(&page.pid().to_string()));
        assert!(!user.path("home/state/ui/token").exists());
    }
}

#[test]
fn a_token_that_others_could_read_is_replaced() {
    let user = User::new();
    let first = Page::start(&user, &[]).token.clone();
    let file = user.path("home/state/ui/token");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
    let next = Page::start(&user, &[]);
    assert_ne!(next.token, first);
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn another_address_needs_tls_or_the_word_plain() {
    let user = User::new();
    let listen = ["ui", "--no-open", "--listen", "127.0.0.1:1"];
    user.towpath(&listen).exits(2).reports("give --tls-cert and --tls-key, or --plain");
    let files = ["--tls-cert", "no.pem", "--tls-key", "no.pem"];
    user.towpath(&[&listen[..], &files].concat()).exits(2).reports("no.pem: ");
    user.towpath(&["ui", "--plain"]).exits(2);
    user.towpath(&["ui", "--no-open", "--listen", "0.0.0.0:0", "--plain"])
        .exits(5)
        .reports("cannot listen on 0.0.0.0:0: it must be the address or name");
}

#[test]
fn bad_flags_and_unknown_runs_are_refused() {
    let user = User::new();
    user.towpath(&["ui", "7f3k"]).exits(2).reports("there is no run 7f3k");
    user.towpath(&["ui", "--port", "0"]).exits(2);
    user.towpath(&["ui", "--port", "65536"]).exits(2);
    user.towpath(&["ui", "--stop", "--port", "80"]).exits(2);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let refused = user.towpath(&["ui", "--port", &port, "--no-open"]).exits(5);
    refused.reports(&format!("cannot listen on port {port} of 127.0.0.1"));
}

#[test]
fn a_run_names_its_page_while_a_server_is_up() {
    let user = User::new().file("greet.yaml", GREET);
    let before = user.towpath(&["run", "greet.yaml"]).exits(0);
    assert!(!before.stderr.contains("http://"), "{}", before.stderr);
    let page = Page::start(&user, &[]);
    let printed = user.towpath(&["run", "greet.yaml"]).exits(0);
    let run = user.run();
    let first = format!("greet · run {run} · work · http://127.0.0.1:{}/run/{run}\n", page.port);
    assert!(printed.stderr.starts_with(&first), "{}", printed.stderr);
    assert!(!printed.stderr.contains(&page.token), "what may be kept has no token");
    let own = user.towpath(&["ui", run.as_str(), "--no-open"]).exits(0).stdout;
    assert!(own.contains(&format!("/run/{run}#t={}", page.token)), "{own}");
}

#[test]
fn it_listens_on_loopback_of_both_kinds_and_nowhere_else() {
    let user = User::new();
    let page = Page::start(&user, &[]);
    // While other sockets come and go, the system may list one twice.
    let listening = |file: &str| -> BTreeSet<String> {
        let port = format!(":{:04X}", page.port);
        let table = fs::read_to_string(file).unwrap_or_default();
        let sockets = table.lines().filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let (local, _, state) = (words.next()?, words.next()?, words.next()?);
            (state == "0A").then(|| local.strip_suffix(&port).map(str::to_owned)).flatten()
        });
        sockets.collect()
    };
    assert_eq!(listening("/proc/net/tcp"), BTreeSet::from(["0100007F".to_owned()]));
    let six = listening("/proc/net/tcp6");
    assert!(six.iter().all(|address| address == "00000000000000000000000001000000"), "{six:?}");
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        assert_eq!(six.len(), 1);
    }
}
