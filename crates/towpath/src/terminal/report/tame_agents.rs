//! The text of agents, before any reporter gets it: on a terminal it keeps its colours, and can do
//! nothing else there. In a pipe or a file the bytes stay as they are, and so does a command's output.

use super::{OutputOptions, RunScreen};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use towpath_core::{JobKey, JobKind};
use towpath_engine::{Event, EventKind, Reporter, Stream};
use towpath_view::ColoursOnly;

/// Which streams of this process are terminals.
#[derive(Debug, Clone, Copy)]
pub struct Terminals {
    pub stdout: bool,
    pub stderr: bool,
}

impl Terminals {
    pub fn of_process() -> Terminals {
        let (stdout, stderr) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        Terminals { stdout, stderr }
    }

    pub fn has(self, stream: Stream) -> bool {
        match stream {
            Stream::Stdout => self.stdout,
            Stream::Stderr => self.stderr,
        }
    }
}

pub struct TameAgents<S> {
    screen: S,
    terminals: Terminals,
    texts: BTreeMap<(JobKey, bool), ColoursOnly>,
}

impl<S: RunScreen> TameAgents<S> {
    pub fn new(screen: S, terminals: Terminals, options: OutputOptions) -> TameAgents<S> {
        // With JSON on stdout, what steps print goes to stderr.
        let stdout = if options.json { terminals.stderr } else { terminals.stdout };
        let terminals = Terminals { stdout, ..terminals };
        TameAgents { screen, terminals, texts: BTreeMap::new() }
    }
}

impl<S: RunScreen> Reporter for TameAgents<S> {
    fn event(&mut self, event: &Event) {
        let EventKind::Output { step, job, stream, bytes } = &event.kind else {
            return self.screen.event(event);
        };
        if job.kind != JobKind::Agent || !self.terminals.has(*stream) {
            return self.screen.event(event);
        }
        let text = self.texts.entry((job.clone(), *stream == Stream::Stdout)).or_default();
        let bytes = text.take(bytes).into_bytes();
        let (step, job, stream) = (step.clone(), job.clone(), *stream);
        let kind = EventKind::Output { step, job, stream, bytes };
        self.screen.event(&Event { kind, ..*event });
    }

    fn ready(&self) -> bool {
        self.screen.ready()
    }

    fn tick(&mut self) {
        self.screen.tick();
    }
}

impl<S: RunScreen> RunScreen for TameAgents<S> {
    fn aside(&mut self, line: &str) {
        self.screen.aside(line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::Plain;
    use super::super::reporter_test_support::*;
    use super::*;
    use towpath_core::StepPath;

    /// What is printed on stdout and stderr of what a job prints on both, in pieces.
    fn printed(kind: &str, terminals: Terminals, json: bool) -> (String, String) {
        let seen = Recorder::new(80, 24);
        let options = OutputOptions { json, quiet: !json, ..options() };
        let plain = Plain::new(seen.clone(), options, shape(&[]));
        let mut screen = TameAgents::new(plain, terminals, options);
        let job: JobKey = format!("a#1.0.0:{kind}").parse().expect("a key");
        for piece in ["\u{1b}[31mred\u{1b}[", "0m\u{1b}]52;c;", "aGk=\u{7}\u{1b}[2J end\n"] {
            for stream in [Stream::Stdout, Stream::Stderr] {
                let (step, job, bytes) = (StepPath::new("a"), job.clone(), piece.into());
                let kind = EventKind::Output { step, job, stream, bytes };
                screen.event(&Event { seq: 1, at_ms: 0, kind });
            }
        }
        (seen.stdout_text(), seen.stderr_text())
    }

    #[test]
    fn an_agent_has_colours_on_a_terminal_and_its_bytes_elsewhere() {
        let raw = "\u{1b}[31mred\u{1b}[0m\u{1b}]52;c;aGk=\u{7}\u{1b}[2J end\n";
        let tame = "\u{1b}[31mred\u{1b}[0m end\n";
        let pair = |out: &str, err: &str| (out.to_owned(), err.to_owned());
        for (stdout, stderr) in [(true, true), (true, false), (false, true), (false, false)] {
            let seen = printed("agent", Terminals { stdout, stderr }, false);
            let of = |terminal: bool| if terminal { tame } else { raw };
            assert_eq!(seen, pair(of(stdout), of(stderr)), "{stdout} {stderr}");
        }
        let both = Terminals { stdout: true, stderr: true };
        assert_eq!(printed("bash", both, false), pair(raw, raw), "a command does what it wants");
        let piped = Terminals { stdout: false, stderr: true };
        assert_eq!(printed("agent", piped, true), pair("", &format!("{tame}{tame}")));
    }
}
