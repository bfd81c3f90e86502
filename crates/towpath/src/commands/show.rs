//! `towpath show`: one run, step by step, replayed from its record, and how it can be resumed; or one of
//! its steps.

mod agent_step_diff;
mod filled_prompt;
mod html_export;
mod one_step;

use super::Execute;
use crate::environment::{Environment, Invocation, local_zone};
use crate::exit::{CommandError, Exit};
use crate::session::find_run;
use crate::session::run_status::tint;
use crate::session::time_flags::LIMITS;
use crate::terminal::format::{ago, clean, count, duration, last_line, local_time, now_ms};
use crate::terminal::out;
use crate::terminal::report::{
    ByHand, Shape, by_hand, failure as failure_lines, find, next_commands,
};
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use crate::terminal::table::{Cell, Table};
use towpath_core::{FaultKind, RunStatus, text_of};
use towpath_engine::{census, recorded};
use towpath_run::{
    FailureKind, Output, RunOutcome, StepKind, StepResult, StepState, StepStatus, StepView,
};
use towpath_view::Cost;
use towpath_view::foreign_text::{escaped, first_line};
use towpath_view::run_json::ShownRun;

/// Show one run: every step, how it ended, and how the run can be resumed.
///
/// First come the inputs; a step that is done has its command, a step that failed the end of its output.
/// The first column is the step's path, as `towpath resume --again` and `towpath logs` take it.
///
/// With a step it shows that step alone: its command, and its condition with the values that it read.
///
/// Example: towpath show 7f3k
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id, or a unique prefix of it [default: the latest run here]
    pub run: Option<String>,
    /// One step, by its path or the end of it [default: all steps]
    pub step: Option<String>,
    /// Print the prompt that this agent step was given, with its values.
    #[arg(long, value_name = "STEP", conflicts_with_all = ["json", "diff"])]
    pub prompt: Option<String>,
    /// Print what this agent step changed in the git repository, as a diff; without STEP, what all
    /// agent steps of the run did, with what changed between them.
    #[arg(long, value_name = "STEP", num_args = 0..=1, default_missing_value = "")]
    #[arg(conflicts_with = "json")]
    pub diff: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print one HTML file, with the chart and all output, that opens without a server.
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
}

impl Execute for Args {
    fn execute(&self, invocation: &Invocation) -> Result<Exit, CommandError> {
        let env = invocation.environment()?;
        let name = self.run.as_deref();
        let store = find_run::open(env, name)?;
        let row = find_run::named_or_latest(&store, env, name, |_| true, "can be shown")?;
        if let Some(step) = &self.prompt {
            return filled_prompt::print(&store, &row, step);
        }
        if let Some(step) = &self.diff {
            return match step.as_str() {
                "" => agent_step_diff::print_run(&store, &row, env),
                step => agent_step_diff::print(&store, &row, step, env),
            };
        }
        let recorded = recorded(&store, &row.id, LIMITS)?;
        let shown = ShownRun::new(&store, row, recorded);
        if let Some(step) = &self.step {
            one_step::OneStep::find(&shown, step)?.print(&Screen::new(env), self.json);
            return Ok(Exit::Done);
        }
        if self.html {
            out::stdout(html_export::html(&store, &shown)?.as_bytes());
        } else if self.json {
            let resumable = !matches!(shown.status, RunStatus::Done | RunStatus::Running);
            let resume = resumable.then(|| {
                let edited = next_commands::is_edited(shown.run());
                next_commands::resume(&shown.row.id, shown.run(), edited)
            });
            out::json(&shown.json(resume.flatten(), now_ms(), &local_zone()));
        } else {
            Printed(&shown).print(&Screen::new(env), env);
        }
        Ok(Exit::Done)
    }

    fn json(&self) -> bool {
        self.json
    }
}

/// A run as text.
struct Printed<'a>(&'a ShownRun);

impl Printed<'_> {
    fn print(&self, screen: &Screen, env: &Environment) {
        let now = now_ms();
        let directory = self.0.row.directory.file_name().map(std::path::Path::new);
        let mut parts = vec![
            clean(&self.0.row.recipe),
            screen.paint(tint(&self.0.status), self.0.status.as_str()),
            ago(self.0.row.created_ms, now),
            directory.map_or_else(|| escaped(&self.0.row.directory), escaped),
        ];
        parts.extend(Cost::of(&census(self.0.run())).text());
        screen.message(&parts.join(" · "));
        if let Some(inputs) = self.inputs() {
            screen.line(&inputs);
        }
        if let Some(worktree) = &self.0.recorded.options.worktree {
            let gone = if self.0.row.directory.is_dir() { "" } else { " · gone" };
            let path = shown_path(std::path::Path::new(&worktree.path), env);
            out::line(format!("worktree {path} · branch {}{gone}", clean(&worktree.branch)));
        }
        for met in self.0.recorded.options.requirements.iter() {
            let found = met.found();
            let gone = if found.program.exists() { "" } else { " · gone" };
            let version =
                found.version.as_ref().map_or(String::new(), |v| format!(" {}", clean(v)));
            let path = shown_path(&found.program, env);
            out::line(format!("requires {}{version} · {path}{gone}", clean(met.name())));
        }
        if let Some(sandbox) = &self.0.recorded.options.sandbox {
            out::line(format!("sandbox {}", sandbox.as_str()));
        }
        let shape = Shape::of(self.0.run().program());
        let mut table = Table::plain(2);
        self.rows(&self.0.run().view(), &shape, now, &mut table);
        table.print(screen);
        self.error_text(&shape, screen).iter().for_each(|line| screen.message(line));
        // A command is copied: it stays whole, however narrow the terminal is.
        self.talks(env).iter().chain(&self.next(now)).for_each(|line| screen.message(line));
    }

    /// `inputs mode=release, name=Ann`
    fn inputs(&self) -> Option<String> {
        let inputs = &self.0.run().program().plan.inputs;
        let each =
            inputs.iter().map(|(name, value)| format!("{name}={}", first_line(&text_of(value))));
        let each: Vec<String> = each.collect();
        (!each.is_empty()).then(|| format!("inputs {}", each.join(", ")))
    }

    /// What the step that failed printed last, and its command.
    fn error_text(&self, shape: &Shape, screen: &Screen) -> Vec<String> {
        let Some(RunOutcome::Failed { step, failure }) = self.0.run().outcome() else {
            return Vec::new();
        };
        let steps = self.0.run().view();
        let view = find(&steps, &step);
        let is_command = view.is_some_and(|view| view.kind == StepKind::Bash);
        let command = shape.work(&step).filter(|_| is_command);
        let command = command.map(|command| format!("command: {command}"));
        let look = (screen.width, screen.color);
        let lines = failure_lines(command, &self.0.row.id, (&step, &failure), view, look);
        [vec![String::new()], lines].concat()
    }

    /// The steps, and a row before the first one after each restart of a state machine.
    fn rows(&self, steps: &[StepView], shape: &Shape, now: i64, table: &mut Table) {
        let mut restarts = 0;
        for step in steps {
            let indent = "  ".repeat(step.depth as usize);
            if step.restarts > restarts {
                restarts = step.restarts;
                let name = format!("{indent}↻ restart {restarts}");
                table.row(vec![
                    Cell::own(name, Tint::Dim),
                    Cell::own("new session", Tint::Dim),
                    String::new().into(),
                    String::new().into(),
                ]);
            }
            let (mark, word, tint) = self.status_cell(step);
            table.row(vec![
                Cell::own(format!("{indent}{mark} {}", step.path), tint),
                Cell::own(word, tint),
                self.took(step, now).into(),
                Cell::own(details_and_command(step, shape).join(" · "), Tint::None),
            ]);
            self.rows(&step.children, shape, now, table);
        }
    }

    fn status_cell(&self, step: &StepView) -> (&'static str, &'static str, Tint) {
        match step.state {
            StepState::Ended if step.gave_up => ("✗", "failed", Tint::Bad),
            StepState::Ended => ended(step),
            StepState::Running if self.0.is_running() => ("▸", "running", Tint::None),
            StepState::Running | StepState::Interrupted => ("!", "interrupted", Tint::Attention),
            StepState::Waiting => ("!", "waiting", Tint::Attention),
            StepState::Asking => ("?", "asking", Tint::Attention),
            StepState::Pending if self.0.is_running() => ("·", "to come", Tint::Dim),
            StepState::Pending | StepState::NotReached => ("·", "not reached", Tint::Dim),
        }
    }

    fn took(&self, step: &StepView, now: i64) -> String {
        let skipped = matches!(status_of_step(step), Some(StepStatus::Skipped { .. }));
        match (step.started_ms, step.took_ms()) {
            (_, Some(took)) if !skipped => duration(took),
            (Some(started), None) if self.0.is_running() => {
                duration(now - started - step.paused_ms)
            }
            _ => String::new(),
        }
    }

    /// The commands that continue the agents' conversations by hand.
    fn talks(&self, env: &Environment) -> Vec<String> {
        let talks = by_hand(&self.0.run().view(), &self.0.row.directory, &env.current);
        let of = |talk: &ByHand| match talks.len() {
            1 => String::new(),
            _ => format!(" of {}", clean(talk.step.as_str())),
        };
        let line = |talk| format!("  continue the conversation{}: {}", of(talk), talk.command);
        let lines: Vec<String> = talks.iter().map(line).collect();
        if lines.is_empty() { lines } else { [vec![String::new()], lines].concat() }
    }

    /// What a user can do next, as commands to copy.
    fn next(&self, now: i64) -> Vec<String> {
        let id = &self.0.row.id;
        let mut lines = vec![String::new()];
        for step in self.0.asking(now) {
            let question = next_commands::question(id, self.0.run(), &step);
            lines.push(format!("  {step} {}", question.words.join("\n    ")));
            lines.extend(question.answers.iter().map(|answer| format!("    {answer}")));
        }
        if lines.len() > 1 {
            return lines;
        }
        match (&self.0.status, self.0.run().outcome()) {
            (RunStatus::Done, _) => return Vec::new(),
            (RunStatus::Running, _) => {
                lines.push(format!("  follow it: towpath logs {id} -f"));
                lines.push(format!("  end it: towpath cancel {id}"));
            }
            (RunStatus::Failed { .. }, Some(RunOutcome::Failed { .. })) => {
                let ways =
                    next_commands::ways(id, self.0.run(), next_commands::is_edited(self.0.run()));
                let ways = ways.into_iter();
                lines.extend(ways.map(|way| format!("  {}: {}", way.when, way.command)));
            }
            (RunStatus::Waiting { why, until_ms: Some(until) }, _) => {
                let until = local_time(*until, now);
                lines.push(match why {
                    FaultKind::Limit => {
                        format!("  a limit ends at {until}; then: towpath resume {id}")
                    }
                    why => format!(
                        "  agent: {}; next try at {until}: towpath resume --due; now: towpath resume {id}",
                        why.as_str()
                    ),
                });
            }
            _ => lines.push(format!("  nothing is lost: towpath resume {id}")),
        }
        lines
    }
}

fn status_of_step(step: &StepView) -> Option<&StepStatus> {
    step.result.as_ref().map(|result| &result.status)
}

fn ended(step: &StepView) -> (&'static str, &'static str, Tint) {
    match status_of_step(step) {
        Some(StepStatus::Skipped { .. }) => ("–", "skipped", Tint::Dim),
        Some(StepStatus::Failed(_)) if is_stopped(step) => ("!", "stopped", Tint::Attention),
        Some(StepStatus::Failed(_)) if step.tolerated => {
            ("✗", "failed, tolerated", Tint::Attention)
        }
        Some(StepStatus::Failed(_)) => ("✗", "failed", Tint::Bad),
        _ if step.result.as_ref().is_some_and(StepResult::reports_trouble) => {
            ("!", "done", Tint::Attention)
        }
        _ => ("✓", "done", Tint::Good),
    }
}

fn is_stopped(step: &StepView) -> bool {
    let status = status_of_step(step);
    matches!(status, Some(StepStatus::Failed(failure)) if failure.kind == FailureKind::Stopped)
}

/// What is worth showing of a step beside its status.
fn details(step: &StepView) -> Vec<String> {
    let mut details = Vec::new();
    if let Some(result) = &step.result {
        details.extend(crate::terminal::report::outcome(result));
        match &result.status {
            StepStatus::Skipped { reason } => return vec![clean(reason)],
            // What failed inside has its own line.
            StepStatus::Failed(_) if step.children.iter().any(has_failed) => {}
            StepStatus::Failed(failure) if is_stopped(step) => {
                details.extend(Some(last_line(&failure.detail)).filter(|l| !l.is_empty()));
            }
            StepStatus::Failed(failure) => {
                details.push(clean(&failure.message));
                details.extend(Some(last_line(&failure.detail)).filter(|l| !l.is_empty()));
            }
            StepStatus::Degraded { reason } => details.push(format!("degraded: {}", clean(reason))),
            StepStatus::Recovered { failure } => {
                details.push(format!("recovered after: {}", clean(&failure.message)));
            }
            StepStatus::Completed if step.kind == StepKind::Agent => {
                details.extend(Cost::of_calls(step).text());
                details.extend(answer(&result.output, result.report.is_some()));
            }
            StepStatus::Completed => {}
        }
    }
    if step.kind == StepKind::Recipe {
        // Of its recovery.
        details.extend(Cost::of_calls(step).text());
    }
    if step.state == StepState::Waiting {
        let last = step.ended_calls().last();
        details.extend(
            last.map(|(_, end)| last_line(&end.detail)).filter(|details| !details.is_empty()),
        );
    }
    if !step.children.is_empty() {
        let ran = step.children.iter().filter(|child| has_run(child)).count();
        details.push(format!("{ran} of {}", count(step.children.len(), "step")));
    }
    if step.attempts > 1 {
        details.push(count(step.attempts as usize, "attempt"));
    }
    details
}

/// The same, with the command of a step that is done.
fn details_and_command(step: &StepView, shape: &Shape) -> Vec<String> {
    let mut details = details(step);
    if step.kind == StepKind::Bash && matches!(status_of_step(step), Some(StepStatus::Completed)) {
        details.extend(shape.work(&step.path).map(str::to_owned));
    }
    details
}

fn has_failed(step: &StepView) -> bool {
    let failed = matches!(status_of_step(step), Some(StepStatus::Failed(_)));
    failed && !step.tolerated && !is_stopped(step)
}

fn has_run(step: &StepView) -> bool {
    let status = status_of_step(step).filter(|_| step.state == StepState::Ended);
    status.is_some_and(|status| !matches!(status, StepStatus::Skipped { .. }))
}

/// The last line of an answer; of one that reports, the last before its report.
fn answer(output: &Output, reports: bool) -> Option<String> {
    let text = output.text()?;
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.find(|line| !reports || !is_report(line))?;
    Some(last_line(line)).filter(|line| !line.is_empty())
}

fn is_report(line: &str) -> bool {
    line.starts_with("```") || line.starts_with('{') && line.ends_with('}')
}
