//! Facts on their way into the store and back.

use crate::config::Options;
use crate::error::EngineError;
use crate::recover_agent_calls::InterruptedJob;
use crate::secrets_in_record::masked;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{JobKey, JobKind, RunId, Secrets};
use towpath_executor::JobId;
use towpath_recipe::{ParseJson, Plan, Program, ValueTemplate, Work};
use towpath_run::{EventKind, Fact, Limits, Output, Run};
use towpath_shell::ShellText;
use towpath_store::{NewFact, OutputRef, Store, StoreError, StoredFact, StoredOutput};

/// Outputs over this are no values.
pub(crate) const VALUE_LIMIT: u64 = 16 << 20;

/// What is stored as the plan of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PlanRecord {
    pub plan: Plan,
    #[serde(default)]
    pub options: Options,
}

impl PlanRecord {
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a plan is plain data")
    }
}

pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// A fact as the store keeps it. What is in stdout is not written twice.
pub(crate) fn to_store(
    fact: &Fact,
    at_ms: i64,
    stdout: Option<OutputRef>,
    stderr: Option<OutputRef>,
) -> NewFact {
    let mut slim = fact.clone();
    if let Fact::JobFinished { key, end } = &mut slim
        && key.kind != JobKind::Agent
        && let Output::Text(_) = &end.output
    {
        end.output = Output::OnDisk { len: stdout.as_ref().map_or(0, OutputRef::len) };
    }
    NewFact {
        at_ms,
        kind: fact.kind(),
        key: fact.key().map(ToString::to_string),
        body: serde_json::to_string(&slim).expect("a fact is plain data"),
        stdout,
        stderr,
    }
}

/// A stored fact as the run takes it, with the output that is recorded beside it.
fn from_store(stored: &StoredFact, directory: &Path, reads: &Reads) -> Result<Fact, EngineError> {
    let mut fact: Fact = serde_json::from_str(&stored.body)
        .map_err(|e| EngineError::PlanText(format!("fact {}: {e}", stored.seq)))?;
    if let Fact::JobFinished { key, end } = &mut fact
        && key.kind != JobKind::Agent
        && let Output::OnDisk { .. } = end.output
    {
        end.output = match &stored.stdout {
            None => Output::Text(String::new()),
            Some(StoredOutput::Inline { bytes, .. }) => {
                Output::Text(as_value(bytes.as_deref().unwrap_or_default()))
            }
            Some(StoredOutput::File { name, len }) => {
                file_output(&directory.join(name), *len, reads.wants(key))
                    .map_err(|error| EngineError::Io { path: directory.join(name), error })?
            }
        };
    }
    Ok(fact)
}

/// The value of an output file: its text where something reads it and it is small enough.
pub(crate) fn file_output(path: &Path, len: u64, wanted: bool) -> std::io::Result<Output> {
    if len > VALUE_LIMIT {
        return Ok(Output::TooLarge { len });
    }
    if !wanted {
        return Ok(Output::OnDisk { len });
    }
    Ok(Output::Text(as_value(&std::fs::read(path)?)))
}

/// Output as a value: text without trailing newlines.
pub(crate) fn as_value(bytes: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// The names that anything in a plan reads. Large outputs that nothing reads stay on disk.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    names: BTreeSet<String>,
    outputs: BTreeSet<(String, String)>,
    /// Steps whose output is looked at for JSON.
    parsed: BTreeSet<String>,
    /// Steps of machines, whose output may end with an outcome.
    reporting: BTreeSet<String>,
}

impl Reads {
    pub fn of(program: &Program) -> Reads {
        let mut reads = Reads::default();
        for recipe in &program.recipes {
            let hooks = [&recipe.hooks.pre_step, &recipe.hooks.post_step, &recipe.hooks.on_error];
            for hook in hooks.into_iter().flatten() {
                reads.command(hook);
            }
            for step in &recipe.steps {
                for name in
                    step.condition.iter().flat_map(towpath_recipe::condition::Condition::names)
                {
                    reads.path(name.path.as_str());
                }
                for placeholder in
                    step.working_dir.iter().flat_map(towpath_core::Template::placeholders)
                {
                    reads.path(placeholder.path.as_str());
                }
                for (_, value) in &step.context {
                    reads.value(value);
                }
                match &step.work {
                    Work::Bash { command } => reads.command(command),
                    Work::Agent(agent) => {
                        agent.prompt.placeholders().for_each(|p| reads.path(p.path.as_str()));
                        let document = agent.document.iter();
                        let names = document.flat_map(|document| document.set.free_references());
                        names.for_each(|name| reads.path(name.path.as_str()));
                    }
                    // The called recipe's last output may be read under this step's name.
                    Work::Recipe { .. } => {}
                }
                if step.parse_json != ParseJson::No {
                    reads.parsed.insert(step.id.clone());
                }
                if !step.outcomes.is_empty() {
                    reads.reporting.insert(step.id.clone());
                }
                if let Some(output) = &step.output {
                    reads.outputs.insert((step.id.clone(), output.clone()));
                }
            }
        }
        reads
    }

    fn command(&mut self, command: &ShellText) {
        command.placeholders().iter().for_each(|p| self.path(p.path.as_str()));
        for variable in command.recipe_variables() {
            self.path(variable.path.as_str());
            variable.exact().iter().for_each(|path| self.path(path.as_str()));
        }
    }

    fn path(&mut self, path: &str) {
        self.names.extend(path.split('.').map(str::to_owned));
    }

    fn value(&mut self, value: &ValueTemplate) {
        match value {
            ValueTemplate::Plain(_) => {}
            ValueTemplate::Text(text) => {
                text.placeholders().for_each(|p| self.path(p.path.as_str()));
            }
            ValueTemplate::List(items) => items.iter().for_each(|i| self.value(i)),
            ValueTemplate::Map(items) => items.iter().for_each(|(_, v)| self.value(v)),
        }
    }

    /// Whether an outcome is looked for in the output of a job.
    pub fn reports(&self, key: &JobKey) -> bool {
        key.kind.is_work() && self.reporting.contains(&key.step)
    }

    /// Whether the output of a job may be read as a value.
    pub fn wants(&self, key: &JobKey) -> bool {
        let step = key.step.as_str();
        matches!(key.kind, JobKind::Snapshot | JobKind::GitAdd | JobKind::Document)
            || self.parsed.contains(step)
            || self.reports(key)
            || self.names.contains(step)
            || self.outputs.iter().any(|(id, name)| id == step && self.names.contains(name))
            // A last step's output is its recipe's, so any read recipe output may be it.
            || self.outputs.iter().any(|(_, name)| self.names.contains(name))
    }
}

/// A run as it is recorded, for looking.
#[derive(Debug)]
pub struct Recorded {
    pub run: Run,
    pub options: Options,
    pub facts: u32,
    /// Its first `JobStarted` facts' scripted lines, by job: see `chosen_agents.rs`.
    pub(crate) started: Vec<(Fact, i64)>,
    /// Jobs whose start is recorded and whose end is not.
    pub(crate) interrupted: Vec<InterruptedJob>,
    pub warnings: Vec<String>,
}

/// Replays a run from its record.
pub fn recorded(store: &Store, id: &RunId, limits: Limits) -> Result<Recorded, EngineError> {
    replayed(store, id, limits, &Secrets::default())
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

/// As `recorded`, masking what was recorded before it was named a secret.
pub(crate) fn replayed(
    store: &Store,
    id: &RunId,
    limits: Limits,
    secrets: &Secrets,
) -> Result<Recorded, EngineError> {
    let stored = store.facts(id)?;
    let mut replay = Replay::new(store, id, limits, secrets.clone())?;
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
    reads: Reads,
    secrets: Secrets,
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
        let (program, options) = load(&store.plan(id, Some(1))?.text)?;
        let reads = Reads::of(&program);
        let run = Run::new(program, limits);
        let directory = store.run_directory(id);
        Ok(Replay { id: id.clone(), directory, reads, secrets, run, options })
    }

    /// Applies the next fact, and returns it with its output.
    pub fn apply(&mut self, store: &Store, item: &StoredFact) -> Result<Fact, EngineError> {
        let fact = masked(&self.secrets, from_store(item, &self.directory, &self.reads)?);
        self.run.apply(&fact, item.at_ms)?;
        if let Fact::Replanned { version } = fact {
            let (program, options) = load(&store.plan(&self.id, Some(version))?.text)?;
            self.reads = Reads::of(&program);
            self.run.replan(program)?;
            self.options = options;
        }
        Ok(fact)
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

/// The store's own error for a file of ours that cannot be written.
pub(crate) fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> EngineError + '_ {
    move |error| match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            EngineError::Store(StoreError::Full { path: path.to_owned() })
        }
        _ => EngineError::Io { path: path.to_owned(), error },
    }
}
