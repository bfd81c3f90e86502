//! What a request is answered with: a view, or why there is none.

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, Response, StatusCode};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use std::fmt;

#[derive(Debug)]
pub(crate) enum Answer {
    Json(Value),
    /// What became of a command.
    Command {
        succeeded: bool,
        value: Value,
    },
    Bytes {
        content_type: &'static str,
        headers: Vec<(HeaderName, String)>,
        bytes: Vec<u8>,
    },
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response<Body> {
        match self {
            Answer::Json(value) => json_response(StatusCode::OK, &value),
            Answer::Command { succeeded: true, value } => json_response(StatusCode::OK, &value),
            Answer::Command { succeeded: false, value } => {
                json_response(StatusCode::CONFLICT, &value)
            }
            Answer::Bytes { content_type, headers, bytes } => {
                let mut response = ([(CONTENT_TYPE, content_type)], bytes).into_response();
                for (name, value) in headers {
                    if let Ok(value) = value.try_into() {
                        response.headers_mut().insert(name, value);
                    }
                }
                response
            }
        }
    }
}

/// Why a request is refused. The words of `kind` are stable.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    pub kind: String,
    pub message: String,
}

impl Refusal {
    pub fn new(status: StatusCode, kind: &str, message: impl fmt::Display) -> Refusal {
        Refusal { status, kind: kind.to_owned(), message: message.to_string() }
    }

    pub fn bad_input(message: impl fmt::Display) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, "bad-input", message)
    }

    pub fn not_found(message: impl fmt::Display) -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "not-found", message)
    }

    /// The journal, or a file that it names, cannot be read.
    pub fn state(message: impl fmt::Display) -> Refusal {
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "state", message)
    }
}

impl From<towpath_store::StoreError> for Refusal {
    fn from(error: towpath_store::StoreError) -> Refusal {
        Refusal::state(error)
    }
}

impl From<towpath_engine::EngineError> for Refusal {
    fn from(error: towpath_engine::EngineError) -> Refusal {
        Refusal::state(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let error = json!({ "kind": self.kind, "message": self.message });
        json_response(self.status, &json!({ "schema": 1, "success": false, "error": error }))
    }
}

fn json_response(status: StatusCode, value: &Value) -> Response<Body> {
    (status, [(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
