//! What is known of a recipe's variables before it runs: which of them are strings, which are maps,
//! and what `steps` contains where a step is. It is careful to one side: what a caller or `--set` may
//! give can be anything.

use crate::condition::lints::{NoValue, Shape, Variables};
use crate::draft::{Draft, StepDraft};
use crate::recipe::{ParseJson, Work};
use crate::unset_variables::{MAX_SUGGESTIONS, STEPS};
use crate::variable_flow::VariableFlow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use towpath_core::{Value, nearest, quoted_list};

/// The most keys that are listed where one is missing.
const NAMES: usize = 6;

/// The results of each step in `steps`.
const RESULTS: [&str; 2] = ["status", "exit_code"];

pub(crate) struct RecipeVariables<'a> {
    draft: &'a Draft,
    shapes: HashMap<&'a str, Shape>,
    /// The index of each step by its id.
    indices: HashMap<&'a str, usize>,
    /// Names of which a caller or the user decides.
    given: HashSet<&'a str>,
    /// The variables whose step prints a word for "no", with the step and the word.
    nos: HashMap<&'a str, (&'a str, &'static str)>,
    /// Every step could be read, so that there are no others.
    complete: bool,
    /// How many more near names are looked for: that is slow in a recipe of thousands of steps.
    suggestions: Cell<usize>,
}

impl<'a> RecipeVariables<'a> {
    pub fn new(flow: &VariableFlow<'a>, index: usize) -> RecipeVariables<'a> {
        let draft = &flow.loaded[index].draft;
        let mut given: HashSet<&str> = flow.provided[index].iter().copied().collect();
        given.extend(draft.required_context.iter().map(String::as_str));
        let calls = draft.steps.iter().filter_map(StepDraft::calls);
        let callees = calls.filter_map(|call| flow.loaded[index].calls.get(&call.name));
        callees.for_each(|callee| given.extend(&flow.returned[*callee]));
        let mut shapes: HashMap<&str, Shape> = HashMap::new();
        let defaults = draft.context.iter().map(|(name, value)| (name.as_str(), default(value)));
        let written = draft.steps.iter().flat_map(|s| s.writes().map(|name| (name, output(s))));
        for (name, shape) in defaults.chain(written) {
            let known = shapes.remove(name);
            shapes.insert(name, known.map_or(shape.clone(), |known| known.or(shape)));
        }
        // What may set anything may have changed them all.
        if flow.leaks[index] {
            shapes.clear();
        }
        let ids = draft.steps.iter().enumerate();
        RecipeVariables {
            draft,
            shapes,
            indices: ids.filter_map(|(at, step)| Some((step.id.as_deref()?, at))).collect(),
            given,
            nos: draft.steps.iter().flat_map(printed_nos).collect(),
            complete: !draft.steps.iter().any(|step| step.unsure),
            suggestions: Cell::new(MAX_SUGGESTIONS),
        }
    }

    /// What a step reads that is one of these, in the order they run; in its condition it does not
    /// have its own context yet.
    pub fn of_step<'v>(
        &'v self,
        batch: Range<usize>,
        own: Option<&'v StepDraft>,
    ) -> VisibleVariables<'v> {
        VisibleVariables { variables: self, batch: Some(batch), own }
    }

    /// The variables of a hook, which runs for every step.
    pub fn of_hooks(&self) -> VisibleVariables<'_> {
        VisibleVariables { variables: self, batch: None, own: None }
    }

    fn hides_steps(&self) -> bool {
        self.shapes.contains_key(STEPS) || self.given.contains(STEPS)
    }
}

/// The variables as one reader sees them.
pub(crate) struct VisibleVariables<'a> {
    variables: &'a RecipeVariables<'a>,
    batch: Option<Range<usize>>,
    own: Option<&'a StepDraft>,
}

impl Variables for VisibleVariables<'_> {
    fn shape(&self, path: &[&str]) -> Result<Shape, NoValue> {
        let (Some(root), parts) = (path.first(), path.get(1..).unwrap_or_default()) else {
            return Ok(Shape::Anything);
        };
        if *root == STEPS && !self.variables.hides_steps() {
            return self.step(parts);
        }
        let by_itself = self.own.is_some_and(|step| step.sets_for_itself(root));
        let given = &self.variables.given;
        if by_itself || given.contains(root) || given.contains(path.join(".").as_str()) {
            return Ok(Shape::Anything);
        }
        let shape = self.variables.shapes.get(root).cloned().unwrap_or(Shape::Anything);
        match (parts, shape.without_parts()) {
            ([], _) => Ok(shape),
            (parts, Some(kind)) => Err(self.no_parts(root, parts, kind)),
            (parts, None) => match self.missing_key(root, parts) {
                Some(no_value) => Err(no_value),
                None => Ok(Shape::Anything),
            },
        }
    }

    fn prints_no(&self, path: &[&str]) -> Option<(&str, &str)> {
        let [name] = path else { return None };
        if self.shape(path) != Ok(Shape::Text) {
            return None;
        }
        self.variables.nos.get(name).copied()
    }
}

impl VisibleVariables<'_> {
    fn step(&self, parts: &[&str]) -> Result<Shape, NoValue> {
        let Some((id, results)) = parts.split_first() else { return Ok(Shape::Anything) };
        let Some(at) = self.variables.indices.get(id) else {
            if !self.variables.complete {
                return Ok(Shape::Anything);
            }
            let ids = self.variables.indices.keys().copied();
            let label = self.near(id, ids).unwrap_or_default();
            let why = format!("but there is no step `{id}`");
            return Err(NoValue { code: "unknown-step", why, label });
        };
        if let Some(batch) = &self.batch {
            // What runs at the same time is looked at with the groups.
            let alone = batch.len() == 1 && batch.contains(at);
            if alone || *at >= batch.end {
                let why = match alone {
                    true => "but this step has not run yet".to_owned(),
                    false => format!("but step `{id}` comes later"),
                };
                return Err(NoValue { code: "unknown-step", why, label: String::new() });
            }
        }
        match results {
            [] => Ok(Shape::Map),
            ["status"] => Ok(Shape::Status),
            ["exit_code"] => match self.variables.draft.steps[*at].calls() {
                Some(_) => Err(NoValue {
                    code: "unknown-step",
                    why: format!("but step `{id}` calls a recipe, which has no exit code"),
                    label: format!("did you mean `steps.{id}.status`?"),
                }),
                None => Ok(Shape::Number),
            },
            ["status", ..] => Err(self.no_parts("status", &[], "a string")),
            ["exit_code", ..] => Err(self.no_parts("exit_code", &[], "a number")),
            [other, ..] => Err(self.no_result(*at, id, other)),
        }
    }

    fn near<'n>(&self, name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
        let left = self.variables.suggestions.get().checked_sub(1)?;
        self.variables.suggestions.set(left);
        let mut known: Vec<&str> = known.into_iter().collect();
        known.sort_unstable();
        nearest(name, known).map(|near| format!("did you mean `{near}`?"))
    }

    fn no_result(&self, at: usize, id: &str, other: &str) -> NoValue {
        let output = self.variables.draft.steps[at].writes().last().unwrap_or(id).to_owned();
        let label = self.near(other, RESULTS).unwrap_or_else(|| match other {
            "output" | "stdout" | "result" | "value" => format!("its output is `{output}`"),
            _ => format!("it has `{}`", RESULTS.join("` and `")),
        });
        NoValue { code: "unknown-step", why: format!("but a step has no `{other}`"), label }
    }

    fn no_parts(&self, root: &str, parts: &[&str], kind: &str) -> NoValue {
        let steps = self.variables.draft.steps.iter();
        let mut writers = steps.filter(|step| step.writes().any(|name| name == root));
        let label = match (writers.find_map(|step| step.id.as_ref()), parts) {
            (Some(id), [result]) if RESULTS.contains(result) => {
                format!("did you mean `steps.{id}.{result}`?")
            }
            (Some(id), _) => format!("`parse_json: true` on step `{id}` makes a map of JSON"),
            (None, _) => format!("{kind} has no parts"),
        };
        NoValue { code: "no-parts", why: format!("but `{root}` is {kind}"), label }
    }

    /// A command, a prompt or a hook, and no condition, which may ask whether something is there.
    fn is_text(&self) -> bool {
        self.own.is_some() || self.batch.is_none()
    }

    /// A key that a default value with keys does not have.
    fn missing_key(&self, root: &str, parts: &[&str]) -> Option<NoValue> {
        let writers = &self.variables.draft.steps;
        if writers.iter().any(|step| step.writes().any(|name| name == root)) {
            return None;
        }
        let mut value = self.variables.draft.context.get(root)?;
        for (depth, part) in parts.iter().enumerate() {
            let whole = || [&[root], &parts[..depth]].concat().join(".");
            let map = match value {
                Value::Object(map) => map,
                Value::Array(_) if part.parse::<usize>().is_err() => {
                    let (why, label) =
                        (format!("but `{}` is a list", whole()), in_a_list(&whole()));
                    return Some(NoValue { code: "no-parts", why, label });
                }
                _ => return None,
            };
            let Some(inner) = map.get(*part) else {
                let whole = whole();
                let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
                let near = self.near(part, keys.iter().copied());
                keys.truncate(NAMES);
                let lists = !keys.is_empty() && self.is_text();
                let label = near.or(lists.then(|| format!("it has {}", quoted_list(&keys))))?;
                let why = format!("but `{whole}` has no `{part}`");
                return Some(NoValue { code: "undefined-variable", why, label });
            };
            value = inner;
        }
        None
    }
}

fn in_a_list(list: &str) -> String {
    format!("`len({list})` counts its items, and `{list}.0` is the first")
}

/// A default shows what kind of value is meant; an empty one does not.
fn default(value: &Value) -> Shape {
    match value {
        Value::String(text) if !text.is_empty() => Shape::Scalar,
        Value::Number(_) | Value::Bool(_) => Shape::Scalar,
        _ => Shape::Anything,
    }
}

fn printed_nos(step: &StepDraft) -> impl Iterator<Item = (&str, (&str, &'static str))> {
    let no = no_of(step).into_iter();
    no.flat_map(move |no| step.writes().map(move |name| (name, (step.shown_id(), no))))
}

fn output(step: &StepDraft) -> Shape {
    match step.gives_text() && step.parse_json == ParseJson::No {
        true => Shape::Text,
        false => Shape::Anything,
    }
}

/// A word for "no" that a step visibly prints or is asked for. Its output is text, and a condition
/// treats every text but the empty one as true. It sees only what is plainly there: good enough for a
/// note.
fn no_of(step: &StepDraft) -> Option<&'static str> {
    match step.work.as_ref()? {
        Work::Bash { command } => printed_no(command.text()),
        Work::Agent(agent) => asked_no(agent.prompt.source()),
        Work::Recipe { .. } => None,
    }
}

const NO: [&str; 6] = ["false", "False", "0", "no", "null", "none"];

/// The word that a script prints by `echo` or `printf`, or as a count.
fn printed_no(script: &str) -> Option<&'static str> {
    let words = |command: &str| -> Vec<String> {
        let plain = |word: &str| word.trim_matches(['"', '\'']).trim_end_matches("\\n").to_owned();
        command.split_whitespace().map(plain).collect()
    };
    let commands = script.split(['\n', ';', '|', '&', '(', ')', '{', '}']);
    let printed = commands.clone().find_map(|command| {
        let words = words(command);
        let at = words.iter().position(|word| word == "echo" || word == "printf")?;
        let mut printed = words[at + 1..].iter().filter(|word| !word.starts_with('-'));
        let (first, more) = (printed.next()?, printed.next());
        NO.into_iter().find(|no| first == no && more.is_none_or(|word| word.starts_with('>')))
    });
    let last = commands.map(str::trim).rfind(|command| !command.is_empty())?;
    let counts = last.starts_with("wc -") || last.starts_with("grep -c");
    printed.or(counts.then_some("0"))
}

/// The word that an agent is asked to answer with.
fn asked_no(prompt: &str) -> Option<&'static str> {
    let mut words = prompt.split(|c: char| !c.is_alphanumeric());
    words.find_map(|word| ["false", "False"].into_iter().find(|no| word == *no))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_no_is_seen_where_it_is_printed() {
        for (script, expected) in [
            ("echo false", Some("false")),
            ("test -f x && echo true || echo false", Some("false")),
            ("if x; then echo 1; else printf '0\\n'; fi", Some("0")),
            ("echo -n \"no\"", Some("no")),
            ("ls | wc -l", Some("0")),
            ("git status --porcelain | grep -c M", Some("0")),
            ("echo 0 failed", None),
            ("echo \"12 passed, 0 failed\"", None),
            ("make lint || true", None),
            ("n=$(ls | wc -l); echo \"$n files\"", None),
            ("", None),
        ] {
            assert_eq!(printed_no(script), expected, "{script}");
        }
        assert_eq!(asked_no("Answer `true` or `false`."), Some("false"));
        assert_eq!(asked_no("Report what is falsely claimed"), None);
    }
}
