//! What a case's run is given to play with: the agents' script and what stands in for commands.
//! Which line of the script is whose is remembered, to tell afterwards which was never asked for.

use super::place::Place;
use super::steps::{Workers, is_meant};
use super::suite::{Answer, Answers, Case, Name, Stub};
use crate::session::trust::quoted;
use serde_json::{Value, json};
use towpath_core::Map;

/// What does nothing and succeeds.
const NOTHING: &str = ":";

#[derive(Debug, Default)]
pub struct Cast<'c> {
    pub script: String,
    pub substitutes: Vec<(String, String)>,
    lines: Vec<Line<'c>>,
}

/// Whose answer a line of the script is.
#[derive(Debug)]
enum Line<'c> {
    /// Of the case: the step, which of how many.
    Case { step: &'c Name, number: usize, of: usize },
    /// Of a step that does nothing.
    Nothing,
}

impl<'c> Cast<'c> {
    /// `idle` are the steps that do nothing, whatever the case has for them.
    pub fn new(place: &Place, case: &'c Case, idle: &Workers) -> Result<Cast<'c>, String> {
        let mut cast = Cast::default();
        for step in &idle.agents {
            let line = json!({ "step": step, "text": "", "repeat": true });
            cast.line(&line, Line::Nothing);
        }
        // A path says more than an id, and a call takes the first line that fits.
        let (paths, ids): (Vec<_>, Vec<_>) =
            case.agents.iter().partition(|(step, _)| step.text.contains('/'));
        for (step, answers) in paths.into_iter().chain(ids) {
            cast.answers(place, step, answers)?;
        }
        for (step, stub) in &case.stubs {
            cast.substitutes.push((step.text.clone(), bash(place, stub)?));
        }
        let nothing = |step: &String| (step.clone(), NOTHING.to_owned());
        cast.substitutes.extend(idle.bash.iter().map(nothing));
        Ok(cast)
    }

    fn line(&mut self, json: &Value, whose: Line<'c>) {
        self.script.push_str(&format!("{json}\n"));
        self.lines.push(whose);
    }

    fn answers(&mut self, place: &Place, step: &'c Name, answers: &Answers) -> Result<(), String> {
        let (list, repeat) = match answers {
            Answers::Always(answer) => (std::slice::from_ref(answer), true),
            Answers::InOrder(list) => (list.as_slice(), false),
        };
        for (index, answer) in list.iter().enumerate() {
            let mut line = scripted(place, answer)?;
            line.insert("step".to_owned(), json!(step.text));
            line.insert("repeat".to_owned(), json!(repeat));
            let whose = Line::Case { step, number: index + 1, of: list.len() };
            self.line(&Value::Object(line), whose);
        }
        Ok(())
    }

    /// The answers that no call took, each told in a line. What was meant for a step that does
    /// nothing is not missed.
    pub fn unasked(&self, taken: &[u64], idle: &Workers) -> Vec<(&'c Name, String)> {
        let mut told = Vec::new();
        for (line, whose) in (1..).zip(&self.lines) {
            let Line::Case { step, number, of } = whose else { continue };
            let silenced = idle.agents.iter().any(|path| is_meant(&step.text, path));
            if taken.contains(&line) || silenced {
                continue;
            }
            told.push((
                *step,
                match of {
                    1 => format!("the answer of `{}` was never asked for", step.text),
                    _ => format!("answer {number} of {of} of `{}` was never asked for", step.text),
                },
            ));
        }
        told
    }

    /// How many answers the case has for a step.
    pub fn answers_for(&self, path: &str) -> usize {
        let own = |line: &&Line<'_>| matches!(line, Line::Case { step, .. } if is_meant(&step.text, path));
        self.lines.iter().filter(own).count()
    }
}

/// A line of the agents' script, but for whose it is.
fn scripted(place: &Place, answer: &Answer) -> Result<Map, String> {
    let mut line = Map::new();
    if let Some(fault) = answer.fault {
        line.insert("error".to_owned(), json!(fault));
    }
    // A fault without words is told by its kind.
    if answer.fault.is_none() || answer.text.is_some() {
        line.insert("text".to_owned(), json!(answer.text.as_deref().unwrap_or("")));
    }
    if let Some(until) = &answer.until {
        line.insert("until".to_owned(), until.clone());
    }
    let mut run = place.bringing(&answer.files)?;
    run.push_str(answer.run.as_deref().unwrap_or(""));
    if !run.is_empty() {
        line.insert("run".to_owned(), json!(run));
    }
    Ok(line)
}

/// A stub as bash.
fn bash(place: &Place, stub: &Stub) -> Result<String, String> {
    match stub {
        Stub::Bash(text) => Ok(text.clone()),
        Stub::Says { stdout, stderr, exit, files } => {
            let mut script = place.bringing(files)?;
            for (text, to) in [(stdout, ""), (stderr, " >&2")] {
                if !text.is_empty() {
                    script.push_str(&format!("printf %s {}{to}\n", quoted(text)));
                }
            }
            script.push_str(&format!("exit {exit}"));
            Ok(script)
        }
    }
}
