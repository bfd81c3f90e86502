//! What a case expects against the record of its run. Everything that `expect` does not name is
//! left alone, but for what the case itself was given: an answer that no call took, a stub whose
//! step never ran and a step that does not exist are failures.

use crate::expected_calls::ExpectedCalls;
use crate::matcher::Matcher;
use crate::problem::Problem;
use crate::recipe_steps::{RecipeSteps, Workers};
use crate::replacements::Replacements;
use crate::run_record::{RunRecord, StepRecord};
use crate::suite::{Case, Ending, Expect, Name, Suite};
use std::collections::BTreeSet;
use std::path::Path;
use towpath_core::{Value, VarPath, lookup};

/// All that is compared.
#[derive(Debug)]
pub struct Comparison<'a> {
    pub suite: &'a Suite,
    pub case: &'a Case,
    pub replacements: &'a Replacements<'a>,
    pub record: &'a RunRecord,
    pub steps: Option<RecipeSteps<'a>>,
    pub idle: &'a Workers,
    pub work: &'a Path,
}

impl Comparison<'_> {
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.unknown_steps();
        problems.extend(self.unanswered());
        if !problems.is_empty() {
            // The rest would follow from these.
            return problems;
        }
        problems.extend(self.ending());
        problems.extend(self.machine());
        problems.extend(self.lists());
        problems.extend(self.values());
        problems.extend(self.never_used());
        problems
    }

    fn expect(&self) -> &Expect {
        &self.case.expect
    }

    fn unknown_steps(&self) -> Vec<Problem> {
        let Some(steps) = self.steps else { return Vec::new() };
        let expect = self.expect();
        let lists = [&expect.ran, &expect.not_reached, &expect.degraded, &expect.tolerated];
        let listed = lists.into_iter().flatten().flatten();
        let skipped = expect.skipped.iter().flatten().map(|(name, _)| name);
        let by_path = listed.chain(skipped).chain(&expect.failed_at).map(|name| (name, false));
        let asked = expect.printed.iter().chain(&expect.prompts).map(|(name, _)| name);
        let calls = expect.calls.iter().flat_map(ExpectedCalls::steps);
        let by_path = by_path.chain(calls.map(|name| (name, false)));
        let stubs = self.case.stubs.iter().map(|(name, _)| name);
        let agents = self.case.agents.iter().map(|(name, _)| name);
        let by_id = asked.chain(stubs).chain(agents).map(|name| (name, true));
        let unknown = |(name, by_id): (&Name, bool)| {
            let why = steps.unknown(&name.text, by_id)?;
            Some(Problem::new("unknown-step", why).at(self.suite.location(name.span)))
        };
        by_path.chain(by_id).filter_map(unknown).collect()
    }

    /// Steps with a call for which the case has no answer.
    fn unanswered(&self) -> Vec<Problem> {
        let calls = self.record.calls.iter();
        let unanswered = calls.filter(|call| self.replacements.is_unanswered(call.line));
        let mut paths: BTreeSet<&str> = unanswered.map(|call| call.step.as_str()).collect();
        let problem = |path: &str| {
            let message = match self.replacements.answers_for(path) {
                0 => format!("step `{path}` asks an agent, and the case has no answer for it"),
                n => format!(
                    "step `{path}` asks an agent more often than the case has answers ({n})"
                ),
            };
            Problem::new("no-answer", message)
                .with("add it under `agents`", format!("{path}: \"what the agent answers\""))
        };
        // In the order of the steps, each once.
        let steps = self.record.steps.iter().map(|step| step.path.as_str());
        steps.filter(|path| paths.remove(path)).map(problem).collect()
    }

    fn ending(&self) -> Vec<Problem> {
        let (expect, record) = (self.expect(), self.record);
        let (wanted, got) = (expect.ending(), record.ending);
        let mut problems = Vec::new();
        if wanted != got {
            problems.push(self.other_ending(wanted, got));
        }
        if let Some(exit) = expect.exit
            && i32::from(exit) != record.exit
        {
            let (wanted, got) = (exit.to_string(), record.exit.to_string());
            problems.push(Problem::differs("exit", "the exit code", wanted, got));
        }
        if let Some(step) = &expect.failed_at
            && record.failed_at.as_ref() != Some(&step.text)
        {
            let got = record.failed_at.clone().unwrap_or_else(|| "no step".to_owned());
            let what = "the step that failed";
            problems.push(Problem::differs("failed_at", what, step.text.clone(), got));
        }
        if let Some(matcher) = &expect.error {
            let misses = matcher.misses_text(record.error());
            let missed = misses.into_iter().map(|miss| Problem::missed("error", "the error", miss));
            problems.extend(missed);
        }
        problems
    }

    /// How a state machine ended, and which agents it called.
    fn machine(&self) -> Vec<Problem> {
        let (expect, end) = (self.expect(), &self.record.end);
        let mut problems = Vec::new();
        for (kind, what, matcher, got) in [
            ("reason", "the reason", &expect.reason, &end.reason),
            ("description", "the description", &expect.description, &end.description),
        ] {
            let got = got.as_ref().map_or(Value::Null, |text| Value::String(text.clone()));
            let misses = matcher.iter().flat_map(|matcher| matcher.misses(&got));
            problems.extend(misses.map(|miss| Problem::missed(kind, what, miss)));
        }
        if let Some(restarts) = expect.restarts
            && u64::from(restarts) != end.restarts
        {
            let (wanted, got) = (restarts.to_string(), end.restarts.to_string());
            problems.push(Problem::differs("restarts", "the number of restarts", wanted, got));
        }
        problems.extend(expect.calls.as_ref().and_then(|calls| calls.problem(&self.record.calls)));
        problems
    }

    fn other_ending(&self, wanted: Ending, got: Ending) -> Problem {
        let record = self.record;
        let failed = record.failed_at.as_deref();
        let at = failed.map_or(String::new(), |step| format!(" at step `{step}`"));
        let (wanted, is) = (wanted.as_str(), got.as_str());
        let message = format!("the run should be {wanted}, and is {is}{at}");
        let problem = Problem::new("status", message);
        if got == Ending::Refused {
            return problem.with("it was refused", record.refused.clone());
        }
        match failed.and_then(|path| record.step(path)) {
            Some(step) => problem.with(format!("step `{}` ended with", step.path), step.end_text()),
            None => problem,
        }
    }

    fn lists(&self) -> Vec<Problem> {
        let expect = self.expect();
        let mut problems = Vec::new();
        for (kind, what, names) in [
            ("ran", "the list of steps that ran", &expect.ran),
            ("not_reached", "the list of steps that were not reached", &expect.not_reached),
            ("degraded", "the list of degraded steps", &expect.degraded),
            ("tolerated", "the list of tolerated failures", &expect.tolerated),
        ] {
            if let Some(names) = names {
                problems.extend(self.list(kind, what, &names.iter().collect::<Vec<_>>()));
            }
        }
        if let Some(skipped) = &expect.skipped {
            let names: Vec<&Name> = skipped.iter().map(|(name, _)| name).collect();
            problems.extend(self.list("skipped", "the list of skipped steps", &names));
            problems.extend(skipped.iter().flat_map(|(name, reason)| self.reason(name, reason)));
        }
        problems
    }

    /// A list must be exact. Only the order of what ran is looked at.
    fn list(&self, kind: &'static str, what: &str, names: &[&Name]) -> Option<Problem> {
        let is_compared = |path: &str| match path.rsplit_once('/') {
            None => true,
            Some((call, _)) => names.iter().any(|name| name.text.starts_with(&format!("{call}/"))),
        };
        let seen = self.all_steps(names);
        let got = seen.iter().filter(|step| step.is(kind) && is_compared(&step.path));
        let mut got: Vec<&str> = got.map(|step| step.path.as_str()).collect();
        let mut wanted: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
        let difference = (lines(&wanted), lines(&got));
        if kind != "ran" {
            wanted.sort_unstable();
            got.sort_unstable();
        }
        let differs = wanted != got;
        differs.then(|| Problem::differs(kind, what, difference.0, difference.1))
    }

    /// The steps of the record, and those below calls that were never opened and that a list
    /// names: they were not reached.
    fn all_steps(&self, names: &[&Name]) -> Vec<StepRecord> {
        let mut all = self.record.steps.clone();
        let Some(steps) = self.steps else { return all };
        all.extend(steps.not_entered("", &all));
        let mut index = 0;
        while index < all.len() {
            let call = all[index].path.clone();
            let inside = format!("{call}/");
            let named = names.iter().any(|name| name.text.starts_with(&inside));
            if named && !all.iter().any(|step| step.path.starts_with(&inside)) {
                let below = steps.directly_below(&call).into_iter();
                let unopened = |path| StepRecord {
                    path,
                    status: "not_reached".into(),
                    ..StepRecord::default()
                };
                all.splice(index + 1..index + 1, below.map(unopened));
            } else if named {
                let more = steps.not_entered(&call, &all);
                all.extend(more);
            }
            index += 1;
        }
        all
    }

    fn reason(&self, name: &Name, reason: &Option<Matcher>) -> Vec<Problem> {
        let (Some(reason), Some(step)) = (reason, self.record.step(&name.text)) else {
            return Vec::new();
        };
        if step.status != "skipped" {
            return Vec::new();
        }
        let what = format!("the reason why `{}` was skipped", step.path);
        let misses = reason.misses_text(&step.reason).into_iter();
        misses.map(|miss| Problem::missed("skipped", &what, miss)).collect()
    }

    fn values(&self) -> Vec<Problem> {
        let (expect, record) = (self.expect(), self.record);
        let mut problems = Vec::new();
        let mut add = |kind, what: &str, misses: Vec<_>| {
            problems.extend(misses.into_iter().map(|miss| Problem::missed(kind, what, miss)));
        };
        for (name, matcher) in &expect.outputs {
            let value = VarPath::new(name).and_then(|path| lookup(&record.context, &path).cloned());
            let misses = matcher.misses(&value.unwrap_or(Value::Null));
            add("outputs", &format!("the output `{name}`"), misses);
        }
        for (name, matcher) in &expect.printed {
            let printed: Vec<&str> = record
                .meant(&name.text)
                .filter(|step| step.started)
                .map(|step| step.output.as_str())
                .collect();
            let what = format!("what `{}` printed", name.text);
            add("printed", &what, matcher.misses_text(&printed.join("\n")));
        }
        for (name, matcher) in &expect.prompts {
            let wanted: Vec<&str> = record.meant(&name.text).map(|s| s.path.as_str()).collect();
            let calls = record.calls.iter().filter(|call| wanted.contains(&call.step.as_str()));
            let prompts: Vec<&str> = calls.map(|call| call.prompt.as_str()).collect();
            let what = format!("the prompt of `{}`", name.text);
            add("prompts", &what, matcher.misses_text(&prompts.join("\n")));
        }
        for (path, matcher) in &expect.files {
            problems.extend(file(&self.work.join(path), path, matcher.as_ref()));
        }
        problems
    }

    /// What the case was given and the run did not want.
    fn never_used(&self) -> Vec<Problem> {
        let taken: Vec<u64> = self.record.calls.iter().map(|call| call.line).collect();
        let unasked = self.replacements.unasked(&taken, self.idle).into_iter();
        let mut problems: Vec<Problem> = unasked
            .map(|(name, message)| {
                Problem::new("unused-answer", message).at(self.suite.location(name.span))
            })
            .collect();
        for (name, _) in &self.case.stubs {
            let mut meant = self.record.meant(&name.text).peekable();
            let is_agent = meant.peek().is_some_and(|step| step.kind != "bash");
            if meant.any(|step| step.started && step.kind == "bash") {
                continue;
            }
            let message = if is_agent {
                format!("`{}` is no bash step: only those have stubs", name.text)
            } else {
                format!("the stub of `{}` was never used: the step did not run", name.text)
            };
            problems.push(Problem::new("unused-stub", message).at(self.suite.location(name.span)));
        }
        problems
    }
}

fn lines(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join("\n") }
}

fn file(path: &Path, name: &str, matcher: Option<&Matcher>) -> Vec<Problem> {
    let there = path.symlink_metadata().is_ok();
    let Some(matcher) = matcher else {
        let gone = || Problem::new("files", format!("{name} is there, and should not be"));
        return there.then(gone).into_iter().collect();
    };
    match std::fs::read(path) {
        Ok(bytes) => {
            let misses = matcher.misses_text(&String::from_utf8_lossy(&bytes)).into_iter();
            misses.map(|miss| Problem::missed("files", name, miss)).collect()
        }
        Err(_) if !there => vec![Problem::new("files", format!("{name} is not there"))],
        Err(error) => vec![Problem::new("files", format!("{name} cannot be read: {error}"))],
    }
}
