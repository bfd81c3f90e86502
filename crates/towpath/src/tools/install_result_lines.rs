//! What a user sees of an install, and the same as JSON: the source, the verdict with what it rests on,
//! what was repaired, which sandbox was used, and how to put `bin/` on PATH.

use super::install_tool::{InstallOutcome, Installed};
use super::sandbox_lines::not_enforced;
use super::tool_session::ToolSession;
use crate::environment::Environment;
use crate::exit_codes_and_errors::Exit;
use crate::terminal::format::{clean, duration};
use crate::terminal::out;
use crate::terminal::shown_path::shown_path;
use crate::terminal::terminal_width_and_colours::{Screen, Tint};
use serde_json::{Value, json};
use std::path::Path;
use towpath_tool::install::{InstallRecord, Published};
use towpath_tool::self_repair::{NotVerified, Proof};
use towpath_tool::verification::ProbeReport;
use towpath_tool::{CheckOutcome, ToolRecipe, Verdict};

/// Prints how an install ended. Returns the exit code.
pub fn print(session: &ToolSession<'_>, outcome: &InstallOutcome) -> Exit {
    let screen = Screen::new(session.env);
    match outcome {
        InstallOutcome::Already(tool) => {
            let record = &tool.record;
            out::line(format!("{} {} is installed", record.tool, record.version));
            Exit::Done
        }
        InstallOutcome::Installed(installed) => {
            print_installed(session, &screen, installed);
            Exit::Done
        }
        InstallOutcome::NotVerified { recipe, why } => {
            print_not_verified(&screen, recipe, why);
            Exit::Failed
        }
    }
}

fn print_installed(session: &ToolSession<'_>, screen: &Screen, installed: &Installed) {
    let record = &installed.published.record;
    let proof = &installed.proof;
    out::line(proof_line(proof));
    for line in notes(proof, &installed.published) {
        out::line(format!("  {}", screen.paint(Tint::Attention, &clean(&line))));
    }
    let main = proof.recipe.main_binary();
    let linked = record.linked.iter().any(|name| name == main)
        && !installed.published.not_linked.iter().any(|not| not.program == main);
    let link = match linked {
        true => session.directories.bin().join(main),
        false => installed.published.directory.join("bin").join(main),
    };
    let done = screen.paint(Tint::Good, "✓");
    let took = duration(i64::try_from(installed.took.as_millis()).unwrap_or(i64::MAX));
    let path = shown_path(&link, session.env);
    out::line(format!("{done} {} {} installed in {took} · {path}", record.tool, record.version));
}

fn proof_line(proof: &Proof) -> String {
    let command = &proof.recipe.verify.command;
    let found = match &proof.version_found {
        Some(version) => format!("prints {version}"),
        None => format!("prints `{}`", proof.recipe.verify.effective_pattern()),
    };
    clean(&format!("  verify    `{command}` {found} · {}", verdict_words(proof.verdict)))
}

fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::WorksByVersion => "works, by its version",
        Verdict::WorksByHelp => "works, by its help",
        Verdict::Alive => "answers, shows neither version nor help",
        other => other.as_str(),
    }
}

/// What a user should know beside the verdict.
fn notes(proof: &Proof, published: &Published) -> Vec<String> {
    let mut notes = Vec::new();
    if let CheckOutcome::Passed { warning: Some(warning), .. } = &proof.check.outcome {
        notes.push(warning.to_string());
    }
    if let Some(repair) = &proof.repair {
        let RepairMethodWord(method) = repair.method.into();
        let to = match repair.original == repair.repaired {
            true => format!("exit code {}", repair.exit_code),
            false => format!("`{}`", repair.repaired),
        };
        notes.push(format!("check repaired ({method}): `{}` → {to}", repair.original));
    }
    for report in proof.reports.iter().filter(|report| !report.verdict.verdict.works()) {
        notes.push(format!("{}: {}", report.name, because(report)));
    }
    notes.extend(published.not_linked.iter().map(ToString::to_string));
    let others = published.record.binaries.iter().map(|binary| &binary.name);
    let others: Vec<&str> =
        others.filter(|name| !published.record.linked.contains(name)).map(String::as_str).collect();
    if !others.is_empty() && !published.record.linked.is_empty() {
        notes.push(format!("also has {}: --bin NAME links one", others.join(", ")));
    }
    notes.extend(not_enforced(&proof.sandbox));
    notes
}

struct RepairMethodWord(String);

impl From<towpath_tool::RepairMethod> for RepairMethodWord {
    fn from(method: towpath_tool::RepairMethod) -> RepairMethodWord {
        let word = serde_json::to_value(method).unwrap_or_default();
        RepairMethodWord(word.as_str().unwrap_or_default().to_owned())
    }
}

/// The verdict on a program and what it rests on.
pub fn because(report: &ProbeReport) -> String {
    let verdict = &report.verdict;
    let text = verdict.evidence.text.as_deref().unwrap_or("nothing was printed");
    clean(&format!("{} ({text})", verdict.verdict.as_str()))
}

fn print_not_verified(screen: &Screen, recipe: &ToolRecipe, why: &NotVerified) {
    for report in &why.reports {
        for probe in &report.probes {
            let verdict = probe.judgement.verdict.as_str();
            let text = probe.judgement.evidence.text.as_deref().unwrap_or("nothing was printed");
            out::line(clean(&format!("  `{}`: {verdict} ({text})", probe.observation.command)));
        }
    }
    let failed = screen.paint(Tint::Bad, "✗");
    let name = &recipe.metadata.name;
    let verdict = why.verdict.as_str();
    let failure = clean(&why.failure.to_string());
    out::line(format!("{failed} {name} is not verified: {verdict}; {failure}"));
    if let Some(note) = not_enforced(&why.sandbox) {
        out::line(format!("  {note}"));
    }
    match (&why.model, why.verdict) {
        (Some(model), _) => out::line(clean(&format!("  {model}"))),
        (None, Verdict::Unknown) => {
            out::line("  no model was asked; --model allows it");
        }
        _ => {}
    }
    out::line("  nothing was installed");
}

pub fn as_json(outcome: &InstallOutcome) -> Value {
    match outcome {
        InstallOutcome::Already(tool) => {
            let mut value = record_json(&tool.record, &tool.directory);
            value["status"] = json!("already-installed");
            value
        }
        InstallOutcome::Installed(installed) => {
            let Installed { published, proof, took } = &**installed;
            let mut value = record_json(&published.record, &published.directory);
            value["status"] = json!("installed");
            value["verdict"] = json!(proof.verdict);
            value["version_found"] = json!(proof.version_found);
            value["programs"] = json!(proof.reports);
            value["not_linked"] = json!(published.not_linked);
            value["took_ms"] = json!(took.as_millis() as u64);
            if let CheckOutcome::Passed { warning: Some(warning), .. } = &proof.check.outcome {
                value["warning"] = json!(warning);
            }
            value
        }
        InstallOutcome::NotVerified { recipe, why } => json!({
            "status": "not-verified",
            "tool": recipe.metadata.name,
            "verdict": why.verdict,
            "failure": why.failure.to_string(),
            "verify": recipe.verify,
            "programs": why.reports,
            "sandbox": why.sandbox,
            "model": why.model,
        }),
    }
}

/// The record of an install. `repair_metadata` is absent where nothing was repaired.
pub fn record_json(record: &InstallRecord, directory: &Path) -> Value {
    let mut value = serde_json::to_value(record).expect("a record can be written");
    if let Some(map) = value.as_object_mut() {
        map.remove("schema");
        map.insert("directory".to_owned(), json!(directory.display().to_string()));
    }
    value
}

/// What to write into which file of the user's shell when `bin/` is not on PATH.
pub fn path_line(env: &Environment, bin: &Path) -> Option<(&'static str, String)> {
    if env.paths("PATH").iter().any(|directory| directory == bin) {
        return None;
    }
    let shell = env.text("SHELL").unwrap_or_default();
    let quoted = towpath_shell::bash::quote(&bin.display().to_string());
    Some(match shell.rsplit('/').next().unwrap_or_default() {
        "fish" => ("~/.config/fish/config.fish", format!("fish_add_path {quoted}")),
        "zsh" => ("~/.zshrc", format!("export PATH={quoted}:\"$PATH\"")),
        _ => ("~/.bashrc", format!("export PATH={quoted}:\"$PATH\"")),
    })
}

/// After installs: how to put `bin/` on PATH, if it is not.
pub fn print_path_hint<'o>(
    session: &ToolSession<'_>,
    outcomes: impl IntoIterator<Item = &'o InstallOutcome>,
) {
    let installed = |outcome: &InstallOutcome| matches!(outcome, InstallOutcome::Installed(_));
    let bin = session.directories.bin();
    if let Some((file, line)) = path_line(session.env, &bin)
        && outcomes.into_iter().any(installed)
    {
        let bin = shown_path(&bin, session.env);
        out::note(format!("{bin} is not on PATH; add to {file}: {line}"));
    }
}
