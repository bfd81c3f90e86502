//! One step of a recipe: which type it is, which of its fields that type uses, and its work.

use super::Reader;
use super::section::{FieldMap, Part, Text};
use crate::condition::Condition;
use crate::draft::{Gate, LocatedCondition, StepDraft};
use crate::field_table::{EFFECTS, FieldType, STEP_TYPES, Section, StepKind};
use crate::recipe::{
    AgentWork, Effect, Named, ParseJson, StepFields, StepSpans, ValueTemplate, VariableUse, Work,
};
use crate::step_options::StepOptions;
use crate::stray_braces::{StrayBraces, stray_braces};
use std::sync::Arc;
use towpath_core::fields::Subject;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Severity, Source, Span, Template, VarPath, is_safe_segment};

/// The fields that set variables, of a step: what they set is unknown while one of them is misspelt.
const SETTING: [&str; 5] = ["id", "output", "context", "recipe", "parallel_group"];

impl<'a> Reader<'a> {
    pub(super) fn step(&mut self, node: &'a Node) {
        let fields = match &node.kind {
            Kind::Null => {
                self.error("empty-step", "this step is empty", node.span, "");
                None
            }
            Kind::Text(text) => {
                self.step_as_text(node, text);
                None
            }
            _ => self.section(node, Section::Step, Subject::Noun("step")),
        };
        let Some(fields) = fields else {
            self.draft.steps.push(StepDraft::unreadable(self.source, node.span));
            return;
        };
        let id = self.id(&fields);
        let id_span = id.as_ref().map_or(self.source.line_from(node.span.start), |id| id.span);
        let kind = self.step_kind(&fields);
        if let Some(kind) = kind {
            self.refuse_sandbox(&fields, kind);
            self.warn_unused(&fields, kind);
        }
        let mut uses = Vec::new();
        let work = kind.and_then(|kind| self.work(&fields, kind, id_span, &mut uses));
        let gate = self.condition(&fields, &mut uses);
        let working_dir = self.working_dir(&fields, &mut uses);
        let context = self.step_context(&fields, &mut uses);
        let span = without_blank_end(&self.source.text, node.extent());
        let given = StepFields { working_dir, context, uses, ..self.unread_step(span, id_span) };
        let mut draft = self.step_draft(id.map(|id| id.text), &fields, kind, work, given);
        if draft.work.is_none() {
            draft.names = self.named_in_broken(&fields);
        }
        self.draft.steps.push(StepDraft { gate, outcomes: Some(Vec::new()), ..draft });
    }

    pub(super) fn unread_step(&self, span: Span, id: Span) -> StepFields {
        let spans = StepSpans { id, ..StepSpans::default() };
        let source = Arc::clone(self.source);
        StepFields { source, span, spans, ..StepFields::default() }
    }

    /// A step with the fields that are read alike in lists and in machines, beside what is `given`.
    pub(super) fn step_draft(
        &mut self,
        id: Option<String>,
        fields: &FieldMap<'a>,
        kind: Option<StepKind>,
        work: Option<Work>,
        given: StepFields,
    ) -> StepDraft {
        let output = self.output(fields);
        let group = self.fixed_text(fields.get("parallel_group"));
        let unsure = SETTING.iter().any(|field| fields.has_misspelt(field))
            || id.is_none()
            || (output.is_none() && fields.has("output"))
            || (group.is_none() && fields.has("parallel_group"));
        let spans = StepSpans {
            output: output.as_ref().map(|output| output.span),
            group: group.as_ref().map(|group| group.span),
            ..given.spans
        };
        let fields = StepFields {
            spans,
            output: output.map(|output| output.text),
            continue_on_error: self.continue_on_error(fields),
            timeout: self.value(fields.get("timeout"), |reader, entry| reader.time(entry)),
            parallel_group: group.map(|group| group.text),
            effect: self.effect(fields, kind),
            requires: self.requirements(fields.get("requires")),
            options: self.step_options(fields),
            when_tags: self.when_tags(fields),
            parse_json: self.parse_json(fields),
            ..given
        };
        let names = work.as_ref().and_then(|work| names(work, &fields.source));
        let (gate, outcomes) = (Gate::Always, None);
        StepDraft { id, fields: Arc::new(fields), gate, work, names, outcomes, unsure }
    }

    /// `- make`: the command alone.
    fn step_as_text(&mut self, node: &Node, text: &str) {
        let word: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
        let id = if word.is_empty() { "NAME" } else { &word };
        let problem =
            Diagnostic::error("wrong-type", "a step must be a map of fields, this is a string");
        let problem = problem.at(self.source, self.source.first_line(node.defined), "not a map");
        self.problem(
            problem.help(format!("write `- id: {id}` and below it `command: {}`", text.trim())),
        );
    }

    /// The recipe or agent of a step whose work could not be read: whether it exists can be known.
    fn named_in_broken(&self, fields: &FieldMap<'a>) -> Option<(StepKind, Named)> {
        let named = |(field, kind): (&str, StepKind)| {
            let value = &fields.get(field)?.entry.value;
            let Kind::Text(name) = &value.kind else { return None };
            let plain = !name.contains("{{") && !name.trim().is_empty();
            plain.then(|| (kind, self.named(&self.located(value, name.clone()))))
        };
        [("recipe", StepKind::Recipe), ("agent", StepKind::Agent)].into_iter().find_map(named)
    }

    fn id(&mut self, fields: &FieldMap<'a>) -> Option<Text> {
        let id = self.located_text(fields.get("id")?.entry)?;
        if !is_safe_segment(&id.text) {
            self.problem(
                Diagnostic::error("bad-id", format!("`{}` cannot be a step's id", id.text))
                    .at(self.source, id.span, "not an id")
                    .help("use letters, digits, `_` and `-`"),
            );
            return None;
        }
        Some(id)
    }

    /// An explicit `type` wins; else the fields decide.
    fn step_kind(&mut self, fields: &FieldMap<'a>) -> Option<StepKind> {
        if let Some(part) = fields.get("type") {
            let word = self.choice(part.entry, STEP_TYPES)?;
            return StepKind::ALL.into_iter().find(|t| t.as_str() == word);
        }
        if fields.has("recipe") {
            return Some(StepKind::Recipe);
        }
        if let (Some(agent), Some(command)) = (fields.get("agent"), fields.get("command")) {
            self.problem(
                Diagnostic::error("unclear-type", "this step has both `agent` and `command`")
                    .at(self.source, agent.entry.key_defined, "an agent step?")
                    .at(self.source, command.entry.key_defined, "or a bash step?")
                    .help("add `type: agent` or `type: bash`"),
            );
            return None;
        }
        let asks = fields.has("agent") || fields.has("prompt_file") || fields.has("prompt");
        Some(if asks && !fields.has("command") { StepKind::Agent } else { StepKind::Bash })
    }

    /// A step that looks confined and is not would be worse than none.
    fn refuse_sandbox(&mut self, fields: &FieldMap<'a>, kind: StepKind) {
        let label = match kind {
            StepKind::Bash => return,
            StepKind::Agent => "an agent needs the network",
            StepKind::Recipe => "the steps of the called recipe have their own",
        };
        let stated = fields.get("sandbox").map(|part| part.entry);
        if let Some(entry) = stated.filter(|entry| asks_for_sandbox(entry)) {
            let message = format!("a step of type `{kind}` cannot run in a sandbox");
            self.error("sandbox-without-command", message, entry.key_defined, label);
        }
    }

    fn warn_unused(&mut self, fields: &FieldMap<'a>, kind: StepKind) {
        for (field, Part { entry, .. }) in fields.iter() {
            let is_refused = field.name == "sandbox" && asks_for_sandbox(entry);
            if !field.is_used_by(kind) && !is_refused {
                let message = format!("a step of type `{kind}` does not use `{}`", field.name);
                self.problem(Diagnostic::warning("unused-field", message).at(
                    self.source,
                    entry.key_defined,
                    "this has no effect",
                ));
            }
        }
    }

    fn work(
        &mut self,
        fields: &FieldMap<'a>,
        kind: StepKind,
        id_span: Span,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        if let Some(part) = fields.get("prompt_file").filter(|_| kind == StepKind::Agent) {
            return self.work_of_document(fields, part, uses);
        }
        let field = match kind {
            StepKind::Bash => "command",
            StepKind::Agent => "prompt",
            StepKind::Recipe => "recipe",
        };
        let entry = fields.get(field).map(|part| part.entry).filter(|entry| !entry.is_null());
        // The reason why there is nothing has been reported already.
        let reported = ["command", "prompt", "prompt_file", "recipe"]
            .iter()
            .any(|name| fields.has_misspelt(name));
        if entry.is_none() && reported {
            return None;
        }
        let text = match entry {
            Some(entry) => Some(self.work_text(entry)?).filter(|t| !t.text.trim().is_empty()),
            None => None,
        };
        let Some(text) = text else {
            let problem = Diagnostic::error("nothing-to-run", "this step has nothing to run").at(
                self.source,
                id_span,
                format!("give it a `{field}`"),
            );
            self.problem(problem);
            return None;
        };
        if kind == StepKind::Agent {
            let prompt = self.template(&text, "prompt", uses);
            return Some(Work::Agent(self.agent_work(fields, prompt)));
        }
        let calls = kind == StepKind::Recipe;
        let recovery = calls && self.flag(fields, "recovery_on_failure") == Some(true);
        self.command_or_call(kind, text, recovery, uses)
    }

    fn flag(&mut self, fields: &FieldMap<'a>, name: &str) -> Option<bool> {
        self.value(fields.get(name), |reader, entry| reader.bool(entry))
    }

    /// The work of a step that is no agent's.
    pub(super) fn command_or_call(
        &mut self,
        kind: StepKind,
        text: Text,
        recovery: bool,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        if kind == StepKind::Recipe {
            return self.called_recipe(text, recovery);
        }
        let (command, found) = self.shell(&text, "command")?;
        uses.extend(found);
        Some(Work::Bash { command })
    }

    /// The text of a command, a prompt or a recipe's name; other tools take a list of commands.
    fn work_text(&mut self, entry: &Entry) -> Option<Text> {
        let before = self.problems.len();
        let text = self.located_text(entry);
        if let (Kind::List(_), Some(problem)) = (&entry.value.kind, self.problems.get_mut(before)) {
            let help = format!("write each line below `{}: |`", entry.key);
            problem.help = Some(help);
        }
        text
    }

    /// The work of an agent whose prompt is made of a document.
    fn work_of_document(
        &mut self,
        fields: &FieldMap<'a>,
        file: Part<'a>,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        if let Some(prompt) = fields.get("prompt") {
            let message = "this step has both `prompt` and `prompt_file`";
            let problem = Diagnostic::error("unclear-type", message);
            let problem = problem.at(self.source, prompt.entry.key_defined, "");
            let label = "leave one of them out";
            self.problem(problem.at(self.source, file.entry.key_defined, label));
            return None;
        }
        let path = self.fixed_text(Some(file))?;
        let (shown, document) = self.prompt_document(&path, uses)?;
        let work = self.agent_work(fields, shown);
        Some(Work::Agent(AgentWork { document: Some(document), ..work }))
    }

    fn agent_work(&mut self, fields: &FieldMap<'a>, prompt: Template) -> AgentWork {
        let agent = self.fixed_text(fields.get("agent"));
        let mode = self.fixed_text(fields.get("mode"));
        AgentWork {
            prompt,
            document: None,
            agent: agent.map(|agent| self.named(&agent)),
            model: self.fixed_text(fields.get("model")).map(|m| m.text),
            mode: mode.map(|mode| self.named(&mode)),
            auto_stage: self.flag(fields, "auto_stage").unwrap_or(true),
        }
    }

    /// Each of the three fields can make a failure one that the recipe survives.
    fn continue_on_error(&mut self, fields: &FieldMap<'a>) -> bool {
        let names = ["continue_on_error", "nonfatal", "fatal"];
        let [asked @ .., fatal] = names.map(|name| self.flag(fields, name));
        asked.contains(&Some(true)) || fatal == Some(false)
    }

    /// `parse_json_required` asks for the JSON too.
    fn parse_json(&mut self, fields: &FieldMap<'a>) -> ParseJson {
        let wanted = self.flag(fields, "parse_json");
        let required = self.flag(fields, "parse_json_required").unwrap_or(false);
        if let (true, Some(false), Some(Part { entry, .. })) =
            (required, wanted, fields.get("parse_json_required"))
        {
            let message = "`parse_json_required` has no effect with `parse_json: false`";
            self.problem(Diagnostic::warning("unused-field", message).at(
                self.source,
                entry.key_defined,
                "",
            ));
        }
        match (wanted, required) {
            (Some(false), _) | (None, false) => ParseJson::No,
            (_, true) => ParseJson::Required,
            (Some(true), false) => ParseJson::Wanted,
        }
    }

    pub(super) fn called_recipe(&mut self, text: Text, recovery: bool) -> Option<Work> {
        if text.text.contains("{{") {
            self.problem(
                Diagnostic::error("not-a-template", "`recipe` takes a name, not a template")
                    .at(self.source, text.span, "which recipe is called must be known beforehand")
                    .help("write one step for each recipe, each with its `condition`"),
            );
            return None;
        }
        let name = text.text.trim().to_owned();
        Some(Work::Recipe { name, name_span: text.span, recovery })
    }

    pub(super) fn template(
        &mut self,
        text: &Text,
        field: &'static str,
        uses: &mut Vec<VariableUse>,
    ) -> Template {
        let template = Template::parse_where(&text.text, |path| self.is_placeholder(path));
        self.note_braces(text);
        if field == "prompt" {
            self.warn_cut(text, field);
        }
        uses.extend(template.placeholders().map(|placeholder| VariableUse {
            path: placeholder.path.clone(),
            source: Arc::clone(self.source),
            span: text.map.locate(placeholder.range.clone()),
            field,
            has_default: placeholder.path.is_optional(),
        }));
        template
    }

    /// Keeps the braces that are no placeholder; which of them are slips is known later.
    pub(super) fn note_braces(&mut self, text: &Text) {
        let source = self.source;
        let found =
            stray_braces(&text.text).into_iter().map(|(range, inside, closed)| StrayBraces {
                source: Arc::clone(source),
                span: text.map.locate(range),
                inside: inside.to_owned(),
                closed,
            });
        self.draft.stray_braces.extend(found);
        let all = Template::parse(&text.text);
        for found in all.placeholders() {
            if self.is_placeholder(&found.path) {
                continue;
            }
            let (source, span) = (Arc::clone(source), text.map.locate(found.range.clone()));
            let inside = found.path.to_string();
            self.draft.stray_braces.push(StrayBraces { source, span, inside, closed: true });
        }
    }

    /// A tag is asked for by a list with commas, without blanks around its names.
    fn when_tags(&mut self, fields: &FieldMap<'a>) -> Vec<String> {
        let tags = self.text_list(fields.get("when_tags")).unwrap_or_default();
        let items = match fields.get("when_tags").map(|part| &part.entry.value.kind) {
            Some(Kind::List(items)) => items.as_slice(),
            _ => &[],
        };
        for item in items {
            let Kind::Text(tag) = &item.kind else { continue };
            if tag.is_empty() || tag.contains(',') || tag.trim() != tag {
                let message = format!("the tag `{tag}` cannot be asked for");
                let problem = Diagnostic::warning("bad-tag", message);
                let problem = problem.at(self.source, item.defined, "no step runs because of it");
                self.problem(problem.help("write each tag alone, as in `[release, docs]`"));
            }
        }
        tags
    }

    fn condition(&mut self, fields: &FieldMap<'a>, uses: &mut Vec<VariableUse>) -> Gate {
        let Some(Part { entry, .. }) = fields.get("condition") else {
            return if fields.has_misspelt("condition") { Gate::Broken } else { Gate::Always };
        };
        if let Kind::List(_) = &entry.value.kind {
            self.condition_as_list(entry);
            return Gate::Broken;
        }
        let Some(text) = self.located_text(entry) else { return Gate::Broken };
        match Condition::parse(&text.text) {
            Ok(condition) => {
                self.warn_cut(&text, "condition");
                uses.extend(condition.names().into_iter().map(|name| VariableUse {
                    path: name.path,
                    source: Arc::clone(self.source),
                    span: text.map.locate(name.range),
                    field: "condition",
                    has_default: false,
                }));
                let is_constant = self.warn_constant(&condition, &text);
                let source = Arc::clone(self.source);
                let map = text.map;
                Gate::Condition(Arc::new(LocatedCondition { condition, map, source, is_constant }))
            }
            Err(error) => {
                let problem = Diagnostic::error("bad-condition", error.message);
                let cut = self.how_cut(&text, "condition");
                self.problem_in(problem, &text, error.range, cut.or(error.help));
                Gate::Broken
            }
        }
    }

    /// `[ -f x ]`, which YAML reads as a list.
    fn condition_as_list(&mut self, entry: &Entry) {
        let span = self.source.line_from(entry.value.defined.start);
        let written = self.source.text.get(span.range()).unwrap_or("").to_owned();
        let problem =
            Diagnostic::error("wrong-type", "`condition` must be a string, this is a list");
        let problem = problem.at(self.source, span, "");
        let help = Condition::parse(&written).err().and_then(|error| error.help);
        self.problem(match help {
            Some(help) => problem.help(help),
            None => problem.help("put quotes around the whole condition"),
        });
    }

    /// A condition that no value can make true, or that fails with every value. Whether it is one.
    fn warn_constant(&mut self, condition: &Condition, text: &Text) -> bool {
        match condition.foresee(&towpath_core::Map::new(), &|_| true) {
            Ok(Some(false)) => {
                let message = "this step can never run: its condition is always false";
                // A plain `false` switches the step off on purpose.
                let meant = condition.text().trim().eq_ignore_ascii_case("false");
                let severity = if meant { Severity::Note } else { Severity::Warning };
                let problem = Diagnostic::new(severity, "never-runs", message);
                self.problem_in(problem, text, 0..text.text.len(), None);
            }
            Err(error) => {
                let message = format!("this condition always fails: {}", error.message);
                let problem = Diagnostic::warning("always-fails", message);
                let help = "the recipe never gets past a step whose condition fails";
                self.problem_in(problem, text, error.range, Some(help.to_owned()));
            }
            Ok(_) => return false,
        }
        true
    }

    pub(super) fn output(&mut self, fields: &FieldMap<'a>) -> Option<Text> {
        self.value(fields.get("output"), |reader, entry| {
            let text = reader.located_text(entry)?;
            reader.variable_name(&text.text, text.span, "variable");
            Some(text)
        })
    }

    pub(super) fn working_dir(
        &mut self,
        fields: &FieldMap<'a>,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Template> {
        self.value(fields.get("working_dir"), |reader, entry| {
            let text = reader.located_text(entry)?;
            if text.text.trim().is_empty() {
                reader.error("empty-field", "`working_dir` is empty", text.span, "");
                return None;
            }
            Some(reader.template(&text, "working_dir", uses))
        })
    }

    pub(super) fn step_context(
        &mut self,
        fields: &FieldMap<'a>,
        uses: &mut Vec<VariableUse>,
    ) -> Vec<(String, ValueTemplate)> {
        let context = self.value(fields.get("context"), |reader, entry| {
            let entries = reader.map(entry, FieldType::Map)?;
            for entry in entries {
                reader.variable_name(&entry.key, entry.key_defined, "context key");
                reader.context_uses(&entry.value, uses);
            }
            let known = |path: &VarPath| reader.is_placeholder(path);
            let value = |e: &Entry| (e.key.clone(), ValueTemplate::known(&e.value.value(), &known));
            Some(entries.iter().map(value).collect())
        });
        context.unwrap_or_default()
    }

    fn context_uses(&mut self, node: &Node, uses: &mut Vec<VariableUse>) {
        match &node.kind {
            Kind::Text(text) => {
                let text = self.located(node, text.clone());
                self.template(&text, "context", uses);
            }
            Kind::List(items) => items.iter().for_each(|i| self.context_uses(i, uses)),
            Kind::Map(entries) => entries.iter().for_each(|e| self.context_uses(&e.value, uses)),
            _ => {}
        }
    }

    pub(super) fn effect(&mut self, fields: &FieldMap<'a>, kind: Option<StepKind>) -> Effect {
        let word = self.value(fields.get("effect"), |reader, entry| {
            let word = reader.choice(entry, EFFECTS)?;
            if word == "once" && kind == Some(StepKind::Recipe) {
                let message = "a step that calls a recipe cannot be `once`";
                let problem = Diagnostic::error("once-on-recipe", message);
                let problem = problem.at(reader.source, entry.value.defined, "");
                let help = "put `effect: once` on the steps inside the called recipe";
                reader.problem(problem.help(help));
            }
            Some(word)
        });
        if word == Some("once") { Effect::Once } else { Effect::Repeatable }
    }
}

impl<'a> Reader<'a> {
    /// The options of commands, of a step or of a whole recipe.
    pub(super) fn step_options(&mut self, fields: &FieldMap<'a>) -> StepOptions {
        StepOptions {
            sandbox: self.value(fields.get("sandbox"), Reader::sandbox),
            fail_fast: self.flag(fields, "fail_fast"),
        }
    }

    /// Whether commands run in a sandbox. There are no kinds of sandboxes to choose from.
    fn sandbox(&mut self, entry: &Entry) -> Option<bool> {
        let before = self.problems.len();
        let value = self.bool(entry);
        let is_written_out = matches!(entry.value.kind, Kind::Map(_) | Kind::List(_));
        if let Some(problem) = self.problems.get_mut(before).filter(|_| is_written_out) {
            problem.help = Some("what a command can reach in a sandbox is fixed".to_owned());
        }
        value
    }
}

fn asks_for_sandbox(entry: &Entry) -> bool {
    !matches!(entry.value.kind, Kind::Bool(false))
}

/// Which recipe a piece of work calls, or whose instructions its agent gets.
fn names(work: &Work, source: &Arc<Source>) -> Option<(StepKind, Named)> {
    let named = match work {
        Work::Bash { .. } => return None,
        Work::Agent(agent) => agent.agent.clone()?,
        Work::Recipe { name, name_span: span, .. } => {
            Named { name: name.clone(), source: Arc::clone(source), span: *span }
        }
    };
    Some((work.kind(), named))
}

/// A block text takes the blank space after it along; two equal steps must have equal text.
pub(super) fn without_blank_end(text: &str, span: Span) -> Span {
    let inside = text.get(span.range()).unwrap_or("");
    Span { start: span.start, end: span.start + inside.trim_end().len() }
}
