//! What every request passes before anything answers it, and what every answer carries. Pages of
//! other sites can make a browser send requests here, and can make a name of theirs mean this address:
//! so the host, the origin and the token are checked, each by itself.

use crate::Server;
use crate::answer::Refusal;
use crate::connection_slots::Client;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::IntoResponse as _;
use std::sync::Arc;

/// Below it everything needs the token.
pub(crate) const API: &str = "/api/";
/// A browser's socket cannot send a header: its token is in its first message.
pub(crate) const EVENTS: &str = "/api/v1/events";

/// It takes a code that leads to the token.
pub(crate) const TOKEN: &str = "/api/v1/token";

const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ALWAYS: &[(&str, &str)] = &[
    ("content-security-policy", CONTENT),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

pub(crate) async fn guard(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response<axum::body::Body> {
    let data = is_data(request.uri());
    let mut response = match check(&server, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let kept = if data { "no-store" } else { "no-cache" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    response
}

fn is_data(uri: &Uri) -> bool {
    uri.path().starts_with(API)
}

fn check(server: &Server, request: &Request) -> Result<(), Refusal> {
    let (headers, uri) = (request.headers(), request.uri());
    let foreign = |kind, message| Err(Refusal::new(StatusCode::FORBIDDEN, kind, message));
    if !is_own_host(server, headers, uri) {
        return foreign("foreign-host", "this server answers under its own address only");
    }
    if !is_own_origin(server, headers) || is_from_elsewhere(request) {
        return foreign("foreign-origin", "this server answers its own page only");
    }
    if is_data(uri) && ![EVENTS, TOKEN].contains(&uri.path()) {
        if !has_token(server, headers) {
            let message = "this needs the token of the server that is running now";
            return Err(Refusal::new(StatusCode::UNAUTHORIZED, "no-token", message));
        }
        if let Some(client) = request.extensions().get::<Arc<Client>>() {
            client.is_known_now();
        }
    }
    Ok(())
}

/// The only one of its header, as text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().filter(|_| values.next().is_none())?;
    first.to_str().ok()
}

/// The hosts of our own addresses.
fn hosts(server: &Server) -> impl Iterator<Item = &str> {
    server.origins.iter().filter_map(|origin| Some(origin.split_once("://")?.1))
}

fn is_own_host(server: &Server, headers: &HeaderMap, uri: &Uri) -> bool {
    let own = |host: &str| hosts(server).any(|known| known.eq_ignore_ascii_case(host));
    let in_uri = uri.authority().is_none_or(|authority| own(authority.as_str()));
    in_uri && only(headers, &HOST).is_some_and(own)
}

/// A client that is no browser sends no origin. It is compared with our own addresses, never with the
/// host of the request, which a foreign page may choose.
fn is_own_origin(server: &Server, headers: &HeaderMap) -> bool {
    let own = |origin: &str| server.origins.iter().any(|known| known == origin);
    !headers.contains_key(ORIGIN) || only(headers, &ORIGIN).is_some_and(own)
}

/// Whether a browser reports that another site caused the request. Following a link to the page is
/// not refused: it has no data.
fn is_from_elsewhere(request: &Request) -> bool {
    let headers = request.headers();
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let elsewhere = !matches!(site, None | Some(b"same-origin" | b"none"));
    let link = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
        && headers.get("sec-fetch-dest").is_some_and(|dest| dest == "document")
        && request.method() == Method::GET
        && !is_data(request.uri());
    elsewhere && !link
}

fn has_token(server: &Server, headers: &HeaderMap) -> bool {
    let shown = only(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    shown.is_some_and(|shown| server.config.token.matches(shown))
}
