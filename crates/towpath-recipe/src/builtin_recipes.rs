//! The recipes that come with the program: the demo, the state machines of `recipes/machines/` with the
//! steps they share, and the recipes of `recipes/workflows/`. A *part* is called by others;
//! it can be run, but it is not offered.

macro_rules! bundled {
    ($($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../workflows/", $name, ".yaml")),
        )),*]
    };
}

static DEMO: &[(&str, &str)] = &[
    ("demo", include_str!("../demo/demo.yaml")),
    ("demo-checks", include_str!("../demo/demo-checks.yaml")),
];

/// In the order they are listed.
static BUNDLE: &[(&str, &str)] = bundled![
    "default-workflow",
    "verification-workflow",
    "qa-workflow",
    "investigation-workflow",
    "guide",
    "quality-audit-cycle",
    "self-improvement-loop",
    "domain-agent-eval",
    "long-horizon-memory-eval",
    "sdk-comparison",
    "consensus-workflow",
    "debate-workflow",
    "n-version-workflow",
    "cascade-workflow",
    "smart-orchestrator",
    "auto-workflow",
    "oxidizer-workflow",
];

static PARTS: &[(&str, &str)] = bundled![
    "auto-workflow-turn",
    "cascade-level",
    "check-citations",
    "commit-verified",
    "consensus-vote",
    "count-lint-problems",
    "find-lint-command",
    "find-test-command",
    "fix-until-green",
    "n-version-candidate",
    "not-silenced",
    "oxidizer-audit",
    "oxidizer-parity",
    "oxidizer-port-module",
    "quality-audit-round",
    "record-tree",
    "restore-tree",
    "review-until-approved",
    "run-eval",
    "sdk-eval-levels",
    "self-improvement-round",
    "smart-orchestrator-round",
    "stage-verified",
    "supported-report",
    "tree-fingerprint",
];

macro_rules! library {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../machines/", $path, ".yaml")))),*]
    };
}

/// In the order they are listed.
static MACHINES: &[(&str, &str)] = library![
    "review-and-commit",
    "document-design",
    "break-down-tasks",
    "implement-and-review",
    "implement-and-review-all",
    "rebase",
    "retrospective",
    "refine-design",
];

/// The files that the machines include.
static MACHINE_FILES: &[(&str, &str)] =
    library!["shared/design-steps", "shared/implement-steps", "shared/review-commit-steps",];

/// The answers of the scripted agent in the demo, one JSON value per line.
pub const DEMO_ANSWERS: &str = include_str!("../demo/demo-answers.jsonl");

/// The text of a built-in recipe.
pub fn builtin(name: &str) -> Option<&'static str> {
    let all = DEMO.iter().chain(MACHINES).chain(BUNDLE).chain(PARTS);
    all.into_iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The built-in recipes that are offered.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    DEMO.iter().chain(MACHINES).chain(BUNDLE).map(|(name, _)| *name)
}

/// All of them, those that others call too.
pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
    builtin_names().chain(PARTS.iter().map(|(name, _)| *name))
}

/// A file that built-in machines include, by its path.
pub(crate) fn builtin_file(path: &str) -> Option<&'static str> {
    let stem = path.strip_suffix(".yaml")?;
    MACHINE_FILES.iter().find(|(known, _)| *known == stem).map(|(_, text)| *text)
}

pub(crate) fn is_builtin_machine(name: &str) -> bool {
    MACHINES.iter().any(|(known, _)| *known == name)
}
