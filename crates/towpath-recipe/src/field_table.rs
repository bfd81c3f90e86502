//! The one table of all fields that recipes may have, step recipes and state machines. Reading, the
//! errors for unknown fields, the warnings for fields that a step's type does not use, the
//! documentation and the JSON Schema all come from it. It knows names and types, not what a field
//! does.

pub use towpath_core::fields::{FieldType, LONGEST_TIME};

use crate::context_rule::RULES;
use serde::{Deserialize, Serialize};
use towpath_core::fields::{FieldRow, FileKind, Required};

/// How messages name a recipe's file and its parts.
pub const RECIPE_FILE: FileKind = FileKind {
    name: "a recipe",
    needs: "`name` and `steps`",
    field: "field",
    unknown_code: "unknown-field",
    empty_code: "empty-field",
    map: "a map of fields",
    or: " or ",
    shows_written: true,
};

/// Which map of the file a field is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Recipe,
    Recursion,
    Hooks,
    Step,
    /// The recipe of a state machine.
    Machine,
    Guardrails,
    MachineStep,
    Transition,
}

impl Section {
    /// The maps that a state machine's file is made of.
    pub const OF_MACHINES: [Section; 4] =
        [Section::Machine, Section::Guardrails, Section::MachineStep, Section::Transition];

    pub fn is_of_machines(self) -> bool {
        Section::OF_MACHINES.contains(&self)
    }
}

/// The worker of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    Bash,
    Agent,
    Recipe,
}

impl StepKind {
    pub const ALL: [StepKind; 3] = [StepKind::Bash, StepKind::Agent, StepKind::Recipe];

    /// As in JSON and on the terminal.
    pub fn as_str(self) -> &'static str {
        match self {
            StepKind::Bash => "bash",
            StepKind::Agent => "agent",
            StepKind::Recipe => "recipe",
        }
    }
}

impl std::fmt::Display for StepKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The model tiers that a machine may name.
pub const TIERS: [&str; 3] = ["haiku", "sonnet", "opus"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub section: Section,
    pub name: &'static str,
    pub kind: FieldType,
    /// The step types that use the field; all of them when it is empty.
    pub used_by: &'static [StepKind],
    pub required: Option<Required>,
    /// The names that its text, its items or its keys may be, where that is not any text.
    pub names: Option<Names>,
    pub doc: &'static str,
}

/// The characters that a name may consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    NotBlank,
    /// Of steps: letters, digits, `_` and `-`.
    Step,
    Variable,
    /// Small letters and digits, with `-` between words.
    KebabCase,
}

impl FieldRow for Field {
    fn name(&self) -> &'static str {
        self.name
    }

    fn required(&self) -> Option<Required> {
        self.required
    }
}

impl Field {
    pub fn is_used_by(&self, step: StepKind) -> bool {
        self.used_by.is_empty() || self.used_by.contains(&step)
    }
}

use FieldType::*;
use Names::{KebabCase, NotBlank, Variable};
use Section::{Guardrails, Hooks, Machine, MachineStep, Recipe, Recursion, Step, Transition};

const fn field(section: Section, name: &'static str, kind: FieldType, doc: &'static str) -> Field {
    Field { section, name, kind, used_by: &[], required: None, names: None, doc }
}

const fn only(used_by: &'static [StepKind], field: Field) -> Field {
    Field { used_by, ..field }
}

const fn named(names: Names, field: Field) -> Field {
    Field { names: Some(names), ..field }
}

const fn required(field: Field) -> Field {
    Field { required: Some(Required::ALWAYS), ..field }
}

/// A recipe that extends another one gets steps from it.
const fn required_unless_extended(field: Field) -> Field {
    Field { required: Some(Required { code: NO_STEPS, unless: Some("extends") }), ..field }
}

/// The code of a recipe without steps.
pub(crate) const NO_STEPS: &str = "no-steps";

const BASH: &[StepKind] = &[StepKind::Bash];
const AGENT: &[StepKind] = &[StepKind::Agent];
const RECIPE: &[StepKind] = &[StepKind::Recipe];
const NOT_AGENT: &[StepKind] = &[StepKind::Bash, StepKind::Recipe];
pub(crate) const STEP_TYPES: &[&str] = &["bash", "agent", "recipe"];
pub(crate) const EFFECTS: &[&str] = &["repeatable", "once"];
pub(crate) const ACTIONS: &[&str] = &["exit", "fail", "restart-new-session"];

/// One of the forms that a transition can have.
#[derive(Debug)]
pub(crate) struct TransitionForm {
    /// How messages name it.
    pub name: &'static str,
    /// None of the form without one.
    pub action: Option<&'static str>,
    pub required: &'static [&'static str],
    pub optional: &'static [&'static str],
}

pub(crate) static TRANSITION_FORMS: [TransitionForm; 4] = [
    transition("a 'nextStep' transition", None, &["nextStep"], &[]),
    transition("an exit", Some("exit"), &["action", "reason"], &["success"]),
    transition("'fail'", Some("fail"), &["action", "reason"], &[]),
    transition("a restart", Some("restart-new-session"), &["action", "recipeId"], &[]),
];

const fn transition(
    name: &'static str,
    action: Option<&'static str>,
    required: &'static [&'static str],
    optional: &'static [&'static str],
) -> TransitionForm {
    TransitionForm { name, action, required, optional }
}

impl TransitionForm {
    /// The form of an action, or the one without.
    pub fn of(action: Option<&str>) -> Option<&'static TransitionForm> {
        TRANSITION_FORMS.iter().find(|form| form.action == action)
    }

    pub fn has(&self, field: &str) -> bool {
        self.required.contains(&field) || self.optional.contains(&field)
    }
}

#[rustfmt::skip]
pub static FIELDS: &[Field] = &[
    required(named(NotBlank, field(Recipe, "name", Text, "The recipe's name."))),
    field(Recipe, "version", Text, "The recipe's version; `1.0` when it is not given."),
    field(Recipe, "description", Text, "What the recipe does, for people."),
    field(Recipe, "author", Text, "Who wrote it."),
    field(Recipe, "tags", TextList, "Words to find the recipe by."),
    named(Variable, field(Recipe, "context", Map, "Variables with their default values; `--set` overrides them.")),
    field(Recipe, "extends", Text, "The recipe whose steps and context this one builds on."),
    named(Variable, field(Recipe, "required_context", TextList, "Variables that must be set before the run starts.")),
    field(Recipe, "context_aliases", TextMap, "Other names under which a user can set variables: each with the variable's own name."),
    field(Recipe, "context_validation", ChoiceMap(RULES), "What variables must be before the run starts: `nonempty`, `path`, `git_repo`, or `optional`."),
    field(Recipe, "recursion", Map, "Limits for recipes that call recipes."),
    field(Recipe, "hooks", Map, "Shell commands around every step."),
    field(Recipe, "requires", Requirements, "Programs that must be there before the run starts, each with a version or without."),
    field(Recipe, "sandbox", Bool, "Runs the commands of its steps in a sandbox, unless a step has a `sandbox` of its own."),
    field(Recipe, "fail_fast", Bool, "`false`: the last line of a command decides; `true`: also a shell variable that is not set fails it. For its steps and hooks, unless a step has a `fail_fast` of its own."),
    required_unless_extended(field(Recipe, "steps", ListOf("steps"), "The steps, in the order they run.")),

    field(Recursion, "max_depth", CountOrZero, "How deep recipes may call recipes, 0 for not at all; 6 when it is not given."),
    field(Recursion, "max_total_steps", Count, "How many steps a run may execute, called recipes included; 200 when it is not given."),

    field(Hooks, "pre_step", Shell, "Runs before each step."),
    field(Hooks, "post_step", Shell, "Runs after each step that succeeded."),
    field(Hooks, "on_error", Shell, "Runs after each step that failed."),

    required(named(Names::Step, field(Step, "id", Text, "The step's name, unique in the recipe: letters, digits, `_`, `-`."))),
    field(Step, "type", Choice(STEP_TYPES), "What the step is; its other fields decide when it is not given."),
    only(BASH, field(Step, "command", Shell, "The bash text to run.")),
    only(AGENT, field(Step, "agent", Text, "Whose instructions the agent gets: `namespace:category:name`, `namespace:name` or a name.")),
    only(AGENT, field(Step, "prompt", Template, "What the agent is asked to do.")),
    only(AGENT, field(Step, "prompt_file", Text, "A document beside the recipe that the prompt is made of, instead of `prompt`.")),
    only(AGENT, field(Step, "model", Text, "The model the agent uses for this step.")),
    only(AGENT, field(Step, "mode", Text, "How the agent is to work: a mode of its program, such as `plan` of Claude Code.")),
    only(AGENT, field(Step, "auto_stage", Bool, "Stages in git what the agent changed, and nothing that was changed before; true when it is not given.")),
    only(RECIPE, field(Step, "recipe", Text, "The recipe to call, by its name.")),
    only(RECIPE, field(Step, "recovery_on_failure", Bool, "When the called recipe fails, asks an agent once to finish its work.")),
    named(Variable, field(Step, "context", Map, "Variables for this step only, or for the recipe it calls.")),
    field(Step, "condition", Condition, "The step is skipped unless this is true."),
    named(Variable, field(Step, "output", Text, "The variable that gets the step's output; the step's id when it is not given.")),
    field(Step, "parse_json", Bool, "Takes the JSON out of the output; without any the step is degraded."),
    field(Step, "parse_json_required", Bool, "Fails the step when its output has no JSON."),
    field(Step, "working_dir", Template, "The directory the step runs in."),
    field(Step, "timeout", Time, "Ends the step after so many seconds, or after a time such as `5m`: `s`, `m`, `h`."),
    field(Step, "continue_on_error", Bool, "Continues with the next step when this one fails."),
    field(Step, "fatal", Bool, "`false` is the same as `continue_on_error: true`."),
    field(Step, "nonfatal", Bool, "Another name of `continue_on_error`."),
    field(Step, "when_tags", TextList, "Runs the step only when one of these tags is asked for with `--include-tags`."),
    field(Step, "parallel_group", Text, "Neighbouring steps with the same group run at the same time."),
    field(Step, "effect", Choice(EFFECTS), "`once`: when the step was interrupted, ask before it runs again."),
    field(Step, "requires", Requirements, "Programs that the step needs; they must be there before the run starts."),
    only(BASH, field(Step, "sandbox", Bool, "Runs the command in a sandbox: it can use its working directory and read the system's own, without network.")),
    only(BASH, field(Step, "fail_fast", Bool, "`false`: the last line of the command decides; `true`: also a shell variable that is not set fails it.")),

    required(named(KebabCase, field(Machine, "id", Text, "The machine's name: small letters and digits, with `-` between words."))),
    required(field(Machine, "label", Text, "The name that people are shown.")),
    required(field(Machine, "description", Text, "What the machine does, in one line.")),
    required(field(Machine, "initialStep", Text, "The step it begins with.")),
    required(field(Machine, "steps", MapOf("steps"), "The steps by their names; `$include` brings the steps of other files.")),
    required(field(Machine, "guardrails", Map, "Limits that end a run which goes round in circles; `{}` takes the defaults.")),
    field(Machine, "model", Choice(&TIERS), "The model tier of steps that name none."),
    field(Machine, "context", Map, "Variables with their default values; only names that are declared here, set by `--set` or written by a step are placeholders in prompts and commands."),
    field(Machine, "requires", Requirements, "Programs that must be there before the run starts, each with a version or without."),
    field(Machine, "sandbox", Bool, "Runs the commands of its steps in a sandbox, unless a step has a `sandbox` of its own."),
    field(Machine, "fail_fast", Bool, "`false`: the last line of a command decides; `true`: also a shell variable that is not set fails it. Unless a step has a `fail_fast` of its own."),

    field(Guardrails, "maxStepVisits", Count, "How often one step may be entered in one session; 3 when it is not given."),
    field(Guardrails, "maxTotalSteps", Count, "How many steps one session may have; 100 when it is not given."),
    field(Guardrails, "exitOnOther", Bool, "Whether the outcome `other` must end the run; true when it is not given."),

    field(MachineStep, "$ref", Text, "A step of another file that this one is made from: `FILE#/STEP`; the fields beside it win."),
    only(AGENT, field(MachineStep, "prompt", Template, "What the agent is asked to do.")),
    only(AGENT, field(MachineStep, "prompt_file", Text, "A document beside the recipe that the prompt is made of, instead of `prompt`.")),
    only(BASH, field(MachineStep, "command", Shell, "The bash text to run instead of asking an agent.")),
    only(RECIPE, field(MachineStep, "recipe", Text, "The recipe to call instead of asking an agent, by its name.")),
    required(field(MachineStep, "outcomes", TextList, "What the step may report.")),
    required(field(MachineStep, "onOutcome", MapOf("transitions"), "What follows from each outcome.")),
    only(AGENT, field(MachineStep, "model", Choice(&TIERS), "The model tier for this step.")),
    field(MachineStep, "context", Map, "Variables for this step only, or for the recipe it calls."),
    field(MachineStep, "output", Text, "The variable that gets the step's output."),
    only(NOT_AGENT, field(MachineStep, "working_dir", Template, "The directory the command or recipe runs in; a session stays in its own.")),
    field(MachineStep, "timeout", Time, "Ends the step after so many seconds, or after a time such as `5m`: `s`, `m`, `h`."),
    field(MachineStep, "effect", Choice(EFFECTS), "`once`: when the step was interrupted, ask before it runs again."),
    field(MachineStep, "requires", Requirements, "Programs that the step needs; they must be there before the run starts."),
    only(BASH, field(MachineStep, "sandbox", Bool, "Runs the command in a sandbox: it can use its working directory and read the system's own, without network.")),
    only(BASH, field(MachineStep, "fail_fast", Bool, "`false`: the last line of the command decides; `true`: also a shell variable that is not set fails it.")),

    field(Transition, "nextStep", Text, "Continues with this step."),
    field(Transition, "action", Choice(ACTIONS), "`exit` ends the run, `fail` ends it as failed, `restart-new-session` begins a recipe in a new session."),
    field(Transition, "reason", Text, "Why the run ends, for `exit` and `fail`."),
    field(Transition, "success", Described("true, false or `ask`"), "Whether an `exit` is a success; `ask`: the user must decide. When it is not given, every exit but that of `other` is one."),
    field(Transition, "recipeId", Text, "The state machine to restart, for `restart-new-session`."),
];

/// The fields of one section, in the order of the table.
pub fn fields_of(section: Section) -> impl Iterator<Item = &'static Field> + Clone {
    FIELDS.iter().filter(move |f| f.section == section)
}

pub fn find_field(section: Section, name: &str) -> Option<&'static Field> {
    fields_of(section).find(|f| f.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_field_is_listed_twice_and_each_is_documented() {
        for (index, field) in FIELDS.iter().enumerate() {
            let twin = FIELDS[index + 1..]
                .iter()
                .any(|f| f.section == field.section && f.name == field.name);
            assert!(!twin, "{}", field.name);
            assert!(field.doc.ends_with('.'), "{}", field.name);
            let steps = matches!(field.section, Step | MachineStep);
            assert!(field.used_by.is_empty() || steps, "{}", field.name);
        }
    }
}
