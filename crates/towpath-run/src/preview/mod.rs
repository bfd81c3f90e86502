//! What a run would do, without doing it: every step of a plan in its order, called recipes
//! below their step, each with a verdict. It assumes that what runs succeeds; what a step
//! will print is not known, and neither is what depends on it. Like the run itself it has no effects
//! and knows no clock; the rules of tags, conditions, values and limits are those of the run.

mod foreseen_context;
mod level;
mod machine;
mod shown;
mod step;

use crate::step_result::StatusName;
use foreseen_context::ForeseenContext;
use level::{Level, MAY_BE_OVER};
use std::collections::BTreeSet;
use std::ops::Range;
use towpath_core::StepPath;
use towpath_recipe::{CommandOptions, Program, Recipe, StepKind};

/// Calls deeper than this are not followed, whatever the recipes allow: it would be unreadable.
const DEEPEST: usize = 48;
/// After this many steps called recipes are not opened any more.
const MOST_STEPS: usize = 5_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub steps: Vec<PreviewStep>,
    /// Some called recipe was not opened, because there is too much of it.
    pub cut: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PreviewStep {
    pub path: StepPath,
    pub id: String,
    pub kind: StepKind,
    /// Its recipe, and its index there.
    pub recipe: usize,
    pub index: usize,
    pub verdict: Verdict,
    /// Its command, its prompt or the recipe it calls, with the values that are known.
    pub text: String,
    /// The variables in the text that get their value only in the run.
    pub open: Vec<String>,
    /// Where it works, relative to the run's directory, or absolute.
    pub directory: String,
    /// How its command runs.
    pub options: CommandOptions,
    /// The hooks that run before and after it.
    pub hooks: Vec<&'static str>,
    pub children: Vec<PreviewStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Runs,
    Skipped {
        reason: String,
    },
    /// Whether it runs depends on what the steps before it give.
    Unknown {
        reason: String,
    },
    /// It is begun and fails, whatever the steps before it give.
    Fails {
        reason: String,
    },
    /// Its turn cannot come, or its condition can never be true.
    Never {
        reason: String,
    },
}

impl Verdict {
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Runs => "runs",
            Verdict::Skipped { .. } => "skipped",
            Verdict::Unknown { .. } => "unknown",
            Verdict::Fails { .. } => "fails",
            Verdict::Never { .. } => "never",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Runs => None,
            Verdict::Skipped { reason }
            | Verdict::Unknown { reason }
            | Verdict::Fails { reason }
            | Verdict::Never { reason } => Some(reason),
        }
    }
}

/// Looks ahead over a whole plan.
pub fn preview(program: &Program) -> Preview {
    let mut walk = Walk { program, levels: Vec::new(), firm: 0, over: false, shown: 0, cut: false };
    let left = walk.frame(Call {
        recipe: 0,
        path: None,
        directory: String::new(),
        given: ForeseenContext::of_inputs(&program.plan.inputs),
        reach: Reach::Sure,
    });
    Preview { steps: left.steps, cut: walk.cut }
}

struct Walk<'a> {
    program: &'a Program,
    /// The recipes that are open, outermost first.
    levels: Vec<Level>,
    /// The first level for which a step counts even if one before it fails: outside of a recipe
    /// whose failure is tolerated, fewer of its steps may run.
    firm: usize,
    /// A step was met that goes over `max_total_steps`.
    over: bool,
    shown: usize,
    cut: bool,
}

/// A recipe about to be looked through.
struct Call {
    recipe: usize,
    path: Option<StepPath>,
    directory: String,
    given: ForeseenContext,
    reach: Reach,
}

/// Whether a step's turn comes.
#[derive(Clone)]
enum Reach {
    Sure,
    Maybe(String),
    Not(String),
}

/// How a step or a recipe ends as far as that is known, if what runs succeeds.
#[derive(Clone)]
enum End {
    Passes,
    MayFail(Tolerable),
    Fails { reason: String, tolerable: Tolerable },
}

/// Whether `continue_on_error` and a recovery help against a failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tolerable {
    Always,
    /// It depends on which of several failures comes first.
    Perhaps,
    /// A limit is met.
    Never,
}

impl Tolerable {
    fn or(self, other: Tolerable) -> Tolerable {
        if self == other { self } else { Tolerable::Perhaps }
    }
}

/// A limit may be met, which nothing tolerates.
const NOT_TOLERATED: End = End::MayFail(Tolerable::Never);

impl End {
    /// This end, then another one if it comes to that.
    fn then(self, later: End) -> End {
        match (self, later) {
            (End::Passes, end) | (end, End::Passes) | (end @ End::Fails { .. }, _) => end,
            (End::MayFail(a), End::MayFail(b)) => End::MayFail(a.or(b)),
            (End::MayFail(a), End::Fails { reason, tolerable }) => {
                End::Fails { reason, tolerable: a.or(tolerable) }
            }
        }
    }
}

/// What a recipe leaves behind.
struct Left {
    steps: Vec<PreviewStep>,
    /// Every variable that its steps may have set.
    written: BTreeSet<String>,
    end: End,
    /// A step's condition is not known, and may be none that its values allow: then it fails there.
    doubtful: bool,
}

impl Left {
    fn nothing(end: End) -> Left {
        Left { steps: Vec::new(), written: BTreeSet::new(), end, doubtful: false }
    }
}

/// What a step does to those after it.
#[derive(Clone)]
struct StepEffect {
    /// Variables that it sets or may set, to what is not known.
    written: Vec<String>,
    /// A variable that a failure leaves empty.
    emptied: Option<String>,
    status: Option<StatusName>,
    /// Whether `steps.ID` has an entry for it at all.
    settled: bool,
    end: End,
}

impl StepEffect {
    fn none() -> StepEffect {
        StepEffect {
            written: Vec::new(),
            emptied: None,
            status: None,
            settled: false,
            end: End::Passes,
        }
    }

    fn skipped() -> StepEffect {
        StepEffect { status: Some(StatusName::Skipped), settled: true, ..StepEffect::none() }
    }
}

/// A step whose turn has come, or may have.
struct Begun {
    step: PreviewStep,
    next: Next,
}

enum Next {
    Over(StepEffect),
    Call(Called),
}

/// A recipe that a step calls, with what it is given.
struct Called {
    recipe: usize,
    given: ForeseenContext,
    sure: bool,
    may_be_over: bool,
}

/// One recipe while it is looked through.
struct PreviewFrame<'a> {
    recipe: &'a Recipe,
    index: usize,
    path: Option<StepPath>,
    directory: String,
    outlook: ForeseenContext,
    reach: Reach,
}

impl<'a> Walk<'a> {
    fn frame(&mut self, call: Call) -> Left {
        let recipe: &'a Recipe = &self.program.recipes[call.recipe];
        let mut frame = PreviewFrame {
            recipe,
            index: call.recipe,
            path: call.path,
            directory: call.directory,
            outlook: ForeseenContext::of_recipe(recipe, call.given),
            reach: call.reach,
        };
        self.levels.push(Level { recipe: call.recipe, ..Level::default() });
        if let Some(machine) = recipe.machine() {
            let left = self.machine(frame, machine);
            self.levels.pop();
            return left;
        }
        let mut left = Left::nothing(End::Passes);
        for batch in recipe.batches() {
            for (step, effect) in self.batch(&frame, batch.clone()) {
                frame.take(&step, &effect, &mut left);
                left.steps.push(step);
            }
        }
        self.levels.pop();
        left
    }

    /// The steps of a group see the context as it was when the group started, and all begin before
    /// the recipes that they call continue.
    fn batch(
        &mut self,
        frame: &PreviewFrame<'_>,
        batch: Range<usize>,
    ) -> Vec<(PreviewStep, StepEffect)> {
        let begun: Vec<Begun> = batch.map(|index| self.enter(frame, index)).collect();
        let calls = begun.iter().filter(|begun| matches!(begun.next, Next::Call(_))).count();
        let counted = self.levels.clone();
        let over = std::mem::replace(&mut self.over, false);
        let mut seen: Vec<_> = begun.iter().map(|one| self.follow(frame, one, None)).collect();
        if calls > 1 && self.over {
            // Which of them gets the last step that is allowed is chance.
            self.levels = counted;
            seen = begun.iter().map(|one| self.follow(frame, one, Some(MAY_BE_OVER))).collect();
        }
        self.over |= over;
        seen
    }

    /// Whether there is still room to show what a called recipe does.
    fn opens(&mut self) -> bool {
        let room = self.levels.len() < DEEPEST && self.shown < MOST_STEPS;
        self.cut |= !room;
        room
    }
}

impl PreviewFrame<'_> {
    /// What a step means for the steps after it, and for whoever called the recipe.
    fn take(&mut self, step: &PreviewStep, effect: &StepEffect, left: &mut Left) {
        let id = &step.id;
        for name in &effect.written {
            self.outlook.forget(name);
            left.written.insert(name.clone());
        }
        if let Some(name) = &effect.emptied {
            self.outlook.set(name, String::new().into());
            left.written.insert(name.clone());
        }
        if effect.settled {
            self.outlook.note(id, effect.status);
        }
        match &effect.end {
            End::Passes => {}
            End::MayFail(_) => {
                if matches!(self.reach, Reach::Sure) {
                    self.reach = Reach::Maybe(format!("depends on whether `{id}` fails"));
                }
            }
            End::Fails { .. } => {
                self.reach = Reach::Not(format!("`{id}` before it always fails"));
            }
        }
        let mut end = effect.end.clone();
        if let (End::Fails { tolerable, .. }, true) = (&mut end, left.doubtful) {
            *tolerable = tolerable.or(Tolerable::Always);
        }
        left.end = std::mem::replace(&mut left.end, End::Passes).then(end);
        left.doubtful |= matches!(step.verdict, Verdict::Unknown { .. });
    }
}
