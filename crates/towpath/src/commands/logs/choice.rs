//! Which jobs of a run a person means by a step's name, and which of them are its latest try.

use super::Job;
use std::collections::BTreeSet;
use towpath_core::{JobKey, JobKind};

pub struct Choice<'a> {
    step: Option<&'a str>,
    /// Every try, not only the latest.
    pub all: bool,
}

impl<'a> Choice<'a> {
    pub fn new(step: Option<&'a str>, all: bool) -> Choice<'a> {
        Choice { step, all }
    }

    /// The jobs to show, by their index; an error when the name could mean several steps.
    pub fn of(&self, jobs: &[Job]) -> Result<Vec<usize>, String> {
        let mut chosen = self.named(jobs)?;
        if !self.all {
            chosen.retain(|index| is_latest(jobs, *index));
        }
        Ok(chosen)
    }

    /// The jobs of the step, or of what it calls. A name that begins at the run's own recipe wins
    /// over one that is only the end of a path.
    fn named(&self, jobs: &[Job]) -> Result<Vec<usize>, String> {
        let Some(step) = self.step else { return Ok((0..jobs.len()).collect()) };
        let wanted: Vec<&str> = step.split('/').collect();
        let found = |at: fn(&[String], &[&str]) -> Option<usize>| -> Vec<(usize, Vec<String>)> {
            let numbered = jobs.iter().enumerate();
            numbered
                .filter_map(|(index, job)| {
                    let path = segments(&job.key, step.contains('#'));
                    let end = at(&path, &wanted)?;
                    Some((index, path[..end].to_vec()))
                })
                .collect()
        };
        let mut matches = found(at_root);
        if matches.is_empty() {
            matches = found(anywhere);
        }
        let meant: BTreeSet<String> = matches.iter().map(|(_, path)| path.join("/")).collect();
        if meant.len() > 1 {
            let meant: Vec<String> = meant.into_iter().collect();
            return Err(format!("`{step}` could be any of {}", meant.join(", ")));
        }
        Ok(matches.into_iter().map(|(index, _)| index).collect())
    }
}

fn at_root(path: &[String], wanted: &[&str]) -> Option<usize> {
    let same = path.len() >= wanted.len() && path.iter().zip(wanted).all(|(a, b)| a == b);
    same.then_some(wanted.len())
}

fn anywhere(path: &[String], wanted: &[&str]) -> Option<usize> {
    (0..path.len()).find_map(|from| Some(from + at_root(&path[from..], wanted)?))
}

fn segments(key: &JobKey, with_visits: bool) -> Vec<String> {
    let path = key.step_path();
    let visit = |segment: &str| match segment.rsplit_once('#') {
        Some((id, _)) if !with_visits => id.to_owned(),
        _ => segment.to_owned(),
    };
    path.as_str().split('/').map(visit).collect()
}

/// The step of a job, whichever visit or try it was.
pub fn bare(job: &Job) -> String {
    segments(&job.key, false).join("/")
}

/// How often these steps' work was started.
pub fn tries(jobs: &[Job], steps: &BTreeSet<String>) -> usize {
    jobs.iter().filter(|job| job.key.kind.is_work() && steps.contains(&bare(job))).count()
}

/// Whether a job belongs to the latest try of its step. Hooks are numbered by themselves: of the
/// ones before the work the last counts, of the ones after it those that came after the last work.
fn is_latest(jobs: &[Job], index: usize) -> bool {
    let job = &jobs[index];
    let step = bare(job);
    let later = jobs[index + 1..].iter().filter(|other| bare(other) == step);
    let mut later = later.map(|other| &other.key);
    match job.key.kind {
        JobKind::Bash | JobKind::Agent => {
            !later.any(|key| key.kind.is_work() && other_try(key, &job.key))
        }
        JobKind::Snapshot | JobKind::Stage => false,
        JobKind::PreHook => !later.any(|key| key.kind == JobKind::PreHook),
        JobKind::PostHook | JobKind::ErrorHook => !later.any(|key| key.kind.is_work()),
    }
}

/// The calls of one attempt belong together.
fn other_try(key: &JobKey, than: &JobKey) -> bool {
    (&key.frame, key.visit, key.attempt) != (&than.frame, than.visit, than.attempt)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 9] = [
        "build#1.0.0:pre_step",
        "build#1.0.0:bash",
        "build#1.0.0:on_error",
        "build#1.1.0:pre_step",
        "build#1.1.0:bash",
        "build#1.1.0:post_step",
        "check/count#1.0.0:bash",
        "check-again/count#1.0.0:bash",
        "check/count#2.0.0:bash",
    ];

    fn chosen(step: Option<&str>, all: bool) -> Result<Vec<&'static str>, String> {
        let job = |key: &&str| Job {
            number: 0,
            key: key.parse().expect("a key"),
            end: None,
            shown: [0, 0],
        };
        let jobs: Vec<Job> = KEYS.iter().map(job).collect();
        let found = Choice::new(step, all).of(&jobs)?;
        Ok(found.into_iter().map(|index| KEYS[index]).collect())
    }

    #[test]
    fn the_latest_try_of_each_step_with_its_own_hooks() {
        assert_eq!(chosen(Some("build"), false).expect("one"), KEYS[3..6]);
        assert_eq!(chosen(Some("build"), true).expect("one"), KEYS[..6]);
        let latest = [KEYS[3], KEYS[4], KEYS[5], KEYS[7], KEYS[8]];
        assert_eq!(chosen(None, false).expect("all"), latest);
    }

    #[test]
    fn a_step_is_meant_by_its_path_its_end_or_what_calls_it() {
        assert_eq!(chosen(Some("check"), false).expect("below"), [KEYS[8]]);
        assert_eq!(chosen(Some("check-again/count"), false).expect("path"), [KEYS[7]]);
        assert_eq!(chosen(Some("check/count#2"), false).expect("visit"), [KEYS[8]]);
        assert_eq!(
            chosen(Some("count"), false).expect_err("two"),
            "`count` could be any of check-again/count, check/count"
        );
        assert!(chosen(Some("nope"), false).expect("none").is_empty());
    }
}
