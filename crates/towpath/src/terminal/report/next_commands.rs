//! How a run can be continued, as commands to copy. They are whole, and only those that can help: a
//! resume that would be refused, or would fail in the same way, is not offered.

use super::failed_step::{find, last_lines};
use crate::terminal::format::clean;
use towpath_core::{FaultKind, RunId, StepPath};
use towpath_recipe::{Edit, Plan, edited};
use towpath_run::without_report;
use towpath_run::{Failure, FailureKind, Guardrail, Run, RunOutcome, StepState, StepView};
use towpath_shell::bash::quote;

const AS_IT_IS: &str = "nothing is lost";
const CHANGED: &str = "after changing the recipe";
const WITH_EDIT: &str = "with the edited recipe";
const AS_RECORDED: &str = "with the recipe as it was";

/// One way to continue a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Way {
    /// When it helps.
    pub when: &'static str,
    pub command: String,
    /// What the command has beside the run; empty: nothing.
    pub flag: &'static str,
}

/// The ways to continue a run that is not done, the likeliest first; none where no resume can help.
/// `edited`: the recipe is not what it was when the run began.
pub fn ways(id: &RunId, run: &Run, edited: bool) -> Vec<Way> {
    let flags = match run.outcome() {
        Some(RunOutcome::Failed { step, failure }) => flags(run, &step, &failure, edited),
        _ => vec![(AS_IT_IS, "")],
    };
    let command = |flag: &str| match flag.strip_suffix(" N") {
        None if flag.is_empty() => format!("towpath resume {id}"),
        None => format!("towpath resume {id} {flag}"),
        // The line can be copied.
        Some(limit) => format!("towpath resume {id} {limit} {}", raised_limit(run)),
    };
    flags.into_iter().map(|(when, flag)| Way { when, command: command(flag), flag }).collect()
}

/// The lowest limit with which a state machine continues that a guardrail ended.
pub fn raised_limit(run: &Run) -> u32 {
    run.reached_limit().unwrap_or(0).saturating_add(1)
}

/// Whether a recipe of a run is not what it was when the run began.
pub fn is_edited(run: &Run) -> bool {
    !edited(&run.program().plan).is_empty()
}

/// Whether the recipes as they are now could replace those of a run: each can be read, and no step that
/// is done has changed.
pub fn can_take_edit(run: &Run, plan: &Plan) -> bool {
    let view = run.view();
    edited(plan).iter().all(|recipe| match &recipe.edit {
        Edit::Gone(_) | Edit::Broken(_) => false,
        Edit::Steps { changed, removed, .. } => {
            let touched =
                |step: &StepView| changed.contains(&step.id) || removed.contains(&step.id);
            match recipe.index {
                0 => !view.iter().any(|step| is_done(step) && touched(step)),
                _ => {
                    !view.iter().any(|step| any_below(step, &|step| is_done(step) && touched(step)))
                }
            }
        }
    })
}

fn is_done(step: &StepView) -> bool {
    let ended = step.result.as_ref().filter(|_| step.state == StepState::Ended);
    ended.is_some_and(|result| result.status.is_success())
}

fn any_below(step: &StepView, found: &dyn Fn(&StepView) -> bool) -> bool {
    step.children.iter().any(|child| found(child) || any_below(child, found))
}

/// The first of the ways.
pub fn resume(id: &RunId, run: &Run, edited: bool) -> Option<String> {
    ways(id, run, edited).into_iter().next().map(|way| way.command)
}

/// What a resume after a failure needs, and when that helps.
fn flags(
    run: &Run,
    step: &StepPath,
    failure: &Failure,
    edited_since: bool,
) -> Vec<(&'static str, &'static str)> {
    if let Some(raising) = raising(run) {
        return vec![(AS_IT_IS, raising.flag)];
    }
    if run.needs_new_session() {
        return vec![(AS_IT_IS, "--new-session")];
    }
    // Its text or its values are at fault before anything of it has run.
    let never_ran = find(&run.view(), step).is_none_or(|view| view.attempts == 0);
    let (again, edited) = match failure.kind {
        // What is asked may be at fault: its model, or its length.
        FailureKind::Agent(FaultKind::BadRequest) => (true, true),
        FailureKind::Agent(FaultKind::TooLong) => (false, true),
        FailureKind::Agent(_) | FailureKind::Stopped => (true, false),
        FailureKind::Limit | FailureKind::Guardrail(_) => (false, true),
        FailureKind::Value => (!never_ran, true),
        FailureKind::Command
        | FailureKind::Timeout
        | FailureKind::Start
        | FailureKind::Report
        | FailureKind::Exit => (true, true),
    };
    // What is built in cannot be changed.
    let has_file = run.program().plan.recipes.first().is_some_and(|recipe| recipe.path.is_some());
    let (as_it_is, changed) = match edited_since {
        true => (AS_RECORDED, WITH_EDIT),
        false => (AS_IT_IS, CHANGED),
    };
    let takes_edit = has_file && (!edited_since || can_take_edit(run, &run.program().plan));
    let mut ways = [(again, (as_it_is, "")), (edited && takes_edit, (changed, "--edited"))];
    if edited_since {
        ways.reverse();
    }
    ways.into_iter().filter(|(helps, _)| *helps).map(|(_, way)| way).collect()
}

/// Which guardrail ended a state machine, and the flag without which it does not continue.
#[derive(Debug, PartialEq, Eq)]
pub struct Raising {
    pub reason: String,
    pub flag: &'static str,
}

/// What prevents the resume of a run in which a guardrail ended a state machine.
pub fn raising(run: &Run) -> Option<Raising> {
    let Some(RunOutcome::Failed { failure, .. }) = run.outcome() else { return None };
    let FailureKind::Guardrail(guardrail) = failure.kind else { return None };
    let flag = match guardrail {
        Guardrail::StepVisits => "--max-visits N",
        Guardrail::TotalSteps => "--max-steps N",
        Guardrail::Restarts => "--max-restarts N",
        // No higher limit helps: the machine would restart for ever.
        Guardrail::RestartWithoutWork => "--again STEP",
        Guardrail::UnknownRecipe => return None,
    };
    Some(Raising { reason: failure.message, flag })
}

/// That a step has done its work; of a machine's step also how it ended.
pub fn done(id: &RunId, run: &Run, step: &StepPath) -> String {
    let outcomes = run.outcomes_of(step).join(", ");
    let outcome = match outcomes.as_str() {
        "" => String::new(),
        outcomes => format!(" --outcome NAME (one of {outcomes})"),
    };
    format!("towpath resume {id} --done {}{outcome}", quote(step.as_str()))
}

/// The decision that the user must make about a step, and the commands that answer it.
pub struct Question {
    pub words: Vec<String>,
    pub answers: Vec<String>,
}

/// The question about a step: what a state machine's step asks, or whether one that was interrupted
/// has done its work.
pub fn question(id: &RunId, run: &Run, step: &StepPath) -> Question {
    let (done, again) = (done(id, run, step), again(id, step));
    let view = run.view();
    let result = find(&view, step).and_then(|view| view.result.as_ref());
    let Some((result, report)) = result.and_then(|result| Some((result, result.report.as_ref()?)))
    else {
        let words = "was interrupted, and may run only once: did it do its work?".to_owned();
        let answers = vec![format!("yes: {done}"), format!("no:  {again}")];
        return Question { words: vec![words], answers };
    };
    let asked = format!("reported {}, and leaves the decision to you", clean(&report.outcome));
    let answer = without_report(result.output.text().unwrap_or_default());
    let words = std::iter::once(asked).chain(last_lines(&answer)).collect();
    let answers = vec![format!("once it is answered: {again}"), format!("or yourself: {done}")];
    Question { words, answers }
}

pub fn again(id: &RunId, step: &StepPath) -> String {
    format!("towpath resume {id} --again {}", quote(step.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::reporter_test_support::driven_from;
    use super::*;
    use towpath_core::FaultKind;
    use towpath_run::{Fault, JobEnd, JobStatus, Output};

    /// What is offered after a run of this step, which ends like this.
    fn offered(step: &str, status: JobStatus, path: Option<&str>) -> Vec<String> {
        let recipe = format!("name: r\nsteps:\n  - {step}\n");
        let run = driven_from(path, &[("r", &recipe)], &mut |_| JobEnd {
            output: Output::Text("no".into()),
            ..JobEnd::new(status.clone())
        });
        let ways = ways(&RunId::new("7f3k").unwrap(), &run, false);
        ways.iter().map(|way| format!("{}: {}", way.when, way.command)).collect()
    }

    const PLAIN: &str = "nothing is lost: towpath resume 7f3k";
    const EDITED: &str = "after changing the recipe: towpath resume 7f3k --edited";
    const BASH: &str = "{ id: a, command: x }";

    #[test]
    fn edited_is_named_where_the_recipe_may_have_to_change() {
        let file = Some("/w/r.yaml");
        for status in [JobStatus::Exited(1), JobStatus::TimedOut, JobStatus::NotStarted] {
            assert_eq!(offered(BASH, status.clone(), file), [PLAIN, EDITED]);
            assert_eq!(offered(BASH, status, None), [PLAIN], "a built-in recipe cannot change");
        }
        let fault = Fault { kind: FaultKind::Auth, until_ms: None };
        assert_eq!(offered("{ id: a, prompt: x }", JobStatus::Faulted(fault), file), [PLAIN]);
        let json = "{ id: a, command: x, parse_json_required: true }";
        assert_eq!(offered(json, JobStatus::Exited(0), file), [PLAIN, EDITED]);
    }

    #[test]
    fn nothing_is_offered_where_no_resume_can_help() {
        let value = "{ id: a, command: \"echo $(( {{ n }} ))\" }\ncontext: { n: no number }";
        assert_eq!(offered(value, JobStatus::Exited(0), Some("/w/r.yaml")), [EDITED]);
        assert!(offered(value, JobStatus::Exited(0), None).is_empty());
    }
}
