//! An agent's output, line by line as it comes, into its backend's reader.

use super::job_files::JobFiles;
use towpath_agent::{CallProgress, End, Reader, Reply};
use towpath_core::FaultKind;
use towpath_process::Follow;

/// How much of a line that is no JSON a failure carries.
const LONGEST_STRAY: usize = 500;

pub(crate) struct AgentLines {
    reader: Box<dyn Reader>,
    stdout: Option<Follow>,
    partial: Vec<u8>,
    /// The last line that is no JSON: a program that dies may print why.
    stray: String,
}

impl AgentLines {
    pub fn new(reader: Box<dyn Reader>) -> AgentLines {
        AgentLines { reader, stdout: None, partial: Vec::new(), stray: String::new() }
    }

    /// Reads what is new, and whether something was. The backend reads it all, whether or not anybody
    /// watches the run.
    pub fn read(&mut self, files: &JobFiles) -> (bool, Vec<CallProgress>) {
        let (mut heard, mut progress) = (false, Vec::new());
        let opened = self.stdout.take().or_else(|| Follow::open(&files.path("stdout")).ok());
        if let Some(mut follow) = opened {
            // A file that cannot be read now is read when the job ends, where errors count.
            let _ = follow.read_new(&mut |bytes| {
                heard = true;
                self.take(bytes, &mut progress);
            });
            self.stdout = Some(follow);
        }
        (heard, progress)
    }

    fn take(&mut self, bytes: &[u8], progress: &mut Vec<CallProgress>) {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.partial);
                self.note_stray(&line);
                progress.extend(self.reader.line(&line));
            } else {
                self.partial.push(byte);
            }
        }
    }

    pub fn finish(mut self, end: &End<'_>) -> Reply {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.note_stray(&line);
            self.reader.line(&line);
        }
        let mut reply = self.reader.end(end);
        if let Err(fault) = &mut reply.result
            && fault.kind == FaultKind::Crash
            && end.stderr.is_empty()
            && !fault.message.contains(&self.stray)
        {
            fault.message = format!("{}: {}", fault.message, self.stray);
        }
        reply
    }

    fn note_stray(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if !line.is_empty() && !line.starts_with(['{', '[']) {
            self.stray = line.chars().take(LONGEST_STRAY).collect();
        }
    }
}
