//! A run rebuilt from its record, fact by fact.

use crate::error::EngineError;
use crate::masked::masked;
use crate::outputs_read::OutputsRead;
use crate::plan_record::PlanRecord;
use crate::recover_agent_calls::InterruptedJob;
use crate::stored_facts::from_store;
use crate::stored_run_options::Options;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use towpath_core::{RunId, Secrets};
use towpath_executor::JobId;
use towpath_recipe::{MachineOptions, Program};
use towpath_run::{EventKind, Fact, Limits, Output, Run};
use towpath_store::{Store, StoreError, StoredFact};

/// A run as it is recorded, for looking.
#[derive(Debug)]
pub struct Recorded {
    pub run: Run,
    pub options: Options,
    pub facts: u32,
    /// Its first `JobStarted` facts' scripted lines, by job: see `script_lines.rs`.
    pub(crate) started: Vec<(Fact, i64)>,
    /// Jobs whose start is recorded and whose end is not.
    pub(crate) interrupted: Vec<InterruptedJob>,
    pub warnings: Vec<String>,
}

/// Replays a run from its record.
pub fn recorded(store: &Store, id: &RunId, limits: Limits) -> Result<Recorded, EngineError> {
    replayed(store, id, limits, &Secrets::default(), None)
}

/// The options of a run, as it was last started or resumed with them, without replaying it.
pub fn recorded_options(store: &Store, id: &RunId) -> Result<Options, EngineError> {
    #[derive(Deserialize)]
    struct Record {
        #[serde(default)]
        options: Options,
    }
    let text = store.plan(id, None)?.text;
    let record: Record =
        serde_json::from_str(&text).map_err(|e| EngineError::PlanText(e.to_string()))?;
    Ok(record.options)
}

/// What a run was given for its state machine, without replaying it.
pub fn recorded_machine_options(store: &Store, id: &RunId) -> Result<MachineOptions, EngineError> {
    #[derive(Deserialize)]
    struct Record {
        plan: PlanOptions,
    }
    #[derive(Deserialize)]
    struct PlanOptions {
        #[serde(default)]
        machine: MachineOptions,
    }
    let text = store.plan(id, Some(1))?.text;
    let record: Record =
        serde_json::from_str(&text).map_err(|e| EngineError::PlanText(e.to_string()))?;
    Ok(record.plan.machine)
}

/// As `recorded`, masking what was recorded before it was named a secret, with the outputs that an
/// edited program reads as well.
pub(crate) fn replayed(
    store: &Store,
    id: &RunId,
    limits: Limits,
    secrets: &Secrets,
    edited: Option<&Program>,
) -> Result<Recorded, EngineError> {
    let stored = store.facts(id)?;
    let mut replay = Replay::new(store, id, limits, secrets.clone())?;
    if let Some(program) = edited {
        replay.reads.add(program);
    }
    let mut started = Vec::new();
    let mut interrupted = Vec::new();
    let mut warnings = Vec::new();
    for item in &stored {
        let fact = replay.apply(store, item)?;
        for event in replay.run.take_events() {
            if let EventKind::Warning { message, .. } = event {
                warnings.push(message);
            }
        }
        if let Fact::JobStarted { key, .. } = &fact {
            let (id, key) = (JobId(item.seq), key.clone());
            interrupted.push(InterruptedJob { id, key, started_ms: item.at_ms });
        }
        if fact.key().is_some() {
            started.push((without_output(fact), item.at_ms));
        }
    }
    let facts = stored.last().map_or(0, |f| f.seq);
    let Replay { run, options, .. } = replay;
    interrupted.retain(|job: &InterruptedJob| run.running().any(|key| *key == job.key));
    Ok(Recorded { run, options, facts, started, interrupted, warnings })
}

/// A run that is replayed fact by fact.
#[derive(Debug)]
pub(crate) struct Replay {
    id: RunId,
    directory: PathBuf,
    /// Every version of the plan.
    plans: Vec<(Arc<Program>, Options)>,
    /// By any of them: a later plan may read what an earlier one left on disk.
    reads: OutputsRead,
    secrets: Secrets,
    limits: Limits,
    pub run: Run,
    pub options: Options,
}

impl Replay {
    pub fn new(
        store: &Store,
        id: &RunId,
        limits: Limits,
        secrets: Secrets,
    ) -> Result<Replay, EngineError> {
        let mut plans = vec![load(&store.plan(id, Some(1))?.text)?];
        for version in 2.. {
            match store.plan(id, Some(version)) {
                Err(StoreError::NoSuchPlan { .. }) => break,
                plan => plans.push(load(&plan?.text)?),
            }
        }
        let mut reads = OutputsRead::default();
        for (program, _) in &plans {
            reads.add(program);
        }
        let (program, options) = plans[0].clone();
        let run = Run::new(program, limits);
        let directory = store.run_directory(id);
        Ok(Replay { id: id.clone(), directory, plans, reads, secrets, limits, run, options })
    }

    /// Applies the next fact, and returns it with its output.
    pub fn apply(&mut self, store: &Store, item: &StoredFact) -> Result<Fact, EngineError> {
        let fact = masked(&self.secrets, from_store(item, &self.directory, &self.reads)?);
        self.run.apply(&fact, item.at_ms)?;
        if let Fact::Replanned { version } = fact {
            match self.plans.get(version as usize - 1).cloned() {
                Some((program, options)) => {
                    self.run.replan(program)?;
                    self.options = options;
                }
                None => self.begin_again(store, item.seq, version)?,
            }
        }
        Ok(fact)
    }

    /// Replays up to a fact that has brought a plan which was not there at the beginning.
    fn begin_again(&mut self, store: &Store, last: u32, plan: u32) -> Result<(), EngineError> {
        store.plan(&self.id, Some(plan))?;
        *self = Replay::new(store, &self.id, self.limits, self.secrets.clone())?;
        for item in store.facts(&self.id)?.iter().filter(|item| item.seq <= last) {
            self.apply(store, item)?;
        }
        self.run.take_events();
        Ok(())
    }
}

fn without_output(mut fact: Fact) -> Fact {
    if let Fact::JobFinished { end, .. } = &mut fact {
        end.output = Output::None;
    }
    fact
}

fn load(text: &str) -> Result<(Arc<Program>, Options), EngineError> {
    let record: PlanRecord =
        serde_json::from_str(text).map_err(|e| EngineError::PlanText(e.to_string()))?;
    let program = record.plan.load().map_err(EngineError::Plan)?;
    Ok((Arc::new(program), record.options))
}
