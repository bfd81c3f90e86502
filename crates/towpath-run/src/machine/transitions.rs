//! From step to step of a state machine: the transition that the reported outcome names is taken,
//! unless a guardrail forbids it. The agent never chooses where to go.

use crate::event::{EventKind, Movement};
use crate::failure::{Failure, FailureKind, Guardrail};
use crate::frame::{Frame, FrameState, StepAt};
use crate::machine_exit::MachineExit;
use crate::machine_state::{MachineEnd, PastVisit};
use crate::progress::{Progress, Settled, StepVisit};
use crate::run::Run;
use crate::start::Start;
use crate::step_view::{StepState, StepView};
use towpath_core::StepPath;
use towpath_recipe::{Ending, GuardrailExit, Guardrails, Recipe, Transition};

impl Run {
    /// Takes the transition from the step that has settled, or enters the first one.
    pub(super) fn advance_machine(&mut self, frame: usize) {
        let recipe = self.recipe(frame);
        let Some(machine) = recipe.machine() else { return };
        let Some(at) = self.current(frame) else {
            return self.enter_machine_step(StepAt::new(frame, machine.initial));
        };
        let Progress::Settled(Settled { end, .. }) = &self.visit(at).progress else { return };
        let report = end.result.report.clone().filter(|_| end.result.status.is_success());
        let Some(report) = report else { return self.close_failed(at) };
        self.frames[frame].commit(&recipe, at.step);
        let outcome = recipe.steps[at.step].outcomes.iter().find(|o| o.name == report.outcome);
        let Some(outcome) = outcome else { return self.close_failed(at) };
        match &outcome.then {
            Transition::Next(next) => self.transition(at, *next),
            Transition::Exit { reason, ending } => {
                let (reason, description) = (reason.clone(), report.description);
                self.leave_machine(at, MachineExit { reason, description, ending: *ending });
            }
            Transition::Restart { recipe, .. } => self.restart(at, recipe),
        }
    }

    /// Takes an exit. One that asks leaves the machine at its step until the user has decided, unless
    /// the step that called the machine has a transition for its reason.
    fn leave_machine(&mut self, at: StepAt, exit: MachineExit) {
        self.moved(at, Movement::Exit(exit.clone()));
        let caller = self.frames[at.frame].parent;
        let is_read = caller.is_some_and(|caller| {
            self.step(caller).outcomes.iter().any(|outcome| outcome.name == exit.reason)
        });
        let failure = exit.failure().map(|failure| failure.within(self.path(at)));
        let asks = exit.ending == Ending::Ask && !is_read;
        self.machine_mut(at.frame).end = Some(MachineEnd::Exit(exit));
        if let Progress::Settled(settled) = &self.visit(at).progress
            && asks
        {
            self.visit_mut(at).progress = Progress::Asking(Some(settled.clone()));
            self.may_ask = true;
            return;
        }
        let state = if failure.is_some() { FrameState::Failed } else { FrameState::Done };
        self.close(at.frame, state, failure);
    }

    fn transition(&mut self, from: StepAt, to: usize) {
        let recipe = self.recipe(from.frame);
        let limits = self.guardrails(&recipe);
        let name = &recipe.steps[to].id;
        let state = self.machine(from.frame);
        let last = &recipe.steps[from.step].id;
        let (visits, total) = (state.visits[to], state.total);
        if visits >= limits.max_step_visits {
            let many = if visits == 1 { "once".to_owned() } else { format!("{visits} times") };
            let detail = format!(
                "`{name}` was visited {many} in this session, as often as it may be; what `{last}` \
                 did last is in the working tree and was not looked at again"
            );
            let exit = GuardrailExit::StepVisits { step: to, after: vec![from.step] };
            let reason = exit.reason(&recipe);
            return self.refuse(from, Guardrail::StepVisits, reason, detail, visits);
        }
        if total >= limits.max_total_steps {
            let had = if total == 1 { "1 step".to_owned() } else { format!("{total} steps") };
            let detail = format!(
                "this session had {had}, as many as it may have; `{name}` would have been next"
            );
            let reason = GuardrailExit::TotalSteps.reason(&recipe);
            return self.refuse(from, Guardrail::TotalSteps, reason, detail, total);
        }
        self.moved(from, Movement::Step(name.clone()));
        self.enter_machine_step(StepAt { step: to, ..from });
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
            let reason = "max-restarts-exceeded".to_owned();
            return self.refuse(from, Guardrail::Restarts, reason, detail, restarts);
        }
        if !self.machine(frame).worked {
            // Nothing was done that could ever end this circle.
            let detail = format!("no step of this session did anything before `{target}`");
            let reason = "restart-without-work".to_owned();
            return self.refuse(from, Guardrail::RestartWithoutWork, reason, detail, 0);
        }
        let own = self.frames[frame].recipe;
        let callee =
            if target == recipe.name { Some(own) } else { self.program.callee(own, target) };
        let Some(callee) = callee else {
            let reason = format!("Restart recipe '{target}' not found");
            return self.refuse(from, Guardrail::UnknownRecipe, reason, String::new(), 0);
        };
        self.moved(from, Movement::Restart(target.to_owned()));
        self.leave(frame);
        self.replace_frame(frame, callee);
        self.dirty.insert(frame);
    }

    /// Begins a frame from its start with a recipe, in a new session. What the run has counted and
    /// recorded of it stays.
    fn replace_frame(&mut self, frame: usize, recipe: usize) {
        let next = self.program.recipes[recipe].clone();
        let old = std::mem::take(self.machine_mut(frame));
        let replaced = &self.frames[frame];
        let mut new = Frame {
            path: replaced.path.clone(),
            parent: replaced.parent,
            depth: replaced.depth,
            directory: replaced.directory.clone(),
            count: replaced.count,
            ..Frame::new(&next, recipe, replaced.given.clone())
        };
        if let Some(machine) = new.flow.machine_mut() {
            machine.restarts = old.restarts + 1;
            machine.entries = old.entries;
            machine.session_start = old.past.len();
            machine.past = old.past;
        }
        self.frames[frame] = new;
    }

    /// A guardrail forbids the transition: the machine ends where it is.
    fn refuse(
        &mut self,
        at: StepAt,
        guardrail: Guardrail,
        reason: String,
        detail: String,
        reached: u32,
    ) {
        let kind = FailureKind::Guardrail(guardrail);
        let failure = Failure { detail, ..Failure::new(kind, reason) };
        let end = MachineEnd::Refused { failure: failure.clone(), reached };
        self.machine_mut(at.frame).end = Some(end);
        let failure = failure.within(self.path(at));
        self.close(at.frame, FrameState::Failed, Some(failure));
    }

    /// Enters a step: a new visit.
    pub(super) fn enter_machine_step(&mut self, at: StepAt) {
        self.leave(at.frame);
        let recipe = self.recipe(at.frame);
        let limits = self.guardrails(&recipe);
        let id = &recipe.steps[at.step].id;
        let state = self.machine_mut(at.frame);
        state.at = Some(at.step);
        state.end = None;
        state.total += 1;
        state.visits[at.step] += 1;
        let (visit, total) = (state.visits[at.step], state.total);
        let entries = state.entries.entry(id.clone()).or_default();
        let entered = *entries;
        *entries += 1;
        self.visit_mut(at).number = entered;
        self.events.push(EventKind::Entered {
            step: StepPath::in_frame(self.frames[at.frame].path.as_ref(), id, entered + 1),
            recipe: recipe.name.clone(),
            visit,
            max_visits: limits.max_step_visits,
            total,
            max_total: limits.max_total_steps,
            model: self.model(at),
        });
        self.enter(at, Start::RUN);
    }

    /// Enters the step again that led to an exit without success. The limits count both visits as
    /// one: the second replaces the first, whose record stays.
    pub(super) fn revisit(&mut self, at: StepAt) {
        let state = self.machine_mut(at.frame);
        state.total -= 1;
        state.visits[at.step] -= 1;
        self.enter_machine_step(at);
    }

    /// Puts the current visit, which is over, among the past ones.
    fn leave(&mut self, frame: usize) {
        let Some(at) = self.current(frame) else { return };
        let view = self.step_view(at);
        let visit = std::mem::take(self.visit_mut(at));
        *self.visit_mut(at) = StepVisit::new(visit.number);
        let failed = visit.progress.failed();
        let writes = if failed { Vec::new() } else { visit.progress.writes().to_vec() };
        let ended_after = visit.progress.settled().map_or(0, |settled| settled.ended_after);
        let view = StepView { state: StepState::Ended, gives_json: false, ..view };
        let machine = self.machine_mut(frame);
        machine.at = None;
        machine.past.push(PastVisit { view, writes, ended_after });
    }

    fn moved(&mut self, from: StepAt, to: Movement) {
        let step = self.path(from);
        self.events.push(EventKind::Moved { step, to });
    }

    fn guardrails(&self, recipe: &Recipe) -> Guardrails {
        let machine = recipe.machine().expect("only state machines have transitions");
        machine.guardrails_with(&self.program.plan.machine)
    }
}
