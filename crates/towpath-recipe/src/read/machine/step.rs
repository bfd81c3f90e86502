//! One step of a machine: its work, its fields, and the outcomes it may report.

use super::compose::StepParts;
use super::{Around, is_kebab_case};
use crate::draft::StepDraft;
use crate::field_table::{Section, StepKind};
use crate::read::Reader;
use crate::read::section::{FieldMap, Part};
use crate::read::step::without_blank_end;
use crate::recipe::{AgentWork, StepFields, VariableUse, Work};
use std::sync::Arc;
use towpath_core::spanned_tree::Kind;
use towpath_core::{Diagnostic, Span, is_safe_segment};

/// The fields that decide what a step does, of which it has one.
pub(crate) const WORK: [(&str, StepKind); 4] = [
    ("prompt", StepKind::Agent),
    ("prompt_file", StepKind::Agent),
    ("command", StepKind::Bash),
    ("recipe", StepKind::Recipe),
];

impl<'l> Reader<'l> {
    pub(super) fn machine_step(&mut self, parts: &StepParts<'l>, around: &Around<'l>) {
        let entry = parts.site.entry;
        let name = &entry.key;
        self.step_name(parts);
        let on_outcome = parts.on_outcome.last().map(|level| level.part);
        let written = parts.fields.iter().copied().chain(on_outcome);
        let fields = self.machine_fields(written, Section::MachineStep, &format!("step '{name}'"));
        if !parts.made_from.iter().all(|level| self.is_object(*level)) || parts.broken {
            self.draft.steps.push(StepDraft::unreadable(self.source, entry.key_span));
            self.transitions_alone(parts, around);
            return;
        }
        self.missing_fields(&fields, &format!("Step '{name}': "), entry.key_defined);
        let kind = self.work_kind(parts, &fields);
        self.step = Some(name.clone());
        let mut uses = Vec::new();
        let context = self.step_context(&fields, &mut uses);
        self.known_here = context.iter().map(|(key, _)| key.clone()).collect();
        let work = kind.and_then(|kind| self.machine_work(parts, &fields, kind, &mut uses));
        let working_dir = self.working_dir(&fields, &mut uses);
        self.known_here.clear();
        let also = parts.made_from[1..].iter();
        let given = StepFields {
            also: also.map(|part| (Arc::clone(part.source), whole(part))).collect(),
            context,
            working_dir,
            uses,
            ..self.unread_step(whole(&parts.site), entry.key_span)
        };
        let draft = self.step_draft(Some(name.clone()), &fields, kind, work, given);
        self.step = None;
        let outcomes = self.outcomes(parts, &fields, kind, around);
        self.draft.steps.push(StepDraft { outcomes, ..draft });
    }

    fn step_name(&mut self, parts: &StepParts<'l>) {
        let name = &parts.site.entry.key;
        if !is_safe_segment(name) {
            let message = format!("'{name}' cannot be a step's name");
            let label = "use letters, digits, `_` and `-`";
            self.error("bad-id", message, parts.site.entry.key_defined, label);
        } else if !is_kebab_case(name) {
            let message = format!("Step name '{name}' is not kebab-case");
            let label = "use small letters and digits, with `-` between words";
            let problem = Diagnostic::warning("bad-id", message);
            let problem = problem.at(self.source, parts.site.entry.key_defined, label);
            self.problems.push(problem);
        }
    }

    fn is_object(&mut self, level: Part<'l>) -> bool {
        let node = &level.entry.value;
        if matches!(node.kind, Kind::Map(_)) {
            return true;
        }
        let name = &level.entry.key;
        let message = format!("Step '{name}' must be an object, this is {}", node.describe());
        let span = level.source.first_line(node.defined);
        let span = if span.start == span.end { level.entry.key_defined } else { span };
        self.within(level, |read| read.error("wrong-type", message, span, ""));
        false
    }

    /// The kind of work of a step, by its one field of work.
    fn work_kind(&mut self, parts: &StepParts<'l>, fields: &FieldMap<'l>) -> Option<StepKind> {
        let step = &parts.site.entry.key;
        let given: Vec<(&str, StepKind)> =
            WORK.into_iter().filter(|(name, _)| fields.has(name)).collect();
        let [(_, kind)] = given[..] else {
            if given.is_empty() {
                if !WORK.iter().any(|(name, _)| fields.has_misspelt(name)) {
                    let message = format!("Step '{step}': missing required field 'prompt'");
                    let label = "a step has a 'prompt', a 'command' or a 'recipe'";
                    self.error("missing-field", message, parts.site.entry.key_defined, label);
                }
            } else {
                self.two_works(step, fields, &given);
            }
            return None;
        };
        for (field, part) in fields.iter().filter(|(field, _)| !field.is_used_by(kind)) {
            let used: Vec<&str> = WORK
                .iter()
                .filter(|(name, kind)| *name != "prompt_file" && field.is_used_by(*kind))
                .map(|(name, _)| *name)
                .collect();
            let message = format!(
                "Step '{step}': '{}' is for steps with a '{}'",
                field.name,
                used.join("' or a '")
            );
            let label = match field.name {
                "working_dir" => "a session stays in the directory it began in",
                "sandbox" if kind == StepKind::Agent => "an agent needs the network",
                "sandbox" => "the steps of the called recipe have their own",
                _ => "",
            };
            self.within(part, |r| {
                r.error("unused-field", message, part.entry.key_defined, label);
            });
        }
        Some(kind)
    }

    fn two_works(&mut self, step: &str, fields: &FieldMap<'l>, given: &[(&str, StepKind)]) {
        let names: Vec<String> = given.iter().map(|(name, _)| format!("'{name}'")).collect();
        let message = format!("Step '{step}' must have only one of {}", names.join(" and "));
        let mut problem = Diagnostic::error("unclear-type", message);
        for part in given.iter().filter_map(|(name, _)| fields.get(name)) {
            problem = problem.at(part.source, part.entry.key_defined, "");
        }
        self.problems.push(problem);
    }

    fn machine_work(
        &mut self,
        parts: &StepParts<'l>,
        fields: &FieldMap<'l>,
        kind: StepKind,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        let (name, _) = WORK.into_iter().find(|(name, of)| *of == kind && fields.has(name))?;
        let part = fields.get(name)?;
        let work = self.value(Some(part), |reader, entry| {
            let text = reader.located_text(entry)?;
            if kind != StepKind::Agent {
                return reader.command_or_call(kind, text, false, uses);
            }
            let (prompt, document) = match name {
                "prompt_file" => {
                    let (prompt, document) = reader.prompt_document(&text, uses)?;
                    (prompt, Some(document))
                }
                _ => (reader.template(&text, "prompt", uses), None),
            };
            let (agent, model, mode, auto_stage) = (None, None, None, false);
            Some(Work::Agent(AgentWork { prompt, document, agent, model, mode, auto_stage }))
        })?;
        Some(match work {
            Work::Agent(agent) => {
                let model = self.model(fields, &format!("at step {}", parts.site.entry.key));
                Work::Agent(AgentWork { model, ..agent })
            }
            // The location of a call is one in the file of its step.
            Work::Recipe { name, recovery, .. } if part.file != parts.site.file => {
                Work::Recipe { name, name_span: parts.site.entry.key_span, recovery }
            }
            work => work,
        })
    }
}

/// All that is written of a step at one of its locations.
fn whole(part: &Part<'_>) -> Span {
    let span = Span { start: part.entry.key_span.start, ..part.entry.value.extent() };
    without_blank_end(&part.source.text, span)
}
