//! Every address below `/api/`, in one table: what the router has, what the attacks are tried on, and
//! what `openapi.json` must describe.

use crate::answer::{Answer, Refusal};
use crate::connection_slots::Client;
use crate::guard::{TOKEN, guard};
use crate::views::{compare, diff, dismissed, graph, log, questions, recipes, run, runs};
use crate::views::{server as about, step, transcript};
use crate::{Server, actions, live, open_codes, page_file, phone};
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts as _, Query, RawPathParams, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Result};
use axum::routing::{MethodFilter, MethodRouter, on};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// The largest body.
const BODY: usize = 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoBody {}

/// A request that may be answered.
#[derive(Debug)]
pub(crate) struct Asked {
    path: Vec<(String, String)>,
    query: Vec<(String, String)>,
    /// Null for a request without one.
    pub body: Value,
    /// Where the client is.
    pub client: Arc<Client>,
}

impl Asked {
    /// A part of the address.
    pub fn path(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    /// A parameter; an empty one counts as none.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.queries(name).find(|value| !value.is_empty())
    }

    pub fn queries<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.query.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn body_as<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let unexpected = |error| format!("the body is not what is expected: {error}");
        serde_json::from_value(self.body.clone()).map_err(|e| Refusal::bad_input(unexpected(e)))
    }

    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Result<Option<N>, Refusal> {
        let bad = |text| Refusal::bad_input(format!("{name}: `{text}` is not a number"));
        self.query(name).map(|text| text.parse().map_err(|_| bad(text))).transpose()
    }
}

type Work = fn(&Server, &Asked) -> Result<Answer, Refusal>;

enum Handler {
    /// It only looks.
    View(Work),
    /// It starts a command; not with a server that is read-only.
    Action(Work),
    Socket,
}

/// An address, with the method that it takes.
pub struct Route {
    pub method: &'static str,
    /// `{name}` is one part, `{*name}` the rest.
    pub path: &'static str,
    handler: Handler,
}

const fn view(path: &'static str, work: Work) -> Route {
    Route { method: "GET", path, handler: Handler::View(work) }
}

const fn with_body(path: &'static str, work: Work) -> Route {
    Route { method: "POST", path, handler: Handler::View(work) }
}

const fn action(path: &'static str, work: Work) -> Route {
    Route { method: "POST", path, handler: Handler::Action(work) }
}

pub const ROUTES: &[Route] = &[
    view("/api/v1/server", about::answer),
    view("/api/v1/runs", runs::answer),
    action("/api/v1/runs", actions::start),
    view("/api/v1/runs/{run}", run::answer),
    view("/api/v1/runs/{run}/graph.svg", graph::answer),
    view("/api/v1/runs/{run}/steps/{*step}", step::answer),
    view("/api/v1/runs/{run}/logs/{output}", log::answer),
    view("/api/v1/runs/{run}/transcript/{job}", transcript::answer),
    view("/api/v1/runs/{run}/diff", diff::answer),
    view("/api/v1/runs/{run}/compare/{other}", compare::answer),
    action("/api/v1/runs/{run}/resume", actions::resume),
    action("/api/v1/runs/{run}/cancel", actions::cancel),
    action("/api/v1/runs/{run}/answer", actions::answer),
    action("/api/v1/runs/{run}/dismiss", dismissed::dismiss),
    view("/api/v1/recipes", recipes::list),
    view("/api/v1/recipes/{name}", recipes::one),
    with_body("/api/v1/recipes/{name}/dry-run", recipes::dry_run),
    view("/api/v1/doctor", recipes::doctor),
    view("/api/v1/questions", questions::answer),
    action("/api/v1/trust", actions::trust),
    with_body(TOKEN, open_codes::redeem),
    Route { method: "GET", path: "/api/v1/events", handler: Handler::Socket },
];

impl std::fmt::Debug for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

pub(crate) fn router(server: &Arc<Server>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, method_router(route));
    }
    router
        .route("/", on(MethodFilter::GET, phone::connection::connect_or_page))
        .route("/ws", on(MethodFilter::GET, phone::connection::connect))
        .method_not_allowed_fallback(page_file::bad_method)
        .fallback(page_file::answer)
        .layer(from_fn_with_state(Arc::clone(server), guard))
        .with_state(Arc::clone(server))
}

fn method_router(route: &'static Route) -> MethodRouter<Arc<Server>> {
    let work = match route.handler {
        Handler::View(work) | Handler::Action(work) => work,
        Handler::Socket => return on(MethodFilter::GET, live::socket::connect),
    };
    let acts = matches!(route.handler, Handler::Action(_));
    let posts = route.method == "POST";
    let method = if posts { MethodFilter::POST } else { MethodFilter::GET };
    on(method, move |State(server): State<Arc<Server>>, request: Request| async move {
        if acts && server.config.read_only {
            let message = "this server is read-only: it starts, resumes and ends nothing";
            return Refusal::new(StatusCode::FORBIDDEN, "read-only", message).into_response();
        }
        match asked(&server, request, posts).await {
            Ok(asked) => run(server, work, asked).await,
            Err(refused) => refused,
        }
    })
}

/// Views read files and wait for them: that is done outside of the thread that serves all connections.
async fn run(server: Arc<Server>, work: Work, asked: Asked) -> Response<Body> {
    match tokio::task::spawn_blocking(move || work(&server, &asked)).await {
        Ok(answered) => answered.into_response(),
        Err(_) => Refusal::state("this answer failed; that is a bug").into_response(),
    }
}

async fn asked(server: &Server, request: Request, body: bool) -> Result<Asked, Response<Body>> {
    let (mut parts, content) = request.into_parts();
    let bad = |_| Refusal::bad_input("the address is not UTF-8").into_response();
    let path = RawPathParams::from_request_parts(&mut parts, &()).await.map_err(bad)?;
    let query = Query::<Vec<(String, String)>>::from_request_parts(&mut parts, &()).await;
    let bad = |_| Refusal::bad_input("the parameters cannot be read").into_response();
    let Query(query) = query.map_err(bad)?;
    let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let client = parts.extensions.get::<Arc<Client>>().cloned().unwrap_or_default();
    if !body {
        return Ok(Asked { path, query, body: Value::Null, client });
    }
    let kind = parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "the body must be application/json";
        let refusal = Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", message);
        return Err(refusal.into_response());
    }
    let body = read_body(server, content).await.map_err(Refusal::into_response)?;
    Ok(Asked { path, query, body, client })
}

async fn read_body(server: &Server, body: Body) -> Result<Value, Refusal> {
    let reading = axum::body::to_bytes(body, BODY);
    let bytes = match tokio::time::timeout(server.config.limits.reading, reading).await {
        Err(_) => {
            let message = "the body did not come in time";
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "too-slow", message));
        }
        Ok(Err(_)) => {
            let message = format!("the body has more than {BODY} bytes, or did not come whole");
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message));
        }
        Ok(Ok(bytes)) => bytes,
    };
    serde_json::from_slice(&bytes)
        .map_err(|error| Refusal::bad_input(format!("the body is not JSON: {error}")))
}
