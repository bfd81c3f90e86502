//! A run as one HTML file: its steps, its chart, and what every job printed.

use crate::environment::local_zone;
use crate::exit::CommandError;
use crate::page::run_words::describe;
use crate::terminal::format::now_ms;
use towpath_core::JobKind;
use towpath_engine::{JobNews, RunFollower};
use towpath_store::{Store, Stream};
use towpath_view::chart::{Chart, svg};
use towpath_view::run_html::{HtmlOutput, run_html};
use towpath_view::run_json::ShownRun;

/// So much of an output is in the file: its end.
const MOST: usize = 256 * 1024;

pub fn html(store: &Store, shown: &ShownRun) -> Result<String, CommandError> {
    let words = describe(shown, now_ms());
    let value = shown.json(words.resume, now_ms(), &local_zone());
    let chart = svg::write(&Chart::of(shown.run().program()));
    Ok(run_html(&value, &words.why, &chart, &outputs(store, shown)?))
}

/// The end of what a job printed, and how much was before it.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    left_out: u64,
}

impl Tail {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * MOST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let extra = self.bytes.len().saturating_sub(MOST);
        self.bytes.drain(..extra);
        self.left_out += extra as u64;
    }

    fn output(mut self, title: String) -> Option<HtmlOutput> {
        self.cut();
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        (!text.is_empty()).then_some(HtmlOutput { title, text, left_out: self.left_out })
    }
}

/// What the jobs printed, in the order of their starts; of an agent its answer.
fn outputs(store: &Store, shown: &ShownRun) -> Result<Vec<HtmlOutput>, CommandError> {
    let mut follower = RunFollower::new(store, shown.row.clone(), local_zone());
    follower.update(store)?;
    let mut outputs = Vec::new();
    for index in 0..follower.jobs().len() {
        let key = follower.jobs()[index].key.clone();
        let (mut stdout, mut stderr) = (Tail::default(), Tail::default());
        let is_agent = key.kind == JobKind::Agent;
        follower.read_job(store, index, &mut |news| {
            match news {
                JobNews::Output { stream: Stream::Stderr, bytes } => stderr.add(bytes),
                JobNews::Output { bytes, .. } if !is_agent => stdout.add(bytes),
                JobNews::Ended(end) if is_agent => {
                    stdout.add(end.output.text().unwrap_or_default().as_bytes());
                }
                _ => {}
            }
            true
        })?;
        let named =
            |what: &str| format!("{} · attempt {} · {what}", key.step_path(), key.attempt + 1);
        let word = if is_agent { "answer" } else { "stdout" };
        outputs.extend(stdout.output(named(word)));
        outputs.extend(stderr.output(named("stderr")));
    }
    Ok(outputs)
}
