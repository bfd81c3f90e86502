//! What a case's run did, read from the JSON that it printed and the calls that it noted.

use crate::recipe_steps::is_meant;
use crate::suite::Ending;
use serde_json::Value;
use std::path::Path;
use towpath_core::{Map, StatusKind, StepPath};

#[derive(Debug, Default)]
pub struct RunRecord {
    pub ending: Ending,
    pub exit: i32,
    pub failed_at: Option<String>,
    /// Why a run was refused.
    pub refused: String,
    /// Every step, a call before the steps below it.
    pub steps: Vec<StepRecord>,
    pub context: Map,
    pub calls: Vec<AgentCall>,
    pub end: MachineEnd,
}

#[derive(Debug, Clone, Default)]
pub struct StepRecord {
    /// Without visits.
    pub path: String,
    pub kind: String,
    pub status: String,
    pub started: bool,
    pub tolerated: bool,
    pub reason: String,
    pub error: String,
    pub output: String,
    /// What a state machine's step reported.
    pub outcome: Option<String>,
}

/// How a state machine ended.
#[derive(Debug, Default)]
pub struct MachineEnd {
    pub reason: Option<String>,
    pub description: Option<String>,
    pub restarts: u64,
}

impl StepRecord {
    /// Whether the step belongs into a list of `expect`.
    pub fn is(&self, list: &str) -> bool {
        match list {
            "ran" => self.started,
            "tolerated" => self.tolerated,
            // What a run that waits has not begun yet was not reached either.
            "not_reached" => matches!(self.status.as_str(), "not_reached" | "pending"),
            status => self.status == status,
        }
    }

    /// What it printed, then why it failed.
    pub fn end_text(&self) -> String {
        format!("{}\n{}", self.output.trim(), self.error).trim().to_owned()
    }
}

/// One call of an agent.
#[derive(Debug)]
pub struct AgentCall {
    pub step: String,
    pub prompt: String,
    pub kind: String,
    pub model: Option<String>,
    /// In an earlier conversation.
    pub resumed: bool,
    /// The line of the script that answered.
    pub line: u64,
}

impl RunRecord {
    pub fn read(exit: i32, stdout: &[u8], stderr: &str, calls: &str) -> RunRecord {
        let json: Value = serde_json::from_slice(stdout).unwrap_or_default();
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        let mut record = RunRecord {
            ending: json["status"]
                .as_str()
                .and_then(StatusKind::named)
                .map_or(Ending::Refused, Ending::Ran),
            exit,
            failed_at: text("failed_step").map(plain),
            calls: calls.lines().filter_map(call).collect(),
            ..RunRecord::default()
        };
        if record.ending == Ending::Refused {
            let message = json["error"]["message"].as_str();
            record.refused = message.map_or_else(|| stderr.trim().to_owned(), str::to_owned);
        }
        if let Value::Object(context) = &json["context"] {
            record.context.clone_from(context);
        }
        let end = |key: &str| json["machine"][key].as_str().map(str::to_owned);
        record.end = MachineEnd {
            reason: end("reason"),
            description: end("description"),
            restarts: json["machine"]["restarts"].as_u64().unwrap_or(0),
        };
        collect(&json["steps"], &mut record.steps);
        record
    }

    pub fn step(&self, path: &str) -> Option<&StepRecord> {
        self.steps.iter().find(|step| step.path == path)
    }

    /// The steps that a name means, by path or by id.
    pub fn meant<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a StepRecord> {
        let exact = self.steps.iter().any(|step| step.path == name);
        self.steps.iter().filter(
            move |step| {
                if exact { step.path == name } else { is_meant(name, &step.path) }
            },
        )
    }

    /// The paths of the steps that ran.
    pub fn started(&self) -> Vec<String> {
        self.steps.iter().filter(|step| step.started).map(|step| step.path.clone()).collect()
    }

    /// The transitions that a state machine took: steps with their outcomes.
    pub fn taken(&self) -> Vec<(String, String)> {
        let taken = |step: &StepRecord| Some((step.path.clone(), step.outcome.clone()?));
        self.steps.iter().filter_map(taken).collect()
    }

    /// What went wrong, as the run reported it.
    pub fn error(&self) -> &str {
        let failed = self.failed_at.as_deref().and_then(|path| self.step(path));
        failed.map_or(&self.refused, |step| &step.error)
    }
}

fn plain(path: String) -> String {
    StepPath::new(path).without_visits()
}

fn collect(steps: &Value, into: &mut Vec<StepRecord>) {
    for step in steps.as_array().into_iter().flatten() {
        let text = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
        let below = step["children"].as_array().is_some_and(|list| !list.is_empty());
        let (status, attempts) = (text("status"), step["attempts"].as_u64().unwrap_or(0));
        let settled = !matches!(status.as_str(), "skipped" | "not_reached" | "pending");
        into.push(StepRecord {
            path: plain(text("path")),
            kind: text("type"),
            started: settled && (attempts > 0 || below || status == "completed"),
            tolerated: step["tolerated"].as_bool().unwrap_or(false),
            reason: text("skip_reason"),
            error: text("error"),
            output: whole_output(step),
            outcome: step["outcome"].as_str().map(str::to_owned),
            status,
        });
        collect(&step["children"], into);
    }
}

/// The whole of a long output is in a file of the run.
fn whole_output(step: &Value) -> String {
    let file = step["output_file"].as_str().map(Path::new);
    match file.and_then(|file| std::fs::read(file).ok()) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => towpath_core::text_of(&step["output"]),
    }
}

fn call(line: &str) -> Option<AgentCall> {
    let json: Value = serde_json::from_str(line).ok()?;
    let footer = towpath_run::NON_INTERACTIVE_FOOTER;
    let prompt = json["prompt"].as_str()?;
    Some(AgentCall {
        step: plain(json["step"].as_str()?.to_owned()),
        // Every prompt ends with it; no case is about it.
        prompt: prompt.strip_suffix(footer).unwrap_or(prompt).trim_end().to_owned(),
        kind: json["kind"].as_str().unwrap_or_default().to_owned(),
        model: json["model"].as_str().map(str::to_owned),
        resumed: json["how"] == "resume",
        line: json["line"].as_u64().unwrap_or(0),
    })
}
