//! The outcomes of a step and what follows from each: one transition for every outcome, each in one
//! of its forms.

use super::compose::{OnOutcome, StepParts};
use super::library::{OTHERS, is_of_others};
use super::{Around, near};
use crate::draft::Restart;
use crate::field_table::{ACTIONS, Section, StepKind, TransitionForm};
use crate::read::Reader;
use crate::read::section::{FieldMap, Part};
use crate::recipe::{Ending, Named, OTHER, Outcome, Transition};
use std::collections::HashSet;
use std::sync::Arc;
use towpath_core::spanned_tree::Kind;
use towpath_core::{Diagnostic, Span};

/// The outcomes that a command or a called recipe gives by itself.
const BY_RESULT: [&str; 2] = ["success", "failure"];

/// One outcome of one step, for messages.
struct Spot<'a> {
    step: &'a str,
    outcome: &'a str,
}

impl std::fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "(step {}, outcome {})", self.step, self.outcome)
    }
}

impl<'l> Reader<'l> {
    /// The outcomes in their order with what follows; none when something is wrong with them.
    pub(super) fn outcomes(
        &mut self,
        parts: &StepParts<'l>,
        fields: &FieldMap<'l>,
        kind: Option<StepKind>,
        around: &Around<'l>,
    ) -> Option<Vec<Outcome>> {
        let names = self.outcome_names(parts, fields);
        let transitions = self.transitions(parts);
        let step = parts.site.entry.key.as_str();
        if let Some(names) = &names {
            self.expected_outcomes(parts, fields, kind, names);
        }
        let mut followed: Vec<(&str, Option<Transition>)> = Vec::new();
        for part in transitions.iter().flatten() {
            let outcome = part.entry.key.as_str();
            if let Some(names) = names.as_ref().filter(|names| !names.contains(&outcome)) {
                let message =
                    format!("Step '{step}': onOutcome key '{outcome}' is not in outcomes");
                let label = near(outcome, names.iter().copied());
                self.within(*part, |read| {
                    read.error("unknown-outcome", message, part.entry.key_defined, &label);
                });
            }
            let spot = Spot { step, outcome };
            let then = self.within(*part, |read| read.transition(parts, *part, &spot, around));
            followed.push((outcome, then));
        }
        let (names, _) = (names?, transitions?);
        let mut outcomes = Vec::new();
        for name in names {
            match followed.iter().find(|(outcome, _)| *outcome == name) {
                Some((_, then)) => {
                    outcomes.push(then.clone().map(|then| Outcome { name: name.to_owned(), then }));
                }
                None => {
                    self.unfollowed(parts, fields, name);
                    outcomes.push(None);
                }
            }
        }
        outcomes.into_iter().collect()
    }

    /// What is wrong with the transitions of a step of which too little is known to check more.
    pub(super) fn transitions_alone(&mut self, parts: &StepParts<'l>, around: &Around<'l>) {
        let step = parts.site.entry.key.as_str();
        for part in self.transitions(parts).unwrap_or_default() {
            let spot = Spot { step, outcome: &part.entry.key };
            self.within(part, |read| drop(read.transition(parts, part, &spot, around)));
        }
    }

    fn unfollowed(&mut self, parts: &StepParts<'l>, fields: &FieldMap<'l>, name: &str) {
        let step = &parts.site.entry.key;
        let message = format!("Step '{step}': outcome '{name}' has no onOutcome entry");
        let own = parts.on_outcome.last().map(|level| level.part);
        let part = own.or_else(|| fields.get("outcomes"));
        let part = part.unwrap_or(parts.site);
        self.within(part, |read| {
            read.error("no-transition", message, part.entry.key_defined, "");
        });
    }

    /// The declared names, each once.
    fn outcome_names(
        &mut self,
        parts: &StepParts<'l>,
        fields: &FieldMap<'l>,
    ) -> Option<Vec<&'l str>> {
        let step = &parts.site.entry.key;
        let part = fields.get("outcomes")?;
        self.within(part, |read| read.names_in(step, part))
    }

    fn names_in(&mut self, step: &str, part: Part<'l>) -> Option<Vec<&'l str>> {
        let node = &part.entry.value;
        let wrong = format!("Step '{step}': 'outcomes' must be an array of strings");
        let Kind::List(items) = &node.kind else {
            let span = self.source.first_line(node.defined);
            self.error("wrong-type", wrong, span, format!("this is {}", node.describe()));
            return None;
        };
        if items.is_empty() {
            let message = format!("Step '{step}': 'outcomes' must not be empty");
            self.error("empty-field", message, part.entry.key_defined, "");
            return None;
        }
        let before = self.problems.len();
        let mut names: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        for item in items {
            let again = matches!(&item.kind, Kind::Text(name) if !seen.insert(name));
            match &item.kind {
                Kind::Text(name) if name.trim().is_empty() => {
                    let message = format!("Step '{step}': empty outcome name");
                    self.error("empty-field", message, item.defined, "");
                }
                Kind::Text(name) if name.starts_with(OTHERS) => {
                    let message = format!("Step '{step}': '{name}' cannot be an outcome's name");
                    let label = format!("what begins with '{OTHERS}' is left to other programs");
                    self.error("bad-id", message, item.defined, &label);
                }
                Kind::Text(name) if name.contains('\0') => {
                    let message = format!("Step '{step}': an outcome's name contains a NUL byte");
                    self.error("nul-byte", message, item.defined, "");
                }
                Kind::Text(name) if again => {
                    let message = format!("Step '{step}': duplicate outcome '{name}'");
                    let problem = Diagnostic::warning("duplicate-outcome", message);
                    self.problem(problem.at(self.source, item.defined, ""));
                }
                Kind::Text(name) => names.push(name),
                _ => {
                    let span = self.source.first_line(item.defined);
                    let label = format!("this is {}", item.describe());
                    self.error("wrong-type", wrong.clone(), span, &label);
                }
            }
        }
        let sound = !self.problems[before..].iter().any(Diagnostic::is_error);
        sound.then_some(names)
    }

    /// A command and a called recipe need both of their results.
    fn expected_outcomes(
        &mut self,
        parts: &StepParts<'l>,
        fields: &FieldMap<'l>,
        kind: Option<StepKind>,
        names: &[&str],
    ) {
        let step = &parts.site.entry.key;
        let Some(part) = fields.get("outcomes") else { return };
        let span = part.entry.key_defined;
        let what = match kind {
            Some(StepKind::Bash) => "command",
            Some(StepKind::Recipe) => "recipe",
            _ => return,
        };
        for name in BY_RESULT.iter().filter(|name| !names.contains(name)) {
            let message = format!("Step '{step}': a {what} step must list the outcome '{name}'");
            self.within(part, |read| read.error("missing-outcome", message, span, ""));
        }
    }

    /// Every transition by its outcome: of the same outcome the last one.
    fn transitions(&mut self, parts: &StepParts<'l>) -> Option<Vec<Part<'l>>> {
        let step = &parts.site.entry.key;
        if parts.on_outcome.is_empty() {
            return None;
        }
        let mut found: Vec<Part<'l>> = Vec::new();
        let mut sound = true;
        for OnOutcome { part: level, beside_ref } in &parts.on_outcome {
            let node = &level.entry.value;
            let Kind::Map(entries) = &node.kind else {
                let message = format!("Step '{step}': 'onOutcome' must be an object");
                let label = format!("this is {}", node.describe());
                let span = level.entry.key_defined;
                self.within(*level, |read| read.error("wrong-type", message, span, &label));
                sound = false;
                continue;
            };
            for entry in entries.iter().filter(|entry| !is_of_others(&entry.key)) {
                let part = Part { entry, ..*level };
                let known = found.iter().position(|known| known.entry.key == entry.key);
                match (known, *beside_ref && entry.is_null()) {
                    (Some(at), true) => drop(found.remove(at)),
                    // What the step that is referred to has is not known.
                    (None, true) if parts.broken => {}
                    (None, true) => {
                        self.within(part, |read| read.nothing_to_take(step, part, &found));
                        sound = false;
                    }
                    (Some(at), false) => found[at] = part,
                    (None, false) => found.push(part),
                }
            }
        }
        sound.then_some(found)
    }

    fn nothing_to_take(&mut self, step: &str, part: Part<'l>, there: &[Part<'l>]) {
        let outcome = &part.entry.key;
        let message = format!(
            "Step '{step}': there is no transition for '{outcome}' that null could take away"
        );
        let label = near(outcome, there.iter().map(|part| part.entry.key.as_str()));
        self.error("unknown-outcome", message, part.entry.key_defined, &label);
    }

    fn transition(
        &mut self,
        parts: &StepParts<'l>,
        part: Part<'l>,
        spot: &Spot<'_>,
        around: &Around<'l>,
    ) -> Option<Transition> {
        let node = &part.entry.value;
        let Kind::Map(entries) = &node.kind else {
            let message = format!("Transition must be an object {spot}");
            let label = match &node.kind {
                Kind::Text(text) if text == "exit" => {
                    "write `{action: exit, reason: WHY}`".to_owned()
                }
                Kind::Text(text) if around.names.contains_key(text.as_str()) => {
                    format!("write `{{nextStep: {text}}}`")
                }
                _ => format!("this is {}", node.describe()),
            };
            let span = self.source.first_line(node.defined);
            self.error("wrong-type", message, span, &label);
            return None;
        };
        let before = self.problems.len();
        let inner = entries.iter().map(|entry| Part { entry, ..part });
        let fields = self.machine_fields(inner, Section::Transition, &format!("transition {spot}"));
        let span = part.entry.key_defined;
        let then = match (fields.get("nextStep"), fields.get("action")) {
            (Some(next), None) => self.next(&fields, next, spot, around),
            (None, Some(action)) => self.action(parts, &fields, action, spot),
            (None, None) if fields.has_misspelt("nextStep") || fields.has_misspelt("action") => {
                None
            }
            _ => {
                let message =
                    format!("Transition must have exactly one of 'nextStep' or 'action' {spot}");
                self.error("bad-transition", message, span, "");
                None
            }
        };
        if let Some(Transition::Next(_) | Transition::Restart { .. }) = &then
            && around.exit_on_other
            && spot.outcome == OTHER
        {
            let message = format!("Transition for 'other' must have a 'reason' {spot}");
            let label = "with `exitOnOther` it must be an exit";
            self.error("no-reason", message, span, label);
        }
        then.filter(|_| self.problems.len() == before)
    }

    /// The fields of the other forms have no meaning here.
    fn refuse_others(&mut self, fields: &FieldMap<'l>, action: Option<&str>, spot: &Spot<'_>) {
        let Some(form) = TransitionForm::of(action) else { return };
        for (field, part) in fields.iter().filter(|(field, _)| !form.has(field.name)) {
            let message = format!("'{}' does not belong to {} {spot}", field.name, form.name);
            self.error("bad-transition", message, part.entry.key_defined, "");
        }
    }

    fn next(
        &mut self,
        fields: &FieldMap<'l>,
        next: Part<'l>,
        spot: &Spot<'_>,
        around: &Around<'l>,
    ) -> Option<Transition> {
        self.refuse_others(fields, None, spot);
        let node = &next.entry.value;
        let Kind::Text(name) = &node.kind else {
            let message = format!("'nextStep' must be a string {spot}");
            self.error("wrong-type", message, node.defined, "");
            return None;
        };
        let found = around.names.get(name.as_str());
        if found.is_none() && around.complete {
            let Spot { step, outcome } = spot;
            let message =
                format!("Next step {name} not found in steps (step {step}, outcome {outcome})");
            let label = around.label(name);
            self.error("unknown-step", message, node.defined, &label);
        }
        found.map(|index| Transition::Next(*index))
    }

    fn action(
        &mut self,
        parts: &StepParts<'l>,
        fields: &FieldMap<'l>,
        action: Part<'l>,
        spot: &Spot<'_>,
    ) -> Option<Transition> {
        let node = &action.entry.value;
        match &node.kind {
            Kind::Text(text) if text == "exit" => {
                self.refuse_others(fields, Some(text), spot);
                let ending = self.ending(fields, spot);
                self.exit(fields, node.defined, ending, spot)
            }
            Kind::Text(text) if text == "fail" => {
                self.refuse_others(fields, Some(text), spot);
                self.exit(fields, node.defined, Ending::Fail, spot)
            }
            Kind::Text(text) if text == "restart-new-session" => {
                self.refuse_others(fields, Some(text), spot);
                let Some((recipe, span)) = self.non_empty(fields, "recipeId") else {
                    let message = format!("restart-new-session needs a 'recipeId' {spot}");
                    let span =
                        fields.get("recipeId").map_or(node.defined, |r| r.entry.value.defined);
                    self.error("no-recipe-id", message, span, "");
                    return None;
                };
                Some(self.restart(parts, action, recipe, span, spot))
            }
            other => {
                let written = match other {
                    Kind::Text(text) => text.clone(),
                    _ => node.value().to_string(),
                };
                let label = match near(&written, ACTIONS.iter().copied()) {
                    near if near.is_empty() => format!("the actions are {}", ACTIONS.join(", ")),
                    near => near,
                };
                let message = format!("Unknown action '{written}' {spot}");
                self.error("unknown-action", message, node.defined, &label);
                None
            }
        }
    }

    fn exit(
        &mut self,
        fields: &FieldMap<'l>,
        action: Span,
        ending: Ending,
        spot: &Spot<'_>,
    ) -> Option<Transition> {
        let Some((reason, _)) = self.non_empty(fields, "reason") else {
            let message = format!("Exit transition must have a non-empty 'reason' {spot}");
            let span = fields.get("reason").map_or(action, |r| r.entry.value.defined);
            self.error("no-reason", message, span, "");
            return None;
        };
        Some(Transition::Exit { reason, ending })
    }

    /// The `success` of an exit.
    fn ending(&mut self, fields: &FieldMap<'l>, spot: &Spot<'_>) -> Ending {
        let Some(part) = fields.get("success") else { return Ending::unstated(spot.outcome) };
        let node = &part.entry.value;
        match &node.kind {
            Kind::Bool(true) => Ending::Success,
            Kind::Bool(false) => Ending::Failure,
            Kind::Text(text) if text == "ask" => Ending::Ask,
            _ => {
                let message = format!("'success' must be true, false or 'ask' {spot}");
                self.error("wrong-type", message, node.defined, "");
                Ending::Failure
            }
        }
    }

    fn restart(
        &mut self,
        parts: &StepParts<'l>,
        action: Part<'l>,
        recipe: String,
        span: Span,
        spot: &Spot<'_>,
    ) -> Transition {
        let source = Arc::clone(action.source);
        let named = Named { name: recipe.clone(), source, span };
        self.draft.restarts.push(Restart { named, spot: spot.to_string() });
        // The location is one in the file of its step.
        let span = if action.file == parts.site.file { span } else { parts.site.entry.key_span };
        Transition::Restart { recipe, span }
    }

    /// A string that is not empty, with its span.
    fn non_empty(&self, fields: &FieldMap<'l>, name: &str) -> Option<(String, Span)> {
        let node = &fields.get(name)?.entry.value;
        match &node.kind {
            Kind::Text(text) if !text.trim().is_empty() => Some((text.clone(), node.defined)),
            _ => None,
        }
    }
}
