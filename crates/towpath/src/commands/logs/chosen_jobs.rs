//! Which jobs of a run a user means by a step's name, and which of them are the latest try. The
//! visits of a state machine's step are kept apart: each has tries of its own. In a step recipe a
//! step that is run again replaces its earlier tries.

use super::Job;
use crate::terminal::report::bare;
use std::collections::{BTreeMap, BTreeSet};
use towpath_core::{JobKey, JobKind, StepPath};

pub struct Choice<'a> {
    step: Option<&'a str>,
    /// Every try, not only the latest.
    pub all: bool,
    /// All steps of a run that may still begin others.
    pub may_grow: bool,
}

impl<'a> Choice<'a> {
    pub fn new(step: Option<&'a str>, all: bool, follow: bool) -> Choice<'a> {
        Choice { step, all, may_grow: follow && step.is_none() }
    }

    /// The jobs to show, by their index; an error when the name could mean several steps.
    pub fn of(&self, jobs: &[Job]) -> Result<Vec<usize>, String> {
        let named = self.named(jobs)?;
        Ok(if self.all { named } else { latest(jobs, &named) })
    }

    /// The jobs of the step, or of what it calls. A name that begins at the run's own recipe wins
    /// over one that is only the end of a path.
    fn named(&self, jobs: &[Job]) -> Result<Vec<usize>, String> {
        let Some(step) = self.step else { return Ok((0..jobs.len()).collect()) };
        let wanted: Vec<&str> = step.split('/').collect();
        let found = |at: fn(&[&str], &[&str]) -> Option<usize>| -> Vec<(usize, String)> {
            let numbered = jobs.iter().enumerate();
            numbered
                .filter_map(|(index, job)| {
                    let path = job.key.step_path();
                    let path: Vec<&str> = path.as_str().split('/').collect();
                    let end = at(&path, &wanted)?;
                    let bare: Vec<&str> = path[..end].iter().map(|segment| bare(segment)).collect();
                    Some((index, bare.join("/")))
                })
                .collect()
        };
        let mut matches = found(at_root);
        if matches.is_empty() {
            matches = found(anywhere);
        }
        let meant: BTreeSet<&str> = matches.iter().map(|(_, path)| path.as_str()).collect();
        if meant.len() > 1 {
            let meant: Vec<&str> = meant.into_iter().collect();
            return Err(format!("`{step}` could be any of {}", meant.join(", ")));
        }
        Ok(matches.into_iter().map(|(index, _)| index).collect())
    }
}

/// Which try of its visit a job belongs to, and how many there are.
pub fn tries(jobs: &[Job], index: usize) -> (usize, usize) {
    let own = &jobs[index];
    let works = jobs.iter().filter(|job| job.key.kind.is_work() && job.unit == own.unit);
    let mut tries: Vec<_> = works.map(|job| try_of(&job.key)).collect();
    tries.dedup();
    let at = tries.iter().position(|known| *known == try_of(&own.key));
    (at.map_or(tries.len(), |at| at + 1), tries.len())
}

/// What came later in a visit than the job that is looked at.
#[derive(Default)]
struct Later<'a> {
    work: Option<Try<'a>>,
    pre_hook: bool,
}

/// The jobs of the latest try of each visit. Hooks are numbered by themselves: of the ones before the
/// work the last counts, of the ones after it those that came after the last work.
fn latest(jobs: &[Job], named: &[usize]) -> Vec<usize> {
    let mut units: BTreeMap<&str, Later<'_>> = BTreeMap::new();
    let mut chosen: Vec<usize> = Vec::new();
    for index in named.iter().rev() {
        let job = &jobs[*index];
        let later = units.entry(&job.unit).or_default();
        let is_latest = match job.key.kind {
            JobKind::Bash | JobKind::Agent => {
                let own = try_of(&job.key);
                *later.work.get_or_insert(own) == own
            }
            JobKind::Snapshot | JobKind::GitAdd | JobKind::Document => false,
            JobKind::PreHook => !std::mem::replace(&mut later.pre_hook, true),
            JobKind::PostHook | JobKind::ErrorHook => later.work.is_none(),
        };
        if is_latest {
            chosen.push(*index);
        }
    }
    chosen.reverse();
    chosen
}

fn at_root(path: &[&str], wanted: &[&str]) -> Option<usize> {
    let same = path.len() >= wanted.len() && path.iter().zip(wanted).all(|(a, b)| means(a, b));
    same.then_some(wanted.len())
}

fn anywhere(path: &[&str], wanted: &[&str]) -> Option<usize> {
    (0..path.len()).find_map(|from| Some(from + at_root(&path[from..], wanted)?))
}

/// A name means every visit of its step, one with `#2` that visit alone, and `#1` the first.
fn means(segment: &str, wanted: &str) -> bool {
    match bare(wanted) == wanted {
        true => bare(segment) == wanted,
        false => segment == wanted || wanted.strip_suffix("#1") == Some(segment),
    }
}

type Try<'a> = (Option<&'a str>, u32, u32);

/// The calls of one attempt belong together.
fn try_of(key: &JobKey) -> Try<'_> {
    (key.frame.as_ref().map(StepPath::as_str), key.visit, key.attempt)
}

#[cfg(test)]
mod tests {
    use super::super::transcript::Transcript;
    use super::*;
    use crate::terminal::report::{RecipeShape, Shape};
    use std::path::Path;

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

    fn jobs(keys: &[&str], machine: bool) -> Vec<Job> {
        let recipe = RecipeShape { machine, ..RecipeShape::default() };
        let shape = Shape { recipes: vec![recipe] };
        let transcript = || Transcript::new(Path::new("/w"), None);
        let job = |key: &&str| Job::new(key.parse().expect("a key"), &shape, transcript());
        keys.iter().map(job).collect()
    }

    fn chosen(step: Option<&str>, all: bool) -> Result<Vec<&'static str>, String> {
        let found = Choice::new(step, all, false).of(&jobs(&KEYS, false))?;
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

    const VISITS: [&str; 6] = [
        "look#1.0.0:agent",
        "look#1.1.0:agent",
        "look#1.1.1:agent",
        "fix#1.0.0:agent",
        "look#2.0.0:agent",
        "look#2.0.1:agent",
    ];

    #[test]
    fn every_visit_of_a_machines_step_is_shown_with_tries_of_its_own() {
        let jobs = jobs(&VISITS, true);
        let chosen = |step, all| Choice::new(step, all, false).of(&jobs).expect("one step");
        assert_eq!(chosen(None, false), [1, 2, 3, 4, 5]);
        assert_eq!(chosen(Some("look"), false), [1, 2, 4, 5]);
        assert_eq!(chosen(Some("look#1"), false), [1, 2]);
        assert_eq!(chosen(Some("look#1"), true), [0, 1, 2]);
        assert_eq!(chosen(Some("look#2"), false), [4, 5]);
        assert!(chosen(Some("look#3"), false).is_empty());
        let counted: Vec<_> = (0..jobs.len()).map(|index| tries(&jobs, index)).collect();
        assert_eq!(counted, [(1, 2), (2, 2), (2, 2), (1, 1), (1, 1), (1, 1)]);
    }
}
