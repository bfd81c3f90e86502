//! What an agent did, one line for each tool use and each sentence, from what its program printed.
//! The program's backend reads it, live or recorded. The last message is kept back: when it is the
//! answer, the answer follows and would repeat it.

use crate::terminal::format::clean;
use crate::terminal::report::{fitted, relative};
use jiff::tz::TimeZone;
use std::path::{Path, PathBuf};
use towpath_agent::{Reader, Sign, backend_row};

pub struct Transcript {
    reader: Box<dyn Reader>,
    /// Where the run works: paths below it are shown without it.
    directory: PathBuf,
    /// How wide a terminal is that shows it.
    columns: Option<usize>,
    partial: Vec<u8>,
    pending: Vec<String>,
}

impl Transcript {
    /// None where it is not known whose output it is, or that program prints its answer only.
    pub fn of(
        backend: Option<&str>,
        directory: &Path,
        columns: Option<usize>,
    ) -> Option<Transcript> {
        let make = backend_row(backend?)?.make?;
        // Only its reader is used: nothing is started.
        let reader = make(PathBuf::new(), TimeZone::system()).reader();
        let directory = directory.to_owned();
        Some(Transcript { reader, directory, columns, partial: Vec::new(), pending: Vec::new() })
    }

    /// Takes what the program printed next, and gives the lines to show.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut shown = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.read(line.trim_ascii_end(), &mut shown);
            }
        }
        shown
    }

    /// The call is over: what is left to show before its answer.
    pub fn finish(&mut self, answer: &str) -> Vec<String> {
        let mut shown = Vec::new();
        let line = std::mem::take(&mut self.partial);
        self.read(&line, &mut shown);
        let answer = sentences(answer);
        let last = self.pending.iter().rev().zip(answer.iter().rev());
        let repeated = last.take_while(|(pending, answered)| pending == answered).count();
        self.pending.truncate(self.pending.len() - repeated);
        shown.append(&mut self.pending);
        shown
    }

    /// What was kept back, for a reader that does not wait for what follows.
    pub fn release(&mut self) -> Vec<String> {
        std::mem::take(&mut self.pending)
    }

    fn read(&mut self, line: &[u8], shown: &mut Vec<String>) {
        for sign in self.reader.line(line) {
            match sign {
                Sign::Doing(what) | Sign::Retrying(what) => {
                    shown.append(&mut self.pending);
                    let line = format!("  {}", clean(&relative(&what, &self.directory)));
                    shown.push(self.columns.map_or(line.clone(), |most| fitted(&line, most)));
                }
                Sign::Message(text) => {
                    shown.append(&mut self.pending);
                    self.pending = sentences(&text);
                }
                Sign::Writing(_) | Sign::Session(_) | Sign::Complete => {}
            }
        }
    }
}

/// The lines of a message that say something.
fn sentences(text: &str) -> Vec<String> {
    text.lines().map(|line| clean(line.trim_end())).filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDED: [(&str, &str, &str); 5] = [
        (
            "codex",
            include_str!("../../../../towpath-agent/tests/recorded/codex.jsonl"),
            "Bash echo hi; exit 3",
        ),
        (
            "github-copilot",
            include_str!("../../../../towpath-agent/tests/recorded/copilot.jsonl"),
            "bash echo hi > made",
        ),
        (
            "cursor",
            include_str!("../../../../towpath-agent/tests/recorded/cursor.jsonl"),
            "shell cargo tree",
        ),
        (
            "gemini",
            include_str!("../../../../towpath-agent/tests/recorded/gemini.jsonl"),
            "run_shell_command echo made > here",
        ),
        (
            "opencode",
            include_str!("../../../../towpath-agent/tests/recorded/opencode.jsonl"),
            "bash echo hi > made",
        ),
    ];

    fn transcript(backend: &str) -> Transcript {
        Transcript::of(Some(backend), Path::new("/w"), None).expect("a program that reports")
    }

    #[test]
    fn every_backend_reports_its_tool_uses_and_sentences_but_not_the_answer_twice() {
        for (backend, output, tool) in RECORDED {
            let mut transcript = transcript(backend);
            let mut shown: Vec<String> = Vec::new();
            // However the output arrives.
            for piece in output.as_bytes().chunks(7) {
                shown.extend(transcript.take(piece));
            }
            shown.extend(transcript.finish("Hello.\n\n{\"outcome\": \"ok\"}"));
            shown.retain(|line| !line.contains("try 2") && !line.contains("Reconnecting"));
            let said = if backend == "cursor" { "I'll read it." } else { "I will look." };
            assert_eq!(shown, [said.to_owned(), format!("  {tool}")], "{backend}");
        }
    }

    #[test]
    fn claude_code_with_paths_below_the_directory_and_no_control_characters() {
        let mut transcript = transcript("claude-code");
        let line = |block: serde_json::Value| {
            let event = serde_json::json!({"type": "assistant", "message": {"content": [block]}});
            format!("{event}\n").into_bytes()
        };
        let text = |text: &str| line(serde_json::json!({"type": "text", "text": text}));
        let tool = serde_json::json!({"type": "tool_use", "name": "Read",
            "input": {"file_path": "/w/src/lib.rs"}});
        assert!(transcript.take(&text("One.\n\nTwo\u{1b}[2J.")).is_empty());
        assert_eq!(transcript.take(&line(tool)), ["One.", "Two\u{fffd}[2J.", "  Read src/lib.rs"]);
        assert!(transcript.take(&text("Three.")).is_empty());
        assert_eq!(transcript.take(&text("Four.\nFive.")), ["Three."]);
        assert_eq!(transcript.finish("Five."), ["Four."]);
    }

    #[test]
    fn the_scripted_agent_and_an_unknown_one_only_have_an_answer() {
        for backend in [None, Some("scripted"), Some("nobody")] {
            assert!(Transcript::of(backend, Path::new("/w"), None).is_none(), "{backend:?}");
        }
    }
}
