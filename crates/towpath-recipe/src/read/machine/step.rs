//! One step of a machine: its work, its fields, and the outcomes it may report.

use super::compose::{Part, StepParts};
use super::fields::{MachineFields, plain};
use super::{Around, MachineReader, is_kebab_case};
use crate::draft::{StepOutline, Task};
use crate::field_table::{Section, StepType};
use crate::read::Reader;
use crate::read::section::Text;
use crate::read::step::without_blank_end;
use crate::recipe::{AgentWork, ParseJson, Step, StepSpans, VariableUse, Work};
use crate::text_map::TextMap;
use std::sync::Arc;
use towpath_core::spanned_tree::Kind;
use towpath_core::{Diagnostic, Span, is_safe_segment};

/// The fields that decide what a step does, of which it has one.
pub(crate) const WORK: [(&str, StepType); 4] = [
    ("prompt", StepType::Agent),
    ("prompt_file", StepType::Agent),
    ("command", StepType::Bash),
    ("recipe", StepType::Recipe),
];

impl<'l> MachineReader<'_, 'l> {
    pub(super) fn step(&mut self, parts: &StepParts<'l>, around: &Around<'l>) -> Option<Step> {
        self.within(parts.site, |read| read.step_here(parts, around))
    }

    fn step_here(&mut self, parts: &StepParts<'l>, around: &Around<'l>) -> Option<Step> {
        let entry = parts.site.entry;
        let name = &entry.key;
        self.step_name(parts);
        let what = format!("step '{name}'");
        let on_outcome = parts.on_outcome.last().map(|level| level.part);
        let written = parts.fields.iter().copied().chain(on_outcome);
        let fields = self.fields(written, Section::MachineStep, &what);
        if !parts.made_from.iter().all(|level| self.is_object(*level)) || parts.broken {
            let unreadable = StepOutline::unreadable(self.reader.source, entry.key_span);
            self.reader.outline.steps.push(unreadable);
            self.transitions_alone(parts, around);
            return None;
        }
        self.missing(&fields, &format!("Step '{name}': "), entry.key_defined);
        let plain = plain(&fields);
        let work_type = self.work_type(parts, &fields);
        let mut uses = Vec::new();
        let context =
            self.shared(parts, &fields, "context", |reader| reader.step_context(&plain, &mut uses));
        self.reader.known_here = context.iter().map(|(key, _)| key.clone()).collect();
        let work = work_type.and_then(|kind| self.work(parts, &fields, kind, &mut uses));
        let working_dir = self.is_text(parts, &fields, "working_dir").and_then(|()| {
            self.shared(parts, &fields, "working_dir", |reader| {
                reader.working_dir(&plain, &mut uses)
            })
        });
        self.reader.known_here.clear();
        let output = self
            .is_text(parts, &fields, "output")
            .and_then(|()| self.shared(parts, &fields, "output", |reader| reader.output(&plain)));
        let timeout = self.shared(parts, &fields, "timeout", |r| r.time(plain.get("timeout")));
        let effect = self.shared(parts, &fields, "effect", |r| r.effect(&plain, work_type));
        let requires =
            self.shared(parts, &fields, "requires", |r| r.requirements(plain.get("requires")));
        let sandbox = self.shared(parts, &fields, "sandbox", |r| r.sandbox(plain.get("sandbox")));
        let fail_fast =
            self.shared(parts, &fields, "fail_fast", |r| r.bool(plain.get("fail_fast")));
        let outcomes = self.outcomes(parts, &fields, work_type, around);
        let source = self.reader.source;
        self.reader.outline.steps.push(StepOutline {
            id: Some(name.clone()),
            output: output.as_ref().map(|text| text.text.clone()),
            context: context.clone(),
            uses: uses.clone(),
            task: work.as_ref().map(|work| Task::of(work, source)),
            unsure: ["output", "context", "recipe"].iter().any(|name| fields.has_misspelt(name)),
            ..StepOutline::unreadable(source, entry.key_span)
        });
        let own = |part: &Part<'_>| {
            without_blank_end(
                &self.source(part.file).text,
                Span { start: part.entry.key_span.start, ..part.entry.value.extent() },
            )
        };
        Some(Step {
            id: name.clone(),
            source: Arc::clone(source),
            span: own(&parts.site),
            spans: StepSpans { id: entry.key_span, output: None, group: None },
            also: parts.made_from[1..]
                .iter()
                .map(|part| (Arc::clone(self.source(part.file)), own(part)))
                .collect(),
            condition: None,
            output: output.map(|text| text.text),
            continue_on_error: false,
            timeout,
            working_dir,
            parallel_group: None,
            context,
            effect,
            requires,
            sandbox,
            fail_fast,
            when_tags: Vec::new(),
            parse_json: ParseJson::No,
            outcomes: outcomes?,
            work: work?,
            uses,
        })
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
            let problem = problem.at(self.reader.source, parts.site.entry.key_defined, label);
            self.reader.problems.push(problem);
        }
    }

    fn is_object(&mut self, level: Part<'l>) -> bool {
        let node = &level.entry.value;
        if matches!(node.kind, Kind::Map(_)) {
            return true;
        }
        let name = &level.entry.key;
        let message = format!("Step '{name}' must be an object, this is {}", node.describe());
        let span = self.source(level.file).first_line(node.defined);
        let span = if span.start == span.end { level.entry.key_defined } else { span };
        self.within(level, |read| read.error("wrong-type", message, span, ""));
        false
    }

    /// Reads a field in its own file with what reads step recipes too; its problems name the step.
    fn shared<T>(
        &mut self,
        parts: &StepParts<'l>,
        fields: &MachineFields<'l>,
        name: &str,
        read: impl FnOnce(&mut Reader<'l>) -> T,
    ) -> T {
        let before = self.reader.problems.len();
        let value = match fields.get(name) {
            Some(part) => self.within(part, |this| read(this.reader)),
            None => read(self.reader),
        };
        let step = &parts.site.entry.key;
        for problem in &mut self.reader.problems[before..] {
            problem.message = format!("Step '{step}': {}", problem.message);
        }
        value
    }

    /// What kind of work the step is, by its one field of work.
    fn work_type(&mut self, parts: &StepParts<'l>, fields: &MachineFields<'l>) -> Option<StepType> {
        let step = &parts.site.entry.key;
        let given: Vec<(&str, StepType)> =
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
                "sandbox" if kind == StepType::Agent => "an agent needs the network",
                "sandbox" => "the steps of the called recipe have their own",
                _ => "",
            };
            self.within(part, |r| {
                r.error("unused-field", message, part.entry.key_defined, label);
            });
        }
        Some(kind)
    }

    fn two_works(&mut self, step: &str, fields: &MachineFields<'l>, given: &[(&str, StepType)]) {
        let names: Vec<String> = given.iter().map(|(name, _)| format!("'{name}'")).collect();
        let message = format!("Step '{step}' must have only one of {}", names.join(" and "));
        let mut problem = Diagnostic::error("unclear-type", message);
        for part in given.iter().filter_map(|(name, _)| fields.get(name)) {
            problem = problem.at(self.source(part.file), part.entry.key_defined, "");
        }
        self.reader.problems.push(problem);
    }

    fn work(
        &mut self,
        parts: &StepParts<'l>,
        fields: &MachineFields<'l>,
        kind: StepType,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        let (name, _) = WORK.into_iter().find(|(name, of)| *of == kind && fields.has(name))?;
        let part = fields.get(name)?;
        let text = self.within(part, |read| read.text_in(&parts.site.entry.key, name, part))?;
        match kind {
            StepType::Agent => {
                let (prompt, document) = self.shared(parts, fields, name, |reader| match name {
                    "prompt_file" => {
                        let (prompt, document) = reader.prompt_document(&text, uses)?;
                        Some((prompt, Some(document)))
                    }
                    _ => Some((reader.template(&text, "prompt", uses), None)),
                })?;
                let step = &parts.site.entry.key;
                let model = self.model(fields, &format!("at step {step}"));
                Some(Work::Agent(AgentWork {
                    prompt,
                    document,
                    agent: None,
                    model,
                    mode: None,
                    auto_stage: false,
                }))
            }
            StepType::Bash => {
                let (command, found) =
                    self.shared(parts, fields, name, |reader| reader.shell(&text, "command"))?;
                uses.extend(found);
                Some(Work::Bash { command })
            }
            StepType::Recipe => {
                let work =
                    self.shared(parts, fields, name, |reader| reader.called_recipe(text, false))?;
                Some(self.in_the_steps_file(parts, part, work))
            }
        }
    }

    /// The location of a call is one in the file of its step.
    fn in_the_steps_file(&self, parts: &StepParts<'l>, part: Part<'l>, work: Work) -> Work {
        match work {
            Work::Recipe { name, recovery, .. } if part.file != parts.site.file => {
                Work::Recipe { name, name_span: parts.site.entry.key_span, recovery }
            }
            work => work,
        }
    }

    /// Whether a field is there and a string; another value is refused.
    fn is_text(
        &mut self,
        parts: &StepParts<'l>,
        fields: &MachineFields<'l>,
        name: &str,
    ) -> Option<()> {
        let part = fields.get(name)?;
        let step = &parts.site.entry.key;
        self.within(part, |read| read.text_in(step, name, part)).map(drop)
    }

    fn text_in(&mut self, step: &str, name: &str, part: Part<'l>) -> Option<Text> {
        let node = &part.entry.value;
        match &node.kind {
            Kind::Text(text) if text.trim().is_empty() => {
                let message = format!("Step '{step}': '{name}' must not be empty");
                self.error("empty-field", message, node.defined, "");
                None
            }
            Kind::Text(text) => {
                let map = TextMap::of(node, self.reader.source, text);
                let text = Text { text: text.clone(), span: node.defined, map };
                let what = format!("Step '{step}': '{name}'");
                self.reader.without_nul(text, &what)
            }
            _ => {
                let message = format!("Step '{step}': '{name}' must be a string");
                let label = format!("this is {}", node.describe());
                let span = self.reader.source.first_line(node.defined);
                self.error("wrong-type", message, span, &label);
                None
            }
        }
    }
}
