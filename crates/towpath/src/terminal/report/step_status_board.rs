//! The status of the steps, kept up to date by events. It knows nothing of terminals; what is
//! drawn of it is `live_block.rs`.

use super::fit_text::one_line;
use super::shape::Shape;
use super::shared_event_lines;
use crate::terminal::format::last_line;
use std::path::{Path, PathBuf};
use towpath_core::StepPath;
use towpath_run::{
    FailureKind, Run, RunOutcome, StepKind, StepResult, StepState, StepStatus, StepView,
};
use towpath_view::Cost;
use towpath_view::foreign_text::relative;

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Pending,
    Running,
    Done,
    /// A state machine's step reported `failure` or `other`.
    Trouble,
    /// It succeeded, and there is something to note about it.
    Odd {
        note: String,
    },
    Skipped {
        reason: String,
    },
    Failed {
        message: String,
    },
    Tolerated {
        message: String,
    },
    Stopped,
    Interrupted,
    Waiting,
    Asking,
    NotReached,
}

impl State {
    pub fn is_over(&self) -> bool {
        !matches!(self, State::Pending | State::Running | State::Waiting | State::Asking)
    }
}

#[derive(Debug)]
pub struct Row {
    pub id: String,
    /// The id as it may be shown.
    pub name: String,
    pub path: StepPath,
    pub kind: StepKind,
    pub state: State,
    /// When it began, on the reporter's clock.
    pub since_ms: i64,
    /// When something last came from it.
    pub heard_ms: i64,
    pub took_ms: Option<i64>,
    pub doing: String,
    /// Of a called machine's step: which visit of its session this is, and how many there may be.
    pub visit: Option<(u32, u32)>,
    /// What a machine's step reported.
    pub report: Option<String>,
    /// The steps of a called recipe that have been heard of.
    pub children: Vec<Row>,
    /// How many steps a called recipe has.
    pub called: usize,
}

/// A step that the run's own machine has entered: which visit and which step of the session, and the
/// most there may be.
#[derive(Debug)]
pub struct Entered {
    pub visit: (u32, u32),
    pub steps: (u32, u64),
}

impl Entered {
    /// Where the machine of a run is that is about to be driven.
    pub fn of(run: &Run, shape: &Shape) -> Option<Entered> {
        let view = run.machine_view()?;
        let step = view.step?;
        let (_, visit) = view.visits.into_iter().find(|(id, _)| *id == step)?;
        let program = run.program();
        let recipe = program.recipes.iter().find(|recipe| recipe.name == view.recipe)?;
        let limits = recipe.machine()?.guardrails_with(&program.plan.machine);
        let visit = (visit, limits.max_step_visits);
        Some(Entered::new(visit, (view.steps, limits.max_total_steps), &view.recipe, shape))
    }

    fn new(visit: (u32, u32), total: (u32, u32), recipe: &str, shape: &Shape) -> Entered {
        let most = shape.most_steps(recipe).unwrap_or(u64::MAX).min(u64::from(total.1));
        Entered { visit, steps: (total.0, most) }
    }
}

#[derive(Debug, Default)]
pub struct Board {
    pub rows: Vec<Row>,
    pub cost: Cost,
    /// Where the run's own machine is.
    pub machine: Option<Entered>,
    shape: Shape,
    /// Where the run works.
    directory: PathBuf,
}

impl Board {
    pub fn new(shape: Shape) -> Board {
        Board { shape, ..Board::default() }
    }

    pub fn begin(&mut self, steps: &[StepView], directory: &Path) {
        self.directory = directory.to_owned();
        self.rows = steps.iter().map(|step| Row::of(step, &self.shape)).collect();
        self.cost.add_all(steps);
    }

    /// A machine has entered a step.
    pub fn entered(&mut self, step: &StepPath, visit: (u32, u32), total: (u32, u32), recipe: &str) {
        if step.frame().is_some() {
            self.row(step).visit = Some(visit);
            return;
        }
        self.machine = Some(Entered::new(visit, total, recipe, &self.shape));
    }

    pub fn started(&mut self, step: &StepPath, kind: StepKind, now_ms: i64) {
        self.around(step, now_ms);
        let row = self.row(step);
        // A recipe step is under way from its first child on; its own word comes after that.
        if row.state == State::Running && kind == StepKind::Recipe {
            row.kind = kind;
            return;
        }
        let (id, called, visit) = (row.id.clone(), row.called, row.visit);
        let children =
            if kind == StepKind::Recipe { std::mem::take(&mut row.children) } else { vec![] };
        let new = Row::new(id, step.clone(), kind, called);
        let (since_ms, heard_ms) = (now_ms, now_ms);
        *row = Row { state: State::Running, since_ms, heard_ms, children, visit, ..new };
    }

    /// Something came from a step: it is running, even where its start was before our time.
    pub fn heard(&mut self, step: &StepPath, now_ms: i64) {
        if self.row(step).state != State::Running {
            self.around(step, now_ms);
            let row = self.row(step);
            row.state = State::Running;
            row.since_ms = now_ms;
        }
        self.row(step).heard_ms = now_ms;
    }

    /// Time in which everything was stopped is nobody's silence.
    pub fn awake(&mut self, now_ms: i64) {
        fn each(rows: &mut [Row], now_ms: i64) {
            for row in rows {
                row.heard_ms = now_ms;
                each(&mut row.children, now_ms);
            }
        }
        each(&mut self.rows, now_ms);
    }

    pub fn doing(&mut self, step: &StepPath, what: &str, now_ms: i64) {
        self.heard(step, now_ms);
        self.row(step).doing = one_line(&relative(what, &self.directory));
    }

    pub fn ended(&mut self, step: &StepPath, result: &StepResult, tolerated: bool, took_ms: i64) {
        let row = self.row(step);
        let ran = row.state == State::Running;
        row.state = ended_state(result, tolerated);
        row.took_ms = ran.then_some(took_ms);
        row.report = shared_event_lines::report(result);
        row.doing.clear();
        let kind = row.kind;
        self.cost.add(kind, result);
    }

    pub fn over(&mut self, outcome: &RunOutcome) {
        over(&mut self.rows, outcome);
    }

    /// Whether a step is an agent's.
    pub fn is_agent(&mut self, step: &StepPath) -> bool {
        self.row(step).kind == StepKind::Agent
    }

    /// Steps that are doing something themselves.
    pub fn running(&self) -> Vec<&StepPath> {
        let mut steps = Vec::new();
        running(&self.rows, &mut steps);
        steps
    }

    pub fn done(&self) -> usize {
        self.rows
            .iter()
            .filter(|row| matches!(row.state, State::Done | State::Trouble | State::Odd { .. }))
            .count()
    }

    /// The recipe steps around a running step are running.
    fn around(&mut self, step: &StepPath, now_ms: i64) {
        let text = step.as_str();
        for (at, _) in text.match_indices('/') {
            let row = self.row(&StepPath::new(&text[..at]));
            row.kind = StepKind::Recipe;
            if row.state != State::Running {
                row.state = State::Running;
                row.since_ms = now_ms;
                row.took_ms = None;
            }
        }
    }

    /// The row of a step; a child that was not heard of yet gets one.
    fn row(&mut self, path: &StepPath) -> &mut Row {
        let text = path.as_str();
        let (first, mut rest) = text.split_at(text.find('/').unwrap_or(text.len()));
        let mut row = child(&mut self.rows, StepPath::new(first), &self.shape);
        while let Some(inner) = rest.strip_prefix('/') {
            let after = &inner[inner.find('/').unwrap_or(inner.len())..];
            let here = StepPath::new(&text[..text.len() - after.len()]);
            row = child(&mut row.children, here, &self.shape);
            rest = after;
        }
        row
    }
}

/// The row with this id, made where there is none.
fn child<'a>(rows: &'a mut Vec<Row>, path: StepPath, shape: &Shape) -> &'a mut Row {
    let id = shape.name_of(&path);
    let at = rows.iter().position(|row| row.id == id).unwrap_or_else(|| {
        let called = shape.called_steps(&path).unwrap_or(0);
        let kind = if called > 0 { StepKind::Recipe } else { StepKind::Bash };
        rows.push(Row::new(id, path, kind, called));
        rows.len() - 1
    });
    &mut rows[at]
}

impl Row {
    /// How long an agent that works has printed nothing, once that is worth showing.
    pub fn silence(&self, now_ms: i64) -> Option<String> {
        let works = self.state == State::Running && self.kind == StepKind::Agent;
        shared_event_lines::silence(now_ms - self.heard_ms).filter(|_| works)
    }

    fn new(id: String, path: StepPath, kind: StepKind, called: usize) -> Row {
        Row {
            name: one_line(&id),
            id,
            path,
            kind,
            state: State::Pending,
            since_ms: 0,
            heard_ms: 0,
            took_ms: None,
            doing: String::new(),
            visit: None,
            report: None,
            children: Vec::new(),
            called,
        }
    }

    fn of(step: &StepView, shape: &Shape) -> Row {
        let called = shape.called_steps(&step.path).unwrap_or(0);
        let state = match (step.state, &step.result) {
            (StepState::Ended, Some(result)) => ended_state(result, step.tolerated),
            (StepState::Interrupted, _) => State::Interrupted,
            (StepState::Asking, _) => State::Asking,
            (StepState::Waiting, _) => State::Waiting,
            (StepState::NotReached, _) => State::NotReached,
            // Whatever runs is reported by an event of its own.
            _ => State::Pending,
        };
        Row {
            state,
            took_ms: step.took_ms(),
            children: step.children.iter().map(|child| Row::of(child, shape)).collect(),
            report: step.result.as_ref().and_then(shared_event_lines::report),
            ..Row::new(shape.name_of(&step.path), step.path.clone(), step.kind, called)
        }
    }

    /// How many children have ended, and how many of those were skipped.
    pub fn children_over(&self) -> (usize, usize) {
        let over = self.children.iter().filter(|row| row.state.is_over()).count();
        let skipped = |row: &&Row| matches!(row.state, State::Skipped { .. });
        (over, self.children.iter().filter(skipped).count())
    }
}

fn ended_state(result: &StepResult, tolerated: bool) -> State {
    match &result.status {
        StepStatus::Completed if result.reports_trouble() => State::Trouble,
        StepStatus::Completed => State::Done,
        StepStatus::Degraded { reason } => {
            State::Odd { note: format!("degraded: {}", one_line(reason)) }
        }
        StepStatus::Recovered { failure } => {
            State::Odd { note: format!("recovered after: {}", one_line(&failure.message)) }
        }
        StepStatus::Skipped { reason } => State::Skipped { reason: one_line(reason) },
        StepStatus::Failed(failure) if failure.kind == FailureKind::Stopped => State::Stopped,
        StepStatus::Failed(failure) => {
            let mut message = one_line(&failure.message);
            let detail = one_line(&last_line(&failure.detail));
            if !detail.is_empty() {
                message = format!("{message}: {detail}");
            }
            if tolerated { State::Tolerated { message } } else { State::Failed { message } }
        }
    }
}

fn running<'a>(rows: &'a [Row], steps: &mut Vec<&'a StepPath>) {
    for row in rows {
        if row.state == State::Running && row.kind != StepKind::Recipe {
            steps.push(&row.path);
        }
        running(&row.children, steps);
    }
}

fn over(rows: &mut [Row], outcome: &RunOutcome) {
    for row in rows {
        over(&mut row.children, outcome);
        row.state = match (&row.state, outcome) {
            (_, RunOutcome::Asking { steps }) if steps.contains(&row.path) => State::Asking,
            (State::Done | State::Trouble, RunOutcome::Failed { step, failure })
                if *step == row.path && failure.kind == FailureKind::Exit =>
            {
                let reported = row.report.as_deref().unwrap_or_default();
                State::Failed { message: format!("{reported} → {}", one_line(&failure.message)) }
            }
            (State::Running, RunOutcome::Waiting { .. }) => State::Waiting,
            (State::Running, _) => State::Interrupted,
            (State::Pending, RunOutcome::Failed { .. }) => State::NotReached,
            _ => continue,
        };
    }
}
