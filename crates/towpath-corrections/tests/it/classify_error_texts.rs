//! Error texts of real programs, recorded with `COLUMNS=80` and without colours: for each an unknown
//! command, subcommand or flag, or a failure that is no mistake.

use serde::Deserialize;
use std::collections::BTreeSet;
use towpath_corrections::failure::{Mistake, classified, classify_tool, wordings};

#[derive(Debug, Clone, Deserialize)]
pub struct Sample {
    pub program: String,
    pub version: String,
    pub command: String,
    pub exit_code: i64,
    pub text: String,
    /// None where the command is right and fails for another reason.
    pub mistake: Option<Mistake>,
    /// What an agent would run instead.
    pub fix: Option<String>,
}

/// The text does not name what is wrong.
const NOT_NAMED: &[&str] = &["openssl x509 -infile x", "aws s3 list", "php8.2 --exec 1"];

pub fn samples() -> Vec<Sample> {
    let text = include_str!("../samples/error_texts.jsonl");
    text.lines().map(|line| serde_json::from_str(line).expect("a sample")).collect()
}

#[test]
fn every_recorded_text_is_classified() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let found = classified(&sample.command, Some(sample.exit_code), &sample.text);
        let named = !NOT_NAMED.contains(&sample.command.as_str());
        let expected = sample.mistake.filter(|_| named);
        let found = found.map(|(mistake, parser)| (Some(mistake), parser));
        let (found, parser) = found.unwrap_or((None, "none"));
        if found != expected {
            wrong.push(format!("{}: {expected:?}, not {found:?} ({parser})", sample.command));
        }
    }
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_wording_has_a_recorded_sample() {
    let mut seen = BTreeSet::new();
    for sample in samples() {
        let found = classified(&sample.command, Some(sample.exit_code), &sample.text);
        seen.extend(found.map(|(mistake, wording)| (wording, mistake.kind())));
    }
    // Hosts' words for a tool are not printed by a program.
    let missing: Vec<_> = wordings().filter(|row| row.1 != "tool" && !seen.contains(row)).collect();
    assert!(missing.is_empty(), "no sample: {missing:?}");
}

#[test]
fn an_unknown_tool_is_what_the_host_reports() {
    for (host, error) in [
        (
            "claude-code",
            "<tool_use_error>Error: No such tool available: read_file</tool_use_error>",
        ),
        ("codex", "unsupported call: read_file"),
        (
            "gemini",
            "Tool \"read_file\" not found. Did you mean one of: \"write_file\", \"replace\"?",
        ),
        (
            "copilot",
            "Tool 'read_file' does not exist. Available tools that can be called are bash.",
        ),
        (
            "opencode",
            "The arguments provided to the tool are invalid: Model tried to call unavailable tool \
             'read_file'. Available tools: bash, edit.",
        ),
        ("opencode", "Model tried to call unavailable tool 'read_file'. Available tools: read."),
    ] {
        let tool = Mistake::Tool { host: host.to_owned(), tool: "read_file".to_owned() };
        assert_eq!(classify_tool(host, "read_file", error), Some(tool));
        assert_eq!(classify_tool(host, "Read", error), None);
    }
    assert_eq!(classify_tool("claude-code", "Read", "File does not exist."), None);
}

#[test]
fn the_samples_are_of_forty_programs_and_of_no_machine() {
    let samples = samples();
    let mistaken = samples.iter().filter(|s| s.mistake.is_some());
    let programs: BTreeSet<&str> = mistaken.map(|s| s.program.as_str()).collect();
    assert!(programs.len() >= 40, "{}", programs.len());
    for sample in &samples {
        assert!(!sample.version.is_empty(), "{}", sample.program);
        for path in ["/root/", "/tmp/"] {
            assert!(!sample.text.contains(path), "{}: {path}", sample.command);
        }
    }
}
