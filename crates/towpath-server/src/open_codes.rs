//! A code in an address that a browser is started with, instead of the token: every user can read the
//! arguments of a program, and a browser keeps its addresses. It leads to the token once, within two
//! minutes, and on this machine only for the user of the server.

use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use crate::token::{Token, is_same};
use crate::views::journal::now_ms;
use axum::http::StatusCode;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

const VALID_MS: i64 = 120_000;

/// The codes that were used, as long as they could be used again.
#[derive(Debug, Default)]
pub(crate) struct OpenCodes(Mutex<Vec<(i64, String)>>);

impl Token {
    /// The code of a moment. The words before the token keep it apart from a proof, which anybody may
    /// ask for.
    pub fn code(&self, at_ms: i64, random: &str) -> String {
        let hash = Sha256::digest(format!("open:{}:{at_ms}-{random}", self.as_str()));
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{at_ms}-{random}-{hash}")
    }

    /// The moment of a code that was made with this token.
    fn moment_of(&self, code: &str) -> Option<i64> {
        let (made, _) = code.rsplit_once('-')?;
        let (at, random) = made.split_once('-')?;
        let at = at.parse().ok()?;
        is_same(&self.code(at, random), code).then_some(at)
    }
}

impl OpenCodes {
    /// Whether a code is valid now; it is used up then.
    fn take(&self, token: &Token, code: &str, now: i64) -> bool {
        let Some(at) = token.moment_of(code) else { return false };
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|(at, _)| (now - at).abs() < VALID_MS);
        let valid = (now - at).abs() < VALID_MS && !used.iter().any(|(_, known)| known == code);
        used.push((at, code.to_owned()));
        valid
    }
}

/// The token, for a code.
pub(crate) fn redeem(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let code = asked.body["code"].as_str();
    let code = code.ok_or_else(|| Refusal::bad_input("the body has no code"))?;
    let foreign = asked.client.peer.is_some_and(|peer| is_of_other_user(peer, own_user()));
    if foreign || !server.codes.take(&server.config.token, code, now_ms()) {
        let message = "this address was used already, or is too old: open the page again";
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "no-token", message));
    }
    Ok(Answer::Json(json!({ "schema": 1, "token": server.config.token.as_str() })))
}

fn own_user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// Whether the socket at the other end is another user's, as the system lists it. Root needs no code; a
/// socket that is not listed is on another machine, or the system has no such list.
fn is_of_other_user(peer: SocketAddr, own: u32) -> bool {
    let address = match peer {
        SocketAddr::V4(peer) => format!("{:08X}", u32::from_le_bytes(peer.ip().octets())),
        SocketAddr::V6(peer) => {
            let words = peer.ip().octets();
            let words = words.chunks_exact(4).map(|word| {
                format!("{:08X}", u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            });
            words.collect()
        }
    };
    let wanted = format!("{address}:{:04X}", peer.port());
    let file = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let list = fs::read_to_string(file).unwrap_or_default();
    let mut rows = list.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.get(1).is_some_and(|local| *local == wanted));
    let user = row.and_then(|row| row.get(7)?.parse::<u32>().ok());
    user.is_some_and(|user| user != own && user != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_code_leads_to_the_token_once_and_not_for_long() {
        let token = Token::from_random([7; 16]);
        let codes = OpenCodes::default();
        let code = token.code(1000, "ab12");
        assert!(!codes.take(&Token::from_random([8; 16]), &code, 1000), "of another server");
        assert!(!codes.take(&token, &token.code(1000, "cd34"), 1000 + VALID_MS), "too late");
        assert!(codes.take(&token, &code, 2000));
        assert!(!codes.take(&token, &code, 2001), "a second time");
        for other in ["", "1000-ab12", "1000-ab12-", &code.replace("ab", "ac"), &token.proof("1")] {
            assert!(!codes.take(&token, other, 1000), "{other}");
        }
        assert!(!code.contains(token.as_str()));
    }

    #[test]
    fn the_user_of_a_socket_is_known() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else { continue };
            let address = listener.local_addr().expect("an address");
            let client = TcpStream::connect(address).expect("it listens");
            let peer = client.local_addr().expect("an address");
            assert!(!is_of_other_user(peer, own_user()), "{host}");
            // Root may do anything, so that its own sockets are nobody else's.
            assert_eq!(is_of_other_user(peer, own_user() + 1), own_user() != 0, "{host}");
        }
    }
}
