//! One step of a recipe: which type it is, which of its fields that type uses, and its work.

use super::Reader;
use super::section::{FieldMap, Text};
use crate::condition::Condition;
use crate::draft::{Gate, LocatedCondition, StepOutline, Task};
use crate::field_table::{EFFECTS, FieldType, STEP_TYPES, Section, StepType};
use crate::recipe::{
    AgentReference, AgentWork, Effect, Mode, ParseJson, RequiredProgram, Step, StepSpans,
    ValueTemplate, VariableUse, Work,
};
use crate::stray_braces::{StrayBraces, stray_braces};
use crate::text_map::TextMap;
use std::sync::Arc;
use std::time::Duration;
use towpath_core::fields::Subject;
use towpath_core::spanned_tree::{Entry, Kind, Node};
use towpath_core::{Diagnostic, Severity, Source, Span, Template, VarPath, is_safe_segment};

impl Reader<'_> {
    pub(super) fn step(&mut self, node: &Node) -> Option<Step> {
        let is_empty = node.is_null();
        if is_empty {
            self.error("empty-step", "this step is empty".to_owned(), node.span, "");
        }
        if let Kind::Text(text) = &node.kind {
            self.step_as_text(node, text);
            return None;
        }
        let fields =
            if is_empty { None } else { self.section(node, Section::Step, Subject::Noun("step")) };
        let Some(fields) = fields else {
            self.outline.steps.push(StepOutline::unreadable(self.source, node.span));
            return None;
        };
        let id = self.id(&fields);
        let id_span = id.as_ref().map_or(self.source.line_from(node.span.start), |id| id.span);
        self.ids.extend(id.as_ref().map(|id| (id.text.clone(), id.span)));
        let step_type = self.step_type(&fields);
        if let Some(step_type) = step_type {
            self.refuse_sandbox(&fields, step_type);
            self.warn_unused(&fields, step_type);
        }
        let mut uses = Vec::new();
        let work = step_type.and_then(|t| self.work(&fields, t, id_span, &mut uses));
        let output = self.output(&fields);
        let group = self.fixed_text(fields.get("parallel_group"));
        let spans = StepSpans {
            id: id_span,
            output: output.as_ref().map(|o| o.span),
            group: group.as_ref().map(|g| g.span),
        };
        let what_it_sets = ["id", "output", "context", "recipe", "parallel_group"];
        let unsure = what_it_sets.iter().any(|field| fields.has_misspelt(field))
            || id.is_none()
            || (output.is_none() && fields.has("output"))
            || (group.is_none() && fields.has("parallel_group"));
        let gate = self.condition(&fields, &mut uses);
        let read = Pieces {
            id: id.map(|id| id.text),
            source: Arc::clone(self.source),
            spans,
            span: without_blank_end(&self.source.text, node.extent()),
            gate,
            unsure,
            output: output.map(|o| o.text),
            continue_on_error: self.continue_on_error(&fields),
            timeout: self.time(fields.get("timeout")),
            working_dir: self.working_dir(&fields, &mut uses),
            parallel_group: group.map(|g| g.text),
            context: self.step_context(&fields, &mut uses),
            effect: self.effect(&fields, step_type),
            requires: self.requirements(fields.get("requires")),
            sandbox: self.sandbox(fields.get("sandbox")),
            fail_fast: self.bool(fields.get("fail_fast")),
            when_tags: self.when_tags(&fields),
            parse_json: self.parse_json(&fields),
            work,
            uses,
        };
        let mut outline = read.outline();
        outline.task = outline.task.or_else(|| self.task_of_broken(&fields));
        self.outline.steps.push(outline);
        read.step()
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
        self.outline.steps.push(StepOutline::unreadable(self.source, node.span));
    }

    /// Whom a step names whose work could not be read: whether they exist is known all the same.
    fn task_of_broken(&self, fields: &FieldMap<'_>) -> Option<Task> {
        let named = |field: &str| {
            let entry = fields.get(field)?;
            let Kind::Text(name) = &entry.value.kind else { return None };
            let plain = !name.contains("{{") && !name.trim().is_empty();
            plain.then(|| self.named(name.trim(), entry.value.defined))
        };
        if let Some(recipe) = named("recipe") {
            return Some(Task::Call { recipe, recovery: false });
        }
        named("agent").map(|agent| Task::Agent { named: Some(agent), no: None })
    }

    fn id(&mut self, fields: &FieldMap<'_>) -> Option<Text> {
        let id = self.located_text(fields.get("id")?)?;
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
    fn step_type(&mut self, fields: &FieldMap<'_>) -> Option<StepType> {
        if fields.has("type") {
            let word = self.choice(fields.get("type"), STEP_TYPES)?;
            return StepType::ALL.into_iter().find(|t| t.as_str() == word);
        }
        if fields.has("recipe") {
            return Some(StepType::Recipe);
        }
        if let (Some(agent), Some(command)) = (fields.get("agent"), fields.get("command")) {
            self.problem(
                Diagnostic::error("unclear-type", "this step has both `agent` and `command`")
                    .at(self.source, agent.key_defined, "an agent step?")
                    .at(self.source, command.key_defined, "or a bash step?")
                    .help("add `type: agent` or `type: bash`"),
            );
            return None;
        }
        let asks = fields.has("agent") || fields.has("prompt_file") || fields.has("prompt");
        Some(if asks && !fields.has("command") { StepType::Agent } else { StepType::Bash })
    }

    /// A step that looks confined and is not would be worse than none.
    fn refuse_sandbox(&mut self, fields: &FieldMap<'_>, step_type: StepType) {
        let label = match step_type {
            StepType::Bash => return,
            StepType::Agent => "an agent needs the network",
            StepType::Recipe => "the steps of the called recipe have their own",
        };
        if let Some(entry) = fields.get("sandbox").filter(|entry| asks_for_sandbox(entry)) {
            let kind = step_type.as_str();
            let message = format!("a step of type `{kind}` cannot run in a sandbox");
            self.error("sandbox-without-command", message, entry.key_defined, label);
        }
    }

    fn warn_unused(&mut self, fields: &FieldMap<'_>, step_type: StepType) {
        for (field, entry) in fields.iter() {
            let is_refused = field.name == "sandbox" && asks_for_sandbox(entry);
            if !field.is_used_by(step_type) && !is_refused {
                let kind = step_type.as_str();
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
        fields: &FieldMap<'_>,
        step_type: StepType,
        id_span: Span,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        if let Some(entry) = fields.get("prompt_file")
            && step_type == StepType::Agent
        {
            return self.work_of_document(fields, entry, uses);
        }
        let field = match step_type {
            StepType::Bash => "command",
            StepType::Agent => "prompt",
            StepType::Recipe => "recipe",
        };
        let entry = fields.get(field).filter(|e| !e.is_null());
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
        match step_type {
            StepType::Bash => {
                let (command, found) = self.shell(&text, "command")?;
                uses.extend(found);
                Some(Work::Bash { command })
            }
            StepType::Agent => {
                let prompt = self.template(&text, "prompt", uses);
                Some(Work::Agent(self.agent_work(fields, prompt)))
            }
            StepType::Recipe => {
                let recovery = self.bool(fields.get("recovery_on_failure")).unwrap_or(false);
                self.called_recipe(text, recovery)
            }
        }
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
        fields: &FieldMap<'_>,
        entry: &Entry,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Work> {
        if let Some(prompt) = fields.get("prompt") {
            let message = "this step has both `prompt` and `prompt_file`";
            let problem = Diagnostic::error("unclear-type", message);
            let problem = problem.at(self.source, prompt.key_defined, "");
            self.problem(problem.at(self.source, entry.key_defined, "leave one of them out"));
            return None;
        }
        let path = self.fixed_text(Some(entry))?;
        let (shown, document) = self.prompt_document(&path, uses)?;
        let work = self.agent_work(fields, shown);
        Some(Work::Agent(AgentWork { document: Some(document), ..work }))
    }

    fn agent_work(&mut self, fields: &FieldMap<'_>, prompt: Template) -> AgentWork {
        let agent = self.fixed_text(fields.get("agent"));
        let mode = self.fixed_text(fields.get("mode"));
        AgentWork {
            prompt,
            document: None,
            agent: agent.map(|a| AgentReference { name: a.text.trim().to_owned(), span: a.span }),
            model: self.fixed_text(fields.get("model")).map(|m| m.text),
            mode: mode.map(|m| Mode { name: m.text.trim().to_owned(), span: m.span }),
            auto_stage: self.bool(fields.get("auto_stage")).unwrap_or(true),
        }
    }

    /// Each of the three fields can make a failure one that the recipe survives.
    fn continue_on_error(&mut self, fields: &FieldMap<'_>) -> bool {
        let asked = ["continue_on_error", "nonfatal"].map(|name| self.bool(fields.get(name)));
        let fatal = self.bool(fields.get("fatal"));
        asked.contains(&Some(true)) || fatal == Some(false)
    }

    /// `parse_json_required` asks for the JSON too.
    fn parse_json(&mut self, fields: &FieldMap<'_>) -> ParseJson {
        let wanted = self.bool(fields.get("parse_json"));
        let required = self.bool(fields.get("parse_json_required")).unwrap_or(false);
        if let (true, Some(false), Some(entry)) =
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
        self.outline.stray_braces.extend(found);
        let all = Template::parse(&text.text);
        for found in all.placeholders() {
            if self.is_placeholder(&found.path) {
                continue;
            }
            let (source, span) = (Arc::clone(source), text.map.locate(found.range.clone()));
            let inside = found.path.to_string();
            self.outline.stray_braces.push(StrayBraces { source, span, inside, closed: true });
        }
    }

    /// A tag is asked for by a list with commas, without blanks around its names.
    fn when_tags(&mut self, fields: &FieldMap<'_>) -> Vec<String> {
        let tags = self.text_list(fields.get("when_tags")).unwrap_or_default();
        let items = match fields.get("when_tags").map(|entry| &entry.value.kind) {
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

    fn condition(&mut self, fields: &FieldMap<'_>, uses: &mut Vec<VariableUse>) -> Gate {
        let Some(entry) = fields.get("condition") else {
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

    pub(super) fn output(&mut self, fields: &FieldMap<'_>) -> Option<Text> {
        let text = self.located_text(fields.get("output")?)?;
        self.variable_name(&text.text, text.span, "variable");
        Some(text)
    }

    pub(super) fn working_dir(
        &mut self,
        fields: &FieldMap<'_>,
        uses: &mut Vec<VariableUse>,
    ) -> Option<Template> {
        let text = self.located_text(fields.get("working_dir")?)?;
        if text.text.trim().is_empty() {
            self.error("empty-field", "`working_dir` is empty".to_owned(), text.span, "");
            return None;
        }
        Some(self.template(&text, "working_dir", uses))
    }

    pub(super) fn step_context(
        &mut self,
        fields: &FieldMap<'_>,
        uses: &mut Vec<VariableUse>,
    ) -> Vec<(String, ValueTemplate)> {
        let Some(entries) = fields.get("context").and_then(|e| self.map(e, FieldType::Map)) else {
            return Vec::new();
        };
        for entry in entries {
            self.variable_name(&entry.key, entry.key_defined, "context key");
            self.context_uses(&entry.value, uses);
        }
        let known = |path: &VarPath| self.is_placeholder(path);
        let value = |e: &Entry| (e.key.clone(), ValueTemplate::known(&e.value.value(), &known));
        entries.iter().map(value).collect()
    }

    fn context_uses(&mut self, node: &Node, uses: &mut Vec<VariableUse>) {
        match &node.kind {
            Kind::Text(text) => {
                let map = TextMap::of(node, self.source, text);
                let text = Text { text: text.clone(), span: node.defined, map };
                self.template(&text, "context", uses);
            }
            Kind::List(items) => items.iter().for_each(|i| self.context_uses(i, uses)),
            Kind::Map(entries) => entries.iter().for_each(|e| self.context_uses(&e.value, uses)),
            _ => {}
        }
    }

    pub(super) fn effect(&mut self, fields: &FieldMap<'_>, step_type: Option<StepType>) -> Effect {
        let once = self.choice(fields.get("effect"), EFFECTS) == Some("once");
        if let (true, Some(StepType::Recipe), Some(entry)) = (once, step_type, fields.get("effect"))
        {
            self.problem(
                Diagnostic::error("once-on-recipe", "a step that calls a recipe cannot be `once`")
                    .at(self.source, entry.value.defined, "")
                    .help("put `effect: once` on the steps inside the called recipe"),
            );
        }
        if once { Effect::Once } else { Effect::Repeatable }
    }
}

fn asks_for_sandbox(entry: &Entry) -> bool {
    !matches!(entry.value.kind, Kind::Bool(false))
}

/// A step of which the id or the work may be missing.
struct Pieces {
    id: Option<String>,
    source: Arc<Source>,
    spans: StepSpans,
    span: Span,
    gate: Gate,
    unsure: bool,
    output: Option<String>,
    continue_on_error: bool,
    timeout: Option<Duration>,
    working_dir: Option<Template>,
    parallel_group: Option<String>,
    context: Vec<(String, ValueTemplate)>,
    effect: Effect,
    requires: Vec<RequiredProgram>,
    sandbox: Option<bool>,
    fail_fast: Option<bool>,
    when_tags: Vec<String>,
    parse_json: ParseJson,
    work: Option<Work>,
    uses: Vec<VariableUse>,
}

impl Pieces {
    fn outline(&self) -> StepOutline {
        StepOutline {
            id: self.id.clone(),
            source: Arc::clone(&self.source),
            span: self.span,
            spans: self.spans,
            output: self.output.clone(),
            context: self.context.clone(),
            uses: self.uses.clone(),
            group: self.parallel_group.clone(),
            gate: self.gate.clone(),
            continue_on_error: self.continue_on_error,
            when_tags: self.when_tags.clone(),
            parse_json: self.parse_json,
            task: self.work.as_ref().map(|work| Task::of(work, &self.source)),
            unsure: self.unsure,
        }
    }

    fn step(self) -> Option<Step> {
        Some(Step {
            id: self.id?,
            source: self.source,
            span: self.span,
            spans: self.spans,
            also: Vec::new(),
            condition: match self.gate {
                Gate::Condition(located) => Some(located.condition.clone()),
                Gate::Always | Gate::Broken => None,
            },
            output: self.output,
            continue_on_error: self.continue_on_error,
            timeout: self.timeout,
            working_dir: self.working_dir,
            parallel_group: self.parallel_group,
            context: self.context,
            effect: self.effect,
            requires: self.requires,
            sandbox: self.sandbox,
            fail_fast: self.fail_fast,
            when_tags: self.when_tags,
            parse_json: self.parse_json,
            outcomes: Vec::new(),
            work: self.work?,
            uses: self.uses,
        })
    }
}

/// A block text takes the blank space after it along; two equal steps must have equal text.
pub(super) fn without_blank_end(text: &str, span: Span) -> Span {
    let inside = text.get(span.range()).unwrap_or("");
    Span { start: span.start, end: span.start + inside.trim_end().len() }
}
