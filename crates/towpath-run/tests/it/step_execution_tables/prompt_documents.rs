//! A prompt that is made of a document: its commands are jobs of the step, in their order, and each
//! finished one counts once, wherever the run is interrupted.

use super::Play;
use std::sync::Arc;
use towpath_core::JobKind;
use towpath_recipe::{Plan, PlannedRecipe};
use towpath_run::{Fact, JobEnd, JobStatus, JobWork, Output, RunOutcome};

const RECIPE: &str =
    "name: r\ncontext: {who: you}\nsteps:\n  - { id: ask, prompt_file: a.md, output: answer }\n";
const DOCUMENT: &str = "@import [b.md]\nHi {{who}}\n@run $shout({{who}})\n@embed [c.txt]\n@text n = @run [echo 7]\nn={{n}}\n";
const IMPORTED: &str = "@define shout(x) = @run [echo {{x}}]\n@text early = @run [echo early]\n";

fn planned(document: &str) -> Play {
    let files = [("a.md", document), ("b.md", IMPORTED)];
    let recipe = PlannedRecipe {
        source: "main".to_owned(),
        path: Some("/recipes/main.yaml".to_owned()),
        text: RECIPE.to_owned(),
        files: files.map(|(path, text)| (path.to_owned(), text.to_owned())).into(),
        ..PlannedRecipe::default()
    };
    let plan = Plan { recipes: vec![recipe], no_auto_stage: true, ..Plan::default() };
    Play::of(Arc::new(plan.load().expect("a sound plan")))
}

fn end(output: &str) -> JobEnd {
    JobEnd { output: Output::Text(output.to_owned()), ..JobEnd::new(JobStatus::Exited(0)) }
}

/// Starts the one job that is wanted, and ends it by its line.
fn step(play: &mut Play) -> String {
    let jobs = play.start_all();
    let [job] = jobs.as_slice() else { panic!("one at a time: {jobs:?}") };
    let output = match job.key.call {
        9 => "early\n",
        3 => "YOU\n",
        4 => "from the file\n",
        5 => "7\n",
        _ => "the answer",
    };
    play.fact(Fact::JobFinished { key: job.key.clone(), end: end(output) });
    job.key.to_string()
}

fn prompt(play: &Play) -> String {
    let asked = play.jobs.iter().rev().find_map(|job| match &job.work {
        JobWork::Agent(agent) => Some(agent.prompt.clone()),
        JobWork::Bash(_) => None,
    });
    asked.expect("the agent was asked")
}

#[test]
fn commands_and_files_are_jobs_and_then_the_agent_is_asked() {
    let mut play = planned(DOCUMENT);
    let keys: Vec<String> = (0..5).map(|_| step(&mut play)).collect();
    assert_eq!(
        keys,
        [
            "ask#1.0.9:document",
            "ask#1.0.3:document",
            "ask#1.0.4:document",
            "ask#1.0.5:document",
            "ask#1.0.0:agent",
        ]
    );
    assert!(prompt(&play).starts_with("Hi you\nYOU\nfrom the file\nn=7"), "{}", prompt(&play));
    let read = play.jobs.iter().find(|job| job.key.call == 4).expect("the file is read");
    let JobWork::Bash(script) = &read.work else { panic!("a command reads it") };
    assert_eq!(script.values, ["/recipes/c.txt"]);
    assert!(matches!(play.run.outcome(), Some(RunOutcome::Done)));
}

#[test]
fn wherever_it_is_interrupted_no_finished_command_runs_again() {
    for finished in 0..5 {
        let mut play = planned(DOCUMENT);
        (0..finished).for_each(|_| drop(step(&mut play)));
        // One more was started, and its owner died.
        let interrupted = play.start_all()[0].key.clone();
        play.fact(Fact::Resumed);
        let mut rest: Vec<String> = (finished..5).map(|_| step(&mut play)).collect();
        let again = rest.remove(0);
        let attempt = format!("#1.1.{}:{}", interrupted.call, interrupted.kind.as_str());
        assert!(again.ends_with(&attempt), "{again} after {interrupted}");
        assert!(prompt(&play).starts_with("Hi you\nYOU\nfrom the file\nn=7"));
        let documents = play.started.iter().filter(|name| name.ends_with(":document")).count();
        let twice = usize::from(interrupted.kind == JobKind::Document);
        assert_eq!(documents, 4 + twice, "after {finished}");
        assert!(matches!(play.run.outcome(), Some(RunOutcome::Done)));
    }
}

#[test]
fn a_failing_command_fails_the_step_with_its_line_and_is_tried_again() {
    let mut play = planned("@run [a]\n@run [b]\nprompt\n");
    step(&mut play);
    let failing = play.start_all()[0].key.clone();
    let failed = JobEnd { error: "why".to_owned(), ..JobEnd::new(JobStatus::Exited(3)) };
    play.fact(Fact::JobFinished { key: failing, end: failed });
    let Some(RunOutcome::Failed { failure, .. }) = play.run.outcome() else { panic!("it failed") };
    assert_eq!(failure.message, "a.md:2: exit 3");
    assert_eq!(failure.detail, "why");
    play.fact(Fact::Resumed);
    assert_eq!(step(&mut play), "ask#1.1.2:document");
    assert_eq!(step(&mut play), "ask#1.0.0:agent");
}

#[test]
fn a_second_visit_renders_again() {
    let mut play = planned("@run [a]\nprompt\n");
    step(&mut play);
    step(&mut play);
    let step_path = towpath_core::StepPath::new("ask");
    play.fact(Fact::Answered { step: step_path, answer: towpath_run::Answer::Again });
    assert_eq!(step(&mut play), "ask#2.0.1:document");
}
