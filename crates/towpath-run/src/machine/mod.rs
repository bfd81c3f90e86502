//! State machines: the next step is chosen by what the last one reported. The run follows the
//! transitions and holds the limits; the agent is asked for an outcome and for nothing else, and
//! never chooses where to go.

mod new_session;
mod prompt;
mod report;
mod work;

pub use report::{Misreport, MisreportKind, Reported, read_report, without_report};

use crate::frame::{Conversation, Frame, FrameState, Phase, Progress, StepAt};
use crate::happening::{Happening, Movement};
use crate::outcome::{Failure, FailureKind, StepStatus};
use crate::run::Run;
use crate::view::StepView;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use towpath_core::{JobKey, StepPath};
use towpath_recipe::{Guardrails, Recipe, StepKind, Transition};

/// How a machine came to its end by one of its own transitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineExit {
    pub reason: String,
    /// What the last outcome said beyond its name.
    pub description: Option<String>,
}

/// Where a machine stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineState {
    /// The step it is at; none before the first.
    pub at: Option<usize>,
    /// Steps entered in this session, and how often each of them.
    pub total: u32,
    pub visits: Vec<u32>,
    /// How often a session was begun anew.
    pub restarts: u32,
    /// Entries of each step in this frame over the whole run, by its id.
    pub entries: BTreeMap<String, u32>,
    /// The last call that was started in this session, and whether any of them succeeded.
    pub last_call: Option<JobKey>,
    pub conversation: Conversation,
    pub established: bool,
    /// The session took the place of one that is gone: its first prompt begins with the record.
    pub is_new: bool,
    /// The models that steps of this session have named.
    pub models: BTreeSet<String>,
    /// Something has been done in this session.
    pub worked: bool,
    /// Visits that are over, in their order; those of this session begin at `session_start`.
    pub past: Vec<PastVisit>,
    pub session_start: usize,
    pub exit: Option<MachineExit>,
    /// The limit that stands against the next step.
    pub refused: Option<Failure>,
    /// What the machine had counted then.
    pub reached: u32,
}

/// A visit that is over.
#[derive(Debug, Clone)]
pub(crate) struct PastVisit {
    pub path: StepPath,
    pub id: String,
    pub kind: StepKind,
    pub progress: Progress,
    /// The steps of the recipe that it called, as they ended: an edit of the plan may take that
    /// recipe away.
    pub children: Vec<StepView>,
}

impl MachineState {
    pub fn new(recipe: &Recipe) -> Option<MachineState> {
        recipe.machine()?;
        Some(MachineState { visits: vec![0; recipe.steps.len()], ..MachineState::default() })
    }
}

/// Where the run's own machine stands, for who looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineView {
    pub recipe: String,
    pub step: Option<String>,
    /// In this session.
    pub steps: u32,
    pub visits: Vec<(String, u32)>,
    /// Reminders of the visit that is under way or was the last.
    pub reminders: u32,
    pub restarts: u32,
    /// Some call of this session has succeeded.
    pub session_created: bool,
    /// The call that used the session last, and who answered it.
    pub last_call: Option<JobKey>,
    pub conversation: Conversation,
}

impl Run {
    pub fn machine_view(&self) -> Option<MachineView> {
        let state = self.frames[0].machine.as_ref()?;
        let recipe = self.recipe(0);
        let visited = recipe.steps.iter().zip(&state.visits).filter(|(_, visits)| **visits > 0);
        let reminders = |at: usize| {
            let calls = &self.frames[0].steps[at].calls;
            calls.iter().filter(|call| call.key.call > 0).count() as u32
        };
        Some(MachineView {
            recipe: recipe.name.clone(),
            step: state.at.map(|at| recipe.steps[at].id.clone()),
            steps: state.total,
            visits: visited.map(|(step, visits)| (step.id.clone(), *visits)).collect(),
            reminders: state.at.map_or(0, reminders),
            restarts: state.restarts,
            session_created: state.established,
            last_call: state.last_call.clone(),
            conversation: state.conversation.clone(),
        })
    }

    /// How the run's own machine ended, in the word that its recipe or its limits have for it.
    pub fn exit(&self) -> Option<MachineExit> {
        self.exit_of(0)
    }

    fn exit_of(&self, frame: usize) -> Option<MachineExit> {
        let state = self.frames[frame].machine.as_ref()?;
        let reason = |reason: &str| MachineExit { reason: reason.to_owned(), description: None };
        if state.exit.is_some() {
            return state.exit.clone();
        }
        // A called machine that came to its end while the run was stopping has its own reason.
        let ended = frame != 0 && self.frames[frame].state == FrameState::Failed;
        if self.stopping.is_some() && !ended {
            return Some(reason("cancelled"));
        }
        if let Some(refused) = &state.refused {
            return Some(reason(&refused.message));
        }
        match &self.frames[frame].steps[state.at?].result.as_ref()?.status {
            StepStatus::Failed(failure) => Some(reason(match failure.kind {
                FailureKind::Agent(_) => "backend-error",
                FailureKind::Stopped => "cancelled",
                _ => "orchestration-error",
            })),
            _ => None,
        }
    }

    /// What a machine of this run that ended at a limit had counted: only a higher limit helps.
    pub fn reached_limit(&self) -> Option<u32> {
        let mut machines = self.frames.iter().filter_map(|frame| frame.machine.as_ref());
        machines.find(|machine| machine.refused.is_some()).map(|machine| machine.reached)
    }

    /// The last call of the machine that is at work, or was: of one that another called, the inner.
    pub fn last_machine_call(&self) -> Option<JobKey> {
        let open = self.frames.iter().rev().filter(|frame| frame.state != FrameState::Done);
        let mut calls = open.filter_map(|frame| frame.machine.as_ref()?.last_call.clone());
        calls.next()
    }

    /// Whether the limits of a machine, and not a fault, stand against going on.
    pub fn is_refused(&self) -> bool {
        self.frames[0].machine.as_ref().is_some_and(|state| state.refused.is_some())
    }

    fn guardrails(&self, recipe: &Recipe) -> Guardrails {
        let machine = recipe.machine().expect("asked of a machine's recipe only");
        machine.guardrails_with(&self.program.plan.machine)
    }

    pub(crate) fn advance_machine(&mut self, frame: usize) {
        let recipe = self.recipe(frame);
        let Some(machine) = recipe.machine() else { return };
        let Some(at) = self.current(frame) else {
            return self.enter_state(StepAt::new(frame, machine.initial));
        };
        let progress = self.progress(at);
        if progress.phase != Phase::Settled {
            return;
        }
        let report = match &progress.result {
            Some(result) if result.status.is_success() => result.report.clone(),
            _ => None,
        };
        let Some(report) = report else {
            return self.close(frame, FrameState::Failed, Some(at.step));
        };
        self.frames[frame].commit(&recipe, at.step);
        let outcome = recipe.steps[at.step].outcomes.iter().find(|o| o.name == report.outcome);
        let Some(outcome) = outcome else {
            return self.close(frame, FrameState::Failed, Some(at.step));
        };
        match &outcome.then {
            Transition::Next(next) => self.go(at, *next),
            Transition::Exit { reason } => {
                let exit = MachineExit { reason: reason.clone(), description: report.description };
                self.moved(at, Movement::Exit(exit.clone()));
                self.machine_mut(frame).exit = Some(exit);
                self.close(frame, FrameState::Done, None);
            }
            Transition::Restart { recipe, .. } => self.restart(at, recipe),
        }
    }

    fn go(&mut self, from: StepAt, to: usize) {
        let frame = from.frame;
        let recipe = self.recipe(frame);
        let limits = self.guardrails(&recipe);
        let name = &recipe.steps[to].id;
        let state = self.machine(frame);
        let last = &recipe.steps[from.step].id;
        if state.visits[to] >= limits.max_step_visits {
            let many = times(state.visits[to]);
            let detail = format!(
                "`{name}` was visited {many} in this session, as often as it may be; what `{last}` \
                 did last is in the working tree and was not looked at again"
            );
            let (reason, reached) = (format!("max-step-visits-exceeded:{name}"), state.visits[to]);
            return self.refuse(from, reason, detail, reached);
        }
        if state.total >= limits.max_total_steps {
            let had = if state.total == 1 {
                "1 step".to_owned()
            } else {
                format!("{} steps", state.total)
            };
            let detail = format!(
                "this session had {had}, as many as it may have; `{name}` would have been next"
            );
            let reached = state.total;
            return self.refuse(from, "max-total-steps".to_owned(), detail, reached);
        }
        self.moved(from, Movement::Step(name.clone()));
        self.enter_state(StepAt { step: to, ..from });
    }

    fn restart(&mut self, from: StepAt, target: &str) {
        let frame = from.frame;
        let recipe = self.recipe(frame);
        let restarts = self.machine(frame).restarts;
        if let Some(limit) = self.program.plan.machine.max_restarts
            && restarts >= limit
        {
            let allowed = match limit {
                0 => "no restart was allowed".to_owned(),
                1 => "1 restart was allowed".to_owned(),
                more => format!("{more} restarts were allowed"),
            };
            let detail = format!("{allowed}; `{target}` would have begun");
            return self.refuse(from, "max-restarts-exceeded".to_owned(), detail, restarts);
        }
        if !self.machine(frame).worked {
            // Nothing was done that could ever end this circle.
            let detail = format!("no step of this session did anything before `{target}`");
            return self.refuse(from, "restart-without-work".to_owned(), detail, 0);
        }
        let own = self.frames[frame].recipe;
        let callee =
            if target == recipe.name { Some(own) } else { self.program.callee(own, target) };
        let Some(callee) = callee else {
            let message = format!("Restart recipe '{target}' not found");
            return self.refuse(from, message, String::new(), 0);
        };
        self.moved(from, Movement::Restart(target.to_owned()));
        self.leave(frame);
        let next = self.program.recipes[callee].clone();
        let given = self.frames[frame].given.clone();
        let mut fresh = Frame::new(&next, callee, given);
        let mut old = std::mem::take(self.machine_mut(frame));
        old.restarts += 1;
        old.session_start = old.past.len();
        fresh.machine = MachineState::new(&next).map(|state| MachineState {
            restarts: old.restarts,
            entries: old.entries,
            past: old.past,
            session_start: old.session_start,
            ..state
        });
        let frame_was = &self.frames[frame];
        fresh.path.clone_from(&frame_was.path);
        fresh.parent = frame_was.parent;
        fresh.depth = frame_was.depth;
        fresh.directory.clone_from(&frame_was.directory);
        fresh.executed = frame_was.executed;
        fresh.in_machines = frame_was.in_machines;
        self.frames[frame] = fresh;
        self.dirty.insert(frame);
    }

    /// A limit stands against the next step: the machine ends where it is.
    fn refuse(&mut self, at: StepAt, reason: String, detail: String, reached: u32) {
        let failure = Failure { detail, ..Failure::new(FailureKind::Limit, reason) };
        let machine = self.machine_mut(at.frame);
        machine.refused = Some(failure);
        machine.reached = reached;
        self.close(at.frame, FrameState::Failed, Some(at.step));
    }

    /// Enters a step: a new visit.
    pub(crate) fn enter_state(&mut self, at: StepAt) {
        self.leave(at.frame);
        let recipe = self.recipe(at.frame);
        let limits = self.guardrails(&recipe);
        let id = recipe.steps[at.step].id.clone();
        let state = self.machine_mut(at.frame);
        state.at = Some(at.step);
        state.refused = None;
        state.exit = None;
        state.total += 1;
        state.visits[at.step] += 1;
        let (visit, total) = (state.visits[at.step], state.total);
        let entries = state.entries.entry(id).or_default();
        let entered = *entries;
        *entries += 1;
        self.progress_mut(at).visit = entered;
        let model = self.model(at);
        let entry = Happening::Entered {
            step: StepPath::in_frame(
                self.frames[at.frame].path.as_ref(),
                &recipe.steps[at.step].id,
                entered + 1,
            ),
            recipe: recipe.name.clone(),
            visit,
            max_visits: limits.max_step_visits,
            total,
            max_total: limits.max_total_steps,
            model,
        };
        self.happenings.push(entry);
        self.enter(at, crate::begin::Verdict::Run);
    }

    /// Puts the visit that is over among those that are past.
    fn leave(&mut self, frame: usize) {
        let Some(at) = self.current(frame) else { return };
        let path = self.path(at);
        let step = self.step(at);
        let (id, kind) = (step.id.clone(), step.work.kind());
        let mut progress = std::mem::take(self.progress_mut(at));
        let children = progress.child.take().map_or_else(Vec::new, |child| self.frame_view(child));
        self.progress_mut(at).visit = progress.visit;
        let state = self.machine_mut(frame);
        state.at = None;
        state.past.push(PastVisit { path, id, kind, progress, children });
    }

    fn moved(&mut self, from: StepAt, to: Movement) {
        let step = self.path(from);
        self.happenings.push(Happening::Moved { step, to });
    }

    /// Goes on with a machine whose owner left, or which failed.
    pub(crate) fn reopen_machine(&mut self, frame: usize) {
        let Some(at) = self.current(frame) else { return };
        self.machine_mut(frame).refused = None;
        let progress = self.progress(at);
        let unfinished = progress.child.filter(|c| self.frames[*c].state != FrameState::Done);
        match progress.phase {
            Phase::Settled if progress.failed() => match unfinished {
                Some(child) => {
                    self.back_to_work(at);
                    self.reopen(child);
                }
                None => self.ask_anew(at),
            },
            Phase::Limited => self.ask_anew(at),
            Phase::Work if progress.child.is_some() => {
                if let Some(child) = unfinished {
                    self.reopen(child);
                }
            }
            Phase::Pending | Phase::Work if !self.has_wish(at) => self.retry(at),
            _ => {}
        }
    }

    /// The same visit with a new prompt, and a new reminder should it need one.
    fn ask_anew(&mut self, at: StepAt) {
        self.progress_mut(at).answer = None;
        self.progress_mut(at).misreport = None;
        self.retry_or_ask(at);
    }

    /// Goes back to a step, whatever the machine did since.
    pub(crate) fn go_back(&mut self, at: StepAt) {
        if let Some(current) = self.current(at.frame) {
            self.forget_wishes(current);
        }
        self.frames[at.frame].state = FrameState::Open;
        self.enter_state(at);
        self.dirty.insert(at.frame);
    }

    /// The step that a machine is at.
    fn current(&self, frame: usize) -> Option<StepAt> {
        self.machine(frame).at.map(|step| StepAt::new(frame, step))
    }

    pub(crate) fn machine(&self, frame: usize) -> &MachineState {
        self.frames[frame].machine.as_ref().expect("asked of a machine's frame only")
    }

    pub(crate) fn machine_mut(&mut self, frame: usize) -> &mut MachineState {
        self.frames[frame].machine.as_mut().expect("asked of a machine's frame only")
    }
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
