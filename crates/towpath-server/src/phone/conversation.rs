//! What was asked and answered in a run's own state machine, in order, out of the journal.

use crate::Server;
use crate::answer::Refusal;
use std::collections::BTreeMap;
use towpath_core::{JobKey, JobKind, RunId, SessionId};
use towpath_engine::started_jobs;
use towpath_run::{Fact, JobWork};
use towpath_store::Store;

/// One call of the agent.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The number of the fact that started it.
    pub number: u32,
    /// How many restarts came before it.
    pub restarts: u32,
    pub prompt: String,
    pub started_ms: i64,
    pub answer: Option<Answer>,
    /// The session of the agent's program.
    pub session: Option<SessionId>,
    pub backend: Option<String>,
    pub succeeded: bool,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub text: String,
    pub at_ms: i64,
}

/// The calls of a run. A run that is no state machine has none.
pub(crate) fn exchanges(
    server: &Server,
    store: &Store,
    run: &RunId,
) -> Result<Vec<Exchange>, Refusal> {
    let own = |key: &JobKey| key.kind == JobKind::Agent && key.frame.is_none();
    let mut found = Vec::new();
    // The latest call of each key.
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for started in started_jobs(store, run, server.config.run_limits, &own)? {
        let JobWork::Agent(agent) = started.job.work else { continue };
        if agent.keeps_session {
            numbers.insert(started.number, found.len());
            found.push(Exchange {
                number: started.number,
                restarts: started.restarts,
                prompt: agent.prompt,
                started_ms: 0,
                answer: None,
                session: None,
                backend: None,
                succeeded: false,
            });
        }
    }
    for stored in store.facts_after(run, 0)? {
        let Ok(fact) = serde_json::from_str::<Fact>(&stored.body) else { continue };
        if let (Fact::JobStarted { key, .. }, Some(index)) = (&fact, numbers.get(&stored.seq)) {
            calls.insert(key.to_string(), *index);
        }
        let index = fact.key().and_then(|key| calls.get(&key.to_string()));
        let Some(exchange) = index.map(|index| &mut found[*index]) else { continue };
        take(exchange, fact, stored.at_ms);
    }
    Ok(found)
}

fn take(exchange: &mut Exchange, fact: Fact, at_ms: i64) {
    match fact {
        Fact::JobStarted { session, backend, .. } => {
            (exchange.started_ms, exchange.session, exchange.backend) = (at_ms, session, backend);
        }
        Fact::SessionOpened { session, .. } => exchange.session = Some(session),
        Fact::JobFinished { end, .. } => {
            exchange.succeeded = end.succeeded();
            let text = end.output.text().filter(|text| !text.is_empty());
            exchange.answer = text.map(|text| Answer { text: text.to_owned(), at_ms });
        }
        _ => {}
    }
}
