//! A socket: the first message has the token and, after a reconnect, the last number that came. Then
//! every event is sent, in order. A client that does not read is disconnected by its connection. A page that
//! reconnects first asks for a proof that this is the server it knows: another program may listen at its
//! address by now, and must not get the token.

use super::events::After;
use crate::Server;
use crate::answer::Refusal;
use crate::connection_slots::Client;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::Response;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const FRAME: usize = 1024 * 1024;
/// Of the range that is for applications: like the status 401.
const NO_TOKEN: u16 = 4401;
/// The client does not keep to the protocol.
const POLICY: u16 = 1008;

#[derive(Deserialize)]
#[serde(untagged)]
enum First {
    Token { token: String, since: Option<u64> },
    Nonce { nonce: String },
}

pub(crate) async fn connect(
    State(server): State<Arc<Server>>,
    Extension(client): Extension<Arc<Client>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response<Body> {
    match upgrade {
        Ok(upgrade) => upgrade
            .max_message_size(FRAME)
            .max_frame_size(FRAME)
            .on_upgrade(move |socket| talk(server, client, socket)),
        Err(_) => Refusal::bad_input("this is the address of a WebSocket").into_response(),
    }
}

async fn talk(server: Arc<Server>, client: Arc<Client>, mut socket: WebSocket) {
    let opening = tokio::select! {
        opening = tokio::time::timeout(server.config.limits.reading, opening(&server, &mut socket)) => opening,
        () = client.must_leave() => return,
    };
    let (token, since) = match opening {
        Ok(Some(opening)) => opening,
        Ok(None) => return close(socket, NO_TOKEN, "the first message has no token").await,
        Err(_) => return close(socket, POLICY, "the first message did not come").await,
    };
    if !server.config.token.matches(&token) {
        return close(socket, NO_TOKEN, "this is not the token of this server").await;
    }
    client.is_known_now();
    // Subscribed before anything is read: what happens meanwhile is sent, too.
    let mut news = server.events.subscribe();
    let latest = *news.borrow_and_update();
    let hello = json!({
        "seq": latest,
        "kind": "hello",
        "api": 1,
        "version": server.config.version,
        "read_only": server.config.read_only,
    });
    if send(&mut socket, hello.to_string()).await.is_err() {
        return;
    }
    let mut since = since.unwrap_or(latest);
    loop {
        let Ok(sent) = send_after(&server, &mut socket, since).await else { return };
        since = sent;
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            message = socket.recv() => match message {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                // Whatever else a client sends has no meaning here.
                Some(Ok(_)) => {}
            },
            // A script sees no ping: this shows it that the server lives.
            () = tokio::time::sleep(server.config.limits.tick) => {
                let tick = json!({ "seq": since, "kind": "tick" }).to_string();
                if send(&mut socket, tick).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// The token that a client shows, and what it has already. It may ask for one proof before.
async fn opening(server: &Server, socket: &mut WebSocket) -> Option<(String, Option<u64>)> {
    let mut next = first(socket).await?;
    if let First::Nonce { nonce } = &next {
        let proof = server.config.token.proof(nonce);
        send(socket, json!({ "kind": "proof", "proof": proof }).to_string()).await.ok()?;
        next = first(socket).await?;
    }
    match next {
        First::Token { token, since } => Some((token, since)),
        First::Nonce { .. } => None,
    }
}

/// The next message, if it is one of the first two.
async fn first(socket: &mut WebSocket) -> Option<First> {
    loop {
        match socket.recv().await?.ok()? {
            Message::Text(text) => return serde_json::from_str(text.as_str()).ok(),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Binary(_) | Message::Close(_) => return None,
        }
    }
}

/// Sends what came after a number, and returns the number after which nothing has come yet.
async fn send_after(
    server: &Server,
    socket: &mut WebSocket,
    since: u64,
) -> Result<u64, axum::Error> {
    match server.events.after(since) {
        After::Changes { messages, latest } => {
            for message in messages {
                send(socket, message).await?;
            }
            Ok(latest)
        }
        After::Lost { latest } => {
            send(socket, json!({ "seq": latest, "kind": "reset" }).to_string()).await?;
            Ok(latest)
        }
    }
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), axum::Error> {
    socket.send(Message::Text(text.into())).await
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code, reason: reason.into() };
    let _ = socket.send(Message::Close(Some(frame))).await;
    // The client closes now, or its connection is closed with this function.
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.recv()).await;
}
