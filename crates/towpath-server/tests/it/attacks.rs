//! What pages of other sites, other users of the machine and strange clients may try. Each attack is
//! tried on every address that the router has.

use crate::support::{Frame, Running, Socket, every_route};
use std::os::unix::fs::symlink;

const PAGE: [&str; 4] = ["/", "/app.js", "/run/7f3k", "/nothing"];

fn everything() -> Vec<(&'static str, String)> {
    let page = PAGE.iter().map(|path| ("GET", (*path).to_owned()));
    every_route().into_iter().chain(page).collect()
}

#[test]
fn a_foreign_host_gets_nothing() {
    let server = Running::new();
    let port = server.port;
    let hosts = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("0.0.0.0:{port}"),
        format!("user@127.0.0.1:{port}"),
    ];
    for (method, path) in everything() {
        for host in &hosts {
            let answer = server.ask(method, &path, &[("host", host)], "{}");
            answer.refused(403, "foreign-host");
        }
        let none = server.ask(method, &path, &[("host", "")], "{}");
        assert!(matches!(none.status, 400 | 403), "{method} {path}: {none:?}");
    }
    let own = server.host();
    let bearer = format!("Bearer {}", server.token);
    let token = ("authorization", bearer.as_str());
    let two = [("host", own.as_str()), ("host", "evil.example"), token];
    server.bare("GET", "/api/v1/runs", &two, "").refused(403, "foreign-host");
    let whole = format!("http://evil.example:{port}/api/v1/runs");
    server.get(&whole).refused(403, "foreign-host");
}

#[test]
fn its_own_names_are_served() {
    let server = Running::new();
    for name in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let host = format!("{name}:{}", server.port);
        assert_eq!(server.ask("GET", "/api/v1/runs", &[("host", &host)], "").status, 200, "{host}");
    }
}

#[test]
fn a_foreign_origin_gets_nothing_even_with_the_token() {
    let server = Running::new();
    let port = server.port;
    let origins = [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://evil.example:{port}"),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://127.0.0.1:{port}/"),
        "http://127.0.0.1".to_owned(),
        "é".to_owned(),
    ];
    for (method, path) in everything() {
        for origin in &origins {
            let answer = server.ask(method, &path, &[("origin", origin)], "{}");
            answer.refused(403, "foreign-origin");
        }
        for site in ["cross-site", "same-site", "other"] {
            let answer = server.ask(method, &path, &[("sec-fetch-site", site)], "{}");
            answer.refused(403, "foreign-origin");
        }
    }
    let own = format!("http://127.0.0.1:{port}");
    let page = [("origin", own.as_str()), ("sec-fetch-site", "same-origin")];
    assert_eq!(server.ask("GET", "/api/v1/runs", &page, "").status, 200);
}

#[test]
fn a_link_from_another_site_leads_to_the_page_and_to_no_data() {
    let server = Running::new();
    let link = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    assert_eq!(server.ask("GET", "/run/7f3k", &link, "").status, 200);
    server.ask("GET", "/api/v1/runs", &link, "").refused(403, "foreign-origin");
    let framed = [link[0], link[1], ("sec-fetch-dest", "iframe")];
    server.ask("GET", "/", &framed, "").refused(403, "foreign-origin");
}

#[test]
fn nothing_but_the_page_answers_without_the_token() {
    let (server, other) = (Running::new(), Running::new());
    let wrong = [
        String::new(),
        format!("Bearer {}", other.token),
        format!("Bearer {}0", server.token),
        format!("Bearer {}", &server.token[1..]),
        format!("bearer {}", server.token.to_uppercase()),
        format!("Basic {}", server.token),
        server.token.clone(),
        "Bearer ".to_owned(),
    ];
    for (method, path) in every_route() {
        // A code is asked for there instead of the token.
        if ["/api/v1/events", "/api/v1/token"].contains(&path.as_str()) {
            continue;
        }
        for token in &wrong {
            let answer = server.ask(method, &path, &[("authorization", token)], "{}");
            answer.refused(401, "no-token");
        }
        let cookie = format!("token={}; t={}", server.token, server.token);
        let elsewhere = format!("{path}?token={0}&t={0}", server.token);
        let headers = [("authorization", ""), ("cookie", cookie.as_str())];
        server.ask(method, &elsewhere, &headers, "{}").refused(401, "no-token");
    }
    for path in ["/", "/app.js", "/run/7f3k"] {
        let page = server.ask("GET", path, &[("authorization", "")], "");
        assert_eq!(page.status, 200);
        assert!(!page.text().contains(&server.token) && !page.head.contains(&server.token));
        assert_eq!(page.header("set-cookie"), None);
    }
    server.ask("GET", "/api/v1/nothing", &[("authorization", "")], "").refused(401, "no-token");
    server.get("/api/v1/nothing").refused(404, "not-found");
}

#[test]
fn a_socket_needs_the_token_in_its_first_message() {
    let (server, other) = (Running::new(), Running::new());
    for first in [
        "{}".to_owned(),
        "not json".to_owned(),
        format!("{{\"token\":\"{}\"}}", other.token),
        format!("{{\"token\":\"{}\"}}", &server.token[..31]),
        format!("{{\"token\":[\"{}\"]}}", server.token),
        "{\"token\":\"\",\"since\":0}".to_owned(),
    ] {
        let mut socket = Socket::open(&server, &[]).expect("a socket");
        socket.send(&first);
        assert_eq!(socket.receive(), Frame::Close(4401), "{first}");
    }
    let mut silent = Socket::open(&server, &[("authorization", "Bearer x")]).expect("a socket");
    silent.stream.shutdown(std::net::Shutdown::Write).expect("no more");
    assert_ne!(std::mem::discriminant(&silent.receive()), text(), "nothing is sent before");
    server.get("/api/v1/events").refused(400, "bad-input");
}

fn text() -> std::mem::Discriminant<Frame> {
    std::mem::discriminant(&Frame::Text(String::new()))
}

#[test]
fn a_page_of_another_site_cannot_open_a_socket() {
    let server = Running::new();
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("host", "evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let refused = Socket::open(&server, &[(name, value)]).err().expect("it is refused");
        assert_eq!(refused.status, 403, "{name}: {value}");
    }
    let own = format!("http://localhost:{}", server.port);
    let page = [("origin", own.as_str()), ("sec-fetch-site", "same-origin")];
    assert!(Socket::open(&server, &page).is_ok());
}

#[test]
fn only_json_can_be_posted() {
    let server = Running::new();
    for (method, path) in every_route().iter().filter(|(method, _)| *method == "POST") {
        for kind in ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let answer = server.ask(method, path, &[("content-type", kind)], "{}");
            answer.refused(415, "not-json");
        }
        server.ask(method, path, &[], "{").refused(400, "bad-input");
        server.ask(method, path, &[], "{\"--flag\":1}").refused(400, "bad-input");
    }
}

#[test]
fn a_read_only_server_does_nothing() {
    let server = Running::with(|config| config.read_only = true);
    server.add_run("7f3k");
    for (method, path) in every_route() {
        let answer = server.ask(method, &path, &[], "{}");
        match method {
            // These only look, though they need a body.
            "POST" if path.ends_with("/dry-run") || path.ends_with("/token") => {
                assert_ne!(answer.status, 403, "{path}");
            }
            "POST" => answer.refused(403, "read-only"),
            _ => assert_ne!(answer.status, 403, "{path}"),
        }
    }
}

#[test]
fn a_method_that_an_address_does_not_know_is_refused() {
    let server = Running::new();
    for (method, path) in everything() {
        for other in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
            let answer = server.ask(other, &path, &[], "");
            assert!(matches!(answer.status, 404 | 405), "{other} for {method} {path}: {answer:?}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    server.ask("POST", "/", &[], "{}").refused(405, "bad-method");
}

#[test]
fn every_answer_has_the_headers_that_confine_a_page() {
    let server = Running::new();
    let content = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
        img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (method, path) in everything() {
        for headers in [&[][..], &[("host", "evil.example")], &[("authorization", "")]] {
            let answer = server.ask(method, &path, headers, "{}");
            assert_eq!(answer.header("content-security-policy"), Some(content), "{path}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
            assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
            let kept = if path.starts_with("/api/") { "no-store" } else { "no-cache" };
            assert_eq!(answer.header("cache-control"), Some(kept), "{path}");
            for absent in ["access-control-allow-origin", "set-cookie", "server"] {
                assert_eq!(answer.header(absent), None, "{path}");
            }
        }
    }
}

#[test]
fn the_page_has_nothing_inline_and_loads_nothing_from_elsewhere() {
    let server = Running::new();
    let page = server.get("/").text();
    assert!(page.contains("src=\"/app.js\""), "{page}");
    for word in ["<style", "style=", "onclick", "http://", "https://", "<script>"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn names_cannot_lead_out_of_the_journal() {
    let server = Running::new();
    let run = server.add_run("7f3k");
    let directory = server.store().ensure_run_directory(&run).expect("a directory");
    let secret = server.directory.path().join("secret");
    std::fs::write(&secret, "not for you").expect("a file");
    symlink(&secret, directory.join("2.stdout")).expect("a link");
    std::fs::write(directory.join("1.stdout"), "not for you").expect("a file");
    for name in [
        "..",
        "%2e%2e",
        "..%2f..%2fsecret",
        "..%5c..%5csecret",
        "2.stdout%00",
        "2.stdout%2f..%2f..%2f..%2fsecret",
        "lock",
        "-2.stdout",
        "%2b2.stdout",
        "2.stdout.",
        "1.stdout",
        "3.stdout",
        "99999999999999999999.stdout",
        "0.stdout",
        "%ff",
        "/etc/passwd",
        "%2fetc%2fpasswd",
    ] {
        let answer = server.get(&format!("/api/v1/runs/7f3k/logs/{name}"));
        assert!(matches!(answer.status, 400 | 404), "{name}: {answer:?}");
        assert!(!answer.text().contains("not for you"), "{name}");
        for view in ["runs", "recipes"] {
            let answer = server.get(&format!("/api/v1/{view}/{name}"));
            assert!(answer.status >= 400, "{view}/{name}: {answer:?}");
        }
    }
    let link = server.get("/api/v1/runs/7f3k/logs/2.stdout");
    assert!(!link.text().contains("not for you"), "a link is not followed: {link:?}");
    for path in ["/../Cargo.toml", "/%2e%2e/app.js", "//etc/passwd", "/app.js/", "/./app.js"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}

#[test]
fn what_a_step_printed_is_text_whatever_it_is() {
    let server = Running::new();
    let run = server.add_run("7f3k");
    let hostile = "<script>alert(1)</script>\u{1b}[31m\u{202e}\r\nset-cookie: a=b";
    let facts = [crate::support::finished(hostile)];
    server.store().append(&run, &facts, None).expect("a fact");
    let answer = server.get("/api/v1/runs/7f3k/logs/2.stdout");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("set-cookie"), None);
    assert_eq!(answer.text(), hostile);
}

#[test]
fn a_code_leads_to_the_token_once() {
    let server = Running::new();
    let own = towpath_server::Token::parse(&server.token).expect("a token");
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a time");
    let code = own.code(i64::try_from(since.as_millis()).expect("this century"), "ab12");
    let body = serde_json::json!({ "code": code }).to_string();
    let ask = |body: &str| server.ask("POST", "/api/v1/token", &[("authorization", "")], body);
    ask("{}").refused(400, "bad-input");
    // A proof that a stranger can ask a socket for is no code.
    let proof = own.proof(&format!("open:{}", code.rsplit_once('-').expect("a hash").0));
    let made = format!("{}-{proof}", code.rsplit_once('-').expect("a hash").0);
    ask(&serde_json::json!({ "code": made }).to_string()).refused(401, "no-token");
    assert_eq!(ask(&body).json()["token"], server.token.as_str());
    ask(&body).refused(401, "no-token");
}

#[test]
fn a_dismissed_run_is_no_more_among_those_that_need_the_user() {
    let server = Running::new();
    server.add_run("7f3k");
    let answer = server.ask("POST", "/api/v1/runs/7f3k/dismiss", &[], "{}");
    assert_eq!((answer.status, &answer.json()["run_id"]), (200, &"7f3k".into()));
    let file = server.directory.path().join("ui/dismissed");
    assert_eq!(std::fs::read_to_string(file).expect("a file"), "7f3k 2\n");
}
