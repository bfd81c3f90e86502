//! Verdicts and installs as a user sees them, and as JSON: the source, the verdict with what it rests on,
//! what was repaired, which sandbox was used, and how to put `bin/` on PATH.

use super::bin_directory::path_line;
use super::install_tool::{InstallOutcome, Installed, SystemProgram};
use super::tool_session::ToolSession;
use crate::terminal::format::{clean, duration};
use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::shown_path::shown_path;
use serde::Serialize;
use serde_json::{Value, json};
use towpath_tool::attestation::Attestation;
use towpath_tool::install::InstalledTool;
use towpath_tool::self_repair::{NotVerified, Proof};
use towpath_tool::verification::SandboxNote;
use towpath_tool::{CheckOutcome, Evidence, ToolRecipe, ToolVerdict, Verdict, VerifySection};

/// The word that JSON has for a value.
pub fn word(value: impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// The sign before a tool: it works, or it does not.
pub fn sign(screen: &Screen, works: bool) -> String {
    match works {
        true => screen.paint(Tint::Good, "✓"),
        false => screen.paint(Tint::Bad, "✗"),
    }
}

pub fn shown_time(took_ms: u128) -> String {
    duration(i64::try_from(took_ms).unwrap_or(i64::MAX))
}

/// Gives a JSON object the fields of another one.
pub fn extend(value: &mut Value, fields: &Value) {
    for (name, field) in fields.as_object().into_iter().flatten() {
        value[name] = field.clone();
    }
}

/// Prints a line to which the user should pay attention.
pub fn attention(screen: &Screen, text: &str) {
    out::line(format!("  {}", screen.paint(Tint::Attention, &clean(text))));
}

/// Limits that the sandbox could not enforce.
pub fn not_enforced(sandbox: &SandboxNote) -> Option<String> {
    let list = sandbox.not_enforced.join(", ");
    (!list.is_empty()).then(|| format!("the sandbox ({}) does not limit: {list}", sandbox.kind))
}

pub fn evidence_text(evidence: &Evidence) -> &str {
    evidence.text.as_deref().unwrap_or("nothing was printed")
}

/// A verdict on a program.
#[derive(Debug)]
pub struct VerdictLines<'a> {
    pub name: &'a str,
    pub verdict: Verdict,
    pub version: Option<&'a str>,
    /// The command or the file that decided.
    pub because: String,
    pub evidence: &'a Evidence,
    pub warnings: &'a [String],
    pub check: Option<&'a VerifySection>,
}

impl VerdictLines<'_> {
    pub fn print(&self, screen: &Screen) {
        let tint = if self.verdict.works() { Tint::Good } else { Tint::Bad };
        let word = screen.paint(tint, self.verdict.as_str());
        let version = self.version.map_or(String::new(), |version| format!(" {version}"));
        out::line(format!("{}: {word}{}", clean(self.name), clean(&version)));
        let (because, text) = (&self.because, evidence_text(self.evidence));
        out::line(clean(&format!("  because of {because}: {text}")));
        for warning in self.warnings {
            attention(screen, &format!("warning: {warning}"));
        }
        if let Some(check) = self.check {
            let VerifySection { command, exit_code, .. } = check;
            let pattern = check.effective_pattern();
            let line = format!("  check: {command} prints `{pattern}` with exit code {exit_code}");
            out::line(clean(&line));
        }
    }
}

/// Prints how an install ended.
pub fn print(session: &ToolSession<'_>, outcome: &InstallOutcome) {
    let screen = Screen::new(session.env);
    match outcome {
        InstallOutcome::Already(tool) => {
            out::line(format!("{} {} is installed", tool.record.tool, tool.record.version));
        }
        InstallOutcome::Installed(installed) => print_installed(session, &screen, installed),
        InstallOutcome::NotVerified { recipe, why } => print_not_verified(&screen, recipe, why),
        InstallOutcome::System(found) => print_system(&screen, found),
    }
}

fn print_system(screen: &Screen, found: &SystemProgram) {
    let ToolVerdict { verdict, evidence, version_found, .. } = &found.report.verdict;
    let (name, path) = (clean(&found.report.name), found.program.display());
    let sign = sign(screen, verdict.works());
    if verdict.works() {
        let version = version_found.as_deref().map_or(String::new(), |v| format!(" {}", clean(v)));
        out::line(format!("{sign} {name}{version} of the system works: {path}"));
    } else {
        let why = clean(&format!("{} ({})", verdict.as_str(), evidence_text(evidence)));
        out::line(format!("{sign} {name} of the system is not verified: {path}: {why}"));
        out::line(format!("  to install another one: towpath tool create {name} --from SOURCE"));
    }
    if let Some(note) = not_enforced(&found.sandbox) {
        attention(screen, &note);
    }
}

fn print_installed(session: &ToolSession<'_>, screen: &Screen, installed: &Installed) {
    let Installed { tool, not_linked, proof, took, earlier_origin } = installed;
    let record = &tool.record;
    out::line(proof_line(proof));
    let origin = record.attestation.as_ref().and_then(Attestation::origin);
    if let Some(origin) = origin {
        out::line(clean(&format!("  attested  built from {origin}")));
    }
    if let Some(earlier) = earlier_origin.as_deref().filter(|earlier| Some(*earlier) != origin) {
        let now = origin.map_or("this one has no attestation", |_| "this one is not");
        attention(screen, &format!("an earlier version was built from {earlier}, {now}"));
    }
    for note in notes(installed) {
        attention(screen, &note);
    }
    let main = proof.recipe.main_binary();
    let linked = record.linked.iter().any(|name| name == main)
        && !not_linked.iter().any(|not| not.program == main);
    let bin = session.directories.bin();
    let link = if linked { bin.join(main) } else { tool.directory.join("bin").join(main) };
    let (done, took) = (sign(screen, true), shown_time(took.as_millis()));
    let path = shown_path(&link, session.env);
    out::line(format!("{done} {} {} installed in {took} · {path}", record.tool, record.version));
    if let Some((file, line)) = path_line(session.env, &bin) {
        let bin = shown_path(&bin, session.env);
        out::note_once(format!("{bin} is not on PATH; add to {file}: {line}"));
    }
}

fn proof_line(proof: &Proof) -> String {
    let command = &proof.recipe.verify.command;
    let found = match &proof.version_found {
        Some(version) => format!("prints {version}"),
        None => format!("prints `{}`", proof.recipe.verify.effective_pattern()),
    };
    let verdict = match proof.verdict {
        Verdict::WorksByVersion => "works, by its version",
        Verdict::WorksByHelp => "works, by its help",
        Verdict::Alive => "answers, shows neither version nor help",
        other => other.as_str(),
    };
    clean(&format!("  verify    `{command}` {found} · {verdict}"))
}

/// Lines for the user beside the verdict.
fn notes(Installed { tool, not_linked, proof, .. }: &Installed) -> Vec<String> {
    let mut notes = Vec::new();
    if let CheckOutcome::Passed { warning: Some(warning), .. } = &proof.check.outcome {
        notes.push(warning.to_string());
    }
    if let Some(repair) = &proof.repair {
        let to = match repair.original == repair.repaired {
            true => format!("exit code {}", repair.exit_code),
            false => format!("`{}`", repair.repaired),
        };
        let method = word(repair.method);
        notes.push(format!("check repaired ({method}): `{}` → {to}", repair.original));
    }
    for report in proof.reports.iter().filter(|report| !report.verdict.verdict.works()) {
        let (verdict, text) = (report.verdict.verdict, evidence_text(&report.verdict.evidence));
        notes.push(format!("{}: {} ({text})", report.name, verdict.as_str()));
    }
    notes.extend(not_linked.iter().map(ToString::to_string));
    let record = &tool.record;
    let others = record.binaries.iter().map(|binary| binary.name.as_str());
    let others: Vec<&str> =
        others.filter(|name| !record.linked.iter().any(|linked| linked == name)).collect();
    if !others.is_empty() && !record.linked.is_empty() {
        notes.push(format!("also has {}: --bin NAME links one", others.join(", ")));
    }
    notes.extend(not_enforced(&proof.sandbox));
    notes
}

fn print_not_verified(screen: &Screen, recipe: &ToolRecipe, why: &NotVerified) {
    for probe in why.reports.iter().flat_map(|report| &report.probes) {
        let (command, judgement) = (&probe.observation.command, &probe.judgement);
        let (verdict, text) = (judgement.verdict.as_str(), evidence_text(&judgement.evidence));
        out::line(clean(&format!("  `{command}`: {verdict} ({text})")));
    }
    let failed = sign(screen, false);
    let (name, verdict) = (&recipe.metadata.name, why.verdict.as_str());
    let failure = clean(&why.failure.to_string());
    out::line(format!("{failed} {name} is not verified: {verdict}; {failure}"));
    let unasked = (why.model.is_none() && why.verdict == Verdict::Unknown)
        .then(|| "no model was asked; --model allows it".to_owned());
    let lines = [not_enforced(&why.sandbox), why.model.clone(), unasked];
    for line in lines.into_iter().flatten().chain(["nothing was installed".to_owned()]) {
        out::line(clean(&format!("  {line}")));
    }
}

pub fn as_json(outcome: &InstallOutcome) -> Value {
    let mut value = outcome.install().map_or_else(|| json!({}), record_json);
    let more = match outcome {
        InstallOutcome::Already(_) => json!({ "status": "already-installed" }),
        InstallOutcome::Installed(installed) => {
            let Installed { not_linked, proof, took, .. } = &**installed;
            if let CheckOutcome::Passed { warning: Some(warning), .. } = &proof.check.outcome {
                value["warning"] = json!(warning);
            }
            json!({
                "status": "installed",
                "verdict": proof.verdict,
                "version_found": proof.version_found,
                "programs": proof.reports,
                "not_linked": not_linked,
                "took_ms": took.as_millis() as u64,
            })
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
        InstallOutcome::System(found) => json!({
            "status": if outcome.works() { "system" } else { "not-verified" },
            "tool": found.report.name,
            "from": "system",
            "program": found.program.display().to_string(),
            "version": found.report.verdict.version_found,
            "verdict": found.report.verdict.verdict,
            "programs": [found.report],
            "sandbox": found.sandbox,
        }),
    };
    extend(&mut value, &more);
    value
}

/// The record of an install. `repair_metadata` is absent where nothing was repaired.
pub fn record_json(tool: &InstalledTool) -> Value {
    let mut value = json!(tool.record);
    value["directory"] = json!(tool.directory.display().to_string());
    value.as_object_mut().and_then(|map| map.remove("schema"));
    value
}
