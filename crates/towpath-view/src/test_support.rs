//! Runs for tests, driven without any process.

use std::collections::BTreeMap;
use std::time::Duration;
use towpath_core::{JobKey, RunId};
use towpath_engine::RunEnd;
use towpath_recipe::{Plan, PlannedRecipe};
use towpath_run::{Fact, JobEnd, Limits, Run};

/// A run of recipes (the root first, each step's `recipe:` naming the next ones), driven with
/// made-up ends.
pub fn driven(texts: &[(&str, &str)], ends: &mut dyn FnMut(&JobKey) -> JobEnd) -> Run {
    let recipes = texts.iter().map(|(source, text)| PlannedRecipe {
        source: (*source).to_owned(),
        text: (*text).to_owned(),
        calls: texts
            .iter()
            .enumerate()
            .map(|(at, (name, _))| ((*name).to_owned(), at))
            .collect::<BTreeMap<_, _>>(),
        ..PlannedRecipe::default()
    });
    let plan = Plan { recipes: recipes.collect(), no_auto_stage: true, ..Plan::default() };
    let mut run = Run::new(plan.load().expect("the recipes are right").into(), Limits::default());
    run.apply(&Fact::Started, 0).unwrap();
    let mut now = 0;
    loop {
        let jobs = run.next();
        if jobs.is_empty() {
            return run;
        }
        for job in &jobs {
            let fact = Fact::job_started(job.key.clone());
            run.apply(&fact, now).unwrap();
        }
        for job in jobs {
            now += 1500;
            let end = ends(&job.key);
            run.apply(&Fact::JobFinished { key: job.key, end }, now).unwrap();
        }
    }
}

pub fn ended(run: Run) -> RunEnd {
    let outcome = run.outcome().expect("nothing more is wanted");
    RunEnd {
        id: RunId::new("7f3k").unwrap(),
        outcome,
        run,
        warnings: Vec::new(),
        took: Duration::from_millis(123_000),
        unused_lines: Vec::new(),
        session: None,
    }
}
