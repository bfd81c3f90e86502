//! The handshake: the server greets, and the client shows the key. Who does not is refused, and learns
//! nothing but that.

use super::connection::{MESSAGE, send};
use super::key::PhoneKey;
use super::messages::{ClientMessage, ErrorMessage, ServerMessage};
use crate::Server;
use axum::extract::ws::{Message, WebSocket};

/// The version of the protocol: clients continue a session's messages by number.
pub(super) const VERSION: &str = "0.4.0";
const OLDEST: [u32; 3] = [0, 4, 0];

pub(super) fn hello() -> ServerMessage {
    ServerMessage::Hello {
        message: "Welcome to Towpath",
        version: VERSION,
        auth_version: 1,
        instructions: "Send connect message with api_key",
    }
}

pub(super) fn auth_error() -> ServerMessage {
    ServerMessage::AuthError { message: "Authentication failed" }
}

/// Waits for the message that connects, with the right key. Nothing else is answered before it but a ping.
pub(super) async fn greeting(
    server: &Server,
    socket: &mut WebSocket,
) -> Result<(ClientMessage, String), ServerMessage> {
    loop {
        let text = match socket.recv().await {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
            _ => return Err(auth_error()),
        };
        let message = ClientMessage::parse(text.as_str()).map_err(|_| auth_error())?;
        match message.kind.as_str() {
            "ping" => {
                let sent = send(socket, &ServerMessage::Pong {}, MESSAGE).await;
                sent.map_err(|_| auth_error())?;
            }
            "connect" => {
                refuse_old(&message)?;
                let key = message.text("api_key").filter(|key| is_key(server, key));
                let key = key.ok_or_else(auth_error)?.to_owned();
                return Ok((message, key));
            }
            _ => return Err(auth_error()),
        }
    }
}

pub(super) fn is_key(server: &Server, shown: &str) -> bool {
    PhoneKey::read(&server.config.phone_key).is_some_and(|key| key.matches(shown))
}

fn refuse_old(connect: &ClientMessage) -> Result<(), ServerMessage> {
    let Some(version) = connect.text("protocol_version") else { return Ok(()) };
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    if parts[..] >= OLDEST[..] {
        return Ok(());
    }
    Err(ServerMessage::Error(ErrorMessage {
        code: Some("unsupported_protocol_version"),
        required: Some(VERSION),
        received: Some(version.to_owned()),
        message: "Client is too old; upgrade required".to_owned(),
        session_id: None,
    }))
}
