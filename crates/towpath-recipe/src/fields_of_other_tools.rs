//! The one table of fields that other tools have and recipes do not, from GitHub Actions, just, task,
//! mise, Ansible, Archon and conductor: which field of ours does the same, or how it is done here. It
//! only finds the words for a refusal; nothing in it is accepted.

use crate::field_table::Section;

/// What to write instead of a field of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instead {
    /// A field of ours means the same.
    Field(&'static str),
    /// A field of ours is close: how to write it.
    Near(&'static str, &'static str),
    /// No field does it: the way to do it.
    Way(&'static str),
}

impl Instead {
    /// The field of ours that was meant.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Instead::Field(name) | Instead::Near(name, _) => Some(name),
            Instead::Way(_) => None,
        }
    }

    /// The text under the caret.
    pub fn label(self) -> String {
        match self {
            Instead::Field(name) => format!("did you mean `{name}`?"),
            Instead::Near(_, how) | Instead::Way(how) => how.to_owned(),
        }
    }
}

use Instead::{Field, Near, Way};

type Row = (&'static [&'static str], Instead);

const ORDER: Instead = Way(
    "steps run in the order they are written; neighbours with the same `parallel_group` run together",
);
const ONCE_EACH: Instead =
    Way("a step runs once: loop inside its `command`, or write a state machine");
const HERE: Instead = Way("commands run on this machine; `sandbox: true` confines them");
const AGENT_SETTINGS: Instead =
    Way("this is set in the agent program's own settings; a step has `agent`, `model` and `mode`");
const BACKEND: Instead = Way(
    "the program that answers is chosen for a run, not by a recipe: the setting `backend`, or its flag",
);
const SESSION: Instead = Way(
    "each prompt is a new conversation: write `{{STEP}}` into it, or a state machine, which has one",
);
const UP_TO_DATE: Instead =
    Way("a step always runs: test it in the command, as in `[ -e out ] || make out`");
const VARIABLES: Instead = Near(
    "context",
    "variables are `context`, read as `{{name}}`; for the environment write `NAME=… command`",
);

#[rustfmt::skip]
const OF_STEPS: &[Row] = &[
    (&["if", "when"], Field("condition")),
    (&["unless"], Near("condition", "write `condition: not (…)`")),
    (&["run", "script", "cmd", "cmds", "commands", "sh", "bash", "exec", "ansible.builtin.shell", "ansible.builtin.command"], Field("command")),
    (&["shell"], Near("command", "did you mean `command`? It always runs with bash")),
    (&["cwd", "dir", "workdir", "chdir", "directory", "working-directory", "working_directory", "workingDirectory"], Field("working_dir")),
    (&["timeout-minutes", "timeout_minutes", "timeoutMinutes"], Near("timeout", "write `timeout: 5m` for five minutes")),
    (&["timeout-seconds", "timeout_seconds", "timeoutSeconds", "timeout_s"], Near("timeout", "write `timeout: 30` or `timeout: 30s`")),
    (&["name"], Near("id", "a step is named by its `id`: letters, digits, `_`, `-`")),
    (&["description", "desc", "summary", "title", "label"], Way("write a comment: `# …` above the step")),
    (&["uses", "action", "plugin", "module"], Near("command", "there are no actions: write their commands in `command`, or call a recipe with `recipe`")),
    (&["task", "workflow", "call", "import_tasks", "include_tasks", "import_playbook", "subworkflow"], Field("recipe")),
    (&["with", "inputs", "input", "input_mapping", "params", "parameters", "args", "arguments", "sub_context"], Near("context", "what a step or the recipe it calls is given is its `context`")),
    (&["env", "environment", "vars", "variables"], VARIABLES),
    (&["needs", "depends_on", "dependsOn", "depends", "deps", "dependencies", "after", "trigger_rule", "routes"], ORDER),
    (&["parallel", "async", "background", "concurrency", "group"], Near("parallel_group", "neighbouring steps with the same `parallel_group` run at the same time")),
    (&["retries", "retry", "max_retries", "retry_policy", "attempts", "max_attempts", "until", "backoff"], Way("no step is tried again: write `for try in 1 2 3; do COMMAND && break; [ $try -lt 3 ] || exit 1; done`")),
    (&["for", "for_each", "foreach", "forEach", "loop", "loop_control", "matrix", "strategy", "with_items", "items", "repeat", "while", "max_iterations"], ONCE_EACH),
    (&["confirm", "approval", "approve", "pause", "human_gate", "gate", "interactive"], Way("no step asks: make it depend on an input, as in `condition: confirmed == 'yes'`")),
    (&["outputs", "register", "capture", "save_as", "save_to", "store", "result", "output_variable"], Field("output")),
    (&["output_format", "output_schema", "json", "format"], Near("parse_json", "write `parse_json: true`; what the JSON is to contain belongs in the prompt")),
    (&["continue-on-error", "continueOnError", "ignore_error", "ignore_errors", "allow_failure", "failed_when"], Field("continue_on_error")),
    (&["on_failure", "onFailure", "rescue", "catch", "finally", "always", "defer", "ensure"], Way("use `hooks: on_error` of the recipe, or `continue_on_error: true` here and a next step with `condition: steps.ID.status == 'failed'`")),
    (&["tags", "only", "except"], Field("when_tags")),
    (&["sources", "generates", "creates", "removes", "status", "preconditions", "changed_when", "cache"], UP_TO_DATE),
    (&["instructions", "system", "system_prompt", "role", "persona"], Near("agent", "an agent's instructions are a file of its own: `agent: NAME`")),
    (&["ask", "message", "question", "content", "text"], Field("prompt")),
    (&["prompt-file", "prompt_path", "template"], Field("prompt_file")),
    (&["provider", "backend", "program", "cli", "engine"], BACKEND),
    (&["session", "conversation", "continue", "resume"], SESSION),
    (&["tools", "allowed_tools", "denied_tools", "permissions", "mcp", "max_turns", "max_tokens", "temperature", "skills"], AGENT_SETTINGS),
    (&["image", "container", "docker", "services", "runs-on", "runs_on", "runner", "platforms"], HERE),
    (&["become", "sudo", "user", "delegate_to", "hosts"], Way("commands run as you: write `sudo` in the command")),
    (&["silent", "quiet", "no_log", "echo", "hide"], Way("write `>/dev/null` in the command for what nobody needs to see")),
    (&["set", "set_fact", "assign"], Near("output", "what a step prints is its value: `command: echo …` and `output: NAME`")),
    (&["goto", "next", "nextStep", "next_step", "transitions", "on_outcome", "max_visits", "maxVisits"], Way("only a state machine chooses its next step: its `steps` are a map, each with `outcomes` and `onOutcome`")),
    (&["wait", "sleep", "wait_for", "delay"], Near("command", "write `command: sleep 5`")),
];

#[rustfmt::skip]
const OF_RECIPES: &[Row] = &[
    (&["jobs", "tasks", "nodes", "recipes", "commands", "workflow", "agents", "pipeline", "play", "scripts"], Near("steps", "a recipe has one list of `steps`, each with an `id`")),
    (&["title", "label", "id"], Field("name")),
    (&["desc", "summary", "about"], Field("description")),
    (&["env", "environment", "vars", "variables"], VARIABLES),
    (&["inputs", "input", "params", "parameters", "args", "arguments", "options", "defaults"], Near("context", "inputs with their default values are `context`; those without one are `required_context`")),
    (&["required", "required_inputs", "requiredInputs"], Field("required_context")),
    (&["on", "trigger", "triggers", "schedule", "cron", "watch"], Way("nothing starts a recipe by itself: run it from cron, a git hook or CI")),
    (&["include", "includes", "import", "imports", "import_playbook", "from"], Near("extends", "build on a recipe with `extends`, or call it in a step: `recipe: NAME`")),
    (&["tools", "dependencies", "engines", "packages"], Near("requires", "programs that must be there are `requires: [git, \"jq>=1.6\"]`")),
    (&["min_version", "required_version", "api_version", "apiVersion", "kind", "schema_version"], Way("leave it out: `version` is the recipe's own")),
    (&["dotenv", "dotenv-load", "env_file", "envfile"], Way("load it in a command: `set -a; . ./.env; set +a`")),
    (&["shell", "interpreter", "set", "shopt"], Near("fail_fast", "commands run with bash; `fail_fast` has its options")),
    (&["run", "script", "cmd", "cmds"], Near("steps", "a command is in a step: `steps`, each with an `id` and a `command`")),
    (&["entry_point", "entrypoint", "start", "initial", "default"], Way("steps run in the order they are written, the first one first")),
    (&["needs", "depends_on", "dependsOn", "depends", "deps"], ORDER),
    (&["timeout-minutes", "timeout_minutes"], Way("each step has its own `timeout: 5m`")),
    (&["concurrency", "max_parallel", "max_agents"], Way("neighbouring steps with the same `parallel_group` run at the same time; the setting `max_agents` bounds the agents")),
    (&["permissions", "runs-on", "container", "image", "hosts", "become", "services"], HERE),
    (&["on_failure", "onFailure", "finally", "cleanup"], Near("hooks", "commands after a failed step are `hooks: on_error`")),
    (&["provider", "backend", "agent_backend"], BACKEND),
    (&["model"], Way("a step has its `model`; the setting `models.BACKEND.default` is for all others")),
    (&["agent"], Way("a step has its `agent`, the name of a file of instructions")),
    (&["max_turns"], AGENT_SETTINGS),
];

#[rustfmt::skip]
const OF_TRANSITIONS: &[Row] = &[
    (&["goto", "next", "to", "target", "step", "then"], Field("nextStep")),
    (&["recipe", "recipe_id"], Field("recipeId")),
    (&["exit", "end", "stop"], Near("action", "write `action: exit` and a `reason`")),
];

#[rustfmt::skip]
const OF_GUARDRAILS: &[Row] = &[
    (&["max_visits", "maxVisits", "max_step_visits", "max_iterations", "maxIterations"], Field("maxStepVisits")),
    (&["max_steps", "maxSteps", "max_total_steps", "max_turns"], Field("maxTotalSteps")),
];

/// What to write instead of an unknown field in a map of the file.
pub(crate) fn instead_of(name: &str, section: Section) -> Option<Instead> {
    let rows = match section {
        Section::Recipe => OF_RECIPES,
        Section::Step | Section::MachineStep => OF_STEPS,
        Section::Transition => OF_TRANSITIONS,
        Section::Guardrails => OF_GUARDRAILS,
        _ => return None,
    };
    rows.iter().find(|(names, _)| names.contains(&name)).map(|(_, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_table::find_field;
    use std::collections::HashSet;

    #[test]
    fn every_row_leads_to_a_field_of_ours_and_replaces_none() {
        for (rows, section) in [
            (OF_STEPS, Section::Step),
            (OF_RECIPES, Section::Recipe),
            (OF_TRANSITIONS, Section::Transition),
            (OF_GUARDRAILS, Section::Guardrails),
        ] {
            let mut seen = HashSet::new();
            for (names, instead) in rows {
                if let Some(field) = instead.field() {
                    assert!(find_field(section, field).is_some(), "{field}");
                }
                for name in *names {
                    assert!(find_field(section, name).is_none(), "{name} is a field of ours");
                    assert!(seen.insert(name), "{name} is there twice");
                }
            }
        }
    }
}
