//! What a shipped recipe commits is what its check saw: the same git tree, with and without
//! automatic staging, whatever kind of change the agent made. The check itself records the tree it
//! sees, through an index of its own.

use crate::support::{Printed, User};
use serde_json::json;

/// Everything that a check sees and git does not ignore, as a tree; the newest call counts.
const SEE: &str = "\
cp -p .git/index ../seen.index
GIT_INDEX_FILE=../seen.index git add --all && GIT_INDEX_FILE=../seen.index git write-tree > ../seen
";

const CHECK: &str = "\
bash see.sh
[ -e 'new dir/häßlich \"1\".txt' ] && [ ! -e gone.txt ] && [ -e moved.txt ] && [ ! -e old.txt ]
";

/// New files with odd names, an ignored one, a deleted, a renamed and a changed one.
const WORK: &str = "\
mkdir -p 'new dir' && echo new > 'new dir/häßlich \"1\".txt' && printf x > $'tab\\tand\\nline'
echo more >> kept.txt && rm gone.txt && mv old.txt moved.txt && echo noise > build.log";

const TASK: [&str; 4] = ["--set", "test_command=bash check.sh", "--set", "task_description=Work"];

fn repository() -> User {
    let user = User::new()
        .file("see.sh", SEE)
        .file("check.sh", CHECK)
        .file("kept.txt", "kept\n")
        .file("gone.txt", "gone\n")
        .file("old.txt", "old\nwith\nlines\n")
        .file(".gitignore", "*.log\n");
    user.git("work", &["init", "--quiet", "--initial-branch=main"]);
    for (key, value) in [("user.name", "t"), ("user.email", "t@localhost")] {
        user.git("work", &["config", key, value]);
    }
    user.git("work", &["add", "--all"]);
    user.git("work", &["commit", "--quiet", "-m", "start"]);
    user
}

fn run(user: &User, recipe: &str, flags: &[&str], answers: &[serde_json::Value]) -> Printed {
    let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    std::fs::write(user.path("answers.jsonl"), lines).expect("the answers are written");
    let fixed = ["run", recipe, "--script", "../answers.jsonl"];
    user.towpath(&[&fixed, flags].concat())
}

fn seen(user: &User) -> String {
    let seen = std::fs::read_to_string(user.path("seen")).expect("the check ran");
    seen.trim_end().to_owned()
}

fn assert_committed_is_seen(user: &User, flags: &[&str]) {
    assert_eq!(user.git("work", &["rev-parse", "HEAD^{tree}"]), seen(user), "{flags:?}");
    assert_eq!(user.git("work", &["status", "--porcelain"]), "", "{flags:?}: nothing is left over");
    assert_ne!(user.git("work", &["rev-list", "--count", "HEAD"]), "1", "{flags:?}");
}

#[test]
fn the_default_workflow_merges_exactly_the_tree_that_was_tested() {
    let yes = json!({"approved": true, "blocking": []}).to_string();
    let answers = [
        json!({"match": "Clarify this task", "text": json!({"summary": "s", "acceptance": ["a"], "blocked": ""}).to_string()}),
        json!({"match": "Design this change", "text": "a design"}),
        json!({"match": "Carry out this task", "text": "done", "run": WORK}),
        json!({"match": "Review this change. ", "text": yes}),
        json!({"match": "weaknesses that it introduces", "text": yes}),
    ];
    for flags in [&TASK[..], &[&TASK[..], &["--no-auto-stage"]].concat()] {
        let user = repository();
        run(&user, "default-workflow", flags, &answers).exits(0);
        assert_committed_is_seen(&user, flags);
        assert_eq!(user.git("work", &["symbolic-ref", "--short", "HEAD"]), "main");
    }
}

#[test]
fn the_verification_workflow_commits_exactly_the_tree_that_was_tested() {
    let answers = [
        json!({"match": "Make this small change", "text": "done", "run": WORK}),
        json!({"match": "Check this small change", "text": json!({"approved": true, "blocking": []}).to_string()}),
    ];
    let task = &[&TASK[..], &["--set", "max_files=9"]].concat()[..];
    for flags in [task, &[task, &["--no-auto-stage"]].concat()] {
        let user = repository();
        run(&user, "verification-workflow", flags, &answers).exits(0);
        assert_committed_is_seen(&user, flags);
    }
}

/// What the loops keep is staged, new files too; what made nothing better is gone, new files too.
fn assert_loop_adds_what_it_saw(
    recipe: &str,
    judge: &str,
    answers: impl Fn(&str) -> Vec<serde_json::Value>,
) {
    let better = "mkdir 'new dir' && echo new > 'new dir/a b.txt' && echo fine > kept.txt";
    let worse = "mkdir 'new dir' && echo new > 'new dir/a b.txt' && echo kept >> kept.txt";
    for flags in [&[][..], &["--no-auto-stage"]] {
        let flags = &[&["--set", judge, "--set", "test_command=bash see.sh"], flags].concat()[..];
        let user = repository();
        run(&user, recipe, flags, &answers(better)).exits(0);
        assert_eq!(user.git("work", &["write-tree"]), seen(&user), "{recipe} {flags:?}");
        assert_eq!(
            user.git("work", &["ls-files", "new dir"]),
            "new dir/a b.txt",
            "{recipe} {flags:?}"
        );
        assert_eq!(user.git("work", &["rev-list", "--count", "HEAD"]), "1", "{recipe} {flags:?}");

        let user = repository();
        run(&user, recipe, flags, &answers(worse)).exits(1).reports("not improved");
        assert_eq!(user.git("work", &["status", "--porcelain"]), "", "{recipe} {flags:?}");
        assert!(!user.path("work/new dir").exists(), "{recipe} {flags:?}");
    }
}

#[test]
fn the_quality_audit_adds_exactly_what_was_linted_and_rolls_back_the_rest() {
    let judge = "lint_command=! grep -n kept /dev/null kept.txt";
    assert_loop_adds_what_it_saw("quality-audit-cycle", judge, |work| {
        let plan = json!({"groups": [], "plan": "all"}).to_string();
        vec![
            json!({"match": "Analyze what the linter", "text": plan}),
            json!({"match": "Fix what the linter", "text": "done", "run": work}),
        ]
    });
}

#[test]
fn the_improvement_loop_adds_exactly_what_was_evaluated_and_rolls_back_the_rest() {
    let judge =
        "eval_command=grep -q kept kept.txt && echo '{\"score\": 0}' || echo '{\"score\": 1}'";
    assert_loop_adds_what_it_saw("self-improvement-loop", judge, |work| {
        let cause = json!({"cause": "c", "evidence": [], "question": "q"}).to_string();
        vec![
            json!({"match": "Find out what costs most", "text": cause}),
            json!({"match": "Find out how to remove", "text": json!({"proposal": "p"}).to_string()}),
            json!({"match": "Make this change in the working", "text": "done", "run": work}),
        ]
    });
}
