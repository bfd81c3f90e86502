//! The loop. It records what the run wants before starting it, and what happened before going on.

use crate::agents::{Lines, Prepared, SessionTree};
use crate::calls::Calling;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::EngineError;
use crate::event::{Event, Reporter};
use crate::handed::Answer;
use crate::journal::{Reads, io_error, to_store};
use crate::live::{Asked, Finished, Live};
use crate::open::LOCK;
use crate::secrets::masked;
use crate::sessions::Sessions;
use crate::showing::{Showing, Shown};
use crate::summary::{census, summary};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use towpath_core::{RunId, StepPath};
use towpath_process::{Event as Child, ExitStatus, Leftover, RunLock, Warden};
use towpath_run::{Fact, Happening, Job, JobEnd, JobStatus, JobWork, Run, RunOutcome, StopReason};
use towpath_store::{NewFact, OutputRef, Store, StoreError};

/// How often output is looked at while jobs run.
pub(crate) const LOOK: Duration = Duration::from_millis(40);

/// What may be asked of a run from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// End the run: children get TERM. The second time they get KILL at once.
    Stop(StopReason),
    /// Stop all children, then this process, until it is continued.
    Suspend,
}

pub(crate) enum Message {
    Child(Child),
    WardenGone,
    Answered { id: u64, answer: Answer },
    Control(Control),
}

/// Sends control from another thread.
#[derive(Debug, Clone)]
pub struct Controller(pub(crate) Sender<Message>);

impl Controller {
    pub fn send(&self, control: Control) {
        // A run that is over needs no control.
        let _ = self.0.send(Message::Control(control));
    }
}

/// How a run ended for its owner.
#[derive(Debug)]
pub struct RunEnd {
    pub id: RunId,
    pub outcome: RunOutcome,
    pub run: Run,
    pub warnings: Vec<String>,
    /// Time in which this owner had it.
    pub took: Duration,
    /// Lines of a script that no call has taken.
    pub unused_lines: Vec<u32>,
    /// The agent's session that the machine was in last that was at work.
    pub session: Option<String>,
}

pub(crate) struct Driver<'a> {
    pub store: &'a mut Store,
    pub id: RunId,
    pub run: Run,
    pub config: Config,
    pub session_tree: Option<SessionTree>,
    pub directory: PathBuf,
    pub warden: Warden,
    pub messages: Receiver<Message>,
    /// For the threads that an adapter's calls are made on.
    pub sender: Sender<Message>,
    pub reporter: &'a mut dyn Reporter,
    pub lines: Lines,
    pub sessions: Sessions,
    pub reads: Reads,
    pub facts: u32,
    pub live: BTreeMap<u64, Live>,
    /// Output of ended jobs that a slow reader has not taken yet.
    pub trailing: Vec<Showing>,
    /// How long to wait before output is looked at again.
    pub look: Duration,
    pub pending: Vec<NewFact>,
    pub warnings: Vec<String>,
    pub timers: BTreeMap<StepPath, Instant>,
    pub began: Instant,
    pub clock: Clock,
    /// The run is ours while this lock is in its place.
    pub lock: &'a RunLock,
    pub active_before_ms: i64,
    pub last_tick: Instant,
}

/// A job that is recorded as started and about to be.
pub(crate) struct Launch {
    pub id: u64,
    pub job: Job,
    pub agent: Option<Prepared>,
    /// The session of a call that an adapter answers.
    pub session: Option<String>,
}

impl Driver<'_> {
    pub fn drive(mut self) -> Result<RunEnd, EngineError> {
        loop {
            let launches = self.want()?;
            let outcome = if launches.is_empty() { self.run.outcome() } else { None };
            self.record(outcome.as_ref())?;
            self.report();
            for launch in launches {
                self.launch(launch)?;
            }
            if !self.pending.is_empty() {
                continue;
            }
            if let Some(outcome) = outcome {
                return self.finish(outcome);
            }
            self.set_timers();
            self.wait()?;
        }
    }

    /// Takes the jobs that the run wants now, and notes each as started.
    fn want(&mut self) -> Result<Vec<Launch>, EngineError> {
        let mut launches = Vec::new();
        for job in self.run.next() {
            let call = match &job.work {
                JobWork::Bash(_) => Calling::default(),
                JobWork::Agent(agent) => match self.calling(&job, agent)? {
                    Ok(call) => call,
                    Err(end) => {
                        let key = job.key;
                        self.apply(Fact::JobStarted {
                            key: key.clone(),
                            line: None,
                            session: None,
                            backend: None,
                        })?;
                        self.apply(Fact::JobFinished { key, end: *end })?;
                        continue;
                    }
                },
            };
            let Calling { prepared: agent, line, session } = call;
            let key = job.key.clone();
            let backend = agent.as_ref().map(|prepared| prepared.backend.id().to_owned());
            self.apply(Fact::JobStarted { key, line, session: session.clone(), backend })?;
            launches.push(Launch { id: u64::from(self.facts), job, agent, session });
        }
        Ok(launches)
    }

    /// Applies a fact; it is recorded before anything else starts.
    pub(crate) fn apply(&mut self, fact: Fact) -> Result<(), EngineError> {
        self.apply_with(fact, None, None)
    }

    fn apply_with(
        &mut self,
        fact: Fact,
        stdout: Option<OutputRef>,
        stderr: Option<OutputRef>,
    ) -> Result<(), EngineError> {
        let at = self.clock.now_ms();
        let fact = masked(&self.config.secrets, fact);
        self.run.apply(&fact, at)?;
        self.pending.push(to_store(&fact, at, stdout, stderr));
        self.facts += 1;
        Ok(())
    }

    fn record(&mut self, outcome: Option<&RunOutcome>) -> Result<(), EngineError> {
        let mut totals = None;
        if let Some(outcome) = outcome {
            self.apply(Fact::Ended { outcome: outcome.as_str().to_owned() })?;
            let active = self.active_before_ms + self.began.elapsed().as_millis() as i64;
            totals = Some(summary(&self.run, Some(outcome), active));
        }
        if !self.pending.is_empty() {
            self.store.append(&self.id, &self.pending, totals.as_ref())?;
            self.pending.clear();
            if !self.lock.is_in_place(&self.directory.join(LOCK)) {
                return Err(StoreError::Gone { path: self.directory.clone() }.into());
            }
        }
        Ok(())
    }

    /// Tells the reporter what the run has decided.
    fn report(&mut self) {
        for happening in self.run.take_happenings() {
            match &happening {
                Happening::StepStarted { step, kind } => {
                    self.reporter.event(&Event::StepStarted { step, kind: *kind });
                }
                Happening::StepEnded { step, result, tolerated, took_ms } => {
                    let (tolerated, took_ms) = (*tolerated, *took_ms);
                    self.reporter.event(&Event::StepEnded { step, result, tolerated, took_ms });
                }
                Happening::Entered { step, recipe, visit, max_visits, total, max_total, model } => {
                    self.reporter.event(&Event::Entered {
                        step,
                        recipe,
                        visit: *visit,
                        max_visits: *max_visits,
                        total: *total,
                        max_total: *max_total,
                        model: model.as_deref(),
                    });
                }
                Happening::Reported { step, report } => {
                    self.reporter.event(&Event::Reported { step, report });
                }
                Happening::Reminded { step, error } => {
                    self.reporter.event(&Event::Reminded { step, error });
                }
                Happening::Moved { step, to } => {
                    self.reporter.event(&Event::Moved { step, to });
                }
                Happening::Staged { step, files } => {
                    self.reporter.event(&Event::Staged { step, files });
                }
                Happening::Warning { step, message } => {
                    let text = match step {
                        Some(step) => format!("{step}: {message}"),
                        None => message.clone(),
                    };
                    self.warnings.push(text);
                    self.reporter.event(&Event::Warning { step: step.as_ref(), message });
                }
            }
        }
    }

    fn launch(&mut self, launch: Launch) -> Result<(), EngineError> {
        match self.hand_over(launch)? {
            Some(launch) => {
                if let Some(prepared) = &launch.agent {
                    self.tell_call(&launch.job, prepared);
                }
                self.start(launch)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn directory_of(&self, job: &Job) -> PathBuf {
        match job.directory.as_str() {
            "" => self.config.directory.clone(),
            inside => self.config.directory.join(inside),
        }
    }

    /// Starts the clocks of recipe steps that have a time limit.
    fn set_timers(&mut self) {
        let wanted = self.run.timers();
        self.timers.retain(|step, _| wanted.iter().any(|t| t.step == *step));
        for timer in wanted {
            self.timers.entry(timer.step).or_insert_with(|| in_time(timer.after));
        }
    }

    /// Waits for one thing to happen, then takes whatever else has happened.
    fn wait(&mut self) -> Result<(), EngineError> {
        let deadlines = self.live.values().filter(|l| l.asked.is_none()).filter_map(|l| l.deadline);
        let next = deadlines.chain(self.timers.values().copied()).min();
        let until =
            next.map_or(self.look, |d| d.saturating_duration_since(Instant::now()).min(self.look));
        match self.messages.recv_timeout(until) {
            Ok(message) => self.handle(message)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(EngineError::WardenGone),
        }
        while let Ok(message) = self.messages.try_recv() {
            self.handle(message)?;
        }
        self.show()?;
        if self.last_tick.elapsed() >= Duration::from_millis(80) {
            self.last_tick = Instant::now();
            self.reporter.tick();
        }
        self.expire()
    }

    /// Shows new output, as far as the reader takes it.
    fn show(&mut self) -> Result<(), EngineError> {
        let now = Instant::now();
        let mut some = false;
        let mut over = Vec::new();
        self.trailing.retain_mut(|showing| {
            let shown = showing.show(self.reporter);
            some |= shown == Shown::Some;
            shown != Shown::All
        });
        let mut named = Vec::new();
        for (id, live) in &mut self.live {
            some |= live.follow(self.reporter) == Shown::Some;
            if let Some(session) = live.named.take() {
                named.push((live.key.clone(), session));
            }
            if live.over.take_if(|at| *at <= now).is_some() {
                over.push(*id);
            }
        }
        for (key, session) in named {
            self.named(&key, session)?;
        }
        for id in over {
            // It has printed its result; how it ends changes nothing.
            self.warden.stop(id, self.config.grace)?;
        }
        // A reader that reads is given more at once; one that does not is not waited for.
        self.look = if some { Duration::from_millis(1) } else { LOOK };
        Ok(())
    }

    fn expire(&mut self) -> Result<(), EngineError> {
        let now = Instant::now();
        let late: Vec<u64> = self
            .live
            .iter()
            .filter(|(_, l)| l.asked.is_none() && l.deadline.is_some_and(|d| d <= now))
            .map(|(id, _)| *id)
            .collect();
        for id in late {
            self.end_job(id, Asked::TimedOut)?;
        }
        let waited_for = self.live.iter_mut().filter(|(_, live)| live.asked.is_none());
        let silent: Vec<u64> =
            waited_for.filter_map(|(id, live)| live.is_silent(now).then_some(*id)).collect();
        for id in silent {
            self.end_job(id, Asked::Silent)?;
        }
        let over: Vec<StepPath> =
            self.timers.iter().filter(|(_, d)| **d <= now).map(|(s, _)| s.clone()).collect();
        for step in over {
            self.timers.remove(&step);
            self.apply(Fact::Expired { step })?;
        }
        for key in self.run.unwanted() {
            let id = self.live.iter().find(|(_, l)| l.key == key && l.asked.is_none());
            if let Some(id) = id.map(|(id, _)| *id) {
                self.end_job(id, Asked::Stopped)?;
            }
        }
        Ok(())
    }

    fn end_job(&mut self, id: u64, asked: Asked) -> Result<(), EngineError> {
        if let Some(live) = self.live.get_mut(&id) {
            if live.handed.is_some() {
                return self.abandon(id, asked);
            }
            live.asked = Some(asked);
            self.warden.stop(id, self.config.grace)?;
        }
        Ok(())
    }

    fn handle(&mut self, message: Message) -> Result<(), EngineError> {
        match message {
            // A start is not told to the loop, and a sweep is asked for at its end only.
            Message::Child(Child::Started { .. } | Child::Swept { .. }) => Ok(()),
            Message::Child(Child::StartFailed { id, error }) => {
                let Some(live) = self.live.remove(&id) else { return Ok(()) };
                let end = JobEnd { error: error.text, ..JobEnd::new(JobStatus::NotStarted) };
                self.apply(Fact::JobFinished { key: live.key, end })
            }
            Message::Child(Child::Ended { id, status, ended, left, lost }) => {
                let Some(live) = self.live.remove(&id) else { return Ok(()) };
                if let Some(lost) = lost {
                    return Err(live.lost(lost));
                }
                self.tell_ended(&ended, "with their step");
                self.ended(live, status, left.iter().map(describe).collect())
            }
            Message::Answered { id, answer } => self.answered(id, answer),
            Message::WardenGone => Err(EngineError::WardenGone),
            Message::Control(Control::Stop(reason)) => self.stop(reason),
            Message::Control(Control::Suspend) => self.suspend(),
        }
    }

    /// Takes the end of a job, and what it has printed.
    pub(crate) fn ended(
        &mut self,
        live: Live,
        status: ExitStatus,
        left: Vec<String>,
    ) -> Result<(), EngineError> {
        let key = live.key.clone();
        let step = live.step.clone();
        let mut live = live;
        let call = live.call.take();
        let mut finished = live.end(status, left, &self.reads, self.reporter)?;
        if let Some(session) = finished.session.take() {
            self.named(&key, session)?;
        }
        if let (Some(total), Some(session)) = (finished.end.session_total, self.sessions.of(&key)) {
            finished.end.usage = Some(self.sessions.used(&session, total));
        }
        for message in &finished.warnings {
            self.warnings.push(format!("{step}: {message}"));
            self.reporter.event(&Event::Warning { step: Some(&step), message });
        }
        let Finished { end, stdout, stderr, mut showing, .. } = finished;
        if let Some(asking) = call {
            if asking.opens_after(&end) {
                return self.open_session(asking);
            }
            self.tell_answer(&asking, &end);
        }
        showing.hold(false);
        if showing.show(self.reporter) != Shown::All {
            self.trailing.push(showing);
        }
        self.lines.finished(&key, &end);
        self.apply_with(Fact::JobFinished { key, end }, stdout, stderr)
    }

    fn stop(&mut self, reason: StopReason) -> Result<(), EngineError> {
        let running: Vec<u64> = self.live.keys().copied().collect();
        if self.run.is_stopping() {
            for id in running {
                self.warden.kill_now(id)?;
            }
            return Ok(());
        }
        self.apply(Fact::Stopping { reason })?;
        self.reporter.event(&Event::Stopping);
        for id in running {
            self.end_job(id, Asked::Stopped)?;
        }
        Ok(())
    }

    /// Ctrl-Z. Time spent stopped does not count against any deadline.
    fn suspend(&mut self) -> Result<(), EngineError> {
        self.reporter.event(&Event::Suspended);
        self.warden.pause_all()?;
        let stopped = Instant::now();
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::STOP)
            .map_err(|e| io_error(Path::new("SIGSTOP"))(e.into()))?;
        self.warden.continue_all()?;
        let away = stopped.elapsed();
        for live in self.live.values_mut() {
            live.deadline = live.deadline.map(|d| d + away);
            live.silence.iter_mut().for_each(|silence| silence.was_away(away));
        }
        for deadline in self.timers.values_mut() {
            *deadline += away;
        }
        self.reporter.event(&Event::Continued);
        Ok(())
    }

    fn tell_ended(&mut self, processes: &[Leftover], why: &'static str) {
        if !processes.is_empty() {
            let processes: Vec<String> = processes.iter().map(describe).collect();
            self.reporter.event(&Event::Ended { processes: &processes, why });
        }
    }

    fn warn_of_left(&mut self, processes: &[Leftover]) {
        if processes.is_empty() {
            return;
        }
        let names: Vec<String> = processes.iter().map(describe).collect();
        let message = format!("still there, since not even KILL ends it: {}", names.join(", "));
        self.reporter.event(&Event::Warning { step: None, message: &message });
        self.warnings.push(message);
    }

    /// Ends what still lives in the background, then says how it went.
    fn finish(mut self, outcome: RunOutcome) -> Result<RunEnd, EngineError> {
        self.warden.sweep(Duration::from_secs(1).min(self.config.grace))?;
        let limit = Instant::now() + Duration::from_secs(10) + self.config.grace;
        while let Ok(message) = self.messages.recv_timeout(limit - Instant::now().min(limit)) {
            match message {
                Message::Child(Child::Swept { ended, left }) => {
                    self.tell_ended(&ended, "with the run");
                    self.warn_of_left(&left);
                    break;
                }
                Message::WardenGone => break,
                _ => {}
            }
        }
        while !self.trailing.is_empty() {
            self.show()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        let steps = &self.run.view();
        self.reporter.event(&Event::RunEnded { run: &self.id, outcome: &outcome, steps });
        let unused_lines =
            if census(&self.run).reached_end { self.config.agents.unused() } else { Vec::new() };
        let last_call = self.run.last_machine_call();
        let session = last_call.and_then(|call| self.sessions.of(&call));
        Ok(RunEnd {
            session,
            id: self.id,
            outcome,
            run: self.run,
            warnings: self.warnings,
            took: self.began.elapsed(),
            unused_lines,
        })
    }
}

/// When a time from now is over. What is beyond all clocks is a hundred years.
pub(crate) fn in_time(time: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    Instant::now() + time.min(LONGEST)
}

pub(crate) fn describe(leftover: &Leftover) -> String {
    format!("{} ({})", leftover.command, leftover.pid)
}
