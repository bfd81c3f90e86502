//! One client: the handshake with the key, then its requests in their order, and between them whatever
//! happens to the runs. A client that does not read is disconnected; when it comes again, it gets the state.

use super::exit_recipe::exit_recipe;
use super::handshake::{VERSION, auth_error, greeting, hello, is_key};
use super::messages::{ClientMessage, ServerMessage, SessionHistory};
use super::requests::{self, Request};
use super::run_messages::Published;
use crate::answer::Refusal;
use crate::connection_slots::Client;
use crate::{Server, page_file};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, Method, Response, Uri};
use axum::response::IntoResponse as _;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;

const FRAME: usize = 1024 * 1024;
/// The longest message, unless the client takes another length.
pub(super) const MESSAGE: usize = 256_000;
/// How many requests of a client wait; it is not read meanwhile.
const WAITING: usize = 16;
/// How many sessions a client looks at.
const SUBSCRIBED: usize = 64;
/// The longest name of a session.
const LONGEST_NAME: usize = 128;
/// A connection that is gone is found out by writing.
const PING: Duration = Duration::from_secs(20);

const NORMAL: u16 = 1000;

/// At `/`, where a browser gets the page.
pub(crate) async fn connect_or_page(
    State(server): State<Arc<Server>>,
    Extension(client): Extension<Arc<Client>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    match upgrade {
        Ok(upgrade) => accept(server, client, upgrade),
        Err(_) => page_file::answer(method, uri, headers).await,
    }
}

/// At `/ws`.
pub(crate) async fn connect(
    State(server): State<Arc<Server>>,
    Extension(client): Extension<Arc<Client>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response<Body> {
    match upgrade {
        Ok(upgrade) => accept(server, client, upgrade),
        Err(_) => Refusal::bad_input("this is the address of a WebSocket").into_response(),
    }
}

fn accept(server: Arc<Server>, client: Arc<Client>, upgrade: WebSocketUpgrade) -> Response<Body> {
    let upgrade = upgrade.max_message_size(FRAME).max_frame_size(FRAME);
    upgrade.on_upgrade(move |socket| async move {
        // Whatever goes wrong with a connection is the client's business.
        let _ = talk(server, &client, socket).await;
    })
}

async fn talk(
    server: Arc<Server>,
    client: &Client,
    mut socket: WebSocket,
) -> Result<(), axum::Error> {
    send(&mut socket, &hello(), MESSAGE).await?;
    let patience = server.config.limits.reading;
    let greeting = tokio::select! {
        greeting = tokio::time::timeout(patience, greeting(&server, &mut socket)) => greeting,
        () = client.must_leave() => return Ok(()),
    };
    let (connect, key) = match greeting.unwrap_or(Err(auth_error())) {
        Ok(connect) => connect,
        Err(refusal) => {
            send(&mut socket, &refusal, MESSAGE).await?;
            return close(socket).await;
        }
    };
    client.is_known_now();
    let connected = ServerMessage::Connected {
        message: "Session registered",
        session_id: connect.text("session_id").map(str::to_owned),
        negotiated_protocol_version: VERSION,
    };
    send(&mut socket, &connected, MESSAGE).await?;
    Connection::new(server, socket, key).serve(connect).await
}

type Answers = Vec<ServerMessage>;

/// A request that is being answered.
struct Working {
    answers: JoinHandle<Answers>,
    /// The session in which it starts a recipe.
    starts: Option<String>,
}

struct Connection {
    server: Arc<Server>,
    socket: WebSocket,
    /// The key that the client has shown.
    key: String,
    /// The longest message that it takes.
    most: usize,
    waiting: VecDeque<Request>,
    working: Option<Working>,
    /// The answers of requests that are not waited for, at most so many at a time.
    late: (mpsc::Sender<Answers>, mpsc::Receiver<Answers>),
    /// The sessions that it looks at, each with the number of the last message that it has.
    subscribed: BTreeMap<String, u64>,
    /// The sessions in which it starts a recipe, and those in which it has started one.
    starting: BTreeSet<String>,
    started: BTreeSet<String>,
}

impl Connection {
    fn new(server: Arc<Server>, socket: WebSocket, key: String) -> Connection {
        Connection {
            server,
            socket,
            key,
            most: MESSAGE,
            waiting: VecDeque::new(),
            working: None,
            late: mpsc::channel(WAITING),
            subscribed: BTreeMap::new(),
            starting: BTreeSet::new(),
            started: BTreeSet::new(),
        }
    }

    async fn serve(mut self, connect: ClientMessage) -> Result<(), axum::Error> {
        let server = Arc::clone(&self.server);
        // Before the lists: whoever has them misses nothing of what comes.
        let subscribed = tokio::task::spawn_blocking(move || server.phones.subscribe(&server));
        let Ok((mut news, states)) = subscribed.await else { return close(self.socket).await };
        let lists = self.spawn(Request::Message(connect)).await.unwrap_or_default();
        self.send_all(lists).await?;
        self.send_all(states).await?;
        let mut ticks = tokio::time::interval(PING);
        loop {
            self.work();
            let working = async {
                match self.working.as_mut() {
                    Some(working) => (&mut working.answers).await.ok(),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                published = news.recv() => match published {
                    Ok(published) => self.publish(published).await?,
                    // It does not read as fast as things happen.
                    Err(broadcast::error::RecvError::Lagged(_)) => return close(self.socket).await,
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
                answers = working => {
                    self.answered(answers).await?;
                }
                Some(answers) = self.late.1.recv() => self.send_all(answers).await?,
                message = self.socket.recv(), if self.waiting.len() < WAITING => match message {
                    Some(Ok(Message::Text(text))) if self.has_key() => self.take(&text).await?,
                    Some(Ok(Message::Binary(_))) => {
                        let message = "Error processing message: it is not text";
                        self.send(&ServerMessage::error(message)).await?;
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Text(_))) => return self.refuse().await,
                    Some(Ok(Message::Close(_))) => return finish(self.socket).await,
                    Some(Err(_)) | None => return Ok(()),
                },
                _ = ticks.tick() => {
                    if !self.has_key() {
                        return self.refuse().await;
                    }
                    self.socket.send(Message::Ping(Vec::new().into())).await?;
                }
            }
        }
    }

    /// The key may have been replaced since.
    fn has_key(&self) -> bool {
        is_key(&self.server, &self.key)
    }

    async fn refuse(mut self) -> Result<(), axum::Error> {
        self.send(&auth_error()).await?;
        close(self.socket).await
    }

    fn spawn(&self, request: Request) -> JoinHandle<Answers> {
        let (server, most) = (Arc::clone(&self.server), self.most);
        tokio::task::spawn_blocking(move || requests::answer(&server, &request, most))
    }

    /// Begins with the next requests, until one must be waited for.
    fn work(&mut self) {
        while self.working.is_none()
            && let Some(mut request) = self.waiting.pop_front()
        {
            let mut starts = None;
            match &mut request {
                // An earlier answer may have brought some of it.
                Request::News { session, since } => {
                    let Some(last) = self.subscribed.get(session) else { continue };
                    *since = *last;
                }
                Request::Message(message) if message.kind == "start_recipe" => {
                    starts = message.text("session_id").map(str::to_owned);
                    self.starting.extend(starts.clone());
                }
                Request::Message(message) if message.kind == "exit_recipe" => {
                    if self.exit(message) {
                        continue;
                    }
                    self.waiting.push_front(request);
                    return;
                }
                Request::Message(_) => {}
            }
            self.working = Some(Working { answers: self.spawn(request), starts });
        }
    }

    /// The end of a run may take long, and is sent to all. False: too many are waited for already.
    fn exit(&self, message: &ClientMessage) -> bool {
        let Ok(late) = self.late.0.clone().try_reserve_owned() else { return false };
        let (server, message) = (Arc::clone(&self.server), message.clone());
        tokio::spawn(async move { late.send(exit_recipe(server, message).await) });
        true
    }

    /// Sends the answers of the request that was worked on; none: it could not be answered.
    async fn answered(&mut self, answers: Option<Answers>) -> Result<(), axum::Error> {
        let starts = self.working.take().and_then(|working| working.starts);
        // Without an answer a run has begun; what is sent about it may come later.
        if let Some(session) = starts
            && answers.as_ref().is_none_or(|answers| !answers.is_empty())
        {
            self.starting.remove(&session);
        }
        self.send_all(answers.unwrap_or_default()).await
    }

    async fn take(&mut self, text: &str) -> Result<(), axum::Error> {
        let message = match ClientMessage::parse(text) {
            Ok(message) => message,
            Err(error) => {
                let message = format!("Error processing message: {error}");
                return self.send(&ServerMessage::error(message)).await;
            }
        };
        let session = message.text("session_id").map(str::to_owned);
        match message.kind.as_str() {
            "ping" => self.send(&ServerMessage::Pong {}).await,
            "message_ack" | "connect" => Ok(()),
            "unsubscribe" | "session_deleted" => {
                self.subscribed.remove(&session.unwrap_or_default());
                Ok(())
            }
            "set_max_message_size" => self.set_size(message.number("size_kb")).await,
            _ if session.as_ref().is_some_and(|session| session.len() > LONGEST_NAME) => {
                let message = format!("session_id has more than {LONGEST_NAME} bytes");
                self.send(&ServerMessage::error(message)).await
            }
            kind => {
                if let Some(session) = session.filter(|_| kind == "subscribe")
                    && self.subscribed.len() < SUBSCRIBED
                {
                    self.subscribed.insert(session, message.number("last_seq").unwrap_or(0));
                }
                self.waiting.push_back(Request::Message(message));
                Ok(())
            }
        }
    }

    async fn set_size(&mut self, size_kb: Option<u64>) -> Result<(), axum::Error> {
        let answer = match size_kb.filter(|size| *size > 0) {
            None => ServerMessage::error(
                "size_kb (positive integer) required in set_max_message_size message",
            ),
            Some(size) => {
                let bytes = usize::try_from(size).unwrap_or(FRAME).saturating_mul(1024);
                self.most = bytes.min(FRAME);
                ServerMessage::ack(format!("Max message size set to {size} KB"))
            }
        };
        self.send(&answer).await
    }

    async fn publish(&mut self, published: Published) -> Result<(), axum::Error> {
        let (message, restarted) = match published {
            Published::Message { message, restarted } => (message, restarted),
            Published::Conversation { session } => {
                self.ask_for_news(session);
                return Ok(());
            }
        };
        self.send(&message).await?;
        let ServerMessage::RecipeStarted { session_id, .. } = message else { return Ok(()) };
        let starts = self.starting.remove(&session_id);
        let restarts = restarted.is_some_and(|session| self.started.contains(&session));
        if !starts && !restarts {
            return Ok(());
        }
        self.started.insert(session_id);
        let words = if starts { "Starting recipe..." } else { "Starting recipe in new session..." };
        self.send(&ServerMessage::ack(words)).await
    }

    /// Asks for the new messages of a session that the client looks at, once.
    fn ask_for_news(&mut self, session: String) {
        if !self.subscribed.contains_key(&session) {
            return;
        }
        let waits = self.waiting.iter().any(
            |request| matches!(request, Request::News { session: known, .. } if *known == session),
        );
        if !waits {
            self.waiting.push_back(Request::News { session, since: 0 });
        }
    }

    async fn send_all(&mut self, answers: Answers) -> Result<(), axum::Error> {
        for answer in answers {
            if let ServerMessage::SessionHistory(history) = &answer {
                self.note(history);
            }
            self.send(&answer).await?;
        }
        Ok(())
    }

    /// Notes how far the client has the messages of a session.
    fn note(&mut self, history: &SessionHistory) {
        let last = history.last_seq;
        let Some(known) = self.subscribed.get_mut(&history.session_id) else { return };
        *known = last.unwrap_or(history.next_seq - 1);
        if !history.is_complete {
            self.ask_for_news(history.session_id.clone());
        }
    }

    async fn send(&mut self, message: &ServerMessage) -> Result<(), axum::Error> {
        send(&mut self.socket, message, self.most).await
    }
}

pub(super) async fn send(
    socket: &mut WebSocket,
    message: &ServerMessage,
    most: usize,
) -> Result<(), axum::Error> {
    socket.send(Message::Text(message.to_text(most).into())).await
}

async fn close(mut socket: WebSocket) -> Result<(), axum::Error> {
    let frame = CloseFrame { code: NORMAL, reason: "".into() };
    socket.send(Message::Close(Some(frame))).await?;
    finish(socket).await
}

/// The rest of the closing is read and written, or the connection is closed with this function.
async fn finish(mut socket: WebSocket) -> Result<(), axum::Error> {
    let _ = tokio::time::timeout(Duration::from_secs(1), socket.recv()).await;
    Ok(())
}
