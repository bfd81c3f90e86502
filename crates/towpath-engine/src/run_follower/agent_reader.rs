//! What an agent's program printed, read by its backend, line by line, live or recorded.

use super::JobNews;
use jiff::tz::TimeZone;
use std::fmt;
use std::path::PathBuf;
use towpath_executor::{Reader, backend_row};

pub(super) struct AgentReader {
    reader: Box<dyn Reader>,
    partial: Vec<u8>,
}

impl fmt::Debug for AgentReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentReader").field("partial", &self.partial.len()).finish_non_exhaustive()
    }
}

/// Whether a backend's program reports what its agent does, and not its answer alone.
pub fn is_reported(backend: &str) -> bool {
    backend_row(backend).is_some_and(|row| row.make.is_some())
}

impl AgentReader {
    /// None where it is not known whose output it is, or that program prints its answer only.
    pub fn of(backend: Option<&str>, zone: &TimeZone) -> Option<AgentReader> {
        let make = backend_row(backend?)?.make?;
        // Only its reader is used: nothing is started.
        let reader = make(PathBuf::new(), zone.clone()).reader();
        Some(AgentReader { reader, partial: Vec::new() })
    }

    /// Takes what the program printed next.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<JobNews<'static>> {
        let mut news = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.read(line.trim_ascii_end(), &mut news);
            }
        }
        news
    }

    /// The call is over: what a last line without its end means.
    pub fn finish(&mut self) -> Vec<JobNews<'static>> {
        let mut news = Vec::new();
        let line = std::mem::take(&mut self.partial);
        self.read(&line, &mut news);
        news
    }

    fn read(&mut self, line: &[u8], news: &mut Vec<JobNews<'static>>) {
        news.extend(self.reader.line(line).into_iter().map(JobNews::Agent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use towpath_executor::CallProgress;

    macro_rules! recorded {
        ($name:literal) => {
            include_str!(concat!("../../../towpath-agent/tests/recorded/", $name, ".jsonl"))
        };
    }

    const RECORDED: [(&str, &str, &str); 5] = [
        ("codex", recorded!("codex"), "Bash echo hi; exit 3"),
        ("github-copilot", recorded!("copilot"), "bash echo hi > made"),
        ("cursor", recorded!("cursor"), "shell cargo tree"),
        ("gemini", recorded!("gemini"), "run_shell_command echo made > here"),
        ("opencode", recorded!("opencode"), "bash echo hi > made"),
    ];

    fn reader(backend: &str) -> AgentReader {
        AgentReader::of(Some(backend), &TimeZone::UTC).expect("a program that reports")
    }

    /// The lines of messages, and tool uses after a dash.
    fn lines(news: Vec<JobNews<'_>>) -> Vec<String> {
        let mut lines = Vec::new();
        for news in news {
            match news {
                JobNews::Agent(CallProgress::Doing(what) | CallProgress::Retrying(what)) => {
                    lines.push(format!("- {what}"));
                }
                JobNews::Agent(CallProgress::Message(text)) => {
                    lines.extend(text.lines().filter(|l| !l.is_empty()).map(str::to_owned));
                }
                JobNews::Agent(_) => {}
                other => panic!("{other:?}"),
            }
        }
        lines
    }

    #[test]
    fn every_backend_reports_its_tool_uses_and_messages() {
        for (backend, output, tool) in RECORDED {
            let mut reader = reader(backend);
            let mut read: Vec<String> = Vec::new();
            // However the output arrives.
            for piece in output.as_bytes().chunks(7) {
                read.extend(lines(reader.take(piece)));
            }
            read.extend(lines(reader.finish()));
            read.retain(|line| !line.contains("try 2") && !line.contains("Reconnecting"));
            let message = if backend == "cursor" { "I'll read it." } else { "I will look." };
            let answer = ["Hello.", "{\"outcome\": \"ok\"}"];
            let tool = format!("- {tool}");
            assert_eq!(read, [message, tool.as_str(), answer[0], answer[1]], "{backend}");
        }
    }

    #[test]
    fn claude_code_reports_in_the_order_of_its_lines() {
        let mut reader = reader("claude-code");
        let line = |block: serde_json::Value| {
            let event = serde_json::json!({"type": "assistant", "message": {"content": [block]}});
            format!("{event}\n").into_bytes()
        };
        let text = |text: &str| line(serde_json::json!({"type": "text", "text": text}));
        let tool = serde_json::json!({"type": "tool_use", "name": "Read",
            "input": {"file_path": "/w/src/lib.rs"}});
        assert_eq!(lines(reader.take(&text("One.\n\nTwo."))), ["One.", "Two."]);
        assert_eq!(lines(reader.take(&line(tool))), ["- Read /w/src/lib.rs"]);
        let unfinished = text("Three.");
        assert!(reader.take(unfinished.trim_ascii_end()).is_empty(), "its end may come");
        assert_eq!(lines(reader.finish()), ["Three."]);
    }

    #[test]
    fn the_scripted_agent_and_an_unknown_one_only_have_an_answer() {
        for backend in [None, Some("scripted"), Some("nobody")] {
            assert!(AgentReader::of(backend, &TimeZone::UTC).is_none(), "{backend:?}");
        }
    }
}
