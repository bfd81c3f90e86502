//! The last lines of a run: what happened, not only how it ended, and what to do next. A run in
//! which something was skipped or tolerated never reads like one in which everything went well.

use super::continue_conversation::ByHand;
use super::doubtful_skips::doubtful_skips;
use super::failed_step::{self, beside_name, find};
use super::fit_text::one_line;
use super::next_commands;
use super::rate_limit::{self, Limit};
use super::shared_event_lines;
use super::styled_line::{Line, Tone, joined};
use crate::terminal::format::{clean, count, duration, local_time};
use crate::terminal::wrap::wrap;
use towpath_core::{FaultKind, StepPath};
use towpath_engine::{Census, RunEnd, census};
use towpath_run::{Failure, FailureKind, RunOutcome, StepState, StepStatus, StepView, StopReason};
use towpath_view::Cost;

/// More names than this are only counted.
const NAMES: usize = 6;

pub fn text(
    end: &RunEnd,
    talks: &[ByHand],
    edited: bool,
    color: bool,
    limit: Option<usize>,
    now_ms: i64,
) -> String {
    let steps = end.run.view();
    let name = clean(&end.run.program().root().name);
    let took = duration(i64::try_from(end.took.as_millis()).unwrap_or(i64::MAX));
    let teller = Teller { end, steps, talks, edited, name, took, limit, now_ms };
    let mut text = String::new();
    for line in teller.lines() {
        let line = line.render(color);
        text.push_str(&limit.map_or_else(|| line.clone(), |limit| wrap(&line, limit)));
        text.push('\n');
    }
    text
}

/// `4 of 6 steps ran · 1 skipped (deploy: needs tag release)`
pub fn counts(end: &RunEnd) -> String {
    let (name, took) = (String::new(), String::new());
    let (steps, talks) = (end.run.view(), &[][..]);
    let teller = Teller { end, steps, talks, edited: false, name, took, limit: None, now_ms: 0 };
    joined("", "", teller.counts(), None).iter().map(|line| line.render(false)).collect()
}

struct Teller<'a> {
    end: &'a RunEnd,
    steps: Vec<StepView>,
    talks: &'a [ByHand],
    /// The recipe is not what it was when the run began.
    edited: bool,
    name: String,
    took: String,
    limit: Option<usize>,
    now_ms: i64,
}

impl Teller<'_> {
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.end.unused_lines.is_empty() {
            lines.push(unused(&self.end.unused_lines));
        }
        match &self.end.outcome {
            RunOutcome::Done => lines.extend(self.done()),
            RunOutcome::Failed { step, failure } => lines.extend(self.failed(step, failure)),
            RunOutcome::Waiting { why, until_ms } => lines.extend(self.waiting(*why, *until_ms)),
            RunOutcome::Asking { steps } => lines.extend(self.asking(steps)),
            RunOutcome::Stopped { reason } => lines.extend(self.stopped(*reason)),
        }
        lines
    }

    fn done(&self) -> Vec<Line> {
        let (name, took) = (&self.name, &self.took);
        // Every step was skipped: nothing was done.
        let nothing = census(&self.end.run).ran == 0;
        let (sign, tone) = if nothing { ("!", Tone::Attention) } else { ("✓", Tone::Good) };
        let done = if nothing { "ended" } else { "done" };
        let first = Line::new().with(tone, sign).text(format!(" {name} {done} in {took}"));
        let mut parts = vec![first];
        if let Some(exit) = self.end.run.exit() {
            let more = exit.description.map_or(String::new(), |text| format!(" ({text})"));
            parts.push(Line::plain(one_line(&format!("{}{more}", exit.reason))));
        }
        parts.extend(self.counts());
        let talk = self.talk().map(|talk| Line::plain(format!("  {talk}")));
        let counts = joined("", "  ", parts, self.limit).into_iter();
        counts.chain(doubtful_skips(self.end, self.limit)).chain(talk).collect()
    }

    /// The line that continues the conversation by hand: of the step that failed, else the latest.
    fn talk(&self) -> Option<String> {
        let failed = match &self.end.outcome {
            RunOutcome::Failed { step, .. } => Some(step),
            _ => None,
        };
        let of_failed = self.talks.iter().find(|talk| Some(&talk.step) == failed);
        let talk = of_failed.or(self.talks.last())?;
        let of = match self.talks.len() {
            1 => String::new(),
            _ => format!(" of {}", clean(talk.step.as_str())),
        };
        Some(format!("continue the conversation{of}: {}", talk.command))
    }

    fn failed(&self, step: &StepPath, failure: &Failure) -> Vec<Line> {
        let why = match failed_step::is_short(&failure.message) {
            true => format!(" ({})", one_line(&failure.message)),
            false => String::new(),
        };
        let head = format!("{} failed in {}", self.name, self.took);
        let location = format!("at step {}{why}", clean(step.as_str()));
        let mut lines = self.head("✗", Tone::Bad, &head, &location);
        lines.push(Line::new());
        let view = find(&self.steps, step);
        lines.extend(failed_step::block(&self.end.id, step, failure, view, self.limit));
        let others = failed_step::others(&self.steps, step);
        for (step, message) in others.iter().take(NAMES) {
            let message = format!("also failed: {}", one_line(message));
            lines.extend(beside_name(step, vec![(Tone::Plain, message)], self.limit));
        }
        if others.len() > NAMES {
            lines.push(Line::plain(format!("  and {} more failed", others.len() - NAMES)));
        }
        lines.push(Line::new());
        lines.extend(self.counts_below());
        let ways = next_commands::ways(&self.end.id, &self.end.run, self.edited).into_iter();
        lines.extend(ways.map(|way| offered(way.when, way.command)));
        lines
    }

    fn waiting(&self, why: FaultKind, until_ms: Option<i64>) -> Vec<Line> {
        let head = format!("{} paused after {}", self.name, self.took);
        let until = until_ms.map(|until| local_time(until, self.now_ms));
        let location = match &until {
            Some(until) if why != FaultKind::Limit => {
                format!("(agent: {}), next try at {until}", why.as_str())
            }
            Some(until) => format!("for a limit of the agent, until {until}"),
            None => "for a limit of the agent; it did not report until when".to_owned(),
        };
        let mut lines = self.head("?", Tone::Attention, &head, &location);
        lines.push(Line::new());
        let reported =
            rate_limit::met(&self.steps).into_iter().filter(|limit| !limit.message.is_empty());
        for Limit { step, message, .. } in reported {
            let texts = message.lines().map(|line| (Tone::Plain, clean(line))).collect();
            lines.extend(beside_name(&step, texts, self.limit));
        }
        if lines.last().is_some_and(|line| line.width() > 0) {
            lines.push(Line::new());
        }
        lines.extend(self.counts_below());
        let id = &self.end.id;
        lines.push(offered(
            "nothing is lost; to wait here and continue",
            format!("towpath resume {id} --wait"),
        ));
        lines
            .push(offered("or from a timer, every few minutes", "towpath resume --due".to_owned()));
        lines
    }

    fn asking(&self, steps: &[StepPath]) -> Vec<Line> {
        let head = format!("{} needs your decision after {}", self.name, self.took);
        let names: Vec<String> = steps.iter().map(|step| clean(step.as_str())).collect();
        let location = format!("about {}", listed(&names));
        let mut lines = self.head("?", Tone::Attention, &head, &location);
        lines.push(Line::new());
        lines.extend(self.questions(steps));
        lines.push(Line::new());
        lines.extend(self.counts_below());
        lines
    }

    /// What only the user can decide, with the answers.
    fn questions(&self, steps: &[StepPath]) -> Vec<Line> {
        let mut lines = Vec::new();
        for step in steps {
            let question = next_commands::question(&self.end.id, &self.end.run, step);
            let words = question.words.into_iter().map(|words| (Tone::Plain, words));
            let answers = question.answers.into_iter().map(|answer| (Tone::Faint, answer));
            lines.extend(beside_name(step, words.chain(answers).collect(), self.limit));
        }
        lines
    }

    fn stopped(&self, reason: StopReason) -> Vec<Line> {
        let by = match reason {
            StopReason::Cancel => "was cancelled".to_owned(),
            StopReason::Signal(1) => "stopped with its terminal".to_owned(),
            StopReason::Signal(2) => "stopped by Ctrl-C".to_owned(),
            StopReason::Signal(15) => "stopped by SIGTERM".to_owned(),
            StopReason::Signal(other) => format!("stopped by signal {other}"),
        };
        let head = format!("{} {by} after {}", self.name, self.took);
        let cut = stopped_steps(&self.steps);
        let location = if cut.is_empty() { String::new() } else { format!("at {}", listed(&cut)) };
        let mut lines = self.head("!", Tone::Attention, &head, &location);
        lines.push(Line::new());
        let asking = self.end.run.asking_when_resumed(self.now_ms);
        lines.extend(self.questions(&asking));
        if !asking.is_empty() {
            lines.push(Line::new());
        }
        lines.extend(self.counts_below());
        if asking.is_empty() {
            lines.push(self.resume("nothing is lost"));
        }
        lines
    }

    /// The first line; in two where one would not fit.
    fn head(&self, sign: &str, tone: Tone, head: &str, location: &str) -> Vec<Line> {
        let first = Line::new().with(tone, sign).text(format!(" {head}"));
        if location.is_empty() {
            return vec![first];
        }
        let whole = first.clone().text(format!(" {location}"));
        match self.limit.is_some_and(|limit| whole.width() > limit) {
            true => vec![first, Line::plain(format!("  {location}"))],
            false => vec![whole],
        }
    }

    fn resume(&self, words: &str) -> Line {
        offered(words, format!("towpath resume {}", self.end.id))
    }

    /// The counts, and how the conversation is continued by hand; where that is not known, the session
    /// that the agent of a state machine was in when it was interrupted.
    fn counts_below(&self) -> Vec<Line> {
        let session = self.talk().or_else(|| super::session(self.end));
        let session = session.map(|text| Line::plain(format!("  {text}")));
        let counts = joined("  ", "  ", self.counts(), self.limit).into_iter();
        counts.chain(doubtful_skips(self.end, self.limit)).chain(session).collect()
    }

    /// `4 of 6 steps ran`, `1 skipped (deploy-prod: condition false)`, `1 not reached`, `$0.42`
    fn counts(&self) -> Vec<Line> {
        let census = census(&self.end.run);
        let tally = Tally::of(&self.steps);
        let ran = census.ran.saturating_sub(tally.stopped.len());
        let plural = if census.total == 1 { "step" } else { "steps" };
        let steps = match census.ran_now {
            None => format!("{ran} of {} {plural} ran", census.total),
            Some(now) => {
                format!("{} of {} {plural} done, {now} ran now", census.done, census.total)
            }
        };
        let mut parts = vec![Line::plain(steps)];
        parts.extend(skipped(&census));
        for (word, steps) in [("degraded", &census.degraded), ("recovered", &census.recovered)] {
            if !steps.is_empty() {
                let names: Vec<String> = steps.iter().map(|s| clean(s.as_str())).collect();
                parts.push(named(Tone::Attention, word, &names));
            }
        }
        if !tally.tolerated.is_empty() {
            parts.push(named(Tone::Attention, "failed, tolerated", &tally.tolerated));
        }
        if !tally.stopped.is_empty() {
            parts.push(named(Tone::Attention, "stopped", &tally.stopped));
        }
        if !tally.unfinished.is_empty() {
            parts.push(named(Tone::Attention, "unfinished", &tally.unfinished));
        }
        if tally.not_reached > 0 {
            parts.push(Line::plain(format!("{} not reached", tally.not_reached)));
        }
        let warnings = self.end.warnings.len();
        if warnings > 0 {
            parts.push(Line::new().with(Tone::Attention, count(warnings, "warning")));
        }
        parts.extend(Cost::of(&census).text().map(Line::plain));
        parts
    }
}

fn offered(words: &str, command: String) -> Line {
    Line::plain(format!("  {words}: ")).with(Tone::Strong, command)
}

/// What the census does not have of the run's own steps.
#[derive(Default)]
struct Tally {
    tolerated: Vec<String>,
    stopped: Vec<String>,
    unfinished: Vec<String>,
    not_reached: usize,
}

impl Tally {
    fn of(steps: &[StepView]) -> Tally {
        let mut tally = Tally::default();
        tally.find_tolerated(steps);
        for step in steps {
            let name = clean(step.path.as_str());
            match step.state {
                StepState::Pending | StepState::NotReached => tally.not_reached += 1,
                StepState::Ended if is_stopped(step) => tally.stopped.push(name),
                StepState::Ended => {}
                _ => tally.unfinished.push(name),
            }
        }
        tally
    }

    fn find_tolerated(&mut self, steps: &[StepView]) {
        for step in steps {
            if step.tolerated
                && let Some(StepStatus::Failed(failure)) = step.result.as_ref().map(|r| &r.status)
            {
                let name = clean(step.path.as_str());
                self.tolerated.push(format!("{name}: {}", one_line(&failure.message)));
            }
            self.find_tolerated(&step.children);
        }
    }
}

fn is_stopped(step: &StepView) -> bool {
    let status = step.result.as_ref().map(|result| &result.status);
    matches!(status, Some(StepStatus::Failed(failure)) if failure.kind == FailureKind::Stopped)
}

/// The steps that were in flight when the run was stopped.
fn stopped_steps(steps: &[StepView]) -> Vec<String> {
    let mut found = Vec::new();
    for step in steps {
        let below = stopped_steps(&step.children);
        if below.is_empty() && is_stopped(step) {
            found.push(clean(step.path.as_str()));
        }
        found.extend(below);
    }
    found
}

/// The skipped steps of the recipe itself, then those of the recipes it calls.
fn skipped(census: &Census) -> Vec<Line> {
    let (inner, own): (Vec<_>, Vec<_>) =
        census.skipped.iter().partition(|(step, _)| step.as_str().contains('/'));
    [(own, "skipped"), (inner, "skipped in called recipes")]
        .into_iter()
        .filter(|(steps, _)| !steps.is_empty())
        .map(|(steps, word)| {
            let reasons = by_reason(&steps);
            let text = format!("{} {word} ({reasons})", steps.len());
            Line::new().with(Tone::Attention, text)
        })
        .collect()
}

/// `a, b: condition false; c: needs tag release`
fn by_reason(steps: &[&(StepPath, String)]) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (step, reason) in steps {
        let name = clean(step.as_str());
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => groups.push((reason, vec![name])),
        }
    }
    let texts =
        groups.iter().map(|(reason, names)| format!("{}: {}", listed(names), clean(reason)));
    texts.collect::<Vec<_>>().join("; ")
}

fn named(tone: Tone, word: &str, names: &[String]) -> Line {
    Line::new().with(tone, format!("{} {word} ({})", names.len(), listed(names)))
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `warning: line 3 of the script was not used`
pub fn unused(lines: &[u32]) -> Line {
    let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
    let (s, were) = if lines.len() == 1 { ("", "was") } else { ("s", "were") };
    shared_event_lines::warning(
        None,
        &format!("line{s} {} of the script {were} not used", listed(&numbers)),
    )
}

#[cfg(test)]
mod tests;
