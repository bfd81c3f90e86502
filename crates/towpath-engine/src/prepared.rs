//! How a run comes into the hands of its owner: created, or taken over from its record.

use crate::clock::now_ms;
use crate::error::EngineError;
use crate::masked::{masked, refuse_in_plan};
use crate::plan_record::PlanRecord;
use crate::recover_agent_calls::{LateFact, late_facts};
use crate::replay_run::{Recorded, replayed};
use crate::required_programs::MetRequirements;
use crate::resume_answers::ResumeAnswers;
use crate::run_owner::{LOCK, take};
use crate::run_summary::summary;
use crate::sandboxed_steps::refuse_unconfined;
use crate::session_locks::SessionLocks;
use crate::settle::describe;
use crate::stored_facts::to_store;
use crate::stored_run_options::Options;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use towpath_core::{RunId, Secrets, StepPath};
use towpath_executor::{Acquire, Confinement, RunLock, end_marked};
use towpath_recipe::Program;
use towpath_run::{Answer, Fact, Limits, Run, StepState, StepView};
use towpath_store::{NewRun, Store};
use tracing::debug;

/// A run that is ours to drive.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) id: RunId,
    pub(crate) run: Run,
    pub(crate) lock: RunLock,
    pub(crate) directory: PathBuf,
    pub(crate) facts: u32,
    pub(crate) history: Vec<(Fact, i64)>,
    pub(crate) resumed: bool,
    /// Leftovers of a dead owner that were ended.
    pub ended: Vec<String>,
    /// The warnings about finished steps that miss what they left running. The caller adds what helps.
    pub gone: BTreeMap<StepPath, String>,
    pub(crate) active_before_ms: i64,
    pub(crate) warnings: Vec<String>,
    /// What meets the requirements of its plan.
    pub(crate) requirements: MetRequirements,
    /// How its sandboxed steps are confined.
    pub(crate) sandbox: Option<Confinement>,
    pub(crate) locks: SessionLocks,
}

/// What a resume changes for the rest of the run.
#[derive(Debug, Default)]
pub struct Changes {
    pub program: Option<Program>,
    /// Another backend answers from now on, by this program where the user named one.
    pub backend: Option<(String, Option<String>)>,
    /// What meets the requirements of the program from now on.
    pub requirements: MetRequirements,
    /// How the sandboxed steps of the program are confined from now on.
    pub sandbox: Option<Confinement>,
}

/// Records a new run and takes it. Its options must have what meets the requirements of the program, and
/// how its sandboxed steps are confined.
pub fn create(
    store: &mut Store,
    program: Program,
    mut options: Options,
    directory: &Path,
    limits: Limits,
    secrets: &Secrets,
) -> Result<Prepared, EngineError> {
    refuse_in_plan(secrets, &program.plan, &options, directory)?;
    options.requirements.refuse_unchecked(&program)?;
    refuse_unconfined(&program, options.sandbox.as_ref())?;
    options.secrets = secrets.names().map(str::to_owned).collect();
    let (requirements, sandbox) = (options.requirements.clone(), options.sandbox.clone());
    let at = now_ms();
    let record = PlanRecord { plan: (*program.plan).clone(), options };
    let program = Arc::new(program);
    let mut run = Run::new(Arc::clone(&program), limits);
    run.apply(&Fact::Started, at)?;
    let new = NewRun {
        recipe: program.root().name.clone(),
        source: program.plan.recipes[0].source.clone(),
        directory: directory.to_owned(),
        plan: record.to_text(),
        created_ms: at,
        summary: summary(&run, None, 0),
    };
    let mut locks = SessionLocks::new(store.directory());
    if let Some(session) = &program.plan.machine.session {
        // Another process uses it: nothing of this run shall be there.
        locks.lock(None, session)?;
    }
    let (id, lock) = record_and_lock(store, &new, at)?;
    let run_directory = store.run_directory(&id);
    debug!(run = %id, "created the run");
    Ok(Prepared {
        id,
        run,
        lock,
        directory: run_directory,
        facts: 1,
        history: Vec::new(),
        resumed: false,
        ended: Vec::new(),
        gone: BTreeMap::new(),
        active_before_ms: 0,
        warnings: Vec::new(),
        requirements,
        sandbox,
        locks,
    })
}

/// Another process that sees the run finds it locked, and does not take it for interrupted.
fn record_and_lock(
    store: &mut Store,
    new: &NewRun,
    at: i64,
) -> Result<(RunId, RunLock), EngineError> {
    let mut random = [0; 64];
    getrandom::fill(&mut random).map_err(|error| EngineError::Random(error.to_string()))?;
    // Each from another byte on: a longer id must not begin with the shorter one, which is taken.
    let mut next_id = |length: u32| {
        let length = length as usize;
        RunId::from_random(random.get(length..).unwrap_or_default(), length)
    };
    let mut lock = None;
    let mut claim = |directory: &Path| {
        match RunLock::try_acquire(&directory.join(LOCK))? {
            Acquire::Acquired(acquired) => lock = Some(acquired),
            Acquire::Locked(holder) => {
                return Err(std::io::Error::other(format!("{holder} has locked it")));
            }
        }
        Ok(())
    };
    let first = [to_store(&Fact::Started, at, None, None)];
    let id = store.create_claimed_run(new, &mut next_id, &first, &mut claim)?;
    Ok((id, lock.expect("a run is recorded only after it is claimed")))
}

/// A run whose lock is ours and whose record is replayed, so that nobody else changes it: it can be
/// looked at, then resumed. When it is dropped, the run is as it was.
#[derive(Debug)]
pub struct TakenRun {
    id: RunId,
    lock: RunLock,
    directory: PathBuf,
    recorded: Recorded,
    limits: Limits,
}

/// Takes a run over from its dead owner, and replays its record.
/// `secrets`: those of the run's options, and what is to be masked from now on.
pub fn take_over(
    store: &mut Store,
    id: &RunId,
    limits: Limits,
    secrets: &Secrets,
) -> Result<TakenRun, EngineError> {
    let directory = store.ensure_run_directory(id)?;
    let lock = take(&directory, id, Duration::from_secs(10))?;
    // Before the record is read: whoever owned the run adds nothing to it from now on.
    store.take_over(id)?;
    let recorded = replayed(store, id, limits, secrets, None)?;
    debug!(run = %id, facts = recorded.facts, "took over the run");
    Ok(TakenRun { id: id.clone(), lock, directory, recorded, limits })
}

impl TakenRun {
    pub fn run(&self) -> &Run {
        &self.recorded.run
    }

    pub fn options(&self) -> &Options {
        &self.recorded.options
    }

    pub fn warnings(&self) -> &[String] {
        &self.recorded.warnings
    }

    pub fn into_lock(self) -> RunLock {
        self.lock
    }

    /// Ends what a dead owner left, and records that the run is resumed, with what changes and what
    /// the user answers about its steps.
    pub fn resume(
        self,
        store: &mut Store,
        changes: Changes,
        secrets: &Secrets,
        answer: &mut dyn FnMut(&Run) -> Result<ResumeAnswers, EngineError>,
    ) -> Result<Prepared, EngineError> {
        let TakenRun { id, lock, directory, mut recorded, limits } = self;
        let ended = end_marked(id.as_str(), secrets)?;
        let row = store.run(&id)?;
        let own_directory = row.as_ref().map(|row| row.directory.clone()).unwrap_or_default();
        let active_before_ms = row.map_or(0, |row| row.summary.active_ms);
        let (options, edited) = changed(&id, &recorded, changes, secrets, &own_directory)?;
        let (requirements, sandbox) = (options.requirements.clone(), options.sandbox.clone());
        if let Some(program) = &edited {
            // It may read outputs that nothing read before.
            recorded = replayed(store, &id, limits, secrets, Some(program))?;
        }
        let (late, late_warnings) = late_facts(&recorded, &directory, secrets)?;
        recorded.warnings.extend(late_warnings);
        debug!(late_answers = late.len(), ended = ended.len(), "resume");
        let mut run = recorded.run;
        // What happened before is known; what comes now is reported.
        run.take_events();
        let mut history = recorded.started;
        let mut facts = recorded.facts;
        let mut batch = Vec::new();
        for LateFact { fact, at_ms, stdout, stderr } in late {
            let fact = masked(secrets, fact);
            run.apply(&fact, at_ms)?;
            batch.push(to_store(&fact, at_ms, stdout, stderr));
            history.push((fact, at_ms));
            facts += 1;
        }
        let at = now_ms();
        let mut note = |run: &mut Run, fact: Fact| -> Result<(), EngineError> {
            let fact = masked(secrets, fact);
            run.apply(&fact, at)?;
            batch.push(to_store(&fact, at, None, None));
            history.push((fact, at));
            facts += 1;
            Ok(())
        };
        let mut new_plan = None;
        if let Some(program) = edited {
            let version = store.plan(&id, None)?.version + 1;
            let record = PlanRecord { plan: (*program.plan).clone(), options };
            note(&mut run, Fact::Replanned { version })?;
            run.replan(Arc::new(program))?;
            new_plan = Some(record.to_text());
        }
        note(&mut run, Fact::Resumed)?;
        let answers = answer(&run)?;
        if answers.new_session {
            note(&mut run, Fact::NewSession)?;
        }
        for (step, output, outcome) in answers.done {
            note(&mut run, Fact::Answered { step, answer: Answer::Done { output, outcome } })?;
        }
        for step in answers.again {
            note(&mut run, Fact::Answered { step, answer: Answer::Again })?;
        }
        let totals = summary(&run, None, active_before_ms);
        match new_plan {
            Some(text) => {
                store.add_plan(&id, &text, &batch, Some(&totals))?;
            }
            None => store.append(&id, &batch, Some(&totals))?,
        }
        let gone = gone_with_the_owner(&run, &history);
        Ok(Prepared {
            id,
            run,
            lock,
            directory,
            facts,
            history,
            resumed: true,
            ended: ended.iter().map(describe).collect(),
            gone,
            active_before_ms,
            warnings: recorded.warnings,
            requirements,
            sandbox,
            locks: SessionLocks::new(store.directory()),
        })
    }
}

/// The options from now on, and the program, where it or the options differ from what is recorded.
fn changed(
    id: &RunId,
    recorded: &Recorded,
    changes: Changes,
    secrets: &Secrets,
    directory: &Path,
) -> Result<(Options, Option<Program>), EngineError> {
    let mut options = recorded.options.clone();
    let given = |name: &str| secrets.names().any(|known| known == name);
    if let Some(name) = options.secrets.iter().find(|name| !given(name)) {
        return Err(EngineError::SecretMissing { run: id.clone(), name: name.clone() });
    }
    let program = recorded.run.program();
    let to_run: &Program = changes.program.as_ref().unwrap_or(program);
    refuse_in_plan(secrets, &to_run.plan, &options, directory)?;
    changes.requirements.refuse_unchecked(to_run)?;
    refuse_unconfined(to_run, changes.sandbox.as_ref())?;
    options.requirements = changes.requirements;
    options.sandbox = changes.sandbox;
    // What is new to the run is kept among its options, which are stored with its plan.
    if secrets.names().count() > options.secrets.len() {
        options.secrets = secrets.names().map(str::to_owned).collect();
    }
    if let Some((backend, program)) = changes.backend {
        options.backend = Some(backend);
        options.program = program;
    }
    let unchanged = options == recorded.options;
    let edited = changes.program.or_else(|| (!unchanged).then(|| (**program).clone()));
    Ok((options, edited))
}

/// Finished steps whose background children lived until their owner ended, and are gone now. What runs
/// again starts them itself.
fn gone_with_the_owner(run: &Run, history: &[(Fact, i64)]) -> BTreeMap<StepPath, String> {
    let mut finished = BTreeSet::new();
    collect_finished(&run.view(), &mut finished);
    let mut gone = BTreeMap::new();
    for (fact, _) in history {
        if let Fact::JobFinished { key, end } = fact
            && !end.left.is_empty()
            && finished.contains(&key.step_path())
        {
            let message = format!("what it left running is gone: {}", end.left.join(", "));
            gone.insert(key.step_path(), message);
        }
    }
    gone
}

fn collect_finished(steps: &[StepView], finished: &mut BTreeSet<StepPath>) {
    for step in steps {
        if step.state == StepState::Ended {
            finished.insert(step.path.clone());
        }
        collect_finished(&step.children, finished);
    }
}

impl Prepared {
    pub fn id(&self) -> &RunId {
        &self.id
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Nobody watches the run: faults of its agents that may pass are waited for, at first so long.
    pub fn wait_after_faults(
        &mut self,
        store: &mut Store,
        first: Duration,
    ) -> Result<(), EngineError> {
        let first_ms = i64::try_from(first.as_millis()).unwrap_or(i64::MAX);
        let (fact, at) = (Fact::WaitsAfterFaults { first_ms }, now_ms());
        self.run.apply(&fact, at)?;
        store.append(&self.id, &[to_store(&fact, at, None, None)], None)?;
        self.facts += 1;
        Ok(())
    }
}
