//! What replaces agents and commands in a case's run: the agents' script and the substitutes for
//! commands. Which line of the script belongs to which answer is remembered, to find out afterwards
//! which was never asked for, and which call had none.

use crate::case_directory::{CaseDirectory, CaseFileError};
use crate::recipe_steps::{Workers, is_meant};
use crate::suite::{Answer, Answers, Case, Name, Stub};
use serde_json::{Value, json};
use towpath_core::Map;
use towpath_shell::bash::quote;

/// What does nothing and succeeds.
const NOTHING: &str = ":";
const UNANSWERED: &str = "the case has no answer for this call";

#[derive(Debug, Default)]
pub struct Replacements<'c> {
    pub script: String,
    pub substitutes: Vec<(String, String)>,
    lines: Vec<Line<'c>>,
}

/// Which answer a line of the script is.
#[derive(Debug)]
enum Line<'c> {
    /// Of the case: the step, which of how many.
    Case { step: &'c Name, number: usize, of: usize },
    /// Of a step that does nothing.
    Nothing,
    /// Of every call for which the case has no answer.
    Unanswered,
}

impl<'c> Replacements<'c> {
    /// `idle` are the steps that do nothing, whatever the case has for them.
    pub fn new(
        directory: &CaseDirectory,
        case: &'c Case,
        idle: &Workers,
    ) -> Result<Replacements<'c>, CaseFileError> {
        let mut replacements = Replacements::default();
        for step in &idle.agents {
            let line = json!({ "step": step, "text": "", "repeat": true });
            replacements.line(&line, Line::Nothing);
        }
        // A path is more exact than an id, and a call takes the first line that fits.
        let (paths, ids): (Vec<_>, Vec<_>) =
            case.agents.iter().partition(|(step, _)| step.text.contains('/'));
        for (step, answers) in paths.into_iter().chain(ids) {
            replacements.answers(directory, step, answers)?;
        }
        for (step, stub) in &case.stubs {
            replacements.substitutes.push((step.text.clone(), bash(directory, stub)?));
        }
        // The last line fits every call, and a refused login ends a run whatever the step tolerates.
        let unanswered = json!({ "error": "auth", "text": UNANSWERED, "repeat": true });
        replacements.line(&unanswered, Line::Unanswered);
        let nothing = |step: &String| (step.clone(), NOTHING.to_owned());
        replacements.substitutes.extend(idle.bash.iter().map(nothing));
        Ok(replacements)
    }

    fn line(&mut self, json: &Value, whose: Line<'c>) {
        self.script.push_str(&format!("{json}\n"));
        self.lines.push(whose);
    }

    fn answers(
        &mut self,
        directory: &CaseDirectory,
        step: &'c Name,
        answers: &Answers,
    ) -> Result<(), CaseFileError> {
        let (list, repeat) = match answers {
            Answers::Always(answer) => (std::slice::from_ref(answer), true),
            Answers::InOrder(list) => (list.as_slice(), false),
        };
        for (index, answer) in list.iter().enumerate() {
            let mut line = scripted(directory, answer)?;
            line.insert("step".to_owned(), json!(step.text));
            line.insert("repeat".to_owned(), json!(repeat));
            let whose = Line::Case { step, number: index + 1, of: list.len() };
            self.line(&Value::Object(line), whose);
        }
        Ok(())
    }

    /// Whether a line of the script, numbered from 1, is the one for calls without an answer.
    pub fn is_unanswered(&self, line: u64) -> bool {
        let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        let whose = index.and_then(|index| self.lines.get(index));
        matches!(whose, Some(Line::Unanswered))
    }

    /// The answers that no call took, each described in a line. An answer for a step that does
    /// nothing is not missed.
    pub fn unasked(&self, taken: &[u64], idle: &Workers) -> Vec<(&'c Name, String)> {
        let mut unasked = Vec::new();
        for (line, whose) in (1..).zip(&self.lines) {
            let Line::Case { step, number, of } = whose else { continue };
            let silenced = idle.agents.iter().any(|path| is_meant(&step.text, path));
            if taken.contains(&line) || silenced {
                continue;
            }
            unasked.push((
                *step,
                match of {
                    1 => format!("the answer of `{}` was never asked for", step.text),
                    _ => format!("answer {number} of {of} of `{}` was never asked for", step.text),
                },
            ));
        }
        unasked
    }

    /// How many answers the case has for a step.
    pub fn answers_for(&self, path: &str) -> usize {
        let own = |line: &&Line<'_>| matches!(line, Line::Case { step, .. } if is_meant(&step.text, path));
        self.lines.iter().filter(own).count()
    }
}

/// A line of the agents' script, without its step.
fn scripted(directory: &CaseDirectory, answer: &Answer) -> Result<Map, CaseFileError> {
    let mut line = Map::new();
    if let Some(fault) = answer.fault {
        line.insert("error".to_owned(), json!(fault));
    }
    // A fault without a text is described by its kind.
    if answer.fault.is_none() || answer.text.is_some() {
        line.insert("text".to_owned(), json!(answer.text.as_deref().unwrap_or("")));
    }
    if let Some(until) = &answer.until {
        line.insert("until".to_owned(), until.clone());
    }
    let mut run = directory.copying_script(&answer.files)?;
    run.push_str(answer.run.as_deref().unwrap_or(""));
    if !run.is_empty() {
        line.insert("run".to_owned(), json!(run));
    }
    Ok(line)
}

/// A stub as bash.
fn bash(directory: &CaseDirectory, stub: &Stub) -> Result<String, CaseFileError> {
    match stub {
        Stub::Bash(text) => Ok(text.clone()),
        Stub::Prints { stdout, stderr, exit, files } => {
            let mut script = directory.copying_script(files)?;
            for (text, to) in [(stdout, ""), (stderr, " >&2")] {
                if !text.is_empty() {
                    script.push_str(&format!("printf %s {}{to}\n", quote(text)));
                }
            }
            script.push_str(&format!("exit {exit}"));
            Ok(script)
        }
    }
}
