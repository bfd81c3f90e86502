//! How many clients are served at once. A client that has shown the token, or the key of remote clients,
//! keeps its slot. Of the others the oldest one makes room: strangers cannot lock the user out.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How long a new client waits for the slot of a stranger.
const PATIENCE: Duration = Duration::from_millis(500);

/// One client, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Client {
    /// Where it is.
    pub peer: Option<SocketAddr>,
    is_known: AtomicBool,
    makes_room: Notify,
}

impl Client {
    /// It has shown the token or the key.
    pub fn is_known_now(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    /// Comes back when this client, a stranger, must make room for another.
    pub async fn must_leave(&self) {
        loop {
            self.makes_room.notified().await;
            if !self.is_known.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct ConnectionSlots {
    free: Arc<Semaphore>,
    /// Clients that were strangers when they came, the oldest first.
    strangers: Mutex<VecDeque<Weak<Client>>>,
}

impl ConnectionSlots {
    pub fn new(count: usize) -> ConnectionSlots {
        let strangers = Mutex::default();
        ConnectionSlots { free: Arc::new(Semaphore::new(count)), strangers }
    }

    /// None: everybody who is served has shown the token.
    pub async fn take(
        &self,
        peer: Option<SocketAddr>,
    ) -> Option<(OwnedSemaphorePermit, Arc<Client>)> {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                self.oldest_stranger()?.makes_room.notify_one();
                let next = Arc::clone(&self.free).acquire_owned();
                tokio::time::timeout(PATIENCE, next).await.ok()?.ok()?
            }
        };
        let client = Arc::new(Client { peer, ..Client::default() });
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|known| known.strong_count() > 0);
        strangers.push_back(Arc::downgrade(&client));
        Some((permit, client))
    }

    fn oldest_stranger(&self) -> Option<Arc<Client>> {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(oldest) = strangers.pop_front() {
            let stranger =
                oldest.upgrade().filter(|client| !client.is_known.load(Ordering::Relaxed));
            if stranger.is_some() {
                return stranger;
            }
        }
        None
    }
}
